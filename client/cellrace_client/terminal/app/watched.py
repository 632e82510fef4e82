"""The games of others, played on as their moves come in: each entry once, however long the log."""

from __future__ import annotations

from cellrace.errors import CellraceError
from cellrace.game import Game
from cellrace_client.race_view import RaceView


class WatchedGames:
    """The games of one race as far as they are told."""

    def __init__(self) -> None:
        self._games: dict[str, tuple[tuple[str, ...], Game]] = {}

    def game(self, view: RaceView, player: str) -> Game | None:
        """The game of a player now; None before the start, or where a log is none."""
        log = view.log_of(player)
        known = self._games.get(player)
        first = view.first_game()
        if first is None:
            return None
        if known is None or log[: len(known[0])] != known[0]:
            known = ((), first)
        played, game = known
        try:
            game, _steps = game.play_all(log[len(played) :])
        except CellraceError:
            return None
        self._games[player] = (log, game)
        return game
