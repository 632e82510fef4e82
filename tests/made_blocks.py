"""The parts of our pages that are made from the code: `python -m tests.made_blocks`, or `make docs`, writes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import click

from cellrace_client.cli.serving import serve

ROOT = Path(__file__).parent.parent
SOURCES = ("protocol/cellrace", "server/cellrace_server", "client/cellrace_client")
EXAMPLE = "examples/greedy_bot.py"


def modules() -> list[Path]:
    """Every module of the three packages, package by package and folder by folder."""
    return [
        path
        for source in SOURCES
        for path in sorted((ROOT / source).rglob("*.py"), key=lambda path: (path.parent, path.name))
    ]


def docstring(path: Path) -> str | None:
    """A module's docstring."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def module_map() -> str:
    """A table for each folder: its modules and their first lines."""
    folders: dict[Path, list[Path]] = {}
    for path in modules():
        folders.setdefault(path.parent, []).append(path)
    return "\n".join(_folder(folder, paths) for folder, paths in folders.items())


def _folder(folder: Path, paths: list[Path]) -> str:
    shown = folder.relative_to(ROOT).as_posix()
    first = {path: (docstring(path) or "").partition("\n")[0] for path in paths}
    lines = [f"### `{shown}`", "", first[folder / "__init__.py"], ""]
    rows = [
        f"| [`{path.stem}`](../{shown}/{path.name}) | {_cell(first[path])} |"
        for path in paths
        if path.stem != "__init__"
    ]
    return "\n".join([*lines, "| module | |", "| --- | --- |", *rows, ""] if rows else lines)


def option_table() -> str:
    """The options of `cellrace serve`."""
    rows = [_option(option) for option in serve.params if isinstance(option, click.Option)]
    return "\n".join(["| option | variable | default | |", "| --- | --- | --- | --- |", *rows, ""])


def _option(option: click.Option) -> str:
    variable = f"CELLRACE_{(option.name or '').upper()}"
    told = isinstance(option.default, str | int | float)
    default = option.default if told else ""
    return f"| `{option.opts[0]}` | `{variable}` | {default} | {_cell(option.help or '')} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def example_bot() -> str:
    """The bot of the examples."""
    return f"```python\n{(ROOT / EXAMPLE).read_text(encoding='utf-8')}```\n"


BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "modules": ("docs/architecture.md", module_map),
    "options": ("docs/operations.md", option_table),
    "bot": ("README.md", example_bot),
}
"""Each block's page, and what makes it."""


def filled(page: str, block: str, text: str) -> str:
    """A page with one of its blocks as it is made now."""
    begin, end = f"<!-- made: {block} -->\n", f"<!-- end of {block} -->\n"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


def write() -> None:
    """Write every block into its page."""
    for block, (name, make) in BLOCKS.items():
        path = ROOT / name
        path.write_text(filled(path.read_text(encoding="utf-8"), block, make()), encoding="utf-8")


if __name__ == "__main__":
    write()
