"""`wss://`: the certificate that a node shows."""

from __future__ import annotations

import ssl
from pathlib import Path

from cellrace.errors import CellraceError


class CertificateUnfit(CellraceError):
    """The certificate or its key cannot be used."""


def tls_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """What a server with this certificate speaks TLS by. Raises CertificateUnfit."""

    def password() -> str:
        # Else OpenSSL asks on the terminal, where there is one, and the whole node waits.
        raise CertificateUnfit(
            f"The key in {key or certificate} has a password, which nobody could give at a restart. Take it off with: "
            f"(umask 077; openssl pkey -in {key or certificate} -out plain.pem), and name that with --key."
        )

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password)
    except OSError as error:
        raise CertificateUnfit(
            f"The certificate {certificate} cannot be used ({error.strerror or error}). "
            "It is a PEM file, with its key in it or in the file that --key names."
        ) from error
    return context
