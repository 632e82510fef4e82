"""Players who never give up: they play solved games, come back at any node, and record what they see."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from random import Random

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from tests.chaos.games import Plan
from tests.chaos.history import Asked, Came, History, Map, Seat
from tests.chaos.house import House, NodeProcess
from tests.story.players import JSON, MSGPACK, Player, open_socket

PATIENCE = 2.0
"""Seconds without an answer after which a racer goes elsewhere; the old connection stays open, as a phone's does."""
UNSURE = 10.0
"""Seconds within which a node that has just started, or was cut off, is sure of the race clock."""
TAKEN_OVER = 4100
LATE = 8.0
"""Seconds within which a hello that was given up may be carried out."""
LOST = (ConnectionClosed, OSError, TimeoutError, EOFError, InvalidHandshake, InvalidMessage)
DONE = {"won", "conceded", "timed_out", "forfeited", "abandoned"}


class Lost(Exception):
    """The connection is lost; there is a new one by now."""


class Line(Player):
    """One connection whose frames are looked at as they come, and not kept."""

    def __init__(self, racer: Racer, player: Player, node: NodeProcess) -> None:
        super().__init__(player.socket)
        self.frames = deque(maxlen=1)  # type: ignore[assignment]  # as much of a list as is used here
        self.node = node
        self.opened_at = time.monotonic()
        self.number = racer.history.connection()
        self._racer = racer
        self.unanswered: deque[int] = deque()
        """Requests without an answer, in the order in which they were sent."""

    async def send(self, kind: str, /, **fields: object) -> int:
        """Send a request; its answer must come in its turn."""
        number = await super().send(kind, **fields)
        self.unanswered.append(number)
        return number

    async def read(self, patience: float = PATIENCE) -> Map:
        """The next message, recorded."""
        try:
            message = await super().read(patience)
        except AssertionError as wrong:
            self._racer.history.problem(f"{self._racer.name}: {wrong}")
            raise Lost from wrong
        if "re" in message:
            expected = self.unanswered.popleft() if self.unanswered else None
            if message["re"] != expected:
                self._racer.history.problem(f"{self._racer.name}: request {expected} was to be answered, not {message}")
        elif "race" in message:
            self._racer.hear(message)
        self.pushes.clear()
        return message


class Racer:
    """One player, over all connections and races."""

    unsure = UNSURE
    """How long a node may be unsure of the clock where this one plays, in seconds."""

    def __init__(self, house: House, history: History, chance: Random, name: str) -> None:
        self.history = history
        self.name = name
        self.chance = chance
        self.id = ""
        self._house = house
        self._token = ""
        self._line: Line | None = None
        self._left: list[Line] = []
        self._over: set[str] = set()
        self.patience = PATIENCE
        self._gave_up_at = float("-inf")
        """When an attempt to come back was last given up."""
        self._wants_since = float("inf")
        """Since when there has been a move to be answered."""

    # --- connections

    def hear(self, push: Map) -> None:
        """Record a push of a race."""
        seen = self.history.races.get(push["race"])
        if seen is None:
            return
        now = time.time() * 1000
        kind = push["type"]
        if kind == "race.started":
            if now < push["start_at"] - 1:
                self.history.problem(f"{self.name} was told the deal {push['start_at'] - now:.0f} ms before the start")
            seen.seat(self.id).started = push
        if "version" in push and kind != "race":
            # The place of somebody who is done is provisional: it depends on who else was known to be done.
            told = {name: value for name, value in push.items() if name not in ("now", "place")}
            if seen.facts.setdefault(push["version"], told) != told:
                self.history.problem(f"two facts with one version: {told} and {seen.facts[push['version']]}")
            if kind == "race.countdown":
                seen.countdown = push
            if kind in ("race.over", "race.cancelled"):
                self._over.add(push["race"])

    async def come(self, linger: bool = False) -> Line:
        """Be connected, at whatever node; `linger` says that an older connection may still have something to say."""
        began, kill_free = time.monotonic(), self._house.store.back_at
        while True:
            node = self.chance.choice(self._house.nodes)
            try:
                line = await self._arrive(node)
            except (*LOST, AssertionError):
                self._gave_up_at = time.monotonic()
                await asyncio.sleep(self.chance.uniform(0.01, 0.1))
                continue
            self._line = line
            break
        if self._house.store.back_at == kill_free and kill_free < began - 1 and not linger:
            self.history.resumed.append((time.monotonic() - began, 0))
        return line

    async def _arrive(self, node: NodeProcess) -> Line:
        line = Line(self, await self._open(node, self.chance.choice([JSON, MSGPACK])), node)
        try:
            async with asyncio.timeout(PATIENCE):
                if self._token:
                    await line.hello(token=self._token)
                else:
                    await line.hello(name=self.name)
        except BaseException:
            line.socket.transport.abort()
            raise
        self.id, self._token = line.id, line.token
        return line

    async def _open(self, node: NodeProcess, codec: str) -> Player:
        return Player(await open_socket(node.url, codec, open_timeout=PATIENCE, ping_interval=None))

    async def lose(self, why: Exception) -> None:
        """The connection is lost: record how, and come back."""
        line, self._line = self._line, None
        assert line is not None
        if isinstance(why, ConnectionClosed):
            code = why.rcvd.code if why.rcvd else 1006
            if line.node.died_at > line.opened_at:
                self.history.closes["node died"] += 1
            elif code == TAKEN_OVER and time.monotonic() - self._gave_up_at < LATE:
                # A node that slept has read a hello, and not yet that its connection is no more.
                self.history.closes["own hello, late"] += 1
            else:
                # Whatever happens to the store, nobody is disconnected for it.
                self.history.problem(f"{self.name} was disconnected with {code} by a node that lives")
        elif isinstance(why, TimeoutError):
            self.history.closes["no answer"] += 1
            self._left.append(line)  # Left open: what it has sent may still be carried out.
            if len(self._left) > 3:
                self._left.pop(0).socket.transport.abort()
        self.history.counts["connections lost"] += 1
        await self.come(linger=isinstance(why, TimeoutError))
        if isinstance(why, TimeoutError) and self.chance.random() < 0.6:
            await asyncio.sleep(self.chance.uniform(0.2, 1.5))

    async def ask(self, kind: str, /, **fields: object) -> Map:
        """Ask until there is an answer other than that the store is in trouble; Lost when the connection was."""
        line = self._line or await self.come()
        while True:
            try:
                answer = await line.answer(await line.send(kind, **fields), self.patience)
            except LOST as why:
                await self.lose(why)
                raise Lost from why
            if answer["type"] == "error" and answer["code"] in ("retry_later", "rate_limited"):
                self.history.counts[answer["code"]] += 1
                await asyncio.sleep(self.chance.uniform(0.02, 0.2))
                continue
            return answer

    async def surely(self, kind: str, /, **fields: object) -> Map:
        """Ask again and again, over as many connections as it takes; for what may be asked twice."""
        while True:
            try:
                return await self.ask(kind, **fields)
            except Lost:
                continue

    async def close(self) -> None:
        """Leave."""
        for line in (*self._left, *([self._line] if self._line else [])):
            line.socket.transport.abort()

    # --- a race

    async def open_race(self, settings: Map) -> str:
        """Create a race; one that was created though its answer was lost is found again."""
        while True:
            try:
                answer = await self.ask("race.create", settings=settings)
                assert answer["type"] == "race", answer
                return str(answer["race"])
            except Lost:
                assert self._line is not None
                for race in [race["race"] for race in self._line.welcome["races"] if race["state"] == "open"]:
                    # Another one may be open: that of an earlier creation which was carried out twice.
                    whole = await self.surely("race.sync", race=race)
                    if whole["type"] == "race" and whole["settings"]["variant"] == settings["variant"]:
                        return str(race)

    async def join(self, race: str) -> bool:
        """Join a race that is open."""
        answer = await self.surely("race.join", race=race)
        if answer["type"] == "race":
            return True
        self.history.counts["left out"] += 1
        self._over.add(race)
        return False

    async def enter(self, race: str) -> None:
        """Be ready, and wait for the start."""
        seat = self.history.races[race].seat(self.id)
        while seat.started is None and race not in self._over:
            whole = await self.surely("race.sync", race=race)
            if whole["type"] == "error":
                # Removed, as somebody who was offline for long.
                if not await self.join(race):
                    return
                continue
            if whole["state"] in ("over", "cancelled"):
                self._over.add(race)
                return
            me = next((entrant for entrant in whole["entrants"] if entrant["player"]["id"] == self.id), None)
            if "deal" in whole and "layout" in whole:
                seat.started = {name: whole[name] for name in ("start_at", "deal", "salt", "layout")}
                if "reserve" in whole:
                    seat.started["reserve"] = whole["reserve"]
            elif me is not None and me["status"] == "joined":
                await self.surely("race.ready", race=race)
            await self._listen(0.5)

    async def _listen(self, seconds: float) -> None:
        line = self._line or await self.come()
        try:
            await line.read(seconds)
        except TimeoutError:
            return
        except LOST as why:
            await self.lose(why)
        except Lost:
            await self.lose(OSError("what came was wrong"))

    async def play(self, race: str, plan: Plan) -> None:
        """Play the plan to its end, whatever happens meanwhile."""
        seat = self.history.races[race].seat(self.id)
        place = 0
        while place < len(plan.messages) and race not in self._over:
            try:
                place = await self._play_from(race, plan, place, seat)
            except Lost:
                place = await self._resume(race, plan, seat)
        self._wants_since = float("inf")
        if plan.end != "won" and race not in self._over:
            await self.surely(f"race.{'concede' if plan.end == 'conceded' else 'forfeit'}", race=race)

    async def _resume(self, race: str, plan: Plan, seat: Seat) -> int:
        """The place in the plan after coming back, by what the record says."""
        began, since = time.monotonic(), self._house.store.back_at
        whole = await self.surely("race.sync", race=race)
        patience = began + self.unsure
        while whole.get("state") == "countdown" and time.monotonic() < patience:
            # A node that is not sure of the clock yet tells the deal a little later than the one that has died.
            await self._listen(0.1)
            whole = await self.surely("race.sync", race=race)
        if whole["type"] != "race" or "you" not in whole:
            self.history.problem(f"{self.name} came back to {race} and was told {whole}")
            self._over.add(race)
            return len(plan.messages)
        assert self._line is not None
        kept = whole["you"]["moves"]
        seat.came.append(Came(self._line.number, len(kept)))
        if self._house.store.back_at == since < began - 1 and self.history.resumed:
            took, _ = self.history.resumed[-1]
            self.history.resumed[-1] = took + time.monotonic() - began, len(kept)
        status = next(entrant["status"] for entrant in whole["entrants"] if entrant["player"]["id"] == self.id)
        if status in DONE:
            return len(plan.messages)
        place = plan.place(kept)
        if place is None:
            self.history.problem(f"{self.name} came back to {race}; its log is {kept}, not as played: {plan.entries}")
            await self.surely("race.forfeit", race=race)
            return len(plan.messages)
        return place

    async def _play_from(self, race: str, plan: Plan, place: int, seat: Seat) -> int:
        """Send a few messages at once, and take their answers; the place of the first that was not carried out."""
        line = self._line or await self.come()
        some = plan.messages[place : place + self.chance.choice([1, 1, 2, 3])]
        if place and self.chance.random() < 0.03:
            some = [plan.messages[self.chance.randrange(place)], *some]  # A repeat; answered as the first time.
            place -= 1
        sent: list[tuple[int, Asked]] = []
        self._wants_since = min(self._wants_since, time.monotonic())
        try:
            for seq, moves in some:
                asked = Asked(line.number, seq, moves)
                seat.asked.append(asked)
                sent.append((await line.send("move", race=race, seq=seq, moves=moves), asked))
            done, fine = 0, True
            for number, asked in sent:
                answer = await line.answer(number, self.patience)
                if answer["type"] == "moved":
                    asked.answer = answer
                    done += fine
                    self._note_flow()
                    self.history.counts["moves answered"] += len(asked.moves)
                    continue
                fine = False
                await self._refused(race, asked, answer, first=number == sent[0][0])
            return place + done
        except LOST as why:
            await self.lose(why)
            raise Lost from why

    def _note_flow(self) -> None:
        now, back_at = time.monotonic(), self._house.store.back_at
        if self._wants_since < back_at < now:
            self.history.flowing.append(now - back_at)
        self._wants_since = now
        self.history.answered_at.append(now)

    async def _refused(self, race: str, asked: Asked, answer: Map, *, first: bool) -> None:
        code = answer["code"]
        self.history.counts[code] += 1
        if code in ("retry_later", "rate_limited"):
            await asyncio.sleep(self.chance.uniform(0.02, 0.2))
        elif code == "already_done":
            self._over.add(race)
            if first and asked.answer is None:
                self.history.counts["already done"] += 1
        elif first or code != "stale":
            self.history.problem(f"{self.name} moved {asked.moves} at {asked.seq} of {race} and was told {answer}")
            self._over.add(race)

    async def see_the_end(self, race: str, patience: float) -> None:
        """Wait for the standings, and record the whole race as it is then."""
        seat = self.history.races[race].seat(self.id)
        if race in self._over and seat.started is None:
            return
        end = time.monotonic() + patience
        while time.monotonic() < end:
            whole = await self.surely("race.sync", race=race)
            if whole["type"] == "error":
                self.history.problem(f"{self.name} asked for {race} at its end and was told {whole}")
                return
            if whole["state"] in ("over", "cancelled"):
                seat.end = whole
                self.history.races[race].ended = whole["state"]
                return
            await self._listen(0.3)
        self.history.problem(f"{self.name} has seen no end of {race} within {patience:g} s")
