"""What is not known, or made by others, is no mistake; and what a name nearly is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, changed, obj, resource
from tests.rehearsal.works.effort import calls
from tests.rehearsal.works.references.foreign import FOREIGN, WEB, release
from tests.rehearsal.works.references.test_mistakes import findings
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.near import is_near, missed
from trainyard.rehearsal.refusals.check import check_values


def housed(resources):
    """The same objects, each waiting for the namespaces of the program."""
    urns = tuple(found.urn for found in resources if found.type.endswith(":Namespace"))
    return [replace(found, dependencies=tuple(urn for urn in urns if urn != found.urn)) for found in resources]


def said(resources):
    """What the room says of objects that wait for their namespaces."""
    made = housed(resources)
    everything = tuple(found.urn for found in made)
    waiting = [
        replace(found, dependencies=everything) if "monitoring.coreos" in found.type else found for found in made
    ]
    return findings(waiting, CONTEXT)


def test_a_correct_foreign_stack_has_no_finding():
    assert said(FOREIGN) == []


def test_no_refusal_accuses_it_either():
    assert [finding for finding in check_values(housed(FOREIGN), CONTEXT) if finding.level == "error"] == []


@pytest.mark.parametrize(
    ("name", "path", "value", "told"),
    [
        ("deployment-web", "spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.name", "other", False),
        ("deployment-web", "spec.template.spec.volumes[0].configMap.name", "webb", True),  # a slip
        ("deployment-web", "metadata.namespace", "of-another-stack", False),
        ("deployment-web", "metadata.namespace", "wbe", True),
        ("deployment-web", "spec.template.spec.priorityClassName", "made-elsewhere", False),
        ("deployment-web", "spec.template.spec.serviceAccountName", "web", True),  # nobody else makes any there
    ],
)
def test_what_another_program_may_have_made_is_not_missing(name, path, value, told):
    found = check_values(housed(changed(FOREIGN, name, path, value)), CONTEXT)
    assert ({"k8s-reference", "k8s-namespace"} & {item.rule for item in found} != set()) is told, found


def every_path(value, path=()):
    """Every place in the inputs of an object below what it is."""
    if isinstance(value, dict):
        for key, item in value.items():
            if path or key not in ("apiVersion", "kind"):
                yield (*path, key)
                yield from every_path(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from every_path(item, (*path, index))


def with_at(value, path, new):
    """A copy with something else at a path."""
    if not path:
        return new
    if isinstance(value, dict):
        return {**value, path[0]: with_at(value[path[0]], path[1:], new)}
    return [with_at(item, path[1:], new) if index == path[0] else item for index, item in enumerate(value)]


@pytest.mark.parametrize("found", FOREIGN, ids=lambda found: found.name)
def test_what_is_not_known_is_no_mistake(found):
    for path in every_path(found.inputs):
        other = replace(found, inputs=with_at(dict(found.inputs), path, UNKNOWN))
        assert said([other if one is found else one for one in FOREIGN]) == [], path


@pytest.mark.parametrize("wrong", [["text"], {"key": "value"}, [{"name": ["text"]}]], ids=repr)
def test_a_wrong_kind_of_input_never_crashes(wrong):
    for found in FOREIGN:
        for path in every_path(found.inputs):
            other = replace(found, inputs=with_at(dict(found.inputs), path, wrong))
            said([other if one is found else one for one in FOREIGN])


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("mlflow", "mlfow", True),
        ("egress-proxy", "egress_proxy", True),
        ("ml.platform/team", "ml.platform/teams", True),
        ("kube-sytem", "kube-system", True),
        ("usesGpu", "usesGpus", True),
        ("networking.gke.io", "networking.k8s.io", False),
        ("autoscaling.k8s.io", "scheduling.k8s.io", False),
        ("custom.metrics.k8s.io", "metrics.k8s.io", False),
        ("efs-csi-controller", "fsx-csi-controller", False),
        ("web-1", "web-2", False),
        ("mlflow-ui", "mlflow", False),
        ("dev", "prd", False),
    ],
)
def test_near_names(one, other, near):
    assert is_near(one, other) is near
    assert is_near(other, one) is near


def test_a_selector_misses_by_one_pair():
    assert missed({"app": "web", "tier": "front"}, {"app": "web", "tier": "fronted"}) == (
        "tier: front",
        "tier: fronted",
    )
    assert missed({"app": "web"}, {"apps": "web"}) == ("app: web", "apps: web")
    assert missed({"app": "web"}, {"app": "db"}) == ("", "")
    assert missed({"app": "a", "tier": "b"}, {"app": "c", "tier": "d"}) == ("", "")


@pytest.mark.parametrize(
    ("name", "path", "value", "rule"),
    [
        ("service-web", "spec.selector", {**WEB, "app.kubernetes.io/name": "wbe"}, "reference-service-selects-nothing"),
        ("service-web", "spec.ports[0].targetPort", "htpp", "reference-port"),
        (
            "deployment-web",
            "spec.template.spec.containers[0].livenessProbe.tcpSocket.port",
            "tcp",
            "reference-probe-port",
        ),
        ("deployment-web", "spec.template.spec.volumes[0].configMap.defaultMode", 644, "reference-file-mode"),
        ("deployment-web", "spec.template.spec.volumes[1].configMap.items[0].key", "web.yml", "reference-key"),
        ("deployment-web", "spec.template.spec.containers[0].volumeMounts[1].subPath", "web.yml", "reference-sub-path"),
        (
            "deployment-web",
            "spec.template.spec.containers[0].command[1]",
            "--config=/etc/web/web.yml",
            "reference-file",
        ),
        ("ingress-web", "spec.rules[0].http.paths[0].backend.service.port.name", "https", "reference-port"),
        ("horizontalpodautoscaler-web", "spec.scaleTargetRef.name", "webb", "reference-missing"),
        ("clusterrole-web", "rules[3].apiGroups", ["event.k8s.io"], "reference-role-group"),
        ("clusterrole-web", "rules[5].apiGroups", ["apps"], "reference-role-resource"),
        ("persistentvolume-shared-a", "spec.csi.volumeHandle", "fsap-0123456789abcdef0", "reference-volume-handle"),
        ("persistentvolumeclaim-shared", "spec.volumeName", "shared-aa", "reference-claim"),
        ("validatingadmissionpolicy-replicas", "spec.variables[1].name", "isTooMuch", "reference-variable"),
        (
            "validatingadmissionpolicy-replicas",
            "spec.variables[0].expression",
            "int(parms.data.most)",
            "reference-variable",
        ),
        ("validatingadmissionpolicybinding-replicas", "spec.policyName", "replica", "reference-policy"),
        ("trainjob-fine-tune", "spec.runtimeRef.kind", "TrainingRuntime", None),
    ],
)
def test_a_mistake_in_a_foreign_stack(name, path, value, rule):
    rules = {finding.rule for finding in said(changed(FOREIGN, name, path, value))}
    assert (rule in rules) if rule else not rules


def test_a_group_that_nobody_is_in():
    entry = resource("aws:eks/accessEntry:AccessEntry", "people", {"kubernetesGroups": ["oidc:platforms"]})
    assert [finding.rule for finding in said([*FOREIGN, entry])] == ["reference-subject"]
    entry = resource("aws:eks/accessEntry:AccessEntry", "people", {"kubernetesGroups": ["oidc:platform"]})
    assert said([*FOREIGN, entry]) == []


@pytest.mark.parametrize(
    ("mode", "provider", "told"),
    [("API", False, True), ("API_AND_CONFIG_MAP", False, False), (None, False, False), ("API", True, False)],
)
def test_a_group_may_be_told_by_a_provider_of_identities_or_an_older_config_map(mode, provider, told):
    entry = resource("aws:eks/accessEntry:AccessEntry", "people", {"kubernetesGroups": ["oidc:platforms"]})
    access = {"accessConfig": {"authenticationMode": mode}} if mode else {}
    cluster = resource("aws:eks/cluster:Cluster", "own", {"name": "own", **access})
    more = [resource("aws:eks/identityProviderConfig:IdentityProviderConfig", "sso", {})] if provider else []
    rules = {finding.rule for finding in said([*FOREIGN, entry, cluster, *more])}
    assert ("reference-subject" in rules) == told


@pytest.mark.parametrize("type_", ["helm.sh/v4:Chart", "helm.sh/v3:Chart", "kustomize:Directory", "yaml/v2:ConfigFile"])
def test_a_chart_that_is_rendered_elsewhere_may_make_anything(type_):
    broken = changed(FOREIGN, "service-web", "spec.selector", {"app": "other"})
    assert "reference-service-selects-nothing" in {finding.rule for finding in said(broken)}
    chart = replace(resource(f"kubernetes:{type_}", "chart", {}), custom=False)
    assert said([*broken, chart]) == []


def test_an_unknown_chart_in_the_namespace_may_make_the_pods():
    broken = changed(FOREIGN, "service-web", "spec.selector", {"app": "other"})
    assert said([*broken, release("other", "other", "web")]) == []


def test_many_teams_take_no_longer_than_their_number():
    """Two hundred teams with their objects: linear."""

    def teams(count):
        found = []
        for index in range(count):
            space = f"team-{index:03}"
            found.append(obj("v1", "Namespace", space, metadata={"labels": {"team": space}}))
            for number in range(8):
                peer = {"namespaceSelector": {"matchLabels": {"team": space}}}
                spec = {"podSelector": {}, "ingress": [{"from": [peer]}]}
                found.append(obj("networking.k8s.io/v1", "NetworkPolicy", f"{space}-{number}", space, spec=spec))
                found.append(
                    obj("v1", "Service", f"{space}-{number}", space, spec={"selector": {"app": f"{space}-{number}"}})
                )
        return housed(found)

    few, many = (calls(partial(findings, teams(count), CONTEXT)) for count in (20, 200))
    assert many < 15 * few, (few, many)
