"""Objects of manifests: judged where they stand in the program, and named as not judged where they do not."""

from __future__ import annotations

import pytest

from tests.rehearsal.conftest import Run

SETUP = """
    import pulumi_kubernetes as kubernetes
    from pulumi_kubernetes import helm, kustomize, yaml
    from pulumi_kubernetes.kustomize import v2 as kustomize_v2
    from pulumi_kubernetes.yaml import v2
    on_k = pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{}"))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "web"}}
"""
SOUND, UNSOUND = (f"{{'ports': [{{'port': {port}}}], 'selector': {{'a': 'b'}}}}" for port in ("80", "'x'"))
TEXT = (
    "apiVersion: v1\\nkind: Service\\nmetadata: {{name: s}}\\nspec: {{ports: [{{port: {port}}}], selector: {{a: b}}}}"
)


@pytest.mark.parametrize(
    ("given", "rules"),
    [
        (f"objs=[service | {{'spec': {SOUND}}}]", set()),
        (f"objs=[service | {{'spec': {UNSOUND}}}]", {"wrong-type"}),
        (f"objs=[{{'apiVersion': 'v1', 'kind': 'List', 'items': [service | {{'spec': {UNSOUND}}}]}}]", {"wrong-type"}),
        (f"yaml='{TEXT.format(port=80)}'", set()),
        (f"yaml='{TEXT.format(port='x')}'", {"wrong-type"}),
        ("yaml='a: [b'", {"manifests-unchecked"}),
        ("files=['*.yaml']", {"manifests-unchecked"}),
    ],
)
def test_objects_of_a_group_are_judged_where_they_stand_in_it(run: Run, given: str, rules: set[str]) -> None:
    found = run(f"{SETUP}\n    v2.ConfigGroup('group', {given}, opts=on_k)\n")
    assert {finding.rule for finding in found.findings if finding.rule != "reference-service-selects-nothing"} == rules


def test_objects_of_a_group_are_its_children(run: Run) -> None:
    found = run(f"{SETUP}\n    v2.ConfigGroup('group', objs=[service | {{'spec': {SOUND}}}], opts=on_k)\n")
    for run_ in (found.preview, found.known):
        (made,) = run_.of_type("kubernetes:core/v1:Service")
        assert (made.name, made.component) == ("group:web/s", "group")
        assert made.parent.endswith("kubernetes:yaml/v2:ConfigGroup::group") and made.provider


@pytest.mark.parametrize(
    "made",
    [
        "helm.v3.Chart('c', helm.v3.LocalChartOpts(path='./nginx'), opts=on_k)",
        "helm.v4.Chart('c', chart='nginx', opts=on_k)",
        "kustomize.Directory('c', directory='./k', opts=on_k)",
        "kustomize_v2.Directory('c', directory='./k', opts=on_k)",
        "v2.ConfigFile('c', file='a.yaml', opts=on_k)",
    ],
)
def test_what_is_rendered_elsewhere_is_named_and_stops_nothing(run: Run, made: str) -> None:
    found = run(f"{SETUP}\n    {made}\n")
    assert [(finding.level, finding.rule, finding.name) for finding in found.findings] == [
        ("warning", "manifests-unchecked", "c")
    ]
