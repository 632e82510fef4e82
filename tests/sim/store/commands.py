"""The commands of the model: those that the server and its functions use, and no more.

`tests/sim/test_store.py` gives the same commands to a real store and holds the answers together.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.sim.store.keyspace import Hash, Items, Keyspace, Members, Scores, V

Words: TypeAlias = Sequence[bytes]
Answer: TypeAlias = Any
"""None, an integer, bytes, or a list of these; what a client reads as `+OK` is `OK`."""


class Status(bytes):
    """A short answer that is no value."""


class CommandError(Exception):
    """The store refuses a command."""


OK = Status(b"OK")
COMMANDS: dict[bytes, Callable[[Keyspace, Words], Answer]] = {}


def _command(name: str) -> Callable[[Callable[[Keyspace, Words], Answer]], Callable[[Keyspace, Words], Answer]]:
    def register(command: Callable[[Keyspace, Words], Answer]) -> Callable[[Keyspace, Words], Answer]:
        COMMANDS[name.encode()] = command
        return command

    return register


def _simple(name: str, command: Callable[[Keyspace, Words], Answer]) -> None:
    COMMANDS[name.encode()] = command


def _slice(found: Sequence[Any], first: bytes, last: bytes) -> list[Any]:
    begin, end, size = int(first), int(last), len(found)
    begin = max(0, begin + size) if begin < 0 else begin
    end = end + size if end < 0 else end
    return list(found[begin : end + 1])


def _number(value: float) -> bytes:
    return b"%d" % value if value == int(value) else repr(value).encode()


# --- keys and strings

_simple("EXISTS", lambda space, w: sum(space.exists(key) for key in w[1:]))
_simple("GET", lambda space, w: space.text(w[1]))
_simple("STRLEN", lambda space, w: len(space.text(w[1]) or b""))


@_command("SET")
def _set(space: Keyspace, w: Words) -> Answer:
    options = [word.upper() for word in w[3:]]
    space.exists(w[1])
    space.put(w[1], w[2])
    if options[:1] == [b"PX"]:
        space.expire_at(w[1], space.now() + int(options[1]))
    elif options != [b"KEEPTTL"]:
        space.expire_at(w[1], None)
    return OK


@_command("DEL")
def _delete(space: Keyspace, w: Words) -> Answer:
    there = [key for key in w[1:] if space.exists(key)]
    for key in there:
        space.drop(key)
    return len(there)


@_command("INCR")
def _incr(space: Keyspace, w: Words) -> Answer:
    value = int(space.text(w[1]) or 0) + 1
    space.put(w[1], b"%d" % value)
    return value


@_command("PTTL")
def _ttl(space: Keyspace, w: Words) -> int:
    if not space.exists(w[1]):
        return -2
    at = space.expires(w[1])
    return -1 if at is None else at - space.now()


def _expire_in(unit: int) -> Callable[[Keyspace, Words], Answer]:
    def expire(space: Keyspace, w: Words) -> Answer:
        if not space.exists(w[1]) or (w[3:] == [b"NX"] and space.expires(w[1]) is not None):
            return 0
        space.expire_at(w[1], space.now() + int(w[2]) * unit)
        return 1

    return expire


_simple("EXPIRE", _expire_in(1000))
_simple("PEXPIRE", _expire_in(1))


@_command("SCAN")
def _scan(space: Keyspace, w: Words) -> Answer:
    pattern = w[3].decode()
    return [b"0", [key for key in space.names() if fnmatch.fnmatchcase(key.decode(), pattern)]]


# --- hashes


@_command("HSET")
def _hset(space: Keyspace, w: Words) -> Answer:
    fields = space.edit(w[1], Hash)
    before = len(fields)
    fields.update(zip(w[2::2], w[3::2], strict=True))
    return len(fields) - before


@_command("HSETNX")
def _hsetnx(space: Keyspace, w: Words) -> Answer:
    return 0 if w[2] in space.find(w[1], Hash) else _hset(space, w)


@_command("HINCRBY")
def _hincrby(space: Keyspace, w: Words) -> Answer:
    value = int(space.find(w[1], Hash).get(w[2], b"0")) + int(w[3])
    space.edit(w[1], Hash)[w[2]] = b"%d" % value
    return value


def _remover(kind: type[V]) -> Callable[[Keyspace, Words], Answer]:
    def remove(space: Keyspace, w: Words) -> Answer:
        there = [member for member in dict.fromkeys(w[2:]) if member in space.find(w[1], kind)]
        for member in there:
            del space.edit(w[1], kind)[member]  # type: ignore[arg-type]  # none of these is a list
        return len(there)

    return remove


_simple("HDEL", _remover(Hash))
_simple("HGET", lambda space, w: space.find(w[1], Hash).get(w[2]))
_simple("HMGET", lambda space, w: [space.find(w[1], Hash).get(field) for field in w[2:]])
_simple("HGETALL", lambda space, w: [part for pair in space.find(w[1], Hash).items() for part in pair])
_simple("HKEYS", lambda space, w: list(space.find(w[1], Hash)))
_simple("HVALS", lambda space, w: list(space.find(w[1], Hash).values()))
_simple("HLEN", lambda space, w: len(space.find(w[1], Hash)))
_simple("HEXISTS", lambda space, w: int(w[2] in space.find(w[1], Hash)))
_simple("HRANDFIELD", lambda space, w: list(space.find(w[1], Hash))[: int(w[2])])

# --- lists


@_command("RPUSH")
def _rpush(space: Keyspace, w: Words) -> Answer:
    items = space.edit(w[1], Items)
    items.extend(w[2:])
    return len(items)


@_command("LPUSH")
def _lpush(space: Keyspace, w: Words) -> Answer:
    items = space.edit(w[1], Items)
    items[:0] = reversed(w[2:])
    return len(items)


@_command("LTRIM")
def _ltrim(space: Keyspace, w: Words) -> Answer:
    items = space.edit(w[1], Items)
    items[:] = _slice(items, w[2], w[3])
    return OK


@_command("LINDEX")
def _lindex(space: Keyspace, w: Words) -> Answer:
    items, place = space.find(w[1], Items), int(w[2])
    return items[place] if -len(items) <= place < len(items) else None


_simple("LLEN", lambda space, w: len(space.find(w[1], Items)))
_simple("LRANGE", lambda space, w: _slice(space.find(w[1], Items), w[2], w[3]))

# --- sets


@_command("SADD")
def _sadd(space: Keyspace, w: Words) -> Answer:
    members = space.find(w[1], Members)
    new = [member for member in dict.fromkeys(w[2:]) if member not in members]
    if new:
        space.edit(w[1], Members).update(dict.fromkeys(new))
    return len(new)


_simple("SREM", _remover(Members))
_simple("SMEMBERS", lambda space, w: list(space.find(w[1], Members)))
_simple("SCARD", lambda space, w: len(space.find(w[1], Members)))
_simple("SISMEMBER", lambda space, w: int(w[2] in space.find(w[1], Members)))
_simple("SMISMEMBER", lambda space, w: [int(member in space.find(w[1], Members)) for member in w[2:]])

# --- sorted sets


@_command("ZADD")
def _zadd(space: Keyspace, w: Words) -> Answer:
    only_new = w[2].upper() == b"NX"
    pairs = w[3:] if only_new else w[2:]
    scores, new = space.find(w[1], Scores), 0
    for score, member in zip(pairs[::2], pairs[1::2], strict=True):
        if only_new and member in scores:
            continue
        new += member not in scores
        scores = space.edit(w[1], Scores)
        scores[member] = float(score)
    return new


def _shown(found: Sequence[tuple[bytes, float]], w: Words) -> list[bytes]:
    if b"WITHSCORES" in [word.upper() for word in w[3:]]:
        return [part for member, score in found for part in (member, _number(score))]
    return [member for member, _ in found]


def _between(space: Keyspace, key: bytes, low: bytes, high: bytes) -> list[tuple[bytes, float]]:
    def holds(score: float, bound: bytes, sign: int) -> bool:
        value = float(bound.removeprefix(b"("))
        return sign * score > sign * value or (score == value and not bound.startswith(b"("))

    ordered = space.find(key, Scores).ordered()
    return [(member, score) for member, score in ordered if holds(score, low, 1) and holds(score, high, -1)]


@_command("ZRANGEBYSCORE")
def _zrangebyscore(space: Keyspace, w: Words) -> Answer:
    found = _between(space, w[1], w[2], w[3])
    if w[4:5] == [b"LIMIT"]:
        found = found[int(w[5]) :][: int(w[6])]
    return _shown(found, w)


@_command("ZSCORE")
def _zscore(space: Keyspace, w: Words) -> Answer:
    score = space.find(w[1], Scores).get(w[2])
    return None if score is None else _number(score)


def _rank(space: Keyspace, key: bytes, member: bytes, *, last_first: bool) -> int | None:
    ordered = [known for known, _ in space.find(key, Scores).ordered()]
    if member not in ordered:
        return None
    return len(ordered) - 1 - ordered.index(member) if last_first else ordered.index(member)


@_command("ZREMRANGEBYRANK")
def _zremrangebyrank(space: Keyspace, w: Words) -> Answer:
    gone = _slice(space.find(w[1], Scores).ordered(), w[2], w[3])
    for member, _ in gone:
        del space.edit(w[1], Scores)[member]
    return len(gone)


_simple("ZREM", _remover(Scores))
_simple("ZCARD", lambda space, w: len(space.find(w[1], Scores)))
_simple("ZCOUNT", lambda space, w: len(_between(space, w[1], w[2], w[3])))
_simple("ZRANK", lambda space, w: _rank(space, w[1], w[2], last_first=False))
_simple("ZREVRANK", lambda space, w: _rank(space, w[1], w[2], last_first=True))
_simple("ZRANGE", lambda space, w: _shown(_slice(space.find(w[1], Scores).ordered(), w[2], w[3]), w))
_simple("ZREVRANGE", lambda space, w: _shown(_slice(space.find(w[1], Scores).ordered()[::-1], w[2], w[3]), w))
