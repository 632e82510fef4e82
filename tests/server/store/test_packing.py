"""Packed races: small in the store, and exactly what was on record."""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from redis.asyncio import Redis

from cellrace.messages import CancelReason, EntrantStatus, Player, RaceKind, settle
from cellrace.notation import MOVES
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Fact, Joined, Over, ReadySet, Rematched, Tally
from cellrace_server.core.race import Race, evolve, standings
from cellrace_server.store import keys
from cellrace_server.store.commits import Commit, Committed, Committer
from cellrace_server.store.library import Link
from cellrace_server.store.packing import LogPacker, PackedRace, pack_race, rename_logs, unpack_logs, unpack_race
from cellrace_server.store.races import Behind, LostTrack, RaceStore, Secret
from tests.background import background

RACE = "r7q2mzk4v9ab"
START = 1_791_900_014_040
ANN = Player(id="p3xw8c1n5tab", name="Annabel the Quick ♜", bot=False)
ROOK = Player(id="p9d4k6s2hbcd", name="Rook the Relentless", bot=True)
SECRET = Secret(812_345, "8d1f0c6be2a94735af1039d2c85e7b64")
KEPT = 5 * 24 * 3_600_000
MOST_BYTES = 2_560
SPELLINGS = (*MOVES, "u")


@given(
    st.integers(0, 2**45),
    st.dictionaries(
        st.text(max_size=12),
        st.lists(st.tuples(st.integers(0, 10**8), st.sampled_from(SPELLINGS)), max_size=150),
        max_size=3,
    ),
)
def test_logs_are_unpacked_as_they_were(start: int, steps: dict[str, list[tuple[int, str]]]) -> None:
    packer = LogPacker(start)
    logs: dict[str, list[tuple[int, str]]] = {}
    for player, log in steps.items():
        at, entries = start, []
        for wait, move in log:
            at += wait
            entries.append((at, move))
        logs[player] = entries
        packer.add(player, entries)
    blob = packer.blob()
    assert unpack_logs(start, blob) == logs
    renamed = unpack_logs(start, rename_logs(blob, {player: f"{player} anew" for player in logs}))
    assert renamed == {f"{player} anew": log for player, log in logs.items()}


@given(st.binary(), st.lists(st.binary()), st.one_of(st.none(), st.integers(1, 2**33)), st.one_of(st.none(), st.text()))
def test_a_race_is_unpacked_as_it_was(
    creation: bytes, records: list[bytes], deal: int | None, salt: str | None
) -> None:
    packed = PackedRace(creation, tuple(records), deal, salt)
    assert unpack_race(pack_race(packed)) == packed


class Scribe:
    """Writes one race on record, as nodes do."""

    def __init__(self, link: Link, committer: Committer) -> None:
        self.link = link
        self.store = RaceStore(link, "node-1:ab12cd34", KEPT)
        self.race = Race(
            id=RACE,
            kind=RaceKind.RACE,
            settings=settle(None),
            created_at=START - 20_000,
            created_by=ANN.id,
            code="7KQ4MWX2",
        )
        self._committer = committer

    async def append(self, at: int, *facts: Fact, command: str = "", secret: Secret | None = None) -> None:
        for stamped in await self.store.append(self.race, command or secrets.token_hex(8), facts, at, (), secret):
            self.race = evolve(self.race, stamped)

    async def begin(self) -> None:
        await self.store.create(self.race)
        await self.append(START - 19_000, Joined(ANN))
        await self.append(START - 15_000, Joined(ROOK))
        await self.append(START - 12_000, ReadySet(ANN.id, True))
        await self.append(START - 11_000, ReadySet(ROOK.id, True))
        commitment = SECRET.commitment(self.race.settings.variant)
        await self.append(START - 5_000, CountdownBegan(START, commitment), secret=SECRET)
        for player in (ANN, ROOK):
            await self.store.open(RACE, player.id, f"1.{player.id}")

    async def commit(self, player: Player, seq: int, at: int, *moves: str) -> object:
        tally = Tally(seq + len(moves), seq // 2, seq + len(moves), 0)
        commit = Commit(RACE, player.id, f"1.{player.id}", seq, at, moves, tally, secrets.token_hex(8))
        return await self._committer.submit(commit)

    async def play(self, player: Player, count: int, seed: int) -> None:
        chance = random.Random(seed)
        at = START
        plain = [move for move in MOVES if len(move) == 2]
        for seq in range(count):
            at += chance.randrange(300, 8_000)
            assert isinstance(await self.commit(player, seq, at, chance.choice(plain)), Committed)

    async def end(self, at: int = START + 900_000) -> None:
        for player in (ANN, ROOK):
            await self.append(at, Done(player.id, EntrantStatus.CONCEDED, Tally(100, 37, 92, 8), 31))
        await self.append(at, Over(standings(self.race)))

    async def size(self) -> int:
        found = [key for key in await self.link.command("KEYS", "*") if RACE.encode() in key]
        return sum([await self.link.command("MEMORY USAGE", key, "SAMPLES", 0) for key in found])


@pytest_asyncio.fixture
async def scribe(redis_client: Redis) -> AsyncIterator[Scribe]:
    """A race that runs, on an empty store."""
    link = Link(redis_client)
    await link.load_libraries()
    committer = Committer(link, "node-1:ab12cd34", lambda: START + 10**7)
    scribe = Scribe(link, committer)
    async with background(committer.run()):
        await scribe.begin()
        yield scribe


async def test_a_race_of_two_with_100_moves_each_takes_no_more_than_2_5_kib(scribe: Scribe) -> None:
    for seed, player in enumerate((ANN, ROOK)):
        await scribe.play(player, 100, seed)
    await scribe.end()
    before = await scribe.size()
    await scribe.store.compact(RACE)
    assert await scribe.size() <= MOST_BYTES < before


async def test_a_packed_race_loads_as_it_was(scribe: Scribe) -> None:
    for seed, player in enumerate((ANN, ROOK)):
        await scribe.play(player, 20, seed)
    await scribe.end()
    before = await scribe.store.load(RACE)
    await scribe.store.compact(RACE)
    assert before is not None
    # But for who was connected at the end, which says nothing about later.
    assert await scribe.store.load(RACE, host=True) == replace(before, presence={})
    assert await scribe.store.secret(RACE) == SECRET
    for player in (ANN, ROOK):
        assert await scribe.store.finished_log(before.race, player.id) == before.logs[player.id]


async def test_the_log_of_a_finished_game_is_read_before_it_is_packed_too(scribe: Scribe) -> None:
    await scribe.play(ANN, 3, 1)
    await scribe.end()
    record = await scribe.store.load(RACE)
    assert record is not None
    assert await scribe.store.finished_log(record.race, ANN.id) == record.logs[ANN.id]
    assert await scribe.store.finished_log(record.race, ROOK.id) == ()


async def test_lists_show_a_packed_race_as_before(scribe: Scribe) -> None:
    await scribe.play(ANN, 5, 1)
    await scribe.end()
    before = await scribe.store.head(RACE)
    await scribe.store.compact(RACE)
    after = await scribe.store.head(RACE)
    assert before is not None
    assert after is not None
    assert after.packed
    assert replace(after, packed=False) == replace(before, presence={})
    assert after.tallies[ANN.id] == Tally(100, 37, 92, 8), "what the facts say of games that are done"


async def test_everything_of_a_packed_race_expires_and_stays_so(scribe: Scribe) -> None:
    await scribe.play(ANN, 5, 1)
    await scribe.end()
    await scribe.store.compact(RACE)
    await scribe.store.load(RACE, host=True)
    await scribe.store.open(RACE, ANN.id, "9.later")
    await scribe.append(START + 10**6, Rematched("successor"))
    found = [key for key in await scribe.link.command("KEYS", "*") if RACE.encode() in key]
    assert len(found) == 7, found
    for key in found:
        assert 0 < await scribe.link.command("PTTL", key) <= KEPT, key


async def test_a_race_that_runs_is_not_packed(scribe: Scribe) -> None:
    await scribe.store.compact(RACE)
    assert await scribe.link.command("EXISTS", keys.packed(RACE)) == 0
    assert await scribe.link.command("PTTL", keys.race(RACE)) == -1


async def test_packing_again_changes_nothing(scribe: Scribe) -> None:
    await scribe.play(ANN, 5, 1)
    await scribe.end()
    await scribe.store.compact(RACE)
    before = await scribe.store.load(RACE)
    await scribe.store.compact(RACE)
    await scribe.store.compact("gone")
    assert await scribe.store.load(RACE) == before


async def test_a_packed_race_is_not_created_anew(scribe: Scribe) -> None:
    await scribe.end()
    await scribe.store.compact(RACE)
    before = await scribe.store.load(RACE)
    await scribe.store.create(Race(RACE, RaceKind.RACE, settle(None), START, ROOK.id))
    assert await scribe.store.load(RACE) == before


async def test_a_packed_race_takes_a_rematch_and_whoever_is_behind_is_told(scribe: Scribe) -> None:
    await scribe.end()
    await scribe.store.compact(RACE)
    at_the_end = scribe.race
    await scribe.append(START + 10**6, Rematched("successor"), command="0123456789abcdef")
    assert scribe.race.successor == "successor"
    assert scribe.race.version == at_the_end.version + 1
    record = await scribe.store.load(RACE)
    assert record is not None
    assert record.race == scribe.race
    with pytest.raises(Behind) as behind:
        await scribe.store.append(at_the_end, "another", (Rematched("second"),), START + 10**6)
    assert [stamped.fact for stamped in behind.value.newer] == [Rematched("successor")]
    again = await scribe.store.append(at_the_end, "0123456789abcdef", (Rematched("successor"),), START + 10**6)
    assert [stamped.version for stamped in again] == [scribe.race.version]


async def test_a_node_that_missed_the_end_is_told_what_was_packed(scribe: Scribe) -> None:
    running = scribe.race
    await scribe.end()
    await scribe.store.compact(RACE)
    with pytest.raises(Behind) as behind:
        await scribe.store.append(running, "late", (ReadySet(ANN.id, False),), START + 10**6)
    assert [stamped.version for stamped in behind.value.newer] == list(
        range(running.version + 1, scribe.race.version + 1)
    )


async def test_a_command_whose_answer_was_lost_is_known_also_when_the_race_was_packed_since(scribe: Scribe) -> None:
    running = scribe.race
    done = Done(ANN.id, EntrantStatus.CONCEDED, Tally())
    await scribe.append(START + 1_000, done, command="0123456789abcdef")
    await scribe.append(START + 2_000, Done(ROOK.id, EntrantStatus.CONCEDED, Tally()))
    await scribe.append(START + 2_000, Over(standings(scribe.race)))
    await scribe.store.compact(RACE)
    again = await scribe.store.append(running, "0123456789abcdef", (done,), START + 1_000)
    assert again[0].fact == done
    assert again[-1].version == scribe.race.version


async def test_another_history_than_the_packed_one_has_lost_track(scribe: Scribe) -> None:
    running = replace(scribe.race, last_id="stranger")
    await scribe.end()
    ended = replace(scribe.race, last_id="stranger")
    await scribe.store.compact(RACE)
    await scribe.append(START + 10**6, Rematched("successor"))
    for other in (running, ended):
        with pytest.raises(LostTrack):
            await scribe.store.append(other, "next", (Rematched("second"),), START + 10**6)


async def test_the_deal_of_a_cancelled_race_is_not_even_packed(scribe: Scribe) -> None:
    await scribe.append(START - 1_000, Cancelled(CancelReason.ALL_FORFEITED))
    await scribe.store.compact(RACE)
    assert await scribe.store.secret(RACE) is None
    assert unpack_race(await scribe.link.command("GET", keys.packed(RACE))).salt is None


async def test_moves_in_a_packed_race_are_not_written(scribe: Scribe) -> None:
    """The node reads the race again then, and answers a repeat from it."""
    await scribe.play(ANN, 5, 1)
    await scribe.end()
    await scribe.store.compact(RACE)
    for seq in (0, 5):
        assert not isinstance(await scribe.commit(ANN, seq, START + 50_000, "1a"), Committed)
    assert await scribe.link.command("EXISTS", keys.log(RACE, ANN.id)) == 0
