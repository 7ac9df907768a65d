"""JupyterHub in a stack, on both clouds: it works whole, each break of it is told, and its notebooks reach no team."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import pytest

from tests.policies.mutants import drop, edit, put
from tests.rehearsal.works.mistakes import told
from tests.shared import ROOT, SHARED
from trainyard.components.k8s.notebook_server import server_files
from trainyard.recorded.read import value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import DATABASE, HELM_RELEASE, NETWORK_POLICY, RESOURCE_QUOTA
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.flows.model import HTTPS, KUBELET, Port
from trainyard.rehearsal.works.flows.reach import Flows
from trainyard.review.policy_check.check import check_policies

GITHUB = {"provider": "github", "clientId": "Iv1.0123456789abcdef", "groups": ["acme"]}
OIDC = {
    "provider": "oidc",
    "clientId": "hub",
    "authorizeUrl": "https://login.acme.example/authorize",
    "tokenUrl": "https://login.acme.example/token",
    "userdataUrl": "https://login.acme.example/me",
    "groups": ["ml"],
}
POOLS = {"tune": {"onDemand": {"maxNodes": 3}}}
NOTEBOOKS, HUB, PROXY = "notebooks/notebooks", "notebooks/hub", "notebooks/proxy"


@pytest.fixture(scope="module", params=["demo", "demo-gcp"])
def stack(request: pytest.FixtureRequest) -> Rehearsal:
    """An example of each cloud with notebooks on some GPUs of a pool for development."""
    own: dict[str, Any] = {"hub": True, "gpus": {"tune": 4}, "signOn": GITHUB if request.param == "demo" else OIDC}
    changed: dict[str, Any] = {"notebooks": own}
    if request.param == "demo":
        changed["gpuPools"] = {**_pools(), **POOLS}
    else:
        changed["gpuPools"] = POOLS
    made = rehearse(ROOT, request.param, config_overrides=changed)
    assert not made.errors, made.errors
    return made


def _pools() -> dict[str, Any]:
    reserved = {"reservationId": "cr-0123456789abcdef0", "nodes": 1, "availabilityZone": "us-east-1b"}
    return {"train": {"reserved": reserved}}


@pytest.fixture(scope="module")
def resources(stack: Rehearsal) -> Resources:
    return Resources(stack.resources)


@pytest.fixture(scope="module")
def walls(resources: Resources) -> Flows:
    return Flows.recorded(resources)


def release(resources: Resources) -> Any:
    return next(one for one in resources.of(HELM_RELEASE) if one.inputs["chart"] == "jupyterhub")


def test_it_works_and_no_policy_is_against_it(stack: Rehearsal) -> None:
    assert [str(finding) for finding in stack.findings] == []
    report = check_policies(stack.stack, stack.preview.resources, stack.known.resources, stack.settings)
    assert [str(one) for one in report.violations] == []


def test_the_chart_knows_every_value(resources: Resources) -> None:
    sys.path.insert(0, str(SHARED / "charts"))
    try:
        from check_values import load_chart, unknown_values, unread_values  # type: ignore[import-not-found]
    except ImportError:
        pytest.skip("the charts' values are not beside this checkout")
    finally:
        sys.path.pop(0)
    chart = load_chart(SHARED / "charts" / "jupyterhub-4.4.0.json")
    values = release(resources).inputs["values"]
    assert not unknown_values(values, chart) and not unread_values(values, chart)


def test_what_ships_is_what_the_real_servers_were_tried_with(resources: Resources) -> None:
    files = release(resources).inputs["values"]["singleuser"]["extraFiles"]
    shipped = {name: (one["mountPath"], one["stringData"]) for name, one in files.items()}
    assert shipped == dict(server_files(kernel_idle_s=1800, idle_s=2700))


def test_no_secret_is_a_value(resources: Resources) -> None:
    (secret,) = (one for one in resources.all if one.name == "notebooks-sign-on")
    assert not secret.inputs.get("data") and not secret.inputs.get("stringData")
    hub = release(resources).inputs["values"]["hub"]
    assert hub["extraEnv"] == {
        "OAUTH_CLIENT_SECRET": {"valueFrom": {"secretKeyRef": {"name": "notebooks-sign-on", "key": "client-secret"}}}
    }
    assert "cookieSecret" not in hub and "secretToken" not in release(resources).inputs["values"]["proxy"]


def test_the_quota_is_what_the_queues_do_without(resources: Resources) -> None:
    (quota,) = (one for one in resources.of(RESOURCE_QUOTA) if one.inputs["metadata"]["namespace"] == "notebooks")
    hard = quota.inputs["spec"]["hard"]
    assert (hard["requests.nvidia.com/gpu"], hard["persistentvolumeclaims"], hard["pods"]) == ("4", "13", "16")


def places(walls: Flows, *names: str) -> list[Any]:
    return [walls.places[name] for name in names]


def test_people_reach_their_notebooks_and_the_hub_them(walls: Flows) -> None:
    hub, proxy, notebook = places(walls, HUB, PROXY, NOTEBOOKS)
    for source, target, port in (
        (proxy, hub, 8081), (proxy, notebook, 8888), (hub, proxy, 8001), (hub, notebook, 8888), (notebook, hub, 8081),
    ):  # fmt: skip
        assert walls.reaches(source, target, Port(port)).reach == "all"


def test_a_notebook_reaches_no_team_no_data_and_no_other_notebook(walls: Flows, resources: Resources) -> None:
    (notebook,) = places(walls, NOTEBOOKS)
    shut = [
        *walls.teams.values(),
        *(place for name, place in walls.places.items() if name.startswith(("database ", "mlflow/", "monitoring/"))),
        notebook,
    ]
    assert len(shut) > 6 and (len(resources.of(DATABASE)) == 0 or any("database" in place.name for place in shut))
    for place, port in itertools.product(shut, (Port(22), HTTPS, Port(5432), Port(5000), Port(8888), Port(9090))):
        verdict = walls.reaches(notebook, place, port)
        assert not verdict, verdict
    for port in (KUBELET, Port(22)):
        assert not walls.reaches(notebook, walls.places["nodes"], port)


def test_nobody_of_a_team_reaches_a_notebook(walls: Flows) -> None:
    for team, (name, port) in itertools.product(
        walls.teams.values(), ((NOTEBOOKS, 8888), (HUB, 8081), (PROXY, 8000), (PROXY, 8001))
    ):
        verdict = walls.reaches(team, walls.places[name], Port(port))
        assert not verdict, verdict


def test_a_notebook_has_nothing_of_a_team(resources: Resources) -> None:
    single = release(resources).inputs["values"]["singleuser"]
    assert "serviceAccountName" not in single and "extraVolumes" not in single["storage"]
    assert single["storage"]["type"] == "dynamic"
    theirs = [one for one in resources.all if value_at(one.inputs, "metadata", "namespace", default="") == "notebooks"]
    assert {one.type.rpartition(":")[2] for one in theirs} == {
        "NetworkPolicy", "ResourceQuota", "Secret", "Role", "RoleBinding",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (drop(NETWORK_POLICY, "notebooks-allow-proxy"), "flows-hub"),
        (edit(NETWORK_POLICY, "notebooks-allow-hub", lambda inputs: inputs["spec"].pop("ingress")), "flows-hub"),
        (
            edit(HELM_RELEASE, "notebooks-release", put("values", "hub", "nodeSelector", value={"pool": "none"})),
            "placement",
        ),
        (
            edit(
                HELM_RELEASE,
                "notebooks-release",
                put("values", "singleuser", "profileList", 1, "kubespawner_override", "mem_guarantee", value="4000G"),
            ),
            "placement",
        ),
        (drop("kubernetes:core/v1:Secret", "notebooks-sign-on"), "reference-chart-value"),
    ],
    ids=["proxy", "hub", "nodes-of-the-hub", "memory", "secret"],
)
def test_each_break_is_told(stack: Rehearsal, change: Any, rule: str) -> None:
    assert [finding.rule for finding in told(stack, change) if finding.rule.startswith(rule)]


def test_on_eks_a_notebook_without_tolerations_finds_no_node(stack: Rehearsal) -> None:
    """On GKE it does: an admission plugin there tolerates the taint of what a pod asks for."""
    override = ("values", "singleuser", "profileList", 1, "kubespawner_override")
    found = told(stack, edit(HELM_RELEASE, "notebooks-release", put(*override, "tolerations", value=[])))
    assert bool([one for one in found if one.rule.startswith("placement")]) is (stack.stack == "demo")
