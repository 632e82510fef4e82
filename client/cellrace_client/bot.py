"""The bot that comes with cellrace: plays what the solver found, at the pace of its strength."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from random import Random

from cellrace.autoplay import Autoplay
from cellrace.board import Board
from cellrace.game import Game
from cellrace.solver import DEFAULT_STATES
from cellrace_client.greedy import greedy_move
from cellrace_client.pace import Pace, Turn, next_turns
from cellrace_client.race_view import RaceView
from cellrace_client.thinker import Thinker

GREEDY_MOVES = 150
"""So many moves without a plan, then the bot concedes."""


class SolverBot:
    """Chooses the moves of one race."""

    def __init__(
        self,
        thinker: Thinker,
        pace: Pace,
        chance: Random,
        *,
        states: int = DEFAULT_STATES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._thinker = thinker
        self._pace = pace
        self._chance = chance
        self._states = states
        self._sleep = sleep
        self._plan: dict[Board, tuple[str, ...]] = {}
        self._turns: deque[Turn] = deque()
        self._expected_seq = -1
        self._hopeless = False
        self._seen: set[Board] = set()
        self._greedy_moves = 0

    async def choose(self, view: RaceView) -> Sequence[str]:
        """The next moves; none when the bot has played on for long enough without a plan."""
        game = view.game
        if game is None:
            return ()
        if game.seq != self._expected_seq:
            # What was meant to come next was meant for another position.
            self._turns.clear()
        if not self._turns:
            self._turns.extend(await self._next_turns(game))
        if not self._turns:
            return ()
        turn = self._turns.popleft()
        await self._sleep(turn.wait)
        self._expected_seq = game.seq + len(turn.moves)
        return turn.moves

    async def _next_turns(self, game: Game) -> list[Turn]:
        if game.board not in self._plan and not self._hopeless:
            await self._think(game)
        plan = self._plan.get(game.board)
        if plan:
            return next_turns(self._pace, game, plan, self._chance)
        return self._greedy_turns(game)

    async def _think(self, game: Game) -> None:
        solution = await self._thinker.solve(game.board, self._states)
        if solution is None:
            self._hopeless = True
            return
        moves = solution.safe_moves if game.autoplay is Autoplay.SAFE else solution.moves
        for i, move in enumerate(moves):
            self._plan[game.board] = moves[i:]
            game, _ = game.play(move)

    def _greedy_turns(self, game: Game) -> list[Turn]:
        self._seen.add(game.board)
        move = greedy_move(game, self._seen) if self._greedy_moves < GREEDY_MOVES else None
        if move is None:
            return []
        self._greedy_moves += 1
        return next_turns(self._pace, game, (move,), self._chance)[-1:]
