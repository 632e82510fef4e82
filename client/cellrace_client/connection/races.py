"""The races that one connection knows, kept current by answers and pushes. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from cellrace.messages import (
    EntrantStatus,
    FactPush,
    MatchedPush,
    Moved,
    NewsPush,
    RaceAnswer,
    RaceConcede,
    RaceForfeit,
    RaceMissed,
    RaceReady,
    RaceState,
)
from cellrace_client.events import Event, Happened, Matched
from cellrace_client.hearing import hear
from cellrace_client.race_view import DONE, RaceView, changed

ENDED_RACES_KEPT = 50
"""Of the races that are over or cancelled, the oldest beyond these are forgotten."""


class Races:
    """The view of each race, by its id."""

    def __init__(self) -> None:
        self.player = ""
        self._views: OrderedDict[str, RaceView] = OrderedDict()
        self.views: Mapping[str, RaceView] = MappingProxyType(self._views)

    def learn(self, answer: RaceAnswer) -> tuple[RaceView | None, RaceView]:
        """Takes a whole race in: what was known, and what is now. Raises CellraceError when its cards are none."""
        before = self._views.get(answer.race)
        view = RaceView.of(answer, self.player, before)
        self._keep(view)
        return before, view

    def hear(self, push: FactPush | NewsPush) -> tuple[Event | None, bool]:
        """What a push tells, if it is new, and whether the race must be asked for. Raises CellraceError."""
        if isinstance(push, MatchedPush):
            return Matched(push.race), True
        before = self._views.get(push.race)
        if before is None:
            return None, True
        heard = hear(before, push)
        if not heard.new:
            return None, heard.gap
        self._keep(heard.view)
        return Happened(push, before, heard.view), False

    def missed(self, answer: RaceMissed) -> tuple[list[Event], bool]:
        """The same for the facts of an answer to `race.sync` with `since`."""
        events: list[Event] = []
        for fact in answer.events:
            event, gap = self.hear(fact)
            if gap:
                return events, True
            if event is not None:
                events.append(event)
        return events, False

    def moved(self, answer: Moved) -> bool:
        """Plays one's own moves; False when the race must be asked for."""
        before = self._views.get(answer.race)
        if before is None:
            return True
        after = before.moved(answer)
        if after is None:
            return False
        self._views[answer.race] = after
        return True

    def carried_out(self, request: RaceReady | RaceConcede | RaceForfeit) -> None:
        """Takes an `ok` at its word: the fact that follows says the same."""
        before = self._views.get(request.race)
        if before is None or before.me is None or before.me.status in DONE:
            return
        match request:
            case RaceReady() if before.state is not RaceState.OPEN:
                return
            case RaceReady():
                status = EntrantStatus.READY if request.ready else EntrantStatus.JOINED
            case RaceConcede():
                status = EntrantStatus.CONCEDED
            case _:
                status = EntrantStatus.FORFEITED
        entrants = changed(before.entrants, self.player, status=status)
        self._views[request.race] = replace(before, entrants=entrants)

    def forget(self, race: str) -> None:
        """Knows a race no longer."""
        self._views.pop(race, None)

    def _keep(self, view: RaceView) -> None:
        self._views[view.race] = view
        if not view.ended:
            return
        ended = [race for race, known in self._views.items() if known.ended]
        for race in ended[:-ENDED_RACES_KEPT]:
            del self._views[race]
