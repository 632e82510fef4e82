"""What is to happen in a run: drawn from its seed, so that each seed is another kind of bad day."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

FAULTS = {
    "kill": "a node is killed at whatever await it has come to",
    "stop": "a node is stopped for a while, and goes on where it was",
    "suspend": "the same, and its clock stood still",
    "end": "a node is told to end",
    "part": "a node cannot reach the store",
    "cut": "connections to the store are cut, with or without the requests and replies under way",
    "hold": "requests or replies come late, or after everybody has given up",
    "store": "the store is killed, and started again on what it has written",
    "lag": "the replica falls behind",
    "failover": "the replica takes the place of its primary, with what it has",
    "forget": "the store has no functions any more",
    "harm": "what is published is lost, comes twice, or late",
    "step": "the store's clock jumps",
    "skip": "a node's clock jumps",
    "player": "a player's connection is cut, or held",
}
"""The kinds of faults."""
NEEDS_REPLICA = frozenset({"lag", "failover"})
ALWAYS = ("cut", "hold", "player", "kill")


@dataclass(frozen=True, slots=True)
class Plot:
    """One run."""

    seed: int
    nodes: int
    groups: int
    players: int
    """Racers in each group."""
    replica: bool
    faults: tuple[str, ...]
    """The kinds of faults that befall this run."""
    harm: float
    """For how many seconds."""
    pause: float
    """Seconds between two faults, about."""
    slowest: float
    """How long a message is under way at most, on most occasions, in seconds."""
    thinking: float
    """How long a racer thinks at most, in seconds."""
    variants: tuple[str, ...]
    time_limit: int
    grace: int
    watched: bool
    """Whether somebody watches each race."""
    dailies: bool
    """Whether the nodes draw the deals of days, which takes a while and is in nobody's way."""

    @property
    def clocks_jump(self) -> bool:
        """Whether two nodes may have very different clocks."""
        return bool({"step", "skip", "suspend"} & set(self.faults))

    @property
    def loses_track(self) -> bool:
        """Whether a node may find another history than it knew, or none that is safe."""
        return self.replica


def plot_of(seed: int) -> Plot:
    """The run of a seed."""
    chance = Random(f"plot {seed}")
    replica = chance.random() < 0.4
    others = [fault for fault in FAULTS if fault not in ALWAYS and (replica or fault not in NEEDS_REPLICA)]
    faults = (*ALWAYS, *chance.sample(others, chance.randint(0, 6))) if chance.random() < 0.95 else ()
    # Long for a run: nobody is timed out, or abandoned, unless that is what the run is about.
    time_limit, grace, thinking = 1800, 3600, chance.choice([0.1, 0.4])
    match chance.random():
        case fate if fate < 0.1:
            time_limit, thinking = 10, 2.5
        case fate if fate < 0.16:
            grace = 15
    return Plot(
        seed=seed,
        nodes=chance.choice([1, 2, 2, 2, 3]),
        groups=chance.choice([1, 1, 2]),
        players=chance.choice([1, 2, 2, 3]),
        replica=replica,
        faults=faults,
        harm=chance.uniform(1, 4.5),
        pause=chance.choice([0.15, 0.4, 0.8]),
        slowest=chance.choice([0.0003, 0.001, 0.02]),
        thinking=thinking,
        variants=chance.choice([("one-suit",), ("one-suit",), ("one-suit", "two-suit"), ("six-by-six",)]),
        time_limit=time_limit,
        grace=grace,
        watched=chance.random() < 0.25,
        dailies=chance.random() < 0.05,
    )
