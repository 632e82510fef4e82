"""Replays for tests: games played by the solver or at random, signed by a key that is made for the run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from cellrace.autoplay import Autoplay
from cellrace.board import dealt_board
from cellrace.commitment import commitment
from cellrace.deals import deal
from cellrace.game import Game
from cellrace.messages import EntrantStatus, Placement, RaceKind, Replay, ReplayResult, dealt_cards
from cellrace.notation import UNDO
from cellrace.replay import key_id, sign_replay
from cellrace.solver import solve
from cellrace.variants import find_variant

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()
KEYS = {key_id(PUBLIC): PUBLIC}
SALT = "8d1f0c6be2a94735af1039d2c85e7b64"
START = 1791900014040


@cache
def winning_moves(variant_id: str, number: int) -> tuple[str, ...]:
    """Moves that win a deal without autoplay."""
    variant = find_variant(variant_id)
    solution = solve(dealt_board(variant, deal(variant, number)))
    assert solution is not None, "tests name deals that the solver wins"
    return tuple(solution.moves)


def random_moves(variant_id: str, number: int, count: int, seed: int) -> tuple[str, ...]:
    """Legal moves and now and then an undo, with autoplay."""
    chance = random.Random(seed)
    variant = find_variant(variant_id)
    game = Game(dealt_board(variant, deal(variant, number)))
    moves: list[str] = []
    while len(moves) < count and not game.won:
        legal = game.board.legal_moves()
        undoable = game.seq > 2 * game.undos
        if not legal and not undoable:
            break
        move = UNDO if undoable and (not legal or chance.random() < 0.1) else chance.choice(legal)
        game, _ = game.play(move)
        moves.append(move)
    return tuple(moves)


def stamps(count: int, seed: int = 1) -> list[int]:
    """Times that never fall."""
    chance = random.Random(seed)
    at, found = 0, []
    for _ in range(count):
        at += chance.choice((0, chance.randrange(200, 6_000)))
        found.append(at)
    return found


def unsigned(
    variant_id: str,
    number: int,
    moves: Sequence[str],
    *,
    autoplay: Autoplay = Autoplay.NONE,
    placement: Placement = Placement.PLAYER,
    name: str = "Ann",
    seed: int = 1,
) -> Replay:
    """The replay of a game that was won, or else conceded a second after its last move."""
    variant = find_variant(variant_id)
    layout = deal(variant, number)
    cards = dealt_cards(variant, layout)
    start = Game(dealt_board(variant, layout, laid=placement is Placement.FIXED), autoplay)
    game, _ = start.play_all(moves)
    log = tuple(zip(stamps(len(moves), seed), moves, strict=True))
    last = log[-1][0] if log else 0
    won = game.won
    latency = random.Random(seed).randrange(251) if won else None
    return Replay(
        format="cellrace-replay/1",
        race="r7q2mzk4v9",
        kind=RaceKind.RACE,
        variant=variant_id,
        deal=number,
        salt=SALT,
        commitment=commitment(variant_id, number, SALT),
        layout=cards.layout,
        cells=cards.cells,
        reserve=cards.reserve or (),
        autoplay=autoplay,
        placement=placement,
        undo=True,
        start_at=START,
        ended=last if won else last + 1_000,
        player="p3xw8c1n5t",
        name=name,
        bot=False,
        moves=log,
        result=ReplayResult(
            status=EntrantStatus.WON if won else EntrantStatus.CONCEDED,
            home=game.board.cards_home,
            time=None if latency is None else max(0, last - latency),
            raw=last if won else None,
            latency=latency,
        ),
        key="",
        signature="",
    )


def signed(replay: Replay) -> Replay:
    """The replay, signed by the key of the tests."""
    return sign_replay(replay, PUBLIC, KEY.sign)


def written(replay: Replay) -> bytes:
    """Its JSON."""
    return msgspec.json.encode(replay)


def won_replay(variant_id: str = "one-suit", number: int = 94, name: str = "Ann") -> Replay:
    """A signed replay of a game that is won."""
    return signed(unsigned(variant_id, number, winning_moves(variant_id, number), name=name))


def lost_replay(variant_id: str = "freecell", number: int = 617, count: int = 40, seed: int = 1) -> Replay:
    """A signed replay of a game that is given up after some moves at random."""
    moves = random_moves(variant_id, number, count, seed)
    return signed(unsigned(variant_id, number, moves, autoplay=Autoplay.SAFE, seed=seed))
