"""The commands replay and verify on files, the playback in a terminal, and what is fetched over HTTP."""

from __future__ import annotations

import http.server
import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from cellrace.errors import ErrorCode, IllegalMove, Refused
from cellrace.messages import EntrantStatus
from cellrace.replay import to_base64
from cellrace_client.cli import main
from cellrace_client.connection.fetching import fetch, http_url
from cellrace_client.errors import Unreachable
from cellrace_client.terminal.playback import ending, frames, heading, play_on_screen, play_plainly
from tests.protocol.replays import PUBLIC, lost_replay, signed, won_replay, written

GOLDEN = Path(__file__).parent.parent / "golden"
WON = won_replay("two-suit", 3)
LOST = lost_replay()


def run(*arguments: str | Path, text: bytes = b"") -> Result:
    """The outcome of `cellrace …`."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """The public key of the tests' replays."""
    path = tmp_path / "server.key"
    path.write_text(to_base64(PUBLIC) + "\n")
    return path


class TestVerify:
    def test_an_honest_replay_ends_with_0_and_a_line_for_each_check(self, key_file: Path) -> None:
        result = run("verify", "-", "--key", key_file, text=written(WON))
        assert result.exit_code == 0
        lines = result.output.splitlines()
        assert [line.split()[0] for line in lines[:-1]] == ["ok"] * 8
        assert lines[-1] == "The replay is verified."

    def test_a_file_and_the_published_keys_do_as_well(self, tmp_path: Path) -> None:
        keys = tmp_path / "keys.json"
        keys.write_bytes(msgspec.json.encode({"keys": [{"key": "x", "public": to_base64(PUBLIC)}]}))
        assert run("verify", GOLDEN / "replay.json", "--key", keys).exit_code == 0
        assert run("verify", GOLDEN / "replay.json", "--key", GOLDEN / "replay.key").exit_code == 0

    def test_without_a_key_it_says_which_is_wanted_and_ends_with_1(self) -> None:
        result = run("verify", "-", text=written(WON))
        assert result.exit_code == 1
        assert [line.split()[:2] for line in result.output.splitlines() if line.startswith("FAILED")] == [
            ["FAILED", "key"],
            ["FAILED", "signature"],
        ]
        assert WON.key in result.output

    def test_what_fails_is_told_by_name(self, key_file: Path) -> None:
        forged = signed(replace(WON, result=replace(WON.result, time=1)))
        result = run("verify", "-", "--key", key_file, text=written(forged))
        assert result.exit_code == 1
        (failed,) = [line for line in result.output.splitlines() if line.startswith("FAILED")]
        assert failed.split()[1] == "result"
        assert result.output.endswith("The replay is not verified.\n")

    def test_json_tells_the_same_to_programs(self, key_file: Path) -> None:
        told = json.loads(run("verify", "-", "--key", key_file, "--json", text=written(WON)).output)
        assert told["verified"] is True
        assert {check["name"]: check["holds"] for check in told["checks"]}["signature"] is True
        result = run("verify", "-", "--json", text=b"{}")
        assert result.exit_code == 1
        assert json.loads(result.output)["verified"] is False

    def test_each_of_some_replays_with_one_byte_changed_ends_with_1(self, key_file: Path) -> None:
        chance = random.Random(3)
        text = written(WON)
        for _ in range(40):
            place = chance.randrange(len(text))
            changed = bytes((text[place] ^ chance.randrange(1, 256),))
            result = run("verify", "-", "--key", key_file, text=text[:place] + changed + text[place + 1 :])
            assert result.exit_code == 1
            assert "FAILED" in result.output

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
    @given(st.binary(max_size=100))
    def test_whatever_the_files_hold_it_is_an_answer(self, tmp_path: Path, text: bytes) -> None:
        assert run("verify", "-", text=text).exit_code == 1
        file = tmp_path / "anything"
        file.write_bytes(text)
        assert run("verify", "-", "--key", file, text=written(WON)).exit_code in (1, 2)

    def test_a_file_that_is_not_there_is_wrong_usage(self, tmp_path: Path, key_file: Path) -> None:
        assert run("verify", tmp_path / "gone").exit_code == 2
        assert run("verify", tmp_path).exit_code == 2
        assert run("verify", "-", "--key", tmp_path / "gone", text=written(WON)).exit_code == 2
        assert run("verify").exit_code == 2

    def test_a_file_without_end_is_not_read_to_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cellrace_client.replay_files.LARGEST", 1_000)
        result = run("verify", "-", text=b" " * 2_000)
        assert result.exit_code == 1
        assert "more than 1000 bytes" in result.output

    def test_nothing_that_a_terminal_would_obey_is_printed(self) -> None:
        evil = json.loads(written(WON)) | {"variant": "\x1b[2J", "key": "\x1b]0;\x07"}
        assert "\x1b" not in run("verify", "-", text=json.dumps(evil).encode()).output


class TestReplay:
    def test_plain_lines_tell_every_entry_and_the_end(self) -> None:
        result = run("replay", "--file", "-", text=written(LOST))
        assert result.exit_code == 0
        lines = result.output.splitlines()
        assert lines[0] == heading(LOST)
        assert lines[-1] == ending(LOST)
        told = [line.split()[2 if line.split()[1].count(":") else 3] for line in lines[2 : 2 + len(LOST.moves)]]
        assert told == [move for _, move in LOST.moves]

    def test_notation_can_be_played_by_check(self) -> None:
        result = run("replay", "--file", "-", "--export", "notation", text=written(WON))
        rows = [line.split() for line in result.output.splitlines() if not line.startswith("#")]
        assert all(len(row) == 10 for row in rows[:-1])
        assert [move for row in rows for move in row] == [move for _, move in WON.moves]
        checked = run("check", "--variant", "two-suit", "--deal", "3", "--moves", "-", text=result.output.encode())
        assert "The game is won." in checked.output

    def test_json_keeps_every_field_so_that_it_still_verifies(self, key_file: Path) -> None:
        answer = b'{"type":"replay","re":4,"replay":' + written(WON) + b"}"
        exported = run("replay", "--file", "-", "--export", "json", text=answer).output
        assert json.loads(exported) == json.loads(written(WON))
        assert run("verify", "-", "--key", key_file, text=exported.encode()).exit_code == 0

    def test_an_empty_log_has_no_rows(self) -> None:
        result = run("replay", "--file", "-", "--export", "notation", text=written(lost_replay(count=0)))
        assert (result.exit_code, result.output[:1], len(result.output.splitlines())) == (0, "#", 1)

    @pytest.mark.parametrize(
        "text",
        [b"", b"{}", b"\xff", written(replace(LOST, variant="chess")), written(replace(LOST, moves=((0, "zz"),)))],
    )
    def test_what_cannot_be_played_is_a_sentence(self, text: bytes) -> None:
        result = run("replay", "--file", "-", text=text)
        assert result.exit_code == 1
        assert result.output.splitlines()[-1].startswith("Error: ")

    @pytest.mark.parametrize("arguments", [(), ("race",), ("race", "player", "--file", "-"), ("--speed", "-1")])
    def test_wrong_usage_ends_with_2(self, arguments: tuple[str, ...]) -> None:
        assert run("replay", *arguments).exit_code == 2

    @pytest.mark.parametrize("drawn_on", [True, False])
    def test_only_what_can_be_drawn_on_is(self, monkeypatch: pytest.MonkeyPatch, drawn_on: bool) -> None:
        monkeypatch.setattr("cellrace_client.cli.replaying.can_be_drawn_on", lambda: drawn_on)
        result = run("replay", "--file", "-", "--symbols", text=written(LOST))
        assert result.output.count("♠ -") == (len(LOST.moves) + 1 if drawn_on else 1), "boards with nothing home"

    def test_a_server_that_is_not_there_is_a_sentence(self) -> None:
        result = run("replay", "race", "player", "--server", "127.0.0.1:1")
        assert result.exit_code == 1
        assert result.output.startswith("Error: The server at http://127.0.0.1:1/")

    def test_a_profile_that_is_not_there_is_wrong_usage(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        assert run("replay", "race", "player", "--profile", "nobody").exit_code == 2


class TestPlayback:
    def test_on_screen_each_entry_is_one_board_at_its_time(self) -> None:
        said: list[str] = []
        waits: list[float] = []
        play_on_screen(LOST, 2.0, said.append, waits.append, symbols=True, color=True)
        assert len(said) == len(LOST.moves) + 2
        assert all(frame.startswith("\x1b[H\x1b[2J") for frame in said[:-1])
        assert said[-1] == ending(LOST)
        assert sum(waits) == pytest.approx(LOST.moves[-1][0] / 2_000)
        assert all(wait > 0 for wait in waits)

    def test_without_speed_nothing_waits(self) -> None:
        waits: list[float] = []
        play_plainly(WON, 0.0, lambda line: None, waits.append)
        play_on_screen(WON, 0.0, lambda line: None, waits.append, symbols=False, color=False)
        assert waits == []

    def test_frames_end_where_the_game_ended(self) -> None:
        last = list(frames(WON))[-1]
        assert last.game.won
        assert last.at == WON.ended

    def test_what_goes_home_by_itself_is_told(self) -> None:
        replay = lost_replay("one-suit", 94, 12, seed=5)
        assert any("By itself went home" in frame.line for frame in frames(replay))

    def test_an_undo_is_told(self) -> None:
        replay = lost_replay(count=60, seed=4)
        assert any(move == "u" for _, move in replay.moves)
        assert any(frame.line.endswith("Taken back.") for frame in frames(replay))

    def test_an_illegal_entry_ends_it(self) -> None:
        with pytest.raises(IllegalMove):
            list(frames(replace(LOST, moves=((0, "zz"),))))

    @pytest.mark.parametrize("status", [s for s in EntrantStatus if s is not EntrantStatus.WON])
    def test_every_end_is_a_sentence(self, status: EntrantStatus) -> None:
        assert ending(replace(LOST, result=replace(LOST.result, status=status))).endswith(".")

    def test_a_name_that_a_terminal_would_obey_and_a_far_date_are_shown_harmlessly(self) -> None:
        strange = replace(LOST, name="\x1b[2J", start_at=2**53 - 1, bot=True)
        assert "\x1b" not in heading(strange) + ending(strange)


@pytest.mark.parametrize(
    ("server", "url"),
    [
        ("ws://localhost:8765/ws", "http://localhost:8765/x"),
        ("wss://race.example/ws", "https://race.example/x"),
        ("wss://race.example:443/cells/ws", "https://race.example:443/cells/x"),
        ("192.168.1.5", "http://192.168.1.5:8765/x"),
        ("https://race.example:444", "https://race.example:444/x"),
    ],
)
def test_the_http_side_is_where_the_socket_is(server: str, url: str) -> None:
    assert http_url(server, "/x") == url


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """A server that gives this answer to whatever is asked; its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class TestFetching:
    def test_an_answer_is_given_as_it_is(self) -> None:
        with answering(200, b"{}") as server:
            assert fetch(server, "/api") == b"{}"

    def test_a_refusal_has_the_server_s_code_and_sentence(self) -> None:
        with answering(403, b'{"code":"too_early","message":"Wait."}') as server, pytest.raises(Refused) as refused:
            fetch(server, "/api")
        assert (refused.value.code, str(refused.value)) == (ErrorCode.TOO_EARLY, "Wait.")

    @pytest.mark.parametrize("body", [b"", b"<html>", b'{"code":"unheard","message":"x"}', b"[]"])
    def test_an_error_that_is_none_of_ours_is_told_by_its_status(self, body: bytes) -> None:
        with answering(502, body) as server, pytest.raises(Unreachable, match="502"):
            fetch(server, "/api")

    def test_an_answer_without_end_is_not_read_to_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cellrace_client.connection.fetching.LARGEST", 10)
        with answering(200, b" " * 100) as server, pytest.raises(Unreachable, match="more than 10 bytes"):
            fetch(server, "/api")

    @pytest.mark.parametrize("server", ["127.0.0.1:1", "ws://[::1", "no host", "http://127.0.0.1:99999"])
    def test_whatever_the_address_is_the_error_is_ours(self, server: str) -> None:
        with pytest.raises(Unreachable):
            fetch(server, "/api")
