"""Tokens are kept for their owner and told to their own server."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from cellrace_client.tokens import Remembered, TokenStore, read_token_file, write_token_file

HERE = "ws://localhost:8765/ws"


def test_a_player_is_remembered_for_each_server_and_profile(tmp_path: Path) -> None:
    """What is saved is loaded, for this server and profile and no other."""
    store = TokenStore(tmp_path / "tokens")
    assert store.load(HERE) is None
    store.save(HERE, "Ann", "t1")
    store.save(HERE, "Bob", "t2", "guest")
    store.save(HERE, "Anne", "t3")
    assert store.load(HERE) == Remembered(HERE, "Anne", "t3")
    assert store.load(HERE, "guest") == Remembered(HERE, "Bob", "t2")
    assert store.load("ws://localhost:8766/ws") is None
    store.forget(HERE)
    assert store.load(HERE) is None
    store.forget(HERE)


def test_nobody_else_can_read_a_token(tmp_path: Path) -> None:
    """The directory is 0700 and the file 0600, and nothing else is left beside it."""
    store = TokenStore(tmp_path / "tokens")
    store.save(HERE, "Ann", "t1")
    path = store.path(HERE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_a_token_is_told_to_no_other_server(tmp_path: Path) -> None:
    """Two servers whose names fall together do not share a player."""
    store = TokenStore(tmp_path)
    store.save("ws://a_b:1/ws", "Ann", "t1")
    assert store.load("wss://a_b:1/ws") is None


@pytest.mark.parametrize("profile", ["../../etc/x", "a/b", "", "..", "a\\b\x00c", "x" * 500])
def test_a_profile_is_no_path(tmp_path: Path, profile: str) -> None:
    """Whatever a profile is called, its file lies in the directory."""
    store = TokenStore(tmp_path)
    store.save(HERE, "Ann", "t1", profile)
    assert store.path(HERE, profile).parent == tmp_path
    assert store.load(HERE, profile) is not None


def test_a_spoilt_file_is_no_player(tmp_path: Path) -> None:
    """What cannot be read is as good as nothing, and is written anew."""
    store = TokenStore(tmp_path)
    store.path(HERE).write_bytes(b"{")
    assert store.load(HERE) is None
    store.save(HERE, "Ann", "t1")
    assert store.load(HERE) is not None


def test_what_is_no_player_of_a_server_is_set_aside(tmp_path: Path) -> None:
    """A spoilt file, or another server's whose file has the same name: nothing is written over."""
    store = TokenStore(tmp_path)
    assert store.set_aside(HERE) is None
    store.path(HERE).write_bytes(b"{")
    aside = store.set_aside(HERE)
    assert aside is not None
    assert aside.read_bytes() == b"{"
    assert store.set_aside(HERE) is None
    store.save(HERE, "Ann", "t1")
    store.save(HERE.replace("ws:", "wss:"), "Bob", "t2")
    assert store.load(HERE) is None
    other = store.set_aside(HERE)
    assert other is not None
    assert b"Bob" in other.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_bot_keeps_its_token_in_a_file(tmp_path: Path) -> None:
    """Written 0600, read back without its line end; no file, no token."""
    path = tmp_path / "bot.token"
    assert read_token_file(path) is None
    write_token_file(path, "t1")
    assert read_token_file(path) == "t1"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
