"""What an operator sees of a race or a player: all that is on record, but no deal before its start, and no token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, GameRecord, Player, RaceKind, RaceState, Settings, Standing
from cellrace_server.core.facts import Tally
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import Skill
from cellrace_server.store import Store
from cellrace_server.store.acts import KEPT_ACTS, Act


class SeenEntrant(Struct, frozen=True):
    """An entrant, the game, and the connection."""

    player: Player
    status: EntrantStatus
    seq: int
    home: int
    node: str | None
    gone_at: int | None


class SeenFact(Struct, frozen=True):
    """A fact on record."""

    version: int
    at: int
    fact: Mapping[str, Any]


class SeenRace(Struct, frozen=True):
    """A race on record; `settled` once all that follows from its end is done, `due_at` while something is to come."""

    race: str
    kind: RaceKind
    state: RaceState
    void: bool
    settled: bool
    settings: Settings
    host: str
    created_at: int
    start_at: int | None
    commitment: str | None
    deal: int | None
    entrants: tuple[SeenEntrant, ...]
    standings: tuple[Standing, ...] | None
    hosts: tuple[str, ...]
    due_at: int | None
    facts: tuple[SeenFact, ...]
    acts: tuple[Act, ...]


class SeenPlayer(Struct, frozen=True):
    """A player on record."""

    player: Player
    since: int
    banned_at: int | None
    node: str | None
    races: tuple[str, ...]
    recent: tuple[str, ...]
    games: Mapping[str, GameRecord]
    skills: Mapping[str, Skill]
    days: Mapping[str, Sequence[str]]
    acts: tuple[Act, ...]


async def inspect_race(store: Store, race_id: str) -> SeenRace:
    """A race. Raises Refused with `no_such_race`, StoreUnavailable."""
    record, head = await store.races.load(race_id), await store.races.head(race_id)
    if record is None or head is None:
        raise Refused(ErrorCode.NO_SUCH_RACE)
    race, now = record.race, store.clock.now()
    started = race.start_at is not None and race.start_at <= now and race.cancelled is None
    secret = await store.races.secret(race_id) if started else None
    return SeenRace(
        race=race.id,
        kind=race.kind,
        state=race.state(now),
        void=(await store.acts.verdicts(race_id)).void,
        settled=head.packed,
        settings=race.settings,
        host=race.host,
        created_at=race.created_at,
        start_at=race.start_at,
        commitment=race.commitment,
        deal=secret.deal if secret else None,
        entrants=tuple(_entrants(race, head.tallies, record.presence)),
        standings=race.standings,
        hosts=await store.races.hosts(race_id),
        due_at=await store.due.score(race_id),
        facts=tuple(SeenFact(f.version, f.at, msgspec.to_builtins(f.fact)) for f in record.facts),
        acts=await _acts_about(store, race_id),
    )


def _entrants(race: Race, tallies: Mapping[str, Tally], presence: Mapping[str, Presence]) -> list[SeenEntrant]:
    seen = []
    for entrant in race.entrants:
        tally, there = tallies.get(entrant.player.id, Tally()), presence.get(entrant.player.id)
        seen.append(
            SeenEntrant(
                entrant.player,
                race.status(entrant),
                tally.seq,
                tally.home,
                there.node if there else None,
                there.gone_at if there else None,
            )
        )
    return seen


async def inspect_player(store: Store, named: str) -> SeenPlayer:
    """A player by id or name. Raises Refused with `not_found`, StoreUnavailable."""
    player_id = await store.accounts.find_id(named)
    identity = await store.players.find(player_id)
    if identity is None:
        raise Refused(ErrorCode.NOT_FOUND, "There is no such player.")
    games = await store.profiles.records(player_id)
    skills = {variant: (await store.ratings.skills(variant, [player_id]))[player_id] for variant in games}
    days = {variant: sorted(map(str, await store.profiles.days(player_id, variant))) for variant in games}
    return SeenPlayer(
        player=identity.player,
        since=identity.since,
        banned_at=await store.accounts.banned_at(player_id),
        node=await store.accounts.node(player_id),
        races=await store.players.races(player_id),
        recent=await store.players.recent_races(player_id),
        games=games,
        skills={variant: skill for variant, skill in skills.items() if skill.games},
        days={variant: won for variant, won in days.items() if won},
        acts=await _acts_about(store, player_id),
    )


async def _acts_about(store: Store, subject: str) -> tuple[Act, ...]:
    return tuple(act for act in await store.acts.latest(KEPT_ACTS) if act.subject == subject)
