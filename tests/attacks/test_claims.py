"""A member of a team who claims devices that no queue has counted, and one whose job takes a node with its network.

Every request goes to all admission policies of the large stack on Google Cloud that judge its kind.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.test_guard import ADA, JOB_CONTROLLER, OWNER, Wall

CLAIM = {"name": "fabric", "resourceClaimTemplateName": "fabric-train"}
WHOLE = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "2"}, "claims": [{"name": "fabric"}]}}
PART = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "4", "cpu": "2"}}}
ON_TRAIN = {"nodeSelector": {"ml.platform/pool": "train"}}


def affine(operator: str, *pools: str) -> dict[str, Any]:
    meant = [{"key": "ml.platform/pool", "operator": operator, "values": list(pools)}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": meant}]}}
    return {"affinity": {"nodeAffinity": required}}


FAIR: dict[str, dict[str, Any]] = {
    "by its node selector": {"containers": [WHOLE], "resourceClaims": [CLAIM], **ON_TRAIN},
    "by its affinity": {"containers": [WHOLE], "resourceClaims": [CLAIM], **affine("In", "train")},
    "without the fast network": {"containers": [WHOLE], **ON_TRAIN},
}
FOUL: dict[str, dict[str, Any]] = {
    "a claim of somebody's own": {"resourceClaims": [{"name": "x", "resourceClaimName": "mine"}]},
    "another template": {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "all-gpus"}]},
    "a second one beside it": {"resourceClaims": [CLAIM, {"name": "x", "resourceClaimTemplateName": "all-gpus"}]},
    "the fast network of a node whose other GPUs somebody else has": {"containers": [PART]},
    "on any pool that the queue picks": {"nodeSelector": {}},
    "on a pool without it": {"nodeSelector": {"ml.platform/pool": "tune"}},
    "on two pools": {"nodeSelector": {}, **affine("In", "train", "tune")},
}


@pytest.fixture(scope="module")
def wall(rehearsed: Any) -> Wall:
    return Wall(rehearsed("large-gcp").resources)


def of_a_job(spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"labels": {"kueue.x-k8s.io/podset": "main"}, "ownerReferences": [OWNER]}
    return {"metadata": metadata, "spec": spec}


def job(spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"template": {"spec": spec}}}


def job_set(spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {}, "spec": {"replicatedJobs": [{"name": "node", "template": job(spec)}]}}


@pytest.mark.parametrize("which", sorted(FAIR))
def test_a_job_takes_the_fast_network_with_the_whole_node(wall: Wall, which: str) -> None:
    assert wall.said("pods", of_a_job(FAIR[which]), JOB_CONTROLLER) == []
    assert wall.said("jobs", job(FAIR[which])) == []
    assert wall.said("jobsets", job_set(FAIR[which])) == []


@pytest.mark.parametrize("which", sorted(FOUL))
def test_no_other_claim_is_let_by(wall: Wall, which: str) -> None:
    spec = FAIR["by its node selector"] | FOUL[which]
    for kind, made, who in (
        ("pods", of_a_job(spec), JOB_CONTROLLER),
        ("jobs", job(spec), ADA),
        ("jobsets", job_set(spec), ADA),
    ):
        assert any("take other resource claims away" in message for message in wall.said(kind, made, who)), kind


def test_a_train_job_has_it_of_its_pools_runtime(wall: Wall) -> None:
    fair = {"metadata": {}, "spec": {"runtimeRef": {"name": "torch-distributed-train"}, "trainer": {"numNodes": 2}}}
    assert wall.said("trainjobs", fair) == []
    claims = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}, "claims": [{"name": "fabric"}]}}
    foul = {"metadata": {}, "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": claims}}
    assert any("take away the resource claims" in message for message in wall.said("trainjobs", foul))


def test_members_make_no_templates(rehearsed: Any) -> None:
    for role in rehearsed("large-gcp").resources:
        if role.type.endswith((":Role", ":ClusterRole")) and role.name.startswith("teams-"):
            assert not any("resourceclaim" in name for rule in role.inputs["rules"] for name in rule["resources"])
