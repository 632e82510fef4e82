"""Any course of a race, step by step: whatever is asked when, what must always hold does (Hypothesis)."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cellrace.errors import Refused
from cellrace.messages import Ends, EntrantStatus, Player, RaceState, Settings
from cellrace_server.core.commands import (
    Begin,
    Command,
    Concede,
    Forfeit,
    Join,
    Kick,
    Leave,
    SetReady,
    Start,
    Wake,
    decide,
)
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Fact, Joined, Left, Over, Stamped, Tally
from cellrace_server.core.race import LATE_COMMITS, Race, all_ready, deadline, evolve
from tests.server.races import ANN, BEN, BORN, CAT, DAN, new_race, player, stamped

BOT = player("Eve", bot=True)
PLAYERS = st.sampled_from([ANN, BEN, CAT, DAN, BOT])
LAST = {RaceState.OVER, RaceState.CANCELLED}
LATENCY = 20
ORDER = [RaceState.OPEN, RaceState.COUNTDOWN, RaceState.RUNNING, RaceState.OVER, RaceState.CANCELLED]


def look(race: Race, absent: dict[str, int], tallies: dict[str, Tally], now: int) -> list[Fact]:
    """What a node does with a race that is due."""
    begins = race.state(now) is RaceState.OPEN and all_ready(race) and not absent
    return decide(race, Begin("c") if begins else Wake(absent, tallies), now)


class RaceMachine(RuleBasedStateMachine):
    """A race, and beside it what a reader of the protocol would note down."""

    @initialize(
        seats=st.integers(1, 5),
        countdown=st.sampled_from([0, 5]),
        ends=st.sampled_from(list(Ends)),
        bots=st.booleans(),
    )
    def create(self, seats: int, countdown: int, ends: Ends, bots: bool) -> None:
        self.settings = Settings(
            seats=seats, countdown=countdown, ends=ends, bots=bots, time_limit=60, grace=15, ranked=False
        )
        self.born = new_race(self.settings)
        self.race = self.born
        self.facts: list[Stamped] = []
        self.now = BORN
        self.absent: dict[str, int] = {}
        self.tallies: dict[str, Tally] = {}
        # The notes: who is in it, in the order of joining, and the places that were won by when.
        self.order: list[str] = []
        self.won_at: dict[str, int] = {}
        self.furthest = RaceState.OPEN

    def ask(self, command: Command) -> list[Fact]:
        """Carry a command out, or have it refused; in either case the race it was decided on stays as it was."""
        before, told = self.race, repr(self.race)
        try:
            facts = decide(before, command, self.now)
        except Refused:
            facts = []
        assert repr(before) == told
        assert self.race.version == before.version
        self.take_in(facts)
        return facts

    def take_in(self, facts: list[Fact]) -> None:
        ended = self.race.ended
        for fact in stamped(self.race, facts, self.now):
            self.race = evolve(self.race, fact)
            self.facts.append(fact)
            match fact.fact:
                case Joined():
                    self.order.append(fact.fact.player.id)
                case Left():
                    self.order.remove(fact.fact.player)
                case _:
                    pass
        assert not (ended and facts), "what has ended takes no more facts"

    @property
    def state(self) -> RaceState:
        return self.race.state(self.now)

    def limit_passed(self) -> bool:
        return self.race.limit_at is not None and self.now > self.race.limit_at

    # --- what players do

    @rule(who=PLAYERS)
    def join(self, who: Player) -> None:
        if self.ask(Join(who)):
            self.absent.pop(who.id, None)
            assert len(self.order) <= self.settings.seats
            assert self.settings.bots or not who.bot

    @rule(who=PLAYERS)
    def leave(self, who: Player) -> None:
        name = who.id
        was_open, inside = self.state is RaceState.OPEN, name in self.order
        self.ask(Leave(name, self.tallies.get(name, Tally())))
        if inside:
            entrant = self.race.entrant(name)
            assert (entrant is None) if was_open else (entrant is not None)
            assert entrant is None or self.race.ended or entrant.done is not None

    @rule(who=PLAYERS, ready=st.booleans())
    def set_ready(self, who: Player, ready: bool) -> None:
        name = who.id
        self.ask(SetReady(name, ready))
        entrant = self.race.entrant(name)
        if entrant is not None and self.state is RaceState.OPEN:
            assert entrant.ready is ready

    @rule(who=PLAYERS)
    def start(self, who: Player) -> None:
        name = who.id
        hosting = self.order[:1] == [name]
        ready = [e.player.id for e in self.race.entrants if e.ready]
        quorum = 1 if self.settings.seats == 1 else 2
        may = hosting and self.state is RaceState.OPEN and len(ready) >= quorum
        facts = self.ask(Start(name, "c"))
        assert any(isinstance(fact, CountdownBegan) for fact in facts) is may
        if may:
            assert self.order == ready

    @rule(who=PLAYERS, kicked=PLAYERS)
    def kick(self, who: Player, kicked: Player) -> None:
        hosting = self.order[:1] == [who.id]
        facts = self.ask(Kick(who.id, kicked.id))
        assert hosting or not facts

    @rule(who=PLAYERS, forfeit=st.booleans(), home=st.integers(0, 51))
    def stop(self, who: Player, forfeit: bool, home: int) -> None:
        name = who.id
        self.ask((Forfeit if forfeit else Concede)(name, Tally(home, home, home, 0)))

    @rule(number=st.integers(0, 4))
    @precondition(lambda self: self.state is RaceState.RUNNING and not self.limit_passed())
    def win(self, number: int) -> None:
        """The winning moves are committed, and the fact of the win with them."""
        playing = [entrant.player.id for entrant in self.race.entrants if entrant.done is None]
        if playing:
            name = playing[number % len(playing)]
            self.take_in([Done(name, EntrantStatus.WON, Tally(90, 52, 90, 0), LATENCY)])
            self.won_at[name] = self.now

    @rule(comers=st.lists(PLAYERS, min_size=2, max_size=5), back=st.booleans())
    @precondition(lambda self: self.state is RaceState.OPEN)
    def line_up(self, comers: list[Player], back: bool) -> None:
        """Some join and everybody is ready."""
        for comer in comers:
            self.ask(Join(comer))
        for name in self.order:
            self.ask(SetReady(name, True))
            if back:
                self.absent.pop(name, None)
        self.wake()

    # --- what happens to them

    @rule(who=PLAYERS)
    def lose_connection(self, who: Player) -> None:
        name = who.id
        if name in self.order:
            self.absent.setdefault(name, self.now)

    @rule(who=PLAYERS)
    def come_back(self, who: Player) -> None:
        self.absent.pop(who.id, None)

    @rule()
    @precondition(lambda self: self.state is RaceState.COUNTDOWN)
    def wait_for_the_start(self) -> None:
        assert self.race.start_at is not None
        self.now = self.race.start_at

    @rule(pause=st.sampled_from([1, 100, 999, 5_000, 15_000, 30_000]))
    def wait(self, pause: int) -> None:
        self.now += pause

    @rule()
    def wake(self) -> None:
        self.take_in(look(self.race, self.who_is_absent(), self.tallies, self.now))

    @rule()
    @precondition(lambda self: not self.race.ended)
    def wait_for_the_deadline(self) -> None:
        """At its deadline a race goes on: a wake then always makes something true."""
        absent = self.who_is_absent()
        instant = deadline(self.race, absent)
        assert instant is not None
        self.now = max(self.now, instant)
        facts = look(self.race, absent, self.tallies, self.now)
        assert facts
        self.take_in(facts)

    def who_is_absent(self) -> dict[str, int]:
        return {name: since for name, since in self.absent.items() if name in self.order}

    # --- what always holds

    @invariant()
    def versions_are_contiguous_and_facts_replay_to_the_same_race(self) -> None:
        assert [fact.version for fact in self.facts] == list(range(1, self.race.version + 1))
        again = self.born
        for fact in self.facts:
            again = evolve(again, fact)
        assert again == self.race

    @invariant()
    def the_entrants_are_those_noted_and_the_first_of_them_is_host(self) -> None:
        assert [entrant.player.id for entrant in self.race.entrants] == self.order
        assert self.race.host == (self.order[0] if self.order else "ann")

    @invariant()
    def states_only_go_forward(self) -> None:
        assert self.state in LAST or self.furthest not in LAST
        assert ORDER.index(self.state) >= ORDER.index(self.furthest)
        self.furthest = self.state

    @invariant()
    def only_a_race_that_has_ended_is_never_due(self) -> None:
        assert (deadline(self.race, self.who_is_absent()) is None) is self.race.ended

    @invariant()
    def the_end_is_told_once_and_nothing_follows_it(self) -> None:
        ends = [number for number, fact in enumerate(self.facts, 1) if isinstance(fact.fact, Over | Cancelled)]
        assert ends == ([len(self.facts)] if self.race.ended else [])

    @invariant()
    def a_cancelled_race_had_not_begun_to_run(self) -> None:
        if self.race.cancelled is not None and self.race.start_at is not None:
            assert self.facts[-1].at < self.race.start_at
            assert all(entrant.done is not None for entrant in self.race.entrants)

    @invariant()
    def the_standings_have_one_line_for_each_entrant(self) -> None:
        if self.race.standings is None:
            return
        lines = {standing.player.id: standing for standing in self.race.standings}
        assert sorted(s.player.id for s in self.race.standings) == sorted(self.order)
        assert self.race.start_at is not None
        for name, standing in lines.items():
            assert (standing.status is EntrantStatus.WON) is (name in self.won_at)
            if name in self.won_at:
                assert standing.raw == self.won_at[name] - self.race.start_at
                times = {winner: max(0, at - self.race.start_at - LATENCY) for winner, at in self.won_at.items()}
                assert standing.time == times[name]
                assert standing.place == 1 + sum(time < times[name] for time in times.values())

    @invariant()
    def nobody_can_keep_the_others_from_going_on(self) -> None:
        """From here on nobody does anything, and half of them are not even there: the race ends all the same."""
        for absent in ({}, dict.fromkeys(self.order[::2], self.now), dict.fromkeys(self.order, self.now)):
            race, now = self.race, self.now
            for _ in range(3 * len(self.order) + 4):
                gone = {name: since for name, since in absent.items() if race.entrant(name) is not None}
                instant = deadline(race, gone)
                if instant is None:
                    break
                now = max(now, instant)
                for fact in stamped(race, look(race, gone, self.tallies, now), now):
                    race = evolve(race, fact)
            assert race.ended
            longest = 30 * 60_000 + 60_000 + LATE_COMMITS + 40_000
            assert now <= max(self.now, BORN) + longest


TestAnyRace = RaceMachine.TestCase
TestAnyRace.settings = settings(max_examples=250, stateful_step_count=50)
TestAnyRace = pytest.mark.timeout(600)(TestAnyRace)
