from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from os import environ

import kubernetes_validate
import pytest
import yaml

from tests.smoke_jobs.ddp.conftest import WITHOUT_COMPILER
from tests.smoke_jobs.launch.failure_policy import Pod, job_goes_on
from tests.smoke_jobs.launch.support import CPU, GPU_POOL, RecordedView, job_policy, run_start, unpack
from trainyard.smoke_jobs.launch import kubernetes
from trainyard.smoke_jobs.launch.follow import Follower
from trainyard.smoke_jobs.launch.job import LaunchError
from trainyard.smoke_jobs.launch.kubernetes import Deferred, render, to_yaml

SPECS = {"gpu": GPU_POOL, "cpu": CPU, "one node": replace(GPU_POOL, nodes=1, fabric_interfaces=0, hugepages_mib=0)}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_objects_are_valid(spec):
    for manifest in render(spec).manifests:
        kubernetes_validate.validate(manifest, "1.35", strict=True)


def test_what_is_deferred_is_in_the_objects_and_not_in_the_name():
    nowhere = replace(GPU_POOL, namespace="")
    found = render(nowhere, Deferred("team-a", ("--checkpoint-uri", "s3://b/p"), {"example.com/image": "1"}))
    assert found.name == render(GPU_POOL).name
    assert {manifest["metadata"]["namespace"] for manifest in found.manifests} == {"team-a"}
    assert found.job["spec"]["template"]["spec"]["containers"][0]["args"] == ["--checkpoint-uri", "s3://b/p"]
    assert found.job["metadata"]["annotations"] == {"example.com/image": "1"}
    assert "annotations" not in render(GPU_POOL).job["metadata"] and "args" not in _container()
    with pytest.raises(LaunchError, match="kubernetes needs namespace"):
        render(nowhere)


def _pod(spec=GPU_POOL):
    return render(spec).job["spec"]["template"]["spec"]


def _container(spec=GPU_POOL):
    return _pod(spec)["containers"][0]


def test_what_kueue_writes_is_left_to_it():
    job = render(GPU_POOL).job["spec"]
    assert "suspend" not in job
    assert not {"nodeSelector", "tolerations"} & _pod().keys()
    terms = _pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert terms == [{"matchExpressions": [{"key": "ml.platform/pool", "operator": "In", "values": ["train"]}]}]


def test_the_queue_is_named_on_the_job_and_not_on_its_pods():
    job = render(GPU_POOL).job
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "vision"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "standard"
    assert not any("kueue" in label for label in job["spec"]["template"]["metadata"]["labels"])


def test_all_ranks_or_none():
    job = render(GPU_POOL).job["spec"]
    assert (job["completionMode"], job["completions"], job["parallelism"], job["backoffLimit"]) == ("Indexed", 2, 2, 0)
    assert _pod()["restartPolicy"] == "Never"
    assert "ttlSecondsAfterFinished" not in job


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_heads_word_is_the_jobs(spec):
    """It ends with 0 only where all have ended; one that is lost after that must not come again alone."""
    assert render(spec).job["spec"]["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert render(spec).job["spec"]["completionMode"] == "Indexed", "a success policy needs it"


def test_a_pod_that_fills_its_scratch_fails_instead_of_its_node():
    (scratch,) = [volume for volume in _pod()["volumes"] if volume["name"] == "smoke-tmp"]
    assert scratch["emptyDir"] == {"sizeLimit": "24Gi"}
    assert not job_goes_on(job_policy(GPU_POOL), [Pod(137), Pod(75)]), "above a limit there is no DisruptionTarget"


def test_a_verdict_ends_the_job_and_a_disruption_does_not():
    rules = render(GPU_POOL).job["spec"]["podFailurePolicy"]["rules"]
    assert rules[0] == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    by_code = {code: rule["action"] for rule in rules[1:] for code in rule["onExitCodes"]["values"]}
    assert by_code == {75: "Ignore", 1: "FailJob", 2: "FailJob", 10: "FailJob", 20: "FailJob", 124: "FailJob"}
    assert {rule["onExitCodes"]["containerName"] for rule in rules[1:]} == {_container()["name"], "fabric"}


@pytest.mark.parametrize(
    ("pods", "goes_on"),
    [
        ([Pod(75, disrupted=True), Pod(75)], True),  # evicted, and the survivor
        ([Pod(137, disrupted=True), Pod(75)], True),  # its machine was gone before it could end
        ([Pod(75), Pod(75)], True),
        ([Pod(10, disrupted=True), Pod(75)], True),  # a check that failed because of the eviction
        ([Pod(137), Pod(75)], False),  # out of memory
        ([Pod(1), Pod(75)], False),
        ([Pod(10), Pod(10)], False),
        ([Pod(20), Pod(20)], False),
        ([Pod(124), Pod(1)], False),
        ([Pod(2), Pod(2)], False),
        ([Pod(1, disrupted=True), Pod(10)], False),
    ],
)
def test_a_lost_node_makes_all_pods_again_and_nothing_else_does(pods, goes_on):
    assert job_goes_on(job_policy(GPU_POOL), pods) is goes_on


def test_ranks_find_the_head_through_the_headless_service():
    found = render(GPU_POOL)
    service = found.service["spec"]
    assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", True)
    assert service["selector"] == {"batch.kubernetes.io/job-name": found.name}
    assert _pod()["subdomain"] == found.service["metadata"]["name"] == found.job["metadata"]["name"] == found.name
    options = json.loads(_env()["SMOKE_OPTIONS"])
    assert options["head"] == f"{found.name}-0.{found.name}"
    assert options["expected_hosts"] == [f"{found.name}-0", f"{found.name}-1"]


def _env(spec=GPU_POOL):
    return {item["name"]: item["value"] for item in _container(spec)["env"]}


def test_the_longest_name_still_makes_pods():
    found = render(replace(GPU_POOL, name="a" * 40, nodes=1000))
    assert len(f"{found.name}-999-abcde") <= 63
    assert len(found.config_map["metadata"]["name"]) <= 63


def test_time_is_left_after_the_worker_s_own_limit():
    job = render(GPU_POOL).job["spec"]
    options = json.loads(_env()["SMOKE_OPTIONS"])
    assert job["activeDeadlineSeconds"] >= GPU_POOL.start_timeout_s + options["timeout_s"] + 60
    assert _pod()["terminationGracePeriodSeconds"] > options.get("shutdown_timeout_s", 100)


def test_a_fabric_is_requested_with_its_huge_pages():
    wanted = _container()["resources"]
    assert wanted["requests"] == wanted["limits"]
    assert wanted["limits"] == {
        "cpu": "68", "memory": "208Gi", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "5Gi",
        "ephemeral-storage": "25Gi",
    }  # fmt: skip
    plain = _container(SPECS["one node"])["resources"]["limits"]
    assert set(plain) == {"cpu", "memory", "ephemeral-storage", "nvidia.com/gpu"}
    assert set(_container(CPU)["resources"]["limits"]) == {"cpu", "memory", "ephemeral-storage"}


def test_credentials_are_files():
    assert not any("valueFrom" in item for item in _container()["env"])
    volume = next(volume for volume in _pod()["volumes"] if "secret" in volume)
    mount = next(mount for mount in _container()["volumeMounts"] if mount["name"] == volume["name"])
    assert mount == {"name": volume["name"], "mountPath": _env()["SMOKE_CREDENTIALS"], "readOnly": True}
    assert not any("secret" in volume for volume in _pod(replace(GPU_POOL, tracking_secret=""))["volumes"])


def test_pods_may_do_nothing_more_than_they_need():
    pod, container = _pod(), _container()
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == pod["securityContext"]["fsGroup"] >= 10000
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    assert writable == {"/dev/shm", "/tmp", "/data", "/checkpoints"}


def test_the_name_changes_with_the_job_the_pool_and_the_worker_only(monkeypatch):
    name = render(GPU_POOL).name
    assert render(GPU_POOL).name == name
    assert render(replace(GPU_POOL, namespace="elsewhere")).name == name
    changes = (
        {"nodes": 1}, {"instance": "p5e.48xlarge"}, {"image": GPU_POOL.image.replace("0" * 64, "1" * 64)},
        {"options": {"kills": 2}}, {"queue": "language"}, {"rerun_on": (("ami", "20260714"),)}, {"cpu": 60},
    )  # fmt: skip
    names = {render(replace(GPU_POOL, **change)).name for change in changes}
    assert len(names | {name}) == len(changes) + 1
    monkeypatch.setattr(kubernetes.payload, "files", lambda extra=None: {"start.py": "other"})
    assert render(GPU_POOL).name != name


def test_the_config_map_is_named_by_its_content_and_never_changes():
    found = render(GPU_POOL)
    assert found.config_map["immutable"] is True
    same = render(replace(GPU_POOL, nodes=1)).config_map["metadata"]["name"]
    assert found.config_map["metadata"]["name"] == same
    other = render(replace(GPU_POOL, files={"baseline.json": "{}"}))
    assert other.config_map["metadata"]["name"] != same
    options = json.loads(
        {e["name"]: e["value"] for e in other.job["spec"]["template"]["spec"]["containers"][0]["env"]}["SMOKE_OPTIONS"]
    )
    assert options["baseline"] == "/smoke/ddp/baseline.json"


def test_what_is_missing_is_named():
    with pytest.raises(LaunchError, match=r"needs image: .*needs namespace: .*needs queue"):
        render(replace(GPU_POOL, image="", namespace="", queue=""))


def test_yaml_reads_back_and_keeps_files_readable():
    manifests = render(GPU_POOL).manifests
    text = to_yaml(manifests)
    assert list(yaml.safe_load_all(text)) == list(manifests)
    assert "  start.py: |\n" in text


def test_the_container_runs_here(tmp_path):
    """What the kubelet would start, with the ConfigMap's files and the Job's own variables."""
    found = render(CPU)
    start = unpack(found.config_map["data"], tmp_path / "smoke" / "ddp")
    container = found.job["spec"]["template"]["spec"]["containers"][0]
    variables = {item["name"]: item["value"] for item in container["env"]}
    variables |= {"HOME": str(tmp_path), "SMOKE_RESULT_DIR": str(tmp_path / "result"), "JOB_COMPLETION_INDEX": "0"}
    variables["SMOKE_OPTIONS"] = variables["SMOKE_OPTIONS"].replace("/tmp/result", str(tmp_path / "result"))
    # the pod's name is not this machine's
    variables["SMOKE_OPTIONS"] = json.dumps(json.loads(variables["SMOKE_OPTIONS"]) | {"expected_hosts": []})
    assert container["command"][1].endswith("/smoke/ddp/start.py")
    answer = run_start(start, variables)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    follower = Follower(RecordedView())
    follower.lines(answer.stdout.splitlines())
    assert follower.complete
    assert follower.document["job"]["target"] == "kubernetes"


def test_two_pods_form_one_job_here(tmp_path):
    """Their ranks are forks of their agents: the test above has them as a container has."""
    found = render(replace(CPU, nodes=2, processes_per_node=1, options={"checks": ["rendezvous"], "port": 29731}))
    start = unpack(found.config_map["data"], tmp_path / "smoke" / "ddp")
    items = found.job["spec"]["template"]["spec"]["containers"][0]["env"]
    variables = {item["name"]: item["value"] for item in items}
    variables |= {"HOME": str(tmp_path), "PYTHONPATH": str(WITHOUT_COMPILER)}
    options = json.loads(variables["SMOKE_OPTIONS"]) | {"head": "localhost", "expected_hosts": []}
    running = []
    for index in range(2):
        folder = str(tmp_path / f"result-{index}")
        mine = variables | {
            "JOB_COMPLETION_INDEX": str(index),
            "SMOKE_RESULT_DIR": folder,
            "SMOKE_OPTIONS": json.dumps(options | {"result_dir": folder}),
        }
        running.append(
            subprocess.Popen([sys.executable, str(start)], env=environ | mine, stdout=subprocess.PIPE, text=True)
        )
    outputs = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    follower = Follower(RecordedView())
    follower.lines(outputs[0].splitlines())
    assert follower.document["topology"]["nodes"] == 2


def _unasked(seen, tmp_path):
    """How the container that asks for no GPU ends where these devices are, and what it says."""
    container, fabric = render(replace(GPU_POOL, isolated_gpus=True)).job["spec"]["template"]["spec"]["initContainers"]
    assert (container["name"], fabric["name"]) == ("unasked", "fabric")
    program = container["command"][2].replace("/dev/", f"{tmp_path}/")
    for name in seen:
        (tmp_path / name).touch()
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    log = tmp_path / "termination-log"
    return found.returncode, log.read_text() if log.exists() else ""


def test_a_container_that_asks_for_no_gpu_sees_none(tmp_path):
    assert _unasked(["null", "fuse"], tmp_path) == (0, "")


def test_one_that_does_fails_the_job_and_says_what_it_saw(tmp_path):
    code, said = _unasked(["nvidia0", "nvidiactl"], tmp_path)
    assert code == 10
    assert "nvidia0" in said
    job = render(replace(GPU_POOL, isolated_gpus=True)).job["spec"]
    (rule,) = [
        rule
        for rule in job["podFailurePolicy"]["rules"]
        if rule.get("onExitCodes", {}).get("containerName") == "unasked"
    ]
    assert rule["action"] == "FailJob"
    assert code in rule["onExitCodes"]["values"]


def test_it_asks_by_every_variable_and_for_no_resource_that_is_a_device():
    container, fabric = render(replace(GPU_POOL, isolated_gpus=True)).job["spec"]["template"]["spec"]["initContainers"]
    assert (container["name"], fabric["name"]) == ("unasked", "fabric")
    assert {item["name"]: item["value"] for item in container["env"]}["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert set(container["resources"]["limits"]) == {"cpu", "memory"}
    plain = render(replace(GPU_POOL, fabric_interfaces=0, fabric_resource="")).job["spec"]["template"]["spec"]
    assert "initContainers" not in plain, "where nodes promise nothing"
    kubernetes_validate.validate(render(replace(GPU_POOL, isolated_gpus=True)).job, "1.35", strict=True)
