"""Players on record: names that one player has, tokens of which a hash is kept, and the connection that plays."""

from __future__ import annotations

import asyncio

import pytest

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Player
from cellrace_server.core.names import parse_name
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import SupersededTold
from cellrace_server.store.players import ORPHANED_NAME, RECENT_RACES, Credentials, Holder, new_credentials, new_id
from tests.server.shell import Shell
from tests.server.store.listening import listening
from tests.waiting import eventually

NOW = 5_000_000


async def registered(shell: Shell, name: str, *, bot: bool = False, now: int = NOW) -> tuple[Player, Credentials]:
    newcomer = new_credentials()
    return await shell.store.players.register(newcomer, parse_name(name), bot, now), newcomer


async def rename(shell: Shell, player: Player, name: str, now: int = NOW) -> Player:
    identity = await shell.store.players.find(player.id)
    assert identity is not None
    return await shell.store.players.change(identity, parse_name(name), False, now)


class TestRegistering:
    async def test_a_new_player_is_known_by_token_and_id(self, here: Shell) -> None:
        ann, newcomer = await registered(here, "Ann")
        assert ann == Player(id=newcomer.id, name="Ann", bot=False)
        assert (await here.store.players.recognise(newcomer.token)).player == ann
        identity = await here.store.players.find(ann.id)
        assert identity is not None
        assert (identity.player, identity.since, identity.folded) == (ann, NOW, "ann")
        assert await here.store.players.find("nobody") is None

    async def test_the_store_never_has_a_token(self, here: Shell) -> None:
        """Whoever reads the store, or a copy of it, cannot play for anybody."""
        _, newcomer = await registered(here, "Ann")
        secret = newcomer.token.partition(".")[2].encode()
        for key in await here.link.command("KEYS", "*"):
            kind = await here.link.command("TYPE", key)
            value = await here.link.command({b"hash": "HGETALL", b"string": "GET"}.get(kind, "TYPE"), key)
            assert secret not in repr(value).encode()
        assert len(secret) >= 32
        assert newcomer.token not in repr(newcomer)

    async def test_asked_again_it_is_the_same_player(self, here: Shell) -> None:
        newcomer = new_credentials()
        here.link.lose_reply("HSET")
        with pytest.raises(StoreUnavailable):
            await here.store.players.register(newcomer, parse_name("Ann"), False, NOW)
        again = await here.store.players.register(newcomer, parse_name("Ann"), False, NOW + 900)
        assert again.id == newcomer.id

    @pytest.mark.parametrize("token", ["", "x", ".", "ann.", "nobody.abcdef"])
    async def test_a_token_of_nobody_is_bad(self, here: Shell, token: str) -> None:
        await registered(here, "Ann")
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise(token)
        assert refused.value.code == ErrorCode.BAD_TOKEN

    @pytest.mark.parametrize("mistyped", ["{0}{1}", "{0},{1}", "{1}.{0}", "{1}.", " {0}.{1}", "player:{{{0}}}.{1}"])
    async def test_no_piece_of_a_mistyped_token_is_sent_to_the_store(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch, mistyped: str
    ) -> None:
        """Without its dot it was all taken for the name of a key, for whoever watches the store to read."""
        _, newcomer = await registered(here, "Ann")
        identity, _, secret = newcomer.token.partition(".")
        asked: list[object] = []

        async def hear(*words: object, **_: object) -> list[None]:
            asked.extend(words)
            return [None] * 6

        monkeypatch.setattr(here.link, "command", hear)
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise(mistyped.format(identity, secret))
        assert refused.value.code == ErrorCode.BAD_TOKEN
        assert asked == []

    async def test_a_token_with_another_secret_is_bad(self, here: Shell) -> None:
        _, newcomer = await registered(here, "Ann")
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise(newcomer.token[:-1] + ("A" if newcomer.token[-1] != "A" else "B"))
        assert refused.value.code == ErrorCode.BAD_TOKEN

    async def test_who_is_banned_stays_out(self, here: Shell) -> None:
        ann, newcomer = await registered(here, "Ann")
        await here.link.command("HSET", keys.player(ann.id), "banned", 1)
        with pytest.raises(Refused) as refused:
            await here.store.players.recognise(newcomer.token)
        assert refused.value.code == ErrorCode.BANNED

    def test_ids_are_random_and_without_letters_that_look_alike(self) -> None:
        ids = {new_id() for _ in range(500)}
        assert len(ids) == 500
        assert not set("".join(ids)) & set("il10o")


class TestNames:
    @pytest.mark.parametrize("name", ["Ann", "ANN", " ann "])
    async def test_one_that_somebody_has_is_taken_in_any_case(self, here: Shell, name: str) -> None:
        await registered(here, "Ann")
        with pytest.raises(Refused) as refused:
            await registered(here, name)
        assert refused.value.code == ErrorCode.NAME_TAKEN

    async def test_a_new_one_frees_the_old_one(self, here: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        assert (await rename(here, ann, "Zoe")).name == "Zoe"
        with pytest.raises(Refused):
            await registered(here, "zoe")
        await registered(here, "ann")

    async def test_a_taken_one_leaves_the_player_as_before(self, here: Shell) -> None:
        ann, newcomer = await registered(here, "Ann")
        await registered(here, "Ben")
        with pytest.raises(Refused) as refused:
            await rename(here, ann, "BEN")
        assert refused.value.code == ErrorCode.NAME_TAKEN
        assert (await here.store.players.recognise(newcomer.token)).player.name == "Ann"

    async def test_one_may_write_ones_own_name_otherwise(self, here: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        assert (await rename(here, ann, "ANN")).name == "ANN"
        with pytest.raises(Refused):
            await registered(here, "ann")

    async def test_one_whose_player_was_never_written_is_free_after_a_while(self, here: Shell) -> None:
        """The name is claimed before the player is on record; the node may die in between (NODES 23)."""
        here.link.lose_request("HSET")
        with pytest.raises(StoreUnavailable):
            await registered(here, "Ann", now=NOW)
        with pytest.raises(Refused):
            await registered(here, "Ann", now=NOW + ORPHANED_NAME - 1)
        await registered(here, "Ann", now=NOW + ORPHANED_NAME)

    async def test_one_that_was_not_freed_by_a_renaming_is_free_after_a_while(self, here: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        gate = here.link.hold_request("GET")
        renaming = asyncio.create_task(rename(here, ann, "Zoe"))
        await gate.reached.wait()
        renaming.cancel()
        await registered(here, "Ann", now=NOW + ORPHANED_NAME)

    async def test_of_two_who_want_an_orphaned_one_at_once_one_gets_it(self, here: Shell, there: Shell) -> None:
        await here.link.command("SET", keys.name("ann"), f"gone:{NOW}")
        late = NOW + ORPHANED_NAME
        gate, other = here.link.hold_request("HMGET"), there.link.hold_request("HMGET")
        both = [asyncio.create_task(registered(shell, "Ann", now=late)) for shell in (here, there)]
        await gate.reached.wait()
        await other.reached.wait()
        gate.open()
        other.open()
        results = await asyncio.gather(*both, return_exceptions=True)
        assert sum(isinstance(result, Refused) for result in results) == 1

    async def test_nobody_frees_a_name_that_is_anothers_by_now(self, here: Shell, there: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        before = await here.store.players.find(ann.id)
        assert before is not None
        await rename(there, ann, "Zoe")
        other, _ = await registered(there, "Ann")
        await here.store.players.change(before, parse_name("Ida"), False, NOW)
        holder = await here.link.command("GET", keys.name("ann"))
        assert holder.decode().partition(":")[0] == other.id

    async def test_whoever_is_a_bot_once_stays_one(self, here: Shell) -> None:
        _, newcomer = await registered(here, "Ann")
        identity = await here.store.players.recognise(newcomer.token)
        assert (await here.store.players.change(identity, None, True, NOW)).bot
        identity = await here.store.players.recognise(newcomer.token)
        assert identity.player.bot
        assert (await here.store.players.change(identity, None, False, NOW)).bot


async def test_nobody_is_called_as_another_player_s_id_reads(here: Shell) -> None:
    """A player is named by id or by name: an operator who means the one would ban the other."""
    ann, _ = await registered(here, "Ann")
    for name in (ann.id, ann.id.upper()):
        with pytest.raises(Refused) as refused:
            await registered(here, name)
        assert refused.value.code == ErrorCode.NAME_TAKEN
    assert await here.store.accounts.find_id(ann.id) == ann.id


class TestConnections:
    async def test_each_hello_gets_a_greater_epoch(self, here: Shell, there: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        sids = [await shell.store.players.take_over(ann.id) for shell in (here, there, here)]
        epochs = [int(sid.partition(".")[0]) for sid in sids]
        assert epochs == sorted(set(epochs))
        assert [holder.sid for holder in await here.store.players.holders([ann.id])] == [sids[-1]]
        holders = [Holder(sids[-1], False), Holder("", False, unknown=True)]
        assert await here.store.players.holders([ann.id, "nobody"]) == holders

    async def test_nobody_takes_over_who_has_been_banned_or_deleted_just_before(self, here: Shell) -> None:
        """Between the look at the token and this."""
        ann, _ = await registered(here, "Ann")
        await here.store.accounts.ban(ann.id, NOW)
        with pytest.raises(Refused) as refused:
            await here.store.players.take_over(ann.id)
        assert refused.value.code == ErrorCode.BANNED
        await here.store.accounts.forget(ann.id)
        with pytest.raises(Refused) as refused:
            await here.store.players.take_over(ann.id)
        assert refused.value.code == ErrorCode.BAD_TOKEN
        assert await here.store.players.holders([ann.id]) == [Holder("", False, unknown=True)]

    async def test_a_hello_sent_again_by_redis_py_ends_with_one_current_connection(self, here: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        here.link.resend("player_hello")
        sid = await here.store.players.take_over(ann.id)
        assert [holder.sid for holder in await here.store.players.holders([ann.id])] == [sid]

    async def test_a_hello_that_was_held_up_takes_nothing_from_one_that_was_said_later(
        self, here: Shell, there: Shell
    ) -> None:
        """Its client had given it up: the connection that it came to elsewhere is not told to go (4100)."""
        ann, _ = await registered(here, "Ann")
        sid = await here.store.players.take_over(ann.id, NOW + 500)
        with pytest.raises(StoreUnavailable):
            await there.store.players.take_over(ann.id, NOW)
        assert [holder.sid for holder in await here.store.players.holders([ann.id])] == [sid]
        sids = [await there.store.players.take_over(ann.id, NOW + 500 + later) for later in (0, 1)]
        assert sid not in sids

    async def test_a_clock_that_was_set_back_keeps_nobody_out_for_more_than_a_minute(self, here: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        await here.store.players.take_over(ann.id, NOW + 60_000)
        sid = await here.store.players.take_over(ann.id, NOW)
        assert [holder.sid for holder in await here.store.players.holders([ann.id])] == [sid]

    async def test_the_node_that_had_the_player_is_told(self, here: Shell, there: Shell) -> None:
        ann, _ = await registered(here, "Ann")
        async with listening(here) as heard:
            sid = await here.store.players.take_over(ann.id)
            await here.store.players.take_over(ann.id)
            (holder,) = await here.store.players.holders([ann.id])
            await there.store.players.take_over(ann.id)
            assert await eventually(lambda: heard) == [SupersededTold(ann.id, holder.sid)]
        assert holder.sid != sid


class TestRaces:
    async def test_those_that_are_not_over_and_the_last_that_are(self, here: Shell) -> None:
        for number in range(3):
            await here.store.players.enter("ann", f"r{number}", NOW + number)
        await here.store.players.enter("ann", "r1", NOW + 1)
        assert await here.store.players.races("ann") == ("r2", "r1", "r0")
        await here.store.players.exit("ann", "r0")
        await here.store.players.race_ended(["ann", "ben"], "r2", NOW + 2)
        await here.store.players.race_ended(["ann", "ben"], "r2", NOW + 2)
        assert await here.store.players.races("ann") == ("r1",)
        assert await here.store.players.recent_races("ann") == await here.store.players.recent_races("ben") == ("r2",)

    async def test_only_the_last_ended_ones_are_kept(self, here: Shell) -> None:
        for number in range(RECENT_RACES + 3):
            await here.store.players.race_ended(["ann"], f"r{number}", number)
        recent = await here.store.players.recent_races("ann")
        assert len(recent) == RECENT_RACES
        assert recent[0] == f"r{RECENT_RACES + 2}"


async def test_guesses_of_an_address_are_counted_for_a_while_over_all_nodes(here: Shell, there: Shell) -> None:
    assert await here.store.players.guesses("token", "1.2.3.4") == 0
    assert await here.store.players.count_guess("token", "1.2.3.4", 600) == 1
    assert await there.store.players.count_guess("token", "1.2.3.4", 600) == 2
    assert await here.store.players.guesses("token", "1.2.3.4") == 2
    assert await here.store.players.guesses("code", "1.2.3.4") == await here.store.players.guesses("token", "::1") == 0
    assert 0 < await here.link.command("TTL", keys.guesses("token", "1.2.3.4")) <= 600


async def test_guesses_from_one_network_of_ipv6_are_counted_together(here: Shell) -> None:
    """Its subscriber has more addresses than anybody could count."""
    for number in range(1, 4):
        assert await here.store.players.count_guess("code", f"2001:db8:1:2::{number:x}", 600) == number
    assert await here.store.players.guesses("code", "2001:db8:1:2:ffff::") == 3
    assert await here.store.players.guesses("code", "2001:db8:1:3::1") == 0
    assert await here.store.players.count_guess("code", "::ffff:1.2.3.4", 600) == 1
    assert await here.store.players.guesses("code", "1.2.3.4") == 1
