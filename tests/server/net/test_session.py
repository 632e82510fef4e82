"""One connection: frames, answers in order, takeover, and what becomes of what was under way."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import msgpack
import pytest
from websockets.exceptions import ConnectionClosed

from cellrace_server.admission import Admission
from cellrace_server.app import Node
from cellrace_server.config import Bounds
from cellrace_server.store.commits import Committer
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.library import Link
from cellrace_server.store.races import RaceStore
from tests.story.players import JSON, MSGPACK, Player, Table, check_start, open_race, play, start_race
from tests.waiting import eventually


@pytest.fixture
def bounds() -> Bounds:
    """Room for tests that ask a lot."""
    return Bounds(burst=100_000, per_second=100_000, inbox=100_000)


class TestFrames:
    """What is accepted as a message (protocol, section 1)."""

    @pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
    @pytest.mark.parametrize(
        ("message", "field"),
        [
            ({"type": "move", "id": 7, "race": "r", "seq": -1, "moves": ["1h"]}, "seq"),
            ({"type": "move", "id": 7, "race": "r", "seq": 2**53, "moves": ["1h"]}, "seq"),
            ({"type": "move", "id": 7, "race": "r", "seq": 1.0, "moves": ["1h"]}, "seq"),
            ({"type": "move", "id": 7, "race": "r", "seq": True, "moves": ["1h"]}, "seq"),
            ({"type": "move", "id": 7, "race": "r", "moves": ["1h"]}, "seq"),
            ({"type": "move", "id": 7, "race": "r", "seq": 0, "moves": []}, "moves"),
            ({"type": "move", "id": 7, "race": "r", "seq": 0, "moves": ["1h"] * 65}, "moves"),
            ({"type": "move", "id": 7, "race": "r", "seq": 0, "moves": ["1h", 2]}, "moves"),
            ({"type": "move", "id": 7, "race": 5, "seq": 0, "moves": ["1h"]}, "race"),
            ({"type": "race.ready", "id": 7, "race": "r", "ready": 1}, "ready"),
            ({"type": "race.list", "id": 7, "limit": 101}, "limit"),
            ({"type": "race.list", "id": 7, "state": "ajar"}, "state"),
            ({"type": "race.join", "id": 7}, "race"),
            ({"type": "race.join", "id": 7, "race": "r", "code": "22222222"}, "code"),
            ({"type": "race.start", "id": 7, "race": None}, "race"),
            ({"type": "nonsense", "id": 7}, "type"),
            ({"type": 7, "id": 7}, "type"),
            ({"id": 7}, "type"),
            ({"type": "ping", "id": 7, "more": 1.5}, "more"),
            ({"type": "ping", "id": 7, "more": [[[[[[[[1]]]]]]]]}, "more"),
        ],
        ids=lambda value: value if isinstance(value, str) else json.dumps(value)[:60],
    )
    async def test_a_bad_field_is_named_and_the_connection_stays(
        self, seats: Table, subprotocol: str, message: dict[str, Any], field: str
    ) -> None:
        ann = await seats.player("Ann", subprotocol)
        await ann.send_map(message)
        error = await ann.answer(7)
        assert (error["code"], error["field"]) == ("bad_message", field)
        await ann.ask("ping")

    @pytest.mark.parametrize(
        "frame", ["", "no JSON", "[1]", '"ping"', '{"type":"ping"', '{"type":"ping"} {}', "\ud83d"]
    )
    async def test_a_text_that_is_no_json_object_is_answered(self, seats: Table, frame: str) -> None:
        ann = await seats.player("Ann", JSON)
        await ann.socket.send(frame.encode("utf-8", "surrogatepass"), text=True)
        error = await ann.read()
        assert error["code"] == "bad_message"
        assert "re" not in error
        await ann.ask("ping")

    @pytest.mark.parametrize(
        "frame",
        [
            b"",
            b"\xc1",
            b"\x81",
            msgpack.packb([1]),
            msgpack.packb({"type": "ping"}) + b"\xc0",
            msgpack.packb({"type": b"ping"}),
            msgpack.packb({1: 2, "type": "ping"}),
            msgpack.packb({"type": "ping", "x": msgpack.ExtType(1, b"")}),
            b"\x81\xa4type\xa4\xff\xff\xff\xff",
        ],
        ids=repr,
    )
    async def test_bytes_that_are_no_msgpack_map_are_answered(self, seats: Table, frame: bytes) -> None:
        ann = await seats.player("Ann", MSGPACK)
        await ann.socket.send(frame)
        error = await ann.read()
        assert error["code"] == "bad_message"
        await ann.ask("ping")

    @pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
    async def test_a_frame_of_the_other_kind_is_answered(self, seats: Table, subprotocol: str) -> None:
        ann = await seats.player("Ann", subprotocol)
        text = subprotocol == MSGPACK
        message = {"type": "ping", "id": 7}
        await ann.socket.send(json.dumps(message) if text else msgpack.packb(message))
        assert (await ann.read())["code"] == "bad_message"
        await ann.ask("ping")

    async def test_a_frame_that_is_too_large_closes(self, ann: Player) -> None:
        await ann.send("ping", padding="x" * 16384)
        assert await ann.closed() == 1009

    async def test_a_frame_of_the_largest_size_is_answered(self, ann: Player) -> None:
        rest = len(msgpack.packb({"type": "ping", "id": 9, "padding": "x" * 16000})) - 16000
        await ann.send_map({"type": "ping", "id": 9, "padding": "x" * (16384 - rest)})
        assert (await ann.answer(9))["type"] == "pong"

    @pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
    async def test_unknown_fields_are_ignored_and_null_is_absent(self, seats: Table, subprotocol: str) -> None:
        ann = await seats.player("Ann", subprotocol)
        assert (await ann.ask("ping", unknown={"deep": [1, None]}, other=None))["type"] == "pong"
        race = await ann.ask("race.create", settings=None)
        assert race["settings"]["variant"] == "freecell"
        race = await ann.ask("race.create", settings={"deal": None, "seats": None, "undo": False})
        assert race["settings"]["seats"] == 2
        assert "deal" not in race["settings"]
        assert (await ann.ask("race.list", variant=None, state=None, mine=None, limit=None))["type"] == "races"
        assert (await ann.ask("race.join", race=race["race"], code=None))["race"] == race["race"]
        assert (await ann.ask("race.sync", race=race["race"], since=None))["type"] == "race"

    @pytest.mark.parametrize("request_id", ["", "x" * 64, "ünï", 0, 2**53 - 1])
    async def test_an_answer_carries_the_id_as_it_was_sent(self, seats: Table, request_id: str | int) -> None:
        ann = await seats.player("Ann", JSON)
        await ann.send_map({"type": "ping", "id": request_id})
        answer = await ann.answer(request_id)
        assert answer["type"] == "pong"
        assert type(answer["re"]) is type(request_id)

    async def test_without_an_id_an_answer_has_no_re(self, ann: Player) -> None:
        await ann.send_map({"type": "ping"})
        pong = await ann.read()
        assert pong["type"] == "pong"
        assert "re" not in pong

    @pytest.mark.parametrize("request_id", ["x" * 65, -1, 2**53, 1.5, True, ["a"]])
    async def test_an_id_that_is_none_is_a_bad_field(self, seats: Table, request_id: object) -> None:
        ann = await seats.player("Ann", JSON)
        await ann.send_map({"type": "ping", "id": request_id})
        error = await ann.read()
        assert (error["code"], error.get("field")) == ("bad_message", "id")
        assert "re" not in error


class TestOrder:
    """Requests are carried out and answered in order; an answer precedes the pushes that it causes."""

    async def test_pipelined_requests_are_answered_in_order(self, seats: Table, ann: Player) -> None:
        race = (await ann.ask("race.create", settings={"seats": 1, "countdown": 0, "deal": 617}))["race"]
        kinds = ["race.sync", "ping", "race.list", "nonsense", "race.ready", "ping", "race.leave", "race.sync"] * 5
        ids = [await ann.send(kind, race=race) for kind in kinds]
        await ann.answer(ids[-1])
        assert [frame["re"] for frame in ann.frames if frame.get("re") in ids] == ids

    async def test_pipelined_requests_see_what_those_before_them_did(self, seats: Table, ann: Player) -> None:
        race = (await ann.ask("race.create", settings={"seats": 2}))["race"]
        sent = []
        for ready in (True, False, True):
            sent.append(await ann.send("race.ready", race=race, ready=ready))
            sent.append(await ann.send("race.sync", race=race))
        answers = [await ann.answer(request) for request in sent]
        assert [a["entrants"][0]["status"] for a in answers[1::2]] == ["ready", "joined", "ready"]

    async def test_a_pipelined_game_is_played_without_waiting(self, ann: Player) -> None:
        race = await start_race(ann, deal=617, autoplay="none")
        moves = ["1a", "1b", "1c", "1d", "u", "u", "u", "u"]
        ids = [await ann.send("move", race=race, seq=seq, moves=[move]) for seq, move in enumerate(moves)]
        assert [(await ann.answer(request))["seq"] for request in ids] == list(range(1, 9))

    async def test_an_answer_precedes_the_pushes_that_it_causes(self, seats: Table, ann: Player) -> None:
        created = await ann.send("race.create", settings={"seats": 1, "countdown": 0, "deal": 617})
        race = (await ann.answer(created))["race"]
        readied = await ann.send("race.ready", race=race)
        await ann.push("race.started", race=race)
        conceded = await ann.send("race.concede", race=race)
        await ann.push("race.over", race=race)
        order = [frame.get("re", frame["type"]) for frame in ann.frames[1:]]
        order = [entry for entry in order if entry not in ("race.online", "race.joined")]
        assert order == [
            created,
            readied,
            "race.ready",
            "race.countdown",
            "race.started",
            conceded,
            "race.done",
            "race.over",
        ]

    async def test_a_rematch_is_answered_before_its_opening_is_told(self, ann: Player, bob: Player) -> None:
        race = await start_race(ann, bob)
        for player in (ann, bob):
            await player.ask("race.concede", race=race)
        for player in (ann, bob):
            await player.push("race.over", race=race)
        asked = await ann.send("race.rematch", race=race)
        successor = (await ann.answer(asked))["race"]
        assert (await bob.push("race.rematch", race=race))["successor"] == successor
        await ann.push("race.joined", race=successor)
        order = [frame.get("re", frame["type"]) for frame in ann.frames]
        assert order[order.index(asked) :] == [asked, "race.rematch", "race.joined"]

    async def test_a_winning_move_is_answered_before_the_end_is_told(self, ann: Player) -> None:
        race = await start_race(ann, variant="one-suit", deal=94)
        await play(ann, race, ["2a", "2b", "31v2"], at_once=3)
        await ann.push("race.over", race=race)
        kinds = [frame["type"] for frame in ann.frames]
        assert kinds.index("moved") < kinds.index("race.done") < kinds.index("race.over")


class TestTakeover:
    """A second connection of a player takes over (protocol, section 2)."""

    async def test_the_older_connection_is_closed_and_the_newer_goes_on(self, seats: Table, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        await play(ann, race, ["1a"])
        again = await seats.back(ann, JSON)
        assert await ann.closed() == 4100
        assert again.welcome["races"] == [{"race": race, "state": "running"}]
        assert (await again.ask("race.sync", race=race))["you"]["moves"] == ["1a"]
        await play(again, race, ["1b"], seq=1)

    async def test_the_newer_gets_the_pushes_of_its_races_from_welcome_on(
        self, seats: Table, ann: Player, bob: Player
    ) -> None:
        race = await open_race(ann, bob)
        again = await seats.back(ann)
        await bob.ask("race.ready", race=race)
        await again.push("race.ready", race=race, player=bob.id)

    async def test_nobody_is_told_of_an_absence(self, seats: Table, ann: Player, bob: Player) -> None:
        race = await open_race(ann, bob)
        await seats.back(ann)
        await ann.closed()
        entrants = (await bob.ask("race.sync", race=race))["entrants"]
        assert all(entrant["online"] for entrant in entrants)
        await bob.settle()
        assert not [push for push in bob.pushes if push["type"] == "race.online"]

    async def test_nothing_of_the_older_is_carried_out_once_the_newer_is_welcome(
        self, seats: Table, ann: Player
    ) -> None:
        """However much the older has sent and sends: what the newer sees then is all there will ever be."""
        for _ in range(300):
            await ann.send("race.create")
        again = await seats.stranger()
        hello = await again.send("hello", token=ann.token)
        for _ in range(300):
            await ann.send("race.create")
        await again.answer(hello)
        seen = len((await again.ask("race.list", mine=True, limit=100))["races"])
        assert await ann.closed() == 4100
        assert len((await again.ask("race.list", mine=True, limit=100))["races"]) == seen
        answered = [frame for frame in ann.frames if frame["type"] == "race"]
        assert len(answered) == seen

    async def test_a_request_under_way_ends_before_the_newer_is_welcome(
        self, seats: Table, ann: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        race = (await ann.ask("race.create"))["race"]
        writing, go_on = asyncio.Event(), asyncio.Event()
        append = RaceStore.append

        async def slowly(*args: Any, **kwargs: Any) -> Any:
            writing.set()
            await go_on.wait()
            return await append(*args, **kwargs)

        monkeypatch.setattr(RaceStore, "append", slowly)
        under_way = await ann.send("race.ready", race=race)
        await writing.wait()
        monkeypatch.undo()
        again = await seats.stranger()
        hello = await again.send("hello", token=ann.token)
        await seats.player("Bob")
        go_on.set()
        await again.answer(hello)
        assert (await ann.answer(under_way))["type"] == "ok"
        assert (await again.ask("race.sync", race=race))["entrants"][0]["status"] == "ready"

    async def test_a_chain_of_takeovers_leaves_the_last(self, seats: Table, ann: Player) -> None:
        race = await start_race(ann, deal=617)
        chain = [ann]
        chain += [await seats.back(ann) for _ in range(5)]
        for older in chain[:-1]:
            assert await older.closed() == 4100
        await play(chain[-1], race, ["1a"])

    async def test_connections_at_once_leave_the_newest(
        self, seats: Table, ann: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also when an older one is slower to come in: it gives way to the one that overtook it."""
        race = await start_race(ann, deal=617)
        resuming, go_on = asyncio.Event(), asyncio.Event()
        resume = Admission.resume

        async def slowly(*args: Any) -> None:
            resuming.set()
            await go_on.wait()
            await resume(*args)

        monkeypatch.setattr(Admission, "resume", slowly)
        slow = await seats.stranger()
        await slow.send("hello", token=ann.token)
        await resuming.wait()
        monkeypatch.undo()
        fast = await seats.back(ann)
        go_on.set()
        assert await slow.closed() == 4100
        assert await ann.closed() == 4100
        await play(fast, race, ["1a"])

    @pytest.mark.parametrize("racing", [True, False])
    async def test_of_many_connections_at_once_one_stays(self, seats: Table, ann: Player, racing: bool) -> None:
        if racing:
            await start_race(ann, deal=617)
        many = [await seats.stranger() for _ in range(6)]
        for stranger in many:
            await stranger.send("hello", token=ann.token)

        async def is_late(stranger: Player) -> bool:
            """Whether its hello came to the store after a later one: it is to be repeated, which nobody does here."""
            try:
                return (await stranger.read())["type"] == "error"
            except ConnectionClosed:
                return False

        late = await asyncio.gather(*map(is_late, many))
        everybody = [ann, *(stranger for stranger, is_it in zip(many, late, strict=True) if not is_it)]
        others = len(everybody) - 1
        await eventually(lambda: sum(player.socket.close_code == 4100 for player in everybody) == others)
        (last,) = [player for player in everybody if player.socket.close_code is None]
        race = (await last.ask("race.create"))["race"]
        assert (await last.ask("race.sync", race=race))["race"] == race


class TestLoss:
    """A connection that is lost in the middle of something."""

    async def test_what_was_written_becomes_known_to_the_others(
        self, seats: Table, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Ann is ready and gone in the same moment: Bob hears both, and the race is not stuck."""
        race = await open_race(ann, bob)
        await bob.ask("race.ready", race=race)
        written, go_on = asyncio.Event(), asyncio.Event()
        append = RaceStore.append

        async def slowly(*args: Any, **kwargs: Any) -> Any:
            stamped = await append(*args, **kwargs)
            written.set()
            await go_on.wait()
            return stamped

        monkeypatch.setattr(RaceStore, "append", slowly)
        await ann.send("race.ready", race=race)
        await written.wait()
        monkeypatch.undo()
        await ann.drop()
        go_on.set()
        await bob.push("race.ready", race=race, player=ann.id)
        await bob.push("race.online", race=race, player=ann.id, online=False)
        await seats.back(ann)
        await bob.push("race.started", race=race)

    async def test_a_move_that_was_written_is_there_after_the_return(
        self, seats: Table, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        race = await start_race(ann, bob, deal=617)
        submitted, go_on = asyncio.Event(), asyncio.Event()
        write = Committer._write  # noqa: SLF001 - the seam between a move and the store

        async def slowly(self: Committer, batch: Any) -> None:
            submitted.set()
            await go_on.wait()
            await write(self, batch)

        monkeypatch.setattr(Committer, "_write", slowly)
        await ann.send("move", race=race, seq=0, moves=["1a"])
        await submitted.wait()
        monkeypatch.undo()
        await ann.drop()
        go_on.set()
        await bob.push("race.progress", race=race, player=ann.id, seq=1)
        again = await seats.back(ann)
        assert (await again.ask("race.sync", race=race))["you"]["moves"] == ["1a"]
        assert (await again.ask("move", race=race, seq=0, moves=["1a"]))["seq"] == 1

    async def test_who_is_lost_while_entering_does_not_seem_to_be_there(
        self, ann: Player, bob: Player, node: Node, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        race = await open_race(ann)
        joining, go_on = asyncio.Event(), asyncio.Event()
        append = RaceStore.append

        async def slowly(*args: Any, **kwargs: Any) -> Any:
            joining.set()
            await go_on.wait()
            return await append(*args, **kwargs)

        monkeypatch.setattr(RaceStore, "append", slowly)
        await bob.send("race.join", race=race)
        await joining.wait()
        monkeypatch.undo()
        await bob.drop()
        go_on.set()
        await ann.push("race.joined", race=race)
        await ann.push("race.online", race=race, player=bob.id, online=False)
        assert [e["online"] for e in (await ann.ask("race.sync", race=race))["entrants"]] == [True, False]
        await eventually(lambda: len(node.sessions) == 1)


class TestLostReplies:
    """The store carried a request out, and nobody was told: `retry_later` says that this is not known."""

    @pytest.mark.parametrize(
        ("kind", "state", "push", "again"),
        [
            ("race.ready", "open", "race.ready", "ok"),
            ("race.leave", "open", "race.left", "ok"),
            ("race.concede", "running", "race.done", "already_done"),
            ("race.forfeit", "running", "race.done", "already_done"),
            ("race.leave", "running", "race.done", "ok"),
        ],
    )
    async def test_the_others_hear_of_it_once_and_the_repeat_changes_nothing(
        self,
        ann: Player,
        bob: Player,
        cem: Player,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
        state: str,
        push: str,
        again: str,
    ) -> None:
        begin = open_race if state == "open" else start_race
        race = await begin(ann, bob, cem, deal=617)
        lose_reply(monkeypatch, "race_append")
        assert (await bob.refused(kind, race=race))["code"] == "retry_later"
        for player in (ann, cem):
            assert (await player.push(push, race=race))["player"] == bob.id
        answer = await bob.answer(await bob.send(kind, race=race))
        assert answer.get("code", answer["type"]) == again
        for player in (ann, cem):
            await player.ask("race.sync", race=race)
            assert not [later for later in player.pushes if later["type"] == push]

    async def test_of_entering(self, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch) -> None:
        race = await open_race(ann)
        lose_reply(monkeypatch, "race_append")
        assert (await bob.refused("race.join", race=race))["code"] == "retry_later"
        joined = await bob.ask("race.join", race=race)
        assert (joined["version"], len(joined["entrants"])) == (2, 2)
        await ann.push("race.joined", race=race, version=2)
        await ann.ask("race.ready", race=race)
        await bob.push("race.ready", race=race)

    async def test_of_a_countdown_that_begins(self, ann: Player, bob: Player, monkeypatch: pytest.MonkeyPatch) -> None:
        """It began, with the deal that was drawn, and is told."""
        race = await open_race(ann, bob, variant="one-suit")
        await bob.ask("race.ready", race=race)
        await ann.push("race.ready", race=race)
        lose_reply(monkeypatch, "race_append", after=1)
        await ann.ask("race.ready", race=race)
        for player in (ann, bob):
            countdown = await player.push("race.countdown", race=race)
            started = await player.push("race.started", race=race)
            check_start(countdown, started, "one-suit")


def lose_reply(monkeypatch: pytest.MonkeyPatch, function: str, after: int = 0) -> None:
    """The store carries out the next call of a function, or one of those after it, and its reply is lost."""
    call, left = Link.call, [after]

    async def lossy(self: Link, name: str, *arguments: Any, **named: Any) -> Any:
        answer = await call(self, name, *arguments, **named)
        if name.startswith(function):
            if not left[0]:
                monkeypatch.setattr(Link, "call", call)
                raise StoreUnavailable("The test lost the reply.")
            left[0] -= 1
        return answer

    monkeypatch.setattr(Link, "call", lossy)


class TestSlowReaders:
    """A client that does not read is let go, and nobody waits for it."""

    async def test_one_that_never_reads_is_let_go_and_the_others_play_on(
        self, seats: Table, ann: Player, node: Node
    ) -> None:
        deaf = await seats.player("Deaf")
        race = await start_race(ann, deaf, deal=617)
        (session,) = [session for session in node.sessions if session.player.id == deaf.id]
        # The kernel would keep some megabytes of what nobody reads.
        line = session._connection.transport.get_extra_info("socket")  # noqa: SLF001 - the server's end of the line
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        deaf.socket.transport.pause_reading()

        async def keep_asking() -> bool:
            for _ in range(20):
                if session.closing is None:
                    await deaf.send("race.sync", race=race)
            await ann.ask("ping")
            return session.closing is not None

        await eventually(keep_asking)
        assert session.closing == 4000
        await ann.push("race.online", race=race, player=deaf.id, online=False)
        await play(ann, race, ["1a"])
        await deaf.drop()


class TestSilence:
    """A client that answers no pings."""

    @pytest.fixture
    def bounds(self) -> Bounds:
        return Bounds(ping_seconds=2.0)

    async def test_one_that_answers_no_ping_is_let_go(self, seats: Table, node: Node) -> None:
        """Its end of the line is open, but nobody is there."""
        ann, deaf = await seats.player("Ann"), await seats.player("Deaf")
        race = await start_race(ann, deaf, deal=617)
        deaf.socket.transport.pause_reading()
        await ann.push("race.online", race=race, player=deaf.id, online=False)
        await ann.ask("ping")
        await eventually(lambda: len(node.sessions) == 1)
        await deaf.drop()

    async def test_one_whose_pings_wait_behind_what_is_unread_is_let_go(self, seats: Table, node: Node) -> None:
        """Too little may be unread to be let go for, but enough that a ping is not sent at once."""
        deaf = await seats.player("Deaf")
        (session,) = node.sessions
        transport = session._connection.transport  # noqa: SLF001 - nothing else tells how much is unread
        transport.set_write_buffer_limits(0)
        deaf.socket.transport.pause_reading()
        while not transport.get_write_buffer_size():
            transport.write(b"\x8a\x00" * 5000)  # Pongs, which nobody asked for and nobody minds.
        await eventually(lambda: len(node.sessions) == 0)
        await deaf.drop()
