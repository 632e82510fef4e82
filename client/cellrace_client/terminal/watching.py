"""A race as it is told to somebody who watches: moves as they are shown, boards now and then. Pure."""

from __future__ import annotations

from typing import assert_never

from cellrace.errors import CellraceError
from cellrace.game import Game
from cellrace.messages import MovedPush, Spectate
from cellrace_client.events import Happened
from cellrace_client.language import _, n_
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.move_words import home_words, tell_moves
from cellrace_client.terminal.progress import Teller

MOST_MOVES = 8
"""So many moves at once are told one by one; of more, as of all that was held back, only the number."""


def tell_moved(event: Happened, push: MovedPush) -> list[str]:
    """What somebody has played, as far as it was not known before."""
    name = event.view.name(push.player)
    known = len(event.before.log_of(push.player))
    new = event.view.log_of(push.player)[known:]
    if not new:
        return []
    if len(new) > MOST_MOVES:
        told = n_("{name} has played {count} move.", "{name} has played {count} moves.", len(new))
        return [told.format(name=name, count=len(new))]
    before = _game(event.before, push.player)
    if before is None:
        return []
    _after, steps = before.play_all(new)
    of_somebody = _("{name}: {sentence}")
    return [of_somebody.format(name=name, sentence=sentence) for sentence in tell_moves(before, steps)[0]]


def first_board_lines(view: RaceView) -> list[str]:
    """The board that all begin with, and when moves are shown; nothing before the start."""
    game = view.first_game()
    return [_("All begin with this board:"), *board_lines(game.board), *_when_shown(view)] if game else []


def _when_shown(view: RaceView) -> list[str]:
    match view.settings.spectate:
        case _ if view.ended:
            return []
        case Spectate.DELAYED:
            return [_("Moves are shown 60 s late.")]
        case Spectate.AFTER:
            return [_("Moves are shown after the race.")]
        case Spectate.LIVE:
            return []
        case never:
            assert_never(never)


def board_of(view: RaceView, player: str) -> list[str]:
    """The board of somebody as far as their moves are shown; nothing before the start."""
    entrant, game = view.entrant(player), _game(view, player)
    if game is None:
        return []
    if entrant is not None and entrant.seq and not game.seq:
        return [_("No move of {name} is shown yet.").format(name=view.name(player))]
    title = _("The board of {name}:").format(name=view.name(player))
    return [title, *board_lines(game.board), home_words(game)]


def shown_boards(view: RaceView) -> dict[str, int]:
    """Those who play and of whom moves are shown, and how many."""
    playing = (entrant.player.id for entrant in view.entrants if entrant.status not in DONE)
    return {player: len(log) for player in playing if (log := view.log_of(player))}


def _game(view: RaceView, player: str) -> Game | None:
    try:
        return view.game_of(player)
    except CellraceError:
        # A log that our rules do not know: of a server of a later version.
        return None


class BoardTeller(Teller):
    """Tells the boards of those who play, each when it has changed, and at most once an interval."""

    def tell(self, now: float) -> list[str]:
        """The boards, if it is time for them."""
        news = self._news()
        if self._latest is None or not news or now < self._told_at + self._interval:
            return []
        self._told_at = now
        self._told.update(news)
        return [line for player in news for line in board_of(self._latest, player)]

    def _news(self) -> dict[str, int]:
        if self._latest is None:
            return {}
        return {player: seq for player, seq in shown_boards(self._latest).items() if seq != self._told.get(player)}
