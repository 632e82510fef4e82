"""Files that nobody else can read, and that are never there by half."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Writes a file, 0600 from its first byte; whoever reads it meanwhile finds the old one. Raises OSError."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
