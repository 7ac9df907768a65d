"""The certificate of the MLflow server, signed by an authority that signs nothing else.

Both are made by Pulumi and kept in its state, encrypted: an issuer in the cluster would be one more thing that has to
run before anybody can log a metric, and clients would still have to get its authority from somewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_tls as tls

_HOURS_A_YEAR = 24 * 365
AUTHORITY_YEARS = 20
CERTIFICATE_YEARS = 2
RENEWED_YEARS_BEFORE = 1
"""An `up` in the last year of a certificate makes a new one; the authority, and so the clients, stay."""


@dataclass(frozen=True)
class Certificate:
    """What the server shows, and what its clients check it with, PEM."""

    certificate: pulumi.Output[str]
    key: pulumi.Output[str]
    authority: pulumi.Output[str]
    ends: pulumi.Output[str]
    """When it is valid no more, RFC 3339."""


def server_certificate(name: str, hosts: Sequence[str], opts: pulumi.ResourceOptions) -> Certificate:
    """Makes the authority and the certificate for `hosts`, the first of which names it."""

    def key(suffix: str) -> tls.PrivateKey:
        return tls.PrivateKey(f"{name}-{suffix}-key", algorithm="ECDSA", ecdsa_curve="P256", opts=opts)

    authority_key, own_key = key("authority"), key("server")
    authority = tls.SelfSignedCert(
        f"{name}-authority",
        private_key_pem=authority_key.private_key_pem,
        subject={"common_name": f"authority of {hosts[0]}"},
        is_ca_certificate=True,
        set_subject_key_id=True,
        set_authority_key_id=True,
        allowed_uses=["cert_signing", "crl_signing"],
        validity_period_hours=AUTHORITY_YEARS * _HOURS_A_YEAR,
        opts=opts,
    )
    request = tls.CertRequest(
        f"{name}-certificate-request",
        private_key_pem=own_key.private_key_pem,
        subject={"common_name": hosts[0][:64]},  # the longest that a common name may be; clients read the list
        dns_names=list(hosts),
        ip_addresses=["127.0.0.1"],
        opts=opts,
    )
    signed = tls.LocallySignedCert(
        f"{name}-certificate",
        cert_request_pem=request.cert_request_pem,
        ca_private_key_pem=authority_key.private_key_pem,
        ca_cert_pem=authority.cert_pem,
        set_subject_key_id=True,
        allowed_uses=["digital_signature", "server_auth"],
        validity_period_hours=CERTIFICATE_YEARS * _HOURS_A_YEAR,
        early_renewal_hours=RENEWED_YEARS_BEFORE * _HOURS_A_YEAR,
        opts=opts,
    )
    return Certificate(
        signed.cert_pem,
        pulumi.Output.secret(own_key.private_key_pem),
        authority.cert_pem,
        signed.validity_end_time,
    )
