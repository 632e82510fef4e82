"""Rivals' progress, told now and then and never in a flood. Pure: time is an argument, in seconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

from cellrace_client.language import n_
from cellrace_client.race_view import DONE, RaceView
from cellrace_client.terminal.speech import listed

_MOST_NAMED = 4
"""So many rivals are named in one sentence, the others counted."""


class Teller(ABC):
    """Tells what is new in a race, at most once an interval; times in seconds."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._told_at = float("-inf")
        self._told: dict[str, int] = {}
        self._latest: RaceView | None = None

    def hear(self, view: RaceView) -> None:
        """Learns how the race stands."""
        if self._latest is not None and self._latest.race != view.race:
            self._told.clear()
        self._latest = view

    def due(self, now: float) -> float | None:
        """Seconds until there is something to be told, None while there is nothing."""
        return max(0.0, self._told_at + self._interval - now) if self._news() else None

    @abstractmethod
    def _news(self) -> Collection[object]:
        """What was not told yet."""


class ProgressTeller(Teller):
    """Merges the progress of all rivals into at most one sentence an interval."""

    def tell(self, now: float) -> str | None:
        """The sentence, if it is time for one."""
        news = self._news()
        if not news or now < self._told_at + self._interval:
            return None
        self._told_at = now
        self._told.update({player: home for player, _, home in news})
        named = sorted(news, key=lambda line: -line[2])[:_MOST_NAMED]
        parts = [
            n_("{name} has {count} card home", "{name} has {count} cards home", home).format(name=name, count=home)
            for _, name, home in named
        ]
        others = len(news) - len(named)
        if others:
            parts.append(n_("{count} other moved on too", "{count} others moved on too", others).format(count=others))
        return f"{listed(parts)}."

    def _news(self) -> list[tuple[str, str, int]]:
        """Rivals who still play and have another number of cards home than was told last."""
        if self._latest is None:
            return []
        return [
            (rival.player.id, rival.player.name, rival.home)
            for rival in self._latest.rivals
            if rival.status not in DONE and rival.home != self._told.get(rival.player.id, 0)
        ]
