"""The guard of images: whatever names one, in every kind, and no other way to spell a registry that is not allowed."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

from tests.components.k8s.admission import refusals
from tests.components.k8s.checkers import check_plain_objects
from tests.pulumi_harness import record
from trainyard.components.k8s.image_guard import KINDS, POLICY, expression, image_guard, message, spec

OWN = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
ALLOWED = [OWN, "docker.io/pytorch/pytorch", "docker.io/library", "nvcr.io/nvidia", "registry.example.com:5000"]
PINNED = "@sha256:" + "0" * 64


def refused(kind: str, item: dict[str, Any], allowed: list[str] = ALLOWED) -> bool:
    policy = spec(kind, expression(kind, allowed), message(allowed))
    return bool(refusals(policy, item))


def pod(image: str, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "a", "image": image}], **spec}}


GOOD = f"{OWN}/train:1"
ALLOWED_IMAGES = (
    f"{OWN}/train:1", f"{OWN}/a/b{PINNED}", "pytorch/pytorch:2.13.0", f"pytorch/pytorch{PINNED}",
    "docker.io/pytorch/pytorch:1", "python:3.12", "busybox", "docker.io/library/python", "nvcr.io/nvidia/pytorch:26.01",
    "registry.example.com:5000/x",
)  # fmt: skip
OTHER_IMAGES = (
    "evil.example/pytorch/pytorch:1", "pytorch/pytorch-evil:1", "pytorch/pytorchevil", "somebody/python",
    f"{OWN}.evil.example/train:1", f"{OWN}:8443/train:1", f"x{OWN}/train:1", "nvcr.io/nvidia-evil/x", "nvcr.io/x",
    "registry.example.com/x", "registry.example.com:50001/x", "localhost/x", "localhost:5000/x",
    f"evil.example/{OWN}/train:1", f"{OWN[3:]}/train", "docker.io/somebody/x", "index.docker.io/pytorch/pytorch:1",
    "ghcr.io/mlflow/mlflow", "library.evil/python",
)  # fmt: skip


@pytest.mark.parametrize("image", ALLOWED_IMAGES)
def test_an_image_of_an_allowed_registry_passes(image: str) -> None:
    assert not refused("pods", pod(image))


@pytest.mark.parametrize("image", OTHER_IMAGES)
def test_an_image_from_elsewhere_is_refused(image: str) -> None:
    assert refused("pods", pod(image))


def test_a_name_that_only_looks_like_a_registry_is_docker_hub_s() -> None:
    assert not refused("pods", pod("docker.io")), "docker.io/library/docker.io, as a container runtime reads it"
    assert refused("pods", pod("docker.io"), [OWN])


@pytest.mark.parametrize("kind", ["initContainers", "ephemeralContainers"])
def test_every_kind_of_container_is_asked(kind: str) -> None:
    assert not refused("pods", pod(GOOD, **{kind: [{"name": "b", "image": GOOD}]}))
    assert refused("pods", pod(GOOD, **{kind: [{"name": "b", "image": "evil.example/x"}]}))


def test_an_image_that_is_mounted_is_asked() -> None:
    assert not refused("pods", pod(GOOD, volumes=[{"name": "a", "emptyDir": {}}, _volume(GOOD)]))
    assert refused("pods", pod(GOOD, volumes=[_volume("evil.example/x")]))


def _volume(image: str) -> dict[str, Any]:
    return {"name": "i", "image": {"reference": image}}


def job(image: str) -> dict[str, Any]:
    return {"spec": {"template": pod(image)}}


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("jobs", job),
        ("jobsets", lambda image: {"spec": {"replicatedJobs": [{"template": job(GOOD)}, {"template": job(image)}]}}),
        ("trainjobs", lambda image: {"spec": {"trainer": {"image": image}}}),
    ],
)
def test_a_job_is_refused_when_it_is_made(kind: str, make: Any) -> None:
    assert not refused(kind, make(GOOD))
    assert refused(kind, make("evil.example/x"))


def test_a_train_job_that_leaves_the_image_to_its_runtime_passes() -> None:
    assert not refused("trainjobs", {"spec": {}})
    assert not refused("trainjobs", {"spec": {"trainer": {"numNodes": 2}}})


def test_where_nothing_is_allowed_nothing_passes() -> None:
    assert refused("pods", pod("python"), [])


def test_an_entry_cannot_be_code() -> None:
    with pytest.raises(ValueError, match="cannot stand in an expression"):
        expression("pods", ["x' || true || '"])


class Parent(pulumi.ComponentResource):
    def __init__(self) -> None:
        super().__init__("test:index:Parent", "parent")
        image_guard("walls", [pulumi.Output.from_input(OWN), "docker.io/library"], self)


def test_each_kind_has_its_policy_which_denies_in_teams_namespaces() -> None:
    recording = record(Parent)
    check_plain_objects(recording)
    policies = recording.of_type("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy")
    assert {policy.inputs["metadata"]["name"] for policy in policies} == {POLICY.format(kind) for kind in KINDS}
    for policy in policies:
        made = policy.inputs["spec"]
        assert made["failurePolicy"] == "Fail"
        assert made["matchConstraints"]["resourceRules"][0]["operations"] == ["CREATE", "UPDATE"]
        assert OWN in made["validations"][0]["message"]
    [of_pods] = [one for one in policies if one.inputs["metadata"]["name"].startswith("pods-")]
    rule = of_pods.inputs["spec"]["matchConstraints"]["resourceRules"][0]
    assert rule["resources"] == ["pods", "pods/ephemeralcontainers"]
    assert refusals(of_pods.inputs["spec"], pod("evil.example/x")) and not refusals(
        of_pods.inputs["spec"], pod("python")
    )
