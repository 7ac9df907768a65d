"""Grants to services' own accounts as the provider's documentation writes them: by data sources and by `member`."""

from __future__ import annotations

import pytest

from tests.rehearsal.conftest import Run

KEY = """
    from pulumi_gcp import bigquery, kms, organizations, projects, serviceaccount, storage
    ring = kms.KeyRing("ring", name="ring", location="us")
    key = kms.CryptoKey("key", name="key", key_ring=ring.id, rotation_period="7776000s")

    def may_use(member):
        return kms.CryptoKeyIAMMember(
            "use", crypto_key_id=key.id, role="roles/cloudkms.cryptoKeyEncrypterDecrypter", member=member
        )
"""
BUCKET = """
    storage.Bucket(
        "data", name="own-data", location="US", uniform_bucket_level_access=True,
        encryption={"default_kms_key_name": key.id}, opts=pulumi.ResourceOptions(depends_on=[grant]),
    )
"""
DATASET = """
    bigquery.Dataset(
        "rows", dataset_id="rows", location="US", default_encryption_configuration={"kms_key_name": key.id},
        opts=pulumi.ResourceOptions(depends_on=[grant]),
    )
"""
SECRET = """
    from pulumi_gcp import secretmanager
    secretmanager.Secret(
        "token", secret_id="token", opts=pulumi.ResourceOptions(depends_on=[grant]),
        replication={"auto": {"customer_managed_encryption": {"kms_key_name": key.id}}},
    )
"""
TRANSFER = """
    source = storage.Bucket("source", name="own-source", location="US", uniform_bucket_level_access=True)
    target = storage.Bucket("target", name="own-target", location="US", uniform_bucket_level_access=True)
    who = storage.get_transfer_project_service_account()
    grants = [
        storage.BucketIAMMember(name, bucket=bucket.name, role="roles/storage.admin", member=member)
        for name, bucket, member in (("read", source, who.member), ("write", target, f"serviceAccount:{who.email}"))
    ]
    storage.TransferJob(
        "nightly", description="copies", opts=pulumi.ResourceOptions(depends_on=grants),
        transfer_spec={
            "gcs_data_source": {"bucket_name": source.name}, "gcs_data_sink": {"bucket_name": target.name},
        },
    )
"""
GRANTS = {
    "Cloud Storage by address": (
        KEY + '    grant = may_use(f"serviceAccount:{storage.get_project_service_account().email_address}")\n' + BUCKET
    ),
    "Cloud Storage as member": KEY + "    grant = may_use(storage.get_project_service_account().member)\n" + BUCKET,
    "BigQuery by address": (
        KEY + '    grant = may_use(f"serviceAccount:{bigquery.get_default_service_account().email}")\n' + DATASET
    ),
    "BigQuery as member": KEY + "    grant = may_use(bigquery.get_default_service_account().member)\n" + DATASET,
    "Secret Manager's identity": (
        KEY + '    agent = projects.ServiceIdentity("agent", service="secretmanager.googleapis.com")\n'
        "    grant = may_use(agent.member)\n" + SECRET
    ),
    "Storage Transfer": KEY + TRANSFER,
}


@pytest.mark.parametrize("grant", GRANTS)
def test_a_grant_to_a_services_own_account_counts(run: Run, grant: str) -> None:
    found = run(GRANTS[grant])
    assert [f"{finding.rule}: {finding}" for finding in found.findings if finding.rule.startswith("rights")] == []


def test_somebody_elses_account_is_not_the_services_own(run: Run) -> None:
    program = KEY + '    grant = may_use("serviceAccount:a@other.iam.gserviceaccount.com")\n' + BUCKET
    assert "rights-key" in {finding.rule for finding in run(program).findings}


def test_an_account_is_a_member_by_its_address(run: Run) -> None:
    found = run(
        KEY
        + """
    account = serviceaccount.Account("own", account_id="trainer")
    may_use(account.member)
"""
    )
    (grant,) = [one for one in found.resources if one.type == "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"]
    assert grant.inputs["member"] == "serviceAccount:trainer@rehearsal.iam.gserviceaccount.com"
