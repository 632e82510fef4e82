"""`hello`: who may come in, under which name, and how a player comes back (protocol, section 2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from unittest.mock import patch

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace.messages import Hello
from cellrace_server import admission
from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from cellrace_server.store.errors import StoreUnavailable
from tests.story.players import JSON, MSGPACK, Player, Refusal, Table, start_race, table
from tests.waiting import eventually

NAMES_REFUSED = {
    "too short": "A",
    "too long": "A" * 21,
    "empty": "",
    "only spaces": "   ",
    "a control character": "An\x07n",
    "a line break": "An\nn",
    "a bidirectional override": "An\u202en",
    "a zero-width joiner": "An\u200dn",
    "a zero-width space": "An\u200bn",
    "a byte order mark": "An\ufeffn",
    "too long once it is normalised": "\ufb03" * 8,
}


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
async def test_a_new_player_is_welcomed_with_all_that_the_page_names(seats: Table, subprotocol: str) -> None:
    ann = await seats.stranger(subprotocol)
    welcome = await ann.hello(name="Ann", client="test/1")
    assert welcome["player"] == {"id": ann.id, "name": "Ann", "bot": False}
    assert len(ann.token) >= 22  # 128 bits in base64
    assert welcome["node"] == "here"
    assert welcome["version"] == 1
    assert welcome["server"].startswith("cellrace ")
    assert welcome["races"] == []
    assert welcome["limits"] == {
        "frame_bytes": 16384,
        "depth": 8,
        "moves": 64,
        "log_entries": 20000,
        "burst": 60,
        "per_second": 30,
        "bad_frame_cost": 5,
        "rate_limited_per_minute": 100,
        "hello_within": 10000,
    }
    assert abs(welcome["now"] - (await ann.ask("ping"))["now"]) < 60_000


async def test_without_a_name_the_server_makes_one(seats: Table) -> None:
    names = {(await seats.player()).welcome["player"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(2 <= len(name) <= 20 for name in names)


@pytest.mark.parametrize("name", NAMES_REFUSED.values(), ids=NAMES_REFUSED)
async def test_a_name_that_breaks_the_rules_is_refused_and_another_may_follow(seats: Table, name: str) -> None:
    ann = await seats.stranger()
    assert (await ann.refused("hello", name=name))["code"] == "bad_name"
    assert (await ann.hello(name="Ann"))["player"]["name"] == "Ann"


async def test_names_are_normalised_and_compared_without_regard_to_case(seats: Table) -> None:
    ann = await seats.player("  Ann   of  Cleves ")
    assert ann.welcome["player"]["name"] == "Ann of Cleves"
    other = await seats.stranger()
    for taken in ("Ann of Cleves", "ann OF cleves", "\uff21nn of Cleves"):
        assert (await other.refused("hello", name=taken))["code"] == "name_taken"
    await other.hello(name="Ann of Cleve")


async def test_names_may_be_in_any_script(seats: Table) -> None:
    for name in ("Łucja", "Ωμέγα", "李小龙", "Zoë 2"):
        assert (await seats.player(name)).welcome["player"]["name"] == name


async def test_a_token_brings_the_player_back_and_is_shown_once(seats: Table, ann: Player) -> None:
    again = await seats.back(ann)
    assert again.welcome["player"] == ann.welcome["player"]
    assert "token" not in again.welcome


async def test_coming_back_under_another_name_frees_the_old_one(seats: Table, ann: Player) -> None:
    anna = await seats.player("Anna", token=ann.token)
    assert anna.welcome["player"] == {"id": ann.id, "name": "Anna", "bot": False}
    other = await seats.player("Ann")
    assert other.id != ann.id
    with pytest.raises(Refusal, match="name_taken"):
        await seats.player("ANNA")


async def test_coming_back_under_a_taken_name_is_refused_and_keeps_the_old_one(
    seats: Table, ann: Player, bob: Player
) -> None:
    back = await seats.stranger()
    assert (await back.refused("hello", token=bob.token, name="ann"))["code"] == "name_taken"
    assert (await back.hello(token=bob.token))["player"]["name"] == "Bob"
    assert ann.id != bob.id


async def test_a_bot_is_a_bot_for_good(seats: Table) -> None:
    bot = await seats.player("Rook", bot=True)
    assert bot.welcome["player"]["bot"] is True
    assert (await seats.back(bot)).welcome["player"]["bot"] is True
    ann = await seats.player("Ann")
    assert (await seats.player(token=ann.token, bot=True)).welcome["player"]["bot"] is True
    assert (await seats.player(token=ann.token, bot=False)).welcome["player"]["bot"] is True


@pytest.mark.parametrize("token", ["", "nobody", "a.b.c", "x" * 10_000, "\x00", "ｅ"])
async def test_an_unknown_token_is_refused_and_closes(seats: Table, token: str) -> None:
    ann = await seats.stranger()
    assert (await ann.refused("hello", token=token))["code"] == "bad_token"
    assert await ann.closed() == 4101


async def test_a_token_of_somebody_else_with_ones_own_id_is_refused(seats: Table, ann: Player, bob: Player) -> None:
    forged = ann.id + "." + bob.token.partition(".")[2]
    stranger = await seats.stranger()
    assert (await stranger.refused("hello", token=forged))["code"] == "bad_token"


async def test_the_server_keeps_only_a_hash_of_a_token(ann: Player, redis_client: Redis) -> None:
    secret = ann.token.partition(".")[2].encode()
    for key in await redis_client.keys("*"):
        assert secret not in await redis_client.dump(key)


async def test_a_banned_player_is_refused_and_closed(seats: Table, ann: Player, redis_client: Redis) -> None:
    (record,) = await redis_client.keys(f"*{ann.id}*")
    await redis_client.hset(record, "banned", "1")  # type: ignore[misc]  # redis-py types both of its clients as one
    back = await seats.stranger()
    assert (await back.refused("hello", token=ann.token))["code"] == "banned"
    assert await back.closed() == 4104


async def test_everything_before_hello_is_refused(seats: Table) -> None:
    stranger = await seats.stranger()
    for kind, fields in {
        "ping": {},
        "race.create": {},
        "race.list": {},
        "race.sync": {"race": "r"},
        "move": {"race": "r", "seq": 0, "moves": ["1h"]},
    }.items():
        assert (await stranger.refused(kind, **fields))["code"] == "hello_first"
    await stranger.hello(name="Ann")


async def test_a_second_hello_is_refused_and_changes_nothing(ann: Player) -> None:
    assert (await ann.refused("hello", name="Bea"))["code"] == "already_hello"
    assert (await ann.refused("hello", token="nobody"))["code"] == "already_hello"
    assert (await ann.ask("race.create"))["entrants"][0]["player"]["name"] == "Ann"


async def test_welcome_names_the_races_that_are_not_over(seats: Table, ann: Player) -> None:
    opened = (await ann.ask("race.create", settings={"seats": 3}))["race"]
    running = await start_race(ann, deal=1)
    done = await start_race(ann, deal=2)
    left = (await ann.ask("race.create"))["race"]
    await ann.ask("race.leave", race=left)
    await ann.ask("race.concede", race=done)
    await ann.push("race.over", race=done)
    back = await seats.back(ann)
    assert {(ref["race"], ref["state"]) for ref in back.welcome["races"]} == {(opened, "open"), (running, "running")}


class TestPatience:
    """How long `hello` is waited for."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(hello_seconds=2.0)

    async def test_without_hello_the_connection_is_closed(self, seats: Table) -> None:
        stranger = await seats.stranger()
        assert await stranger.closed() == 4103

    async def test_refused_hellos_buy_no_time(self, seats: Table) -> None:
        stranger = await seats.stranger()
        assert (await stranger.refused("hello", name="x"))["code"] == "bad_name"
        assert await stranger.closed() == 4103

    async def test_who_has_said_hello_stays(self, seats: Table, ann: Player) -> None:
        late = await seats.stranger()
        assert await late.closed() == 4103
        await ann.ask("ping")

    async def test_the_limit_is_told(self, seats: Table) -> None:
        assert (await seats.player("Ann")).welcome["limits"]["hello_within"] == 2000


class TestCrowd:
    """More come than can be let in at the same time, as when another node has died."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(hello_seconds=2.0)

    @pytest_asyncio.fixture
    async def crowd(self, node: Node, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncExitStack]:
        """All turns are taken until this is closed."""
        monkeypatch.setattr(admission, "HELLO_PATIENCE", 2.5)
        async with AsyncExitStack() as turns:
            for _ in range(admission.HELLOS_AT_ONCE):
                await turns.enter_async_context(node.services.admission.turn())
            yield turns

    async def test_who_waits_for_too_long_is_asked_to_come_again_and_not_sent_away(
        self, seats: Table, crowd: AsyncExitStack
    ) -> None:
        """Longer than a client has for its hello: 4103 would be for good."""
        stranger = await seats.stranger()
        refused = await stranger.refused("hello", name="Ann")
        assert (refused["code"], refused["retry_after"]) == ("retry_later", 2000)
        await crowd.aclose()
        assert (await stranger.hello(name="Ann"))["player"]["name"] == "Ann"

    async def test_who_then_says_nothing_is_sent_away_all_the_same(self, seats: Table, crowd: AsyncExitStack) -> None:
        stranger = await seats.stranger()
        await stranger.refused("hello")
        assert await stranger.closed() == 4103

    async def test_who_has_gone_meanwhile_takes_nobody_over(
        self, seats: Table, node: Node, crowd: AsyncExitStack
    ) -> None:
        await crowd.aclose()
        ann = await seats.player("Ann")
        async with AsyncExitStack() as turns:
            for _ in range(admission.HELLOS_AT_ONCE):
                await turns.enter_async_context(node.services.admission.turn())
            older = await seats.stranger()
            await older.send("hello", token=ann.token)
            await eventually(lambda: node.services.store.counts.requests[Hello] == 2)
            await older.drop()
            await eventually(lambda: any(session.closing is not None for session in node.sessions))
        await eventually(lambda: len(node.sessions) == 1)
        await ann.ask("ping")
        assert ann.socket.close_code is None


class TestGuesses:
    """What is counted per address."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(new_players_here=3, wrong_guesses=2)

    async def test_new_players_are_few_and_known_ones_come_in_all_the_same(self, seats: Table) -> None:
        for name in ("Ann", "Bob", "Cem"):
            player = await seats.player(name)
        refused = await (await seats.stranger()).refused("hello", name="Dee")
        assert refused["code"] == "rate_limited"
        assert "new players" in refused["message"]
        assert refused["retry_after"] > 0
        await seats.back(player)

    async def test_after_wrong_tokens_only_a_right_one_is_taken(self, seats: Table, ann: Player) -> None:
        for _ in range(2):
            assert (await (await seats.stranger()).refused("hello", token="wrong"))["code"] == "bad_token"
        refused = await (await seats.stranger()).refused("hello", token="wrong")
        assert refused["code"] == "rate_limited"
        assert "wrong tokens" in refused["message"]
        assert refused["retry_after"] > 0
        await seats.back(ann)

    async def test_after_wrong_codes_a_right_one_is_not_taken_either(self, seats: Table, ann: Player) -> None:
        code = (await ann.ask("race.create", settings={"private": True}))["code"]
        bob = await seats.player("Bob")
        for _ in range(2):
            assert (await bob.refused("race.join", code="22222222"))["code"] == "no_such_race"
        refused = await bob.refused("race.join", code=code)
        assert refused["code"] == "rate_limited"
        assert "wrong codes" in refused["message"]
        assert refused["retry_after"] > 0


async def test_the_counts_of_an_address_are_those_of_all_nodes(store_url: str) -> None:
    config = Config(port=0, redis=store_url, bounds=Bounds(new_players_here=1))
    async with running(config) as one, running(config) as two, AsyncExitStack() as stack:
        here, there = [await stack.enter_async_context(table(f"ws://127.0.0.1:{node.port}/ws")) for node in (one, two)]
        await here.player("Ann")
        assert (await (await there.stranger()).refused("hello", name="Bob"))["code"] == "rate_limited"


async def test_two_who_want_a_name_at_once_do_not_both_get_it(seats: Table) -> None:
    strangers = [await seats.stranger() for _ in range(8)]
    ids = [await stranger.send("hello", name="Ann") for stranger in strangers]
    answers = await asyncio.gather(*map(Player.answer, strangers, ids))
    assert sorted(answer["type"] for answer in answers) == ["error"] * 7 + ["welcome"]


async def test_a_failing_store_leaves_hello_repeatable(seats: Table, node: Node) -> None:
    """`retry_later` says: repeat it unchanged. So the repeat must do, whatever the first one got done."""
    players = type(node.services.store.players)
    ann: Player = await seats.stranger()
    for failing in ("take_over", "races"):
        with patch.object(players, failing, side_effect=StoreUnavailable("The test says so.")):
            refused = await ann.refused("hello", name="Ann")
        assert refused["code"] == "retry_later"
        assert refused["retry_after"] > 0
    welcome = await ann.hello(name="Ann")
    assert welcome["player"]["name"] == "Ann"
    assert (await seats.back(ann)).id == ann.id
