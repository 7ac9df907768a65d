"""What Google Cloud is asked before a stack is created, with a command that stands in for gcloud."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_way_in import Desk
from tests.shared import ROOT
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.gcp.checks import QUESTIONS, look
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources

FINE, FAILS, UNKNOWN = Answer.FINE, Answer.FAILS, Answer.UNKNOWN
ALL_METRICS = (
    "NVIDIA_A100_GPUS", "PREEMPTIBLE_NVIDIA_A100_GPUS", "NVIDIA_L4_GPUS", "PREEMPTIBLE_NVIDIA_L4_GPUS",
)  # fmt: skip


@pytest.fixture(scope="module")
def subject(rehearsed) -> Subject:
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo-gcp.yaml").plan
    return Subject("demo-gcp", plan, Resources(rehearsed("demo-gcp").resources))


def well(subject: Subject) -> dict[str, Any]:
    """What gcloud answers where all is well."""
    ground = subject.plan.ground
    machines = ("a2-highgpu-8g", "g2-standard-48", "g2-standard-8")
    return {
        "auth_list": [{"account": "ann@acme.example"}],
        "print__access__token": "token",
        "projects_describe": {"projectNumber": ground.project_number, "lifecycleState": "ACTIVE"},
        "billing_describe": {
            "billingEnabled": True,
            "billingAccountName": f"billingAccounts/{ground.billing.account}",
        },
        "services_list": [
            {"config": {"name": f"{name}.googleapis.com"}} for name in ("serviceusage", "cloudresourcemanager")
        ],
        "regions_describe": {"quotas": [{"metric": each, "limit": 100, "usage": 0} for each in ALL_METRICS]},
        "project__info_describe": {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 100, "usage": 0}]},
        "machine__types_list": [
            {"name": name, "zone": f"https://x/zones/{zone}"} for name in machines for zone in ground.zones
        ],
        "get__server__config": {
            "channels": [
                {"channel": "REGULAR", "validVersions": [f"{subject.plan.clusters[0].kubernetes_version}.3-gke.1"]}
            ]
        },
        "clusters_list": [],
    }


Ask = Callable[..., list[Line]]


@pytest.fixture
def ask(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    desk = Desk(tmp_path)
    monkeypatch.setenv("PATH", str(desk.bin))

    def asked(*names: str, **changed: Any) -> list[Line]:
        answers = {}
        for words, answer in (well(subject) | changed).items():
            failing = isinstance(answer, str) and answer.startswith("ERROR")
            answers[words] = {"rc": 1, "err": answer} if failing else {"out": json.dumps(answer)}
        # `projects describe` is in `billing projects describe` too: the longer one is asked first.
        order = sorted(answers, key=lambda words: -len(words.split("_")) - ("billing" in words))
        desk.put("gcloud", **{words: answers[words] for words in order})
        lines: list[Line] = []
        for name, _, check in QUESTIONS:
            if not names or name in names:
                lines += check(subject)
        return lines

    return asked


def of(lines: list[Line], answer: Answer) -> dict[str, str]:
    return {line.what: line.told for line in lines if line.answer is answer}


def test_where_all_is_well_all_is_fine(ask: Ask) -> None:
    lines = ask()
    assert {line.answer for line in lines} == {FINE}, lines
    assert {line.check for line in lines} == {name for name, _, _ in QUESTIONS}


@pytest.mark.parametrize(
    ("name", "changed", "what", "said"),
    [
        (
            "project",
            {"projects_describe": {"projectNumber": "1", "lifecycleState": "ACTIVE"}},
            "acme-ml",
            "its number is 1",
        ),
        ("project", {"projects_describe": {"lifecycleState": "DELETE_REQUESTED"}}, "acme-ml", "DELETE_REQUESTED"),
        ("project", {"billing_describe": {"billingEnabled": False}}, "billing", "no billing account"),
        (
            "project",
            {"billing_describe": {"billingEnabled": True, "billingAccountName": "billingAccounts/0"}},
            "billing",
            "it would stay at 0",
        ),
        ("project", {"services_list": []}, "serviceusage.googleapis.com", "it is off"),
        (
            "quotas",
            {"regions_describe": {"quotas": [{"metric": "NVIDIA_A100_GPUS", "limit": 4, "usage": 0}]}},
            "NVIDIA_A100_GPUS in us-central1",
            "8 are needed at most, 0 are used, 4 are allowed",
        ),
        (
            "quotas",
            {"project__info_describe": {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 0, "usage": 0}]}},
            "GPUS_ALL_REGIONS in all regions",
            "16 are needed",
        ),
        ("offerings", {"machine__types_list": []}, "train-spot", "has a2-highgpu-8g"),
        (
            "versions",
            {"get__server__config": {"channels": [{"channel": "REGULAR", "validVersions": ["1.33.1"]}]}},
            "Kubernetes 1.35",
            "has 1.33",
        ),
        ("already there", {"clusters_list": [{"name": "acme-demo-gcp"}]}, "acme-demo-gcp", "not this stack's"),
        ("identity", {"print__access__token": "ERROR: application-default login"}, "credentials", "none that hold"),
    ],
)
def test_what_is_wrong_fails_and_says_so(ask: Ask, name: str, changed: dict[str, Any], what: str, said: str) -> None:
    assert said in of(ask(name, **changed), FAILS)[what]


def test_a_quota_that_is_too_small_comes_with_its_request(ask: Ask) -> None:
    small = {"quotas": [{"metric": each, "limit": 2, "usage": 1} for each in ALL_METRICS]}
    commands = {line.what: line.command for line in ask("quotas", regions_describe=small)}
    assert commands["NVIDIA_A100_GPUS in us-central1"] == (
        "gcloud beta quotas preferences create --service=compute.googleapis.com --project=acme-ml"
        " --quota-id=NVIDIA-A100-GPUS-per-project-region --preferred-value=9 --dimensions=region=us-central1"
    )


def test_the_stacks_own_cluster_is_no_clash(ask: Ask) -> None:
    own = {"name": "acme-demo-gcp", "resourceLabels": {"client": "acme", "environment": "demo-gcp"}}
    assert not of(ask("already there", clusters_list=[own]), FAILS)


def test_a_quota_that_is_not_listed_is_not_known(ask: Ask) -> None:
    lines = ask("quotas", regions_describe={"quotas": []})
    assert set(of(lines, UNKNOWN)) == {f"{metric} in us-central1" for metric in ALL_METRICS}


def test_nobody_to_ask_as_is_told_once(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("gcloud") is None
    lines, somebody = look(subject)
    assert not somebody
    assert [line.answer for line in lines].count(FAILS) == 1
    assert [line for line in lines if line.remedy and line.check != "quotas"] == [
        line for line in lines if line.check == "identity"
    ]


def test_one_refusal_does_not_end_the_others(subject: Subject, ask: Ask) -> None:
    ask("versions", machine__types_list="ERROR: permission compute.machineTypes.list denied")
    lines, somebody = look(subject)
    assert somebody
    assert {line.check for line in lines} == {name for name, _, _ in QUESTIONS}
    (told,) = (line for line in lines if line.check == "offerings")
    assert told.answer is UNKNOWN
    assert "machineTypes.list" in told.told
