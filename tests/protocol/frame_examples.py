"""The golden frames under tests/golden/frames: every example in both subprotocols.

After a wanted change, `python -m tests.protocol.frame_examples` writes the golden files anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cellrace.codec import JSON, MSGPACK
from cellrace.messages import ClientMessage, ServerMessage

from .examples.answers import ANSWERS
from .examples.pushes import FACTS, NEWS
from .examples.requests import REQUESTS
from .examples.values import Example

GOLDEN_FRAMES = Path(__file__).parent.parent / "golden" / "frames"

GOLDEN: dict[str, tuple[Example, ...]] = {"requests": REQUESTS, "answers": ANSWERS, "facts": FACTS, "news": NEWS}
SENT_BY_SERVER: tuple[Example, ...] = ANSWERS + FACTS + NEWS


class GoldenFrame(NamedTuple):
    """A frame as kept: the JSON text and the MessagePack bytes of one message."""

    json: str
    msgpack: bytes


def frames(message: ClientMessage | ServerMessage) -> GoldenFrame:
    """A message in both subprotocols."""
    return GoldenFrame(JSON.encode(message).decode(), MSGPACK.encode(message))  # type: ignore[arg-type]  # Both directions are written alike.


def golden_text(examples: tuple[Example, ...]) -> str:
    """The text of a golden file."""
    parts = []
    for of, message in examples:
        frame = frames(message)
        title = " - ".join(filter(None, (type(message).__name__, of)))
        parts.append(f"# {title}\njson    {frame.json}\nmsgpack {frame.msgpack.hex()}\n")
    return "\n".join(parts)


def read_golden(name: str) -> list[GoldenFrame]:
    """The frames of a golden file."""
    lines = (GOLDEN_FRAMES / f"{name}.txt").read_text("utf-8").splitlines()
    texts = [line.removeprefix("json    ") for line in lines if line.startswith("json")]
    packed = [bytes.fromhex(line.removeprefix("msgpack ")) for line in lines if line.startswith("msgpack")]
    return [GoldenFrame(text, pack) for text, pack in zip(texts, packed, strict=True)]


if __name__ == "__main__":
    GOLDEN_FRAMES.mkdir(exist_ok=True)
    for golden_name, golden_examples in GOLDEN.items():
        (GOLDEN_FRAMES / f"{golden_name}.txt").write_text(golden_text(golden_examples), "utf-8")
