"""Objects of manifests: judged where they stand in the program, and named as not judged where they do not."""

from __future__ import annotations

import pytest

from tests.rehearsal.conftest import Run
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.kubernetes.index import Objects

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


ADDRESS = "https://example.com/all.yaml"
MANIFEST = (
    "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: b}, spec: {ports: [{port: 80}], selector: {a: b}}}"
)
ASKED = "pulumi.export('at', made.get_resource('v1/Service', 's', 'b').spec.cluster_ip)"
TO_BE_MADE = """
    role = "arn:aws:iam::123456789012:role/cluster"
    cluster = eks.Cluster("k", role_arn=role, vpc_config={"subnet_ids": ["subnet-1", "subnet-2"]}, opts=on_aws)
    on_k = pulumi.ResourceOptions(provider=kubernetes.Provider("new", kubeconfig=cluster.endpoint))
"""
UNRENDERED = [
    ("helm.v3.Chart('c', helm.v3.LocalChartOpts(path='./nginx'), opts=on_k)", "c"),
    ("kustomize.Directory('c', directory='./k', opts=on_k)", "c"),
    (f"yaml.ConfigFile('c', file='{ADDRESS}', opts=on_k)", "c"),
    (f"yaml.ConfigGroup('c', files=['{ADDRESS}'], opts=on_k)", ADDRESS),
]


@pytest.mark.parametrize(("made", "told"), UNRENDERED)
def test_what_is_asked_of_the_unrendered_is_unknown(run: Run, made: str, told: str) -> None:
    found = run(f"{SETUP}\n    made = {made}\n    {ASKED}\n")
    assert [(finding.level, finding.rule, finding.name) for finding in found.findings] == [
        ("warning", "manifests-unchecked", told)
    ]
    for run_ in (found.preview, found.known):
        assert run_.stack_outputs == {"at": UNKNOWN}


@pytest.mark.parametrize(("made", "told"), UNRENDERED)
def test_a_first_preview_of_a_new_cluster_has_nothing_that_is_rendered(run: Run, made: str, told: str) -> None:
    more = "made.resources.apply(lambda _: core.ConfigMap('after', opts=on_k))"
    found = run(f"{SETUP}{TO_BE_MADE}\n    made = {made}\n    {ASKED}\n    {more}\n")
    assert {(finding.level, finding.rule, finding.name) for finding in found.findings} == {
        ("warning", "get-resource-early", "c"),
        ("warning", "manifests-unchecked", told),
    }
    assert found.preview.stack_outputs == found.known.stack_outputs == {"at": UNKNOWN}


def test_what_a_text_of_the_program_holds_is_found_in_it(run: Run) -> None:
    found = run(f"{SETUP}\n    made = yaml.ConfigGroup('c', yaml=['{MANIFEST}'], opts=on_k)\n    {ASKED}\n")
    assert "manifests-unchecked" not in {finding.rule for finding in found.findings}
    assert found.known.stack_outputs["at"].startswith("172.")
    wrong = run(
        f"{SETUP}\n    made = yaml.ConfigGroup('c', yaml=['{MANIFEST}'], opts=on_k)\n"
        "    pulumi.export('at', made.get_resource('v1/Service', 'other', 'b').spec.cluster_ip)\n"
    )
    assert "program-error" in {finding.rule for finding in wrong.findings}  # as the SDK itself has it


@pytest.mark.parametrize(
    "made",
    [
        "helm.v4.Chart('c', chart='nginx', opts=on_k)",
        "v2.ConfigFile('c', file='a.yaml', opts=on_k)",
        "v2.ConfigGroup('c', files=['a.yaml'], opts=on_k)",
        "kustomize_v2.Directory('c', directory='./k', opts=on_k)",
    ],
)
def test_what_a_provider_makes_of_a_component_is_unknown(run: Run, made: str) -> None:
    found = run(f"{SETUP}\n    made = {made}\n    pulumi.export('many', made.resources.apply(len))\n")
    assert {finding.rule for finding in found.findings} == {"manifests-unchecked"}
    assert found.known.stack_outputs == {"many": UNKNOWN}


@pytest.mark.parametrize(
    ("made", "may_be_there"),
    [
        (f"yaml.ConfigGroup('c', yaml=['{MANIFEST}'], opts=on_k)", False),
        (f"v2.ConfigGroup('c', yaml='{MANIFEST}', opts=on_k)", False),
        (f"yaml.ConfigFile('c', file='{ADDRESS}', opts=on_k)", True),
        ("helm.v3.Chart('c', helm.v3.LocalChartOpts(path='./nginx'), opts=on_k)", True),
    ],
)
def test_only_objects_that_are_not_seen_may_be_anything(run: Run, made: str, may_be_there: bool) -> None:
    """Manifests whose text stands in the program are recorded: what they lack is missing."""
    found = run(f"{SETUP}\n    {made}\n")
    assert (
        Objects.of(Stack(found.known.resources, ValueContext("1.34", "us-east-1"))).is_rendered_elsewhere
        is may_be_there
    )
