"""A race as one node holds it: a cache of its record, and the members who are connected here.

Nothing here waits: each method takes in what is on record already and tells the members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from cellrace.messages import CloseCode, Player
from cellrace_server.core.facts import CountdownBegan, Done, Joined, Left, Over, Stamped, Tally
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Entrant, Race, evolve
from cellrace_server.play import Play, Start
from cellrace_server.store.races import Entry, Record, Secret


class Member(Protocol):
    """A connection that hears what happens in a room."""

    @property
    def player(self) -> Player:
        """Whose connection it is."""

    @property
    def sid(self) -> str:
        """The name of the connection in the store."""

    @property
    def opened(self) -> dict[str, str]:
        """The races in which this may be the connection that plays, and under which sid."""

    def close(self, code: CloseCode) -> None:
        """End the connection."""

    def measure(self) -> None:
        """Measure the round trip now."""


class Announcer(Protocol):
    """Tells the members of a room what they may know."""

    def facts(self, room: Room, stamped: Sequence[Stamped]) -> None:
        """Facts have become true."""

    def started(self, room: Room) -> None:
        """The race runs; the deal is no secret any more."""

    def moved(self, room: Room, player: str, entries: Sequence[Entry]) -> None:
        """An entrant's log has grown by these entries."""

    def shown(self, room: Room, player: str, seq: int, entries: Sequence[Entry]) -> None:
        """These entries of a log, the last of them at `seq`, may be seen by spectators from now on."""

    def online(self, room: Room, player: str, online: bool) -> None:
        """An entrant has got or lost the connection."""

    def delayed(self, room: Room) -> None:
        """There is no deal for those who are ready."""


class Known(NamedTuple):
    """How far a room knew its race at some moment."""

    doubts: int
    version: int
    seqs: dict[str, int]
    presence: dict[str, Presence]


class Room:
    """One race on this node."""

    def __init__(self, record: Record, secret: Secret | None, announcer: Announcer) -> None:
        self.race: Race = record.race
        self.facts: list[Stamped] = list(record.facts)
        self.presence: dict[str, Presence] = dict(record.presence)
        self.secret = secret
        self.start: Start | None = None
        self.plays: dict[str, Play] = {}
        self.released = False
        self.entrants_here: dict[str, Member] = {}
        self.spectators: dict[Member, None] = {}
        self.shown: dict[str, int] = {}
        """How many entries of each log spectators were shown."""
        self.latency: dict[str, int] = {}
        """The smallest round trip of each entrant in this race, ms."""
        self._doubts = 0
        self._settled = 0
        self.lost = False
        """Whether the record turned out to be another one: whoever comes into this room is sent away."""
        self._announcer = announcer
        self._entrants = {entrant.player.id: entrant for entrant in self.race.entrants}
        self._deal(record.logs)

    @property
    def id(self) -> str:
        """The race's id."""
        return self.race.id

    @property
    def deserted(self) -> bool:
        """Whether nobody here hears the room."""
        return not self.entrants_here and not self.spectators

    def members(self) -> Iterable[Member]:
        """Everybody here who hears the room."""
        yield from self.entrants_here.values()
        yield from self.spectators

    def entrant(self, player: str) -> Entrant | None:
        """The entrant of a player's id, found at once also among hundreds."""
        return self._entrants.get(player)

    def tally(self, player: str) -> Tally:
        """How far an entrant's game has come."""
        play = self.plays.get(player)
        return Tally() if play is None else play.tally

    def is_online(self, player: str) -> bool:
        """Whether an entrant has a connection, as far as is known here."""
        return (presence := self.presence.get(player)) is not None and presence.gone_at is None

    def attach(self, member: Member) -> None:
        """From now on a member hears the room: an entrant in place of the older connection, else as spectator."""
        if self.lost:
            member.close(CloseCode.LOST_TRACK)
        if self.entrant(member.player.id) is None:
            self.spectators[member] = None
        else:
            self.spectators.pop(member, None)
            self.entrants_here[member.player.id] = member

    def detach(self, member: Member) -> None:
        """A member hears the room no more."""
        self.spectators.pop(member, None)
        if self.entrants_here.get(member.player.id) is member:
            del self.entrants_here[member.player.id]

    def set_presence(self, player: str, presence: Presence) -> None:
        """An entrant's connection as it is on record; told where it makes a difference."""
        before = self.is_online(player)
        self.presence[player] = presence
        if self.entrant(player) is not None and self.is_online(player) != before:
            self._announcer.online(self, player, not before)

    def note_latency(self, player: str, milliseconds: int) -> None:
        """A round trip that was measured on an entrant's connection during the race."""
        if self.race.start_at is not None and not self.race.ended:
            self.latency[player] = min(milliseconds, self.latency.get(player, milliseconds))

    def apply_facts(self, stamped: Sequence[Stamped], answer: Callable[[], None] | None = None) -> bool:
        """Take in facts that are on record, answer whoever asked for them, tell the members.

        Facts that are known are passed over. False when some are missing in between, and then nothing is told; or when
        somebody is done by moves that have not been heard of.
        """
        new = [fact for fact in stamped if fact.version > self.race.version]
        contiguous = not new or new[0].version == self.race.version + 1
        if contiguous:
            for fact in new:
                self._apply_fact(fact)
        if answer is not None:
            answer()
        if contiguous and new:
            for fact in new:
                self._announcer.facts(self, (fact,))
                # Whoever has left hears that, and nothing after it.
                if isinstance(fact.fact, Left):
                    self.entrants_here.pop(fact.fact.player, None)
        done = [fact.fact for fact in new if isinstance(fact.fact, Done) and self.entrant(fact.fact.player) is not None]
        return contiguous and all(self.tally(fact.player).seq >= fact.tally.seq for fact in done)

    def _apply_fact(self, stamped: Stamped) -> None:
        self.race = evolve(self.race, stamped)
        self.facts.append(stamped)
        self._entrants = {entrant.player.id: entrant for entrant in self.race.entrants}
        match stamped.fact:
            case CountdownBegan():
                self._deal({})
                for member in self.members():
                    member.measure()
            case Joined():
                for spectator in [s for s in self.spectators if s.player.id == stamped.fact.player.id]:
                    self.attach(spectator)
            case Over():
                self.release()  # Also by a clock that is behind, and has not seen it begin.

    @property
    def wants_deal(self) -> bool:
        """Whether the countdown has begun, at another node, on a deal that has not been read here yet."""
        return self.race.start_at is not None and self.start is None

    def learn_secret(self, secret: Secret) -> None:
        """Take in the deal of a race whose countdown has begun."""
        self.secret = secret
        self._deal({})

    def _deal(self, logs: Mapping[str, Sequence[Entry]]) -> None:
        """Lay out the board and give each entrant a game, once who races and on what is known."""
        if self.secret is None or self.race.start_at is None:
            return
        self.start = self.start or Start(self.race.settings, self.secret.deal)
        for entrant in self.race.entrants:
            player = entrant.player.id
            if player not in self.plays:
                self.plays[player] = Play(self.start.game(), logs.get(player, ()))
        if self.race.standings is not None:
            self.release()

    def release(self) -> None:
        """The start has come: tell the deal, once; that of a race which was cancelled before stays secret."""
        if self.released or self.start is None or self.race.cancelled is not None:
            return
        self.released = True
        if not self.race.ended:
            self._announcer.started(self)
            for member in self.members():
                member.measure()

    def extend_log(self, player: str, seq: int, entries: Sequence[Entry]) -> bool:
        """Take in the entries up to `seq`; those known are passed over. False when some are missing in between."""
        play = self.plays.get(player)
        if play is None:
            return False
        missing = seq - len(play.entries)
        if missing > len(entries):
            return False
        if missing > 0:
            new = entries[len(entries) - missing :]
            play.extend(new)
            self._announcer.moved(self, player, new)
        return True

    def tell_moves(self, player: str, entries: Sequence[Entry]) -> None:
        """Tell of entries that the player's game has taken in already."""
        self._announcer.moved(self, player, entries)

    def show(self, player: str, seq: int) -> None:
        """Show spectators a log up to `seq`, from where they have seen it."""
        seen = self.shown.get(player, 0)
        if seq > seen:
            self.shown[player] = seq
            if self.spectators:
                self._announcer.shown(self, player, seq, self.plays[player].entries[seen:seq])

    @property
    def doubtful(self) -> bool:
        """Whether an outcome is unknown, so that the record must be read before anything is decided."""
        return self._doubts > self._settled

    def doubt(self) -> None:
        """Something may be missing here; a record that is on its way already may miss it as well."""
        self._doubts += 1

    def known(self) -> Known:
        """How far the race is known now."""
        seqs = {player: len(play.entries) for player, play in self.plays.items()}
        return Known(self._doubts, self.race.version, seqs, dict(self.presence))

    def refresh(self, record: Record, before: Known) -> bool:
        """Take in the whole record as read again, asked for when `before` was known.

        False when it tells another history than is known here. What has been heard since it was asked for may be
        missing in it, and stays.
        """
        if not self._goes_on_in(record, before):
            return False
        self._settled = before.doubts
        self.apply_facts(record.facts[self.race.version :])
        self._deal({})
        for player, presence in record.presence.items():
            if self.presence.get(player) == before.presence.get(player):
                self.set_presence(player, presence)
        for player, entries in record.logs.items():
            self.extend_log(player, len(entries), entries)
        return True

    def _goes_on_in(self, record: Record, before: Known) -> bool:
        common = min(self.race.version, record.race.version)
        if record.race.version < before.version or self.facts[:common][-1:] != list(record.facts[:common][-1:]):
            return False
        return all(
            len(entries := record.logs.get(player, ())) >= before.seqs.get(player, 0)
            and play.entries[: len(entries)][-1:] == list(entries[: len(play.entries)][-1:])
            for player, play in self.plays.items()
            if self.entrant(player) is not None  # Of ghosts there is no log on record.
        )

    def tell_delay(self) -> None:
        """Tell that there is no deal for those who are ready."""
        self._announcer.delayed(self)
