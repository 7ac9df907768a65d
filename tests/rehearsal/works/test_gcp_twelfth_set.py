"""The twelfth set of mistakes of Google Cloud, and what is right beside the rules that came of it.

Told at first sight: 28 of 30 that are refused, 27 of 30 that are taken and never work; now all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, context_of, edit, one_by_one, put
from tests.rehearsal.works.mistakes_gcp_twelfth import (
    DEMO,
    FLAVOR,
    HEALTHY,
    MAP,
    POOL,
    REFUSED,
    RELEASE,
    SILENT,
    swap,
)
from trainyard.conventions.gcp import PERSISTENT_DISK_FAMILIES
from trainyard.rehearsal.rehearse import Rehearsal
from trainyard.rehearsal.works.programs.kubernetes import storage

EVERY: Final = (*REFUSED, *SILENT)


def says(rehearsal: Rehearsal, change: Change, rule: str) -> bool:
    """Whether anything of a rule is said of a stack with a change."""
    sound = list(rehearsal.known.resources)
    told = one_by_one(change(sound), replace(context_of(rehearsal), ours=True), rule, values=True, sound=sound)
    return any(finding.rule == rule for findings in told for finding in findings)


@pytest.mark.parametrize("mistake", EVERY, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed: Callable[[str], Rehearsal], mistake: Mistake) -> None:
    assert says(rehearsed(mistake.stack), mistake.change, str(mistake.rule))


@pytest.mark.parametrize("right", HEALTHY, ids=lambda right: right.name)
def test_what_is_uncommon_and_right_passes(rehearsed: Callable[[str], Rehearsal], right: Mistake) -> None:
    rehearsal = rehearsed(right.stack)
    changed = right.change(list(rehearsal.known.resources))
    told = one_by_one(changed, replace(context_of(rehearsal), ours=True), values=True)
    assert not [finding for findings in told for finding in findings if finding.level == "error"]


URL: Final = "values.alertmanager.config.receivers[1].webhook_configs[0].url"
DIRECT: Final = ",storage.googleapis.com,.storage.googleapis.com"
CPU: Final = "cluster-cpu"


def booted(machine: str, disk: str) -> Change:
    """The CPU pool of that machine, from that disk."""
    return edit(POOL, CPU, put("nodeConfig.machineType", machine), put("nodeConfig.diskType", disk))


BESIDE: Final = {
    "n2-hyperdisk": (booted("n2-standard-8", "hyperdisk-balanced"), "gke-disk", True),
    "c3-hyperdisk": (booted("c3-standard-8", "hyperdisk-balanced"), "gke-disk", False),
    "boots-from-ml": (booted("c3-standard-8", "hyperdisk-ml"), "gke-disk", True),
    "c3-standard": (booted("c3-standard-8", "pd-standard"), "gke-disk", True),
    "c3-ssd": (booted("c3-standard-8", "pd-ssd"), "gke-disk", False),
    "tolerates-any": (
        edit(
            FLAVOR,
            "kueue-flavor-train-spot",
            put("spec.tolerations[1]", {"key": "ml.platform/capacity", "operator": "Exists"}),
        ),
        "k8s-toleration",
        False,
    ),
    "tolerates-no-key": (
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.tolerations[1]", {"operator": "Equal", "value": "spot"})),
        "k8s-toleration",
        True,
    ),
    "alerts-to-tls": (
        edit(RELEASE, "monitoring-release", put(URL, "https://alert-log.monitoring.svc")),
        "reference-address",
        True,
    ),
    "origin-without-port": (
        edit(MAP, "egress-clients-vision", put("data.ORIGIN", "https://mlflow.mlflow.svc")),
        "reference-address",
        False,
    ),
    "all-of-google-direct": (
        edit(MAP, "egress-clients-vision", swap("data", DIRECT, ",.googleapis.com")),
        "programs-proxy",
        False,
    ),
    "storage-let-by": (
        both(
            edit(MAP, "egress-clients-vision", swap("data", DIRECT, "")),
            edit(
                MAP, "egress-configuration", swap("data", "dstdomain -n .hf.co", "dstdomain -n .hf.co .googleapis.com")
            ),
        ),
        "programs-proxy",
        False,
    ),
    "no-store-is-told": (
        both(
            edit(MAP, "egress-clients-vision", swap("data", DIRECT, "")),
            edit(MAP, "teams-vision-storage", put("data.CHECKPOINTS_URI", DROP)),
        ),
        "programs-proxy",
        False,
    ),
    "a-run-of-the-team": (
        edit(MAP, "teams-vision-storage", swap("data", "/teams/vision", "/teams/vision/runs")),
        "rights-pod-lacks",
        False,
    ),
    "another-team": (
        edit(MAP, "teams-vision-storage", swap("data", "/teams/vision", "/teams/tabular")),
        "rights-pod-lacks",
        True,
    ),
}
"""What is done otherwise, the rule that it is judged by, and whether that tells it."""


@pytest.mark.parametrize("name", BESIDE)
def test_beside_the_rules(rehearsed: Callable[[str], Rehearsal], name: str) -> None:
    change, rule, is_wrong = BESIDE[name]
    assert says(rehearsed(DEMO), change, rule) is is_wrong


def test_classes_of_disks_know_the_same_families() -> None:
    # What plays Kubernetes knows no cloud: it has the families again.
    assert {one.rstrip("-") for one in PERSISTENT_DISK_FAMILIES} == set(storage._ONLY_PERSISTENT)
