"""A season: bots on two nodes play quick matches and a daily while a node is killed now and then; all must add up.

    python -m tests.story.season                          200 bots, 500 matches, 1,000 forged replays
    python -m tests.story.season --bots 24 --matches 30   as in the suite

Then every board equals what the races make of it, nobody has had two attempts, ratings go on from each other, every
replay verifies, and none does in which one byte was changed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, RaceState, Standing
from cellrace.solver import solve
from cellrace.verifying import read_keys, verify
from cellrace_client.connection import Connection, connect
from cellrace_client.matches import Matches, race_match
from cellrace_client.race_view import RaceView, goes_on
from cellrace_client.racer import race_to_the_end
from cellrace_server.attaching import operated
from cellrace_server.core.daily import day_of
from cellrace_server.recomputing import Recomputation
from cellrace_server.store import Store
from tests.server.net.fetching import fetch
from tests.story.servers import Server, Servers, servers

GAME = "one-suit"
OPTIONS = ("--http-burst", "1000000", "--http-per-second", "1000000", "--burst", "10000", "--per-second", "10000")
SETTLING = 120.0
"""Seconds after which all that follows from the last race was awaited in vain."""
LATE = 3.0
"""Seconds after which who is told of no match asks whether there is one: a node that is just back may tell it late."""
KEPT = 30 * 24 * 3_600_000

T = TypeVar("T")


@dataclass(frozen=True)
class Plot:
    """What happens in a season."""

    bots: int = 200
    matches: int = 500
    forged: int = 1_000
    kill_every: float = 15.0
    """Seconds between two kills."""
    seed: int = 1


@dataclass
class Outcome:
    """What came of it, and what is wrong: a sentence each."""

    matches: int = 0
    attempts: int = 0
    kills: int = 0
    replays: int = 0
    forged: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)


class Mixed:
    """Chooses the moves of one game: to its win, or only so far."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._left = chance.choice((0, 1, 2, 99, 99, 99, 99, 99))
        """How many messages it plays before it concedes."""

    async def choose(self, view: RaceView) -> Sequence[str]:
        """A few moves of a way to win."""
        await asyncio.sleep(self._chance.uniform(0.0, 0.3))
        assert view.game is not None, "it is asked only while it plays"
        solution = solve(view.game.board)
        if solution is None or not self._left:
            return ()
        self._left -= 1
        return solution.safe_moves[: self._chance.randint(1, 6)]


async def _unless(ending: Coroutine[Any, Any, object], wanted: Coroutine[Any, Any, T]) -> T | None:
    """What is wanted; None when the end comes first."""
    tasks = asyncio.create_task(wanted), asyncio.create_task(ending)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _one_on_record(connection: Connection) -> RaceView | None:
    """A race in which one plays by what the server has on record, whether it was told or not."""
    for race in await connection.list_races(mine=True):
        if race.state in (RaceState.OVER, RaceState.CANCELLED):
            continue
        if goes_on(view := await connection.sync(race.race)):
            return view
    return None


class Season:
    """One season."""

    def __init__(self, folder: Path, plot: Plot) -> None:
        self._folder = folder
        self._plot = plot
        self._chance = random.Random(plot.seed)
        self._nodes: list[Server] = []
        self._ended: dict[str, tuple[Standing, ...]] = {}
        self._attempts: dict[str, set[str]] = {}
        self._enough = asyncio.Event()
        self._gone = 0
        """How many bots have left the queue for good."""
        self._all_gone = asyncio.Event()
        self.outcome = Outcome()

    async def run(self) -> Outcome:
        """Play it, and hold it to what it must be."""
        began = time.monotonic()
        async with servers(self._folder) as house:
            self._nodes = [await house.start(*OPTIONS) for _ in range(2)]
            killing = asyncio.create_task(self._kill(house))
            bots = [asyncio.create_task(self._bot(n), name=f"bot {n}") for n in range(self._plot.bots)]
            try:
                await self._enough.wait()
                await asyncio.gather(*bots)
            finally:
                for task in bots:
                    task.cancel()
                self._enough.set()
                # Not cancelled: a node that is just being started would be left behind.
                await asyncio.gather(killing, *bots, return_exceptions=True)
            async with operated(None, house.data_dir, KEPT) as store:
                await self._settle(store)
                await self._check(store)
        self.outcome.seconds = time.monotonic() - began
        return self.outcome

    # --- what happens

    async def _kill(self, house: Servers) -> None:
        while not self._enough.is_set():
            await asyncio.wait([asyncio.create_task(self._enough.wait())], timeout=self._plot.kill_every)
            if self._enough.is_set():
                return
            place = self._chance.randrange(2)
            port = self._nodes[place].port
            await self._nodes[place].kill()
            self.outcome.kills += 1
            await asyncio.sleep(self._chance.uniform(0.2, 2.0))
            self._nodes[place] = await house.start(*OPTIONS, port=port)

    async def _bot(self, number: int) -> None:
        chance = random.Random(self._plot.seed * 1_000 + number)
        urls = [node.url for node in self._nodes]
        chance.shuffle(urls)
        forever = float("inf")
        async with connect(
            urls, name=f"Bot {number}", bot=number % 3 == 0, patience=forever, give_up_after=forever
        ) as connection:
            begins = chance.uniform(0.0, 0.3) * self._plot.matches
            attempted = False
            while not self._enough.is_set():
                if not attempted and len(self._ended) >= begins:
                    attempted = True
                    await self._daily(connection, chance)
                    continue
                view = await self._next_match(connection)
                if view is not None:
                    self._note(await race_match(connection, view.race, Mixed(chance)))
            if not attempted:
                await self._daily(connection, chance)
            await self._late_matches(connection, chance)

    async def _next_match(self, connection: Connection) -> RaceView | None:
        """The next race; None when the season ends before there is one."""
        matches = Matches(connection, (GAME,), bots=True, turn=5.0)
        view = await _unless(self._enough.wait(), matches.next())
        # One that was matched just before is not left waiting.
        return view or await matches.leave()

    async def _late_matches(self, connection: Connection, chance: random.Random) -> None:
        """Play what was matched just before the queue was left, until nobody waits in it: it may be told late."""
        self._gone += 1
        if self._gone == self._plot.bots:
            self._all_gone.set()
        while True:
            view = await _unless(self._long_after_all_have_gone(), connection.race_where(goes_on))
            if view is None and (view := await _one_on_record(connection)) is None:
                return
            self._note(await race_match(connection, view.race, Mixed(chance)))

    async def _long_after_all_have_gone(self) -> None:
        await self._all_gone.wait()
        await asyncio.sleep(LATE)

    def _note(self, view: RaceView) -> None:
        if view.standings is not None:
            self._ended[view.race] = view.standings
        if len(self._ended) >= self._plot.matches:
            self._enough.set()

    async def _daily(self, connection: Connection, chance: random.Random) -> None:
        """Begin the attempt, several times at once: one of them is to count."""
        player = connection.player.id
        begun = await asyncio.gather(*(connection.start_daily(GAME) for _ in range(3)), return_exceptions=True)
        races = {view.race for view in begun if isinstance(view, RaceView)}
        races |= {refused.race for refused in begun if isinstance(refused, Refused) and refused.race}
        self._attempts[player] = races
        for view in begun:
            if isinstance(view, Refused) and view.code != ErrorCode.ALREADY_ATTEMPTED:
                self.outcome.wrong.append(f"{player}: daily.start is refused with {view.code}")
        if len(races) == 1:
            (race,) = races
            if race not in connection.races:
                await connection.sync(race)
            await race_to_the_end(connection, race, Mixed(chance))

    async def _settle(self, store: Store) -> None:
        async with asyncio.timeout(SETTLING):
            # Looked at again and again: it is another process that gets there.
            while [race for race in await store.census.races() if await self._is_unsettled(store, race)]:  # noqa: ASYNC110
                await asyncio.sleep(0.2)

    async def _is_unsettled(self, store: Store, race: str) -> bool:
        """Whether something is still to follow from a race that has begun; what has not is cancelled some time."""
        head = await store.races.head(race)
        return head is not None and head.race.start_at is not None and not head.packed

    # --- what must hold

    async def _check(self, store: Store) -> None:
        wrong = self.outcome.wrong
        self.outcome.matches, self.outcome.attempts = len(self._ended), len(self._attempts)
        wrong += [f"recompute: {difference}" for difference in await Recomputation(store, fix=False).run()]
        await self._check_attempts(store)
        await self._check_ratings(store)
        replays = await self._replays(store)
        keys = read_keys((await fetch(self._nodes[0].port, "/api/v1/keys")).body)
        for text in replays:
            faults = [check for check in verify(text, keys) if not check.holds]
            wrong += [f"a replay does not verify: {check.sentence}" for check in faults]
        self.outcome.replays = len(replays)
        for _ in range(self._plot.forged):
            text = self._forged(self._chance.choice(replays))
            self.outcome.forged += 1
            if all(check.holds for check in verify(text, keys)):
                wrong.append(f"a forged replay verifies: {text!r}"[:500])

    async def _check_attempts(self, store: Store) -> None:
        """One attempt each, the one that its player was told of, and on the board unless it goes on."""
        found = await store.census.attempts()
        today = {
            player: race for (_, variant), races in found.items() for player, race in races.items() if variant == GAME
        }
        for player, races in self._attempts.items():
            if races != {today.get(player)}:
                self.outcome.wrong.append(f"{player} was told of attempts {races}, on record is {today.get(player)}")
        if len(found) > 2 or len(today) != len(self._attempts):
            self.outcome.wrong.append(f"{len(today)} attempts are on record, {len(self._attempts)} were made")
        entries = sum([await store.daily.entries(day, GAME) for day in {day_of(store.clock.now())}])
        if len(found) == 1 and entries != len(self._attempts):
            self.outcome.wrong.append(f"the day says {entries} entries")

    async def _check_ratings(self, store: Store) -> None:
        """Each player's ratings go on from each other, race by race, and are those that the standings told."""
        ledger = await store.ratings.ledger(GAME)
        known: dict[str, int] = {}
        for race, applied in ledger.races.items():
            told = {standing.player.id: standing.rating for standing in self._ended.get(race, ())}
            for step in applied.steps:
                if known.setdefault(step.player, 1000) != step.before.rating:
                    self.outcome.wrong.append(f"{step.player} goes from {known[step.player]} to {step.before.rating}")
                known[step.player] = step.after.rating
                change = told.get(step.player)
                if change is not None and (change.before, change.after) != (step.before.rating, step.after.rating):
                    self.outcome.wrong.append(f"{step.player} was told of {change} in race {race}")
        missing = self._ended.keys() - ledger.races.keys()
        self.outcome.wrong += [f"race {race} is not rated" for race in sorted(missing)]
        for race, standings in self._ended.items():
            if any(standing.rating is None for standing in standings):
                self.outcome.wrong.append(f"race {race} has standings without ratings")
            if any(s.status is EntrantStatus.WON and (s.raw is None or s.latency is None) for s in standings):
                self.outcome.wrong.append(f"race {race} has a win without a receipt")

    async def _replays(self, store: Store) -> list[bytes]:
        """The replays of all matches that are over, as a node gives them."""
        texts = []
        for race in await store.census.races():
            head = await store.races.head(race)
            if head is None or head.race.standings is None or head.race.settings.seats == 1:
                continue
            for entrant in head.race.entrants:
                fetched = await fetch(self._nodes[0].port, f"/api/v1/replays/{race}/{entrant.player.id}")
                if fetched.status == 200:
                    texts.append(fetched.body)
                else:
                    self.outcome.wrong.append(f"no replay of {entrant.player.id} in {race}: {fetched.body!r}")
        return texts

    def _forged(self, text: bytes) -> bytes:
        """The replay with one byte changed."""
        place = self._chance.randrange(len(text))
        other = self._chance.choice([byte for byte in range(32, 127) if byte != text[place]])
        return text[:place] + bytes([other]) + text[place + 1 :]


@asynccontextmanager
async def _folder() -> AsyncIterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cellrace-season-") as folder:
        yield Path(folder)


async def play(plot: Plot) -> Outcome:
    """A season in a folder of its own."""
    async with _folder() as folder:
        return await Season(folder, plot).run()


def main() -> int:
    """Play one, print what came of it, and fail when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.story.season", description=__doc__)
    parser.add_argument("--bots", type=int, default=Plot.bots)
    parser.add_argument("--matches", type=int, default=Plot.matches)
    parser.add_argument("--forged", type=int, default=Plot.forged)
    parser.add_argument("--kill-every", type=float, default=Plot.kill_every)
    parser.add_argument("--seed", type=int, default=Plot.seed)
    outcome = asyncio.run(play(Plot(**vars(parser.parse_args()))))
    print(
        f"{outcome.matches} matches, {outcome.attempts} daily attempts, {outcome.kills} kills of a node, "
        f"{outcome.replays} replays, {outcome.forged} forged ones, in {outcome.seconds:.0f} s"
    )
    for sentence in outcome.wrong[:30]:
        print(f"WRONG: {sentence}")
    print(f"{len(outcome.wrong)} wrong")
    return 1 if outcome.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
