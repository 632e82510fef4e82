"""The line client and the demo as their users meet them: processes with pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.messages import SettingsRequest
from cellrace.solver import solve
from cellrace.variants import find_variant
from cellrace_client.connection import connect
from cellrace_server.app import running
from cellrace_server.config import Bounds, Config
from tests.waiting import eventually

COMMAND = (sys.executable, "-c", "from cellrace_client.cli import main; main(prog_name='cellrace')")
PATIENCE = 100
"""Seconds after which a command was awaited in vain."""


@pytest_asyncio.fixture
async def url(store_url: str) -> AsyncIterator[str]:
    """A node in this process, on an empty store."""
    bounds = Bounds(new_players=10_000, burst=10_000, per_second=10_000)
    async with running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as node:
        yield f"ws://127.0.0.1:{node.port}/ws"


@pytest.fixture
def environment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A dumb terminal, a home of its own, and room for a server whose socket a short path leads to."""
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)}
    return os.environ | home | {"TERM": "dumb", "TMPDIR": str(tmp_path_factory.mktemp("t"))}


async def run(environment: dict[str, str], *arguments: str, typed: str = "") -> tuple[int, str]:
    """Runs the command with something typed into its pipe: its exit status and what it said."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE):
        said, _ = await process.communicate(typed.encode())
    assert process.returncode is not None
    return process.returncode, said.decode()


def solution_of(variant_id: str, number: int) -> str:
    """A way to win a deal."""
    variant = find_variant(variant_id)
    solution = solve(dealt_board(variant, deal(variant, number)))
    assert solution is not None
    return " ".join(solution.safe_moves)


async def test_a_race_is_won_through_a_pipe(url: str, environment: dict[str, str]) -> None:
    """Open, ready, all moves on one line: they wait for the start, and the end of the input for the standings."""
    typed = f"open six-by-six seats=1 deal=1 countdown=1\nready\n{solution_of('six-by-six', 1)}\n"
    status, said = await run(environment, "play", "--plain", "--server", url, "--name", "Ann", typed=typed)
    assert status == 0, said
    lines = said.splitlines()
    assert lines[0] == "You are Ann. Type help for what you can type."
    assert any(line.startswith("The race starts in ") for line in lines)
    assert "The deal is the one that the server committed itself to before the start." in lines
    assert any(line.startswith("You won in ") for line in lines)
    assert any(line.startswith("1st: Ann (you) won in ") and "less" in line for line in lines)
    assert said.replace("\n", "").isprintable(), "no escape, no control, no prompt"


async def test_refusals_are_sentences_and_the_exit_status(url: str, environment: dict[str, str]) -> None:
    """What cannot be done is told, the rest is done, and a script can see that something was refused."""
    typed = (
        "fly\n26\nopen six-by-six seats=1 deal=1 countdown=0 ranked=yes\n"
        "open six-by-six seats=1 deal=1 countdown=0\nconcede\nready\n99\n1a 1a 1a 1a\n1a\nundo\n"
        "hint\nconcede\nno\nconcede\nyes\nstandings\n"
    )
    status, said = await run(environment, "play", "--plain", "--server", url, typed=typed)
    lines = said.splitlines()
    assert status == 1
    for sentence in (
        "fly is neither a command nor a move; type help.",
        "You are in no race; type list, join or open.",
        "A race on a known deal is never ranked.",
        "The race has not started yet.",
        "99 is not possible. This game has no such column, cell or reserve.",
        "1a is not possible. That cell already holds a card.",
        "None of the moves on this line was played.",
        "Taken back.",
        "You play on.",
        "You conceded with 0 cards home.",
        "1st: Anybody (you) conceded with 0 cards home, 1 move, 1 undo.",
    ):
        assert sentence.replace("Anybody", lines[0].split(".")[0].removeprefix("You are ")) in lines, said
    assert any(line.startswith("Try ") for line in lines)


async def test_a_player_is_remembered_and_goes_on(url: str, environment: dict[str, str]) -> None:
    """A game that is not over at the end of the input is gone on with at the next start, by the same player."""
    status, said = await run(
        environment,
        *("play", "--plain", "--server", url, "--name", "Ann", "--open", "six-by-six", "--deal", "1", "--seats", "1"),
        typed="ready\nwait\n1a\n",
    )
    assert status == 1
    assert "is not over. Come back within 120 s" in said
    status, said = await run(environment, "play", "--server", url, typed="u\nconcede yes\n")
    assert status == 0, said
    assert "You are Ann." in said
    assert said.count(" is running") == 1, "how the race stands is told once"
    assert "Taken back." in said
    (token,) = files(environment["XDG_CONFIG_HOME"], "cellrace/tokens/*.json")
    assert token.stat().st_mode & 0o777 == 0o600
    status, said = await run(environment, "play", "--plain", "--server", url, "--profile", "b", "--name", "ann")
    assert (status, said) == (1, "Error: Another player has this name.\n")


async def test_ctrl_d_is_quit(url: str, environment: dict[str, str]) -> None:
    """The end of the input at a terminal is a person who leaves, and no failure, also while a race is open."""
    terminal, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "play", "--plain", "--server", url, "--open", "one-suit"),
        env=environment,
        stdin=theirs,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    os.close(theirs)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while b"Others enter it" not in await process.stdout.readline():
            assert not process.stdout.at_eof()
        os.write(terminal, b"\x04")
        assert await process.wait() == 0
    os.close(terminal)


async def test_a_rival_is_told_in_sentences(url: str, environment: dict[str, str]) -> None:
    """Joining, getting ready, progress and the end of a rival; a race is left after a yes."""
    async with connect(url, name="Bob") as bob:
        race = (await bob.create(SettingsRequest(variant="six-by-six", deal=1, countdown=0))).race

        async def rival() -> None:
            await bob.view_where(race, lambda view: len(view.entrants) == 2)
            await bob.ready(race)
            await bob.view_where(race, lambda view: view.playing)
            await bob.move(race, *solution_of("six-by-six", 1).split()[:6])
            await bob.concede(race)

        rivalling = asyncio.create_task(rival())
        typed = "ready\nwait\nforfeit yes\nwait\nstandings\n"
        status, said = await run(environment, "play", "--plain", "--server", url, "--race", race, typed=typed)
        await rivalling
        assert status == 0, said
        assert "Bob is ready." in said
        assert "Bob conceded with" in said
        assert "2nd: " in said


async def test_no_server_is_a_sentence(environment: dict[str, str]) -> None:
    """And the exit status 1."""
    status, said = await run(environment, "play", "--plain", "--server", "ws://127.0.0.1:1/ws")
    assert (status, said) == (
        1,
        (
            "Error: The server at ws://127.0.0.1:1/ws cannot be reached: nothing listens there. "
            "Start a server with: cellrace serve, or name another one with --server.\n"
        ),
    )


@pytest.mark.parametrize(
    "arguments", [("play", "--race", "x", "--open", "freecell"), ("bot", "--deal", "5"), ("bot", "--strength", "6")]
)
async def test_wrong_usage_is_told(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """Exit status 2, as for every command."""
    status, said = await run(environment, *arguments)
    assert status == 2
    assert "Usage: cellrace" in said


async def test_the_bot_command_opens_races_and_finds_seats(url: str, environment: dict[str, str]) -> None:
    """Two bots that know nothing of each other meet in a race, and keep their tokens."""
    token = Path(environment["HOME"]) / "zed.token"
    first = run(
        environment,
        *("bot", "--server", url, "--open", "two-suit", "--strength", "5", "--name", "Zed"),
        *("--token-file", str(token)),
    )
    opening = asyncio.create_task(first)
    async with connect(url) as looker:

        async def a_race_is_open() -> bool:
            return bool(await looker.list_races())

        found: bool = await eventually(a_race_is_open)
        assert found
    status, said = await run(environment, "bot", "--server", url, "--strength", "5", "--name", "Yam")
    assert status == 0, said
    status, said = await opening
    assert status == 0, said
    assert "Yam, a bot, has joined" in said
    assert "Zed (bot" in said
    assert token.stat().st_mode & 0o777 == 0o600
    assert token.read_text().strip() not in said


async def test_the_demo_without_a_terminal_ends_with_a_won_race(environment: dict[str, str]) -> None:
    """Two bots on a server of their own: standings, exit status 0, and nothing is left behind."""
    status, said = await run(environment, "demo", "--variant", "one-suit", "--seed", "1")
    assert status == 0, said
    assert "The race is over. The standings:" in said
    assert "1st: " in said
    assert said.splitlines()[-1].startswith("Checked: both had the same layout")
    assert not files(environment["TMPDIR"], "cellrace-*")


async def test_the_demo_in_a_terminal_is_a_race_against_a_bot(environment: dict[str, str]) -> None:
    """The bot is ready, the race starts when you are, moves are played, and quit ends all of it."""
    terminal, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "demo", "--variant", "six-by-six", "--deal", "1"),
        env=environment,
        stdin=theirs,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    os.close(theirs)
    assert process.stdout is not None
    said = b""
    async with asyncio.timeout(PATIENCE):
        for awaited, typed in (
            (b"Robo is ready", b"ready\n"),
            (b"cards of 36 home", b"1a\n"),
            (b"By itself", b"quit\n"),
        ):
            while awaited not in said:
                line = await process.stdout.readline()
                assert line, said.decode()
                said += line
            os.write(terminal, typed)
        said += await process.stdout.read()
        assert await process.wait() == 0, said.decode()
    os.close(terminal)
    assert b"\x1b" not in said
    assert not files(environment["TMPDIR"], "cellrace-*")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_demo_that_is_told_to_end_leaves_nothing(environment: dict[str, str], number: signal.Signals) -> None:
    """Its server, its store, its solvers and its directory go with it."""
    process = await asyncio.create_subprocess_exec(
        *(*COMMAND, "demo", "--variant", "freecell"),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        while b"has started" not in await process.stdout.readline():
            assert not process.stdout.at_eof()
        (directory,) = files(environment["TMPDIR"], "cellrace-*")
        assert processes_with(str(directory))
        process.send_signal(number)
        await process.stdout.read()
        assert await process.wait() == 128 + number
        await eventually(lambda: not processes_with(str(directory)))
    assert not files(environment["TMPDIR"], "cellrace-*")


def files(directory: str, pattern: str) -> list[Path]:
    """What lies in a directory."""
    return list(Path(directory).glob(pattern))


def processes_with(word: str) -> list[int]:
    """The processes on whose command line a word stands."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in command:
                found.append(int(entry.name))
    return found
