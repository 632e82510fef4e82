"""Files that hold a replay, or the keys by which one is checked: never read without end, never written over."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from cellrace.errors import InvalidText
from cellrace.replay import Written, read_replay
from cellrace_client.connection.fetching import LARGEST
from cellrace_client.language import _


def read_whole(file: BinaryIO) -> bytes:
    """What stands in a file. Raises InvalidText where that is more than any replay has, OSError."""
    text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise InvalidText(_("The file has more than {most} bytes, which no replay has.").format(most=LARGEST))
    return text


def read_replay_file(path: Path) -> Written:
    """The replay in a file. Raises InvalidText."""
    try:
        with path.open("rb") as file:
            return read_replay(read_whole(file))
    except OSError as error:
        told = _("The file cannot be read: {why}.")
        raise InvalidText(told.format(why=error.strerror or type(error).__name__)) from error


def write_new_file(path: Path, text: bytes) -> None:
    """Writes a new file. Raises InvalidText where there is one, or none can be."""
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidText(_("There is a file of this name already.")) from None
    except OSError as error:
        told = _("The file cannot be written: {why}.").format(why=error.strerror or type(error).__name__)
        raise InvalidText(told) from error
