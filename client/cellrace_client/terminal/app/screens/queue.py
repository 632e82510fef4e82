"""Quick match: waiting for a stranger, who may be farther away in rating the longer one waits, or for a bot."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from math import isinf
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Digits, Static

from cellrace.errors import ErrorCode, Refused
from cellrace.queueing import BOT_AFTER, range_after
from cellrace.variants import VARIANTS
from cellrace_client.events import Back, Dropped, Event, Matched
from cellrace_client.language import _, n_
from cellrace_client.terminal.app.clock import clock_text, next_second
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import Choice, Menu
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.speech import whole_seconds
from cellrace_client.terminal.titles import game_title


class QueueScreen(DeskScreen):
    """Somebody who waits to be matched: from the moment this is shown until it is left, over every drop."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "change(-1)", show=False),
        Binding("right", "change(1)", show=False),
        Binding("g", "game", show=False),
        Binding("b", "bots", show=False),
        Binding("escape", "back", show=False),
    ]
    DEFAULT_CSS = """
    QueueScreen #waiting { height: 1fr; padding: 1 2; }
    QueueScreen #waiting Static { width: 1fr; height: auto; text-align: center; }
    QueueScreen Digits { width: 1fr; text-align: center; color: $accent; height: 3; margin: 1 0; }
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._known = frozenset(desk.connection.races)
        self._joined: tuple[str, bool] | None = None
        self._since = 0
        self._count = 0
        self._rating: int | None = None
        self._matched = False
        self._left = False
        self._turn = asyncio.Lock()
        self._ticking: Timer | None = None

    def middle(self) -> Iterable[Widget]:
        """What is waited for, for how long, and who will do by now."""
        with Vertical(id="waiting"):
            yield Static(markup=False, id="what")
            yield Digits("", id="waited")
            yield Static(markup=False, id="who")

    def on_mount(self) -> None:
        """Waits from now on."""
        self.ask(self._wait())
        self.ask(self._ask_for_rating())

    def head(self) -> tuple[str, str]:
        """What this is, and of which game."""
        return _("Quick match"), game_title(self.desk.variant)

    def keys(self) -> list[Key]:
        """What can be done now."""
        bots = _("no bots") if self.desk.queue_bots else _("a bot will do")
        return [
            Key("Esc", "back", _("stop waiting")),
            Key("← →", "change(1)", _("game")),
            Key("g", "game", _("games")),
            Key("b", "bots", bots),
            Key("F1", "rules", _("rules")),
        ]

    # --- waiting

    def hear(self, event: Event) -> None:
        """A drop has left the queue: it is joined again, unless a rival was found just before."""
        match event:
            case Matched():
                self._matched = True
                self.say(_("A rival is found."))
            case Dropped():
                self._joined = None
            case Back():
                self.ask(self._wait_again())
            case _:
                pass
        super().hear(event)

    async def _wait_again(self) -> None:
        found = await self.desk.connection.missed_match(self._known)
        if found is not None and not self._left:
            self._matched = True
            self.desk.guide.show_race(found.race)
        else:
            await self._wait()

    async def _wait(self) -> None:
        """Waits for what is wanted now; one change after the other."""
        async with self._turn:
            wanted = (self.desk.variant, self.desk.queue_bots)
            if self._left or self._matched or wanted == self._joined:
                return
            connection = self.desk.connection
            if self._joined is not None:
                await connection.leave_queue()
                self._joined = None
            try:
                self._count = await connection.queue(wanted[0], bots=wanted[1])
            except Refused as refused:
                if refused.code != ErrorCode.ALREADY_QUEUED:
                    raise
                # For something else, before a drop that the server has not noticed yet.
                await connection.leave_queue()
                self._count = await connection.queue(wanted[0], bots=wanted[1])
            self._joined, self._since = wanted, self.desk.now()
            if self._left:
                await connection.leave_queue()
        self.look()

    async def _ask_for_rating(self) -> None:
        games = (await self.desk.connection.player_record()).games
        record = games.get(self.desk.variant)
        self._rating = None if record is None else record.rating
        self.look()

    def _stop(self) -> None:
        if not self._left:
            self._left = True
            if not self._matched:
                # Also where one does not wait, as far as is known here: a server that went may not have noticed yet.
                self.ask(self.desk.connection.leave_queue())

    # --- what is shown

    def look_at_middle(self) -> None:
        """How the waiting goes."""
        self._show()
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
        if self._joined is not None and not self._matched:
            self._ticking = self.set_timer(next_second(self.desk.now() - self._since), self.look)

    def _show(self) -> None:
        what, waited = self.query_one("#what", Static), self.query_one("#waited", Digits)
        variant, bots = self.desk.variant, self.desk.queue_bots
        lines = [Content(f"‹ {game_title(variant)} ›").stylize("bold")]
        lines.append(Content(_("a ranked race of two, by the usual settings")))
        what.update(Content("\n").join(lines))
        if self._joined is None:
            waited.update("")
            self.query_one("#who", Static).update(Content(_("Joining the queue …")))
            return
        ms = self.desk.now() - self._since
        waited.update(clock_text(ms))
        lines = [Content(_waiting_line(self._count - 1)).stylize("$accent"), Content(self._range_line(ms))]
        lines.append(Content(_bots_line(ms, bots=bots)))
        self.query_one("#who", Static).update(Content("\n").join(lines))

    def _range_line(self, ms: int) -> str:
        apart = range_after(ms)
        if isinf(apart):
            return _("A rival of any rating will do now.")
        if self._rating is None:
            return _("A rival's rating may be up to {range} away from yours by now.").format(range=round(apart))
        return _("Your rating is {rating}; a rival's may be {least} to {most} by now.").format(
            rating=self._rating, least=max(0, self._rating - round(apart)), most=self._rating + round(apart)
        )

    # --- what is done

    def action_change(self, by: int) -> None:
        """The next game, or the one before."""
        games = list(VARIANTS)
        self._choose(games[(games.index(self.desk.variant) + by) % len(games)])

    def action_game(self) -> None:
        """Asks which game."""
        choices = [Choice(name, game_title(name)) for name in VARIANTS]
        self.app.push_screen(Menu(_("Game"), choices, self.desk.variant), self._choose)

    def _choose(self, variant: str | None) -> None:
        if variant is not None and variant != self.desk.variant:
            self.desk.variant = variant
            self._rating = None
            self._anew()
            self.ask(self._ask_for_rating())

    def action_bots(self) -> None:
        """Whether a bot will do as a rival."""
        self.desk.queue_bots = not self.desk.queue_bots
        self._anew()

    def _anew(self) -> None:
        self.look()
        self.ask(self._wait())

    def action_back(self) -> None:
        """Waits no more."""
        self._stop()
        self.desk.guide.back()


def _waiting_line(others: int) -> str:
    if others < 1:
        return _("Waiting for a rival; nobody else waits yet …")
    told = n_("Waiting for a rival, {count} other waits …", "Waiting for a rival, {count} others wait …", others)
    return told.format(count=others)


def _bots_line(ms: int, *, bots: bool) -> str:
    if not bots:
        return _("People only; press b if a bot will do.")
    if ms < BOT_AFTER:
        seconds = whole_seconds(BOT_AFTER - ms)
        told = n_(
            "In {count} second a bot will do, if one is here.",
            "In {count} seconds a bot will do, if one is here.",
            seconds,
        )
        return told.format(count=seconds)
    return _("A bot will do now, if one is here.")
