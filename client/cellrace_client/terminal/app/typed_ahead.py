"""What is typed ahead of a question waits until that can be answered: its first letters would be for nobody."""

from __future__ import annotations

from collections import deque
from typing import TypeVar

from textual import events

from cellrace_client.terminal.app.screens.filled import FilledModal
from cellrace_client.terminal.app.tasting import TastefulApp

T = TypeVar("T")


class PatientApp(TastefulApp[T]):
    """An app in which keys keep their order, and each is for what is shown when its turn comes."""

    def __init__(self) -> None:
        super().__init__()
        # Bounded by how much somebody types in the moment in which a question is drawn.
        self._typed_ahead: deque[events.Key] = deque()

    async def on_event(self, event: events.Event) -> None:
        """Everything at once, but keys in their order, and not before there is something that they are for."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await self.deal_with(event)
            return
        others_wait = bool(self._typed_ahead)
        self._typed_ahead.append(event)
        if not others_wait:
            await self._deal_with_what_was_typed()

    async def deal_with(self, event: events.Event) -> None:
        """What happens at an event whose turn has come."""
        await super().on_event(event)

    async def _deal_with_what_was_typed(self) -> None:
        while self._typed_ahead and self._can_be_answered():
            await self.deal_with(self._typed_ahead[0])
            self._typed_ahead.popleft()
        if self._typed_ahead:
            self.call_later(self._deal_with_what_was_typed)

    def _can_be_answered(self) -> bool:
        screen = self.screen_stack[-1] if self.screen_stack else None
        return not isinstance(screen, FilledModal) or screen.is_answerable
