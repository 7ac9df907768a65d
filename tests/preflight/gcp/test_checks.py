"""What Google Cloud is asked before a stack is created, with a command that stands in for gcloud."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from tests.cli.test_way_in import Desk
from tests.shared import ROOT
from trainyard.account import gcp
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.gcp import endpoint, rights
from trainyard.preflight.gcp.checks import QUESTIONS, look
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_BUDGET

FINE, FAILS, UNKNOWN = Answer.FINE, Answer.FAILS, Answer.UNKNOWN
ALL_METRICS = (
    "NVIDIA_A100_GPUS", "PREEMPTIBLE_NVIDIA_A100_GPUS", "NVIDIA_L4_GPUS", "PREEMPTIBLE_NVIDIA_L4_GPUS",
)  # fmt: skip
CPUS = [{"metric": metric, "limit": 1000, "usage": 0} for metric in ("CPUS", "A2_CPUS", "PREEMPTIBLE_CPUS")]
SILENT = {"shared network"}
"""What asks nothing where the network is the stack's own."""
HOST = "gke-1.us-central1.gke.goog"
STANDING = {
    "name": "acme-demo-gcp",
    "network": "network-vpc-1a2b3c4",
    "resourceLabels": {"client": "acme", "environment": "demo-gcp"},
    "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": HOST, "allowExternalTraffic": True}},
}


@pytest.fixture(scope="module")
def subject(rehearsed) -> Subject:
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo-gcp.yaml").plan
    return Subject("demo-gcp", plan, Resources(rehearsed("demo-gcp").resources))


@dataclass
class Iam:
    """What IAM answers: all that it is asked about, but what is denied or tested nowhere."""

    denied: set[str] = field(default_factory=set)
    unheard: set[str] = field(default_factory=set)
    refuses: bool = False
    asked: list[str] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)

    def answer(self, path: str, wanted: list[str]) -> tuple[int, dict[str, Any]]:
        self.asked.append(path)
        if self.refuses or self.unheard & set(wanted):
            return 403 if self.refuses else 400, {}
        return 200, {"permissions": [each for each in wanted if each not in self.denied]}


@pytest.fixture
def iam(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iam]:
    found = Iam()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.headers.append(self.headers)
            code, answer = found.answer(self.path, body["permissions"])
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("no_proxy", "*")
    for kind in gcp.APIS:
        monkeypatch.setitem(gcp.APIS, kind, f"http://127.0.0.1:{server.server_port}/v1")
    yield found
    server.shutdown()
    server.server_close()


def well(subject: Subject) -> dict[str, Any]:
    """What gcloud answers where all is well."""
    ground = subject.plan.ground
    machines = ("a2-highgpu-8g", "g2-standard-48", "g2-standard-8")
    return {
        "auth_list": [{"account": "ann@acme.example"}],
        "print__access__token": "token",
        "projects_describe": {"projectNumber": ground.project_number, "lifecycleState": "ACTIVE"},
        "billing_describe": {
            "billingEnabled": True,
            "billingAccountName": f"billingAccounts/{ground.billing.account}",
        },
        "services_list": [
            {"config": {"name": f"{name}.googleapis.com"}} for name in ("serviceusage", "cloudresourcemanager")
        ],
        "regions_describe": {"quotas": [{"metric": each, "limit": 100, "usage": 0} for each in ALL_METRICS] + CPUS},
        "project__info_describe": {
            "quotas": [
                {"metric": metric, "limit": 100, "usage": 0} for metric in ("GPUS_ALL_REGIONS", "CPUS_ALL_REGIONS")
            ]
        },
        "machine__types_list": [
            {"name": name, "zone": f"https://x/zones/{zone}"} for name in machines for zone in ground.zones
        ],
        "get__server__config": {
            "channels": [
                {"channel": "REGULAR", "validVersions": [f"{subject.plan.clusters[0].kubernetes_version}.3-gke.1"]}
            ]
        },
        "clusters_list": [STANDING],
        "networks_list": [{"name": "network-vpc-1a2b3c4"}, {"name": "default"}],
        "networks_subnets_list": [subnet("network-vpc-1a2b3c4", "10.0.0.0/20"), subnet("default", "10.128.0.0/20")],
    }


def subnet(network: str, cidr: str, *secondary: str) -> dict[str, Any]:
    return {
        "network": f"https://x/networks/{network}",
        "ipCidrRange": cidr,
        "secondaryIpRanges": [{"ipCidrRange": each} for each in secondary],
    }


Ask = Callable[..., list[Line]]


@pytest.fixture
def ask(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, iam: Iam) -> Ask:
    desk = Desk(tmp_path)
    monkeypatch.setattr(endpoint, "reaches", lambda host, port: (host, port) == (HOST, 443))
    monkeypatch.setenv("PATH", str(desk.bin))

    def asked(*names: str, of: Subject | None = None, **changed: Any) -> list[Line]:
        answers = {}
        for words, answer in (well(subject) | changed).items():
            failing = isinstance(answer, str) and answer.startswith("ERROR")
            answers[words] = {"rc": 1, "err": answer} if failing else {"out": json.dumps(answer)}
        # `projects describe` is in `billing projects describe` too: the longer one is asked first.
        order = sorted(answers, key=lambda words: -len(words.split("_")) - ("billing" in words))
        desk.put("gcloud", **{words: answers[words] for words in order})
        lines: list[Line] = []
        for name, _, check in QUESTIONS:
            if not names or name in names:
                lines += check(of or subject)
        return lines

    return asked


def of(lines: list[Line], answer: Answer) -> dict[str, str]:
    return {line.what: line.told for line in lines if line.answer is answer}


def test_where_all_is_well_all_is_fine(ask: Ask) -> None:
    lines = ask()
    assert [line for line in lines if line.answer is not FINE] == []
    assert {line.check for line in lines} == {name for name, _, _ in QUESTIONS} - SILENT


@pytest.mark.parametrize(
    ("name", "changed", "what", "said"),
    [
        (
            "project",
            {"projects_describe": {"projectNumber": "1", "lifecycleState": "ACTIVE"}},
            "acme-ml",
            "its number is 1",
        ),
        ("project", {"projects_describe": {"lifecycleState": "DELETE_REQUESTED"}}, "acme-ml", "DELETE_REQUESTED"),
        ("project", {"billing_describe": {"billingEnabled": False}}, "billing", "no billing account"),
        (
            "project",
            {"billing_describe": {"billingEnabled": True, "billingAccountName": "billingAccounts/0"}},
            "billing",
            "it would stay at 0",
        ),
        ("project", {"services_list": []}, "serviceusage.googleapis.com", "it is off"),
        (
            "quotas",
            {"regions_describe": {"quotas": [{"metric": "NVIDIA_A100_GPUS", "limit": 4, "usage": 0}]}},
            "NVIDIA_A100_GPUS in us-central1",
            "8 are needed at most, 0 are used, 4 are allowed",
        ),
        (
            "quotas",
            {"project__info_describe": {"quotas": [{"metric": "GPUS_ALL_REGIONS", "limit": 0, "usage": 0}]}},
            "GPUS_ALL_REGIONS in all regions",
            "16 are needed",
        ),
        (
            "quotas",
            {"regions_describe": {"quotas": [{"metric": "CPUS", "limit": 24, "usage": 4}]}},
            "CPUS in us-central1",
            "72 are needed at most, 4 are used, 24 are allowed",
        ),
        (
            "endpoint",
            {"clusters_list": [STANDING | {"controlPlaneEndpointsConfig": {}}]},
            "acme-demo-gcp",
            "its API has no name",
        ),
        ("offerings", {"machine__types_list": []}, "train-spot", "has a2-highgpu-8g"),
        (
            "versions",
            {"get__server__config": {"channels": [{"channel": "REGULAR", "validVersions": ["1.33.1"]}]}},
            "Kubernetes 1.35",
            "has 1.33",
        ),
        ("already there", {"clusters_list": [{"name": "acme-demo-gcp"}]}, "acme-demo-gcp", "not this stack's"),
        ("identity", {"print__access__token": "ERROR: application-default login"}, "credentials", "none that hold"),
    ],
)
def test_what_is_wrong_fails_and_says_so(ask: Ask, name: str, changed: dict[str, Any], what: str, said: str) -> None:
    assert said in of(ask(name, **changed), FAILS)[what]


def test_a_quota_that_is_too_small_comes_with_its_request(ask: Ask) -> None:
    small = {"quotas": [{"metric": each, "limit": 2, "usage": 1} for each in ALL_METRICS]}
    commands = {line.what: line.command for line in ask("quotas", regions_describe=small)}
    assert commands["NVIDIA_A100_GPUS in us-central1"] == (
        "gcloud beta quotas preferences create --service=compute.googleapis.com --project=acme-ml"
        " --quota-id=NVIDIA-A100-GPUS-per-project-region --preferred-value=9 --dimensions=region=us-central1"
    )


def test_the_stacks_own_cluster_is_no_clash(ask: Ask) -> None:
    assert not of(ask("already there", clusters_list=[STANDING]), FAILS)


def test_a_quota_that_is_not_listed_is_not_known(ask: Ask) -> None:
    lines = ask("quotas", regions_describe={"quotas": []})
    wanted = (*ALL_METRICS, "CPUS", "A2_CPUS")
    assert set(of(lines, UNKNOWN)) == {f"{metric} in us-central1" for metric in wanted}


def test_spot_takes_its_familys_vcpus_where_the_project_has_none_of_spot(ask: Ask) -> None:
    def told(spot: int) -> dict[str, str]:
        quotas = [each if each["metric"] != "PREEMPTIBLE_CPUS" else each | {"limit": spot} for each in CPUS]
        return of(ask("quotas", regions_describe={"quotas": quotas}), FINE)

    assert told(0)["A2_CPUS in us-central1"].startswith("288 are needed")
    assert "PREEMPTIBLE_CPUS in us-central1" not in told(0)
    assert told(500)["A2_CPUS in us-central1"].startswith("96 are needed")
    assert told(500)["PREEMPTIBLE_CPUS in us-central1"].startswith("192 are needed")


def test_rights_are_tested_as_the_program_in_the_project_and_on_the_bill(ask: Ask, iam: Iam, subject: Subject) -> None:
    assert not of(ask("rights"), FAILS)
    account = subject.plan.ground.billing.account
    assert set(iam.asked) == {
        "/v1/projects/acme-ml:testIamPermissions", f"/v1/billingAccounts/{account}:testIamPermissions",
    }  # fmt: skip
    assert iam.headers[0]["X-Goog-User-Project"] == "acme-ml" and "token" in iam.headers[0]["Authorization"]


@pytest.mark.parametrize(
    "permission", ["container.clusters.create", "cloudsql.instances.create", "billing.budgets.create"]
)
def test_a_right_that_is_missing_fails(ask: Ask, iam: Iam, permission: str) -> None:
    iam.denied = {permission}
    assert list(of(ask("rights"), FAILS)) == [permission]


def test_what_an_owner_has_on_each_bucket_alone_is_not_known(ask: Ask, iam: Iam) -> None:
    iam.denied = {"storage.buckets.get", "storage.buckets.getIamPolicy", "storage.managedFolders.create"}
    lines = ask("rights")
    assert set(of(lines, UNKNOWN)) == iam.denied and not of(lines, FAILS)


def test_one_permission_that_is_tested_nowhere_hides_no_other(ask: Ask, iam: Iam) -> None:
    iam.unheard, iam.denied = {"dns.changes.create"}, {"compute.networks.create"}
    lines = ask("rights")
    assert list(of(lines, UNKNOWN)) == ["dns.changes.create"]
    assert list(of(lines, FAILS)) == ["compute.networks.create"]


def test_who_may_not_ask_about_rights_is_told_why(ask: Ask, iam: Iam, subject: Subject) -> None:
    iam.refuses = True
    ask("versions")
    (line,) = (line for line in look(subject)[0] if line.check == "rights")
    assert line.answer is UNKNOWN and "HTTP 403" in line.told and "serviceusage.services.use" in line.remedy


@pytest.mark.parametrize(
    ("kind", "permission"),
    [
        ("backupPlan:BackupPlan", "backupdr.backupVaults.associate"),
        ("backupPlan:BackupPlan", "backupdr.operations.get"),
        ("backupPlanAssociation:BackupPlanAssociation", "file.instances.updateBackupDrConfig"),
        ("backupPlanAssociation:BackupPlanAssociation", "backupdr.backupPlanAssociations.getForFilestoreInstance"),
    ],
)
def test_backing_up_files_takes_rights_on_the_vault_and_on_the_share(kind: str, permission: str) -> None:
    assert permission in rights.permissions_of(f"gcp:backupdisasterrecovery/{kind}")


def test_every_kind_that_the_cards_know_has_its_permissions() -> None:
    files = sorted((ROOT / "trainyard" / "cards").glob("gcp*.yaml"))
    cards = [type_ for file in files for type_ in yaml.safe_load(file.read_text())]
    without = {type_ for type_ in cards if type_.startswith("gcp:") and not rights.permissions_of(type_)}
    assert without == {GCP_BUDGET}, "which is the billing account's"


def test_a_network_that_shall_reach_the_api_and_overlaps_fails(ask: Ask, subject: Subject) -> None:
    (control,) = subject.plan.ground.control_planes
    ways = (("office", "10.1.0.0/16"), ("home", "203.0.113.7/32"))
    ground = replace(subject.plan.ground, control_planes=(replace(control, api_networks=ways),))
    changed = replace(subject, plan=replace(subject.plan, ground=ground))
    assert list(of(ask("addresses", of=changed), FAILS)) == ["office"]


@pytest.mark.parametrize(
    ("cidrs", "peerings", "told"),
    [
        (("10.2.0.0/16",), [], "joined to nothing"),
        (("192.168.0.0/24", "172.20.8.0/22"), [{"name": "to-hub", "state": "ACTIVE"}], "peering to-hub"),
        (("10.0.0.0/20",), [{"name": "to-hub", "state": "INACTIVE"}], "joined to nothing"),
    ],
)
def test_a_network_of_the_project_that_overlaps_is_told(
    ask: Ask, cidrs: tuple[str, ...], peerings: list[Any], told: str
) -> None:
    hub = {"name": "hub", "peerings": peerings}
    lines = ask("addresses", networks_list=[hub], networks_subnets_list=[subnet("hub", *cidrs)])
    assert told in of(lines, UNKNOWN)["hub"]


def test_a_cluster_that_does_not_answer_fails_and_one_to_come_is_not_known(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(of(ask("endpoint", clusters_list=[]), UNKNOWN)) == ["acme-demo-gcp"]
    monkeypatch.setattr(endpoint, "reaches", lambda *_: False)
    assert "does not answer" in of(ask("endpoint"), FAILS)["acme-demo-gcp"]


RESERVED = {
    "status": "READY",
    "specificReservationRequired": True,
    "specificReservation": {
        "count": "4", "inUseCount": "0", "instanceProperties": {"machineType": "a3-ultragpu-8g"},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def reserving() -> Subject:
    return Subject("large-gcp", resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.large-gcp.yaml").plan, Resources(()))


def reserved(**specific: Any) -> dict[str, Any]:
    return RESERVED | {"specificReservation": RESERVED["specificReservation"] | specific}


@pytest.mark.parametrize(
    ("found", "answer", "told"),
    [
        (RESERVED, FINE, "4 × a3-ultragpu-8g, 4 free"),
        (reserved(inUseCount="1"), UNKNOWN, "3 free: the nodes are 4"),
        (reserved(count="2"), FAILS, "it has 2 machines, the nodes are 4"),
        (reserved(instanceProperties={"machineType": "a3-megagpu-8g"}), FAILS, "it is of a3-megagpu-8g"),
        (RESERVED | {"specificReservationRequired": False}, FAILS, "not used by name"),
        (RESERVED | {"status": "CREATING"}, UNKNOWN, "creating"),
        (RESERVED | {"status": "DELETING"}, FAILS, "it is DELETING"),
        ("ERROR: The resource 'projects/x/reservations/y' was not found", FAILS, "has no reservation northwind-h200"),
    ],
)
def test_a_reservation_is_looked_at(ask: Ask, reserving: Subject, found: Any, answer: Answer, told: str) -> None:
    (line,) = ask("capacity", of=reserving, reservations_describe=found)
    assert line.answer is answer and told in line.told
    assert line.what.partition("/")[0] == "train-reserved: northwind-h200"


def test_a_reservation_of_another_project_has_to_be_shared(ask: Ask, reserving: Subject) -> None:
    (cluster,) = reserving.plan.clusters
    id_ = "projects/other-ml/reservations/h200/reservationBlocks/one"
    pools = tuple(
        replace(
            pool,
            node_groups=tuple(
                replace(each, reservation=replace(each.reservation, id=id_)) if each.reservation else each
                for each in pool.node_groups
            ),
        )
        for pool in cluster.pools
    )
    plan = replace(reserving.plan, clusters=(replace(cluster, pools=pools),))
    changed = replace(reserving, plan=plan)
    (line,) = ask("capacity", of=changed, reservations_describe=RESERVED)
    assert line.answer is FAILS and "shares it with nobody" in line.told
    shared = RESERVED | {"shareSettings": {"shareType": "SPECIFIC_PROJECTS"}}
    (line,) = ask("capacity", of=changed, reservations_describe=shared)
    assert line.answer is FINE


def test_nobody_to_ask_as_is_told_once(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("gcloud") is None
    lines, somebody = look(subject)
    assert not somebody
    assert [line.answer for line in lines].count(FAILS) == 1
    assert [line for line in lines if line.remedy and line.check != "quotas"] == [
        line for line in lines if line.check == "identity"
    ]


def test_one_refusal_does_not_end_the_others(subject: Subject, ask: Ask) -> None:
    ask("versions", machine__types_list="ERROR: permission compute.machineTypes.list denied")
    lines, somebody = look(subject)
    assert somebody
    assert {line.check for line in lines} == {name for name, _, _ in QUESTIONS} - SILENT
    (told,) = (line for line in lines if line.check == "offerings")
    assert told.answer is UNKNOWN
    assert "machineTypes.list" in told.told
