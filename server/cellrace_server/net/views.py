"""What each audience may see of a race: rooms and facts as messages of the protocol (section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, assert_never

from msgspec.structs import replace

from cellrace.messages import (
    CancelledPush,
    CountdownPush,
    DonePush,
    Entrant,
    EntrantStatus,
    FactPush,
    JoinedPush,
    LeftPush,
    Log,
    MovedPush,
    OverPush,
    OwnGame,
    Player,
    PlayerAnswer,
    ProgressPush,
    RaceAnswer,
    RaceKind,
    RaceState,
    ReadyPush,
    RematchPush,
    RequestId,
    Standing,
    StartedPush,
    Summary,
    board_map,
)
from cellrace_server.competition import Profile
from cellrace_server.core.daily import day_of, published_at
from cellrace_server.core.facts import (
    Cancelled,
    CountdownBegan,
    Done,
    Joined,
    Left,
    Over,
    ReadySet,
    Rematched,
    Stamped,
    Tally,
)
from cellrace_server.core.ghosts import GhostGame
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, standing_of, standings
from cellrace_server.gallery import visible
from cellrace_server.play import Start
from cellrace_server.room import Room
from cellrace_server.store.races import Entry, Head, Secret


class Released(NamedTuple):
    """A deal that is no secret from its players any more, and what all of them begin with."""

    secret: Secret
    start: Start


def entrant_views(
    race: Race, presence: Mapping[str, Presence], tallies: Mapping[str, Tally], now: int
) -> tuple[Entrant, ...]:
    """The entrants as everybody sees them, ghosts last; places are provisional until the race is over."""
    placed = {standing.player.id: standing for standing in race.standings or standings(race)}
    living = [
        _entrant(
            entrant.player,
            race.status(entrant),
            _is_online(presence.get(entrant.player.id)),
            entrant.done.tally if entrant.done else tallies.get(entrant.player.id, Tally()),
            placed.get(entrant.player.id),
        )
        for entrant in race.entrants
    ]
    begun = race.start_at is not None and now >= race.start_at
    return (*living, *(_ghost(ghost, begun, tallies, placed) for ghost in race.ghosts))


def _is_online(presence: Presence | None) -> bool:
    return presence is not None and presence.gone_at is None


def _ghost(ghost: GhostGame, begun: bool, tallies: Mapping[str, Tally], placed: Mapping[str, Standing]) -> Entrant:
    status, tally = ghost.status(begun=begun), tallies.get(ghost.player.id, Tally())
    if (standing := placed.get(ghost.player.id)) is not None:
        status, tally = standing.status, ghost.tally  # Also where the race is over and it had still to play.
    return replace(_entrant(ghost.player, status, True, tally, standing), ghost=True)


def _entrant(player: Player, status: EntrantStatus, online: bool, tally: Tally, standing: Standing | None) -> Entrant:
    return Entrant(
        player=player,
        status=status,
        online=online,
        seq=tally.seq,
        home=tally.home,
        moves=tally.moves,
        undos=tally.undos,
        time=standing.time if standing else None,
        place=standing.place if standing else None,
    )


def race_answer(room: Room, viewer: str, now: int, re: RequestId | None = None) -> RaceAnswer:
    """The whole race as one player may see it."""
    entrant = room.entrant(viewer)
    released = Released(room.secret, room.start) if room.released and room.secret and room.start else None
    tallies = {player: play.tally for player, play in room.plays.items()}
    return replace(
        public_race(room.race, room.presence, tallies, released, now),
        re=re,
        code=room.race.code or None if entrant else None,
        you=own_game(room, viewer) if released and entrant else None,
        logs=logs(room, viewer, now) if released else None,
    )


def public_race(
    race: Race, presence: Mapping[str, Presence], tallies: Mapping[str, Tally], released: Released | None, now: int
) -> RaceAnswer:
    """A race as everybody may see it."""
    told = released.secret if released and deal_is_told(race, now) else None
    cards = released.start.cards if released else None
    return RaceAnswer(
        race=race.id,
        version=race.version,
        state=shown_state(race, released is not None, now),
        kind=race.kind,
        settings=race.settings,
        commitment=race.commitment,
        host=race.host,
        created_at=race.created_at,
        start_at=race.start_at,
        now=now,
        entrants=entrant_views(race, presence, tallies, now),
        parent=race.parent,
        successor=race.successor,
        deal=told.deal if told else None,
        salt=told.salt if told else None,
        layout=cards.layout if cards else None,
        cells=cards.cells if cards else None,
        reserve=cards.reserve if cards else None,
        standings=race.standings,
    )


def deal_is_told(race: Race, now: int) -> bool:
    """Whether number and salt may be told once the race runs: those of a daily only when its day is published."""
    return race.kind is RaceKind.RACE or (race.start_at is not None and now >= published_at(day_of(race.start_at)))


def shown_state(race: Race, released: bool, now: int) -> RaceState:
    """The state as it may be told: a race whose deal is not released here yet is still in its countdown."""
    state = race.state(now)
    return RaceState.COUNTDOWN if state is RaceState.RUNNING and not released else state


def own_game(room: Room, player: str) -> OwnGame | None:
    """An entrant's own game."""
    play = room.plays.get(player)
    if play is None:
        return None
    return OwnGame(moves=play.moves, seq=len(play.entries), board=board_map(play.game.board))


def logs(room: Room, viewer: str, now: int) -> tuple[Log, ...] | None:
    """The logs of the others as far as somebody may see them: nothing for an entrant who still plays."""
    entrant = room.entrant(viewer)
    over = room.race.standings is not None
    if entrant is not None and entrant.done is None and not over:
        return None
    return tuple(
        _log(player, play.moves, len(play.moves) if entrant else visible(room, player, now))
        for player, play in room.plays.items()
        if player != viewer
    )


def _log(player: str, moves: tuple[str, ...], seq: int) -> Log:
    return Log(player=player, seq=seq, moves=moves[:seq])


def summary(head: Head, now: int) -> Summary:
    """A race as a line of a list."""
    race = head.race
    return Summary(
        race=race.id,
        state=race.state(now),
        kind=race.kind,
        variant=race.settings.variant,
        seats=race.settings.seats,
        entrants=entrant_views(race, head.presence, head.tallies, now),
        host=race.host,
        created_at=race.created_at,
    )


def player_answer(profile: Profile, now: int, re: RequestId | None) -> PlayerAnswer:
    """A player's profile."""
    player = profile.identity.player
    return PlayerAnswer(
        re=re,
        player=player.id,
        name=player.name,
        bot=player.bot,
        since=profile.identity.since,
        games=profile.games,
        recent=tuple(summary(head, now) for head in profile.recent),
    )


def fact_push(race: Race, stamped: Stamped, now: int) -> FactPush:
    """A fact as it is told; `race` is the race after it or later."""
    version, fact = stamped.version, stamped.fact
    match fact:
        case Joined():
            return JoinedPush(race=race.id, version=version, now=now, player=fact.player)
        case Left():
            return LeftPush(race=race.id, version=version, now=now, player=fact.player, reason=fact.reason)
        case ReadySet():
            return ReadyPush(race=race.id, version=version, now=now, player=fact.player, ready=fact.ready)
        case CountdownBegan():
            return CountdownPush(
                race=race.id, version=version, now=now, start_at=fact.start_at, commitment=fact.commitment
            )
        case Done():
            standing = standing_of(race, fact.player)
            return DonePush(
                race=race.id,
                version=version,
                now=now,
                player=fact.player,
                status=fact.status,
                home=fact.tally.home,
                time=standing.time if standing else None,
                place=standing.place if standing else None,
            )
        case Over():
            return OverPush(race=race.id, version=version, now=now, standings=fact.standings)
        case Cancelled():
            return CancelledPush(race=race.id, version=version, now=now, reason=fact.reason)
        case Rematched():
            return RematchPush(race=race.id, version=version, now=now, successor=fact.successor)
        case _:
            assert_never(fact)


def started_push(room: Room, start: Start, now: int) -> StartedPush:
    """The start, with the deal that is no secret any more."""
    assert room.secret is not None
    assert room.race.start_at is not None
    cards = start.cards
    told = deal_is_told(room.race, now)
    return StartedPush(
        race=room.id,
        start_at=room.race.start_at,
        deal=room.secret.deal if told else None,
        salt=room.secret.salt if told else None,
        layout=cards.layout,
        cells=cards.cells,
        reserve=cards.reserve,
    )


def progress_push(room: Room, player: str, at: int) -> ProgressPush:
    """How far an entrant's game has come, `at` ms after the start."""
    tally = room.tally(player)
    return ProgressPush(
        race=room.id, player=player, seq=tally.seq, home=tally.home, moves=tally.moves, undos=tally.undos, at=at
    )


def moved_push(room: Room, player: str, seq: int, entries: Sequence[Entry], at: int) -> MovedPush:
    """Entries of an entrant's log, the last of them at `seq`."""
    return MovedPush(
        race=room.id,
        player=player,
        seq=seq,
        moves=tuple(entry.move for entry in entries),
        at=at,
    )
