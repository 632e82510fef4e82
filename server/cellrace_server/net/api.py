"""Races over HTTP: what a spectator may see of them, in the very maps of the protocol (section 7).

Nothing here holds a room or plays an entrant's game again: a page costs the store three reads at most, and a list one
look a second however many ask for it.
"""

from __future__ import annotations

import asyncio
import re
import time
from http import HTTPStatus
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace
from websockets.http11 import Response

from cellrace.codec import JSON
from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Log, RaceAnswer, RaceKind, RaceList, Races, RaceState, ReplayAnswer, Summary
from cellrace.messages.base import MAX_LIMIT
from cellrace_server.core.facts import Tally
from cellrace_server.core.race import Race
from cellrace_server.core.spectating import shown_until
from cellrace_server.listing import Listing
from cellrace_server.net import views
from cellrace_server.net.competing import CompetitionPages
from cellrace_server.net.responses import JSON_TYPE, bytes_response, error_response, json_response
from cellrace_server.play import Start, tally_of
from cellrace_server.replays import Replays
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreError
from cellrace_server.store.races import Head
from cellrace_server.store.signing_keys import PublishedKey

FRESH = 1.0
"""For how many seconds a list is shown again without a look at the store."""
MOST_ENTRIES = 5_000
"""With more entries than these in all, the logs are left out of a race."""

_RACES = "/api/v1/races"
_REPLAYS = "/api/v1/replays"
_KEYS = "/api/v1/keys"
_PLAYERS = "/api/v1/players/"
_LEADERBOARDS = "/api/v1/leaderboards/"
_DAILY = "/api/v1/daily/"
_ID = re.compile("[0-9A-Za-z_-]{1,64}")
_STATUSES = {
    ErrorCode.NOT_ALLOWED: HTTPStatus.FORBIDDEN,
    ErrorCode.TOO_EARLY: HTTPStatus.FORBIDDEN,
    ErrorCode.BAD_MESSAGE: HTTPStatus.BAD_REQUEST,
}


class PublishedKeys(msgspec.Struct, frozen=True):
    """What `/api/v1/keys` answers."""

    keys: tuple[PublishedKey, ...]


class Api:
    """Answers what is asked below `/api/v1`."""

    def __init__(self, store: Store, listing: Listing, replays: Replays, competition: CompetitionPages) -> None:
        self._store = store
        self._listing = listing
        self._replays = replays
        self._competition = competition
        # One for each variant and state, and only for those that there are.
        self._lists: dict[tuple[str | None, RaceState | None], tuple[float, tuple[Summary, ...]]] = {}
        self._looking = asyncio.Lock()

    async def answer(self, path: str, query: str) -> Response:
        """The response to a request for what is at `path`."""
        try:
            if path == _RACES:
                return await self._races(query)
            if path.startswith(_RACES + "/"):
                return await self._race(path.removeprefix(_RACES + "/"))
            if path.startswith(_REPLAYS + "/"):
                return await self._replay(path.removeprefix(_REPLAYS + "/"))
            if path == _KEYS:
                return json_response(HTTPStatus.OK, PublishedKeys(await self._replays.keys()))
            if path.startswith((_PLAYERS, _LEADERBOARDS, _DAILY)):
                return bytes_response(HTTPStatus.OK, await self._competing(path, _parsed(query)), JSON_TYPE)
            raise Refused(ErrorCode.NOT_FOUND, f"There is nothing at {path[:100]}.")
        except Refused as refused:
            status = _STATUSES.get(ErrorCode(refused.code), HTTPStatus.NOT_FOUND)
            return error_response(status, refused.code, str(refused))
        except StoreError:
            text = "The store is in trouble; ask again."
            return error_response(HTTPStatus.SERVICE_UNAVAILABLE, ErrorCode.RETRY_LATER, text, retry_after=1)

    async def _competing(self, path: str, asked: dict[str, str]) -> bytes:
        if path.startswith(_PLAYERS):
            return await self._competition.player(path.removeprefix(_PLAYERS))
        if path.startswith(_LEADERBOARDS):
            return await self._competition.leaderboard(path.removeprefix(_LEADERBOARDS), asked)
        return await self._competition.daily(path.removeprefix(_DAILY), asked)

    async def _replay(self, names: str) -> Response:
        race_id, _, player = names.partition("/")
        if not _ID.fullmatch(race_id):
            raise Refused(ErrorCode.NO_SUCH_RACE)
        answer = ReplayAnswer(replay=await self._replays.get("", race_id, player))
        return bytes_response(HTTPStatus.OK, JSON.encode(answer), JSON_TYPE)

    async def _races(self, query: str) -> Response:
        asked = _parsed(query)
        variant = asked.get("variant")
        state, limit = _parsed_state(asked.get("state")), _parsed_limit(asked.get("limit", "50"))
        rows = await self._listed(variant, state)
        return bytes_response(HTTPStatus.OK, JSON.encode(Races(races=rows[:limit])), JSON_TYPE)

    async def _listed(self, variant: str | None, state: RaceState | None) -> tuple[Summary, ...]:
        # One look at a time: whoever waits for it finds the list fresh.
        async with self._looking:
            read_at, rows = self._lists.get((variant, state), (float("-inf"), ()))
            if time.monotonic() - read_at >= FRESH:
                heads = await self._listing.races("", RaceList(variant=variant, state=state, limit=MAX_LIMIT))
                now = self._store.clock.now()
                rows = tuple(views.summary(head, now) for head in heads)
                self._lists[variant, state] = (time.monotonic(), rows)
            return rows

    async def _race(self, race_id: str) -> Response:
        head = await self._store.races.head(race_id) if _ID.fullmatch(race_id) else None
        if head is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        now = self._store.clock.now()
        if not views.deal_is_told(head.race, now):
            raise Refused(ErrorCode.NOT_ALLOWED)  # A daily, for as long as somebody may still play its deal.
        if head.race.settings.private and head.race.kind is RaceKind.RACE:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        return bytes_response(HTTPStatus.OK, JSON.encode(await self._seen(head, now)), JSON_TYPE)

    async def _seen(self, head: Head, now: int) -> RaceAnswer:
        """The race as somebody sees it who is no entrant."""
        race = head.race
        started = race.start_at is not None and now >= race.start_at + self._store.clock.margin
        # A race that was cancelled in its countdown keeps its deal for ever.
        secret = await self._store.races.secret(race.id) if started and race.cancelled is None else None
        released = None if secret is None else views.Released(secret, Start(race.settings, secret.deal))
        tallies = {**head.tallies, **(_ghost_tallies(race, released.start, now) if released else {})}
        return replace(
            views.public_race(race, head.presence, tallies, released, now),
            logs=await self._logs(head, now) if released else None,
        )

    async def _logs(self, head: Head, now: int) -> tuple[Log, ...] | None:
        race = head.race
        until = shown_until(race.settings.spectate, race.standings is not None, now)
        if until is None or sum(tally.seq for tally in head.tallies.values()) > MOST_ENTRIES:
            return None
        record = await self._store.races.load(race.id)
        if record is None:
            return None
        shown = {
            entrant.player.id: tuple(e.move for e in record.logs.get(entrant.player.id, ()) if e.at <= until)
            for entrant in race.entrants
        }
        for ghost in race.ghosts:
            seq = ghost.entries_until(min(until, now) - (race.start_at or 0))
            shown[ghost.player.id] = tuple(move for _, move in ghost.moves[:seq])
        return tuple(Log(player=player, seq=len(moves), moves=moves) for player, moves in shown.items())


def _ghost_tallies(race: Race, start: Start, now: int) -> dict[str, Tally]:
    """How far the ghosts of a running race have come; they are played again, if that is not too much."""
    if sum(len(ghost.moves) for ghost in race.ghosts) > MOST_ENTRIES:
        return {}
    tallies = {}
    for ghost in race.ghosts:
        seq = ghost.entries_until(now - (race.start_at or 0))
        game, _ = start.ghost_game(ghost).play_all(move for _, move in ghost.moves[:seq])
        tallies[ghost.player.id] = tally_of(game)
    return tallies


def _parsed(query: str) -> dict[str, str]:
    """The parameters of a query; those that are not known here are ignored, as fields are."""
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise Refused(ErrorCode.BAD_MESSAGE, "The query has too many parameters.") from None
    for name, values in found.items():
        if len(values) > 1:
            raise Refused(ErrorCode.BAD_MESSAGE, f"{name[:40]}: the query has it twice.")
    return {name: values[0] for name, values in found.items()}


def _parsed_state(text: str | None) -> RaceState | None:
    try:
        return None if text is None else RaceState(text)
    except ValueError:
        raise Refused(ErrorCode.BAD_MESSAGE, f"state: one of {', '.join(RaceState)} is wanted.") from None


def _parsed_limit(text: str) -> int:
    if not re.fullmatch("[0-9]{1,3}", text) or int(text) > MAX_LIMIT:
        raise Refused(ErrorCode.BAD_MESSAGE, f"limit: a number from 0 to {MAX_LIMIT} is wanted.")
    return int(text)
