"""Screens that may be gone before they were there: what a server says can take one away in the frame of its key."""

from __future__ import annotations

from textual import events
from textual.screen import ModalScreen, Screen, ScreenResultType


class FilledScreen(Screen[ScreenResultType]):
    """A screen that is made ready only where it is still shown, or lies under what is."""

    async def on_event(self, event: events.Event) -> None:
        """One that is gone already has nothing in it to be made ready."""
        if not (isinstance(event, events.Mount) and _is_gone(self)):
            await super().on_event(event)


class FilledModal(ModalScreen[ScreenResultType]):
    """The same over whatever is shown."""

    _was_answerable = False

    # Written again: Textual looks for a screen's style among its first bases only.
    async def on_event(self, event: events.Event) -> None:
        """One that is gone already has nothing in it to be made ready."""
        if not (isinstance(event, events.Mount) and _is_gone(self)):
            await super().on_event(event)

    @property
    def is_answerable(self) -> bool:
        """Whether what keys are for has had the focus: Textual gives it some messages after all is there."""
        self._was_answerable = self._was_answerable or self.focused is not None
        return self._was_answerable or (self.is_mounted and not self.focus_chain)


def _is_gone(screen: Screen[ScreenResultType]) -> bool:
    """Whether a screen was taken away, or the app has ended."""
    return not screen.app.is_running or screen not in screen.app.screen_stack
