"""The tokens of players, one file for each profile and server, that nobody else can read."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_config_path

from cellrace_client.private_files import write_private

DEFAULT_PROFILE = "default"
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")


class Remembered(msgspec.Struct, frozen=True):
    """A player of a server."""

    server: str
    name: str
    token: str


class TokenStore:
    """Where tokens are kept: by default in the platform's configuration directory."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or user_config_path("cellrace", appauthor=False) / "tokens"

    def path(self, server: str, profile: str = DEFAULT_PROFILE) -> Path:
        """The file of a profile on a server."""
        place = urlsplit(server)
        return self._directory / f"{_fit(profile)}@{_fit(place.netloc + place.path.removesuffix('/ws'))}.json"

    def load(self, server: str, profile: str = DEFAULT_PROFILE) -> Remembered | None:
        """The player that was remembered, None where there is none."""
        try:
            remembered = msgspec.json.decode(self.path(server, profile).read_bytes(), type=Remembered)
        except (OSError, msgspec.DecodeError):
            return None
        # Two servers could share a file name; a token is told to no other server than its own.
        return remembered if remembered.server == server else None

    def set_aside(self, server: str, profile: str = DEFAULT_PROFILE) -> Path | None:
        """Moves what is kept there, but is no player of this server, out of the way; where to, None if nothing is.

        Nothing is lost by another player then. Raises OSError.
        """
        path = self.path(server, profile)
        if not path.exists():
            return None
        aside = path.with_name(f"{path.name}.{secrets.token_hex(2)}")
        return path.rename(aside)

    def save(self, server: str, name: str, token: str, profile: str = DEFAULT_PROFILE) -> None:
        """Remembers a player; the file is complete or not there, and 0600 from its first byte."""
        path = self.path(server, profile)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, msgspec.json.encode(Remembered(server, name, token)))

    def forget(self, server: str, profile: str = DEFAULT_PROFILE) -> None:
        """Forgets a player."""
        with suppress(OSError):
            self.path(server, profile).unlink()


def read_token_file(path: Path) -> str | None:
    """The token in a file of its own, None where there is no file."""
    try:
        return path.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None


def write_token_file(path: Path, token: str) -> None:
    """Writes a token into a file of its own."""
    write_private(path, f"{token}\n".encode())


def forget_token_file(path: Path) -> None:
    """Deletes a token's file, if there is one."""
    path.unlink(missing_ok=True)


def _fit(text: str) -> str:
    return _UNFIT.sub("_", text)[:100] or "_"
