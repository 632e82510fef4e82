"""Hundreds of bad days, each of one seed, and nothing that was answered is lost. More: `python -m tests.sim`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.chaos.plants import PLANTS
from tests.made_blocks import ROOT
from tests.sim.__main__ import main
from tests.sim.many import figures, runs
from tests.sim.planted import FOUND, find
from tests.sim.plot import FAULTS
from tests.sim.run import run
from tests.sim.seeds import SEEDS

# They compute for a minute or so, on a machine that has nothing else to do.
pytestmark = pytest.mark.timeout(1200)

TRACED = (0, 6, 15, 31)
"""Seeds whose traces once were different each time: for a set of races, of players, of connections has no order."""


@pytest.mark.timeout(3600)
def test_five_hundred_seeds_find_nothing_wrong() -> None:
    """The short form of the soak: whatever the seeds draw, all that must hold does."""
    counts: Counter[str] = Counter()
    violations: list[str] = []
    for outcome in runs([*SEEDS, *range(500)]):
        counts += outcome.counts
        violations += [f"seed {outcome.seed}: {violation}" for violation in outcome.violations]
    assert not violations, "\n".join([figures(counts), *violations[:10]])
    assert {name.removeprefix("fault: ") for name in counts if name.startswith("fault: ")} >= FAULTS.keys()
    assert counts["moves answered"] > 20_000, figures(counts)


def test_one_seed_gives_one_trace() -> None:
    """In this process, in another, and whatever order its sets have."""
    traces = [run(seed).trace for seed in TRACED]
    code = f"from tests.sim.run import run; print(*(run(seed).trace for seed in {TRACED}))"
    for order in ("1", "2"):
        told = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": order},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.split() == traces
    assert len(set(traces)) == len(traces)


@pytest.mark.parametrize("bug", ["answer-before-commit", "no-repeat-check", "deal-before-start"])
def test_a_planted_bug_is_found(bug: str) -> None:
    """Within a few seeds. All of them: `python -m tests.sim --planted`."""
    assert find(bug, seeds=40) is not None


def test_the_bugs_that_are_to_be_found_are_bugs() -> None:
    """Those of the chaos run."""
    assert FOUND.keys() <= PLANTS.keys()


def test_a_bug_that_there_is_not_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of processes that fail and are started again for ever."""
    monkeypatch.setattr(sys, "argv", ["python -m tests.sim", "--planted", "no-such-bug"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "There are no bugs no-such-bug; there are " in capsys.readouterr().err
