"""The bots of a house: accounts that servers share out among them, and who waits where for how long."""

from __future__ import annotations

import asyncio
import sys
from itertools import product
from pathlib import Path

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace.variants import VARIANTS
from cellrace_client import house_bot
from cellrace_client.errors import Closed
from cellrace_client.house import accounts, bot_words
from cellrace_client.house_bot import NAMES, ROUND, Place
from cellrace_client.tokens import read_token_file, write_token_file
from cellrace_server.core.names import parse_name


def place(slot: int, bots: int = 8) -> Place:
    return Place("ws://localhost:8765/ws", "/somewhere/token", slot, bots)


def test_no_bots_leave_nothing_behind(tmp_path: Path) -> None:
    with accounts(tmp_path / "bots", 0) as files:
        assert files == []
    assert not (tmp_path / "bots").exists()


def test_an_account_is_the_same_again_next_time(tmp_path: Path) -> None:
    with accounts(tmp_path / "bots", 3) as files:
        first = files
    with accounts(tmp_path / "bots", 2) as files:
        assert files == first[:2]
    assert [file.name for file in first] == ["001.token", "002.token", "003.token"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no locks on files there")
def test_servers_on_one_directory_have_different_ones(tmp_path: Path) -> None:
    """Else two bots would take over each other's connection for ever."""
    with accounts(tmp_path / "bots", 2) as ours, accounts(tmp_path / "bots", 2) as theirs:
        assert not set(ours) & set(theirs)
        assert len(ours) == len(theirs) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_nobody_else_can_look_at_them(tmp_path: Path) -> None:
    with accounts(tmp_path / "bots", 1):
        assert (tmp_path / "bots").stat().st_mode & 0o777 == 0o700


def test_names_are_different_and_allowed() -> None:
    names = [place(slot).name for slot in range(100)]
    assert len({parse_name(name).folded for name in names}) == 100
    assert len(NAMES) >= 8


@pytest.mark.parametrize("bots", [1, 2, 3, 6, 7, 11, 20])
def test_in_each_queue_is_some_bot_within_a_round_however_few_there_are(bots: int) -> None:
    """Each stays its turn in one game after the other, and each begins with another."""
    places = [place(slot, bots) for slot in range(bots)]
    turn = places[0].turn
    assert all(one.turn == turn for one in places)
    rounds = max(1, round(ROUND / turn))
    for game, begin in product(VARIANTS, range(len(VARIANTS))):
        visited = {one.games[(begin + n) % len(VARIANTS)] for one in places for n in range(rounds)}
        assert game in visited


async def test_one_that_is_sent_away_is_there_again_once_it_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let in again by the operator, as it was; deleted, as somebody new: a house keeps as many as it was told to."""
    token = tmp_path / "001.token"
    write_token_file(token, "old")
    banned, unknown = Refused(ErrorCode.BANNED), Refused(ErrorCode.BAD_TOKEN)
    met = iter([Closed.by_server(CloseCode.BANNED), banned, banned, Closed.by_server(1001), unknown])
    known = []

    async def play(place: Place, name: str | None) -> None:
        assert name == place.name
        known.append(read_token_file(Path(place.token_file)))
        if (end := next(met, None)) is None:
            raise asyncio.CancelledError
        raise end

    monkeypatch.setattr(house_bot, "play", play)
    monkeypatch.setattr(house_bot, "REST", 0.0)
    monkeypatch.setattr(house_bot, "REST_OF_BANNED", 0.0)
    with pytest.raises(asyncio.CancelledError):
        await house_bot.stay(Place("ws://localhost:8765/ws", str(token), 0, 1))
    assert known == ["old"] * 5 + [None]


def test_its_command_reads_back_as_its_place() -> None:
    import msgspec

    assert msgspec.json.decode(bot_words(place(3))[-1], type=Place) == place(3)
