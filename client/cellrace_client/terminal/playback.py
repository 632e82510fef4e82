"""A replay played back in a terminal: at any speed, or in plain lines. Pure but for what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple, assert_never

from cellrace.game import Game
from cellrace.messages import EntrantStatus, Replay
from cellrace.replay import play_again, start_of
from cellrace_client.language import _
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.counts import cards_counted, entries_counted
from cellrace_client.terminal.move_words import tell_moves
from cellrace_client.terminal.speech import length_text, printable
from cellrace_client.terminal.titles import game_title

_REDRAW = "\x1b[H\x1b[2J"


class Frame(NamedTuple):
    """The game at some time of the replay, and the line that tells what has just happened."""

    at: int
    line: str
    game: Game


def heading(replay: Replay) -> str:
    """Who played what, and when."""
    began = datetime.fromtimestamp(min(replay.start_at, 10**14) / 1000, UTC)
    told = (
        _("{name}, a bot: {game}, deal {deal}, on {date} at {time} UTC")
        if replay.bot
        else _("{name}: {game}, deal {deal}, on {date} at {time} UTC")
    )
    return printable(
        told.format(
            name=replay.name,
            game=game_title(replay.variant),
            deal=replay.deal,
            date=began.strftime(_("%Y-%m-%d")),
            time=f"{began:%H:%M}",
        )
    )


def ending(replay: Replay) -> str:
    """How the game ended, as the replay says."""
    result, name, entries = replay.result, printable(replay.name), entries_counted(len(replay.moves))
    if result.status is EntrantStatus.WON and result.time is not None:
        return _("{name} has won in {time}, with {entries}.").format(
            name=name, time=length_text(result.time), entries=entries
        )
    cards = cards_counted(result.home)
    return _("{what} after {time}, with {cards} home and {entries}.").format(
        what=_ended(result.status).format(name=name), time=length_text(replay.ended), cards=cards, entries=entries
    )


def _ended(status: EntrantStatus) -> str:
    match status:
        case EntrantStatus.CONCEDED:
            return _("{name} conceded")
        case EntrantStatus.TIMED_OUT:
            return _("{name} ran out of time")
        case EntrantStatus.FORFEITED:
            return _("{name} forfeited")
        case EntrantStatus.ABANDONED:
            return _("{name} did not come back")
        case EntrantStatus.JOINED | EntrantStatus.READY | EntrantStatus.PLAYING | EntrantStatus.WON:
            return _("{name} stopped")
        case never:
            assert_never(never)


def frames(replay: Replay) -> Iterator[Frame]:
    """The start, then each entry of the log in its turn. Raises IllegalMove, UnknownVariant, UnknownDeal."""
    before = start_of(replay)
    yield Frame(0, _("The game begins, {entries} to come.").format(entries=entries_counted(len(replay.moves))), before)
    for number, (at, step, game) in enumerate(play_again(replay), 1):
        (told,), _after = tell_moves(before, [step])
        yield Frame(at, f"{number:>4}  {length_text(at):>9}  {step[0]:<4}  {told}", game)
        before = game


def play_plainly(
    replay: Replay, speed: float, say: Callable[[str], None], sleep: Callable[[float], None], *, symbols: bool = False
) -> None:
    """A line for each entry, and the last board; at a speed of 0 without waiting."""
    say(heading(replay))
    last = None
    for frame in _paced(replay, speed, sleep):
        say(frame.line)
        last = frame
    if last is not None:
        say("")
        for line in board_lines(last.game.board, symbols=symbols):
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
