"""What a server says first: an address that a person can open, in a line that programs read."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from cellrace_server.config import Config
from cellrace_server.first_lines import first_line, note_line


@pytest.mark.parametrize(
    ("host", "url", "noted"),
    [
        ("127.0.0.1", "ws://127.0.0.1:8765/ws", False),
        ("192.168.1.5", "ws://192.168.1.5:8765/ws", False),
        ("fd00::5", "ws://[fd00::5]:8765/ws", False),
        ("0.0.0.0", "ws://127.0.0.1:8765/ws", True),  # noqa: S104 - nothing listens here
        ("", "ws://127.0.0.1:8765/ws", True),
        ("::", "ws://[::1]:8765/ws", True),
    ],
)
def test_the_address_that_is_told_can_be_opened(host: str, url: str, noted: bool) -> None:
    """All addresses are none; a note says how others come in."""
    config = Config(host=host)
    assert first_line(config, 8765, "x") == f"cellrace listens on {url}, its data is kept by x"
    assert (note_line(config) is not None) == noted


def test_a_certificate_is_for_a_name() -> None:
    """And never for the address by which a machine finds itself."""
    config = Config(host="::", certificate=Path("cert.pem"))
    assert f" wss://{platform.node()}:1/ws," in first_line(config, 1, "x")
