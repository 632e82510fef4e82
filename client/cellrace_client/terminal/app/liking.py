"""How somebody at this machine likes the screen, kept from one run to the next."""

from __future__ import annotations

from pathlib import Path

import msgspec
from platformdirs import user_config_path

from cellrace_client.language import _
from cellrace_client.private_files import write_private
from cellrace_client.terminal.app.deck import DECKS


class Liking(msgspec.Struct, frozen=True):
    """What is kept; what a file does not say is as it is for somebody new."""

    deck: str = next(iter(DECKS))
    letters: bool = False
    steps: bool = True

    def __post_init__(self) -> None:
        """A deck that is no longer there is no deck."""
        if self.deck not in DECKS:
            raise ValueError(self.deck)


class LikingStore:
    """Where it is kept: by default in the platform's configuration directory, for all profiles."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_config_path("cellrace", appauthor=False) / "screen.json"
        self.trouble: str | None = None
        """A sentence where the file could not be read."""

    def load(self) -> Liking:
        """What was kept; what cannot be read is as good as nothing, but told."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Liking)
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError):
            told = _("Your settings in {path} cannot be read: those of a new player are taken.")
            self.trouble = told.format(path=self.path)
        return Liking()

    def keep(self, **changed: str | bool) -> str | None:
        """Keeps what has changed, and what was kept before; a sentence where it cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_private(self.path, msgspec.json.encode(msgspec.structs.replace(self.load(), **changed)))
        except OSError as failed:
            told = _("This cannot be kept for the next time: {why}.")
            return told.format(why=failed.strerror or failed)
        return None
