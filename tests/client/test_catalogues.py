"""The catalogues are complete: all that is said is in them, translated, with the same names in it, and compiled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from tests import catalogues
from tests.catalogues import CATALOGUES, ROOT, SOURCES, TABLES, forms, mo_path, po_path, read, template, untranslated

CLIENT = ROOT / "client" / "cellrace_client"

every_language = pytest.mark.parametrize("code", CATALOGUES)


@cache
def said() -> frozenset[tuple[str | None, object]]:
    """Everything that is said, by its context and its English."""
    return frozenset((message.context, message.id) for message in template() if message.id)


def english(message: Message) -> list[str]:
    """The English of a message: one, or singular and plural."""
    return [message.id] if isinstance(message.id, str) else list(message.id)


def entries(code: str) -> list[Message]:
    """The messages of a language, without the header."""
    return [message for message in read(code) if message.id]


@every_language
def test_nothing_is_missing_or_left_from_before(code: str) -> None:
    """What the code says is what the catalogue has: make catalogues brings it up to date."""
    known = {(message.context, message.id) for message in entries(code)}
    assert sorted(map(str, said() - known)) == [], "not in the catalogue: make catalogues"
    assert sorted(map(str, known - said())) == [], "said no longer: make catalogues"
    assert not read(code).obsolete


@every_language
def test_everything_is_translated_by_a_person(code: str) -> None:
    """No entry is empty, in no form, and none is a guess."""
    assert untranslated(read(code)) == []
    assert [message.id for message in entries(code) if message.fuzzy] == []


@every_language
def test_what_programs_read_is_what_people_wrote(code: str) -> None:
    """The .mo is the .po, compiled."""
    shipped = GNUTranslations(BytesIO(mo_path(code).read_bytes()))
    written = GNUTranslations(BytesIO(catalogues.compiled(read(code))))
    assert vars(shipped)["_catalog"].keys() == vars(written)["_catalog"].keys()
    for message in entries(code):
        for count in range(200) if isinstance(message.id, tuple) else (0,):
            assert spoken(shipped, message, count) == spoken(written, message, count), "run: make catalogues"


def spoken(language: GNUTranslations, message: Message, count: int) -> str:
    """A message as a program says it."""
    if isinstance(message.id, tuple):
        return language.ngettext(*message.id, count)
    return language.pgettext(message.context, message.id) if message.context else language.gettext(message.id)


def test_catalogues_are_as_they_are_saved() -> None:
    """Order, comments and line breaks too, so that a change shows as what it is."""
    for code in CATALOGUES:
        assert po_path(code).read_bytes() == catalogues.po_bytes(catalogues.updated(code)), "run: make catalogues"


def names(text: str) -> list[str]:
    """The places that are filled in."""
    return sorted(set(re.findall(r"\{(\w+)\}", text)))


@every_language
def test_names_and_numbers_are_filled_in_as_in_english(code: str) -> None:
    """Every form has the same places, also the one that is for 21 as well as for 1."""
    wrong = []
    for message in entries(code):
        filled_in = names(english(message)[-1])
        for form in forms(message):
            if form and names(form) != filled_in:
                wrong.append((message.id, form))
            form.format(**dict.fromkeys(names(form), 7))
    assert wrong == []


OTHER_LETTERS = {"uk": "ыэёъ", "ru": "іїєґ’"}
LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")
SPELT_OUT = {"T", "J", "Q", "K", "A"}
"""Ranks that a language explains beyond the ten."""


@every_language
def test_translations_are_in_their_own_letters(code: str) -> None:
    """No letter of another alphabet is among them, however alike it looks, but for words that English has there too."""
    wrong = []
    for message in entries(code):
        known = {word.lower() for text in english(message) for word in LATIN.findall(text)} | SPELT_OUT
        for form in forms(message):
            bare = re.sub(r"\{\w+\}", " ", form)
            strange = [word for word in LATIN.findall(bare) if word.lower() not in known and word not in SPELT_OUT]
            mixed = re.findall(r"[A-Za-z]+[а-яіїєґё]\w*|[а-яіїєґё]+[A-Za-z]\w*", bare, re.IGNORECASE)
            other = set(bare.lower()) & set(OTHER_LETTERS[code])
            if strange or mixed or other:
                wrong.append((form, strange, mixed, other))
    assert wrong == []


@every_language
def test_translations_begin_and_end_as_english_does(code: str) -> None:
    """The same blanks around them, the same kind of end: sentences are put together from them."""
    wrong = []
    for message in entries(code):
        text = english(message)[-1]
        for form in forms(message):
            blanks = (len(text) - len(text.lstrip()), len(text) - len(text.rstrip()))
            same_blanks = blanks == (len(form) - len(form.lstrip()), len(form) - len(form.rstrip()))
            # A word alone may be cut short, where there is no room for more.
            if not same_blanks or (" " in text and end(text) != end(form)):
                wrong.append((text, form))
    assert wrong == []


def end(text: str) -> str:
    """How a text ends, where that is a sign."""
    return text[-1:] if text[-1:] in ".:?!…," else ""


# --- nothing is said past the catalogue

SAYING = {name for keywords in SOURCES.values() for name in keywords}
LOOKED_UP = {
    "str(error)",
    "sentence",
    "event.sentence",
    "NAMELESS",
    "error.why",
    "word.does",
    "word.usage",
    "variant.name",
    "view.variant.name",
    "REASON_SENTENCES[reason]",
    "ERROR_SENTENCES[code]",
    "CLOSE_SENTENCES[known]",
    "VERDICT_SENTENCES[view.verdict]",
}
"""What is found in the catalogue by the sentence that it holds: errors, and the tables of tests/catalogues.py."""

NOT_SAID = {"UsageError", "InvalidText", "NotImplementedError", "RuntimeError", "SystemExit"}
"""Calls whose sentences stay English: what is wrong with a command line, with a file, with the program."""

QUIET_KEYWORDS = {"id", "classes", "name", "help", "epilog", "metavar", "envvar", "client"}
"""Arguments that nobody reads, and the help of commands, which is English."""

QUIET_NAMES = {"CSS", "DEFAULT_CSS", "BINDINGS", "BOX"}

ALLOWED = {
    *("Robo", "Ada", "Bix", "Cog", "Dot", "Esk", "Fig", "Gyro"),  # bots
    *("Esc", "Enter", "Tab"),  # keys, as they are printed on them
}

OPERATORS = {"__init__.py", "administering.py", "cases.py", "serving.py"}
"""What talks to whoever runs a server, or to programs; and the list of commands, which is English as their help is."""

ALOUD = [
    *sorted((CLIENT / "terminal").rglob("*.py")),
    *(CLIENT / name for name in ("narrator.py", "demo.py", "verdict.py", "own_server.py")),
    *(path for path in sorted((CLIENT / "cli").glob("*.py")) if path.name not in OPERATORS),
]
"""The modules that talk to people."""

PROSE = re.compile(r"[A-Za-z]{2,}[,:;]? +[A-Za-z]{2,}|^[A-Z][a-z]{2,}[.!?…]?$|[a-z]{2,}[.!?…]$")
STYLE = re.compile(r"(bold|dim|italic|reverse|underline|not|on|none| )+")


def called(node: ast.Call) -> str:
    """The name that is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def is_quiet(node: ast.AST) -> bool:
    """Whether nobody reads what stands here, or it goes through the catalogue."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.MatchValue():
            return True
        case ast.Call():
            return called(node) in SAYING | NOT_SAID
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name in QUIET_NAMES
        case ast.keyword(arg=name):
            return name in QUIET_KEYWORDS
    return False


def heard(node: ast.AST) -> Iterator[str]:
    """The literals that people may read."""
    if is_quiet(node):
        return
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            parts: list[ast.AST] = list(node.body)
        case ast.Assert():
            parts = [node.test]
        case ast.AnnAssign():
            parts = [node.value] if node.value else []
        case ast.JoinedStr():
            parts = [value for value in node.values if not isinstance(value, ast.Constant)]
            fixed = "".join(value.value for value in node.values if isinstance(value, ast.Constant))
            if re.search(r"[A-Za-z]{2,}", fixed) and not fixed.startswith("/"):
                yield ast.unparse(node)
        case ast.Constant(value=str(text)):
            parts = []
            if PROSE.search(text) and not STYLE.fullmatch(text):
                yield text
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in parts:
        yield from heard(part)


IN_TABLES = {text for texts in TABLES.values() for text in texts} | set(catalogues.usages())


def past_the_catalogue(source: str) -> list[str]:
    """What is said in a module, and goes through no catalogue."""
    return [text for text in heard(ast.parse(source)) if text not in ALLOWED | IN_TABLES]


@pytest.mark.parametrize("path", ALOUD, ids=lambda path: path.relative_to(CLIENT).as_posix())
def test_nothing_is_said_past_the_catalogue(path: Path) -> None:
    """Whatever reads like words goes through `_` or `n_`, stands in a table that does, or is allowed by name."""
    assert past_the_catalogue(path.read_text(encoding="utf-8")) == []


def test_what_is_said_past_the_catalogue_is_found() -> None:
    """Sentences, words on a screen, and what is put together with names."""
    source = (
        '"""A docstring of words."""\nsay("You have won.")\nStatic("Quit")\nsay(f"{name} has won")\n'
        'say(_("You have won."))\nx = "bold reverse"\nquery("#head")\nsay("Won!")\n'
    )
    assert past_the_catalogue(source) == ["You have won.", "Quit", "f'{name} has won'", "Won!"]


def test_what_goes_through_the_catalogue_is_in_it() -> None:
    """A literal that was gathered, or something that is looked up by its sentence; never a sentence put together."""
    texts = {part for _, message in said() for part in ([message] if isinstance(message, str) else message)}
    wrong = []
    for path in sorted([*CLIENT.rglob("*.py"), *(ROOT / "protocol" / "cellrace").glob("*.py")]):
        if path.name == "language.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or called(node) not in ("_", "n_", "p_"):
                continue
            arguments = {"_": node.args[:1], "n_": node.args[:2], "p_": node.args[1:2]}[called(node)]
            for argument in arguments:
                if isinstance(argument, ast.Constant):
                    fits = argument.value in texts
                else:
                    fits = ast.unparse(argument) in LOOKED_UP
                if not fits:
                    wrong.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {ast.unparse(argument)}")
    assert wrong == []
