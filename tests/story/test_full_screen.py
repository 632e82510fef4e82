"""`cellrace play` on a real terminal: a pseudo-terminal with a process behind it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import signal
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import pytest_asyncio

from cellrace_client.connection import connect
from cellrace_server.app import running
from cellrace_server.config import Bounds, Config
from tests.story.solved_games import golden_game
from tests.story.test_client_lines import COMMAND, PATIENCE, files
from tests.waiting import eventually

ENTERED, LEFT = "\x1b[?1049h", "\x1b[?1049l"
"""What switches a terminal to its other screen, and back."""
_SEQUENCES = re.compile(r"\x1b\[[0-9;?<>$]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[P_^][^\x1b]*\x1b\\\\|\x1b[()=>][A-Z0-9]?")


@pytest_asyncio.fixture
async def url(store_url: str) -> AsyncIterator[str]:
    """A node in this process, on an empty store."""
    bounds = Bounds(new_players=10_000, burst=10_000, per_second=10_000)
    async with running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as node:
        yield f"ws://127.0.0.1:{node.port}/ws"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A terminal in colour, a language without translation, and a home of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM", "LANGUAGE")}
    config = tmp_path / "config"
    return kept | {
        "TERM": "xterm-256color",
        "XDG_CONFIG_HOME": str(config),
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }


class Terminal:
    """A terminal of 80 by 24, and the process that draws on it."""

    def __init__(self, process: asyncio.subprocess.Process, descriptor: int) -> None:
        self.pid = process.pid
        self._process = process
        self.written = ""
        self._descriptor = descriptor
        self._over = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 65536)
        except OSError:
            data = b""
        if data:
            self.written += data.decode("utf-8", "replace")
        else:
            self._loop.remove_reader(self._descriptor)
            self._over.set()

    @property
    def text(self) -> str:
        """Everything that was written, without what steers a terminal."""
        return _SEQUENCES.sub("", self.written)

    def type(self, keys: str) -> None:
        """Types keys."""
        os.write(self._descriptor, keys.encode())

    async def shows(self, words: str, since: int = 0) -> int:
        """Waits until words were written after a place; the place after all that was written by then."""
        await eventually(lambda: words in _SEQUENCES.sub("", self.written[since:]))
        return len(self.written)

    @property
    def state(self) -> str:
        """The state of the process, as Linux names it."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]

    async def ended(self) -> int:
        """Waits for its end, and for the last of what it has written: the exit status."""
        async with asyncio.timeout(PATIENCE):
            await self._over.wait()
            return await self._process.wait()

    def hang_up(self) -> None:
        """Takes the terminal away."""
        self._loop.remove_reader(self._descriptor)
        self._over.set()
        os.close(self._descriptor)
        self._descriptor = -1

    async def close(self) -> None:
        """Ends what is left."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if self._descriptor >= 0:
            self.hang_up()


@asynccontextmanager
async def terminal(environment: dict[str, str], *arguments: str) -> AsyncIterator[Terminal]:
    """The command at a terminal of its own."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *arguments, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = Terminal(process, ours)
    try:
        yield shown
    finally:
        await shown.close()


async def test_a_game_is_won_at_a_terminal(url: str, environment: dict[str, str]) -> None:
    """Keys in, standings out; then the terminal is as it was, and the player is remembered."""
    deal = ("--open", "one-suit", "--deal", "94", "--seats", "1")
    async with terminal(environment, "play", "--server", url, "--name", "Ann", *deal) as shown:
        await shown.shows("Press space when you are ready")
        shown.type(" ")
        await shown.shows("0/13 home")
        shown.type("".join(golden_game("one-suit", 94, "safe")))
        await shown.shows("You brought all cards home")
        shown.type("\x11")
        assert await shown.ended() == 0
        assert ENTERED in shown.written
        assert shown.written.rindex(LEFT) > shown.written.rindex(ENTERED)
        assert shown.written.rindex("\x1b[?25h") > shown.written.rindex("\x1b[?25l")
    (token,) = files(environment["XDG_CONFIG_HOME"], "cellrace/tokens/*.json")
    assert token.stat().st_mode & 0o777 == 0o600


async def test_no_colours_where_none_are_wanted(url: str, environment: dict[str, str]) -> None:
    """NO_COLOR: not one escape that sets a colour, on the board neither."""
    async with terminal(environment | {"NO_COLOR": "1"}, "play", "--server", url) as shown:
        await shown.shows("What now?")
        shown.type("p")
        await shown.shows("0/52 home")
        shown.type("1")
        await shown.shows("<")
        assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38|48)(;|m)", shown.written)


async def test_letters_where_the_encoding_has_no_suits(url: str, environment: dict[str, str]) -> None:
    """Nothing is asked for that such a terminal cannot show."""
    plain = environment | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii:replace", "PYTHONUTF8": "0"}
    async with terminal(plain, "play", "--server", url) as shown:
        await shown.shows("What now?")
        since = len(shown.written)
        shown.type("p")
        await shown.shows("0/52 home", since)
        assert not set("♣♦♥♠") & set(shown.written)


async def test_it_is_suspended_and_comes_back(url: str, environment: dict[str, str]) -> None:
    """Ctrl-Z gives the terminal back; afterwards the game goes on where it was."""
    async with terminal(environment, "play", "--server", url) as shown:
        await shown.shows("What now?")
        shown.type("p")
        since = await shown.shows("0/52 home")
        shown.type("\x1a")
        await eventually(lambda: shown.state == "T")
        await eventually(lambda: LEFT in shown.written[since:])
        os.kill(shown.pid, signal.SIGCONT)
        await eventually(lambda: ENTERED in shown.written[since:])
        since = len(shown.written)
        shown.type("1a")
        await shown.shows("1 move", since)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_told_to_end_it_gives_the_terminal_back(
    url: str, environment: dict[str, str], number: signal.Signals
) -> None:
    """With the exit status that shells have for that."""
    async with terminal(environment, "play", "--server", url) as shown:
        await shown.shows("What now?")
        os.kill(shown.pid, number)
        assert await shown.ended() == 128 + number
        assert shown.written.rindex(LEFT) > shown.written.rindex(ENTERED)


async def test_it_ends_with_a_terminal_that_tells_nobody_of_its_end(url: str, environment: dict[str, str]) -> None:
    """One that is not its own, as it is behind some programs: it would read an end again and again for ever."""
    async with terminal(environment, "play", "--server", url) as shown:
        await shown.shows("What now?")
        shown.hang_up()
        assert await shown.ended() == 128 + signal.SIGHUP


async def test_leaving_a_game_asks_first(url: str, environment: dict[str, str]) -> None:
    """Ctrl-C once asks, twice goes; the game waits for its grace."""
    async with terminal(environment, "play", "--server", url) as shown:
        await shown.shows("What now?")
        shown.type("p")
        await shown.shows("0/52 home")
        shown.type("\x03")
        await shown.shows("Your game is not over")
        shown.type("\x03")
        assert await shown.ended() == 0


async def test_what_others_are_called_steers_no_terminal(url: str, environment: dict[str, str]) -> None:
    """A name that looks like markup is a name."""
    async with connect(url, name="[red on blue]Eve"):
        async with connect(url, name="[/]"):
            pass
        async with terminal(environment, "play", "--server", url, "--name", "[@click=quit]Al") as shown:
            await shown.shows("you are [@click=quit]Al")


async def test_no_server_is_told_before_anything_is_drawn(environment: dict[str, str]) -> None:
    """In a sentence, with what to do."""
    async with terminal(environment, "play", "--server", "ws://127.0.0.1:1/ws") as shown:
        assert await shown.ended() == 1
        await shown.shows("nothing listens there")
        assert "cellrace serve" in shown.text
        assert ENTERED not in shown.written


async def test_the_demo_is_on_the_full_screen_too(environment: dict[str, str]) -> None:
    """A bot waits, is ready, and the race starts when the player is; nothing is left behind."""
    folder = Path(environment["HOME"]) / "tmp"
    folder.mkdir()
    async with terminal(environment | {"TMPDIR": str(folder)}, "demo", "--variant", "six-by-six") as shown:
        await shown.shows("Robo (bot)")
        await shown.shows("Press space when you are ready")
        shown.type(" ")
        await shown.shows("0/36 home")
        shown.type("\x03")
        await shown.shows("Give this race up?")
        shown.type("\x03")
        assert await shown.ended() == 0
    assert not files(str(folder), "cellrace-*")


async def test_the_daily_opens_on_the_full_screen(url: str, environment: dict[str, str]) -> None:
    """On the day, where Enter asks once more; a game that goes on is gone on with; without colours where none are."""
    async with terminal(environment | {"NO_COLOR": "1"}, "daily", "six-by-six", "--server", url) as shown:
        await shown.shows("It counts once")
        shown.type("\r")
        await shown.shows("It is the one that")
        shown.type("y")
        await shown.shows("0/36 home")
        shown.type("\x03")
        await shown.shows("Your game is not over")
        shown.type("\x03")
        assert await shown.ended() == 0
        assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38|48)(;|m)", shown.written)
    async with terminal(environment, "daily", "six-by-six", "--server", url) as shown:
        await shown.shows("0/36 home")
