"""How boards, bars and cards are drawn: everything fits, and what is drawn is found under the mouse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.messages import EntrantStatus, RaceState
from cellrace.notation import FIRST_CELL, HOME, RESERVE
from cellrace.variants import VARIANTS
from cellrace_client.terminal.app.bars import bar, entrant_lines
from cellrace_client.terminal.app.board_layout import lay_out, narrowest, tightest
from cellrace_client.terminal.app.board_painter import BoardPainter, Marks
from cellrace_client.terminal.app.clock import clock_text, next_second, until_next_count
from cellrace_client.terminal.app.deck import DECKS, Deck, Light, face_text, next_deck
from cellrace_client.terminal.app.fitting import fitted, fitted_name
from cellrace_client.terminal.app.held import Held, targets
from cellrace_client.terminal.app.steps import LONGEST, boards_between, pause
from tests.client.app.boards import boards, dealt
from tests.client.views import ANN, BOB, CY, a_view, entrant


@given(boards(), st.integers(41, 160), st.integers(21, 60), st.booleans())
def test_every_line_is_exactly_as_wide_as_the_board(board: Board, width: int, height: int, letters: bool) -> None:
    """In any room that the game's board fits into, with anything marked."""
    width = max(width, tightest(board.variant))
    layout = lay_out(board, width, height)
    marks = Marks(Held(0), targets(board, Held(0)), cursor=1)
    for deck in DECKS.values():
        lines = BoardPainter(board, layout, deck, marks, letters=letters).lines()
        assert len(lines) == height
        assert {sum(cell_len(segment.text) for segment in line) for line in lines} == {width}


@given(boards(), st.integers(0, 60), st.integers(21, 45))
def test_every_exposed_card_is_seen(board: Board, more: int, height: int) -> None:
    """However long its column is."""
    width = narrowest(board.variant) + more
    lines = BoardPainter(board, lay_out(board, width, height), DECKS["none"], Marks(), letters=False).lines()
    text = "\n".join("".join(segment.text for segment in line) for line in lines)
    exposed = [column[-1] for column in board.columns if column] + [card for card in board.cells if card != NO_CARD]
    for card in exposed:
        assert face_text(card, letters=False) in text


@given(boards(), st.integers(0, 60), st.integers(21, 45))
def test_what_is_drawn_is_found_under_the_mouse(board: Board, more: int, height: int) -> None:
    """Each exposed card by its first line; each cell and each home."""
    layout = lay_out(board, narrowest(board.variant) + more, height)
    for column, cards in enumerate(board.columns):
        stack = layout.stacks[column]
        y = layout.columns_y + stack.line_of(max(0, len(cards) - 1))
        hit = layout.hit(board, layout.columns[column] + 1, y)
        assert hit is not None
        assert (hit.pile, hit.depth) == (column, max(0, len(cards) - 1))
    for i, x in enumerate(layout.cells):
        hit = layout.hit(board, x, 1)
        assert hit is not None
        assert hit.pile == FIRST_CELL + i
    for x in layout.homes:
        hit = layout.hit(board, x, 1)
        assert hit is not None
        assert hit.pile == HOME
    for x in layout.reserve:
        hit = layout.hit(board, x, 1)
        assert hit is not None
        assert hit.pile == RESERVE
    assert layout.hit(board, 0, 0) is None or layout.cells[0] == 0


def test_every_game_fits_beside_bars_in_eighty_columns() -> None:
    """With room for names."""
    assert max(narrowest(variant) for variant in VARIANTS.values()) <= 80 - 18


@pytest.mark.parametrize("deck", DECKS.values(), ids=lambda deck: deck.id)
def test_every_card_can_be_read(deck: Deck) -> None:
    """Ink against paper by the measure of WCAG: 4.5 to 1, and 7 to 1 in high contrast; in every light."""
    if not deck.colored:
        assert deck.card(0, Light.PLAIN).color is None
        return
    least = 7.0 if deck.id == "contrast" else 4.5
    for card in range(4):
        for light in Light:
            for odd in (False, True):
                style = deck.card(card, light, odd=odd)
                assert style.color is not None
                assert style.bgcolor is not None
                assert contrast(style.color.name, style.bgcolor.name) >= least, (deck.id, card, light, odd)


def contrast(ink: str, paper: str) -> float:
    """The contrast of two colours, 1 to 21."""
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    """The relative luminance of `#rrggbb`."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_decks_go_round() -> None:
    """Each once, then the first again."""
    deck = DECKS["four"]
    seen = []
    for _ in DECKS:
        seen.append(deck.id)
        deck = next_deck(deck)
    assert seen == list(DECKS)
    assert deck.id == "four"


@given(st.integers(0, 52), st.integers(1, 60))
def test_a_bar_is_full_only_at_the_end(home: int, width: int) -> None:
    """And empty only at the beginning."""
    drawn = bar(home, 52, width)
    assert len(drawn) == width
    assert ("░" not in drawn) == (home == 52 or (width == 1 and home > 0))
    assert ("█" not in drawn) == (home == 0)
    assert bar(52 + home, 52, width) == "█" * width


@given(st.text(max_size=40), st.integers(0, 30))
def test_a_name_takes_exactly_its_room(name: str, width: int) -> None:
    """Whatever is in it: wide letters, escapes, markup."""
    shown = fitted(name, width)
    assert cell_len(shown) == width
    assert shown.isprintable()


@given(st.text(min_size=1, max_size=30), st.integers(12, 40))
def test_of_a_long_name_it_stays_seen_who_that_is(name: str, width: int) -> None:
    """The name is shortened before what its player is."""
    shown = fitted_name(name, " (you)", width)
    assert cell_len(shown) == width
    assert shown.rstrip().endswith(" (you)")


@pytest.mark.parametrize("height", [1, 2, 3, 5, 8, 18, 40])
def test_entrants_fit_into_their_room(height: int) -> None:
    """Two lines each, one, or as many as there is room for, oneself among them."""
    names = "BCDEFGH"
    others = [entrant(BOB.__class__(id=name, name=name * 20, bot=True), home=i) for i, name in enumerate(names)]
    view = a_view(state=RaceState.RUNNING, entrants=(*others, entrant(ANN, EntrantStatus.PLAYING)))
    lines = entrant_lines(view, 24, height)
    assert len(lines) <= height
    assert all(line.cell_length <= 24 for line in lines)
    if height > 2:
        assert any("Ann" in line.plain for line in lines)


def test_who_is_best_stands_first() -> None:
    """Winners by place, then cards home; who gave up stands last."""
    view = a_view(
        state=RaceState.RUNNING,
        entrants=(
            entrant(ANN, EntrantStatus.PLAYING, home=3),
            entrant(BOB, EntrantStatus.FORFEITED, home=30),
            entrant(CY, EntrantStatus.WON, home=52, place=1, time=61_000),
        ),
    )
    text = [line.plain for line in entrant_lines(view, 30, 20)]
    assert [line.split()[0] for line in text[::3]] == ["Cy", "Ann", "Bob"]
    assert "won 1:01.000" in text[1]


def test_clocks_change_at_whole_seconds() -> None:
    """Of the race, for everybody."""
    assert [clock_text(ms) for ms in (-5, 0, 999, 61_000, 3_661_000)] == ["0:00", "0:00", "0:00", "1:01", "1:01:01"]
    assert next_second(1_250) == 0.75
    assert next_second(2_000) == 1.0
    assert until_next_count(3_000) == 1.0
    assert until_next_count(2_999) == 0.999


@given(boards())
def test_steps_lead_to_where_the_move_leads(board: Board) -> None:
    """Supermoves card by card; the pause between them is short."""
    for move in board.legal_moves():
        between = boards_between(board, [move])
        assert between[-1] == board.play(move)
        assert len(between) * pause(len(between)) <= LONGEST + 0.06


def test_taking_back_has_no_steps() -> None:
    """It is done at once."""
    assert boards_between(dealt("freecell", 1), ["u"]) == []
