"""Facts and presence on record: appended once, on the history that was decided on, under what the decision rests on."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, LeftReason
from cellrace_server.core.facts import CountdownBegan, Done, Joined, Left, Tally
from cellrace_server.core.presence import Presence
from cellrace_server.core.race import Race, evolve
from cellrace_server.store import keys
from cellrace_server.store.commits import Commit
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.races import Behind, Guard, LostTrack, Moved, Superseded
from tests.server.races import ANN, BEN, BORN, CAT, new_race
from tests.server.shell import SECRET, SHORT, WIN, Shell


async def created(shell: Shell) -> Race:
    race = new_race(SHORT)
    await shell.store.races.create(race)
    return race


async def recorded(shell: Shell, race: Race) -> Race:
    record = await shell.store.races.load(race.id)
    assert record is not None
    return record.race


class TestCreation:
    async def test_a_race_is_on_record_as_it_was_made(self, here: Shell) -> None:
        race = await created(here)
        assert await recorded(here, race) == race

    async def test_it_is_created_once(self, here: Shell) -> None:
        race = await created(here)
        await here.append(race, Joined(ANN))
        await here.store.races.create(replace(race, created_by="somebody else"))
        again = await recorded(here, race)
        assert (again.created_by, again.version) == ("ann", 1)

    async def test_what_is_not_on_record_is_none(self, here: Shell) -> None:
        assert await here.store.races.load("nowhere") is None
        assert await here.store.races.head("nowhere") is None
        with pytest.raises(LostTrack):
            await here.store.races.append(new_race(), "c", [Joined(ANN)], BORN)


class TestAppending:
    async def test_facts_get_versions_stamps_and_their_command(self, here: Shell) -> None:
        race = await created(here)
        facts = await here.store.races.append(race, "c1", [Joined(ANN), Joined(BEN)], BORN + 7)
        assert [(fact.version, fact.command_id, fact.at, fact.fact) for fact in facts] == [
            (1, "c1", BORN + 7, Joined(ANN)),
            (2, "c1", BORN + 7, Joined(BEN)),
        ]
        record = await here.store.races.load(race.id)
        assert record is not None
        assert record.facts == facts
        assert [entrant.player for entrant in record.race.entrants] == [ANN, BEN]

    async def test_the_same_command_again_is_answered_as_the_first_time(self, here: Shell) -> None:
        race = await created(here)
        first = await here.store.races.append(race, "c1", [Joined(ANN)], BORN)
        assert await here.store.races.append(race, "c1", [Joined(ANN)], BORN + 999) == first
        assert (await recorded(here, race)).version == 1

    async def test_also_when_others_have_written_since(self, here: Shell, there: Shell) -> None:
        race = await created(here)
        first = await here.store.races.append(race, "c1", [Joined(ANN)], BORN)
        second = await there.store.races.append(evolve(race, first[0]), "c2", [Joined(BEN)], BORN)
        assert await here.store.races.append(race, "c1", [Joined(ANN)], BORN) == first + second

    async def test_a_lost_reply_says_that_the_outcome_is_unknown_and_the_repeat_finds_it(self, here: Shell) -> None:
        race = await created(here)
        here.link.lose_reply("race_append")
        with pytest.raises(StoreUnavailable):
            await here.store.races.append(race, "c1", [Joined(ANN)], BORN)
        (fact,) = await here.store.races.append(race, "c1", [Joined(ANN)], BORN)
        assert fact.version == 1

    async def test_whoever_is_behind_is_told_what_is_newer_and_nothing_is_written(
        self, here: Shell, there: Shell
    ) -> None:
        race = await created(here)
        newer = await there.store.races.append(race, "c1", [Joined(ANN), Joined(BEN)], BORN)
        with pytest.raises(Behind) as behind:
            await here.store.races.append(race, "c2", [Joined(CAT)], BORN)
        assert behind.value.newer == newer
        assert (await recorded(here, race)).version == 2

    @pytest.mark.parametrize(
        ("version", "last"),
        [
            pytest.param(9, "c1", id="more facts than there are"),
            pytest.param(2, "another", id="another last fact"),
            pytest.param(1, "another", id="another fact in an older place"),
        ],
    )
    async def test_another_history_is_never_taken_for_this_one(self, here: Shell, version: int, last: str) -> None:
        race = await created(here)
        await here.store.races.append(race, "c1", [Joined(ANN), Joined(BEN)], BORN)
        mistaken = replace(race, version=version, last_id=last)
        with pytest.raises(LostTrack):
            await here.store.races.append(mistaken, "c2", [Joined(CAT)], BORN)
        assert (await recorded(here, race)).version == 2

    async def test_the_secret_is_on_record_with_the_countdown_and_in_no_fact(self, here: Shell) -> None:
        race = await here.append(await created(here), Joined(ANN))
        assert await here.store.races.secret(race.id) is None
        commitment = SECRET.commitment(SHORT.variant)
        await here.append(race, CountdownBegan(BORN + 9_000, commitment), secret=SECRET)
        assert await here.store.races.secret(race.id) == SECRET
        facts = await here.link.command("LRANGE", keys.race(race.id) + ":facts", 0, -1)
        assert not any(SECRET.salt.encode() in fact for fact in facts)
        assert SECRET.salt not in repr(SECRET)

    async def test_phase_and_statuses_are_kept_beside_the_facts(self, here: Shell) -> None:
        race = await here.append(await created(here), Joined(ANN), Joined(BEN), Left("ben", LeftReason.LEFT))
        base = keys.race(race.id)
        assert await here.link.command("HGETALL", base + ":entrants") == {b"ann": b"joined"}
        race = await here.append(race, CountdownBegan(BORN + 5, "c"))
        assert await here.link.command("HGETALL", base + ":entrants") == {b"ann": b"playing"}
        await here.append(race, Done("ann", EntrantStatus.CONCEDED, Tally()))
        assert await here.link.command("HGETALL", base + ":entrants") == {b"ann": b"conceded"}
        assert await here.link.command("HMGET", base, "phase", "start_at", "limit_at") == [
            b"countdown",
            str(BORN + 5).encode(),
            str(BORN + 5 + 1_800_000).encode(),
        ]


class TestGuards:
    async def test_a_terminal_fact_is_refused_if_the_log_has_moved_on(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        await here.open(race, ANN)
        await here.store.committer.submit(
            Commit(race.id, "ann", "1.s", 0, here.now(), WIN[:1], Tally(1, 0, 1, 0), "c9")
        )
        done = Done("ann", EntrantStatus.CONCEDED, Tally())
        with pytest.raises(Moved):
            await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 0)])
        assert (await recorded(here, race)).version == race.version
        await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 1)])

    async def test_an_absence_is_refused_if_somebody_else_is_connected(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        await here.open(race, ANN, "2.t")
        done = Done("ann", EntrantStatus.ABANDONED, Tally())
        with pytest.raises(Moved):
            await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 0, "1.s")])
        await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 0, "2.t")])

    async def test_a_repeat_is_answered_whatever_its_guards_say_by_now(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=-5_000)
        done = Done("ann", EntrantStatus.CONCEDED, Tally())
        first = await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 0)])
        assert await here.store.races.append(race, "c1", [done], here.now(), [Guard("ann", 3)]) == first


class TestPresence:
    async def presence(self, shell: Shell, race: Race) -> Presence:
        record = await shell.store.races.load(race.id)
        assert record is not None
        return record.presence["ann"]

    async def test_the_newest_connection_plays(self, here: Shell, there: Shell) -> None:
        race = await here.race(ANN)
        assert await here.store.races.open(race.id, "ann", "1.a") is None
        assert await there.store.races.open(race.id, "ann", "2.b") == Presence("1.a", "here:1", None)
        assert await self.presence(here, race) == Presence("2.b", "there:2", None)

    async def test_one_that_was_superseded_does_not(self, here: Shell) -> None:
        race = await here.race(ANN)
        await here.store.races.open(race.id, "ann", "10.b")
        with pytest.raises(Superseded):
            await here.store.races.open(race.id, "ann", "9.a")
        assert await self.presence(here, race) == Presence("10.b", "here:1", None)

    async def test_the_loss_of_the_newest_is_noted_once(self, here: Shell) -> None:
        race = await here.race(ANN)
        await here.store.races.open(race.id, "ann", "1.a")
        await here.store.races.gone(race.id, "ann", "1.a", 700)
        await here.store.races.gone(race.id, "ann", "1.a", 900)
        assert await self.presence(here, race) == Presence("1.a", "here:1", 700)

    async def test_the_loss_of_an_older_one_changes_nothing(self, here: Shell) -> None:
        race = await here.race(ANN)
        await here.store.races.open(race.id, "ann", "1.a")
        await here.store.races.open(race.id, "ann", "2.b")
        await here.store.races.gone(race.id, "ann", "1.a", 700)
        assert await self.presence(here, race) == Presence("2.b", "here:1", None)

    async def test_coming_back_clears_it(self, here: Shell) -> None:
        race = await here.race(ANN)
        await here.store.races.open(race.id, "ann", "1.a")
        await here.store.races.gone(race.id, "ann", "1.a", 700)
        assert await here.store.races.open(race.id, "ann", "2.b") == Presence("1.a", "here:1", 700)
        assert (await self.presence(here, race)).gone_at is None

    async def test_asked_twice_it_is_opened_once(self, here: Shell) -> None:
        race = await here.race(ANN)
        here.link.resend("race_open")
        await here.store.races.open(race.id, "ann", "1.a")
        assert await self.presence(here, race) == Presence("1.a", "here:1", None)


async def test_a_head_shows_a_race_without_its_logs(here: Shell) -> None:
    race = await here.race(ANN, BEN, start_in=-5_000)
    await here.open(race, ANN)
    await here.store.committer.submit(Commit(race.id, "ann", "1.s", 0, here.now(), WIN[:2], Tally(2, 1, 2, 0), "c9"))
    head = await here.store.races.head(race.id)
    assert head is not None
    assert head.race == race
    assert head.tallies == {"ann": Tally(2, 1, 2, 0)}
    assert head.presence["ann"].sid == "1.s"
    assert await here.store.races.progress(race.id) == (race.version, {"ann": 2})


async def test_hosts_register_with_the_reading_and_leave(here: Shell, there: Shell) -> None:
    race = await here.race(ANN)
    hosts = keys.race(race.id) + ":hosts"
    await here.store.races.load(race.id)
    assert await here.link.command("SMEMBERS", hosts) == set()
    await here.store.races.load(race.id, host=True)
    await there.store.races.load(race.id, host=True)
    assert await here.link.command("SMEMBERS", hosts) == {b"here:1", b"there:2"}
    await here.store.races.unhost(race.id)
    assert await here.link.command("SMEMBERS", hosts) == {b"there:2"}
    await here.store.races.unhost(race.id, "there:2", "dead:3")
    assert await here.link.command("SMEMBERS", hosts) == set()
