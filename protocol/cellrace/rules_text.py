"""A game's rules in plain words, told from its row alone; the sentences can be translated with gettext."""

from __future__ import annotations

from gettext import NullTranslations
from typing import NamedTuple, assert_never

from cellrace.cards import SUITS, SYMBOLS, card_symbol
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace.variants import Build, Empty, Run, Variant

_ENGLISH = NullTranslations()


class Paragraph(NamedTuple):
    """One subject of the rules."""

    title: str
    text: str


def rules_paragraphs(variant: Variant, language: NullTranslations = _ENGLISH) -> list[Paragraph]:
    """All rules of a game, in the order in which a newcomer needs them."""
    _ = language.gettext
    return [
        Paragraph(_("Aim"), _aim(variant, language)),
        Paragraph(_("Pack"), _pack(variant, language)),
        Paragraph(_("Layout"), _layout(variant, language)),
        Paragraph(_("Cells"), _cells(variant, language)),
        Paragraph(_("Reserve"), _reserve(variant, language)),
        Paragraph(_("Building"), _building(variant, language)),
        Paragraph(_("Several cards at once"), _at_once(variant, language)),
        Paragraph(_("Empty columns"), _empty_columns(variant, language)),
        Paragraph(_("Going home"), _home(variant, language)),
        Paragraph(_("By itself"), _autoplay(variant, language)),
        Paragraph(_("Winning"), _winning(language)),
        Paragraph(_("Writing moves"), _notation(variant, language)),
    ]


def _sentences(*sentences: str) -> str:
    return " ".join(sentences)


def _aim(variant: Variant, language: NullTranslations) -> str:
    _, n_ = language.gettext, language.ngettext
    suits = len(variant.suits)
    return n_(
        "{name} ({id}): bring the whole suit home, in order.",
        "{name} ({id}): bring all {count} suits home, each in order.",
        suits,
    ).format(name=_(variant.name), id=variant.id, count=suits)


def _pack(variant: Variant, language: NullTranslations) -> str:
    _, n_ = language.gettext, language.ngettext
    return _sentences(
        n_("{count} card:", "{count} cards:", variant.pack_size).format(count=variant.pack_size),
        _("the ranks {ranks}, from low to high, of {suits}.").format(
            ranks=" ".join(variant.ranks),
            suits=" ".join(f"{SYMBOLS[SUITS.index(suit)]} ({suit})" for suit in variant.suits),
        ),
        _("A card is written rank first: T is the ten."),
    )


def _layout(variant: Variant, language: NullTranslations) -> str:
    _, n_ = language.gettext, language.ngettext
    count = len(variant.columns)
    sizes = set(variant.columns)
    if len(sizes) == 1:
        columns = n_(
            "The cards lie face up in one column of {size} cards.",
            "The cards lie face up in {count} columns of {size} cards each.",
            count,
        ).format(count=count, size=sizes.pop())
    else:
        columns = _("The cards lie face up in {count} columns, from left to right of {sizes} cards.").format(
            count=count, sizes=" ".join(map(str, variant.columns))
        )
    return _sentences(
        columns,
        _("The last card of a column, its exposed end, is the one that can be played."),
    )


def _cells(variant: Variant, language: NullTranslations) -> str:
    _, n_ = language.gettext, language.ngettext
    dealt = variant.cells_dealt
    return _sentences(
        n_("There is {count} cell.", "There are {count} cells.", variant.cells).format(count=variant.cells),
        _("A free cell takes any one card, and gives it back when you like."),
        n_(
            "The first from the left holds a card when play begins.",
            "The first {count} from the left hold a card each when play begins.",
            dealt,
        ).format(count=dealt)
        if dealt
        else _("All are free when play begins."),
    )


def _reserve(variant: Variant, language: NullTranslations) -> str:
    _, n_ = language.gettext, language.ngettext
    if not variant.reserve:
        return _("There is none: all cards are dealt.")
    return _sentences(
        n_("{count} card is left over.", "{count} cards are left over.", variant.reserve).format(count=variant.reserve),
        _("Before anything else you lay them out in the order dealt, each on the end of a column that you choose."),
        _("Several may go on one column."),
    )


def _building(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    match variant.build:
        case Build.COLOR:
            rule = _sentences(
                _("A card may go on a column whose exposed card is one rank higher and of the other colour."),
                _("♣ and ♠ are black, ♦ and ♥ red."),
            )
        case Build.SUIT:
            rule = _("A card may go on a column whose exposed card is one rank higher and of the same suit.")
        case Build.RANK:
            rule = _("A card may go on a column whose exposed card is one rank higher, of any suit.")
        case never:
            assert_never(never)
    pairs = sorted(variant.fits)
    upper, lower = divmod(pairs[len(pairs) // 2], 64)
    return _sentences(
        rule,
        _("For example {upper} goes on {lower}.").format(upper=card_symbol(upper), lower=card_symbol(lower)),
        _("Ranks do not go round: nothing goes on {lowest}, and {highest} goes on no card.").format(
            lowest=variant.ranks[0], highest=variant.ranks[-1]
        ),
    )


def _at_once(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    run = _("Cards at the end of a column that already lie in such an order are a run.")
    match variant.run:
        case Run.SINGLE:
            return _("Only one card moves at a time, whatever is free.")
        case Run.UNLIMITED:
            return _sentences(run, _("A run of any length moves in one move, whatever is free."))
        case Run.LIMITED if variant.empty is Empty.KING:
            return _sentences(
                run,
                _("One move carries one card more than there are free cells."),
                _("With 2 free cells that is 3 cards."),
            )
        case Run.LIMITED:
            return _sentences(
                run,
                _("One move carries one card more than there are free cells, and twice as many for each empty column."),
                _("The column that they go to does not count."),
                _("With 2 free cells and 1 empty column that is 6 cards."),
            )
        case never:
            assert_never(never)


def _empty_columns(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    match variant.empty:
        case Empty.ANY:
            return _("Any card may go to an empty column.")
        case Empty.KING:
            return _("Only a king, alone or at the head of a run, may go to an empty column.")
        case never:
            assert_never(never)


def _home(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    return _sentences(
        _("Home has a pile for each suit."),
        _("Each suit goes home in the order {order}.").format(order=" ".join(variant.home_order)),
        _("A card that is home stays there."),
    )


def _autoplay(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    match variant.build:
        case Build.COLOR:
            safe = _(
                "After each move, cards that no column can need any more go home: {first} and {second} at once,"
                " a higher one when the rank before it is home in every suit of the other colour."
            ).format(first=variant.home_order[0], second=variant.home_order[1])
        case Build.SUIT | Build.RANK:
            safe = _("After each move, every card that can go home does so.")
        case never:
            assert_never(never)
    return _sentences(safe, _("A race may switch this off."))


def _winning(language: NullTranslations) -> str:
    _ = language.gettext
    return _sentences(
        _("You have won when every card is home."),
        _("When nothing can be moved any more, take moves back and try another way."),
    )


def _notation(variant: Variant, language: NullTranslations) -> str:
    _ = language.gettext
    sentences = [
        _("A move is written as where from and where to: columns {columns}, cells {cells}, h for home.").format(
            columns=" ".join(COLUMN_LETTERS[: len(variant.columns)]), cells=" ".join(CELL_LETTERS[: variant.cells])
        ),
        _("3a moves the last card of column 3 to cell a, a1 the card in cell a to column 1."),
        _("3h moves the last card of column 3 home."),
        _("31 moves from column 3 to column 1, as many cards as fit there."),
    ]
    if variant.run is not Run.SINGLE:
        sentences.append(_("To an empty column that is one card, and 31v2 moves two."))
    if variant.reserve:
        sentences.append(_("r1 lays the next card of the reserve on column 1."))
    sentences.append(_("u takes the last move back."))
    return _sentences(*sentences)
