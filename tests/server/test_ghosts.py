"""Racing finished games: which ones may be summoned, on their deal, by their rules, at their real times."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, Ghost, Player, RaceCreate, RaceKind, Settings, SettingsRequest
from cellrace_server.core.daily import closes_at, day_of, opens_at, published_at
from cellrace_server.core.facts import CountdownBegan, Done, Joined, ReadySet, Tally
from cellrace_server.core.ghosts import GhostGame, ghost_id
from cellrace_server.core.race import Race
from cellrace_server.gallery import next_ghost_move, play_ghosts
from cellrace_server.ghosts import summon
from cellrace_server.net.views import race_answer
from cellrace_server.referee import Referee
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Secret
from tests.server.races import ANN, BEN, CAT, new_race
from tests.server.shell import DEAL, SECRET, SHORT, WIN, FakeMember, Shell

GAME = SHORT.variant
pytestmark = pytest.mark.usefixtures("noon")


EVE = Player(id="eve", name="Eve", bot=False)


async def finished(shell: Shell, *, settings: Settings = SHORT, packed: bool = True) -> Race:
    """A race that Ann has won in two messages, and in which Ben has conceded after three moves."""
    race = await shell.race(ANN, BEN, start_in=-30_000, settings=settings)
    assert race.start_at is not None
    async with shell.attended(race, FakeMember(ANN), FakeMember(BEN)) as referee:
        await shell.move(referee, BEN, 0, *WIN[:3], at=race.start_at + 1_000)
        await shell.move(referee, ANN, 0, *WIN[:4], at=race.start_at + 2_000)
        await shell.move(referee, ANN, 4, *WIN[4:], at=race.start_at + 5_000)
        race = referee.room.race
    race = await shell.append(race, Done("ben", EntrantStatus.CONCEDED, Tally(3, 0, 3, 0)))
    async with shell.attended(race) as referee:
        await referee.wake()
        if packed:
            await referee.finish()
        return referee.room.race


async def summoned(shell: Shell, *ghosts: Ghost, viewer: str = "cat", variant: str = GAME) -> tuple[GhostGame, ...]:
    found, _ = await summon(shell.store, SettingsRequest(variant=variant, ghosts=ghosts), viewer)
    return found


async def refused(shell: Shell, *ghosts: Ghost, viewer: str = "cat", variant: str = GAME) -> Refused:
    with pytest.raises(Refused) as error:
        await summoned(shell, *ghosts, viewer=viewer, variant=variant)
    assert (error.value.code, error.value.field) == (ErrorCode.BAD_SETTINGS, "ghosts")
    return error.value


class TestSummoning:
    @pytest.mark.parametrize("packed", [False, True])
    async def test_a_ghost_has_the_moves_the_times_and_the_end_of_its_game(self, here: Shell, packed: bool) -> None:
        race = await finished(here, packed=packed)
        ann, ben = await summoned(here, Ghost(race=race.id, player="ann"), Ghost(race=race.id, player="ben"))
        assert [move for _, move in ann.moves] == list(WIN)
        assert [at for at, _ in ann.moves] == [2_000] * 4 + [5_000] * (len(WIN) - 4)
        assert (ann.ended, ann.finish.status, ann.finish.time) == (5_000, EntrantStatus.WON, 5_000)
        assert (ben.finish.status, len(ben.moves)) == (EntrantStatus.CONCEDED, 3)
        assert ann.player == Player(id=ghost_id("ann", race.id), name="Ann", bot=False)
        assert (ann.autoplay, ann.placement, ann.undo) == (SHORT.autoplay, SHORT.placement, SHORT.undo)

    async def test_they_tell_the_deal(self, here: Shell) -> None:
        race = await finished(here)
        _, deal = await summon(
            here.store, SettingsRequest(variant=GAME, ghosts=(Ghost(race=race.id, player="ann"),)), "cat"
        )
        assert deal == DEAL
        assert await summon(here.store, SettingsRequest(variant=GAME), "cat") == ((), None)
        assert await summon(here.store, None, "cat") == ((), None)

    async def test_one_named_twice_races_once(self, here: Shell) -> None:
        race = await finished(here)
        ghost = Ghost(race=race.id, player="ann")
        assert len(await summoned(here, ghost, ghost)) == 1

    async def test_games_of_different_deals_cannot_race_together(self, here: Shell) -> None:
        one, other = await finished(here), await here.race(ANN)
        facts = (
            ReadySet("ann", True),
            CountdownBegan(here.now() - 9_000, "c"),
        )
        other = await here.append(other, *facts, secret=Secret(DEAL + 1, "0" * 32))
        other = await here.append(other, Done("ann", EntrantStatus.CONCEDED, Tally()))
        async with here.attended(other) as referee:
            await referee.wake()
        assert "different deals" in str(
            await refused(here, Ghost(race=one.id, player="ann"), Ghost(race=other.id, player="ann"))
        )

    async def test_what_is_not_over_or_not_there_has_no_ghost(self, here: Shell) -> None:
        running = await here.race(ANN, BEN, start_in=-5_000)
        await here.append(running, Done("ann", EntrantStatus.WON, Tally(9, 13, 9, 0)))
        for race in (running.id, (await here.race(ANN)).id, "nowhere"):
            await refused(here, Ghost(race=race, player="ann"))

    async def test_nor_has_somebody_who_did_not_race_or_another_game(self, here: Shell) -> None:
        race = await finished(here)
        await refused(here, Ghost(race=race.id, player="cat"))
        await refused(here, Ghost(race=race.id, player="ann"), variant="two-suit")

    async def test_private_games_are_for_those_who_raced(self, here: Shell) -> None:
        race = await finished(here, settings=replace(SHORT, private=True))
        ghost = Ghost(race=race.id, player="ann")
        await refused(here, ghost)
        assert len(await summoned(here, ghost, viewer="ben")) == 1

    async def test_a_daily_has_ghosts_from_its_publication_on(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not before, also for its own player: the ghost's race would tell the number."""
        today = day_of(here.now())
        begins = opens_at(today)
        born = new_race(
            Settings(variant=GAME, seats=1, private=True, ranked=False), kind=RaceKind.DAILY, race_id=new_id()
        )
        await here.rooms.create(born)
        facts = (Joined(ANN), CountdownBegan(begins, SECRET.commitment(GAME)))
        race = await here.append(born, *facts, at=begins, secret=SECRET)
        race = await here.append(race, Done("ann", EntrantStatus.CONCEDED, Tally()), at=begins + 9)
        async with here.attended(race) as referee:
            await referee.wake()
            await referee.finish()
        ghost = Ghost(race=race.id, player="ann")
        monkeypatch.setattr(here.store.clock, "now", lambda: closes_at(today))
        await refused(here, ghost, viewer="ann")
        monkeypatch.setattr(here.store.clock, "now", lambda: published_at(today))
        assert len(await summoned(here, ghost, viewer="ann")) == 1


async def raced(here: Shell, *ghosts: Ghost) -> Referee:
    """Cat's race against ghosts, that has begun four seconds ago."""
    member = FakeMember(CAT)
    settings = SettingsRequest(variant=GAME, seats=1, ghosts=ghosts)
    race = (await here.lobby.create(member, RaceCreate(settings=settings), _quietly)).room.race
    now = here.now()
    started = (ReadySet("cat", True), CountdownBegan(now - 4_000, SECRET.commitment(GAME)))
    race = await here.append(race, *started, secret=SECRET)
    async with here.attended(race, member) as referee:
        return referee


def _quietly(_: object) -> None:
    """Nobody reads the answer."""


class TestRacing:
    async def test_the_race_is_on_their_deal_and_never_ranked(self, here: Shell) -> None:
        race = await finished(here)
        member = FakeMember(CAT)
        asked = SettingsRequest(variant=GAME, seats=1, ghosts=(Ghost(race=race.id, player="ann"),))
        referee = await here.lobby.create(member, RaceCreate(settings=asked), _quietly)
        settings = referee.room.race.settings
        assert (settings.deal, settings.ranked) == (DEAL, False)
        shown = race_answer(referee.room, "cat", here.now()).entrants
        assert [(entrant.player.name, entrant.ghost, entrant.status) for entrant in shown] == [
            ("Cat", False, EntrantStatus.JOINED),
            ("Ann", True, EntrantStatus.READY),
        ]

    async def test_they_move_at_their_recorded_times(self, here: Shell) -> None:
        race = await finished(here)
        referee = await raced(here, Ghost(race=race.id, player="ann"))
        ann, room = ghost_id("ann", race.id), referee.room
        start_at = room.race.start_at
        assert start_at is not None
        for elapsed, seq in ((1_999, 0), (2_000, 4), (4_999, 4), (5_000, len(WIN))):
            play_ghosts(room, start_at + elapsed)
            assert room.tally(ann).seq == seq
        assert room.tally(ann).home == 13
        assert ("moved", (ann, list(WIN[:4]))) in here.recorder.told

    async def test_the_room_is_woken_for_their_next_move(self, here: Shell) -> None:
        race = await finished(here)
        referee = await raced(here, Ghost(race=race.id, player="ann"), Ghost(race=race.id, player="ben"))
        start_at = referee.room.race.start_at
        assert start_at is not None
        play_ghosts(referee.room, start_at + 1_000)
        assert next_ghost_move(referee.room) == start_at + 2_000
        play_ghosts(referee.room, start_at + 5_000)
        assert next_ghost_move(referee.room) is None

    async def test_their_end_is_told_at_its_time_as_of_any_entrant(self, here: Shell, there: Shell) -> None:
        """Before the race is over: until then nobody would know that one who gave up plays no more."""
        race = await finished(here)
        member = FakeMember(EVE)
        referee = await raced(here, Ghost(race=race.id, player="ann"), Ghost(race=race.id, player="ben"))
        started = referee.room.race.start_at
        assert started is not None
        ann, ben = ghost_id("ann", race.id), ghost_id("ben", race.id)
        moment = [started + 4_000]
        here.store.clock.now = there.store.clock.now = lambda: moment[0]  # type: ignore[method-assign]  # told by hand
        referee.room.release()
        async with there.attended(referee.room.race, member) as watching:
            assert not await referee.wake()
            moment[0] = started + 5_000
            here.recorder.told.clear()
            assert await referee.wake()
            assert here.recorder.kinds == ["moved", "Done"], "the winning move comes before the end"
            assert not await watching.wake(), "another node has nothing left to write"
            watching.room.doubt()
            await watching.make_sure()
        for room in (referee.room, watching.room):
            shown = {entrant.player.id: entrant for entrant in race_answer(room, "cat", moment[0]).entrants}
            assert (shown[ann].status, shown[ann].time, shown[ann].place) == (EntrantStatus.WON, 5_000, 1)
            assert shown[ben].status is EntrantStatus.PLAYING
            assert room.race.standings is None

    async def test_a_record_that_is_read_again_goes_on_with_them(self, here: Shell) -> None:
        """Their logs are on no record; that is no other history, for which all would be sent away."""
        race = await finished(here)
        referee = await raced(here, Ghost(race=race.id, player="ann"))
        play_ghosts(referee.room, here.now())
        assert referee.room.tally(ghost_id("ann", race.id)).seq == 4
        referee.room.doubt()
        await referee.make_sure()
        assert referee.room.tally(ghost_id("ann", race.id)).seq == 4

    async def test_they_stand_in_the_standings_and_on_no_board(self, here: Shell) -> None:
        race = await finished(here)
        referee = await raced(here, Ghost(race=race.id, player="ann"), Ghost(race=race.id, player="ben"))
        began = referee.room.race.start_at
        assert began is not None
        await here.append(referee.room.race, Done("cat", EntrantStatus.WON, Tally(9, 13, 9, 0)), at=began + 4_000)
        async with here.attended(referee.room.race) as again:
            await again.wake()
            await again.finish()
            over = again.room.race
        assert over.standings is not None
        assert [(s.player.name, s.place, s.time is not None) for s in over.standings] == [
            ("Cat", 1, True),
            ("Ann", 2, True),
            ("Ben", 3, False),
        ]
        assert await here.store.profiles.records(ghost_id("ann", race.id)) == {}
        record = (await here.store.profiles.records("cat"))[SHORT.variant]
        assert (record.won, record.best_time) == (1, None)
