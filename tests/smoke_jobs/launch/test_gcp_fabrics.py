"""The job on Google Cloud's fast networks: what its pods ask for, and that they never train over sockets unseen."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from tests.smoke_jobs.launch.support import GPU_POOL
from trainyard.conventions.gpudirect import TRANSPORTS as TRANSPORTS_OVER_TCP
from trainyard.smoke_jobs.ddp import nccl_log
from trainyard.smoke_jobs.ddp.options import TRANSPORTS
from trainyard.smoke_jobs.launch import trainjob
from trainyard.smoke_jobs.launch.gcp_fabrics import FABRICS, NICS, RDMA_FABRICS, TRANSPORT
from trainyard.smoke_jobs.launch.job import LaunchError, SmokeSpec, worker_options
from trainyard.smoke_jobs.launch.kubernetes import Deferred, Rendering, render

PLAIN = replace(
    GPU_POOL, instance="a3-ultragpu-8g", transport="", fabric_resource="", fabric_interfaces=0, hugepages_mib=0
)


DAEMON = "us-docker.pkg.dev/gce-ai-infra/gpudirect/daemon:v1"
OVER_TCP = tuple(TRANSPORTS_OVER_TCP)


def spec(fabric: str, **changes: Any) -> SmokeSpec:
    own = {"fabric_daemon": DAEMON} if fabric in OVER_TCP else {}
    return replace(PLAIN, fabric=fabric, transport=TRANSPORT, **own, **changes)


def rendered(fabric: str) -> Rendering:
    return render(spec(fabric))


def template(fabric: str) -> dict[str, Any]:
    found: dict[str, Any] = rendered(fabric).job["spec"]["template"]
    return found


def worker(fabric: str) -> dict[str, Any]:
    found: dict[str, Any] = template(fabric)["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("fabric", FABRICS)
def test_objects_are_valid(fabric: str) -> None:
    for manifest in rendered(fabric).manifests:
        kubernetes_validate.validate(manifest, "1.35", strict=True)


@pytest.mark.parametrize("fabric", FABRICS)
def test_the_worker_proves_the_transport(fabric: str) -> None:
    options = json.loads(next(item["value"] for item in worker(fabric)["env"] if item["name"] == "SMOKE_OPTIONS"))
    assert options["expect_transport"] == TRANSPORT and TRANSPORT in TRANSPORTS


def test_nccls_own_words_for_these_networks_are_that_transport() -> None:
    for name in ("gIB", "FasTrak", "GPUDirectTCPX_v7"):
        assert nccl_log.kind(name, set()) == TRANSPORT
    assert nccl_log.kind("Socket", set()) == "socket" and nccl_log.kind("IB", set()) == "ib"


def test_without_a_fabric_nothing_changes() -> None:
    plain = render(PLAIN)
    assert plain.more == () and "annotations" not in plain.job["spec"]["template"]["metadata"]
    assert plain.job["spec"]["template"]["spec"]["containers"][0]["command"][0] == "python3"
    assert not any("hostPath" in volume for volume in plain.job["spec"]["template"]["spec"]["volumes"])


def test_dranet_claims_every_interface_and_touches_nothing_of_the_node() -> None:
    found = rendered("gib-dranet")
    (claim,) = found.more
    asked = claim["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert (asked["deviceClassName"], asked["count"]) == ("mrdma.google.com", NICS)
    pod = found.job["spec"]["template"]["spec"]
    assert pod["resourceClaims"] == [{"name": "fabric", "resourceClaimTemplateName": claim["metadata"]["name"]}]
    assert pod["containers"][0]["resources"]["claims"] == [{"name": "fabric"}]
    assert claim["metadata"]["namespace"] == "team-vision"
    assert not any("hostPath" in volume for volume in pod["volumes"])
    assert pod["containers"][0]["securityContext"]["allowPrivilegeEscalation"] is False


def test_a_claim_waits_for_its_namespace_as_the_job_does() -> None:
    nowhere = render(spec("gib-dranet", namespace=""), Deferred("team-a"))
    assert {manifest["metadata"]["namespace"] for manifest in nowhere.manifests} == {"team-a"}
    assert nowhere.name == rendered("gib-dranet").name


def interfaces(fabric: str) -> list[dict[str, str]]:
    annotations = template(fabric)["metadata"]["annotations"]
    assert annotations["networking.gke.io/default-interface"] == "eth0"
    found: list[dict[str, str]] = json.loads(annotations["networking.gke.io/interfaces"])
    return found


def test_roce_networks_come_after_the_second_card() -> None:
    names = [item["network"] for item in interfaces("gib")]
    assert names == ["default", "gvnic-1", *(f"rdma-{index}" for index in range(8))]
    assert [item["interfaceName"] for item in interfaces("gib")] == [f"eth{index}" for index in range(10)]
    mounted = {item["name"]: item["mountPath"] for item in worker("gib")["volumeMounts"]}
    assert mounted["gib"] == "/usr/local/gib"


@pytest.mark.parametrize(("fabric", "count", "added"), [("tcpxo", 8, "NET_BIND_SERVICE"), ("tcpx", 4, "NET_ADMIN")])
def test_a_network_an_interface_and_the_daemon_beside_the_worker(fabric: str, count: int, added: str) -> None:
    assert [item["network"] for item in interfaces(fabric)] == ["default", *(f"vpc{n + 1}" for n in range(count))]
    pod = template(fabric)
    (daemon,) = [item for item in pod["spec"]["initContainers"] if item["name"] == f"{fabric}-daemon"]
    assert daemon["image"] == DAEMON
    assert daemon["restartPolicy"] == "Always", "a sidecar: the job ends although it runs"
    assert {"NET_ADMIN", added} == set(daemon["securityContext"]["capabilities"]["add"])
    devices = json.loads(pod["metadata"]["annotations"][f"devices.gke.io/container.{fabric}-daemon"])
    named = [device["path"] for device in devices]
    assert len([path for path in named if path.startswith("/dev/nvidia")]) == 10
    assert ("/dev/dmabuf_import_helper" in named) is (fabric == "tcpxo")
    assert worker(fabric)["securityContext"].get("capabilities", {}).get("add") is None


@pytest.mark.parametrize(("fabric", "name"), [("tcpxo", "FasTrak"), ("tcpx", "GPUDirectTCPX_v7")])
def test_over_tcp_nccl_has_no_other_network_and_the_plug_in_is_the_nodes(fabric: str, name: str) -> None:
    variables = {item["name"]: item.get("value") for item in worker(fabric)["env"]}
    assert (variables["NCCL_NET"], variables["LD_LIBRARY_PATH"]) == (name, "/usr/local/nvidia/lib64")
    assert nccl_log.kind(name, set()) == TRANSPORT
    own = {mount["mountPath"] for mount in worker(fabric)["volumeMounts"]}
    assert "/usr/local/nvidia/lib64" not in own, "the device plug-in mounts it, read-only"


def test_the_image_of_the_daemon_goes_with_its_fabric() -> None:
    for wrong in (replace(spec("tcpxo"), fabric_daemon=""), replace(spec("gib"), fabric_daemon=DAEMON)):
        with pytest.raises(LaunchError, match="the image of the daemon goes with tcpx or tcpxo"):
            render(wrong)


@pytest.mark.parametrize("fabric", RDMA_FABRICS)
def test_a_worker_whose_plug_in_is_missing_ends_before_it_trains(fabric: str, tmp_path: Path) -> None:
    command = [part.replace("python3", "echo") for part in worker(fabric)["command"]]
    assert command[-2] == "echo"
    absent = subprocess.run(command, capture_output=True, text=True, check=False)
    assert absent.returncode != 0 and absent.stdout == ""
    script = tmp_path / "variables.sh"
    script.write_text("export NCCL_TUNED=1\n")
    place = command[2].split(". ")[1].partition(";")[0]
    there = [part.replace(place, str(script)) for part in command]
    ran = subprocess.run(there, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == worker(fabric)["command"][-1]


def test_each_fabric_is_another_job() -> None:
    assert len({rendered(fabric).name for fabric in FABRICS} | {render(PLAIN).name}) == len(FABRICS) + 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fabric": "tcp"}, "one of gib-dranet, gib, tcpx, tcpxo"),
        ({"transport": ""}, "has to prove gpudirect"),
        ({"transport": "efa"}, "transport is efa"),
    ],
)
def test_what_cannot_be_is_said(changes: dict[str, str], said: str) -> None:
    with pytest.raises(LaunchError, match=said):
        render(replace(spec("gib"), **changes))


def test_a_trainjob_cannot_carry_it() -> None:
    with pytest.raises(LaunchError, match="not for target trainjob"):
        trainjob.render(spec("gib-dranet"))


def test_every_adapter_of_a_rdma_fabric_is_missed_and_none_of_tcpxo() -> None:
    for fabric, adapters in (("gib-dranet", 8), ("gib", 8), ("tcpx", 0), ("tcpxo", 0)):
        assert worker_options(spec(fabric), "kubernetes").expect_adapters == adapters, fabric
    assert worker_options(spec("gib", nodes=1), "kubernetes").expect_adapters == 0
    assert worker_options(spec("", adapters=4), "kubernetes").expect_adapters == 4
