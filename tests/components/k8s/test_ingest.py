"""The namespace that data come in by: what its members may do, and what its pods may not."""

from __future__ import annotations

import functools
from typing import Any

from tests.components.k8s.checkers import check_plain_objects
from tests.pulumi_harness import Recording, record
from trainyard.components.k8s.gpu_guard import END_POLICY, POLICY
from trainyard.components.k8s.ingest import MEMBER_RIGHTS, Ingest

ARGS: Any = {
    "data": {
        "driver": "s3.csi.aws.com",
        "handle": "ingest-data",
        "mount_options": ["prefix data/"],
        "access_mode": "ReadWriteMany",
        "capacity_gib": 1024,
    },
    "cores": 4,
    "memory_gib": 16,
    "pods": 10,
}


@functools.cache
def made() -> Recording:
    return record(lambda: Ingest("ingest", ARGS))


def test_every_object_is_valid() -> None:
    assert check_plain_objects(made()) > 10


def test_pods_are_restricted_and_have_no_gpus() -> None:
    namespace = made().one("kubernetes:core/v1:Namespace").inputs["metadata"]
    assert namespace["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    hard = made().one("kubernetes:core/v1:ResourceQuota").inputs["spec"]["hard"]
    assert hard["requests.nvidia.com/gpu"] == "0"
    assert (hard["requests.cpu"], hard["requests.memory"], hard["pods"]) == ("4", "16Gi", "10")
    bindings = made().of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding")
    assert {binding.inputs["spec"]["policyName"] for binding in bindings} == {POLICY, END_POLICY}
    for binding in bindings:
        assert binding.inputs["spec"]["validationActions"] == ["Deny"]
        selected = binding.inputs["spec"]["matchResources"]["namespaceSelector"]["matchLabels"]
        assert selected == {"kubernetes.io/metadata.name": "ingest"}


def test_members_run_jobs_and_make_nothing_that_lasts_or_leads_further() -> None:
    allowed = {(kind, verb) for right in MEMBER_RIGHTS for kind in right.resources for verb in right.verbs}
    assert ("jobs", "create") in allowed
    kinds = {kind for kind, verb in allowed if verb not in ("get", "list", "watch")}
    assert kinds == {"jobs", "pods", "pods/exec", "configmaps"}
    assert ("pods", "create") not in allowed
    subjects = made().one("kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").inputs["subjects"]
    assert [subject["name"] for subject in subjects] == ["ingest"]


def test_nothing_comes_in_and_the_nodes_identity_is_out_of_reach() -> None:
    policies = {
        each.inputs["metadata"]["name"]: each.inputs["spec"]
        for each in made().of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
    }
    assert set(policies) == {"default-deny", "allow-dns", "allow-https"}
    assert not [name for name, spec in policies.items() if spec.get("ingress")]
    (web,) = policies["allow-https"]["egress"]
    assert web["to"][0]["ipBlock"]["except"] == ["169.254.169.254/32"]


def test_the_volume_is_bound_to_its_claim() -> None:
    volume = made().one("kubernetes:core/v1:PersistentVolume").inputs
    assert volume["metadata"]["name"] == "ingest-data"
    assert volume["spec"]["claimRef"] == {"namespace": "ingest", "name": "data"}
    account = made().one("kubernetes:core/v1:ServiceAccount").inputs
    assert account["automountServiceAccountToken"] is False
