"""A process that proves deals for the pool: `python -m cellrace_server.prover`, started and asked by a node.

It reads an `Order` a line on standard input, writes an `Attempt` a line on standard output, and knows nothing of the
store. It has the lowest priority, and ends with the node however that ends: idle, by the end of its input; at work,
because its parent is gone. Stops sent to a whole group of processes are the node's to obey.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import threading
import time

import msgspec
from msgspec import Struct

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.deals import LAST_DEAL, deal
from cellrace.game import Game
from cellrace.variants import Variant, find_variant
from cellrace_server.stock import load_stock
from cellrace_server.stock.making import prove
from cellrace_server.stock.packing import pack_moves, unpack_moves

STATES = 40_000
"""Fewer than a stock is made with: of deals that fall so soon there are enough, and a try costs a second at most."""
LOWEST_PRIORITY = 19
"""As `nice` has it: what is proved in the time that nobody else wants."""
PARENT_WATCH = 0.5
"""Seconds between two looks at who the parent is."""


class Order(Struct, frozen=True):
    """A node asks for one try at one deal of a game."""

    variant: str


class Attempt(Struct, frozen=True):
    """What came of a try: the number and the packed moves when they win it; how long it took the processor."""

    seconds: float
    number: int = 0
    packed: bytes = b""
    fault: str = ""


def attempt(variant: Variant, number: int) -> Attempt:
    """Try to prove one number, and play what would be stored before saying that it wins."""
    began = time.process_time()
    moves = None if number in load_stock(variant.id) else prove(variant, number, STATES)
    if moves is None:
        return Attempt(time.process_time() - began)
    packed = pack_moves(moves)
    game, _ = Game(dealt_board(variant, deal(variant, number)), Autoplay.SAFE).play_all(unpack_moves(packed))
    if not game.won:
        raise AssertionError("A proof does not win.")
    return Attempt(time.process_time() - began, number, packed)


def answer(line: bytes) -> bytes:
    """Carry out the order of a line."""
    try:
        variant = find_variant(msgspec.json.decode(line, type=Order).variant)
        made = attempt(variant, secrets.randbelow(LAST_DEAL) + 1)
    except Exception as error:  # noqa: BLE001 - told without its text, which may name the deal, to a node that logs it
        made = Attempt(0.0, fault=type(error).__name__)
    return msgspec.json.encode(made) + b"\n"


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_WATCH)  # In a thread of its own, beside the proving.
    os._exit(0)


def main(parent: int) -> None:
    """Answer orders until the node that gives them is gone."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(answer(line))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    os.nice(LOWEST_PRIORITY)
    main(int(sys.argv[1]))
