from __future__ import annotations

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.pulumi_harness import record
from trainyard.components.k8s.objects import add_on_namespace, named, service_account
from trainyard.components.prerequisites import prerequisites

ACCOUNT = "kubernetes:core/v1:ServiceAccount"


def test_named_is_known_at_preview_and_carries_the_dependency() -> None:
    def program() -> None:
        namespace = core.Namespace("space", metadata={"name": "fixed"})
        core.ConfigMap("user", metadata={"namespace": named(namespace, "fixed")})

    recording = record(program, preview=True)
    user = recording.one("kubernetes:core/v1:ConfigMap")
    assert user.inputs["metadata"] == {"namespace": "fixed"}
    assert user.dependencies == (recording.one("kubernetes:core/v1:Namespace").urn,)


def test_prerequisites_takes_one_or_many() -> None:
    def program() -> None:
        one, two = core.ConfigMap("one"), core.ConfigMap("two")
        assert prerequisites(None) == []
        assert prerequisites(pulumi.ResourceOptions()) == []
        assert prerequisites(pulumi.ResourceOptions(depends_on=one)) == [one]
        assert prerequisites(pulumi.ResourceOptions(depends_on=[one, two])) == [one, two]
        with pytest.raises(TypeError, match="sequence of resources, got Output"):
            prerequisites(pulumi.ResourceOptions(depends_on=pulumi.Output.from_input([one])))
        with pytest.raises(TypeError, match="has to hold resources, got Output"):
            prerequisites(pulumi.ResourceOptions(depends_on=[pulumi.Output.from_input(one)]))

    assert len(record(program).resources) == 2


def test_add_on_namespace_enforces_pod_security() -> None:
    class Parent(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("test:index:Parent", "parent")
            add_on_namespace("strict", "strict", self)
            add_on_namespace("loose", "loose", self, pod_security="privileged")

    recording = record(Parent)
    labels = {n.name: n.inputs["metadata"]["labels"] for n in recording.of_type("kubernetes:core/v1:Namespace")}
    assert labels == {
        "strict": {"pod-security.kubernetes.io/enforce": "restricted"},
        "loose": {"pod-security.kubernetes.io/enforce": "privileged"},
    }


def test_a_service_account_gets_no_token_and_what_its_ground_wants_on_it() -> None:
    def program() -> None:
        opts = pulumi.ResourceOptions()
        service_account("bare", "trainer", "team-a", annotations={}, opts=opts)
        service_account("bound", "trainer", "team-b", annotations={"identity.example.com/role": "a"}, opts=opts)

    recording = record(program)
    bare, bound = recording.one(ACCOUNT, "bare").inputs, recording.one(ACCOUNT, "bound").inputs
    assert bare == {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "trainer", "namespace": "team-a"},
        "automountServiceAccountToken": False,
    }
    assert bound["metadata"]["annotations"] == {"identity.example.com/role": "a"}
