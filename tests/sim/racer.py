"""The racers of the chaos run on the made-up network, who think between moves and get up to mischief."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, cast

from websockets.exceptions import ConnectionClosed

from cellrace.errors import IllegalMove
from cellrace.game import Game
from tests.chaos.games import Plan, first_game
from tests.chaos.history import Asked, History, Map, Seat
from tests.chaos.racer import LOST, PATIENCE, Line, Lost, Racer
from tests.sim.house import SimNode
from tests.sim.plot import Plot
from tests.sim.socket import SimSocket
from tests.story.players import Player

MISCHIEF = 0.06
"""How often, of the times that a racer would move, something else is done first."""
KNOWN_CLOSES = frozenset({1000, 1001, 1006, 4001, 4100})
"""How a connection may end here; nobody is too slow, too fast, late with hello or banned."""
_PILES = "1234567890abcdhru"
CAUGHT_UP = 14.0
"""Within so many seconds after its clock has jumped a node follows the store's."""


class Houses:
    """What a racer looks at: the nodes, and a store that is never said to have been away."""

    def __init__(self, nodes: list[SimNode]) -> None:
        self.nodes = nodes
        self.store = self
        self.back_at = 0.0


class SimRacer(Racer):
    """One player."""

    def __init__(self, nodes: list[SimNode], history: History, chance: Random, name: str, plot: Plot) -> None:
        super().__init__(cast(Any, Houses(nodes)), history, chance, name)
        self._plot = plot
        self._variants: dict[str, str] = {}
        self._vanished = False
        if plot.clocks_jump:
            self.unsure = CAUGHT_UP

    # --- connections

    async def _open(self, node: Any, codec: str) -> Player:
        host, _, port = node.url.partition(":")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PATIENCE):
            transport, socket = await loop.create_connection(lambda: SimSocket(codec), host, int(port))
            try:
                await socket.open()
            except BaseException:
                transport.abort()
                raise
        # Another name each time: whose answer was lost has taken the first one.
        self.name = f"{self.name.partition('.')[0]}.{self.history.connection()}"
        return Player(cast(Any, socket))

    async def lose(self, why: Exception) -> None:
        """The connection is lost: record how, and come back."""
        line, self._line = self._line, None
        assert line is not None
        if isinstance(why, TimeoutError):
            self._leave_open(line)
        else:
            code = why.rcvd.code if isinstance(why, ConnectionClosed) and why.rcvd else 1006
            self.history.closes[str(code)] += 1
            if code not in KNOWN_CLOSES or (code == 4001 and not self._plot.loses_track):
                self.history.problem(f"{self.name} was disconnected with {code}")
            line.socket.transport.abort()
        self.history.counts["connections lost"] += 1
        await self.come(linger=True)

    def _leave_open(self, line: Line) -> None:
        self._left.append(line)  # What it has sent may still be carried out.
        if len(self._left) > 3:
            self._left.pop(0).socket.transport.abort()

    async def unanswered(self) -> int:
        """How many requests have got no answer on connections that are open still."""
        lines = [*self._left, *([self._line] if self._line else [])]
        missing = 0
        for line in lines:
            socket = cast(SimSocket, line.socket)
            try:
                while socket.waiting:
                    await line.read()
            except (*LOST, Lost):
                continue
            missing += 0 if socket.lost or socket.closing else len(line.unanswered)
        return missing

    # --- a race

    async def rematch(self, race: str) -> str:
        """The race after a race, or nothing where there can be none."""
        answer = await self.surely("race.rematch", race=race)
        return str(answer["race"]) if answer["type"] == "race" else ""

    async def watch(self, race: str) -> None:
        """Watch a race to its end."""
        while race not in self._over:
            whole = await self.surely("race.watch", race=race)
            if whole["type"] == "error" or whole["state"] in ("over", "cancelled"):
                return
            for _ in range(3):
                await self._listen(0.5)

    async def enter(self, race: str) -> None:
        """Be ready, and wait for the start."""
        self._variants[race] = self.history.races[race].variant
        await super().enter(race)

    async def play(self, race: str, plan: Plan) -> None:
        """Play the plan to its end, whatever happens meanwhile."""
        end, plan.end = plan.end, "won"
        await super().play(race, plan)
        if end != "won" and race not in self._over:
            await self._stop_playing(race, f"race.{'concede' if end == 'conceded' else 'forfeit'}")

    async def _stop_playing(self, race: str, kind: str) -> None:
        """Say that this game has ended: who is told that it had already, was not told when it did."""
        line = self._line or await self.come()
        try:
            answer = await line.answer(await line.send(kind, race=race), PATIENCE)
        except LOST as why:
            await self.lose(why)
        except Lost:
            return
        else:
            late = self._plot.time_limit < 100 or self._plot.grace < 100
            if answer["type"] == "error" and answer["code"] in ("already_done", "not_running") and not late:
                self.history.problem(f"{self.name} asked for {kind} of {race} once and was told {answer}")
            if answer["type"] == "ok":
                return
        while True:
            answer = await self.surely(kind, race=race)
            if answer.get("code") != "not_started" or not self._plot.clocks_jump:
                return
            await asyncio.sleep(0.2)  # Another node's clock has not jumped.

    async def _vanish(self) -> None:
        """Be without a connection for about as long as that is forgiven."""
        line, self._line = self._line, None
        if line is not None:
            line.socket.transport.abort()
        self.history.counts["vanished"] += 1
        await asyncio.sleep(self._plot.grace + self.chance.uniform(-2, 3))
        await self.come(linger=True)

    async def _play_from(self, race: str, plan: Plan, place: int, seat: Seat) -> int:
        if self._plot.grace < 100 and not self._vanished and self.chance.random() < 0.1:
            self._vanished = True
            await self._vanish()
            raise Lost
        await asyncio.sleep(self.chance.uniform(0, self._plot.thinking))
        if self.chance.random() < MISCHIEF:
            if self.chance.random() < 0.5:
                await self._move_illegally(race, plan, place, seat)
            else:
                return await self._be_taken_over(race, plan, place, seat)
        return await super()._play_from(race, plan, place, seat)

    async def _resume(self, race: str, plan: Plan, seat: Seat) -> int:
        last = seat.asked[-1] if seat.asked else None
        if last is not None and last.answer is None and self.chance.random() < 0.5 and plan.has(last.seq, last.moves):
            # Blindly what was sent last, as a client does that has kept it: carried out once, answered as it was.
            await self._send_again(race, seat, last)
        while self._plot.clocks_jump:
            whole = await self.surely("race.sync", race=race)
            if whole.get("state") != "countdown":
                break
            await asyncio.sleep(0.2)  # Another node's clock has not jumped.
        return await super()._resume(race, plan, seat)

    async def _send_again(self, race: str, seat: Seat, lost: Asked) -> None:
        line = self._line or await self.come()
        again = Asked(line.number, lost.seq, lost.moves)
        seat.asked.append(again)
        answer = await self._try(line, race, again)
        if answer is not None and answer["type"] == "moved":
            again.answer = answer
            self.history.counts["sent again"] += 1

    async def _try(self, line: Line, race: str, asked: Asked) -> Map | None:
        """The answer to a move, or None when there is none."""
        try:
            return await line.answer(await line.send("move", race=race, seq=asked.seq, moves=asked.moves), PATIENCE)
        except (*LOST, Lost):
            return None

    def _game(self, race: str, seat: Seat, entries: list[str]) -> Game:
        assert seat.started is not None
        return first_game(self._variants[race], seat.started["deal"]).play_all(entries)[0]

    async def _move_illegally(self, race: str, plan: Plan, place: int, seat: Seat) -> None:
        seq, _ = plan.messages[place]
        game = self._game(race, seat, plan.entries[:seq])
        move = self.chance.choice(_PILES) + self.chance.choice(_PILES)
        try:
            game.play(move)
        except IllegalMove as illegal:
            answer = await self.ask("move", race=race, seq=seq, moves=[move])
            self.history.counts["illegal moves"] += 1
            if answer["type"] != "error":
                self.history.problem(f"{self.name} moved {move} at {seq} of {race} and was told {answer}")
            elif answer["code"] == "illegal_move" and answer["reason"] != illegal.reason:
                self.history.problem(f"{move} is {illegal.reason}, and {self.name} was told {answer}")
            elif answer["code"] in ("stale", "bad_message", "internal"):
                self.history.problem(f"{self.name} moved {move} in {race} at {seq} and was told {answer}")

    async def _be_taken_over(self, race: str, plan: Plan, place: int, seat: Seat) -> int:
        """Connect elsewhere while a move is under way; then the older connection tries another one."""
        old, self._line = self._line or await self.come(), None
        seq, moves = plan.messages[place]
        if self.chance.random() < 0.5:
            seat.asked.append(Asked(old.number, seq, moves))
            await self._send_blindly(old, race, seq, moves)
        self._leave_open(old)
        await self.come(linger=True)
        self.history.counts["taken over"] += 1
        place = await self._resume(race, plan, seat)
        if place < len(plan.messages):
            seq, moves = plan.messages[place]
            others = [
                move for move in self._game(race, seat, plan.entries[:seq]).board.legal_moves() if move != moves[0]
            ]
            if others:
                move = self.chance.choice(others)
                seat.asked.append(Asked(old.number, seq, [move]))
                await self._send_blindly(old, race, seq, [move])
        return place

    async def _send_blindly(self, line: Line, race: str, seq: int, moves: list[str]) -> None:
        try:
            await line.send("move", race=race, seq=seq, moves=moves)
        except LOST:
            self.history.counts["nobody there"] += 1

    async def _refused(self, race: str, asked: Asked, answer: Map, *, first: bool) -> None:
        if answer["code"] == "not_started" and self._plot.clocks_jump:
            self.history.counts["not_started"] += 1
            await asyncio.sleep(0.2)  # Another node's clock has not jumped.
            return
        await super()._refused(race, asked, answer, first=first)
