"""A finished game played back on the board: at any speed, step by step and back; verified, saved, raced against."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from cellrace.errors import CellraceError
from cellrace.replay import Written
from cellrace.verifying import Check, read_keys, verify
from cellrace_client.connection.fetching import fetch
from cellrace_client.language import _, p_, spoken
from cellrace_client.replay_files import write_new_file
from cellrace_client.terminal.app.board_painter import NO_MARKS
from cellrace_client.terminal.app.desk import Desk
from cellrace_client.terminal.app.film import Film
from cellrace_client.terminal.app.screens.base import DeskScreen
from cellrace_client.terminal.app.screens.dialogs import LONGEST_PATH, TextQuestion, Told
from cellrace_client.terminal.app.screens.picking import race_replay
from cellrace_client.terminal.app.steps import LONGEST, boards_between
from cellrace_client.terminal.app.widgets.board_view import BoardView
from cellrace_client.terminal.app.widgets.film_lines import FilmBar, Sentence
from cellrace_client.terminal.app.widgets.lines import Key
from cellrace_client.terminal.move_words import tell_moves
from cellrace_client.terminal.playback import ending, heading
from cellrace_client.terminal.speech import decimal_text, length_text

TICK = 0.05
"""Seconds between two looks at a replay that runs."""
_LONGEST_LOOK = 1.0
"""Seconds that pass between two looks at most: the machine slept, or the program was stopped."""
_LEAP = 10
"""Entries."""


class ReplayScreen(DeskScreen):
    """A replay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "run", show=False),
        Binding("right", "step(1)", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("pagedown", f"step({_LEAP})", show=False),
        Binding("pageup", f"step(-{_LEAP})", show=False),
        Binding("home", "start", show=False),
        Binding("end", "end", show=False),
        Binding("up,plus,equals_sign", "faster(1)", show=False),
        Binding("down,minus", "faster(-1)", show=False),
        Binding("s", "save", show=False),
        Binding("v", "checks", show=False),
        Binding("g", "race", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(self, desk: Desk, written: Written, film: Film) -> None:
        super().__init__(desk)
        self._written = written
        self._film = film
        self._checks: tuple[Check, ...] | None = None
        self._ticking: Timer | None = None
        self._looked_at = 0.0

    def middle(self) -> Iterable[Widget]:
        """The board, how far it is, what has just happened, and whether it all holds."""
        yield BoardView(self.desk.taste, id="board")
        yield FilmBar(id="bar")
        yield Sentence(id="told")
        yield Sentence(id="verdict")

    def on_mount(self) -> None:
        """Checks the replay, and waits for the first key."""
        self._ticking = self.set_interval(TICK, self._run, pause=True)
        self.run_worker(self._verify(), name="verify")

    def head(self) -> tuple[str, str]:
        """Who played what, and how fast it is shown."""
        speed = f"×{decimal_text(self._film.speed) if self._film.speed % 1 else int(self._film.speed)}"
        state = p_("replay", "running") if self._film.running else p_("replay", "paused")
        return heading(self._written.replay), f"{state} {speed}"

    def keys(self) -> list[Key]:
        """What can be done now."""
        return [
            Key(_("Space"), "run", p_("key", "pause") if self._film.running else p_("key", "run")),
            Key("← →", "step(1)", _("step")),
            Key("+ -", "faster(1)", _("speed")),
            Key("g", "race", _("race it")),
            Key("s", "save", _("save")),
            Key("v", "checks", _("checks")),
            Key("Esc", "back", _("back")),
        ]

    def variant_id(self) -> str:
        """The game that was played."""
        return self._written.replay.variant

    # --- what is shown

    def look_at_middle(self) -> None:
        """The game at this time."""
        self._show_place()
        if not self._board.stepping:
            self._board.show(self._film.game.board)

    @property
    def _board(self) -> BoardView:
        return self.query_one("#board", BoardView)

    def _show_place(self) -> None:
        film = self._film
        done = f"{film.index}/{film.entries}"
        times = f"{length_text(int(film.at))} / {length_text(film.replay.ended)}"
        self.query_one("#bar", FilmBar).put(done, times, film.index, film.entries, letters=self.desk.taste.letters)
        self.query_one("#told", Sentence).put(self._told())
        self.query_one("#verdict", Sentence).put(*self._verdict())

    def _told(self) -> str:
        film = self._film
        if film.broken is not None and film.index == film.entries:
            return _("The next entry is illegal; nothing can be shown after it.")
        if film.ended:
            return ending(film.replay)
        if not film.index:
            return _("The game begins: space runs it, arrows step through it.")
        (told,), _after = tell_moves(film.before, [film.step], self.desk.taste.card_words)
        return f"{film.step[0]}  {told}"

    def _verdict(self) -> tuple[str, str]:
        """What came of the checks, and how it is shown."""
        checks = self._checks
        if checks is None:
            return _("It is being verified …"), "muted"
        failed = next((check for check in checks if not check.holds), None)
        if failed is None:
            return _("Verified: deal, moves, result and the server's signature hold."), "muted"
        return _("Not verified: {why}").format(why=failed.sentence), "wrong"

    def _show_entry(self, *, forward: bool) -> None:
        film = self._film
        through = boards_between(film.before.board, film.step) if forward and film.index else []
        # Steps that would take longer than there is until the next entry are left out.
        quick = film.running and film.speed > 1 / LONGEST
        self._board.show(film.game.board, NO_MARKS, () if quick or not self.desk.taste.steps else through)
        self._show_place()
        self.look_at_head()

    # --- time

    def _run(self) -> None:
        now = time.monotonic()
        passed, self._looked_at = min(now - self._looked_at, _LONGEST_LOOK) * 1000, now
        film, before = self._film, self._film.index
        if film.run(passed):
            self._show_entry(forward=film.index == before + 1)
        else:
            self._show_place()
        if not film.running:
            self._paced()

    def _paced(self) -> None:
        """Lets the clock run, or stand still, as the film does."""
        assert self._ticking is not None, "there is no key before this screen is mounted"
        if self._film.running:
            self._looked_at = time.monotonic()
            self._ticking.resume()
        else:
            self._ticking.pause()
        self.look()

    def on_screen_suspend(self) -> None:
        """Stands still while something else is shown."""
        if self._film.running:
            self._film.toggle()
            self._paced()

    # --- what is done

    def action_run(self) -> None:
        """Runs on, or pauses."""
        self._film.toggle()
        self._paced()

    def action_step(self, by: int) -> None:
        """Goes on by so many entries, or back."""
        self._seek(self._film.index + by, forward=by == 1)

    def action_start(self) -> None:
        """Goes to the start."""
        self._seek(0)

    def action_end(self) -> None:
        """Goes to the end."""
        self._seek(self._film.entries)

    def _seek(self, index: int, *, forward: bool = False) -> None:
        before = self._film.index
        self._film.seek(index)
        self._show_entry(forward=forward and self._film.index == before + 1)
        self._paced()

    def action_faster(self, by: int) -> None:
        """The next speed, or the one before."""
        self._film.faster(by)
        self.look()

    def _on_film_bar_wanted(self, event: FilmBar.Wanted) -> None:
        self._seek(round(event.part * self._film.entries))

    def action_save(self) -> None:
        """Asks for the file to write it to."""
        replay = self._written.replay
        proposed = Path(f"{replay.race}-{replay.player}").with_suffix(".json").name
        self.app.push_screen(TextQuestion(_("Save the replay as:"), LONGEST_PATH, proposed), self._save_as)

    def _save_as(self, text: str | None) -> None:
        if text is not None:
            self.ask(self._save(Path(text).expanduser()))

    async def _save(self, path: Path) -> None:
        await asyncio.to_thread(write_new_file, path, msgspec.json.encode(self._written.fields))
        told = _("Saved. Anyone can check it with: cellrace verify {file} --server {server}")
        self.say(told.format(file=shlex.quote(str(path)), server=self.desk.connection.url))

    async def _verify(self) -> None:
        text = msgspec.json.encode(self._written.fields)
        check = partial(checks_of, self.desk.connection.url, text)
        self._checks = await asyncio.to_thread(check)
        self.look()

    def action_checks(self) -> None:
        """Tells each check, and whether it holds."""
        if self._checks is not None:
            lines = [f"{'+' if check.holds else '!'} {check.sentence}" for check in self._checks]
            self.app.push_screen(Told(_("What was checked"), lines))

    def action_race(self) -> None:
        """Races against this game, on its deal."""
        self.ask_to_enter(race_replay(self.desk, self._written.replay))

    def action_back(self) -> None:
        """Goes back to where one came from."""
        self.desk.guide.back()


def checks_of(server: str, text: bytes) -> tuple[Check, ...]:
    """All checks of a replay, its signature by the keys that the server publishes; waits for these."""
    try:
        keys = read_keys(fetch(server, "/api/v1/keys"))
    except CellraceError:
        # Then the check of the key says that there is none.
        keys = {}
    return verify(text, keys, spoken())
