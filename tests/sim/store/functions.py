"""The real functions of the store, in a Lua interpreter, over the model's commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgpack
from lupa import lua51

from tests.sim.store.commands import COMMANDS, Answer, CommandError, Status, Words
from tests.sim.store.keyspace import Keyspace, WrongType

Publish = Callable[[bytes, bytes], int]


class Functions:
    """The interpreter of this process; a library is read once, however many runs load it."""

    def __init__(self) -> None:
        self._lua = lua51.LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
        self._libraries: dict[bytes, dict[bytes, Any]] = {}
        self._reading: dict[bytes, Any] = {}
        self._space: Keyspace
        self._publish: Publish
        api = {b"call": self._call, b"register_function": self._register}
        self._lua.globals().redis = self._lua.table_from(api)
        self._lua.globals().cmsgpack = self._lua.table_from({b"pack": self._pack})

    def read(self, text: bytes) -> dict[bytes, Any]:
        """The functions of a library, by name."""
        if text not in self._libraries:
            self._reading = {}
            # The first line is the store's own: it names the library.
            self._lua.execute(text.partition(b"\n")[2])
            self._libraries[text] = self._reading
        return self._libraries[text]

    def call(self, function: Any, keys: Words, arguments: Words, space: Keyspace, publish: Publish) -> Answer:
        """Call one. Raises CommandError."""
        self._space, self._publish = space, publish
        try:
            return _plain(function(self._lua.table_from(keys), self._lua.table_from(arguments)))
        except lua51.LuaError as error:
            raise CommandError(f"ERR {error}") from error

    # --- what the functions find there

    def _call(self, *words: Any) -> Any:
        sent = [_word(word) for word in words]
        if sent[0] == b"PUBLISH":
            return self._publish(sent[1], sent[2])
        try:
            return self._lua_value(COMMANDS[sent[0]](self._space, sent))
        except WrongType as error:
            raise CommandError("WRONGTYPE") from error

    def _lua_value(self, answer: Answer) -> Any:
        match answer:
            case None:
                return False
            case Status():
                return self._lua.table_from({b"ok": bytes(answer)})
            case list():
                return self._lua.table_from([self._lua_value(part) for part in answer])
            case _:
                return answer

    def _register(self, named: Any, callback: Any = None) -> None:
        if callback is None:
            self._reading[named[b"function_name"]] = named[b"callback"]
        else:
            self._reading[named] = callback

    def _pack(self, value: Any) -> bytes:
        return bytes(msgpack.packb(_plain(value), use_bin_type=False))


def _word(word: Any) -> bytes:
    if isinstance(word, bytes):
        return word
    return b"%d" % word if isinstance(word, int) else b"%.17g" % word


def _plain(value: Any) -> Any:
    """A value of Lua as the store answers it: arrays up to the first nil, whole numbers, false as nil."""
    if lua51.lua_type(value) == "table":
        plain: list[Any] = []
        while (part := value[len(plain) + 1]) is not None:
            plain.append(_plain(part))
        return plain
    match value:
        case bool():
            return 1 if value else None
        case float():
            return int(value)
        case _:
            return value


def arguments_of(words: Sequence[bytes]) -> tuple[bytes, Words, Words]:
    """The name, keys and arguments of an `FCALL`."""
    count = int(words[2])
    return words[1], words[3 : 3 + count], words[3 + count :]
