"""Goes through all that is on record: for operators, who can wait, and never for what a player asks."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import date

import msgspec
from msgspec import Struct

from cellrace_server.core.effects import RowInfo
from cellrace_server.store import keys
from cellrace_server.store.library import Answer, Link
from cellrace_server.store.records import pairs, read_records

_AT_ONCE = 1_000
"""About how many keys the store looks at in one call, so that others get their turn in between."""
_RACE = re.compile(r"race:\{([^{}]+)\}")
_BOARD = re.compile(r"board:\{([^{}]+)\}(?::rows)?")
_FINISHED = re.compile(r"player:\{([^{}]+)\}:finished:(.+)")
_DAYS = re.compile(r"player:\{([^{}]+)\}:days:(.+)")
_ATTEMPTS = re.compile(r"daily:\{([0-9-]+):([^{}]+)\}:attempts")


class FullRow(Struct, frozen=True):
    """A row of a board with all that is on record of it; `people` says whether it is shown without bots too."""

    value: int
    order: int
    info: RowInfo
    people: bool
    sound: bool
    """Whether what the row is listed by is what it says itself."""


class Census:
    """Goes through the keys of a whole store."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def _keys(self, pattern: str) -> AsyncIterator[str]:
        """Every key of a pattern, once; those that come or go meanwhile may be left out."""
        cursor, seen = b"0", set[str]()
        while True:
            cursor, found = await self._link.command("SCAN", cursor, "MATCH", pattern, "COUNT", _AT_ONCE)
            for key in found:
                if (name := key.decode()) not in seen:
                    seen.add(name)
                    yield name
            if int(cursor) == 0:
                return

    async def races(self) -> list[str]:
        """The ids of all races on record."""
        return sorted({match[1] async for key in self._keys("race:{*}") if (match := _RACE.fullmatch(key))})

    async def boards(self) -> list[str]:
        """The names of all boards that have rows."""
        return sorted({match[1] async for key in self._keys("board:{*}*") if (match := _BOARD.fullmatch(key))})

    async def rows(self, board: str) -> dict[str, FullRow]:
        """All rows of a board, by player."""
        values, infos, rows, people = await self._link.commands(
            (
                ("HGETALL", keys.board(board)),
                ("HGETALL", keys.board_info(board)),
                ("ZRANGE", keys.board_rows(board), 0, -1, "WITHSCORES"),
                ("ZRANGE", keys.board_people(board), 0, -1, "WITHSCORES"),
            )
        )
        listed, among_people = _listed(rows), _listed(people)
        found = {}
        for player, value in values.items():
            number, member, *short = value.split(b"|", 3)
            order, _, _ = member.partition(b":")
            if short:  # A short board has nothing but these.
                bot, info = short
                info_there = msgspec.json.decode(info or b"{}", type=RowInfo)
                found[player.decode()] = FullRow(int(number), int(order), info_there, bot != b"1", True)
                continue
            found[player.decode()] = FullRow(
                int(number),
                int(order),
                msgspec.json.decode(infos.get(player) or b"{}", type=RowInfo),
                member in among_people,
                listed.pop(member, None) == int(number) == among_people.pop(member, int(number)),
            )
        # What is listed and says nothing itself: rows of players whom the board does not know.
        for member, number in {**among_people, **listed}.items():
            order, _, player = member.partition(b":")
            found[player.decode()] = FullRow(number, int(order), RowInfo(), True, False)
        return found

    async def mentioning(self, player: str) -> list[str]:
        """The races on record in which a player's id stands, as entrant, as somebody who has left, or as a ghost."""
        wanted, found = player.encode(), []
        for race_id in await self.races():
            answer: Answer = await self._link.call("race_head", [keys.race(race_id)])
            if not answer:
                continue
            creation, records = read_records(answer)
            if wanted in creation or any(wanted in record for record in records):
                found.append(race_id)
        return found

    async def finished(self) -> list[tuple[str, str]]:
        """The players who have finished games, and of which game."""
        return await self._players(_FINISHED)

    async def days(self) -> list[tuple[str, str]]:
        """The players who have won dailies, and of which game."""
        return await self._players(_DAYS)

    async def _players(self, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
        matches = [match async for key in self._keys("player:{*}*") if (match := pattern.fullmatch(key))]
        return sorted((match[1], match[2]) for match in matches)

    async def attempts(self) -> dict[tuple[date, str], dict[str, str]]:
        """The races of all attempts, by player, of each day and game."""
        found: dict[tuple[date, str], dict[str, str]] = {}
        async for key in self._keys("daily:{*}:attempts"):
            match = _ATTEMPTS.fullmatch(key)
            if match is not None:
                answer: Answer = await self._link.command("HGETALL", key)
                races = {player.decode(): attempt.decode().partition(":")[0] for player, attempt in answer.items()}
                found[date.fromisoformat(match[1]), match[2]] = races
        return found

    async def delete_attempts(self, player: str) -> int:
        """Delete a player's attempts at all days; says how many there were."""
        return sum([await self._link.command("HDEL", key, player) async for key in self._keys("daily:{*}:attempts")])

    async def delete_player(self, player: str) -> int:
        """Delete all keys of a player; says how many there were."""
        stem = keys.player(player)
        found = [key async for key in self._keys(_literal(stem) + "*") if key.startswith(stem)]
        # One by one: none is left behind half deleted, and the player's own key goes last.
        return sum([await self._link.command("DEL", key) for key in sorted(found, key=len, reverse=True)])


def _literal(text: str) -> str:
    """A text as a pattern that only matches it."""
    return re.sub(r"([*?\[\]\\^])", r"\\\1", text)


def _listed(answer: Answer) -> dict[bytes, int]:
    return {member: int(float(value)) for member, value in pairs(answer)}
