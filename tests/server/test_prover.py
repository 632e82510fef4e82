"""The process that proves deals: its answers are proved, it is out of everyone's way, and no node leaves it behind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from cellrace.board import dealt_board
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.variants import find_variant
from cellrace_server import prover
from cellrace_server.prover import Attempt, Order, answer, attempt
from cellrace_server.stock import load_stock
from cellrace_server.stock.packing import unpack_moves
from tests.server.store.processes import is_alive
from tests.waiting import eventually

# What has the lowest priority waits for long on a busy machine.
pytestmark = pytest.mark.timeout(900)

COMMAND = (sys.executable, "-m", "cellrace_server.prover")

NODE = """
import os, subprocess, sys
prover = subprocess.Popen([sys.executable, "-m", "cellrace_server.prover", str(os.getpid())],
                          stdin=int(sys.argv[1]), stdout=subprocess.DEVNULL, pass_fds=())
print(prover.pid, flush=True)
prover.wait()
"""
"""A process that starts a prover whose standard input outlives it, and does nothing else."""


@pytest_asyncio.fixture
async def process() -> AsyncIterator[asyncio.subprocess.Process]:
    """A prover whose node is this test."""
    process = await asyncio.create_subprocess_exec(*COMMAND, str(os.getpid()), stdin=-1, stdout=-1)
    yield process
    if process.returncode is None:
        process.kill()
    await process.wait()


async def ask(process: asyncio.subprocess.Process, order: bytes) -> Attempt:
    """Send one line and read its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(order + b"\n")
    return msgspec.json.decode(await process.stdout.readline(), type=Attempt)


@pytest.mark.parametrize("variant_id", ["one-suit", "marseille", "six-by-six-down", "eight-off"])
def test_what_is_proved_wins_as_it_is_packed(variant_id: str) -> None:
    variant = find_variant(variant_id)
    made = next(made for number in range(1, 50) if (made := attempt(variant, number)).packed)
    moves = unpack_moves(made.packed)
    assert Game(dealt_board(variant, deal(variant, made.number))).play_all(moves)[0].won
    assert moves[:3] == ["r1", "r2", "r3"] or not variant.reserve


def test_what_cannot_be_won_is_not_proved() -> None:
    made = [attempt(find_variant("one-suit"), number) for number in range(1, 30)]
    assert {bool(one.packed) for one in made} == {True, False}
    assert all(bool(one.number) == bool(one.packed) for one in made)


def test_a_number_of_the_stock_is_not_proved_again() -> None:
    assert not attempt(find_variant("one-suit"), load_stock("one-suit").numbers[0]).packed


def test_a_proof_that_does_not_win_is_never_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = find_variant("one-suit")
    winnable = next(number for number in range(1, 50) if attempt(variant, number).packed)
    monkeypatch.setattr(prover, "unpack_moves", lambda packed: [])
    with pytest.raises(AssertionError):
        attempt(variant, winnable)


def test_a_fault_is_told_by_its_kind_and_names_no_deal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(variant: object, number: int) -> Attempt:
        raise AssertionError(f"The proof of deal {number} does not win.")

    monkeypatch.setattr(prover, "attempt", fail)
    line = answer(msgspec.json.encode(Order("one-suit")))
    assert msgspec.json.decode(line, type=Attempt) == Attempt(0.0, fault="AssertionError")
    assert b"deal" not in line


@pytest.mark.parametrize("line", [b"", b"{}", b'{"variant": "spider"}'])
def test_what_is_no_order_is_a_fault(line: bytes) -> None:
    assert msgspec.json.decode(answer(line), type=Attempt).fault


async def test_it_answers_orders_one_by_one(process: asyncio.subprocess.Process) -> None:
    made = [await ask(process, msgspec.json.encode(Order("one-suit"))) for _ in range(12)]
    numbers = [one.number for one in made if one.packed]
    assert numbers
    assert len(set(numbers)) == len(numbers)
    assert all(one.seconds > 0 for one in made)


async def test_it_has_the_lowest_priority(process: asyncio.subprocess.Process) -> None:
    await ask(process, b"{}")
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19


async def test_a_stop_sent_to_the_whole_group_is_its_nodes_to_obey(process: asyncio.subprocess.Process) -> None:
    await ask(process, b"{}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    assert (await ask(process, msgspec.json.encode(Order("one-suit")))).seconds > 0


async def test_it_ends_with_its_input(process: asyncio.subprocess.Process) -> None:
    await ask(process, b"{}")
    assert process.stdin is not None
    process.stdin.close()
    assert await process.wait() == 0


async def test_it_ends_when_its_node_is_killed_though_its_input_stays_open() -> None:
    reading, writing = os.pipe()
    try:
        node = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", NODE, str(reading)), stdout=asyncio.subprocess.PIPE, pass_fds=(reading,)
        )
        assert node.stdout is not None
        pid = int(await node.stdout.readline())
        assert is_alive(pid)
        node.kill()
        await node.wait()
        await eventually(lambda: not is_alive(pid))
    finally:
        os.close(reading)
        os.close(writing)


async def test_it_does_not_begin_for_a_node_that_is_gone() -> None:
    process = await asyncio.create_subprocess_exec(*COMMAND, "1", stdin=asyncio.subprocess.PIPE)
    assert await process.wait() == 0
