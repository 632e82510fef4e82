"""Time and chance as a run has them, in place of the machine's: whatever reads them here, ours or a library."""

from __future__ import annotations

import gc
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from unittest.mock import patch

from tests.sim.loop import SimLoop

EPOCH = 1_800_000_000
"""What the store's clock shows at the beginning of a run, in seconds: a day in 2027."""


@contextmanager
def made_up(loop: SimLoop, seed: str, clock: Callable[[], float]) -> Iterator[None]:
    """Until the block ends, time is the loop's, the date the clock's and chance the seed's, in this whole process."""
    drawn, state = Random(seed), random.getstate()
    with ExitStack() as stack:
        stack.callback(random.setstate, state)
        random.seed(seed)
        stack.enter_context(patch.object(time, "monotonic", loop.time))
        stack.enter_context(patch.object(time, "time", clock))
        stack.enter_context(patch.object(os, "urandom", drawn.randbytes))
        # The name under which `random` has it: what `secrets` draws from.
        stack.enter_context(patch.object(random, "_urandom", drawn.randbytes))
        stack.callback(loop.close)
        yield


@contextmanager
def unheard() -> Iterator[None]:
    """Until the block ends, nothing is finalised but what is let go, and what is left of killed nodes says nothing."""
    collected = gc.isenabled()
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack.enter_context(patch.object(sys, "unraisablehook", lambda _: None))
        # A collection would find what is forgotten at a moment that no seed knows of.
        gc.disable()
        stack.callback(gc.enable if collected else gc.disable)
        stack.callback(gc.collect)
        yield
