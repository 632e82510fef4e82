"""The stock: enough numbers for each game, each with moves that win it, and the same again from the same seed."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import LAST_DEAL, UNWINNABLE_FREECELL_DEALS, deal
from cellrace.errors import UnknownVariant
from cellrace.game import Game
from cellrace.notation import MOVES
from cellrace.variants import VARIANTS, Variant, find_variant
from cellrace_server.stock import PUBLISHED, NumbersWithout, load_stock
from cellrace_server.stock.__main__ import main
from cellrace_server.stock.making import drawn_numbers, make_proofs, prove
from cellrace_server.stock.packing import read_stock, write_stock

STOCKED = [variant for variant in VARIANTS.values() if variant.id not in PUBLISHED]
every_stocked = pytest.mark.parametrize("variant", STOCKED, ids=lambda v: v.id)


@every_stocked
def test_there_are_a_thousand_numbers_over_the_whole_range(variant: Variant) -> None:
    numbers = load_stock(variant.id).numbers
    assert len(numbers) >= 1000
    assert list(numbers) == sorted(set(numbers))
    assert numbers[0] >= 1
    assert numbers[-1] <= LAST_DEAL
    assert sum(number > LAST_DEAL // 2 for number in numbers) > len(numbers) / 3


@every_stocked
def test_proofs_win(variant: Variant) -> None:
    stock = load_stock(variant.id)
    for number in random.Random(8).sample(list(stock.numbers), 60):
        proof = stock.proof(number)
        assert proof is not None
        board = dealt_board(variant, deal(variant, number))
        assert Game(board, Autoplay.NONE).play_all(proof)[0].won


@pytest.mark.parametrize("variant", [v for v in STOCKED if v.reserve], ids=lambda v: v.id)
def test_a_reserve_is_laid_on_the_first_columns(variant: Variant) -> None:
    stock = load_stock(variant.id)
    for number in stock.numbers[:40]:
        proof = stock.proof(number)
        assert proof is not None
        assert proof[:3] == ("r1", "r2", "r3")
        laid = dealt_board(variant, deal(variant, number), laid=True)
        assert Game(laid, Autoplay.NONE).play_all(proof[3:])[0].won


def test_freecell_has_its_million_without_eight() -> None:
    stock = load_stock("freecell")
    assert len(stock.numbers) == 1_000_000 - 8
    assert stock.numbers[0] == 1
    assert stock.numbers[-1] == 1_000_000
    assert 617 in stock
    assert stock.proof(617) is None
    assert not any(number in stock for number in UNWINNABLE_FREECELL_DEALS)


@given(st.integers(1, 40), st.frozensets(st.integers(1, 40)))
def test_numbers_without_a_few_are_that_sequence(last: int, without: frozenset[int]) -> None:
    without = frozenset(number for number in without if number <= last)
    expected = [number for number in range(1, last + 1) if number not in without]
    numbers = NumbersWithout(last, without)
    assert list(numbers) == expected
    assert list(numbers[1:7:2]) == expected[1:7:2]
    assert [numbers[-i] for i in range(1, len(expected) + 1)] == expected[::-1]
    assert [number for number in range(-1, 50) if number in numbers] == expected


def test_a_number_that_is_not_in_the_stock_has_no_proof() -> None:
    stock = load_stock("two-suit")
    number = next(n for n in range(1, 100) if n not in stock.numbers)
    assert number not in stock
    with pytest.raises(KeyError):
        stock.proof(number)


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(UnknownVariant):
        load_stock("spider")


@given(st.dictionaries(st.integers(1, LAST_DEAL), st.lists(st.sampled_from(list(MOVES)), max_size=30), max_size=5))
def test_what_is_written_is_read(proofs: dict[int, list[str]]) -> None:
    packed = read_stock(write_stock(proofs))
    assert packed.numbers == tuple(sorted(proofs))
    assert {number: packed.moves(i) for i, number in enumerate(packed.numbers)} == proofs


@pytest.mark.parametrize("damage", [lambda d: d[:6], lambda d: b"XXXX" + d[4:], lambda d: d[:-1], lambda d: d + b"\0"])
def test_a_damaged_file_is_refused(damage: object) -> None:
    assert callable(damage)
    with pytest.raises(ValueError, match="stock"):
        read_stock(damage(write_stock({7: ["r1", "26v3"]})))


def test_what_cannot_be_won_is_not_proved() -> None:
    variant = find_variant("one-suit")
    assert {prove(variant, number) is None for number in range(1, 30)} == {True, False}


def test_the_same_seed_makes_the_same_stock() -> None:
    variant = find_variant("one-suit")
    one = make_proofs(variant, 5, seed=3, processes=1, report=lambda proved, tried: None)
    other = make_proofs(variant, 5, seed=3, processes=2, report=lambda proved, tried: None)
    assert one == other
    assert set(one) <= set(islice(drawn_numbers(variant, 3), 40))


def test_the_shipped_stock_is_what_the_command_makes() -> None:
    stock = load_stock("one-suit")
    proved = [number for number in islice(drawn_numbers(stock.variant, 1), 20) if prove(stock.variant, number)]
    assert proved
    assert all(number in stock for number in proved)


def test_the_command_writes_a_stock_and_says_how_far_it_is(tmp_path: object) -> None:
    arguments = ["make", "--variant", "one-suit", "--count", "3", "--processes", "1", "--directory", str(tmp_path)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert "one-suit: 3 of 3 proved" in result.output


def test_the_command_checks_the_stock() -> None:
    result = CliRunner().invoke(main, ["check", "--variant", "one-suit"])
    assert result.exit_code == 0
    assert result.output == f"one-suit: {len(load_stock('one-suit').numbers)} proofs win\n"
