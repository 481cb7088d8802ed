"""A certificate of a server's own, for clients that speak nothing but HTTPS."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from crmbench.errors import InputError

NAMES = (
    "localhost",
    "login.salesforce.com",
    "test.salesforce.com",
    "*.salesforce.com",
    "*.my.salesforce.com",
)
"""The hosts that it is good for, beside the addresses of loopback."""
ADDRESSES = ("127.0.0.1", "::1")
DAYS = 825
"""How long it is good: the longest that clients take."""


class CertificateFiles(NamedTuple):
    """Where a certificate and its key are."""

    certificate: Path
    key: Path


def certificate_in(folder: Path, host: str = "localhost") -> CertificateFiles:
    """The certificate of a folder, made if it is not there.

    Whoever trusts the file ``certificate.pem`` trusts the server, and nobody else: it is no
    authority's, and its key does not leave the folder.

    Args:
        folder: Made if it is not there.
        host: A further name or address that the server is reached under.

    Raises:
        InputError: The folder cannot be written.
    """
    files = CertificateFiles(folder / "certificate.pem", folder / "key.pem")
    if files.certificate.exists() and files.key.exists():
        return files
    key = ec.generate_private_key(ec.SECP256R1())
    made = _signed(key, host)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        with os.fdopen(os.open(files.key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
            f.write(secret)
        files.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", file=str(folder), field="--tls"
        ) from error
    return files


def _signed(key: ec.EllipticCurvePrivateKey, host: str) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "crmbench serve")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.SubjectAlternativeName(_names(host)), critical=False)
        # Its own authority, so that clients can be told to trust it; of no other certificate.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return builder.sign(key, hashes.SHA256())


def _names(host: str) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in NAMES]
    names += [x509.IPAddress(ip_address(address)) for address in ADDRESSES]
    if host in (*NAMES, *ADDRESSES):
        return names
    try:
        return [*names, x509.IPAddress(ip_address(host))]
    except ValueError:
        return [*names, x509.DNSName(host)]
