"""The commitment to a secret deal: published before a race, checked by anyone after its start (protocol, section 4)."""

from __future__ import annotations

from hashlib import sha256


def commitment(variant: str, deal: int, salt: str) -> str:
    """Lowercase hex SHA-256 of `cellrace:VARIANT:DEAL:SALT`; the salt is 32 random hex characters."""
    return sha256(f"cellrace:{variant}:{deal}:{salt}".encode()).hexdigest()
