"""One entrant's game as a node holds it: a cache of the log, and the game that the log makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cellrace.autoplay import Autoplay
from cellrace.board import Board, dealt_board
from cellrace.deals import Layout, deal
from cellrace.game import Game
from cellrace.messages import DealtCards, Placement, Settings, dealt_cards
from cellrace.variants import find_variant
from cellrace_server.core.facts import Tally
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.store.races import Entry


class Start:
    """What every entrant of a race begins with: the layout, and the board that it makes."""

    def __init__(self, settings: Settings, number: int) -> None:
        variant = find_variant(settings.variant)
        self.layout: Layout = deal(variant, number)
        self.board: Board = dealt_board(variant, self.layout, laid=settings.placement is Placement.FIXED)
        self._autoplay = Autoplay(settings.autoplay)
        self._undo = settings.undo

    @property
    def cards(self) -> DealtCards:
        """The layout as it is told."""
        return dealt_cards(self.board.variant, self.layout)

    def ghost_game(self, ghost: GhostGame) -> Game:
        """A ghost's game without entries, under the rules that it was played by."""
        board = dealt_board(self.board.variant, self.layout, laid=ghost.placement is Placement.FIXED)
        return Game(board, ghost.autoplay, ghost.undo)

    def game(self) -> Game:
        """A game without entries."""
        return Game(self.board, self._autoplay, self._undo)


class Play:
    """The entries of one entrant's log and the game after them."""

    __slots__ = ("entries", "game")

    def __init__(self, game: Game, entries: Iterable[Entry] = ()) -> None:
        self.entries: list[Entry] = []
        self.game = game
        self.extend(list(entries))

    def extend(self, entries: Sequence[Entry]) -> None:
        """Take in entries that are on record."""
        self.game, _ = self.game.play_all(entry.move for entry in entries)
        self.entries += entries

    def record(self, game: Game, entries: Sequence[Entry]) -> None:
        """Take in entries whose game is known already."""
        self.game = game
        self.entries += entries

    @property
    def tally(self) -> Tally:
        """How far the game has come."""
        return tally_of(self.game)

    @property
    def moves(self) -> tuple[str, ...]:
        """The entries as they were sent."""
        return tuple(entry.move for entry in self.entries)

    def holds(self, seq: int, moves: Sequence[str]) -> bool:
        """Whether these very entries are on record from `seq` on."""
        known = self.entries[seq : seq + len(moves)]
        return len(known) == len(moves) and all(e.move == move for e, move in zip(known, moves, strict=True))


def tally_of(game: Game) -> Tally:
    """The counts of a game."""
    return Tally(game.seq, game.board.cards_home, game.moves, game.undos)
