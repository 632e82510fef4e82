"""A race as one client knows it: a frozen value, made from a `race` answer and carried on push by push. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from msgspec import structs

from cellrace.board import dealt_board
from cellrace.cards import NO_CARD, parse_card
from cellrace.deals import Layout
from cellrace.errors import CellraceError, InvalidText
from cellrace.game import Game
from cellrace.messages import (
    Entrant,
    EntrantStatus,
    Moved,
    Placement,
    RaceAnswer,
    RaceKind,
    RaceState,
    Settings,
    Standing,
)
from cellrace.variants import VARIANTS, Variant
from cellrace_client.verdict import VERDICT_SENTENCES, Dealt, Verdict, judge_deal

DONE = (
    *(EntrantStatus.WON, EntrantStatus.CONCEDED, EntrantStatus.TIMED_OUT),
    *(EntrantStatus.FORFEITED, EntrantStatus.ABANDONED),
)
"""The statuses of an entrant whose game has ended."""
ENDED = (RaceState.OVER, RaceState.CANCELLED)


@dataclass(frozen=True, slots=True)
class RaceView:
    """What one player knows of a race; what happens gives a new one (see `hearing.hear`).

    `player` is the one who looks. `game` and `log` are that player's own, from the start on; `logs` are the others',
    as far as they are told. `verdict` says whether the deal is the one that the server committed itself to.
    """

    race: str
    player: str
    version: int
    state: RaceState
    kind: RaceKind
    settings: Settings
    host: str
    created_at: int
    entrants: tuple[Entrant, ...]
    code: str | None = None
    commitment: str | None = None
    start_at: int | None = None
    parent: str | None = None
    successor: str | None = None
    dealt: Dealt | None = None
    verdict: Verdict = Verdict.SECRET
    game: Game | None = None
    log: tuple[str, ...] = ()
    logs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    standings: tuple[Standing, ...] | None = None

    @classmethod
    def of(cls, answer: RaceAnswer, player: str, before: RaceView | None = None) -> Self:
        """The view that an answer tells; `before` remembers the commitment that was published first.

        Raises CellraceError when the cards or moves in it are none.
        """
        view = cls(
            race=answer.race,
            player=player,
            version=answer.version,
            state=answer.state,
            kind=answer.kind,
            settings=answer.settings,
            host=answer.host,
            created_at=answer.created_at,
            entrants=answer.entrants,
            code=answer.code,
            commitment=_first_commitment(answer, before),
            start_at=answer.start_at,
            parent=answer.parent,
            successor=answer.successor,
            logs=tuple((log.player, log.moves) for log in answer.logs or ()),
            standings=answer.standings,
        )
        if answer.layout is not None:
            dealt = read_dealt(
                view.variant, answer.layout, answer.cells, answer.reserve, deal=answer.deal, salt=answer.salt
            )
            view = view.with_deal(dealt)
        if answer.you is not None and view.game is not None:
            game, _ = view.game.play_all(answer.you.moves)
            view = replace(view, game=game, log=answer.you.moves)
        return view

    @property
    def variant(self) -> Variant | None:
        """The game that is raced; None when this program does not know it."""
        return VARIANTS.get(self.settings.variant)

    @property
    def me(self) -> Entrant | None:
        """Oneself, when one is an entrant."""
        return self.entrant(self.player)

    @property
    def rivals(self) -> tuple[Entrant, ...]:
        """The other entrants."""
        return tuple(entrant for entrant in self.entrants if entrant.player.id != self.player)

    @property
    def ghosts(self) -> frozenset[str]:
        """The ids of those entrants who are finished games."""
        return frozenset(entrant.player.id for entrant in self.entrants if entrant.ghost)

    @property
    def seated(self) -> int:
        """How many have a seat."""
        return seated(self.entrants)

    @property
    def is_host(self) -> bool:
        """Whether one is the host."""
        return self.host == self.player

    @property
    def ended(self) -> bool:
        """Whether the race is over or cancelled."""
        return self.state in ENDED

    @property
    def playing(self) -> bool:
        """Whether one can move now: the race runs and one's own game has not ended."""
        me = self.me
        return self.state is RaceState.RUNNING and me is not None and me.status not in DONE and self.game is not None

    @property
    def lacks_logs(self) -> bool:
        """Whether one may see more of the others' games than was told: what they played before one's own had ended."""
        me = self.me
        may_see = me is not None and (me.status in DONE or self.state is RaceState.OVER)
        return may_see and any(len(self.log_of(rival.player.id)) < rival.seq for rival in self.rivals)

    def entrant(self, player: str) -> Entrant | None:
        """The entrant of a player's id."""
        return next((entrant for entrant in self.entrants if entrant.player.id == player), None)

    def name(self, player: str) -> str:
        """The name of a player in the race, or the id of one who is not."""
        entrant = self.entrant(player)
        return entrant.player.name if entrant else player

    def log_of(self, player: str) -> tuple[str, ...]:
        """The log of a player, as far as it is told."""
        if player == self.player and self.game is not None:
            return self.log
        return dict(self.logs).get(player, ())

    def game_of(self, player: str) -> Game | None:
        """The game of a player as far as it is told; None before the start.

        Raises IllegalMove when its log is none.
        """
        if player == self.player and self.game is not None:
            return self.game
        game = self.first_game()
        return game.play_all(self.log_of(player))[0] if game else None

    def first_game(self) -> Game | None:
        """The game as everybody began it; None before the start."""
        if self.dealt is None or self.variant is None:
            return None
        board = dealt_board(self.variant, self.dealt.layout, laid=self.settings.placement is Placement.FIXED)
        return Game(board, self.settings.autoplay, self.settings.undo)

    def with_deal(self, dealt: Dealt | None) -> Self:
        """The view with the layout that was dealt, judged against the commitment."""
        if dealt is None or self.variant is None:
            return self
        told = replace(self, dealt=dealt, verdict=judge_deal(self.variant, self.commitment, dealt))
        return replace(told, game=told.first_game()) if told.me else told

    def moved(self, answer: Moved) -> Self | None:
        """The view after one's own moves; None when they do not follow what is known: ask `race.sync`."""
        if self.game is None:
            return None
        if answer.seq <= self.game.seq:
            return self
        moves = tuple(step[0] for step in answer.steps if step)
        if answer.seq != self.game.seq + len(moves):
            return None
        try:
            game, _ = self.game.play_all(moves)
        except CellraceError:
            return None
        entrants = changed(
            self.entrants, self.player, seq=game.seq, home=answer.home, moves=game.moves, undos=game.undos
        )
        if answer.won:
            # The fact that follows tells the time and the place.
            entrants = changed(entrants, self.player, status=EntrantStatus.WON)
        return replace(self, game=game, log=self.log + moves, entrants=entrants)


def goes_on(view: RaceView) -> bool:
    """Whether a race has not ended, and one's own game in it neither."""
    return not view.ended and view.me is not None and view.me.status not in DONE


def newest_going_on(views: Iterable[RaceView]) -> RaceView | None:
    """The race that one is in, of several the newest."""
    return max(filter(goes_on, views), key=lambda view: view.created_at, default=None)


def changed(entrants: tuple[Entrant, ...], player: str, **fields: object) -> tuple[Entrant, ...]:
    """The entrants, of whom one has other fields."""
    return tuple(structs.replace(entrant, **fields) if entrant.player.id == player else entrant for entrant in entrants)


def seated(entrants: Iterable[Entrant]) -> int:
    """How many entrants have a seat: ghosts need none."""
    return sum(not entrant.ghost for entrant in entrants)


def read_dealt(
    variant: Variant | None,
    columns: Sequence[Sequence[str]],
    cells: Sequence[str | None] | None,
    reserve: Sequence[str] | None,
    *,
    deal: int | None,
    salt: str | None,
) -> Dealt | None:
    """A layout in the engine's form; None for a game that this program does not know. Raises InvalidText."""
    if variant is None:
        return None
    held = [NO_CARD if card is None else parse_card(card) for card in cells or ()]
    held += [NO_CARD] * (variant.cells - len(held))
    layout = Layout(
        tuple(bytes(map(parse_card, column)) for column in columns), bytes(held), bytes(map(parse_card, reserve or ()))
    )
    if not _is_dealt(variant, layout):
        raise InvalidText(VERDICT_SENTENCES[Verdict.WRONG_LAYOUT])
    return Dealt(layout, deal, salt)


def _is_dealt(variant: Variant, layout: Layout) -> bool:
    """Whether a layout has the piles of a game as they are dealt, and its pack in them."""
    piles = (*map(len, layout.columns), len(layout.cells), len(layout.reserve))
    cards = sorted(card for card in b"".join((*layout.columns, layout.cells, layout.reserve)) if card != NO_CARD)
    return piles == (*variant.columns, variant.cells, variant.reserve) and cards == sorted(variant.pack)


def _first_commitment(answer: RaceAnswer, before: RaceView | None) -> str | None:
    if before is None or before.commitment is None or before.start_at != answer.start_at:
        # Another start is another draw: the race was open again in between.
        return answer.commitment
    return before.commitment
