"""Boards: shared places in a declared order, one's own row wherever it is, and the same board however it was filled."""

from __future__ import annotations

import random
import sys

import pytest
import pytest_asyncio
from msgspec.structs import replace

from cellrace.messages import Player
from cellrace_server.core.effects import RowInfo, Score
from cellrace_server.store import keys
from cellrace_server.store.boards import BoardStore, Row, Rows, Rule
from cellrace_server.store.census import Census, FullRow
from cellrace_server.store.library import Link
from tests.server.races import player

BOARD = "best:freecell"
BOT = player("Robo", bot=True)


@pytest.fixture(params=["best:freecell", "deal:freecell:617"], autouse=True)
def board(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each claim holds of long boards and of short ones, which are laid down otherwise."""
    name: str = request.param
    monkeypatch.setattr(sys.modules[__name__], "BOARD", name)
    return name


@pytest_asyncio.fixture
async def boards(link: Link) -> BoardStore:
    """The boards of one node."""
    return BoardStore(link)


def score(name: str | Player, value: int, order: int = 0, *, race: str = "r") -> Score:
    """A value of somebody, finished at `order`."""
    who = player(name) if isinstance(name, str) else name
    return Score(BOARD, who, value, order, RowInfo(race=race, time=value, moves=7))


async def read(
    boards: BoardStore,
    *,
    offset: int = 0,
    limit: int = 100,
    asking: str = "",
    around: bool = False,
    bots: bool = True,
    board: str | None = None,
) -> Rows:
    return await boards.rows(board or BOARD, offset, limit, asking, around=around, bots=bots)


async def fill(boards: BoardStore, *scores: Score) -> None:
    for one in scores:
        await boards.submit(one)


def places(rows: Rows) -> list[tuple[int, str]]:
    return [(row.place, row.player) for row in rows.rows]


class TestPlaces:
    async def test_the_lowest_value_is_first(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 300), score("ben", 100), score("cat", 200))
        assert places(await read(boards)) == [(1, "ben"), (2, "cat"), (3, "ann")]

    async def test_equal_values_share_a_place_in_the_order_of_finishing(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 200, 30), score("ben", 200, 9), score("cat", 100, 99), score("dan", 200, 100))
        await fill(boards, score("eve", 201, 1))
        assert places(await read(boards)) == [(1, "cat"), (2, "ben"), (2, "ann"), (2, "dan"), (5, "eve")]

    async def test_the_order_of_finishing_is_told_by_the_whole_instant(self, boards: BoardStore) -> None:
        """As numbers, not as texts."""
        await fill(boards, score("ann", 1, 1_791_900_000_000), score("ben", 1, 999_999_999_999), score("cat", 1, 5))
        assert places(await read(boards)) == [(1, "cat"), (1, "ben"), (1, "ann")]

    async def test_values_below_nothing_are_ranked_too(self, boards: BoardStore) -> None:
        """Ratings and streaks, of which the highest is the best."""
        await fill(boards, score("ann", -1500), score("ben", -900), score("cat", -1501))
        assert [row.value for row in (await read(boards)).rows] == [-1501, -1500, -900]

    async def test_a_row_shows_what_it_was_given(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 300, race="r9"))
        (row,) = (await read(boards)).rows
        assert row == Row("ann", 300, 1, RowInfo(race="r9", time=300, moves=7))

    async def test_an_empty_board_has_no_rows(self, boards: BoardStore) -> None:
        assert await read(boards, asking="ann", around=True) == Rows(0, (), None)

    async def test_boards_are_apart(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 300))
        assert (await read(boards, board="best:one-suit")).total == 0


class TestOneRowAPlayer:
    async def test_a_better_value_takes_the_place_of_a_worse_one(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 300, race="r1"), score("ann", 200, race="r2"))
        found = await read(boards)
        assert [(row.value, row.info.race) for row in found.rows] == [(200, "r2")]
        assert found.total == 1

    async def test_a_worse_one_changes_nothing(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 200, 5, race="r1"), score("ann", 300, 1, race="r2"))
        assert [(row.value, row.info.race) for row in (await read(boards)).rows] == [(200, "r1")]

    async def test_of_equal_ones_the_first_to_finish_counts_whichever_is_told_first(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 200, 5, race="later"), score("ann", 200, 1, race="first"))
        await fill(boards, score("ann", 200, 9, race="last"))
        assert [row.info.race for row in (await read(boards)).rows] == ["first"]

    async def test_by_the_newer_rule_the_later_counts_and_of_one_instant_the_better(self, boards: BoardStore) -> None:
        for value, order, expected in ((-3, 10, -3), (-1, 12, -1), (-9, 11, -1), (-2, 12, -2), (-1, 12, -2)):
            await boards.submit(score("ann", value, order), Rule.NEWER)
            assert [row.value for row in (await read(boards)).rows] == [expected]

    async def test_by_the_rule_any_whatever_is_told_counts(self, boards: BoardStore) -> None:
        await boards.submit(score("ann", 100, 9), Rule.ANY)
        await boards.submit(score("ann", 300, 1), Rule.ANY)
        assert [row.value for row in (await read(boards)).rows] == [300]

    async def test_who_is_taken_off_is_on_neither_list(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 300), score(BOT, 100))
        assert await boards.remove(BOARD, "ann")
        assert not await boards.remove(BOARD, "ann")
        assert places(await read(boards)) == [(1, "robo")]
        assert (await read(boards, bots=False)).total == 0


class TestPages:
    async def test_a_page_begins_at_its_offset_and_total_tells_of_all(self, boards: BoardStore) -> None:
        await fill(boards, *(score(f"p{n}", n // 2 * 2) for n in range(9)))
        found = await read(boards, offset=3, limit=2)
        assert places(found) == [(3, "p3"), (5, "p4")]
        assert found.total == 9
        assert (await read(boards, offset=9)).rows == ()
        assert await read(boards, limit=0) == Rows(9, (), None)

    async def test_ones_own_row_is_told_wherever_it_is(self, boards: BoardStore) -> None:
        await fill(boards, *(score(f"p{n}", 10 * n) for n in range(9)))
        own = (await read(boards, limit=1, asking="p7")).own
        assert own is not None
        assert (own.place, own.player, own.value) == (8, "p7", 70)
        assert (await read(boards, asking="nobody")).own is None

    @pytest.mark.parametrize(
        ("asking", "shown"),
        [("p5", [3, 4, 5, 6, 7]), ("p0", [0, 1, 2, 3, 4]), ("p9", [7, 8, 9]), ("nobody", [0, 1, 2, 3, 4])],
    )
    async def test_around_is_centred_on_who_asks_or_starts_at_the_top(
        self, boards: BoardStore, asking: str, shown: list[int]
    ) -> None:
        await fill(boards, *(score(f"p{n}", 10 * n) for n in range(10)))
        found = await read(boards, limit=5, asking=asking, around=True)
        assert [row.player for row in found.rows] == [f"p{n}" for n in shown]

    async def test_without_bots_the_places_are_those_among_people(self, boards: BoardStore) -> None:
        await fill(boards, score(BOT, 100), score("ann", 200), score("ben", 300))
        assert places(await read(boards)) == [(1, "robo"), (2, "ann"), (3, "ben")]
        people = await read(boards, asking="ben", bots=False)
        assert places(people) == [(1, "ann"), (2, "ben")]
        assert people.total == 2
        assert people.own is not None
        assert people.own.place == 2

    async def test_a_bot_that_asks_without_bots_has_no_row(self, boards: BoardStore) -> None:
        await fill(boards, score(BOT, 100), score("ann", 200))
        found = await read(boards, asking="robo", bots=False, around=True)
        assert found.own is None
        assert places(found) == [(1, "ann")]

    async def test_who_has_become_a_bot_keeps_the_row_and_is_among_people_no_more(self, boards: BoardStore) -> None:
        await fill(boards, score("ann", 100), score("ben", 200))
        for _ in range(2):
            await boards.mark([BOARD, "best:nothing"], "ann")
            await boards.mark([BOARD], "nobody")
            assert places(await read(boards)) == [(1, "ann"), (2, "ben")]
            assert places(await read(boards, bots=False)) == [(1, "ben")]


class TestRowsWithATime:
    async def test_a_row_goes_when_its_time_is_over_and_not_before(self, boards: BoardStore) -> None:
        await boards.submit(score("ann", -3, 1), Rule.NEWER, until=1_000)
        await boards.submit(score("ben", -2, 2), Rule.NEWER, until=2_000)
        await boards.prune(BOARD, 999)
        assert (await read(boards)).total == 2
        await boards.prune(BOARD, 1_000)
        assert places(await read(boards)) == [(1, "ben")]

    async def test_who_goes_on_has_a_later_time(self, boards: BoardStore) -> None:
        await boards.submit(score("ann", -1, 1), Rule.NEWER, until=1_000)
        await boards.submit(score("ann", -2, 2), Rule.NEWER, until=2_000)
        await boards.prune(BOARD, 1_500)
        assert [row.value for row in (await read(boards)).rows] == [-2]

    async def test_a_repeated_older_value_leaves_the_time_as_it_is(self, boards: BoardStore) -> None:
        await boards.submit(score("ann", -2, 2), Rule.NEWER, until=2_000)
        await boards.submit(score("ann", -1, 1), Rule.NEWER, until=1_000)
        await boards.prune(BOARD, 1_500)
        assert [row.value for row in (await read(boards)).rows] == [-2]


@pytest.mark.parametrize("seed", range(5))
async def test_a_board_is_the_same_in_whatever_order_and_however_often_it_is_filled(
    boards: BoardStore, link: Link, seed: int
) -> None:
    """NODES 19: effects are repeated, and come from several nodes; the board only depends on the games."""
    chance = random.Random(seed)
    names = ["ann", "ben", "cat", "dan"]
    games = [score(chance.choice(names), chance.randint(1, 5), n, race=f"r{n}") for n in range(30)]
    await fill(boards, *games)
    expected = await read(boards)
    for _ in range(3):
        await link.redis.flushdb()
        again = games + chance.sample(games, 15)
        chance.shuffle(again)
        await fill(boards, *again)
        assert await read(boards) == expected
    bests = {name: min((g.value, g.order) for g in games if g.player.id == name) for name in names}
    assert [row.player for row in expected.rows] == sorted(names, key=lambda name: bests[name])
    values = [row.value for row in expected.rows]
    assert [row.place for row in expected.rows] == [1 + sum(other < value for other in values) for value in values]


@pytest.mark.parametrize("seed", range(4))
async def test_a_deals_board_is_like_any_other_however_long_it_grows(boards: BoardStore, link: Link, seed: int) -> None:
    """It is laid down in one key while it is short; then in several, for good."""
    chance = random.Random(seed)
    crowd = [player(f"p{number:02}", bot=number % 3 == 0) for number in range(80)]
    asking = crowd[7].id
    for order in range(120):
        one = score(chance.choice(crowd[: order + 10]), chance.randint(1, 30), order)
        for name in ("deal:one-suit:5", "best:one-suit"):
            await boards.submit(replace(one, board=name))
        if chance.random() < 0.1:
            gone = chance.choice(crowd).id
            assert await boards.remove("deal:one-suit:5", gone) == await boards.remove("best:one-suit", gone)
        if chance.random() < 0.1:
            await boards.mark(["deal:one-suit:5", "best:one-suit"], chance.choice(crowd).id)
        if order % 5 == 0:
            asked = {"offset": chance.randint(0, 50), "limit": chance.randint(0, 60), "asking": asking}
            for around in (False, True):
                for bots in (False, True):
                    short = await read(boards, **asked, around=around, bots=bots, board="deal:one-suit:5")
                    assert short == await read(boards, **asked, around=around, bots=bots, board="best:one-suit")
        if order == 15:
            assert not await link.command("EXISTS", keys.board("deal:one-suit:5") + ":rows")
    assert await link.command("EXISTS", keys.board("deal:one-suit:5") + ":rows")
    census = Census(link)
    assert await census.rows("deal:one-suit:5") == await census.rows("best:one-suit")


async def test_the_board_of_a_deal_goes_when_nobody_has_got_onto_it_for_long(link: Link, board: str) -> None:
    """Long or short; any other board stays."""
    boards = BoardStore(link, 5_000_000)
    for number in range(40):
        await fill(boards, score(f"p{number}", 300, number))
        if number in (0, 39):
            found = await link.command("KEYS", "board:*")
            lives = {await link.command("PTTL", key) for key in found}
            if board.startswith("deal:"):
                assert lives
                assert all(4_900_000 < life <= 5_000_000 for life in lives)
            else:
                assert lives == {-1}


async def test_a_short_board_is_one_key_and_the_census_reads_it(boards: BoardStore, link: Link, board: str) -> None:
    await fill(boards, score("ann", 300, 1), score(BOT, 200, 2))
    rows = await Census(link).rows(board)
    info = {name: RowInfo(race="r", time=value, moves=7) for name, value in (("ann", 300), ("robo", 200))}
    assert rows == {
        "ann": FullRow(300, 1, info["ann"], True, True),
        "robo": FullRow(200, 2, info["robo"], False, True),
    }
    assert len(await link.command("KEYS", "board:*")) == (1 if board.startswith("deal:") else 4)
