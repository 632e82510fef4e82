"""`python -m tests.story.newer serve …`: a node of the next version, one of whose functions in the store is another.

Its version of the function that takes moves also counts, for each race, the entries that it has written.
"""

from __future__ import annotations

import sys

from cellrace_client.cli import main
from cellrace_server.store import library
from cellrace_server.store.library import Answer, Argument, Link

COMMAND = (sys.executable, "-m", "tests.story.newer", "serve")
WRITTEN = ":written-by-2"
"""What the key of that count ends with."""

_BEFORE = "  return {'ok', stamp, version}"
_SINCE = f"  redis.call('INCRBY', base .. '{WRITTEN}', #moves)\n{_BEFORE}"


def _raise_version() -> None:
    send = Link.command

    async def command(self: Link, *words: Argument, lasting: bool = True) -> Answer:
        if words[0] == "FUNCTION LOAD" and "local function commit_one" in str(words[2]):
            assert str(words[2]).count(_BEFORE) == 1, "the function that takes moves has another end by now"
            words = (*words[:2], str(words[2]).replace(_BEFORE, _SINCE))
        return await send(self, *words, lasting=lasting)

    library.VERSION = "2"
    Link.command = command  # type: ignore[method-assign]  # the next version, without a second copy of this one


if __name__ == "__main__":
    _raise_version()
    main()
