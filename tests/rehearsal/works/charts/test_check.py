"""Every mistake in a chart is told by its rule; what only differs, and what is somebody else's, is not."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, WHOLE
from tests.rehearsal.works.mistakes import DROP, edit, put
from tests.rehearsal.works.mistakes_charts import AUTOSCALER, MISTAKES, RELEASE, flag, values
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.works.charts.check import check


def findings(resources, *, region="us-east-1", ours=True):
    stack = Stack(resources, ValueContext("1.35", region, ours=ours))
    check(stack)
    return stack.findings


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told(rehearsed, mistake):
    found = findings(mistake.change(rehearsed(WHOLE).resources))
    assert (mistake.rule is None) == (not found)
    assert mistake.rule in {None, *(finding.rule for finding in found)}, found


@pytest.mark.parametrize("stack", EXAMPLES)
def test_no_example_stack_is_accused(rehearsed, stack):
    rehearsal = rehearsed(stack)
    assert findings(rehearsal.resources, region=rehearsal.plan["ground"]["region"]) == []


UNUSUAL = {
    "groups by name": lambda: values(AUTOSCALER, "autoscalingGroups", [{"name": "a", "minSize": 0, "maxSize": 1}]),
    "a flag of a later version": lambda: flag("capacity-buffer-controller-enabled", "true"),
    "a long duration": lambda: flag("max-node-provision-time", "1h30m"),
    "two expanders": lambda: flag("expander", "least-waste,random"),
    "a limit at its request": lambda: values(AUTOSCALER, "resources.limits.memory", "0.5859375Gi"),
    "a share of the pods is kept": lambda: values(AUTOSCALER, "podDisruptionBudget", {"minAvailable": "50%"}),
    "a budget that is switched off": lambda: values(
        "runtimes-jobset", "controller.podDisruptionBudget", {"enabled": False, "minAvailable": 2}
    ),
    "two ways to hand out devices": lambda: values(
        "gpu-nvidia-device-plugin", "deviceListStrategy", "envvar,cdi-annotations"
    ),
    "an address with a stroke at its end": lambda: edit(
        RELEASE, AUTOSCALER, put("repositoryOpts.repo", "https://kubernetes.github.io/autoscaler/")
    ),
    "one autoscaler that need not be elected": lambda: edit(
        RELEASE, AUTOSCALER, put("values.replicaCount", 1), put("values.extraArgs.leader-elect", "false")
    ),
    "an election that is not spoken of": lambda: values(
        "kueue-release",
        "managerConfig.controllerManagerConfigYaml",
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmetrics: {bindAddress: '0.0.0.0:8443'}\n",
    ),
    "a limit and no request": lambda: values(AUTOSCALER, "resources.requests", {}),
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(rehearsed, what):
    assert findings(UNUSUAL[what]()(rehearsed(WHOLE).resources)) == []


def test_a_repository_of_helms_own_list_has_no_scheme(rehearsed):
    changed = edit(RELEASE, AUTOSCALER, put("repositoryOpts.repo", "autoscaler"))(rehearsed(WHOLE).resources)
    assert findings(changed, ours=False) == []
    changed = edit(RELEASE, AUTOSCALER, put("repositoryOpts.repo", "kubernetes.github.io/autoscaler"))(changed)
    assert [finding.rule for finding in findings(changed, ours=False)] == ["charts-repository"]


def test_what_others_install_is_theirs(rehearsed):
    changed = edit(RELEASE, "kueue-release", put("version", "0.18.6"))(rehearsed(WHOLE).resources)
    changed = edit(RELEASE, "kueue-release", put("values.controllerManager.manager.image", DROP))(changed)
    changed = edit(RELEASE, "runtimes-jobset", put("chart", "podinfo"), put("values", DROP))(changed)
    assert findings(changed, ours=False) == []
    assert {finding.rule for finding in findings(changed)} == {"charts-version", "charts-unknown"}


@pytest.mark.parametrize(
    ("gates", "told"),
    [
        ({"SubnetsClusterTagChek": False}, "no feature gate SubnetsClusterTagChek"),
        ({"NLBHealthCheckAdvancedConfiguration": True}, "no feature gate NLBHealthCheckAdvancedConfiguration"),
        ({"ALBSingleSubnet": "yes"}, "ALBSingleSubnet is"),
        ({"ALBSingleSubnet": True, "EnableRGTAPI": "true"}, ""),
        ({"OfALaterVersionAltogether": True}, ""),
        ({}, ""),
    ],
)
def test_gates_of_the_controller_of_load_balancers(rehearsed, gates, told):
    given = {"clusterName": "demo", "controllerConfig": {"featureGates": gates}}
    change = edit(RELEASE, AUTOSCALER, put("chart", "aws-load-balancer-controller"), put("values", given))
    found = [one for one in findings(change(rehearsed(WHOLE).resources), ours=False) if one.rule == "charts-flag"]
    assert [told in str(one) for one in found] == ([True] if told else []), found
