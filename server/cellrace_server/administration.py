"""What an operator does to races and players, on the store itself: any node that runs takes it up from there.

Each act is on record and in the log before it is done, and can be done again when it was interrupted.
"""

from __future__ import annotations

import structlog

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason
from cellrace.variants import VARIANTS
from cellrace_server.core.commands import Leave, decide
from cellrace_server.core.effects import effects_of
from cellrace_server.core.facts import Cancelled, Done, Tally
from cellrace_server.core.names import parse_name
from cellrace_server.core.race import Race, evolve
from cellrace_server.ledgers import make_nameless
from cellrace_server.results import record_end
from cellrace_server.revoking import take_back
from cellrace_server.store import Store
from cellrace_server.store.acts import Act
from cellrace_server.store.players import Identity, new_id
from cellrace_server.store.races import Behind, Guard, Moved

PASSES = 5
"""How often the races on record are gone through for a deleted player, since races end meanwhile."""

log = structlog.get_logger()


class Administration:
    """Carries out the acts of one operator."""

    def __init__(self, store: Store, by: str) -> None:
        self._store = store
        self._by = by

    async def _note(self, act: str, subject: str, detail: str = "") -> None:
        await self._store.acts.note(Act(self._store.clock.now(), self._by, act, subject, detail))
        log.info("operator's act", act=act, subject=subject, by=self._by, detail=detail)

    async def note_recompute(self) -> None:
        """The boards are about to be put right."""
        await self._note("recompute", "every board")

    async def void(self, race_id: str) -> str:
        """Let a race count for nothing: one that still runs is cancelled, what one that is over has left is taken back.

        Raises Refused with `no_such_race`, StoreUnavailable.
        """
        if await self._store.races.head(race_id) is None:
            raise Refused(ErrorCode.NO_SUCH_RACE)
        await self._note("void", race_id)
        # First, so that what is being recorded of it at this moment is not recorded again by anybody.
        await self._store.acts.void(race_id)
        race, was_running = await self._cancel(race_id)
        await record_end(self._store, race)
        await self._store.due.forget(race_id)
        if was_running:
            return f"Race {race_id} has been cancelled; it counts for nothing."
        secret = await self._store.races.secret(race_id)
        if race.standings is None or secret is None:
            return f"Race {race_id} was cancelled before; it counts for nothing."
        await take_back(self._store, race, effects_of(race, secret.deal))
        return f"Race {race_id} counts for nothing any more: off every board, record and rating."

    async def _cancel(self, race_id: str) -> tuple[Race, bool]:
        """The race once it has ended, and whether it was this that ended it."""
        while True:
            record = await self._store.races.load(race_id)
            if record is None:
                raise Refused(ErrorCode.NO_SUCH_RACE)
            race, now = record.race, self._store.clock.now()
            if race.ended:
                return race, False
            await self._store.due.expect(race_id, now)
            try:
                facts = [Cancelled(CancelReason.VOID)]
                for stamped in await self._store.races.append(race, f"void-{race_id}", facts, now):
                    race = evolve(race, stamped)
            except Behind:
                continue
            return race, True

    async def ban(self, named: str) -> str:
        """Let a player in no more; a connection that plays is closed with 4104. Raises Refused with `not_found`."""
        player = await self._find(named)
        await self._note("ban", player.player.id)
        await self._store.accounts.ban(player.player.id, self._store.clock.now())
        return f"{_told(player)} is banned. Running games go on without their player, and boards stay as they are."

    async def unban(self, named: str) -> str:
        """Let a player in again. Raises Refused with `not_found`."""
        player = await self._find(named)
        await self._note("unban", player.player.id)
        await self._store.accounts.unban(player.player.id)
        return f"{_told(player)} may come back."

    async def rename(self, named: str, name: str) -> str:
        """Give a player another name. Raises Refused with `not_found`, `bad_name` or `name_taken`."""
        player, wanted = await self._find(named), parse_name(name)
        await self._note("rename", player.player.id, wanted.shown)
        await self._store.players.change(player, wanted, player.player.bot, self._store.clock.now())
        return f"{_told(player)} is called {wanted.shown} from now on; in races that have begun the old name stays."

    async def delete(self, named: str) -> str:
        """Forget a player: no board, day or list has the player any more, and in the races of others nobody has a name.

        Raises Refused with `not_found`, StoreUnavailable.
        """
        player = await self._find(named)
        player_id = player.player.id
        await self._note("delete", player_id)
        await self._store.accounts.ban(player_id, self._store.clock.now())
        stand_ins = {player_id: await self._store.accounts.stand_in(player_id)}
        for race_id in await self._store.players.races(player_id):
            await self._leave(race_id, player_id, stand_ins[player_id])
        await self._purge(player_id, stand_ins)
        races = await self._make_nameless(player_id, stand_ins)
        # Again: what was being recorded of a race that ended at that moment is there by now.
        await self._purge(player_id, stand_ins)
        await self._store.accounts.forget(player_id)
        counted = "1 race" if races == 1 else f"{races} races"
        return f"{_told(player)} is deleted; in {counted} on record somebody without a name has played instead."

    async def _leave(self, race_id: str, player: str, stand_in: str) -> None:
        """Take a player out of a race that has not ended; one that runs is forfeited."""
        while True:
            record, head = await self._store.races.load(race_id), await self._store.races.head(race_id)
            if record is None or head is None or record.race.ended or record.race.entrant(player) is None:
                return
            await self._store.acts.forget_later(race_id, player, stand_in)
            race, now = record.race, self._store.clock.now()
            facts = decide(race, Leave(player, head.tallies.get(player, Tally())), now)
            guards = [Guard(fact.player, fact.tally.seq) for fact in facts if isinstance(fact, Done)]
            await self._store.due.expect(race_id, now)
            try:
                await self._store.races.append(race, new_id(), facts, now, guards)
            except (Behind, Moved):
                continue
            return

    async def _purge(self, player: str, stand_ins: dict[str, str]) -> None:
        for variant in VARIANTS:
            waiting, _ = await self._store.queue.read(variant)
            for entry in waiting:
                if entry.player.id == player:
                    await self._store.queue.leave(variant, player, entry.sid)
            await make_nameless(self._store, variant, stand_ins)
        for board in await self._store.census.boards():
            await self._store.boards.remove(board, player)
        await self._store.census.delete_attempts(player)

    async def _make_nameless(self, player: str, stand_ins: dict[str, str]) -> int:
        """Let somebody stand in for a player in every race on record, now or when it ends; says in how many."""
        found: set[str] = set()
        for _ in range(PASSES):
            done = len(found)
            for race_id in await self._store.census.mentioning(player):
                found.add(race_id)
                await self._leave(race_id, player, stand_ins[player])  # One that was just being entered.
                await self._store.acts.forget_later(race_id, player, stand_ins[player])
                await self._store.races.stand_in(race_id, stand_ins)
            if len(found) == done:
                break
        return len(found)

    async def _find(self, named: str) -> Identity:
        player = await self._store.players.find(await self._store.accounts.find_id(named))
        if player is None:
            raise Refused(ErrorCode.NOT_FOUND, "There is no such player.")
        return player


def _told(player: Identity) -> str:
    return f"{player.player.name} ({player.player.id})"
