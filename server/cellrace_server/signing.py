"""The key that signs replays: an Ed25519 key in a file of its own, which only its owner may read.

A node looks at the file before it signs: whoever puts another key in its place rotates it, without a restart. A key is
published before anything is signed with it, and stays so, since what it has signed is kept by others.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Self

import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from cellrace.errors import CellraceError
from cellrace.replay import key_id, to_base64
from cellrace_server.store.signing_keys import PublishedKey, SigningKeyStore

KEY_FILE = "signing.key"
"""The file in the data directory."""

_LARGEST = 16 * 1024
"""Bytes that are read of a file: a key has a few hundred."""
_OTHERS = 0o077
"""The bits of a file's mode that let others than its owner use it."""

log = structlog.get_logger()


class KeyUnfit(CellraceError):
    """The signing key cannot be used; the sentence says what to do."""


class SigningKey:
    """A private key, and the public one that goes with it."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw()
        self.name = key_id(self.public)

    def sign(self, data: bytes) -> bytes:
        """The signature over some bytes: always the same one."""
        return self._private.sign(data)


class _Version(NamedTuple):
    """What tells one state of a file from another."""

    device: int
    inode: int
    size: int
    changed_at: int


def read_key(path: Path) -> SigningKey:
    """The key in a file. Raises KeyUnfit, FileNotFoundError."""
    try:
        with open(path, "rb", opener=_open_now) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise KeyUnfit(f"The signing key {path} is no regular file, which is looked at again for another key.")
            if os.name == "posix" and mode & _OTHERS:
                raise KeyUnfit(
                    f"The signing key {path} can be used by others (mode {mode & 0o777:04o}). Run chmod 600 on it; if "
                    "somebody may have read it, replace it by a new one."
                )
            text = file.read(_LARGEST)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise KeyUnfit(f"The signing key {path} cannot be read ({error.strerror}).") from error
    try:
        private = load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyUnfit(f"{path} holds no Ed25519 key in PEM without a password. {_how_to_make(path)}")
    return SigningKey(private)


def _open_now(path: str, flags: int) -> int:
    # A pipe would be waited for, and with it the whole node.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def make_key(path: Path) -> None:
    """Put a new key in a file, unless there is one already. Raises KeyUnfit."""
    if path.exists():
        return
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(pem)
                file.flush()
                os.fsync(file.fileno())
            # Of several servers that start at once, one makes the key, whole.
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()
    except OSError as error:
        raise KeyUnfit(
            f"No signing key can be kept in {path.parent} ({error.strerror}). Name another directory with --data-dir, "
            "or a file with --signing-key."
        ) from error


class Signer:
    """Gives the key to sign with, as the file has it now."""

    def __init__(self, path: Path, store: SigningKeyStore, now: Callable[[], int]) -> None:
        self._path = path
        self._store = store
        self._now = now
        self._seen: _Version | None = None
        self._key: SigningKey | None = None

    @classmethod
    async def open(cls, path: Path, store: SigningKeyStore, now: Callable[[], int], *, make: bool) -> Self:
        """The signer of a file; with `make` it is made if it is not there.

        Raises KeyUnfit, StoreUnavailable.
        """
        signer = cls(path, store, now)
        if make:
            make_key(path)
        signer._seen = signer._look()
        try:
            await signer._use(read_key(path))
        except FileNotFoundError:
            raise KeyUnfit(f"There is no signing key {path}. {_how_to_make(path)}") from None
        return signer

    async def key(self) -> SigningKey:
        """The key of now, published already. Raises StoreUnavailable."""
        assert self._key is not None, "it is opened before it is used"
        seen = self._look()
        if seen is not None and seen != self._seen:
            self._seen = seen
            try:
                found = read_key(self._path)
            except (KeyUnfit, FileNotFoundError) as unfit:
                log.warning("the new signing key cannot be used; the one before stays", reason=str(unfit))
            else:
                if found.name != self._key.name:
                    await self._rotate(found)
        return self._key

    async def published(self) -> tuple[PublishedKey, ...]:
        """All keys that replays were ever signed with here, the newest first. Raises StoreUnavailable."""
        key = await self.key()
        published = await self._store.published()
        if not any(one.key == key.name for one in published):
            await self._use(key)  # Somebody has emptied the store.
            published = await self._store.published()
        return published

    async def _rotate(self, key: SigningKey) -> None:
        try:
            await self._use(key)
        except BaseException:
            self._seen = None  # Not published: the next look tries again.
            raise
        log.info("replays are signed with another key", key=key.name)

    async def _use(self, key: SigningKey) -> None:
        await self._store.publish(PublishedKey(key=key.name, public=to_base64(key.public)), self._now())
        self._key = key

    def _look(self) -> _Version | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return _Version(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _how_to_make(path: Path) -> str:
    return f"Make one with: (umask 077; openssl genpkey -algorithm ed25519 -out {path})"
