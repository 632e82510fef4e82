"""The cases and deals under tests/golden, read for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cellrace.autoplay import Autoplay
from cellrace.board import Board, dealt_board
from cellrace.board_text import named_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.variants import find_variant

GOLDEN = Path(__file__).parent.parent / "golden"


def rule_cases() -> list[dict[str, Any]]:
    """The rule cases: `why`, `case`, `expect`."""
    return [json.loads(line) for line in (GOLDEN / "rules_cases.jsonl").read_text("utf-8").splitlines()]


def case_game(case: dict[str, Any]) -> Game:
    """The game that a case begins with."""
    variant = find_variant(case["variant"])
    board: Board
    if "deal" in case:
        board = dealt_board(variant, deal(variant, case["deal"]))
    else:
        board = named_board(variant, **case["board"])
    return Game(board, Autoplay(case["autoplay"]))


def published_deals() -> dict[int, list[list[str]]]:
    """The columns of published deals by their number."""
    deals: dict[int, list[list[str]]] = {}
    for line in (GOLDEN / "deals.txt").read_text("utf-8").splitlines():
        if line[:1].isdigit():
            deals[int(line)] = []
        elif line.startswith(":"):
            next(reversed(deals.values())).append(line[1:].split())
    return deals
