"""Rate limits: a bucket for each connection, dear mistakes, and the end of patience (protocol, section 1)."""

from __future__ import annotations

import msgpack
import pytest

from cellrace_server.config import Bounds
from cellrace_server.net.connection import Connection
from tests.story.players import JSON, Player, Table
from tests.waiting import eventually


@pytest.fixture
def bounds() -> Bounds:
    """A bucket that is not refilled while a test runs."""
    return Bounds(burst=20, per_second=0.001, rate_limited_per_minute=30)


async def test_a_burst_is_carried_out_and_what_exceeds_it_is_refused(ann: Player) -> None:
    ids = [await ann.send("ping") for _ in range(25)]
    answers = [await ann.answer(request) for request in ids]
    assert [answer["type"] for answer in answers] == ["pong"] * 19 + ["error"] * 6
    for refused in answers[19:]:
        assert refused["code"] == "rate_limited"
        assert 0 < refused["retry_after"] <= 1_000_001


async def test_what_is_refused_is_not_carried_out(seats: Table, ann: Player) -> None:
    for _ in range(18):
        await ann.ask("ping")
    ids = [await ann.send("race.create") for _ in range(2)]
    answers = [await ann.answer(request) for request in ids]
    assert [answer["type"] for answer in answers] == ["race", "error"]
    bob = await seats.player("Bob")
    assert len((await bob.ask("race.list"))["races"]) == 1


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_frame_that_is_not_accepted_costs_five(ann: Player, at_once: bool) -> None:
    """However fast they come: three cost fifteen of the nineteen that hello leaves."""
    if at_once:
        ids = [await ann.send("nonsense") for _ in range(3)] + [await ann.send("ping") for _ in range(6)]
        answers = [await ann.answer(request) for request in ids]
    else:
        answers = [await ann.answer(await ann.send("nonsense")) for _ in range(3)]
        answers += [await ann.answer(await ann.send("ping")) for _ in range(6)]
    assert [answer.get("code", answer["type"]) for answer in answers] == [
        *["bad_message"] * 3,
        *["pong"] * 4,
        *["rate_limited"] * 2,
    ]


async def test_a_frame_that_cannot_be_read_costs_five_as_well(ann: Player) -> None:
    for _ in range(3):
        await ann.socket.send(b"\xc1")
        error = await ann.read()
        assert error["code"] == "bad_message"
        assert "re" not in error
    codes = [(await ann.answer(await ann.send("ping"))).get("code", "pong") for _ in range(5)]
    assert codes == ["pong"] * 4 + ["rate_limited"]


async def test_nonsense_beyond_the_bucket_is_rate_limited_too(ann: Player) -> None:
    codes = [(await ann.answer(await ann.send("nonsense")))["code"] for _ in range(6)]
    assert codes == ["bad_message"] * 4 + ["rate_limited"] * 2


async def test_a_refusal_of_the_game_costs_one(ann: Player) -> None:
    codes = [(await ann.refused("race.ready", race="none"))["code"] for _ in range(19)]
    assert codes == ["no_such_race"] * 19


async def test_so_many_refusals_within_a_minute_close_the_connection_and_no_fewer(ann: Player) -> None:
    for _ in range(19):
        await ann.ask("ping")
    for _ in range(29):
        assert (await ann.refused("ping"))["code"] == "rate_limited"
    last = await ann.send("ping")
    assert await ann.closed() == 4102
    assert (await ann.answer(last))["code"] == "rate_limited"


async def test_what_came_before_the_flood_is_carried_out_in_order(ann: Player) -> None:
    """All in one go: the good ones are answered, then the refusals, then the connection ends."""
    ids = [await ann.send("ping") for _ in range(19 + 30 + 10)]
    assert await ann.closed() == 4102
    answers = [frame for frame in ann.frames if frame.get("re") in ids]
    assert [answer["type"] for answer in answers] == ["pong"] * 19 + ["error"] * 30


async def test_being_closed_locks_nobody_out(seats: Table, ann: Player) -> None:
    for _ in range(60):
        await ann.send("ping")
    assert await ann.closed() == 4102
    back = await seats.back(ann)
    assert (await back.ask("ping"))["type"] == "pong"


async def test_connections_have_buckets_of_their_own(ann: Player, bob: Player) -> None:
    for _ in range(19):
        await ann.ask("ping")
    assert (await ann.refused("ping"))["code"] == "rate_limited"
    await bob.ask("ping")


class TestRefill:
    """The bucket fills again."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(burst=5, per_second=5)

    async def test_after_the_time_that_the_refusal_tells(self, seats: Table) -> None:
        import asyncio

        ann = await seats.player("Ann")
        refused = None
        for _ in range(100):
            answer = await ann.answer(await ann.send("ping"))
            if answer["type"] == "error":
                refused = answer
                break
        if refused is None:
            ids = [await ann.send("ping") for _ in range(20)]
            refused = [await ann.answer(request) for request in ids][-1]
        assert refused["code"] == "rate_limited"
        # The one wait of this file: the server itself says how long.
        await asyncio.sleep(refused["retry_after"] / 1000)
        assert (await ann.answer(await ann.send("ping")))["type"] == "pong"

    async def test_the_settings_are_told(self, seats: Table) -> None:
        limits = (await seats.player("Ann")).welcome["limits"]
        assert (limits["burst"], limits["per_second"]) == (5, 5)


class TestInbox:
    """What waits to be carried out is bounded."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(burst=100_000, per_second=100_000, inbox=50)

    async def test_more_than_that_at_once_closes_the_connection(self, ann: Player) -> None:
        # In one piece, so that none of them is carried out before the last has come.
        ann.socket.transport.write(frame(BINARY, msgpack.packb({"type": "race.list"})) * 100)
        assert await ann.closed() == 4102


CONT, TEXT, BINARY, PING, PONG = 0x0, 0x1, 0x2, 0x9, 0xA


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True) -> bytes:
    """A frame of a client, masked with zeros."""
    return bytes((fin << 7 | opcode, 0x80 | len(payload), 0, 0, 0, 0)) + payload


class TestFlood:
    """What is no message has a bound as well: one connection must not keep the node from all the others."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(burst=100_000, per_second=100_000)

    @pytest.mark.parametrize(
        "flood",
        [
            pytest.param(frame(PING, b"x" * 125), id="pings"),
            pytest.param(frame(PONG), id="pongs"),
            pytest.param(frame(CONT, fin=False), id="empty pieces of a message"),
            pytest.param(frame(TEXT), id="messages after the end was told"),
        ],
    )
    async def test_it_ends_the_connection_and_the_rest_is_not_read(
        self, seats: Table, flood: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[object] = []
        take = Connection.process_event

        def counted(connection: Connection, event: object) -> None:
            read.append(event)
            take(connection, event)

        monkeypatch.setattr(Connection, "process_event", counted)
        ann = await seats.player("Ann")
        start = b"" if flood == frame(TEXT) else frame(TEXT, b"{", fin=False)
        ann.socket.transport.write(start + flood * 50_000)
        assert await eventually(lambda: (told := ann.socket.protocol.close_rcvd) and told.code) == 4102
        assert len(read) < 5_000

    async def test_a_message_in_many_pieces_is_none(self, seats: Table) -> None:
        ann, bob = await seats.player("Ann"), await seats.player("Bob", subprotocol=JSON)
        for _ in range(20):
            await bob.socket.send(['{"type"', ":", '"pi', "ng", '"', "}"])
            assert (await bob.read())["type"] == "pong"
        await ann.ask("ping")
