"""The checkpoint tier on a real S3 protocol (moto's server), through a proxy that injects faults."""

import gc
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
import torch
import torch.distributed as dist
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultSavePlanner

from tests.smoke_jobs.ports import free_ports
from trainyard.smoke_jobs.ddp import check_checkpoint, checkpoints, tier
from trainyard.smoke_jobs.ddp.checkpoints import Refused, newest_whole, read_manifest, restore, save
from trainyard.smoke_jobs.ddp.options import Options
from trainyard.smoke_jobs.ddp.result import CheckFailed
from trainyard.smoke_jobs.ddp.tier import DirectoryTier, Missing, S3Tier, Tier, TierError

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


REFUSALS = {"403": "AccessDenied", "500": "InternalError"}


class FaultProxy:
    """Passes requests on to moto, except for the first `times` that match, which suffer `fault`."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.lock = threading.Lock()
        self.clear()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                fault = proxy.take(self.command, self.path)
                if fault == "503":
                    text = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate</Message></Error>"
                    self.send_response(503)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                    return
                if fault in ("403", "500"):
                    text = f"<Error><Code>{REFUSALS[fault]}</Code><Message>no</Message></Error>".encode()
                    self.send_response(int(fault))
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                    return
                if fault == "silent":  # accepts, and never answers
                    time.sleep(5)
                    self.close_connection = True
                    return
                if fault == "cut":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if fault == "slow":
                    time.sleep(0.5)
                hop = ("connection", "accept-encoding", "transfer-encoding", "expect", "content-length")
                headers = {k: v for k, v in self.headers.items() if k.lower() not in hop}
                connection = http.client.HTTPConnection(proxy.target.removeprefix("http://"), timeout=30)
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                status, answered, data = answer.status, answer.headers, answer.read()
                connection.close()
                self.send_response(status)
                for key, value in answered.items():
                    if key.lower() not in ("transfer-encoding", "connection", "content-length", "server", "date"):
                        self.send_header(key, value)
                size = answered.get("Content-Length", str(len(data))) if self.command == "HEAD" else str(len(data))
                self.send_header("Content-Length", size)
                self.end_headers()
                if fault == "short":  # promises all, sends half, hangs up
                    data = data[: len(data) // 2]
                    self.close_connection = True
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815 - the base class names them

            def log_message(self, *args: object) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def clear(self) -> None:
        self.fault, self.pattern, self.left, self.hits = "", re.compile("$^"), 0, 0

    def inject(self, fault: str, pattern: str, times: int) -> None:
        self.fault, self.pattern, self.left, self.hits = fault, re.compile(pattern), times, 0

    def take(self, method: str, path: str) -> str:
        with self.lock:
            if self.left > 0 and self.pattern.search(f"{method} {path}"):
                self.left -= 1
                self.hits += 1
                return self.fault
            return ""


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 300
    while True:
        try:
            urllib.request.urlopen(url, timeout=2)
            break
        except OSError:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.2)
    yield url
    process.terminate()
    process.wait()


@pytest.fixture(scope="module")
def proxy(moto: str) -> FaultProxy:
    return FaultProxy(moto)


@pytest.fixture
def s3(proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> S3Tier:
    for key, value in (KEYS | {"AWS_ENDPOINT_URL": proxy.url}).items():
        monkeypatch.setenv(key, value)
    proxy.clear()
    boto3.client("s3").create_bucket(Bucket="checkpoints")
    monkeypatch.setattr(tier, "BACKOFF_S", 0.01)
    return S3Tier(f"s3://checkpoints/{abs(hash(request.node.name))}")


@pytest.fixture(params=["directory", "s3"])
def any_tier(request: pytest.FixtureRequest, tmp_path: Path) -> Tier:
    return DirectoryTier(tmp_path / "tier") if request.param == "directory" else request.getfixturevalue("s3")


def state(value: float) -> dict[str, Any]:
    return {"w": torch.full((64, 64), value), "view": torch.arange(100.0)[::3], "step": torch.tensor(int(value))}


def loaded(where: Tier, step: int) -> dict[str, Any]:
    flat = {"w": torch.zeros(64, 64), "view": torch.zeros(34), "step": torch.tensor(0)}
    restore(flat, where, step)
    return flat


def test_blobs_come_back_and_listings_tell_sizes(any_tier: Tier) -> None:
    any_tier.put("a/one", b"12345")
    any_tier.put("a/one", b"123")  # again, shorter
    any_tier.put("b", b"")
    assert any_tier.get("a/one") == b"123" and any_tier.get("b") == b""
    assert any_tier.sizes("") == {"a/one": 3, "b": 0} and any_tier.sizes("a") == {"a/one": 3}
    any_tier.delete("a/one")
    any_tier.delete("a/one")
    with pytest.raises(Missing, match="a/one"):
        any_tier.get("a/one")


def test_a_checkpoint_is_restored_bit_for_bit_and_the_pointer_comes_last(any_tier: Tier) -> None:
    order: list[str] = []
    put = any_tier.put
    any_tier.put = lambda name, data: (order.append(name), put(name, data))[1]  # type: ignore[method-assign]
    save(state(1), any_tier, 1)
    save(state(2), any_tier, 2)
    assert order[:4] == [
        "step-00000001/rank-00000", "step-00000001/metadata", "step-00000001/manifest.json", "latest.json",
    ]  # fmt: skip
    assert newest_whole(any_tier).step == 2
    back = loaded(any_tier, 2)
    assert all(torch.equal(back[key], value) for key, value in state(2).items())
    assert json.loads(any_tier.get("latest.json"))["step"] == 2
    checkpoints.prune(any_tier, keep=1)
    assert checkpoints.steps_on(any_tier) == [2]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda t: t.put("step-00000002/rank-00000", t.get("step-00000002/rank-00000")[:-9]), "cut short"),
        (lambda t: t.put("step-00000002/metadata", t.get("step-00000002/metadata")[::-1]), "sha256 differs"),
        (lambda t: t.delete("step-00000002/rank-00000"), "rank-00000 is missing"),
        (lambda t: t.delete("step-00000002/manifest.json"), "no manifest, so it was not finished"),
        (lambda t: t.put("step-00000002/manifest.json", b'{"step"'), "manifest.json is damaged"),
        (
            lambda t: t.put("step-00000002/manifest.json", t.get("step-00000001/manifest.json")),
            "belongs to another step",
        ),
    ],
)
def test_a_checkpoint_that_is_not_whole_is_refused_and_the_one_before_taken(
    any_tier: Tier, damage: Callable[[Tier], None], reason: str
) -> None:
    save(state(1), any_tier, 1)
    save(state(2), any_tier, 2)
    damage(any_tier)
    found = newest_whole(any_tier)
    assert found.step == 1
    assert reason in found.refused[0]
    with pytest.raises((Refused, CheckpointException)):
        loaded(any_tier, 2)
    assert torch.equal(loaded(any_tier, 1)["w"], state(1)["w"])


def test_tensors_of_every_kind_come_back_bit_for_bit(any_tier: Tier) -> None:
    kept = {
        "half": torch.randn(3, 5).to(torch.bfloat16),
        "small": torch.randint(-128, 127, (7,), dtype=torch.int8),
        "flags": torch.tensor([[True], [False]]),
        "turned": torch.arange(12.0).reshape(3, 4).t(),
        "complex": torch.randn(2, 2, dtype=torch.complex64),
        "none": torch.empty(0, 4),
        "one": torch.tensor(7, dtype=torch.int64),
        "word": "two",
    }
    save(kept, any_tier, 1)
    found = {name: torch.zeros_like(value) if isinstance(value, torch.Tensor) else "" for name, value in kept.items()}
    restore(found, any_tier, 1)
    for name, value in kept.items():
        same = torch.equal(found[name], value) if isinstance(value, torch.Tensor) else found[name] == value
        assert same, name


def held() -> int:
    """Bytes of the tensors that are there."""
    storages = {
        each.untyped_storage().data_ptr(): each.untyped_storage().nbytes()
        for each in gc.get_objects()
        if type(each) is torch.Tensor
    }
    return sum(storages.values())


def test_a_share_is_held_once_beside_the_tensors_themselves(tmp_path: Path) -> None:
    """A machine's memory is a multiple of its GPUs', but not of all that its ranks save at once."""
    where = DirectoryTier(tmp_path)
    turned = [torch.ones(512, 1024).t() for _ in range(4)]  # each has to be copied to lie in a row
    size, before = sum(4 * each.numel() for each in turned), held()
    seen: list[int] = []
    put = where.put
    where.put = lambda name, data: (seen.append(held()), put(name, data))[1]  # type: ignore[method-assign]
    save({str(number): each for number, each in enumerate(turned)}, where, 1)
    assert seen[0] - before < 1.25 * size


def test_an_old_manifest_does_not_vouch_for_a_new_attempt_at_the_same_step(any_tier: Tier) -> None:
    save(state(1), any_tier, 1)
    writer = checkpoints.TierWriter(any_tier, 1, 0)
    writer.set_up_storage_writer(True, rank=0)
    with pytest.raises(Refused, match="no manifest"):
        read_manifest(any_tier, 1)


def test_each_rank_has_a_blob_of_its_own_where_torch_does_not_tell_the_rank(any_tier: Tier) -> None:
    for rank in range(2):
        writer = checkpoints.TierWriter(any_tier, 1, rank)
        writer.set_up_storage_writer(rank == 0)  # all that torch 2.7 says
        planner = DefaultSavePlanner()
        planner.set_up_planner({f"w{rank}": torch.full((4,), float(rank))}, is_coordinator=rank == 0)
        writer.write_data(planner.create_local_plan(), planner).wait()
    assert sorted(any_tier.sizes("step-00000001/")) == ["step-00000001/rank-00000", "step-00000001/rank-00001"]


def test_objects_go_up_in_parts(s3: S3Tier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier, "PART_BYTES", 5 << 20)
    data = os.urandom(12 << 20)
    s3.put("large", data)
    assert s3.get("large") == data
    assert s3.client.head_object(Bucket=s3.bucket, Key=s3._key("large"))["ETag"].endswith('-3"')


@pytest.mark.parametrize("fault", ["503", "cut", "slow"])
@pytest.mark.parametrize("pattern", ["PUT .*rank-00000", "PUT .*manifest", "DELETE .*manifest"])
def test_a_save_survives_faults_of_the_store(s3: S3Tier, proxy: FaultProxy, fault: str, pattern: str) -> None:
    proxy.inject(fault, pattern, 2)
    save(state(3), s3, 3)
    assert proxy.hits >= (1 if fault == "slow" else 2)
    assert newest_whole(s3).step == 3
    assert s3.retries == (0 if fault == "slow" else proxy.hits)


@pytest.mark.parametrize("fault", ["503", "cut", "short"])
def test_a_restore_survives_faults_of_the_store(s3: S3Tier, proxy: FaultProxy, fault: str) -> None:
    save(state(3), s3, 3)
    proxy.inject(fault, "GET .*rank-00000", 3)
    assert torch.equal(loaded(s3, 3)["w"], state(3)["w"])
    assert proxy.hits == 3 and s3.retries == 3


def test_a_part_that_fails_is_sent_again_and_an_upload_that_fails_is_taken_back(
    s3: S3Tier, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tier, "PART_BYTES", 5 << 20)
    data = os.urandom(11 << 20)
    proxy.inject("503", "PUT .*partNumber=2", 2)
    s3.put("large", data)
    assert proxy.hits == 2 and s3.get("large") == data
    proxy.inject("503", "PUT .*partNumber=2", 1000)
    with pytest.raises(TierError, match=r"writing part 2 of lost.*SlowDown"):
        s3.put("lost", data)
    proxy.clear()
    assert "Uploads" not in s3.client.list_multipart_uploads(Bucket=s3.bucket)


def test_a_store_that_stays_down_fails_and_leaves_the_previous_checkpoint(s3: S3Tier, proxy: FaultProxy) -> None:
    save(state(1), s3, 1)
    proxy.inject("503", "PUT .*step-00000002/", 1000)
    with pytest.raises(CheckpointException, match="SlowDown"):
        save(state(2), s3, 2)
    assert proxy.hits == tier.ATTEMPTS
    proxy.clear()
    assert newest_whole(s3).step == 1
    assert json.loads(s3.get("latest.json"))["step"] == 1


@pytest.fixture
def alone() -> Iterator[Any]:
    """The job of check checkpoint with one rank."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    job: Any = SimpleNamespace(
        options=Options(checkpoint_uri="s3://checkpoints/broken", checkpoint_mib=1), head=True, cuda=False, rank=0,
        device=torch.device("cpu"), host_group=dist.group.WORLD, gather=lambda value: [value],
        broadcast=lambda value: value, synchronize=lambda: None, barrier=lambda: None, broken=lambda _: False,
    )  # fmt: skip
    yield job
    dist.destroy_process_group()


@pytest.mark.parametrize(("fault", "says"), [("403", "AccessDenied"), ("500", "InternalError"), ("silent", "timeout")])
def test_a_store_that_is_broken_altogether_is_the_reason_and_not_the_clean_up(
    s3: S3Tier, proxy: FaultProxy, alone: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any, fault: str, says: str
) -> None:
    monkeypatch.setattr(tier, "READ_S", 0.5)
    monkeypatch.setattr(tier, "OPERATION_S", 1.0)
    monkeypatch.setattr(tier, "CLEAN_UP_S", 0.2)
    proxy.inject(fault, ".", 1000)
    before = time.monotonic()
    with pytest.raises(CheckFailed) as failed:
        check_checkpoint.run(alone)
    assert time.monotonic() - before < 60, "a deadline an operation"
    said = str(failed.value)
    assert said.startswith("the checkpoint tier s3://checkpoints/broken failed: rank 0: ")
    assert "step-00000001/" in said and says.lower() in said.lower()
    assert "what a check wrote was not removed" in capsys.readouterr().out


def test_without_credentials_that_is_the_reason(
    s3: S3Tier, alone: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with pytest.raises(CheckFailed, match="Unable to locate credentials"):
        check_checkpoint.run(alone)


def test_what_is_taken_back_is_not_waited_for(s3: S3Tier, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tier, "CLEAN_UP_S", 0.0)
    proxy.inject("503", "GET ", 1000)
    tier.clear(f"s3://checkpoints/{s3.prefix}")
    assert proxy.hits == 1, "one attempt"


def test_what_will_not_get_better_is_not_tried_again(s3: S3Tier, proxy: FaultProxy) -> None:
    other = S3Tier("s3://no-such-bucket/x")
    with pytest.raises(TierError, match="NoSuchBucket"):
        other.put("a", b"1")
    assert other.retries == 0


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TierError, match="cannot be written"):
        DirectoryTier(tmp_path / "file" / "tier")


def test_two_nodes_with_checkpoints_on_s3(
    start: Callable[..., "subprocess.Popen[str]"], proxy: FaultProxy, s3: S3Tier, tmp_path: Path
) -> None:
    """Two wrappers on one host: roll call, c10d rendezvous, a kill and a notice across nodes, tier of objects."""
    port = free_ports(4)
    proxy.inject("503", "PUT .*rank-0000", 3)
    # One thread a rank: those of two nodes would wait for each other on one machine, which each believes to be its own.
    env = KEYS | {"AWS_ENDPOINT_URL": proxy.url, "OMP_NUM_THREADS": "1"}
    flags = [
        "--nodes", "2", "--nproc-per-node", "1", "--head", "127.0.0.1", "--port", str(port),
        "--checkpoint-uri", "s3://checkpoints/two-nodes", "--rendezvous-timeout-s", "60",
        *(part for name in ("collectives", "checkpoint", "interruption") for part in ("--check", name)),
    ]  # fmt: skip
    nodes = [start(tmp_path / str(rank), *flags, "--node-rank", str(rank), env=env) for rank in (0, 1)]
    outputs = [node.communicate(timeout=150)[0] for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], outputs
    documents = [json.loads((tmp_path / str(rank) / "result.json").read_text()) for rank in (0, 1)]
    assert documents[0]["checks"] == documents[1]["checks"]
    checks = {c["name"]: c for c in documents[0]["checks"]}
    assert checks["checkpoint"]["details"]["tier_retries"] == 3
    assert "1 of 1 kills and 1 of 1 notices resumed exactly" in checks["interruption"]["reason"]
    assert "collectives" in outputs[0] and "check  " in outputs[0] and "check  " not in outputs[1]
    assert s3.client.list_objects_v2(Bucket="checkpoints", Prefix="two-nodes").get("KeyCount") == 0  # cleaned up
