"""The egress proxy: what is made, and what a real Squid does with its configuration."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.components.k8s.addresses import ADDRESSES
from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.components.k8s.mlflow_support import free_port
from tests.pulumi_harness import Recording, record
from trainyard.components.k8s.egress_proxy import SQUID_UID, EgressProxy, client_environment, squid_configuration

IMAGE = "ubuntu/squid:6.6@sha256:" + "0" * 64
ALLOW = ["allowed.example", ".wide.example"]
SQUID = shutil.which("squid") or ("/usr/sbin/squid" if Path("/usr/sbin/squid").exists() else "")


def run(**changes: Any) -> Recording:
    args: Any = {
        "image": IMAGE,
        "allow": ALLOW,
        "addresses": ADDRESSES,
        "direct": [".store.example"],
        "team_namespaces": {"vision": "team-vision"},
        **changes,
    }
    return record(lambda: EgressProxy("egress", args))


def test_every_object_is_valid() -> None:
    # Namespace, two network policies, configuration, account, deployment, service, budget, and a team's ConfigMap.
    assert check_plain_objects(run()) == 9


def test_the_walls_stand_before_the_first_pod() -> None:
    recording = run()
    waits = depends_on(recording, recording.one("kubernetes:apps/v1:Deployment"))
    assert {"egress-default-deny", "egress-allow-platform", "egress-configuration"} <= waits


def test_another_list_is_another_pod() -> None:
    one, other = (
        recording.one("kubernetes:apps/v1:Deployment").inputs["spec"]["template"]["metadata"]["annotations"]
        for recording in (run(), run(allow=["other.example"]))
    )
    assert one != other


def test_clients_find_it_and_go_to_the_store_directly() -> None:
    (config,) = [
        found for found in run().of_type("kubernetes:core/v1:ConfigMap") if found.inputs["metadata"]["name"] == "egress"
    ]
    assert config.inputs["metadata"]["namespace"] == "team-vision"
    assert config.inputs["data"] == client_environment([".store.example"])
    assert config.inputs["data"]["HTTPS_PROXY"] == "http://egress-proxy.egress-proxy.svc.cluster.local:3128"
    assert ".store.example" in config.inputs["data"]["no_proxy"]


def test_an_image_without_a_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="digest"):
        run(image="ubuntu/squid:latest")


def test_a_name_below_another_of_the_list_goes_with_it() -> None:
    """Squid does not start with both."""
    text = squid_configuration([".hf.co", "hf.co", "cdn.hf.co", ".lfs.hf.co", "nothf.co"])
    assert [line.split()[-1] for line in text.splitlines() if "dstdomain" in line] == [".hf.co", "nothf.co"]


@pytest.fixture(scope="module")
def doors() -> Iterator[tuple[int, int]]:
    """Squid with the shipped configuration, but for its ports, and names that it finds in a file; its ports."""
    if not SQUID:
        pytest.skip("no Squid here")
    with tempfile.TemporaryDirectory() as name:
        yield from _squid(Path(name), free_port())


@pytest.fixture(scope="module")
def squid(doors: tuple[int, int]) -> int:
    """The teams' port."""
    return doors[0]


def _squid(folder: Path, port: int) -> Iterator[tuple[int, int]]:
    folder.chmod(0o755)
    (folder / "hosts").write_text(
        "203.0.113.7 keys.example allowed.example deep.wide.example wide.example\n"
        "127.0.0.1 rebound.wide.example\n10.0.0.1 private.wide.example\n169.254.169.254 metadata.wide.example\n"
    )
    door = free_port()
    text = squid_configuration(ALLOW, ["keys.example"]).replace("http_port 3128", f"http_port 127.0.0.1:{port}")
    text = text.replace("http_port 3129", f"http_port 127.0.0.1:{door}").replace("localport 3129", f"localport {door}")
    text = text.replace("stdio:/dev/stdout", "none")
    text += f"hosts_file {folder}/hosts\nconnect_timeout 1 second\nconnect_retries 0\nforward_timeout 1 second\n"
    text += "dns_nameservers 127.0.0.1\ndns_timeout 1 second\n"
    (folder / "squid.conf").write_text(text)
    with subprocess.Popen(
        [SQUID, "-N", "-d", "1", "-n", f"test{port}", "-f", str(folder / "squid.conf")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        user=SQUID_UID if os.geteuid() == 0 else None,  # as in its pod; it refuses to run as root
    ) as process:
        try:
            until = time.monotonic() + 300
            while time.monotonic() < until:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                if process.poll() is not None:
                    pytest.fail(process.stderr.read() if process.stderr else "Squid ended")
                time.sleep(0.1)
            yield port, door
        finally:
            process.terminate()


def answer(port: int, request: str) -> int:
    """The status of what the proxy answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as client:
        client.sendall(f"{request} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return int(client.recv(200).split()[1])


@pytest.mark.parametrize("name", ["allowed.example", "deep.wide.example", "wide.example", "ALLOWED.example"])
def test_a_listed_name_is_opened(squid: int, name: str) -> None:
    """Nobody answers at an address of documentation: what was allowed fails there, and is not refused."""
    assert answer(squid, f"CONNECT {name}:443") in (200, 503, 504)


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT evil.example:443",
        "CONNECT notallowed.example:443",
        "CONNECT sub.allowed.example:443",
        "CONNECT allowed.example.evil.example:443",
        "CONNECT 203.0.113.7:443",
        "CONNECT [::1]:443",
        "CONNECT 127.0.0.1:443",
        "CONNECT 169.254.169.254:443",
        "CONNECT allowed.example:22",
        "CONNECT allowed.example:80",
        "GET http://allowed.example/",
        "GET http://169.254.169.254/latest/meta-data/",
        "POST http://allowed.example/",
        "CONNECT rebound.wide.example:443",
        "CONNECT private.wide.example:443",
        "CONNECT metadata.wide.example:443",
        "GET cache_object://localhost/info",
    ],
)
def test_everything_else_is_refused(squid: int, request_line: str) -> None:
    assert answer(squid, request_line) in (400, 403, 404)


def test_the_tracking_servers_door_leads_to_the_keys_alone(doors: tuple[int, int]) -> None:
    teams, door = doors
    assert answer(door, "CONNECT keys.example:443") in (200, 503, 504)
    assert answer(teams, "CONNECT keys.example:443") == 403
    for asked in ("CONNECT allowed.example:443", "CONNECT keys.example:80", "CONNECT sub.keys.example:443"):
        assert answer(door, asked) == 403
    assert answer(door, "GET http://keys.example/") == 403


def test_the_door_is_there_where_somebody_signs_on() -> None:
    """And nothing is another without: a proxy that stands is not replaced."""
    assert "3129" not in squid_configuration(ALLOW)
    recording = run(sign_on={"pods": [{"namespace": "mlflow"}], "names": ["keys.example"]})
    assert check_plain_objects(recording) == 9
    ports = recording.one("kubernetes:core/v1:Service").inputs["spec"]["ports"]
    assert [(port["name"], port["port"]) for port in ports] == [("proxy", 3128), ("sign-on", 3129)]
    (policy,) = [
        found.inputs["spec"]
        for found in recording.of_type("kubernetes:networking.k8s.io/v1:NetworkPolicy")
        if found.inputs["metadata"]["name"] == "allow-platform"
    ]
    (way,) = [rule for rule in policy["ingress"] if rule["ports"][0]["port"] == 3129]
    assert way["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "mlflow"}}}]
    assert "http_access deny !door all" in squid_configuration([], ["keys.example"])
