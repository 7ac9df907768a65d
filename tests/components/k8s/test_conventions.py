from __future__ import annotations

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pulumi_harness import record
from trainyard.components.k8s.conventions import add_on_namespace, gibibytes, named, prerequisites, whole
from trainyard.conventions import gpu_node_tolerations


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1Gi"), (1200, "1200Gi"), (1024, "1Ti"), (2048, "2Ti"), (4800, "4800Gi"), (2**20, "1Pi")]
)
def test_gibibytes(count: int, text: str) -> None:
    assert gibibytes(count) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (8, "8"), (1000, "1k"), (1500, "1500"), (96000, "96k"), (5_000_000, "5M")]
)
def test_whole(count: int, text: str) -> None:
    assert whole(count) == text


@given(st.integers(min_value=1, max_value=2**40))
def test_quantities_keep_their_value(count: int) -> None:
    binary = {"Gi": 1, "Ti": 1024, "Pi": 1024**2}
    text = gibibytes(count)
    assert int(text[:-2]) * binary[text[-2:]] == count
    decimal = {"k": 1000, "M": 1000**2, "G": 1000**3}
    text = whole(count)
    assert int(text.rstrip("kMG")) * decimal.get(text[-1], 1) == count


def test_quantities_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 GiB, got 0"):
        gibibytes(0)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        whole(-1)


def test_only_spot_nodes_have_the_spot_taint() -> None:
    assert [len(gpu_node_tolerations(capacity)) for capacity in ("reserved", "spot", "on-demand")] == [1, 2, 1]
    with pytest.raises(ValueError, match="one of reserved, spot, on-demand, got free"):
        gpu_node_tolerations("free")


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
