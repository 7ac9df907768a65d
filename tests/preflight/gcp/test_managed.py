"""What Google Cloud is asked of managed training before a first `up`, with a command that stands in for gcloud."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_way_in import Desk
from tests.shared import ROOT
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.gcp import managed, quotas
from trainyard.preflight.gcp.checks import QUESTIONS
from trainyard.preflight.model import Answer, Subject
from trainyard.recorded.resources import Resources

T4, L4 = "custom_model_training_nvidia_t4_gpus", "custom_model_training_nvidia_l4_gpus"
CPUS = "custom_model_training_cpus"


@pytest.fixture
def subject(rehearsed) -> Subject:
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.small-gcp.yaml").plan
    return Subject("small-gcp", plan, Resources(rehearsed("small-gcp").resources))


def quota(metric: str, value: int, *regions: str) -> dict[str, Any]:
    part = {"applicableLocations": list(regions), "details": {"value": str(value)}}
    return {"metric": f"{managed.SERVICE}/{metric}", "quotaId": f"Id-{metric}", "dimensionsInfos": [part]}


def asked(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any) -> dict[str, Any]:
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    folder.mkdir()
    desk = Desk(folder)
    monkeypatch.setenv("PATH", str(desk.bin))
    desk.put("gcloud", info_list=answer if "rc" in answer else {"out": json.dumps(answer["quotas"])})
    return {line.what: line for line in quotas.check(subject)}


def test_a_gpu_of_the_smoke_job_and_of_every_other_type_is_asked_for(subject, tmp_path, monkeypatch):
    there = [
        *(quota(T4, 1, "us-central1"), quota(L4, -1, "us-central1"), quota(CPUS, 96, "us-central1")),
        quota(T4, 0, "europe-west4"),
    ]
    found = asked(subject, tmp_path, monkeypatch, {"quotas": there})
    assert {what: line.answer for what, line in found.items()} == dict.fromkeys((T4, L4, CPUS), Answer.FINE)
    assert "no limit" in found[L4].told


def test_a_quota_of_nothing_fails_for_the_smoke_job_and_comes_with_its_request(subject, tmp_path, monkeypatch):
    there = [quota(T4, 0, "us-central1"), quota(L4, 0, "us-central1")]
    found = asked(subject, tmp_path, monkeypatch, {"quotas": there})
    assert found[T4].answer is Answer.FAILS and "1 for the smoke job, 0 are allowed" in found[T4].told
    assert found[T4].command == (
        "gcloud beta quotas preferences create --service=aiplatform.googleapis.com --project=hooli-research"
        f" --quota-id=Id-{T4} --preferred-value=1 --dimensions=region=us-central1"
    )
    assert found[L4].answer is Answer.UNKNOWN and "who wants more waits" in found[L4].told


def test_the_cpus_of_the_smoke_job_s_machine_are_asked_for(subject, tmp_path, monkeypatch):
    there = [quota(T4, 1, "us-central1"), quota(L4, 1, "us-central1"), quota(CPUS, 0, "us-central1")]
    found = asked(subject, tmp_path, monkeypatch, {"quotas": there})
    assert found[CPUS].answer is Answer.FAILS and "for the smoke job, 0 are allowed" in found[CPUS].told


def test_what_is_of_another_region_or_cannot_be_asked_is_not_known(subject, tmp_path, monkeypatch):
    found = asked(subject, tmp_path, monkeypatch, {"quotas": [quota(T4, 8, "europe-west4")]})
    assert {line.answer for line in found.values()} == {Answer.UNKNOWN}
    found = asked(subject, tmp_path, monkeypatch, {"rc": 1, "err": "ERROR: (gcloud.beta.quotas) PERMISSION_DENIED"})
    assert {line.answer for line in found.values()} == {Answer.UNKNOWN}


def test_nothing_of_a_cluster_is_asked(subject, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name, _, check in QUESTIONS:
        if name in ("offerings", "versions", "already there"):
            assert list(check(subject)) == []
