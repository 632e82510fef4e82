"""Quick matches over several nodes: fair, shared, and with a race in the end whoever dies on the way (NODES, 22)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from cellrace.messages import Player, QueueJoin, RaceState, Settings
from cellrace.queueing import BOT_AFTER
from cellrace_server.administration import Administration
from cellrace_server.core.effects import rating_board
from cellrace_server.core.matchmaking import Waiting
from cellrace_server.core.presence import NODE_SILENCE, Nodes
from cellrace_server.core.race import Race, all_ready
from cellrace_server.core.ratings import Applied, RatingStep, Skill
from cellrace_server.matching import CHECKED, LEFT_PENDING, Matching
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import MatchedTold, parse_tellings
from cellrace_server.store.players import Holder
from tests.server.ended_races import register
from tests.server.races import ANN, BEN, CAT, player
from tests.server.shell import FakeMember, Shell

GAME = "one-suit"
ROBO = player("Robo", bot=True)


class Counter:
    """The matching of one node."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.matching = Matching(shell.store, shell.rooms)

    async def join(self, who: Player, *, bots: bool = False, sid: str = "1.s", variant: str = GAME) -> int:
        wish = self.matching.wish(QueueJoin(variant=variant, bots=bots))
        return await self.matching.join(FakeMember(who, sid), wish)

    async def join_earlier(self, who: Player, *, by: int, bots: bool = False, rating: int = 1000) -> None:
        """Somebody who has waited for so many ms."""
        node = self.shell.store.races.node
        entry = Waiting(who, "1.s", node, self.shell.now() - by, rating, bots)
        await self.shell.store.queue.join(GAME, entry)

    async def pair(self) -> None:
        await self.matching.pair(GAME)

    async def waiting(self) -> set[str]:
        entries, _ = await self.shell.store.queue.read(GAME)
        return {entry.player.id for entry in entries}

    async def matched(self, who: Player) -> Race | None:
        """The race that a player is in."""
        races = await self.shell.store.players.races(who.id)
        if not races:
            return None
        record = await self.shell.store.races.load(races[0])
        return None if record is None else record.race


@pytest.fixture
async def counter(here: Shell) -> Counter:
    await register(here, ANN, BEN, CAT, ROBO)
    return Counter(here)


@pytest.fixture
def other(there: Shell) -> Counter:
    return Counter(there)


def knows(shell: Shell, *, silent_for: dict[str, int], since: int = 60_000) -> None:
    """What a node has heard of others' beats, and for how long it has been in contact with the store."""
    now = shell.now()
    beats = {node: now - silence for node, silence in silent_for.items()}
    shell.store.nodes.nodes = Nodes({**beats, shell.store.races.node: now}, 0, now - since, now)


class TestTheRace:
    async def test_two_who_wait_at_different_nodes_get_one_race(self, counter: Counter, other: Counter) -> None:
        assert await counter.join(ANN) == 1
        assert await other.join(BEN) == 2
        await other.pair()
        race = await counter.matched(ANN)
        assert race is not None
        assert race == await other.matched(BEN)
        assert await counter.waiting() == set()

    async def test_they_are_in_it_and_ready_under_the_default_settings(self, counter: Counter) -> None:
        await counter.join(ANN)
        await counter.join(BEN)
        await counter.pair()
        race = await counter.matched(ANN)
        assert race is not None
        assert race.settings == Settings(variant=GAME)
        assert race.settings.ranked
        assert all_ready(race)
        assert race.host == "ann", "who has waited longer"
        assert race.state(counter.shell.now()) is RaceState.OPEN
        assert race.id in await counter.shell.store.lists.newest(False, 0, 9)

    async def test_both_nodes_are_told(self, counter: Counter, other: Counter) -> None:
        async with counter.shell.link.redis.pubsub() as pubsub:
            await pubsub.subscribe(keys.channel("here:1"), keys.channel("there:2"))
            await counter.join(ANN, sid="1.a")
            await other.join(BEN, sid="1.b")
            await counter.pair()
            told = []
            while len(told) < 2:
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=5)
                if message is not None:
                    told += [(message["channel"], telling) for telling in parse_tellings(message["data"])]
        race = await counter.matched(ANN)
        assert race is not None
        # The clocks of two nodes may differ by the ms that tells who has waited longer.
        assert sorted(told) == [
            (keys.channel("here:1").encode(), MatchedTold("ann", race.id, "1.a")),
            (keys.channel("there:2").encode(), MatchedTold("ben", race.id, "1.b")),
        ]

    async def test_who_has_come_back_elsewhere_meanwhile_is_told_there(self, counter: Counter, other: Counter) -> None:
        """The race may be made seconds after the match, when a node has died: by then its players are elsewhere."""
        for who in (ANN, BEN):
            await counter.join(who, sid=await counter.shell.store.players.take_over(who.id))
        async with counter.shell.link.redis.pubsub() as pubsub:
            await pubsub.subscribe(keys.channel("there:2"))
            gate = counter.shell.link.hold_reply("queue_pop")
            pairing = asyncio.create_task(counter.pair())
            await gate.reached.wait()
            sid = await other.shell.store.players.take_over("ann")
            gate.open()
            await pairing
            while (message := await pubsub.get_message(ignore_subscribe_messages=True, timeout=5)) is None:
                pass
        race = await counter.matched(ANN)
        assert race is not None
        assert parse_tellings(message["data"]) == [MatchedTold("ann", race.id, sid)]

    async def test_two_nodes_that_match_at_once_make_one_race(self, counter: Counter, other: Counter) -> None:
        for one, who in ((counter, ANN), (other, BEN), (counter, CAT)):
            await one.join(who)
        await asyncio.gather(*(node.pair() for _ in range(3) for node in (counter, other)))
        raced = [await counter.matched(who) for who in (ANN, BEN, CAT)]
        assert sum(race is not None for race in raced) == 2
        assert len({race.id for race in raced if race}) == 1
        assert len(await counter.waiting()) == 1

    async def test_games_are_matched_apart(self, counter: Counter) -> None:
        await counter.join(ANN)
        await counter.join(BEN, variant="two-suit")
        await counter.matching.pair_all()
        assert await counter.matched(ANN) is None
        assert await counter.matched(BEN) is None


class TestFairness:
    async def test_the_rating_is_that_of_the_game(self, counter: Counter) -> None:
        step = RatingStep("ann", 1, False, Skill(), Skill(mu=40.0, sigma=2.0, games=1))
        await counter.shell.store.ratings.apply(GAME, "r", Applied(1, (step,)))
        rows = await counter.shell.store.boards.rows(rating_board(GAME), 0, 9, "", around=False, bots=True)
        await counter.join(ANN)
        entries, _ = await counter.shell.store.queue.read(GAME)
        assert [entry.rating for entry in entries] == [2360] == [-row.value for row in rows.rows]

    async def test_far_ratings_wait_until_the_range_is_wide_enough(self, counter: Counter) -> None:
        await counter.join_earlier(ANN, by=4_000, rating=1000)
        await counter.join_earlier(BEN, by=0, rating=1300)
        await counter.pair()
        assert await counter.waiting() == {"ann", "ben"}
        await counter.join_earlier(ANN, by=10_000, rating=1000)
        await counter.pair()
        assert await counter.matched(ANN) is not None

    async def test_the_longest_waiting_is_matched_first(self, counter: Counter) -> None:
        await counter.join_earlier(CAT, by=1_000)
        await counter.join_earlier(BEN, by=2_000)
        await counter.join_earlier(ANN, by=3_000)
        await counter.pair()
        assert await counter.waiting() == {"cat"}

    async def test_a_bot_is_offered_after_ten_seconds(self, counter: Counter) -> None:
        await counter.join(ROBO)
        await counter.join_earlier(ANN, by=BOT_AFTER - 3_000, bots=True)
        await counter.pair()
        assert await counter.matched(ANN) is None
        await counter.join_earlier(ANN, by=BOT_AFTER, bots=True)
        await counter.pair()
        assert await counter.matched(ANN) == await counter.matched(ROBO)


class TestLeaving:
    async def test_who_leaves_waits_no_more(self, counter: Counter) -> None:
        await counter.join(ANN)
        await counter.matching.leave(FakeMember(ANN), GAME)
        await counter.join(BEN)
        await counter.pair()
        assert await counter.matched(BEN) is None

    @pytest.mark.parametrize("way", ["comes elsewhere", "banned"])
    async def test_who_cannot_wait_any_more_is_not_matched(self, counter: Counter, other: Counter, way: str) -> None:
        """A lost connection leaves the queue, though its node has died with it and could not say so."""
        await counter.join(ANN, sid=await counter.shell.store.players.take_over("ann"))
        if way == "banned":
            await other.shell.store.accounts.ban("ann", other.shell.now())
        else:
            await other.shell.store.players.take_over("ann")
        await counter.join(BEN)
        await counter.pair()
        assert await counter.waiting() == {"ben"}
        assert await counter.matched(BEN) is None

    async def test_an_older_connection_does_not_take_out_a_newer_one(self, counter: Counter, other: Counter) -> None:
        await counter.join(ANN, sid="1.a")
        await other.join(ANN, sid="2.b")
        await counter.matching.leave(FakeMember(ANN, "1.a"), GAME)
        assert await other.waiting() == {"ann"}

    async def test_leaving_after_the_pop_is_fine_and_the_match_stands(self, counter: Counter, other: Counter) -> None:
        """NODES 22: one call takes both out; what comes later finds nobody to take out."""
        await counter.join(ANN)
        await counter.join(BEN)
        gate = counter.shell.link.hold_reply("queue_pop")
        pairing = asyncio.create_task(counter.pair())
        await gate.reached.wait()
        await other.matching.leave(FakeMember(ANN), GAME)
        gate.open()
        await pairing
        race = await counter.matched(ANN)
        assert race is not None
        assert {entrant.player.id for entrant in race.entrants} == {"ann", "ben"}


class TestRepeatedWishes:
    async def test_who_is_matched_before_the_answer_comes_does_not_wait_again(
        self, counter: Counter, other: Counter
    ) -> None:
        """The store carries a join out, its reply is lost, and it is sent again when its player races already."""
        wish = counter.matching.wish(QueueJoin(variant=GAME))
        counter.shell.link.lose_reply("queue_join")
        with pytest.raises(StoreUnavailable):
            await counter.matching.join(FakeMember(ANN), wish)
        await other.join(BEN)
        await other.pair()
        assert await counter.matched(ANN) is not None
        assert await counter.matching.join(FakeMember(ANN), wish) == 0
        assert await counter.waiting() == set()

    async def test_who_goes_on_waiting_by_another_connection_has_waited_as_long(self, counter: Counter) -> None:
        wish = counter.matching.wish(QueueJoin(variant=GAME))
        for sid in ("1.s", "2.t"):
            await counter.matching.join(FakeMember(ANN, sid), wish)
        (entry,), _ = await counter.shell.store.queue.read(GAME)
        assert (entry.sid, entry.since) == ("2.t", wish.since)


class TestManyWhoWait:
    """What is asked of the store does not grow with the queue: each node looks at each game once a second."""

    async def wait(self, counter: Counter, count: int) -> list[Player]:
        bots = [Player(id=f"bot{number:03}", name=f"Bot {number}", bot=True) for number in range(count)]
        await register(counter.shell, *bots)
        for bot in bots:
            await counter.join_earlier(bot, by=1_000)
        return bots

    async def test_only_some_are_checked_at_once_and_all_in_turn(
        self, counter: Counter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bots = await self.wait(counter, 2 * CHECKED + 5)
        await counter.shell.store.accounts.forget(bots[CHECKED].id)
        asked = counted(counter, monkeypatch)
        sizes = []
        for _ in range(4):
            await counter.matching.pair(GAME, CHECKED)
            sizes.append(len(asked))
            asked.clear()
        assert sizes == [CHECKED, CHECKED, 5, CHECKED]
        assert await counter.waiting() == {bot.id for bot in bots} - {bots[CHECKED].id}

    async def test_whoever_comes_has_nobody_checked_but_those_who_race(
        self, counter: Counter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await self.wait(counter, 5)
        await counter.join(ANN)
        await counter.join(BEN)
        asked = counted(counter, monkeypatch)
        await counter.pair()
        assert asked == ["ann", "ben"]
        assert await counter.matched(ANN) is not None

    async def test_who_is_found_gone_at_the_match_gives_way_to_the_next(self, counter: Counter) -> None:
        await counter.join_earlier(CAT, by=3_000)
        await counter.join_earlier(ANN, by=2_000)
        await counter.join_earlier(BEN, by=1_000)
        await counter.shell.store.accounts.ban("cat", counter.shell.now())
        await counter.pair()
        race = await counter.matched(BEN)
        assert race is not None
        assert {entrant.player.id for entrant in race.entrants} == {"ann", "ben"}
        assert await counter.waiting() == set()


def counted(counter: Counter, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The players whose records are asked for from now on."""
    players, asked = counter.shell.store.players, list[str]()
    holders = players.holders

    async def count(player_ids: Sequence[str]) -> list[Holder]:
        asked.extend(player_ids)
        return await holders(player_ids)

    monkeypatch.setattr(players, "holders", count)
    return asked


class TestDeadNodes:
    async def test_who_waits_at_a_dead_node_is_passed_over_and_taken_out(
        self, counter: Counter, other: Counter
    ) -> None:
        """NODES 22: else somebody would race against nobody."""
        await other.join_earlier(ANN, by=NODE_SILENCE + 5_000)
        await counter.join(BEN)
        knows(counter.shell, silent_for={"there:2": NODE_SILENCE})
        await counter.pair()
        assert await counter.matched(BEN) is None
        assert await counter.waiting() == {"ben"}

    async def test_a_node_that_has_ended_in_order_is_dead_too(self, counter: Counter, other: Counter) -> None:
        """It has taken its beat with it; its entries are good for as long as one that has not beaten yet."""
        await other.join_earlier(ANN, by=NODE_SILENCE)
        await counter.join(BEN)
        knows(counter.shell, silent_for={})
        await counter.pair()
        assert await counter.waiting() == {"ben"}

    async def test_a_node_that_has_only_just_begun_is_alive(self, counter: Counter, other: Counter) -> None:
        await other.join(ANN)
        await counter.join(BEN)
        knows(counter.shell, silent_for={})
        await counter.pair()
        assert await counter.matched(ANN) is not None

    async def test_whoever_has_lost_the_store_for_a_while_takes_nobody_out(
        self, counter: Counter, other: Counter
    ) -> None:
        """NODES 10: without contact the beats of others only seem to be old."""
        await other.join_earlier(ANN, by=60_000)
        await counter.join(BEN)
        knows(counter.shell, silent_for={"there:2": NODE_SILENCE + 1}, since=1_000)
        await counter.pair()
        assert await counter.waiting() == {"ann", "ben"}
        knows(counter.shell, silent_for={"there:2": 1_000})
        await counter.pair()
        assert await counter.matched(ANN) is not None

    async def test_its_own_are_alive_however_old_its_beat_seems(self, counter: Counter) -> None:
        await counter.join(ANN)
        await counter.join(BEN)
        now = counter.shell.now()
        counter.shell.store.nodes.nodes = Nodes({"here:1": now - 60_000}, 0, now - 90_000, now - 60_000)
        await counter.pair()
        assert await counter.matched(ANN) is not None


MAKING = ("ZADD", "due_expect", "race_create", "race_append", "PUBLISH", "queue_clear")
"""What making the race of a match asks of the store, by function or command."""


class TestPendingMatches:
    @pytest.mark.parametrize("step", ["queue_pop", *MAKING])
    async def test_a_node_that_dies_after_the_pop_leaves_the_race_to_any_other(
        self, counter: Counter, other: Counter, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        """NODES 22: the match is recorded with the pop; any node makes its race, tells, then clears."""
        await counter.join(ANN)
        await counter.join(BEN)
        (counter.shell.link.lose_reply if step == "queue_pop" else counter.shell.link.lose_request)(step)
        with pytest.raises(StoreUnavailable):
            await counter.pair()
        assert await other.waiting() == set()
        await other.pair()
        now = other.shell.now() + LEFT_PENDING
        monkeypatch.setattr(other.shell.store.clock, "now", lambda: now)
        await other.pair()
        race = await other.matched(ANN)
        assert race is not None
        assert race == await other.matched(BEN)
        assert all_ready(race)
        _, pending = await other.shell.store.queue.read(GAME)
        assert pending == []
        assert await other.shell.store.players.races("ann") == (race.id,), "one race, and no other"

    async def test_a_match_that_is_being_made_is_left_to_whoever_makes_it(
        self, counter: Counter, other: Counter
    ) -> None:
        await counter.join(ANN)
        await counter.join(BEN)
        gate = counter.shell.link.hold_request("race_create")
        pairing = asyncio.create_task(counter.pair())
        await gate.reached.wait()
        sent = len(other.shell.link.sent)
        await other.pair()
        assert "race_create" not in other.shell.link.sent[sent:]
        gate.open()
        await pairing

    @pytest.mark.parametrize("way", ["deleted", "banned"])
    @pytest.mark.parametrize("step", ["queue_pop", "ZADD", "race_create", "race_append"])
    async def test_nobody_races_against_who_is_gone_before_the_race_is_made(
        self, counter: Counter, other: Counter, monkeypatch: pytest.MonkeyPatch, step: str, way: str
    ) -> None:
        """The other waits on, before all who came later, and is matched with the next."""
        await counter.join_earlier(BEN, by=9_000)
        await counter.join_earlier(ANN, by=5_000)
        (counter.shell.link.lose_reply if step == "queue_pop" else counter.shell.link.lose_request)(step)
        with pytest.raises(StoreUnavailable):
            await counter.pair()
        if way == "deleted":
            await Administration(other.shell.store, "olga").delete("ann")
        else:
            await other.shell.store.accounts.ban("ann", other.shell.now())
        since = counter.shell.now()
        await other.join(CAT)
        now = since + LEFT_PENDING
        monkeypatch.setattr(other.shell.store.clock, "now", lambda: now)
        await other.pair()
        entries, pending = await other.shell.store.queue.read(GAME)
        assert pending == []
        assert [(entry.player, entry.since < since) for entry in entries if entry.player != CAT] == [(BEN, True)]
        assert await other.shell.store.players.races("ann") == ()
        assert await other.shell.store.players.races("ben") == ()
        await other.pair()
        race = await other.matched(BEN)
        assert race is not None
        assert [entrant.player.id for entrant in race.entrants] == ["ben", "cat"]

    async def test_when_both_are_gone_nobody_waits_on(self, counter: Counter, monkeypatch: pytest.MonkeyPatch) -> None:
        await counter.join(ANN)
        await counter.join(BEN)
        counter.shell.link.lose_reply("queue_pop")
        with pytest.raises(StoreUnavailable):
            await counter.pair()
        for who in ("ann", "ben"):
            await Administration(counter.shell.store, "olga").delete(who)
        now = counter.shell.now() + LEFT_PENDING
        monkeypatch.setattr(counter.shell.store.clock, "now", lambda: now)
        await counter.pair()
        assert await counter.shell.store.queue.read(GAME) == ([], [])

    async def test_a_race_that_was_made_before_stays_for_the_other(
        self, counter: Counter, other: Counter, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As any race of somebody who is deleted; and the other is told of it, which the dead node could not."""
        await counter.join(ANN)
        await counter.join(BEN)
        counter.shell.link.lose_request("PUBLISH")
        with pytest.raises(StoreUnavailable):
            await counter.pair()
        race = await counter.matched(BEN)
        assert race is not None
        await Administration(other.shell.store, "olga").delete("ann")
        now = other.shell.now() + LEFT_PENDING
        monkeypatch.setattr(other.shell.store.clock, "now", lambda: now)
        async with other.shell.link.redis.pubsub() as pubsub:
            await pubsub.subscribe(keys.channel("here:1"))
            await other.pair()
            told: list[object] = []
            while MatchedTold("ben", race.id, "1.s") not in told:
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=5)
                if message is not None:
                    told += parse_tellings(message["data"])
        assert await other.shell.store.queue.read(GAME) == ([], [])
        assert await other.shell.store.players.races("ann") == ()

    async def test_making_it_twice_is_one_race(self, counter: Counter, other: Counter) -> None:
        await counter.join(ANN)
        await counter.join(BEN)
        counter.shell.link.lose_request("queue_clear")
        with pytest.raises(StoreUnavailable):
            await counter.pair()
        before = await counter.matched(ANN)
        entries, (match,) = await counter.shell.store.queue.read(GAME)
        await other.matching._make_race(GAME, replace(match))  # noqa: SLF001 - the very step that is done twice
        assert entries == []
        assert await counter.matched(ANN) == before
