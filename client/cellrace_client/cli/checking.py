"""The command check: plays moves and shows where they lead, or says which is illegal and why."""

from __future__ import annotations

import sys
from typing import BinaryIO, TextIO, cast

import click
from msgspec.structs import asdict

from cellrace.autoplay import Autoplay
from cellrace.board import Board, dealt_board
from cellrace.deals import deal as deal_layout
from cellrace.errors import InvalidText
from cellrace.game import Game
from cellrace.notation import UNDO, parse_moves
from cellrace.variants import Variant, find_variant
from cellrace_client.cli.board_input import read_board, read_text
from cellrace_client.cli.cases import CaseReader, Outcome, answer, play_moves, read_lines
from cellrace_client.cli.options import (
    AUTOPLAY,
    DEAL_NUMBER,
    NO,
    VARIANT,
    is_default,
    lang_option,
    show_board,
    show_json,
    symbols_option,
)
from cellrace_client.language import _, n_
from cellrace_client.terminal.refusals import refusal_text


@click.command()
@click.option(
    "--variant", "game", type=VARIANT, metavar="VARIANT", default="freecell", show_default=True, help="The game."
)
@click.option("--deal", type=DEAL_NUMBER, help="Play from this deal.")
@click.option(
    "--board", type=click.File(encoding="utf-8"), help="Play from the board in this file; - is standard input."
)
@click.option("--moves", type=click.File(encoding="utf-8"), help="Play the moves in this file; - is standard input.")
@click.option(
    "--autoplay",
    type=AUTOPLAY,
    default=Autoplay.NONE.value,
    show_default=True,
    help="What goes home by itself after each move.",
)
@click.option("--steps", is_flag=True, help="Show each move card by card.")
@symbols_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.option("--jsonl", is_flag=True, help="Answer cases, one JSON object a line, from CASES or standard input.")
@click.argument("cases", type=click.File("rb"), required=False)
@lang_option
def check(
    game: str,
    deal: int | None,
    board: TextIO | None,
    moves: TextIO | None,
    autoplay: str,
    steps: bool,
    symbols: bool,
    as_json: bool,
    jsonl: bool,
    cases: BinaryIO | None,
) -> None:
    """Play moves and show the board they lead to, or say which is illegal and why.

    The exit status is 1 when a move is illegal; with --jsonl, when a line's answer is not ok.

    \b
    cellrace check --deal 617 --moves moves.txt
    echo 18 83 | cellrace check --deal 11 --moves - --steps
    cellrace deal freecell 11 | cellrace check --board - --moves moves.txt
    cellrace check --jsonl cases.jsonl

    A board is what deal prints, also with --json, or a line for each column, from its buried end. Above these may
    stand what lies elsewhere, as solvers write it:

    \b
    Foundations: H-0 C-2 D-0 S-A
    Freecells: KH -
    Reserve: 5D
    : 4C 2C 9C
    :

    A case is {"variant", "deal" or "board", "moves": [...], "autoplay": "none"}; what it does not say is taken from the
    options.
    """
    variant = find_variant(game)
    if jsonl:
        if deal is not None or board is not None or moves is not None or steps:
            raise click.UsageError("--jsonl takes its boards and moves from the cases, and tells no steps.")
        all_ok = _answer_cases(CaseReader(variant, Autoplay(autoplay)), cases or sys.stdin.buffer)
    else:
        if cases is not None:
            raise click.UsageError("CASES are read with --jsonl.")
        start = Game(_start(variant, deal, board), Autoplay(autoplay))
        outcome = play_moves(start, _read_moves(moves))
        told = _card_by_card(start, outcome) if steps else None
        if as_json:
            show_json(asdict(answer(outcome)) | ({} if told is None else {"steps": told}))
        else:
            if told is not None:
                _show_steps(outcome, told)
            _show_outcome(outcome, symbols)
        all_ok = outcome.illegal is None
    if not all_ok:
        raise click.exceptions.Exit(NO)


def _answer_cases(reader: CaseReader, cases: BinaryIO) -> bool:
    """Answer each line as soon as it is there; whether all were ok."""
    out = sys.stdout.buffer
    all_ok = True
    for line in read_lines(cases):
        told = reader.answer_line(line)
        all_ok = all_ok and told.ok
        out.write(reader.encode(told))
        out.flush()
    return all_ok


def _start(variant: Variant, number: int | None, file: TextIO | None) -> Board:
    if (number is None) == (file is None):
        raise click.UsageError("Name what to play from: --deal NUMBER or --board FILE.")
    if number is not None:
        return dealt_board(variant, deal_layout(variant, number))
    return read_board(cast(TextIO, file), variant, named=not is_default("game"))


def _read_moves(file: TextIO | None) -> list[str]:
    """The moves of a listing; a word that is none stays as it is, to be refused in its turn."""
    moves: list[str] = []
    for line in read_text(file).splitlines() if file is not None else ():
        for word in line.partition("#")[0].split():
            try:
                moves += parse_moves(word)
            except InvalidText:
                moves.append(word)
    return moves


def _card_by_card(game: Game, outcome: Outcome) -> list[list[str]]:
    """Each step with its move told as moves of one card."""
    told: list[list[str]] = []
    for move, *played in outcome.steps:
        single = [UNDO] if move == UNDO else game.board.single_steps(move)
        told.append([*single, *played])
        game, _step = game.play(move)
    return told


def _show_steps(outcome: Outcome, told: list[list[str]]) -> None:
    for step, single in zip(outcome.steps, told, strict=True):
        click.echo(step[0] if single == step[:1] else f"{step[0]}: {' '.join(single)}")


def _show_outcome(outcome: Outcome, symbols: bool) -> None:
    board = outcome.game.board
    show_board(board, symbols=symbols)
    click.echo()
    illegal = outcome.illegal
    home = n_("{home} of {count} card home", "{home} of {count} cards home", board.variant.pack_size).format(
        home=board.cards_home, count=board.variant.pack_size
    )
    if illegal is None:
        told = _("Every move is legal. Played: {count}; {home}.").format(count=len(outcome.steps), home=home)
        won = _("The game is won.")
        click.echo(f"{told} {won}" if board.won else told)
    else:
        told = _("Move {number}, {move}, is illegal: {why} ({reason})")
        click.echo(
            told.format(
                number=illegal.index + 1, move=illegal.move, why=refusal_text(illegal), reason=str(illegal.reason)
            )
        )
        click.echo(_("Played before it: {count}; {home}.").format(count=len(outcome.steps), home=home))
