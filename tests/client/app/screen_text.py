"""The screen of an app as text that a person can read, and golden screens to compare it with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from textual._compositor import LayoutUpdate
from textual.app import App

SCREENS = Path(__file__).parents[2] / "golden" / "screens"
_RECEIPTS = re.compile(r" *(?:\d+:)*\d+([.,])\d{3}(?: [sс])? − \d+ (ms|мс)")
_TIMES = re.compile(r" *(?:(?:\d+:)+\d\d([.,])\d{3}|\d+([.,])\d{3} [sс])\b")
"""Times in seconds, or where it took longer than usual in minutes; in English with a point."""
_SECONDS = {".": "s", ",": "с"}
_CODES = re.compile(r"((?:code|код) )[2-9A-Z]{8}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\b\d\d\.\d\d\.\d{4}")
_HOUR = re.compile(r"\d\d:\d\d UTC")
_PORT = re.compile(r"127\.0\.0\.1:\d+")


def screen_text(app: App[Any]) -> str:
    """What stands on the screen, line by line, without what differs from run to run."""
    # What follows is private to Textual; no public way tells the screen as text.
    with app._context():  # noqa: SLF001
        behind = app._background_screens  # noqa: SLF001
        drawn = app.screen._compositor.render_update(full=True, screen_stack=behind)  # noqa: SLF001
    assert isinstance(drawn, LayoutUpdate)
    lines = []
    for strip in drawn.strips:
        text = "".join(segment.text for segment in strip)
        text = _RECEIPTS.sub(lambda found: f"#.### {_SECONDS[found[1]]} − # {found[2]}".rjust(len(found[0])), text)
        text = _TIMES.sub(lambda found: f"#.### {_SECONDS[found[1] or found[2]]}".rjust(len(found[0])), text)
        text = _CODES.sub(lambda found: f"{found[1]}CODECODE", text)
        text = _PORT.sub(lambda found: "127.0.0.1:PORT".ljust(len(found[0])), text)
        text = _HOUR.sub("hh:mm UTC", _DATE.sub("2026-01-31", text))
        lines.append(text.rstrip())
    return "\n".join(lines) + "\n"


def _golden(app: App[Any], name: str) -> Path:
    width, height = app.size
    return SCREENS / f"{name}-{width}x{height}.txt"


def is_golden(app: App[Any], name: str) -> bool:
    """Whether the screen is the golden one; with CELLRACE_WRITE_SCREENS set it becomes the golden one."""
    path, text = _golden(app, name), screen_text(app)
    if os.environ.get("CELLRACE_WRITE_SCREENS"):
        path.write_text(text, encoding="utf-8")
    return text == path.read_text(encoding="utf-8")


def check_screen(app: App[Any], name: str) -> None:
    """Compares the screen with the golden one."""
    path, text = _golden(app, name), screen_text(app)
    assert text == path.read_text(encoding="utf-8"), f"{path.name} has another screen:\n{text}"
