"""Certificates of servers on this machine, and the authority that signs them."""

from __future__ import annotations

import datetime
import functools
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@functools.lru_cache(maxsize=1)
def authority(called: str = "authority of a test") -> tuple[str, ec.EllipticCurvePrivateKey]:
    """A certificate authority: its certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, called)])
    return _signed(name, name, key, key, x509.BasicConstraints(ca=True, path_length=0), None), key


def certificate(host: str = "localhost") -> tuple[str, str]:
    """A certificate for `host` and this machine, and its key."""
    _, authority_key = authority()
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    text = _signed(subject, issuer, key, authority_key, x509.BasicConstraints(ca=False, path_length=None), host)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return text, private.decode()


def _signed(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    signer: ec.EllipticCurvePrivateKey,
    constraints: x509.BasicConstraints,
    host: str | None,
) -> str:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(constraints, critical=True)
    )
    if host:
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
