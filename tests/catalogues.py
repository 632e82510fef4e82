"""The catalogues of the client's languages: `python -m tests.catalogues`, or `make catalogues`, brings them up to date.

What is said to people is gathered from the code and written into each language's `.po`, where a person translates it;
the `.mo` beside it, which programs read, is made from that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from cellrace.errors import ERROR_SENTENCES, REASON_SENTENCES
from cellrace.messages import CLOSE_SENTENCES
from cellrace.variants import VARIANTS
from cellrace_client.events import TAKEN_OUT
from cellrace_client.language import DOMAIN, LANGUAGES, LOCALE
from cellrace_client.terminal.commands import USAGE, WORDS
from cellrace_client.terminal.titles import NAMELESS
from cellrace_client.verdict import VERDICT_SENTENCES

ROOT = Path(__file__).parent.parent
CATALOGUES = tuple(code for code in LANGUAGES if code != "en")
"""The languages that need a catalogue."""

Spec = dict[str, tuple[int | tuple[int, str], ...] | None]

_SAID: Spec = {"_": None, "n_": (1, 2), "p_": ((1, "c"), 2)}
_ERRORS: Spec = {"Refused": (2,), "Unreachable": (2,), "Closed": (2,)}
"""Errors carry their English sentences, which are found in the catalogue when they are told."""

SOURCES: dict[str, Spec] = {
    "client/cellrace_client": _SAID | _ERRORS,
    "protocol/cellrace": _SAID | {"Refused": (2,)},
    "server/cellrace_server": {"Refused": (2,)},
}
"""Where sentences stand, and which arguments of which functions they are."""

TABLES: dict[str, list[str]] = {
    "protocol/cellrace/variants.py": [variant.name for variant in VARIANTS.values()],
    "protocol/cellrace/errors.py": [*REASON_SENTENCES.values(), *ERROR_SENTENCES.values()],
    "protocol/cellrace/messages/closing.py": list(CLOSE_SENTENCES.values()),
    "client/cellrace_client/verdict.py": list(VERDICT_SENTENCES.values()),
    "client/cellrace_client/connection/wire.py": ["The connection is cut."],
    "client/cellrace_client/events.py": [TAKEN_OUT],
    "client/cellrace_client/terminal/titles.py": [NAMELESS],
    "client/cellrace_client/terminal/commands.py": [word.does for word in WORDS.values()],
}
"""Sentences that stand in tables, and are looked up when they are told."""


def template() -> Catalog:
    """Everything that is said, without a language."""
    made = Catalog(domain=DOMAIN)
    for name, message, context in _gathered():
        made.add(message, locations=[(name, 0)], context=context)
    for name, messages in TABLES.items():
        for message in messages:
            made.add(message, locations=[(name, 0)])
    for usage in usages():
        made.add(usage, locations=[("client/cellrace_client/terminal/commands.py", 0)], context=USAGE)
    return made


def usages() -> list[str]:
    """How commands are written: their first words stay, what follows is told in each language."""
    return [word.usage for word in WORDS.values()]


def _gathered() -> Iterator[tuple[str, str | tuple[str, ...], str | None]]:
    for source, keywords in SOURCES.items():
        for path in sorted((ROOT / source).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            with path.open("rb") as file:
                # Babel's own types do not know what its extractors give.
                for _line, message, _comments, context in extract(cast(Any, _calls), file, keywords=keywords):
                    yield name, message, context


def _calls(
    file: BinaryIO, keywords: Spec, comment_tags: object, options: object
) -> Iterator[tuple[int, str, tuple[str | None, ...], list[str]]]:
    """The calls of a module that say something, as Babel wants them; its own way passes over those in f-strings."""
    found = []
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in keywords:
            texts = (argument.value if isinstance(argument, ast.Constant) else None for argument in node.args)
            told = tuple(text if isinstance(text, str) else None for text in texts)
            found.append((node.lineno, node.col_offset, node.func.id, told))
    for line, _column, name, told in sorted(found, key=lambda call: call[:2]):
        yield line, name, told, []


def po_path(code: str) -> Path:
    """Where people translate."""
    return LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.po"


def mo_path(code: str) -> Path:
    """What programs read."""
    return po_path(code).with_suffix(".mo")


def read(code: str) -> Catalog:
    """A language as it is translated; empty where there is nothing yet."""
    path = po_path(code)
    if not path.exists():
        return Catalog(locale=code, domain=DOMAIN, project="cellrace", copyright_holder="", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=code, domain=DOMAIN)


def updated(code: str) -> Catalog:
    """The same with exactly what is said now; what is new is not translated yet."""
    catalogue = read(code)
    catalogue.update(template(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    return catalogue


def po_bytes(catalogue: Catalog) -> bytes:
    """What people read of a language."""
    made = BytesIO()
    write_po(made, catalogue, width=110, include_lineno=False, sort_by_file=True, ignore_obsolete=True)
    return made.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """What programs read of a language."""
    made = BytesIO()
    write_mo(made, catalogue)
    return made.getvalue()


def save(code: str, catalogue: Catalog) -> None:
    """Writes a language, for people and for programs."""
    po_path(code).parent.mkdir(parents=True, exist_ok=True)
    po_path(code).write_bytes(po_bytes(catalogue))
    mo_path(code).write_bytes(compiled(catalogue))


def untranslated(catalogue: Catalog) -> list[str]:
    """What is not translated yet, or not in every form."""
    return [str(message.id) for message in catalogue if message.id and not all(forms(message))]


def forms(message: Message) -> list[str]:
    """The translations of a message: one, or one for each plural form."""
    return [message.string] if isinstance(message.string, str) else list(map(str, message.string or ()))


def write() -> None:
    """Brings every catalogue up to date, and tells what is to be translated."""
    for code in CATALOGUES:
        catalogue = updated(code)
        save(code, catalogue)
        for line in (f"{code}: {len(catalogue)} messages", *untranslated(catalogue)):
            print(line)


if __name__ == "__main__":
    write()
