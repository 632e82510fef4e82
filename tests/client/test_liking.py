"""How somebody likes the screen is kept, for them alone, and a spoilt file costs nothing but a sentence."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cellrace_client.terminal.app.liking import Liking, LikingStore
from cellrace_client.terminal.app.running import taste_for


def test_what_is_changed_is_kept_beside_what_was(tmp_path: Path) -> None:
    """Two windows that keep different things do not undo each other."""
    path = tmp_path / "new" / "screen.json"
    here, there = LikingStore(path), LikingStore(path)
    assert here.load() == Liking() == Liking("four", letters=False, steps=True)
    assert here.keep(deck="contrast") is None
    assert there.keep(steps=False) is None
    assert here.load() == Liking("contrast", letters=False, steps=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert here.trouble is None


@pytest.mark.parametrize(
    "spoilt", [b"", b"{", b"[]", b'{"deck": "no-such"}', b'{"deck": 4}', b'{"steps": "yes"}', b"\xff\xfe", b"null"]
)
def test_a_spoilt_file_is_told_and_written_anew(tmp_path: Path, spoilt: bytes) -> None:
    """Whoever plays sees the screen of a new player."""
    path = tmp_path / "screen.json"
    path.write_bytes(spoilt)
    store = LikingStore(path)
    assert store.load() == Liking()
    assert store.trouble is not None
    assert str(path) in store.trouble
    assert store.keep(letters=True) is None
    assert LikingStore(path).load() == Liking(letters=True)


def test_what_a_later_version_keeps_is_passed_over(tmp_path: Path) -> None:
    """Also what an older one did not keep."""
    path = tmp_path / "screen.json"
    path.write_bytes(b'{"sound": "loud", "deck": "two"}')
    store = LikingStore(path)
    assert store.load() == Liking("two")
    assert store.trouble is None


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    """And the game goes on."""
    (tmp_path / "file").write_bytes(b"")
    told = LikingStore(tmp_path / "file" / "screen.json").keep(deck="two")
    assert told is not None
    assert told.startswith("This cannot be kept for the next time: ")


def test_the_command_line_wins_then_no_color_then_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each for what it says."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("cellrace_client.terminal.app.running._shows_suits", lambda _encoding: True)
    store = LikingStore(tmp_path / "screen.json")
    store.keep(deck="contrast", letters=True, steps=False)
    kept = taste_for(None, letters=None, store=store)
    assert (kept.deck.id, kept.letters, kept.steps) == ("contrast", True, False)
    said = taste_for("two", letters=False, store=store)
    assert (said.deck.id, said.letters) == ("two", False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert taste_for(None, letters=None, store=store).deck.id == "none"
    assert taste_for("two", letters=None, store=store).deck.id == "two"
    assert store.load().deck == "contrast"
