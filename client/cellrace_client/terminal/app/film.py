"""A replay as a film: it runs at any speed, is stepped through, and goes back. Pure: time is an argument, in ms."""

from __future__ import annotations

from collections.abc import Sequence

from cellrace.errors import IllegalMove
from cellrace.game import Game
from cellrace.messages import Replay
from cellrace.replay import play_again, start_of

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""How many times faster than it was played."""


class Film:
    """Where a replay is: after how many entries, at what time, how fast, and whether it runs.

    `broken` is the first entry that is illegal, where there is one: until there it can be seen. Raises UnknownVariant
    and UnknownDeal.
    """

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._games: list[Game] = [start_of(replay)]
        self._steps: list[Sequence[str]] = [()]
        self.broken: IllegalMove | None = None
        try:
            for _at, step, game in play_again(replay):
                self._games.append(game)
                self._steps.append(step)
        except IllegalMove as illegal:
            self.broken = illegal
        self.index = 0
        self.at = 0.0
        self.speed = 1.0
        self.running = False

    @property
    def entries(self) -> int:
        """How many entries there are to be seen."""
        return len(self._games) - 1

    @property
    def game(self) -> Game:
        """The game as it is shown."""
        return self._games[self.index]

    @property
    def before(self) -> Game:
        """The game before the entry that was played last; at the start the same."""
        return self._games[max(0, self.index - 1)]

    @property
    def step(self) -> Sequence[str]:
        """The entry that was played last, and what went home after it; empty at the start."""
        return self._steps[self.index]

    @property
    def ended(self) -> bool:
        """Whether it is at its end."""
        return self.index == self.entries and self.at >= self.replay.ended

    def _stamp(self, index: int) -> int:
        return self.replay.moves[index - 1][0] if index else 0

    def run(self, ms: float) -> bool:
        """Lets so much time pass; whether another entry is shown then."""
        if not self.running:
            return False
        before = self.index
        self.at = min(self.at + ms * self.speed, max(float(self.replay.ended), self.at))
        while self.index < self.entries and self._stamp(self.index + 1) <= self.at:
            self.index += 1
        if self.ended:
            self.running = False
        return self.index != before

    def toggle(self) -> None:
        """Runs on, or pauses; from the end it begins anew."""
        if self.ended:
            self.seek(0)
        self.running = not self.running

    def seek(self, index: int) -> None:
        """Goes to the time of an entry, and to the end with the last one; it runs on from there, if it did."""
        self.index = max(0, min(index, self.entries))
        self.at = float(self._stamp(self.index))
        if self.index == self.entries:
            self.at = max(self.at, float(self.replay.ended))
            self.running = False

    def faster(self, by: int) -> None:
        """The next speed, or the one before."""
        at = SPEEDS.index(self.speed) + by
        self.speed = SPEEDS[max(0, min(at, len(SPEEDS) - 1))]
