"""Players, leaderboards and days over HTTP: the maps of the protocol, as somebody sees them who is no player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import unquote

import msgspec

from cellrace.codec import JSON
from cellrace.errors import BadMessage, ErrorCode, Refused
from cellrace.messages import DailyGet, LeaderboardGet, PlayerGet
from cellrace_server.challenges import Challenges
from cellrace_server.competition import Competition
from cellrace_server.net import views
from cellrace_server.store import Store

_STRANGER = ""
_LEADERBOARD = ("variant", "date", "deal", "bots", "limit", "offset", "around")

T = TypeVar("T", bound=msgspec.Struct)


class CompetitionPages:
    """Answers what is asked of the competition, in JSON."""

    def __init__(self, store: Store, competition: Competition, challenges: Challenges) -> None:
        self._store = store
        self._competition = competition
        self._challenges = challenges

    async def player(self, named: str) -> bytes:
        """The profile of a player, by id or else by name. Raises Refused with `not_found`, StoreUnavailable."""
        player = await self._store.accounts.find_id(unquote(named))
        profile = await self._competition.profile(_STRANGER, PlayerGet(player=player))
        return JSON.encode(views.player_answer(profile, self._store.clock.now(), None))

    async def leaderboard(self, board: str, asked: Mapping[str, str]) -> bytes:
        """Rows of a board, seen by whoever is named as `player`. Raises Refused, StoreUnavailable."""
        fields = {name: asked[name] for name in _LEADERBOARD if name in asked}
        request = _request({"board": board, **fields}, LeaderboardGet)
        try:
            return JSON.encode(await self._competition.leaderboard(asked.get("player", _STRANGER), request))
        except BadMessage as bad:
            raise Refused(ErrorCode.BAD_MESSAGE, str(bad)) from bad

    async def daily(self, variant: str, asked: Mapping[str, str]) -> bytes:
        """A day's challenge. Raises Refused, StoreUnavailable."""
        fields = {"date": asked["date"]} if "date" in asked else {}
        return JSON.encode(await self._challenges.get(None, _request({"variant": variant, **fields}, DailyGet)))


def _request(fields: Mapping[str, str], kind: type[T]) -> T:
    """The request that a page stands for; numbers and truths as they are written in a query."""
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as wrong:
        raise Refused(ErrorCode.BAD_MESSAGE, f"The query cannot be read: {wrong}.") from None
