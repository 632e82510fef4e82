"""The daily challenge: how one's own attempts of a day stand, the time left, the board of the day, practice later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import OptionList, Static

from cellrace.variants import MAIN_VARIANTS
from cellrace_client.language import _
from cellrace_client.terminal.app.clock import next_second
from cellrace_client.terminal.app.day_book import DayBook
from cellrace_client.terminal.app.day_lines import day_at, day_lines, does, left_text
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.rows import day_row
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import begin_question
from cellrace_client.terminal.app.screens.picking import offer, show_replay
from cellrace_client.terminal.app.widgets.board_rows import BoardRows
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.app.widgets.options import Options
from cellrace_client.terminal.counts import players_counted
from cellrace_client.terminal.speech import day_text
from cellrace_client.terminal.titles import game_title

LOOK_EVERY = 10.0
"""Seconds between two looks at the day; the server does not push it."""
LOOK_SOON = 0.3
"""The same while one's own place is to come, as it does soon after the end of an attempt."""


class DailyScreen(DeskScreen):
    """A day of the daily challenge."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab,shift+tab", "other_list", show=False, priority=True),
        Binding("left", "day(-1)", show=False),
        Binding("right", "day(1)", show=False),
        Binding("r", "replay", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    DailyScreen #day { height: 1fr; }
    DailyScreen #left { width: 42; }
    DailyScreen #games { height: 8; }
    DailyScreen #board { height: 1fr; width: 1fr; }
    DailyScreen #told { height: 1fr; padding: 0 2; }
    DailyScreen OptionList { border: round $secondary 50%; background: $surface; padding: 0 1; }
    DailyScreen OptionList:focus { border: round $primary; }
    """

    def __init__(self, desk: Desk, variant: str | None = None) -> None:
        super().__init__(desk)
        self._book = DayBook(desk.connection, variant or desk.variant)
        self._looks = 10
        self._ticking: Timer | None = None

    def middle(self) -> Iterable[Widget]:
        """The games and what is to be known of one, then its board."""
        with Horizontal(id="day"):
            with Vertical(id="left"):
                yield Options(id="games", markup=False)
                yield Static(markup=False, id="told")
            yield BoardRows(id="board")

    @property
    def _games_list(self) -> Options:
        return self.query_one("#games", Options)

    @property
    def _board_list(self) -> BoardRows:
        return self.query_one("#board", BoardRows)

    @property
    def _does(self) -> str:
        return does(self._book.day, self._book.under_way)

    def on_mount(self) -> None:
        """Fills the screen."""
        self._games_list.focus()
        self._games_list.border_title = Content(_("Games"))
        self._load()
        self.set_interval(LOOK_EVERY, self._look_again)

    def on_screen_resume(self) -> None:
        """Looks at the day again: an attempt may have been made meanwhile."""
        self._load_again()

    def head(self) -> tuple[str, str]:
        """Which day it is, and how long it lasts."""
        day = self._book.day
        if day is None:
            return _("Daily challenge"), ""
        return _("Daily challenge of {date}").format(date=day.date), left_text(day, self.desk.now())

    def keys(self) -> list[Key]:
        """What can be done now."""
        words = {"play": _("play"), "on": _("go on"), "practise": _("practise"), "board": _("board")}
        keys = [
            Key("Enter", "play", words[self._does]),
            Key("← →", "day(-1)", _("day")),
            Key("Tab", "other_list", _("board")),
        ]
        if (day := self._book.day) is not None and day.you is not None and day.deal is not None:
            keys.append(Key("r", "replay", _("replay")))
        return [*keys, Key("F1", "rules", _("rules")), Key("Esc", "back", _("back"))]

    def variant_id(self) -> str:
        """The game that is marked."""
        return self._book.variant

    # --- what is asked

    def _load_again(self) -> None:
        if self.app.screen is self and self.is_here and self.desk.trouble is None:
            self._load()

    def _load(self) -> None:
        """Asks for everything anew."""
        self.ask(self._ask_for_day())

    def _look_again(self) -> None:
        if self.app.screen is self and self.is_here and self.desk.trouble is None:
            self.ask(self._ask_again())

    async def _ask_for_day(self) -> None:
        await self._book.ask()
        self._look_soon()

    async def _ask_again(self) -> None:
        await self._book.ask_again()
        self._look_soon()

    def _look_soon(self) -> None:
        if self._book.waits_for_place and self._looks and self.is_here:
            self._looks -= 1
            self.set_timer(LOOK_SOON, self._look_again)

    # --- what is shown

    def look_at_middle(self) -> None:
        """The day as it is now."""
        games = self._games_list
        width = max(20, games.content_size.width - 2)
        with games.prevent(OptionList.OptionHighlighted):
            # Only what a player marks is another choice.
            games.fill((name, Content(day_row(name, self._book.days.get(name), width))) for name in MAIN_VARIANTS)
            games.highlighted = MAIN_VARIANTS.index(self._book.variant)
        self._tell()
        self._show_board()
        self._tick()

    def _tell(self) -> None:
        book = self._book
        told = [] if book.day is None else day_lines(book.day, self._does, book.streak, self.desk.now())
        self.query_one("#told", Static).update(Content("\n").join(told))

    def _show_board(self) -> None:
        rows, found = self._board_list, self._book.board
        rows.border_title = Content(_("Board of the day"))
        subtitle = "" if found is None else players_counted(found.total) if found.total else _("nobody stands here yet")
        rows.border_subtitle = Content(subtitle)
        rows.put(found, self.desk.me)

    def _tick(self) -> None:
        """Counts the time left; what another day brings is asked for when it has begun."""
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
        day = self._book.day
        if day is not None and self.desk.now() < day.published_at:
            left = day.published_at - self.desk.now()
            self._ticking = self.set_timer(next_second(-left), self._on_second)

    def _on_second(self) -> None:
        day = self._book.day
        if day is not None and 0 <= self.desk.now() - day.closes_at < 1000:
            self._load_again()
        self.look_at_head()
        self._tell()
        self._tick()

    # --- what is done

    def _on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_list.id == "games" and event.option.id and event.option.id != self._book.variant:
            self._book.variant = event.option.id
            self.look()
            self.ask(self._book.ask_for_board())

    def _on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_list.id == "games":
            self.action_play()
        elif (row := self._board_list.row_of(event.option.id)) is not None:
            offer(self, row.player, row.race)

    def action_other_list(self) -> None:
        """Goes from the games to the board, or back."""
        board = self._board_list
        target = board if self.focused is self._games_list and board.option_count else self._games_list
        target.focus()
        if target.highlighted is None:
            target.highlighted = 0

    def action_day(self, by: int) -> None:
        """The day before, or after; none after today."""
        day = self._book.day
        if day is None:
            return
        wanted, today = day_at(day, by), day_text(self.desk.now())
        if wanted > today:
            self.say(_("Tomorrow's deal is a secret until tomorrow."))
        else:
            self.ask(self._ask_for_other_day(wanted, today=wanted == today))

    async def _ask_for_other_day(self, wanted: str, *, today: bool) -> None:
        await self._book.turn_to(wanted, today=today)
        self.say("")
        await self._ask_for_day()

    def action_play(self) -> None:
        """Begins the attempt, after saying that it counts; goes on with it; or deals a published day for practice."""
        day = self._book.day
        match self._does:
            case "practise" if day is not None:
                self.ask_to_enter(self._enter_practice(day.date))
            case "on":
                self.ask(self._go_on())
            case "board":
                self.say(_("You have used this day's attempt."))
                self.action_other_list()
            case _ if day is not None and self.desk.now() >= day.closes_at:
                self.say(_("This day is closed; its deal can be practised once it is published."))
            case _:
                dialog = begin_question(game_title(self._book.variant))
                self.app.push_screen(dialog, lambda sure: self.ask_to_enter(self._enter()) if sure else None)

    async def _go_on(self) -> None:
        # By its race: an attempt of yesterday may go on, and must not begin today's.
        day, race = self._book.day, self._book.under_way
        if race is None and day is not None and day.you is not None:
            race = (await self.desk.connection.sync(day.you.race)).race
        if race is not None:
            self.desk.guide.show_race(race)

    async def _enter(self) -> None:
        view = await self.desk.connection.start_daily(self._book.variant)
        self.desk.variant = self._book.variant
        self.desk.guide.show_race(view.race)

    async def _enter_practice(self, day: str) -> None:
        view = await self.desk.connection.practise(self._book.variant, day)
        self.desk.guide.show_race(view.race)

    def action_replay(self) -> None:
        """Plays one's own attempt back, once the day is published."""
        day = self._book.day
        if day is not None and day.you is not None:
            self.ask(show_replay(self.desk, day.you.race, self.desk.me))

    def action_back(self) -> None:
        """Goes back to where one came from."""
        self.desk.guide.back()
