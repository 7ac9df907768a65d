"""Quotas of Cloud Quotas: chips of TPUs, Managed Lustre and Filestore, as a project's answers have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.shared import ROOT
from trainyard.account.gcp import CannotAskError
from trainyard.plan.gcp.parts import FabricNetworksPlan
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.gcp import limits, quotas
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources

FAMILY, PREEMPTIBLE = "TPUS-PER-TPU-FAMILY-per-project-region", "PREEMPTIBLE-TPU-V6E-per-project-region"
FILES = "EnterpriseStorageGibPerRegion"


@pytest.fixture(scope="module")
def subject() -> Subject[Any]:
    return Subject("large-gcp", resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.large-gcp.yaml").plan, Resources([]))


def part(value: int, *where: str, **dimensions: str) -> dict[str, Any]:
    return {"dimensions": dimensions, "details": {"value": str(value)}, "applicableLocations": list(where)}


WELL: dict[str, list[dict[str, Any]]] = {
    FAMILY: [part(0, tpu_family="CT3"), part(32, region="us-east4", tpu_family="CT6E"), part(0, tpu_family="CT6E")],
    PREEMPTIBLE: [part(1536)],
    "Capacity": [part(18_000, "us-east4-a", "us-east4-b"), part(0, "us-east5-a")],
    FILES: [part(-1, "us-east4")],
}


def asked(subject: Subject[Any], monkeypatch: pytest.MonkeyPatch, **changed: Any) -> dict[str, Line]:
    answers = {**WELL, **changed}

    def answer(*words: str) -> Any:
        assert words[:4] == ("beta", "quotas", "info", "describe")
        found = answers[words[4]]
        if isinstance(found, str):
            raise CannotAskError(found, "")
        return {"quotaId": words[4], "dimensionsInfos": found}

    monkeypatch.setattr(limits, "ask", answer)
    return {line.what: line for line in limits.check(subject)}


def test_what_fits_is_fine(subject: Subject[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(subject, monkeypatch)
    assert set(found) == {"on-demand tpu-v6e-slice", "flex-start tpu-v6e-slice", "Managed Lustre", "Filestore"}
    assert {line.answer for line in found.values()} == {Answer.FINE}
    assert "16 chips are needed at most, 32 are allowed" in found["on-demand tpu-v6e-slice"].told


@pytest.mark.parametrize(
    ("changed", "what", "said"),
    [
        ({"Capacity": [part(9_000, "us-east4-b")]}, "Managed Lustre", "--dimensions=zone=us-east4-b"),
        ({FILES: [part(0, "us-east4")]}, "Filestore", "--preferred-value=1024 --dimensions=region=us-east4"),
        ({FAMILY: [part(0, tpu_family="CT6E"), part(64, region="us-east4", tpu_family="CT3")]},
         "on-demand tpu-v6e-slice", "--dimensions=region=us-east4,tpu_family=CT6E"),
    ],
)  # fmt: skip
def test_what_does_not_fit_fails_with_the_request(
    subject: Subject[Any], monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], what: str, said: str
) -> None:
    found = asked(subject, monkeypatch, **changed)
    assert found[what].answer is Answer.FAILS
    assert said in found[what].command
    assert {line.answer for name, line in found.items() if name != what} == {Answer.FINE}


def test_flex_start_waits_for_its_quota_and_fails_nothing(
    subject: Subject[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = asked(subject, monkeypatch, **{PREEMPTIBLE: [part(8)]})["flex-start tpu-v6e-slice"]
    assert line.answer is Answer.UNKNOWN and "more wait" in line.told


@pytest.mark.parametrize("answer", ["ERROR: the API is off", [], [part(100, region="us-east5")]])
def test_what_nobody_says_is_unknown(subject: Subject[Any], monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    found = asked(subject, monkeypatch, **{FILES: answer})
    assert found["Filestore"].answer is Answer.UNKNOWN


@pytest.mark.parametrize(
    ("cidrs", "transport", "count"), [(("10.1.0.0/20",) * 8, "tcpxo", 9), ((), "", 3)], ids=["TCPXO", "RDMA"]
)
def test_networks_of_fast_interfaces_count_against_the_projects(
    subject: Subject[Any], cidrs: tuple[str, ...], transport: str, count: int
) -> None:
    assert quotas._networks(subject) == 0
    own = FabricNetworksPlan("us-east4-b", "10.0.0.0/20", ("10.1.0.0/20",), cidrs, transport)
    plan = replace(subject.plan, ground=replace(subject.plan.ground, fabric_networks=own))
    assert quotas._networks(replace(subject, plan=plan)) == count
