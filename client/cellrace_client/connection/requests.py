"""The requests of the protocol as methods: what a bot author calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import overload

from msgspec import structs

from cellrace.errors import BadMessage, ErrorCode, Refused
from cellrace.messages import (
    EXCHANGES,
    ClientMessage,
    Daily,
    DailyGet,
    DailyPractice,
    DailyStart,
    Leaderboard,
    LeaderboardGet,
    Move,
    Moved,
    Ok,
    Ping,
    PlayerAnswer,
    PlayerGet,
    Pong,
    Queued,
    QueueJoin,
    QueueLeave,
    RaceAnswer,
    RaceConcede,
    RaceCreate,
    RaceForfeit,
    RaceJoin,
    RaceKick,
    RaceKind,
    RaceLeave,
    RaceList,
    RaceMissed,
    RaceReady,
    RaceRematch,
    Races,
    RaceStart,
    RaceState,
    RaceSync,
    RaceUnwatch,
    RaceWatch,
    Replay,
    ReplayAnswer,
    ReplayGet,
    ServerAnswer,
    SettingsRequest,
    Summary,
)
from cellrace_client.connection.ghosts import by_their_ids
from cellrace_client.race_view import RaceView, goes_on


class Requests(ABC):
    """Each request as a method; all of them raise Refused when the server says no, Closed when there is none."""

    races: Mapping[str, RaceView]

    @abstractmethod
    async def exchange(self, request: ClientMessage) -> ServerAnswer:
        """The answer to a request. Raises Refused, Closed, Unanswered or Unreachable."""

    @abstractmethod
    def next_seq(self, race: str) -> int:
        """The `seq` of the next `move`: the log entries known, and those on their way."""

    @overload
    async def request(self, request: Ping) -> Pong: ...
    @overload
    async def request(
        self, request: RaceCreate | RaceJoin | RaceWatch | RaceRematch | DailyStart | DailyPractice
    ) -> RaceAnswer: ...
    @overload
    async def request(self, request: RaceSync) -> RaceAnswer | RaceMissed: ...
    @overload
    async def request(
        self,
        request: RaceLeave | RaceReady | RaceStart | RaceKick | RaceConcede | RaceForfeit | RaceUnwatch | QueueLeave,
    ) -> Ok: ...
    @overload
    async def request(self, request: RaceList) -> Races: ...
    @overload
    async def request(self, request: QueueJoin) -> Queued: ...
    @overload
    async def request(self, request: PlayerGet) -> PlayerAnswer: ...
    @overload
    async def request(self, request: DailyGet) -> Daily: ...
    @overload
    async def request(self, request: LeaderboardGet) -> Leaderboard: ...
    @overload
    async def request(self, request: ReplayGet) -> ReplayAnswer: ...
    @overload
    async def request(self, request: Move) -> Moved: ...
    @overload
    async def request(self, request: ClientMessage) -> ServerAnswer: ...

    async def request(self, request: ClientMessage) -> ServerAnswer:
        """The typed answer to a request."""
        answer = await self.exchange(request)
        wanted = EXCHANGES[type(request)].answers
        if not isinstance(answer, wanted):
            raise BadMessage(f"The server answered {type(request).__name__} with {type(answer).__name__}.")
        return answer

    def _known(self, race: str) -> RaceView:
        """A race that was just told of, unless what followed has made it unknown. Raises Refused."""
        view = self.races.get(race)
        if view is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        return view

    async def ping(self) -> int:
        """The race clock as the server tells it."""
        return (await self.request(Ping())).now

    async def create(self, settings: SettingsRequest | None = None) -> RaceView:
        """Opens a race and enters it; the players of ghosts may be named by their names too."""
        try:
            return self._known((await self.request(RaceCreate(settings=settings))).race)
        except Refused as refused:
            if refused.field != "ghosts" or settings is None or settings.ghosts is None:
                raise
            by_ids = structs.replace(settings, ghosts=await by_their_ids(self, settings.ghosts))
            if by_ids == settings:
                raise
        return self._known((await self.request(RaceCreate(settings=by_ids))).race)

    async def join(self, race: str | None = None, *, code: str | None = None) -> RaceView:
        """Enters a race, named by its id or by its code."""
        return self._known((await self.request(RaceJoin(race=race, code=code))).race)

    async def leave(self, race: str) -> None:
        """Leaves a race; from the countdown on that is a forfeit."""
        await self.request(RaceLeave(race=race))

    async def ready(self, race: str, ready: bool = True) -> None:
        """Says that one is ready to start, or not any more."""
        await self.request(RaceReady(race=race, ready=ready))

    async def start(self, race: str) -> None:
        """Starts the countdown, as the host."""
        await self.request(RaceStart(race=race))

    async def kick(self, race: str, player: str) -> None:
        """Removes an entrant, as the host."""
        await self.request(RaceKick(race=race, player=player))

    async def concede(self, race: str) -> None:
        """Stops playing, to be ranked by the cards home."""
        await self.request(RaceConcede(race=race))

    async def forfeit(self, race: str) -> None:
        """Gives the race up."""
        await self.request(RaceForfeit(race=race))

    async def sync(self, race: str) -> RaceView:
        """Asks how a race stands."""
        await self.request(RaceSync(race=race))
        return self._known(race)

    async def with_logs(self, race: str) -> RaceView:
        """A race with the games of the others as far as one may see them; asks for them where that is needed.

        Whoever plays is not told the moves of others, and those made until then are in no push afterwards.
        """
        view = self._known(race)
        return await self.sync(race) if view.lacks_logs else view

    async def watch(self, race: str | None = None, *, code: str | None = None) -> RaceView:
        """Becomes a spectator, also again after a drop."""
        return self._known((await self.request(RaceWatch(race=race, code=code))).race)

    async def unwatch(self, race: str) -> None:
        """Stops being a spectator."""
        await self.request(RaceUnwatch(race=race))

    async def rematch(self, race: str) -> RaceView:
        """Enters the one successor of a race."""
        return self._known((await self.request(RaceRematch(race=race))).race)

    async def move(self, race: str, *moves: str, seq: int | None = None) -> Moved:
        """Plays moves: all of them, or none.

        `seq` is counted by itself; moves may be sent before the last ones are answered. When the server counts
        otherwise (`stale`), the race is asked for before Refused is raised.
        """
        at = self.next_seq(race) if seq is None else seq
        try:
            return await self.request(Move(race=race, seq=at, moves=moves))
        except Refused as refused:
            if refused.code == ErrorCode.STALE:
                await self.sync(race)
            raise

    async def undo(self, race: str, entries: int = 1) -> Moved:
        """Takes entries back."""
        return await self.move(race, *["u"] * entries)

    async def list_races(
        self,
        *,
        variant: str | None = None,
        state: RaceState | None = None,
        mine: bool = False,
        limit: int = 50,
    ) -> tuple[Summary, ...]:
        """Public races, or one's own; newest first."""
        return (await self.request(RaceList(variant=variant, state=state, mine=mine, limit=limit))).races

    async def queue(self, variant: str = "freecell", *, bots: bool = False) -> int:
        """Waits to be matched, and says how many wait; the race comes as the event Matched."""
        return (await self.request(QueueJoin(variant=variant, bots=bots))).waiting

    async def missed_match(self, known: AbstractSet[str]) -> RaceView | None:
        """The race that the queue found as the connection dropped: it is none of those known before."""
        await self.ping()  # Answers come in order: by then the races are known in which one is.
        return next((view for view in self.races.values() if goes_on(view) and view.race not in known), None)

    async def leave_queue(self) -> None:
        """Stops waiting to be matched."""
        await self.request(QueueLeave())

    async def daily(self, variant: str = "freecell", date: str | None = None) -> Daily:
        """A day's challenge, today's unless a date is named, and one's own attempt."""
        return await self.request(DailyGet(variant=variant, date=date))

    async def daily_under_way(self, variant: str = "freecell") -> RaceView | None:
        """One's attempt that has not ended: of today, or one that was begun before midnight."""
        await self.ping()  # Answers come in order: by then the races are known in which one is.
        return self.known_daily(variant)

    def known_daily(self, variant: str) -> RaceView | None:
        """The same of the races that are known already."""
        dailies = (view for view in self.races.values() if view.kind is RaceKind.DAILY)
        return next((view for view in dailies if view.settings.variant == variant and goes_on(view)), None)

    async def start_daily(self, variant: str = "freecell") -> RaceView:
        """Begins one's only attempt at today's challenge; the view of one that goes on already, also yesterday's."""
        if (under_way := await self.daily_under_way(variant)) is not None:
            return under_way
        try:
            return self._known((await self.request(DailyStart(variant=variant))).race)
        except Refused as refused:
            if refused.code != ErrorCode.ALREADY_ATTEMPTED or refused.race is None:
                raise
            # Begun when it was asked for before, which no answer has told, or at another place.
            going_on = self.races.get(refused.race) or await self.sync(refused.race)
            if going_on.ended:
                raise
            return going_on

    async def practise(self, variant: str, date: str) -> RaceView:
        """Plays the deal of a published day; it never counts."""
        return self._known((await self.request(DailyPractice(variant=variant, date=date))).race)

    async def leaderboard(self, request: LeaderboardGet) -> Leaderboard:
        """Rows of a leaderboard."""
        return await self.request(request)

    async def replay(self, race: str, player: str) -> Replay:
        """The signed replay of a finished game."""
        return (await self.request(ReplayGet(race=race, player=player))).replay

    async def player_record(self, player: str | None = None) -> PlayerAnswer:
        """What a player has done, or oneself."""
        return await self.request(PlayerGet(player=player))
