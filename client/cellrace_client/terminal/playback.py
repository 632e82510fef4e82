"""A replay played back in a terminal: at any speed, or in plain lines. Pure but for what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from cellrace.game import Game
from cellrace.messages import EntrantStatus, Replay
from cellrace.replay import play_again, start_of
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.move_words import tell_moves
from cellrace_client.terminal.speech import count_text, length_text, printable

_REDRAW = "\x1b[H\x1b[2J"
_ENDINGS = {
    EntrantStatus.CONCEDED: "conceded",
    EntrantStatus.TIMED_OUT: "ran out of time",
    EntrantStatus.FORFEITED: "gave up",
    EntrantStatus.ABANDONED: "did not come back",
}


class Frame(NamedTuple):
    """The game at some time of the replay, and the line that tells what has just happened."""

    at: int
    line: str
    game: Game


def heading(replay: Replay) -> str:
    """Who played what, and when."""
    began = datetime.fromtimestamp(min(replay.start_at, 10**14) / 1000, UTC)
    bot = ", a bot" if replay.bot else ""
    return printable(f"{replay.name}{bot}: {replay.variant}, deal {replay.deal}, on {began:%Y-%m-%d at %H:%M} UTC")


def ending(replay: Replay) -> str:
    """How the game ended, as the replay says."""
    result, entries = replay.result, count_text(len(replay.moves), "entry", "entries")
    if result.status is EntrantStatus.WON and result.time is not None:
        return f"{printable(replay.name)} has won in {length_text(result.time)}, with {entries}."
    how = _ENDINGS.get(result.status, str(result.status))
    home = count_text(result.home, "card")
    return f"{printable(replay.name)} {how} after {length_text(replay.ended)}, with {home} home and {entries}."


def frames(replay: Replay) -> Iterator[Frame]:
    """The start, then each entry of the log in its turn. Raises IllegalMove, UnknownVariant, UnknownDeal."""
    before = start_of(replay)
    yield Frame(0, f"The game begins, {count_text(len(replay.moves), 'entry', 'entries')} to come.", before)
    for number, (at, step, game) in enumerate(play_again(replay), 1):
        (told,), _ = tell_moves(before, [step])
        yield Frame(at, f"{number:>4}  {length_text(at):>9}  {step[0]:<4}  {told}", game)
        before = game


def play_plainly(replay: Replay, speed: float, say: Callable[[str], None], sleep: Callable[[float], None]) -> None:
    """A line for each entry, and the last board; at a speed of 0 without waiting."""
    say(heading(replay))
    last = None
    for frame in _paced(replay, speed, sleep):
        say(frame.line)
        last = frame
    if last is not None:
        say("")
        for line in board_lines(last.game.board):
            say(line)
        say("")
    say(ending(replay))


def play_on_screen(
    replay: Replay,
    speed: float,
    say: Callable[[str], None],
    sleep: Callable[[float], None],
    *,
    symbols: bool,
    color: bool,
) -> None:
    """The board drawn anew for each entry."""
    title = heading(replay)
    for frame in _paced(replay, speed, sleep):
        lines = [title, "", *board_lines(frame.game.board, symbols=symbols, color=color), "", frame.line]
        say(_REDRAW + "\n".join(lines))
    say(ending(replay))


def _paced(replay: Replay, speed: float, sleep: Callable[[float], None]) -> Iterator[Frame]:
    now = 0
    for frame in frames(replay):
        if speed > 0 and frame.at > now:
            sleep((frame.at - now) / 1000 / speed)
            now = frame.at
        yield frame
