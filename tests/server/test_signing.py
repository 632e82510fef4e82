"""The signing key: made once, read only when nobody else can read it, rotated by replacing its file."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Timer

import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from redis.asyncio import Redis

from cellrace.replay import KEY_BYTES, from_base64, key_id
from cellrace_server.signing import KEY_FILE, KeyUnfit, Signer, make_key, read_key
from cellrace_server.store.library import Link
from cellrace_server.store.signing_keys import PublishedKey, SigningKeyStore

posix_only = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


def pem(encryption: KeySerializationEncryption | None = None) -> bytes:
    """A new key in PEM."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())


def put(path: Path, text: bytes, mode: int = 0o600) -> None:
    """Replace a file as an operator does: another one is moved to its place."""
    draft = path.with_name("draft")
    draft.write_bytes(text)
    draft.chmod(mode)
    draft.replace(path)


def remove(path: Path) -> None:
    """Take a file away."""
    path.unlink()


def names_in(directory: Path) -> list[str]:
    """What is in a directory."""
    return sorted(file.name for file in directory.iterdir())


class TestFile:
    def test_a_key_is_made_whole_and_for_its_owner_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "data" / KEY_FILE
        make_key(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert names_in(path.parent) == [KEY_FILE]
        key = read_key(path)
        assert key.name == key_id(key.public)
        Ed25519PublicKey.from_public_bytes(key.public).verify(key.sign(b"words"), b"words")

    def test_a_key_that_is_there_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / KEY_FILE
        make_key(path)
        name = read_key(path).name
        make_key(path)
        assert read_key(path).name == name

    async def test_servers_that_start_at_once_have_one_key(self, tmp_path: Path) -> None:
        path = tmp_path / KEY_FILE

        def make() -> str:
            make_key(path)
            return read_key(path).name

        assert len(set(await asyncio.gather(*(asyncio.to_thread(make) for _ in range(8))))) == 1
        assert names_in(tmp_path) == [KEY_FILE]

    @posix_only
    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610, 0o602])
    def test_a_key_that_others_can_use_is_refused_with_its_mode(self, tmp_path: Path, mode: int) -> None:
        put(tmp_path / KEY_FILE, pem(), mode)
        with pytest.raises(KeyUnfit, match=f"{mode:04o}.*chmod 600"):
            read_key(tmp_path / KEY_FILE)

    @posix_only
    def test_a_key_that_its_owner_can_only_read_is_fine(self, tmp_path: Path) -> None:
        put(tmp_path / KEY_FILE, pem(), 0o400)
        read_key(tmp_path / KEY_FILE)

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"\xff" * 100,
            pem()[:60],
            pem(BestAvailableEncryption(b"secret")),
            generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        ],
        ids=["empty", "binary", "cut", "with a password", "of another kind"],
    )
    def test_what_is_no_such_key_is_refused_with_the_way_to_make_one(self, tmp_path: Path, text: bytes) -> None:
        put(tmp_path / KEY_FILE, text)
        with pytest.raises(KeyUnfit, match="openssl genpkey -algorithm ed25519"):
            read_key(tmp_path / KEY_FILE)

    def test_a_directory_in_its_place_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(KeyUnfit, match="cannot be read"):
            read_key(tmp_path)

    @posix_only
    def test_a_pipe_is_refused_and_not_waited_for(self, tmp_path: Path) -> None:
        """The file is looked at again and again, and a node that waited would do nothing else."""
        path = tmp_path / KEY_FILE
        os.mkfifo(path, 0o600)
        writer = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        os.write(writer, pem())
        patience = Timer(60, os.close, (writer,))
        patience.start()
        with pytest.raises(KeyUnfit, match="is no regular file"):
            read_key(path)
        patience.cancel()
        os.close(writer)

    def test_where_no_key_can_be_kept_the_options_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(KeyUnfit, match=r"--data-dir.*--signing-key"):
            make_key(tmp_path / "file" / KEY_FILE)

    @posix_only
    def test_the_way_to_make_one_works(self, tmp_path: Path) -> None:
        put(tmp_path / KEY_FILE, b"")
        with pytest.raises(KeyUnfit) as told:
            read_key(tmp_path / KEY_FILE)
        (tmp_path / KEY_FILE).unlink()
        command = str(told.value).partition("Make one with: ")[2]
        try:
            subprocess.run(["/bin/sh", "-c", command], check=True, capture_output=True)
        except subprocess.CalledProcessError as failed:
            pytest.skip(f"openssl does not make one here: {failed.stderr!r}")
        read_key(tmp_path / KEY_FILE)


class Clock:
    """A clock that goes on by one with each look."""

    def __init__(self) -> None:
        self.time = 1_791_900_000_000

    def now(self) -> int:
        self.time += 1
        return self.time


@pytest_asyncio.fixture
async def key_store(redis_client: Redis) -> AsyncIterator[SigningKeyStore]:
    """Public keys on an empty store."""
    yield SigningKeyStore(Link(redis_client))


class TestSigner:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        """Where the key is."""
        return tmp_path / KEY_FILE

    async def test_the_key_is_made_and_published(self, path: Path, key_store: SigningKeyStore) -> None:
        signer = await Signer.open(path, key_store, Clock().now, make=True)
        key = await signer.key()
        (published,) = await signer.published()
        assert published.key == key.name == read_key(path).name
        assert from_base64(published.public, KEY_BYTES) == key.public

    async def test_a_named_file_is_never_made(self, path: Path, key_store: SigningKeyStore) -> None:
        with pytest.raises(KeyUnfit, match=r"There is no signing key.*openssl"):
            await Signer.open(path, key_store, Clock().now, make=False)
        assert names_in(path.parent) == []
        assert await key_store.published() == ()

    async def test_another_key_in_the_file_s_place_signs_from_then_on_and_the_old_one_stays_published(
        self, path: Path, key_store: SigningKeyStore
    ) -> None:
        signer = await Signer.open(path, key_store, Clock().now, make=True)
        old = (await signer.key()).name
        put(path, pem())
        new = (await signer.key()).name
        assert new == read_key(path).name != old
        assert [key.key for key in await signer.published()] == [new, old]

    async def test_the_file_s_old_key_put_back_comes_first_again(self, path: Path, key_store: SigningKeyStore) -> None:
        clock = Clock()
        first, second = pem(), pem()
        put(path, first)
        signer = await Signer.open(path, key_store, clock.now, make=False)
        for text in (second, first):
            put(path, text)
            assert next(iter(await signer.published())).key == read_key(path).name
        assert len(await signer.published()) == 2

    async def test_a_new_key_that_cannot_be_used_changes_nothing(self, path: Path, key_store: SigningKeyStore) -> None:
        signer = await Signer.open(path, key_store, Clock().now, make=True)
        old = (await signer.key()).name
        put(path, b"no key")
        assert (await signer.key()).name == old
        remove(path)
        assert (await signer.key()).name == old
        assert [key.key for key in await signer.published()] == [old]
        put(path, pem())
        assert (await signer.key()).name == read_key(path).name

    async def test_nodes_of_one_store_publish_one_set_in_one_order(
        self, tmp_path: Path, key_store: SigningKeyStore
    ) -> None:
        clock = Clock()
        nodes = [
            await Signer.open(tmp_path / node / KEY_FILE, key_store, clock.now, make=True) for node in ("a", "b", "a")
        ]
        sets = [await node.published() for node in nodes]
        assert sets[0] == sets[1] == sets[2]
        assert [key.key for key in sets[0]] == [(await nodes[0].key()).name, (await nodes[1].key()).name]

    async def test_a_store_that_was_emptied_gets_the_key_again(
        self, path: Path, key_store: SigningKeyStore, redis_client: Redis
    ) -> None:
        signer = await Signer.open(path, key_store, Clock().now, make=True)
        before = await signer.published()
        await redis_client.flushall()
        assert await signer.published() == before


async def test_a_key_that_comes_first_already_keeps_its_time(key_store: SigningKeyStore, redis_client: Redis) -> None:
    key = PublishedKey("0123456789abcdef", "AAAA")
    await key_store.publish(key, 5)
    await key_store.publish(key, 7)
    assert await redis_client.hgetall("signing_keys") == {b"0123456789abcdef": b"5:AAAA"}
    assert await key_store.published() == (key,)
