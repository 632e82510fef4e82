"""What is said of a certificate that cannot be used; test_app.py serves wss:// with one that can."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellrace_server.net.tls import CertificateUnfit, tls_context


def test_a_file_that_is_no_certificate_is_told_in_a_sentence(tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_text("nonsense")
    with pytest.raises(CertificateUnfit, match=r"certificate\.pem cannot be used .* PEM file"):
        tls_context(certificate, None)
