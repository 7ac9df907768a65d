"""The roots that RDS signs with: one for every region of the catalogue, whole and its own."""

import datetime

import pytest
from cryptography import x509

from trainyard import catalog


@pytest.mark.parametrize("region", sorted(region.name for region in catalog.regions()))
def test_every_region_has_its_own_authority(region):
    certificate = x509.load_pem_x509_certificate(catalog.rds_authority(region).encode())
    certificate.verify_directly_issued_by(certificate)
    (name,) = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    assert name.value == f"Amazon RDS {region} Root CA RSA2048 G1"
    assert certificate.not_valid_after_utc > datetime.datetime(2060, 1, 1, tzinfo=datetime.UTC)


def test_an_unknown_region_has_none():
    with pytest.raises(KeyError):
        catalog.rds_authority("mars-north-1")
