"""The project's own files: pages that say what is so, set-up that names no place, modules that stay small."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import tomllib
from functools import cache
from itertools import takewhile
from pathlib import Path

import click
import pytest
import yaml
from packaging.requirements import Requirement

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.errors import IllegalMove
from cellrace.game import Game
from cellrace.notation import parse_moves
from cellrace.variants import find_variant
from cellrace_client.cli import main
from cellrace_client.terminal.board_lines import board_lines
from tests.made_blocks import BLOCKS, ROOT, docstring, filled, modules

LONGEST_MODULE = 300
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]

# Written so that they do not find themselves.
PLACES = {
    "a path of one machine": r"/wor[k]/\w|/opt/p[y]pi|/opt/wh[e]els|/hom[e]/[a-z]|/roo[t]/|/Use[r]s/",
    "the address of a registry": r"pyp[i]\.org|pythonhoste[d]|npmj[s]|ghc[r]\.io|docke[r]\.io",
    "an option that names an index": r"index-ur[l]|find-link[s]|trusted-hos[t]",
}


@cache
def tracked() -> tuple[Path, ...]:
    """The files of the project, as git knows them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    return tuple(path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def fenced(page: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def shell_commands() -> list[list[str]]:
    """Every command of our pages, as words, without redirections."""
    commands: list[list[str]] = []
    for page in PAGES:
        for block in fenced(page.read_text(encoding="utf-8"), "sh"):
            for line in block.splitlines():
                lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
                lexer.whitespace_split = True
                commands.append([])
                for word in lexer:
                    if word in ("|", "&", ";", "&&"):
                        commands.append([])
                    else:
                        commands[-1].append(word)
    return [list(takewhile(lambda word: word not in ("<", ">"), words)) for words in commands if words]


def commands_of(program: str) -> list[list[str]]:
    return [words[1:] for words in shell_commands() if words[0] == program]


@pytest.mark.parametrize("words", commands_of("cellrace"), ids=" ".join)
def test_each_cellrace_command_of_the_pages_is_one(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its subcommand exists, and takes these options and arguments; files that it names are there."""
    monkeypatch.chdir(tmp_path)
    for word in words:
        if Path(word).suffix in (".json", ".key"):
            Path(word).touch()
    command = main.get_command(click.Context(main), words[0])
    assert command is not None
    command.make_context(words[0], words[1:])


def test_each_make_command_of_the_pages_has_its_target():
    """make play, make test and whatever else a page says."""
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    asked = {words[0] for words in commands_of("make")}
    assert {"play", "test"} <= asked <= set(targets)


def test_each_python_command_of_the_pages_has_its_file():
    """python examples/…, and python -m … with options that it has."""
    asked = commands_of("python")
    files = [words[0] for words in asked if words[0] != "-m"]
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []
    for _, module, *words in (words for words in asked if words[0] == "-m"):
        folder = ROOT.joinpath(*module.split("."))
        source = folder / "__main__.py" if folder.is_dir() else folder.with_suffix(".py")
        told = source.read_text(encoding="utf-8")
        assert [word for word in words if word.startswith("--") and f'"{word}"' not in told] == []


PYTHON_BLOCKS = [
    pytest.param(block, id=f"{shown(page)}-{i}")
    for page in PAGES
    for i, block in enumerate(fenced(page.read_text(encoding="utf-8"), "python"))
]


@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_of_the_pages_compiles_and_finds_what_it_imports(block: str):
    """Run as a module that is not the main one."""
    exec(compile(block, "page", "exec"), {"__name__": "page"})  # noqa: S102 - our own pages


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path):
    """Every relative link of a page names a file, and a heading in it where it names one."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    astray = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in slugs(target)):
            astray.append(link)
    assert astray == []


@pytest.mark.parametrize("block", BLOCKS)
def test_parts_made_from_the_code_are_as_the_code_is(block: str):
    """The map of modules, the options of serve, the bot of the examples."""
    name, make = BLOCKS[block]
    page = (ROOT / name).read_text(encoding="utf-8")
    assert filled(page, block, make()) == page, "run: make docs"


def test_the_race_in_the_readme_is_one():
    """Its moves lead to its boards, are refused where it says so, and win."""
    race = next(block for block in fenced(README, "text") if "> ready" in block)
    number = re.search(r"One Suit, deal (\d+)", race)
    assert number is not None
    variant = find_variant("one-suit")
    game = Game(dealt_board(variant, deal(variant, int(number[1]))), Autoplay.SAFE)

    def is_shown() -> bool:
        return "\n".join(line.rstrip() for line in board_lines(game.board, symbols=False, color=False)) in race

    assert is_shown()
    for line in re.findall(r"^> (\d.*)$", race, re.MULTILINE):
        moves = parse_moves(line)
        refused = f"{line} is not possible" in race
        if refused:
            with pytest.raises(IllegalMove):
                game.play_all(moves)
            continue
        game, _ = game.play_all(moves)
        assert is_shown() or game.won
    assert game.won


def test_no_file_names_a_machine_or_a_registry():
    """What is committed works wherever it is cloned, from whatever index pip is set to."""
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{shown(path)}: {what}" for what, pattern in PLACES.items() if re.search(pattern, text)]
    assert found == []


def pins() -> dict[str, str]:
    """The exact versions of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    matches = [re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+]+)", line) for line in lines]
    assert [line for line, match in zip(lines, matches, strict=True) if match is None] == []
    names = [match[1].lower().replace("_", "-") for match in matches if match]
    assert len(set(names)) == len(names)
    return dict(zip(names, [match[2] for match in matches if match], strict=True))


def test_constraints_are_versions_of_what_is_required():
    """Nothing but name==version, and each requirement has one within its range."""
    asked = [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]
    known = pins()
    for requirement in map(Requirement, asked):
        name = requirement.name.lower().replace("_", "-")
        if name != PROJECT["name"]:
            assert requirement.specifier.contains(known.get(name, "missing")), requirement


SOURCES = [*modules(), *sorted((ROOT / "bench").rglob("*.py")), *sorted((ROOT / "examples").rglob("*.py"))]


def test_every_module_says_what_it_is():
    """In its docstring."""
    assert [shown(path) for path in SOURCES if not docstring(path)] == []


def test_every_public_name_says_what_it_is():
    """Each public class, function and method of the three packages has a docstring, but for click's own methods."""
    silent = []
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for owner in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")]:
            for node in owner.body:
                if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or node.name[0] == "_":
                    continue
                overload = any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)
                if not ast.get_docstring(node) and not overload:
                    silent.append(f"{shown(path)}:{node.lineno} {node.name}")
    assert silent == []


@pytest.mark.parametrize(("rule", "room"), [("Redis only in store", "store"), ("Sockets only in net", "net")])
def test_a_new_module_of_the_server_is_under_the_rule(rule, room):
    """The contracts name the server's modules one by one: one that they did not name could do as it liked."""
    (contract,) = [one for one in SETTINGS["tool"]["importlinter"]["contracts"] if one["name"] == rule]
    rooms = {path.stem for path in (ROOT / "server" / "cellrace_server").iterdir() if (path / "__init__.py").exists()}
    rooms |= {path.stem for path in (ROOT / "server" / "cellrace_server").glob("*.py")} - {"__init__"}
    named = {module.removeprefix("cellrace_server.") for module in contract["source_modules"]}
    assert rooms - {room} <= named


def test_no_module_is_two_things():
    """A module that wants to grow past 300 lines is two."""
    long = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > LONGEST_MODULE} == {}


def test_decisions_are_numbered_dated_and_listed():
    """One after the other, each with its date, all in the list."""
    folder = ROOT / "docs" / "decisions"
    files = sorted(folder.glob("[0-9]*.md"))
    assert [int(path.name[:4]) for path in files] == list(range(1, len(files) + 1))
    listed = (folder / "README.md").read_text(encoding="utf-8")
    for path in files:
        title, _, date = path.read_text(encoding="utf-8").splitlines()[:3]
        assert title.startswith(f"# {path.name[:4]} ")
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", date)
        assert f"- [{path.name[:4]}]({path.name}) {title[7:]}" in listed


def test_numbers_cited_are_those_of_the_pages():
    """ "NODES, 7" in a comment is a line of docs/nodes.md; "RULES, section 3" a section of docs/rules.md."""
    lines = {
        int(n) for n in re.findall(r"^(\d+)\. ", (ROOT / "docs/nodes.md").read_text(encoding="utf-8"), re.MULTILINE)
    }
    sections = set(re.findall(r"^## (\d+)\. ", (ROOT / "docs/rules.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert lines == set(range(1, len(lines) + 1))
    for path in tracked():
        if path.suffix not in (".py", ".lua"):
            continue
        text = path.read_text(encoding="utf-8")
        for cited in re.findall(r"NODES, ([\d, –]+)", text):
            assert {int(n) for n in re.findall(r"\d+", cited)} <= lines, (shown(path), cited)
        for section in re.findall(r"RULES, section (\d+)", text):
            assert section in sections, (shown(path), section)


def test_the_changelog_has_a_place_for_what_is_new():
    """Its first version is the unreleased one."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"


def test_ci_runs_make_test():
    """And can be run."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")


def test_the_composed_store_keeps_what_it_answers():
    """The store of docker-compose.yml writes to disk before it answers, and throws nothing away."""
    store = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["store"]
    words = store["command"]
    settings = dict(zip(words[1::2], words[2::2], strict=True))
    assert settings["--appendonly"] == "yes"
    assert settings["--appendfsync"] == "always"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert any(volume.endswith(f":{settings['--dir']}") for volume in store["volumes"])
