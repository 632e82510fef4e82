"""What is said of a certificate that cannot be used; test_app.py serves wss:// with one that can."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cellrace_client.connection import connect
from cellrace_client.connection.fetching import fetch
from cellrace_client.errors import Unreachable
from cellrace_client.terminal.advice import what_to_do
from cellrace_server.app import running
from cellrace_server.config import Config
from cellrace_server.net import listening
from cellrace_server.net.tls import CertificateUnfit, tls_context
from tests.server.net.certificates import self_signed


def test_a_file_that_is_no_certificate_is_told_in_a_sentence(tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_text("nonsense")
    with pytest.raises(CertificateUnfit, match=r"certificate\.pem cannot be used .* PEM file"):
        tls_context(certificate, None)


def test_a_key_with_a_password_is_refused_instead_of_asked_for(tmp_path: Path) -> None:
    """OpenSSL would ask on the terminal, and the node would wait until somebody answers."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    self_signed(certificate, key, b"secret")
    with pytest.raises(CertificateUnfit, match=r"key\.pem has a password"):
        tls_context(certificate, key)


async def test_who_connects_and_says_nothing_is_let_go_soon(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As without TLS: by itself asyncio waits a minute for it, outside of all bounds."""
    monkeypatch.setattr(listening, "HANDSHAKE", 0.1)
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    self_signed(certificate, key)
    async with running(Config(port=0, redis=store_url, certificate=certificate, key=key)) as node:
        reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()


async def test_a_client_says_what_is_wrong_with_a_certificate(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what to do: of one that was made by hand it said that the address was none."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    self_signed(certificate, key)
    async with running(Config(port=0, redis=store_url, certificate=certificate, key=key)) as node:
        url = f"wss://localhost:{node.port}/ws"
        with pytest.raises(Unreachable, match=r"its certificate cannot be trusted \(self.signed certificate\)") as told:
            async with connect(url):
                pass
        assert told.value.final
        assert "SSL_CERT_FILE" in what_to_do(told.value)
        with pytest.raises(Unreachable, match="its certificate cannot be trusted") as fetched:
            await asyncio.to_thread(fetch, url, "/api/v1/keys")
        assert "SSL_CERT_FILE" in what_to_do(fetched.value)
        with pytest.raises(Unreachable, match="begins with wss://"):
            async with connect(url.replace("wss:", "ws:")):
                pass
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        async with connect(url) as connection:
            assert connection.player.name
