"""Volumes of Google Cloud: every mistake is told by its rule; what somebody else may have made is not accused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.refusals.builders import resource
from tests.rehearsal.works.mistakes import Mistake, told
from tests.rehearsal.works.mistakes_references_gcp import MISTAKES, STACK
from trainyard.recorded.model import RecordedResource
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.references.gcp import volumes
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed: Any, mistake: Mistake) -> None:
    found = told(rehearsed(STACK), mistake.change, "references")
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


def volume(driver: str, **attributes: str) -> RecordedResource:
    csi = {"driver": driver, "volumeHandle": "h", "volumeAttributes": attributes}
    return resource("kubernetes:core/v1:PersistentVolume", "v", {"kind": "PersistentVolume", "spec": {"csi": csi}})


def cluster(**add_ons: Any) -> RecordedResource:
    return resource("gcp:container/cluster:Cluster", "c", {"addonsConfig": add_ons})


def rules(*resources: RecordedResource) -> list[str]:
    stack = Stack(resources, ValueContext("1.35", "europe-west4"))
    volumes.check(Cluster(stack))
    return [finding.rule for finding in stack.findings]


LUSTRE = "lustre.csi.storage.gke.io"


@pytest.mark.parametrize(
    "resources",
    [
        [volume(LUSTRE, ip="10.1.2.3", filesystem="fs")],  # on a cluster that is not recorded
        [cluster(lustreCsiDriverConfig={"enabled": True}), volume(LUSTRE, mountpoint="10.1.2.3@tcp:/fs")],
        [cluster(), volume("pd.csi.storage.gke.io")],  # on where nothing is said
        [cluster(), volume("csi.trident.netapp.io")],
        [cluster(lustreCsiDriverConfig={"enabled": True}), volume(LUSTRE, ip="10.9.9.9", filesystem="theirs")],
    ],
)
def test_what_is_right_or_not_known_is_not_accused(resources: list[RecordedResource]) -> None:
    assert rules(*resources) == []


def test_the_driver_of_disks_that_somebody_switched_off_is_missed() -> None:
    off = cluster(gcePersistentDiskCsiDriverConfig={"enabled": False})
    assert rules(off, volume("pd.csi.storage.gke.io")) == ["reference-driver"]


def test_a_mount_point_names_address_and_file_system_at_once() -> None:
    made = resource("gcp:lustre/instance:Instance", "l", {"filesystem": "fs"}, mountPoint="10.1.2.3@tcp:/fs")
    switched_on = cluster(lustreCsiDriverConfig={"enabled": True})
    assert rules(switched_on, made, volume(LUSTRE, mountpoint="10.1.2.3@tcp:/fs")) == []
    assert rules(switched_on, made, volume(LUSTRE, mountpoint="10.1.2.3@tcp:/other")) == ["reference-file-system"]
