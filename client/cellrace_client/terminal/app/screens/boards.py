"""Leaderboards: of every kind and game, page by page, with one's own row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from cellrace.deals import LAST_DEAL
from cellrace.messages import Leaderboard, LeaderboardGet
from cellrace.variants import MAIN_VARIANTS, VARIANTS
from cellrace_client.language import _
from cellrace_client.terminal.app.day_book import MOST_ROWS
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.fitting import fitted
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu, TextQuestion
from cellrace_client.terminal.app.screens.picking import offer
from cellrace_client.terminal.app.widgets.board_rows import BoardRows
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.tabs import Tabs
from cellrace_client.terminal.competing import BOARDS, Asked, board_title
from cellrace_client.terminal.counts import players_counted
from cellrace_client.terminal.titles import game_title

_LONGEST_ASKED = 10
"""Characters of a day, as of the number of the last deal."""


def board_name(board: str) -> str:
    """What a leaderboard is called, in a word."""
    return {
        "daily": _("daily"),
        "streak": _("streaks"),
        "rating": _("ratings"),
        "best": _("fastest"),
        "deal": _("of a deal"),
    }[board]


class BoardsScreen(DeskScreen):
    """One leaderboard, and the way to the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "board(-1)", show=False),
        Binding("right", "board(1)", show=False),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("g", "game", show=False),
        Binding("o", "own", show=False),
        Binding("t", "top", show=False),
        Binding("b", "bots", show=False),
        Binding("d", "which", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    BoardsScreen OptionList, BoardsScreen OptionList:focus {
        height: 1fr; border: round $primary; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, desk: Desk, board: str = "rating") -> None:
        super().__init__(desk)
        self._board = board
        self._variant = desk.variant
        self._bots = True
        self._date: str | None = None
        self._deal: int | None = None
        self._offset = 0
        self._asked_for = 0
        self._found: Leaderboard | None = None

    def middle(self) -> Iterable[Widget]:
        """The boards there are, and the rows of one."""
        yield Tabs(id="boards")
        yield BoardRows(id="rows")

    def on_mount(self) -> None:
        """Fills the screen."""
        self._list.focus()
        # How many rows a page has is known once it is laid out.
        self.call_after_refresh(self._load)

    @property
    def _list(self) -> BoardRows:
        return self.query_one("#rows", BoardRows)

    def head(self) -> tuple[str, str]:
        """What this is, and how many stand there."""
        found = self._found
        return _("Leaderboards"), "" if found is None else players_counted(found.total)

    def keys(self) -> list[Key]:
        """What can be done now."""
        bots = _("no bots") if self._bots else _("with bots")
        keys = [Key("← →", "board(1)", _("board")), Key("g", "game", _("game")), Key("b", "bots", bots)]
        if self._board == "deal":
            keys.append(Key("d", "which", _("which deal")))
        elif self._board == "daily":
            keys.append(Key("d", "which", _("which day")))
        if self._found is not None and self._found.you is not None:
            keys.append(Key("o", "own", _("own row")))
        if self._found is not None and self._found.total > len(self._found.rows):
            keys.append(Key("PgDn", "page(1)", _("more")))
        return [*keys, Key("Esc", "back", _("back"))]

    def variant_id(self) -> str:
        """The game whose boards are shown."""
        return self._variant

    # --- what is shown

    def look_at_middle(self) -> None:
        """The board as it was found."""
        self.query_one("#boards", Tabs).put([board_name(board) for board in BOARDS], BOARDS.index(self._board))
        rows = self._list
        title = board_title(self._board, self._variant, Asked(self._date, self._deal))
        if self._board == "deal" and self._deal is None:
            title = game_title(self._variant)
        rows.border_title = Content(fitted(title, self.size.width - 6).rstrip())
        rows.border_subtitle = Content(self._subtitle())
        rows.put(self._found, self.desk.me)

    def _subtitle(self) -> str:
        found = self._found
        if self._board == "deal" and self._deal is None:
            return _("press d and type the number of a deal")
        if found is None:
            return ""
        if not found.rows:
            return _("nobody stands here yet")
        # Of rows around one's own it is not known how many stand above; their places are.
        first, last = found.rows[0].place, found.rows[-1].place
        told = _("places {first} to {last}").format(first=first, last=last)
        if first == last:
            told = _("place {place}").format(place=first)
        return told if self._bots else f"{told}, {_('without bots')}"

    # --- what is asked

    @property
    def _room(self) -> int:
        """How many rows of the board a page has; two are for one's own."""
        return max(2, min(MOST_ROWS, self._list.content_size.height - 2))

    def _load(self, *, around: bool = False) -> None:
        if self._board == "deal" and self._deal is None:
            self._found = None
            self._list.clear_options()
            self.look()
            return
        self._asked_for = self._room
        request = LeaderboardGet(
            board=self._board,
            variant=self._variant,
            date=self._date if self._board == "daily" else None,
            deal=self._deal if self._board == "deal" else None,
            bots=self._bots,
            limit=self._asked_for,
            offset=0 if around else self._offset,
            around=around,
        )
        self.ask(self._ask_for(request))

    async def _ask_for(self, request: LeaderboardGet) -> None:
        found = await self.desk.connection.leaderboard(request)
        if not self.is_here or (found.board, found.variant) != (self._board, self._variant):
            # Another board was asked for meanwhile.
            return
        if request.around and found.you is not None and found.you in found.rows:
            # Near one's place, as far as places are shared.
            own = found.you.place - 1 - found.rows.index(found.you)
            self._offset = max(0, min(own, found.total - len(found.rows)))
        self._found = found
        self.look()
        if request.around and found.you in found.rows:
            self._list.highlighted = found.rows.index(found.you)

    # --- what is done

    def _anew(self) -> None:
        self._offset, self._found = 0, None
        self._list.clear_options()
        self.say("")
        self._load()

    def action_board(self, by: int) -> None:
        """The next board, or the one before."""
        self._board = BOARDS[(BOARDS.index(self._board) + by) % len(BOARDS)]
        if self._board in ("daily", "streak") and self._variant not in MAIN_VARIANTS:
            self._variant = MAIN_VARIANTS[0]
        self._anew()

    def _on_tabs_chosen(self, event: Tabs.Chosen) -> None:
        self.action_board(event.index - BOARDS.index(self._board))

    def action_page(self, by: int) -> None:
        """The next page, or the one before."""
        found = self._found
        if found is None:
            return
        offset = max(0, self._offset + by * self._room)
        if offset < found.total and offset != self._offset:
            self._offset = offset
            self._load()

    def action_top(self) -> None:
        """The best."""
        self._offset = 0
        self._load()

    def action_own(self) -> None:
        """The rows around one's own."""
        if self._found is not None and self._found.you is None:
            self.say(_("You do not stand on this board yet."))
            return
        self._load(around=True)

    def action_bots(self) -> None:
        """With bots, or without."""
        self._bots = not self._bots
        self._anew()

    def action_game(self) -> None:
        """Asks which game."""
        games = MAIN_VARIANTS if self._board in ("daily", "streak") else tuple(VARIANTS)
        choices = [Choice(name, game_title(name)) for name in games]
        self.app.push_screen(Menu(_("Game"), choices, self._variant), self._game_chosen)

    def _game_chosen(self, variant: str | None) -> None:
        if variant is not None:
            self._variant = variant
            self._anew()

    def action_which(self) -> None:
        """Asks which deal, or which day."""
        if self._board == "deal":
            self.app.push_screen(TextQuestion(_("The number of the deal:"), _LONGEST_ASKED), self._deal_typed)
        elif self._board == "daily":
            self.app.push_screen(TextQuestion(_("The day, as YYYY-MM-DD:"), _LONGEST_ASKED), self._date_typed)

    def _deal_typed(self, text: str | None) -> None:
        if text is None:
            return
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= LAST_DEAL):
            self.say(_("A deal is a number from 1 to {last}.").format(last=LAST_DEAL), refusal=True)
            return
        self._deal = int(text)
        self._anew()

    def _date_typed(self, text: str | None) -> None:
        if text is not None:
            self._date = text
            self._anew()

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if (row := self._list.row_of(event.option.id)) is not None:
            offer(self, row.player, row.race)

    def on_resize(self) -> None:
        """As many rows as there is room for now."""
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if self._found is not None and self._room != self._asked_for:
            self._load()

    def action_back(self) -> None:
        """Goes back to where one came from."""
        self.desk.guide.back()
