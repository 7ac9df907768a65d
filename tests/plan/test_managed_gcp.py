"""Managed training on Google Cloud: what a stack file has to say for it."""

from __future__ import annotations

from typing import Any

from tests.plan.stack_files import keys, people, plan_of

SMALL: dict[str, Any] = {"cloud": "gcp", "profile": "small", "region": "us-central1", "teams": [people("research", 3)]}
PROJECT: dict[str, Any] = {"project": "acme-ml", "projectNumber": "123456789012"}
ACCOUNT = "012345-6789AB-CDEF01"


def test_without_a_billing_account_nothing_would_tell_what_is_spent(problems: Any) -> None:
    found = problems(**SMALL, gcp=PROJECT)
    assert set(found) == {"gcp.billingAccount"}
    assert "a budget of Google's alone tells what is spent" in str(found["gcp.billingAccount"])
    assert "roles/billing.costsManager" in found["gcp.billingAccount"].hint


def test_with_one_there_is_a_budget_on_it() -> None:
    plan = plan_of(**SMALL, alertEmails=["ml@acme.example"], gcp=PROJECT | keys(billing_account=ACCOUNT))
    assert plan.ground.billing.account == ACCOUNT


def test_its_smoke_job_is_of_an_image_that_vertex_pulls(problems: Any) -> None:
    small = SMALL | {"alertEmails": ["ml@acme.example"], "gcp": PROJECT | keys(billing_account=ACCOUNT)}
    digest = f"sha256:{'a' * 64}"
    found = problems(**small, smoke={"image": f"registry.example/torch:1@{digest}"})
    assert "must be in Artifact Registry or on Docker Hub" in str(found["smoke.image"])
    for right in ("us-central1-docker.pkg.dev/acme-ml/ours/torch", "pytorch/pytorch", "docker.io/pytorch/pytorch"):
        assert plan_of(**small, smoke={"image": f"{right}:1@{digest}"}).ground.managed.smoke.image.startswith(right)


def test_a_cluster_has_its_own_ledger_and_needs_none() -> None:
    assert plan_of(**SMALL | {"profile": "medium"}, gcp=PROJECT).ground.billing is None
