"""Bots of the client race on a real node: to the end, through drops, and without hope."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio

from cellrace.board import Board
from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, Hello, RaceState, SettingsRequest
from cellrace_client.bot import SolverBot
from cellrace_client.bot_races import keep_company
from cellrace_client.connection import Back, Closed, Connection, Happened, connect
from cellrace_client.demo import race_faults
from cellrace_client.homemade import Bot, race_once, run
from cellrace_client.pace import PACES, Pace
from cellrace_client.race_view import RaceView
from cellrace_client.racer import race_to_the_end
from cellrace_client.thinker import Thinker
from cellrace_server.app import running
from cellrace_server.config import Bounds, Config

SOON = Pace(0.0, 0.0)
"""One move a message, without a pause."""


@pytest_asyncio.fixture
async def url(store_url: str) -> AsyncIterator[str]:
    """A node in this process, on an empty store."""
    bounds = Bounds(new_players=10_000, burst=10_000, per_second=10_000)
    async with running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as node:
        yield f"ws://127.0.0.1:{node.port}/ws"


@pytest_asyncio.fixture
async def thinker() -> AsyncIterator[Thinker]:
    """A solver in its own process."""
    thinker = Thinker()
    yield thinker
    await thinker.close()


def settings(variant: str = "six-by-six", **fields: object) -> SettingsRequest:
    """A race that starts at once."""
    return SettingsRequest(variant=variant, countdown=0, **fields)  # type: ignore[arg-type]  # what the test says


async def play(connection: Connection, race: str, thinker: Thinker, pace: Pace = SOON, seed: int = 1) -> RaceView:
    """Lets a bot play the connection's race."""
    return await race_to_the_end(connection, race, SolverBot(thinker, pace, Random(seed)))


@pytest.mark.parametrize("variant", ["six-by-six", "two-suit", "marseille", "eight-off"])
async def test_bots_race_to_right_standings_over_both_subprotocols(url: str, thinker: Thinker, variant: str) -> None:
    """Same layout, right commitment, right standings; every move on the log of its player."""
    async with (
        connect(url, name="Ada", bot=True, subprotocol="msgpack") as ada,
        connect(url, name="Bix", bot=True, subprotocol="json") as bix,
    ):
        race = (await ada.create(settings(variant))).race
        await bix.join(race)
        views = await asyncio.gather(play(ada, race, thinker, PACES[5]), play(bix, race, thinker))
        assert race_faults(list(views)) == []
        for view, connection in zip(views, (ada, bix), strict=True):
            synced = await connection.sync(race)
            assert synced.log == view.log
            assert synced.game == view.game


async def test_a_rival_made_for_people_plays_the_rest_at_once_when_they_are_done(url: str) -> None:
    """However slow it is, nobody waits for the standings and a rematch; it stays for that."""
    slow = Pace(1000.0, 1000.0)
    async with connect(url, name="Ann") as ann, connect(url, name="Robo", bot=True) as robo:
        race = (await ann.create(settings("one-suit"))).race
        await robo.join(race)
        rival = asyncio.create_task(keep_company(robo, race, slow, Random(1)))
        await ann.ready(race)
        await ann.view_where(race, lambda view: view.playing)
        await ann.concede(race)
        over = await ann.view_where(race, lambda view: view.ended)
        assert over.entrants[1].status is EntrantStatus.WON
        successor = (await ann.rematch(race)).race
        await ann.view_where(successor, lambda view: len(view.entrants) == 2)
        rival.cancel()


async def test_a_beginner_slips_takes_back_and_still_wins(url: str, thinker: Thinker) -> None:
    """Slips are undone on the server's board too."""
    clumsy = Pace(0.0, 0.0, slips=0.5, detour=3)
    async with connect(url, bot=True) as ada:
        race = (await ada.create(settings(seats=1, deal=1))).race
        view = await play(ada, race, thinker, clumsy, seed=5)
        assert race_faults([view]) == []
        assert view.me is not None
        assert view.me.undos > 0


async def test_a_bot_that_is_cut_off_again_and_again_still_wins(url: str, thinker: Thinker) -> None:
    """Each drop is followed by a return, and no move is lost or played twice."""
    ada = Connection(url, Hello(bot=True), draw=lambda: 0.0)
    try:
        await ada.open()
        race = (await ada.create(settings("freecell", seats=1, deal=617))).race
        cuts = 0

        async def cut_now_and_then() -> None:
            nonlocal cuts
            async for event in ada.events():
                if isinstance(event, Back):
                    cuts += 1
                if isinstance(event, Happened) and event.view.ended:
                    return

        class CutOff(SolverBot):
            """Loses its connection at every fourth move, before the answer can be read."""

            async def choose(self, view: RaceView) -> Sequence[str]:
                moves = await super().choose(view)
                if view.game is not None and view.game.seq % 4 == 2 and ada._wire is not None:  # noqa: SLF001 - a cut is no feature
                    asyncio.get_running_loop().call_soon(ada._wire.abort)  # noqa: SLF001 - the same
                return moves

        watching = asyncio.create_task(cut_now_and_then())
        view = await race_to_the_end(ada, race, CutOff(thinker, SOON, Random(1)))
        assert race_faults([view]) == []
        synced = await ada.sync(race)
        assert synced.log == view.log
        await watching
        assert cuts >= 10
    finally:
        await ada.close()


async def test_a_bot_without_hope_plays_on_greedily_then_concedes(url: str, thinker: Thinker) -> None:
    """Deal 11982 cannot be won; with a search as short as this one nothing is found, and the bot does what it can."""
    async with connect(url, bot=True) as ada:
        race = (await ada.create(settings("freecell", seats=1, deal=11982))).race
        bot = SolverBot(thinker, SOON, Random(1), states=500)
        view = await race_to_the_end(ada, race, bot)
        assert view.me is not None
        assert view.me.status is EntrantStatus.CONCEDED
        assert view.me.moves > 10


async def test_a_search_is_given_up_when_the_race_ends(url: str, thinker: Thinker) -> None:
    """The race ends while the bot still thinks; the connection answered all the while."""
    async with connect(url, bot=True) as ada:
        race = (await ada.create(settings("freecell", seats=1, deal=11982))).race
        bot = SolverBot(thinker, SOON, Random(1), states=100_000_000)
        playing = asyncio.create_task(race_to_the_end(ada, race, bot))
        await ada.view_where(race, lambda view: view.playing)
        for _ in range(5):
            await ada.ping()
        await ada.forfeit(race)
        view = await playing
        assert view.me is not None
        assert view.me.status is EntrantStatus.FORFEITED


class First(Bot):
    """A stranger's bot."""

    def __init__(self) -> None:
        super().__init__("First")
        self.boards: list[Board] = []

    def choose(self, board: Board) -> str | None:
        """The first legal move, three times."""
        self.boards.append(board)
        return board.legal_moves()[0] if len(self.boards) <= 3 else None


async def test_one_method_is_a_bot(url: str) -> None:
    """It sees each board, and None concedes."""
    async with connect(url, bot=True) as stranger:
        race = (await stranger.create(settings(seats=1, autoplay=None))).race
        bot = First()
        view = await race_once(stranger, bot, race)
        assert view.me is not None
        assert (view.me.status, view.me.moves) == (EntrantStatus.CONCEDED, 3)
        assert view.game is not None
        assert bot.boards[-1] == view.game.board


async def test_a_bot_with_a_token_file_is_the_same_player_each_time(url: str, tmp_path: Path) -> None:
    """Its name is its own also at the second run; without the file it is taken."""
    file = str(tmp_path / "first.token")
    alone = settings(seats=1)

    def race(token_file: str | None = None) -> str:
        bot = First()
        bot.name = "First"
        return run(bot, url, settings=alone, token_file=token_file, say=lambda _sentence: None).player

    first = await asyncio.to_thread(race, file)
    assert await asyncio.to_thread(race, file) == first
    with pytest.raises(SystemExit, match="Another player has this name"):
        await asyncio.to_thread(race)


class Wrong(Bot):
    """A bot with a mistake in it."""

    def choose(self, board: Board) -> str:
        """No move at all."""
        return "99"


async def test_a_bot_with_a_mistake_concedes_and_is_told(url: str) -> None:
    """Illegal moves again and again end its race, not the others' patience."""
    async with connect(url, bot=True) as stranger:
        race = (await stranger.create(settings(seats=1))).race
        with pytest.raises(Refused) as refused:
            await race_once(stranger, Wrong(), race)
        assert refused.value.code == ErrorCode.ILLEGAL_MOVE
        assert (await stranger.sync(race)).state is RaceState.OVER


async def test_the_same_player_elsewhere_takes_over(url: str) -> None:
    """The older connection ends for good and says why; the newer one goes on."""
    async with connect(url, name="Ann") as older:
        race = (await older.create(settings(seats=1, deal=1))).race
        await older.ready(race)
        await older.view_where(race, lambda view: view.playing)
        await older.move(race, "1a")
        async with connect(url, token=older.token) as newer:
            assert newer.view(race).log == ("1a",)
            with pytest.raises(Closed) as closed:
                async for _ in older.events():
                    pass
            assert closed.value.close_code == 4100
            assert (await newer.move(race, "u")).seq == 2


async def test_stale_moves_sync_before_they_are_refused(url: str) -> None:
    """A wrong `seq` raises Refused, and the race is known again."""
    async with connect(url) as ann:
        race = (await ann.create(settings(seats=1, deal=1))).race
        await ann.ready(race)
        await ann.view_where(race, lambda view: view.playing)
        with pytest.raises(Refused) as refused:
            await ann.move(race, "1a", seq=7)
        assert (refused.value.code, refused.value.seq) == (ErrorCode.STALE, 0)
        await ann.move(race, "1a")


@pytest.mark.parametrize("example", ["greedy_bot.py"])
async def test_the_example_bot_races(url: str, example: str) -> None:
    """The file in examples/ runs as it stands, and its race ends."""
    path = Path(__file__).parents[2] / "examples" / example
    async with connect(url, name="Host") as host:
        race = (await host.create(settings("one-suit"))).race
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(path), url, race, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        await host.ready(race)
        await host.view_where(race, lambda view: view.playing)
        await host.concede(race)
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()
        assert "The race is over" in said.decode()
        assert (await host.view_where(race, lambda view: view.ended)).state is RaceState.OVER
