"""Notebooks: who comes in, on whose GPUs, and that the queues do without these."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plan.stack_files import gpu_pool, keys, node_range, plan_of
from trainyard.plan.parts import ClusterPlan, NotebookProfilePlan, NotebooksPlan
from trainyard.problems import SettingsError

SIGN_ON = {"provider": "github", "clientId": "Iv1.0123456789abcdef", "groups": ["acme"]}
OIDC = {
    "provider": "oidc",
    "clientId": "hub",
    "authorizeUrl": "https://login.acme.example/authorize",
    "tokenUrl": "https://login.acme.example/token",
    "userdataUrl": "https://api.acme.example/me",
    "groups": ["ml"],
}
THREE_NODES = keys(gpu_pools={"tune": gpu_pool(on_demand=node_range(max_nodes=3))})


def cluster(**changes: Any) -> ClusterPlan:
    return plan_of(**changes).clusters[0]


def hub(**changes: Any) -> dict[str, Any]:
    return {"notebooks": {"hub": True, "signOn": SIGN_ON, **changes}}


def planned(**changes: Any) -> NotebooksPlan:
    found = cluster(**THREE_NODES, **hub(**changes)).notebooks
    assert found is not None
    return found


def test_without_the_setting_there_are_none() -> None:
    found = cluster(**THREE_NODES)
    assert found.notebooks is None


def test_gpus_of_notebooks_are_none_of_the_queues() -> None:
    before, after = cluster(**THREE_NODES), cluster(**THREE_NODES, **hub(gpus={"tune": 5}))

    def owned(found: ClusterPlan) -> dict[str, int]:
        flavors = {flavor.name: flavor.gpus for flavor in found.scheduling.flavors}
        quotas = [quota for team in found.teams for quota in team.quotas]
        assert {name: sum(one.gpus for one in quotas if one.flavor == name) for name in flavors} == flavors
        return flavors

    was, now = owned(before), owned(after)
    assert {name: was[name] - now[name] for name in was} == {name: 5 if name == "tune-on-demand" else 0 for name in was}


def test_a_kind_of_notebook_a_pool_and_one_without_a_gpu() -> None:
    found = planned(gpus={"tune": 5})
    tune = cluster(**THREE_NODES).pool("tune")
    assert [one.name for one in found.profiles] == ["cpu", "tune"]
    assert found.profiles[0] == NotebookProfilePlan("cpu", "", "", 0, 2, 8)
    assert (found.profiles[1].node_group, found.profiles[1].most) == ("tune-on-demand", 5)
    assert found.profiles[1].cpu * tune.node.gpus_offered < tune.node.vcpus, "as many as a node has GPUs fit on it"
    assert found.profiles[1].memory_gib * tune.node.gpus_offered < tune.node.memory_gib
    assert found.people == 12
    (group,) = (group for group in tune.node_groups if group.name == "tune-on-demand")
    assert (found.zone,) == group.zones


def test_who_comes_in_by_github_and_by_another_provider() -> None:
    assert planned().sign_on.callback_url == "http://localhost:8000/hub/oauth_callback"
    assert planned().sign_on.hosts == ("github.com", "api.github.com")
    found = planned(signOn=OIDC, address="https://notebooks.acme.example").sign_on
    assert found.callback_url == "https://notebooks.acme.example/hub/oauth_callback"
    assert found.scopes == ("openid", "profile", "email"), "no provider refuses these"
    asked = planned(signOn={**OIDC, "scopes": ["openid", "groups"]}).sign_on
    assert asked.scopes == ("openid", "groups")
    assert found.hosts == ("login.acme.example", "api.acme.example"), "what the browser asks is none of the hub's"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"notebooks": {"gpus": {"tune": 1}}}, r"notebooks\.gpus.*is read where notebooks\.hub is true"),
        ({"notebooks": {"hub": True}}, r"notebooks\.signOn.*must be set: without an identity provider"),
        (hub(signOn={**SIGN_ON, "groups": []}), r"groups.*everybody has an account at GitHub"),
        (hub(signOn={**SIGN_ON, "groups": ["a b"]}), r"groups.*ORGANISATION:TEAM"),
        (hub(signOn={**SIGN_ON, "tokenUrl": "https://a.example/t"}), r"tokenUrl.*provider is oidc"),
        (hub(signOn={**OIDC, "groups": []}), r"signOn\.groups.*must name one"),
        (hub(signOn={key: value for key, value in OIDC.items() if key != "tokenUrl"}), r"tokenUrl.*must be set"),
        (hub(signOn={**SIGN_ON, "scopes": ["openid"]}), r"signOn\.scopes.*provider is oidc"),
        (hub(signOn={**OIDC, "scopes": ["email"]}), r"signOn\.scopes.*must have openid"),
        (hub(signOn={**OIDC, "claim": "https://acme.example/groups"}), r"signOn\.claim.*without dots"),
        (hub(signOn={**SIGN_ON, "provider": "dummy"}), r"signOn\.provider.*'?dummy"),
        (hub(gpus={"tun": 1}), r"gpus\.tun.*must be one of the GPU pools.*did you mean tune"),
        (hub(gpus={"train": 1}), r"gpus\.train.*jobs take the nodes of this pool whole"),
        (hub(gpus={"tune": 4, "dev": 1}), r"notebooks\.gpus.*must be one pool: a quota counts GPUs and not whose"),
        (hub(gpus={"tune": 9}), r"gpus\.tune.*must be at most 8.*a node stay for jobs"),
        (hub(idleMinutes=2), r"notebooks\.idleMinutes"),
        (hub(address="http://notebooks.acme.example"), r"notebooks\.address.*https"),
        (
            {**hub(), "cpuPool": {"instanceTypes": ["m7i.large"]}},
            r"notebooks\.cpu: got 2; must be at most the 1\.\d+ cores",
        ),
        ({**hub(memory="31Gi")}, r"notebooks\.memory: got 31Gi; must be at most the 2\d(\.\d+)? GiB"),
        ({**hub(), "cpuPool": {"maxNodes": 0}}, r"notebooks\.hub.*there are no nodes for a notebook"),
    ],
)
def test_what_cannot_be_is_said_with_its_key(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=rf"(?s){message}"):
        plan_of(**{**THREE_NODES, **changes})


def test_a_network_without_a_way_out_has_no_hub() -> None:
    with pytest.raises(SettingsError, match=r"signOn\.provider.*nothing leaves the network"):
        plan_of(**THREE_NODES, **hub(), aws={"wayOut": "none"})


GCP = {
    "cloud": "gcp",
    "region": "us-central1",
    "gcp": {"project": "acme-ml", "projectNumber": "123456789012", "organisationDomain": "acme.example"},
}


def test_a_notebook_on_google_cloud_has_what_kernel_and_agents_leave() -> None:
    """Of 32 GiB a node has 27.6 by the kubelet's sum: the kernel and what measures the node take one of them."""
    pools = {"cpuPool": {"instanceTypes": ["e2-standard-8"]}}
    assert plan_of(**GCP, **pools, **hub(memory="26Gi")).clusters[0].notebooks.profiles[0].memory_gib == 26
    with pytest.raises(SettingsError, match=r"notebooks\.memory: got 27Gi; must be at most the 26\.\d+ GiB"):
        plan_of(**GCP, **pools, **hub(memory="27Gi"))


@pytest.mark.parametrize(("most", "nodes"), [(1, 2), (4, 2), (5, 1), (8, 1)])
def test_a_smoke_job_takes_no_node_of_which_notebooks_have_gpus(most: int, nodes: int) -> None:
    """Three nodes of four GPUs: a job on two would wait for ever where notebooks have more than one node's."""
    job = {job.name: job for job in cluster(**THREE_NODES, **hub(gpus={"tune": most})).smoke.jobs}["tune-on-demand"]
    assert job.nodes == nodes
    told = plan_of(**THREE_NODES, **hub(gpus={"tune": most})).core.decisions
    [why] = [one.source for one in told if one.key == "smoke.jobs.tune-on-demand.nodes"]
    assert ("without those of notebooks" in why) == (nodes == 1)


@pytest.mark.parametrize("ground", [{}, GCP], ids=["aws", "gcp"])
def test_the_hub_takes_room_of_the_system_nodes(ground: dict[str, Any]) -> None:
    def fits(cpu: int, **more: Any) -> bool:
        try:
            plan_of(**ground, mlflow={"cpu": f"{cpu}m"}, systemNodes={"maxNodes": 3}, **more)
        except SettingsError as error:
            assert {problem.key for problem in error.problems} <= {
                "systemNodes.maxNodes",
                "mlflow.replicas",
                "mlflow.cpu",
                "mlflow.memory",
            }
            return False
        return True

    cores = range(300, 3700, 200)
    without, beside = [fits(cpu) for cpu in cores], [fits(cpu, **hub()) for cpu in cores]
    assert any(beside) and sum(beside) < sum(without)
