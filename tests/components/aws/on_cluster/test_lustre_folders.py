from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.components.k8s.checkers import check_plain_objects, depends_on, whole_numbers
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.aws.on_cluster.lustre_folders import (
    NAMESPACE,
    SCRIPT,
    LustreFolders,
    LustreFoldersArgs,
    content_hash,
)
from trainyard.components.aws.on_cluster.volumes import file_system_root
from trainyard.conventions import TRAINER_GID, TRAINER_UID

JOB = "kubernetes:batch/v1:Job"
IMAGE = "pytorch/pytorch:2.13.0@sha256:" + "0" * 64
LUSTRE = {
    "file_system_id": "fs-0123456789abcdef0",
    "dns_name": "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com",
    "mount_name": "abcdefgh/data",
    "capacity_gib": 2400,
}


def run(*, preview: bool = False, **changes: Any) -> Recording:
    args: LustreFoldersArgs = {"lustre": LUSTRE, "teams": ["vision", "speech"], "image": IMAGE, **changes}  # type: ignore[typeddict-item]

    def program() -> None:
        driver = core.ConfigMap("driver")
        folders = LustreFolders("folders", args, pulumi.ResourceOptions(depends_on=[driver]))
        core.ConfigMap("user", opts=pulumi.ResourceOptions(depends_on=[folders]))

    return record(program, preview=preview)


def job_of(recording: Recording) -> Recorded:
    return recording.one(JOB)


def pod_of(recording: Recording) -> dict[str, Any]:
    pod: dict[str, Any] = job_of(recording).inputs["spec"]["template"]["spec"]
    return pod


def container_of(recording: Recording) -> dict[str, Any]:
    (container,) = pod_of(recording)["containers"]
    assert isinstance(container, dict)
    return container


@pytest.mark.parametrize("preview", [True, False])
def test_every_object_is_valid(preview: bool) -> None:
    assert check_plain_objects(run(preview=preview)) == 7  # with the test's two


def test_the_namespace_is_fenced_and_no_teams() -> None:
    recording = run()
    namespace = recording.one("kubernetes:core/v1:Namespace").inputs["metadata"]
    # Without the label of a team Kueue leaves the Job alone.
    assert namespace == {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}
    policy = recording.one("kubernetes:networking.k8s.io/v1:NetworkPolicy").inputs
    assert policy["metadata"]["namespace"] == NAMESPACE
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert "folders-default-deny" in depends_on(recording, job_of(recording))


@pytest.mark.parametrize("mount_name", ["abcdefgh", "abcdefgh/data", "abcdefgh/data/deeper"])
def test_the_volume_is_the_root_of_the_file_system(mount_name: str) -> None:
    recording = run(lustre={**LUSTRE, "mount_name": mount_name})
    volume = recording.one("kubernetes:core/v1:PersistentVolume")
    claim = recording.one("kubernetes:core/v1:PersistentVolumeClaim").inputs
    spec = volume.inputs["spec"]
    assert spec["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef0_root",
        "volumeAttributes": {"dnsname": LUSTRE["dns_name"], "mountname": "abcdefgh"},
    }
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert spec["claimRef"] == {"namespace": NAMESPACE, "name": claim["metadata"]["name"]}
    assert claim["metadata"]["namespace"] == NAMESPACE
    assert claim["spec"]["volumeName"] == volume.inputs["metadata"]["name"]
    assert claim["spec"]["storageClassName"] == ""
    assert "storageClassName" not in spec
    assert claim["spec"]["resources"]["requests"] == spec["capacity"] == {"storage": "2400Gi"}
    assert {"spec.csi", "spec.claimRef"} <= set(volume.replace_on_changes)
    assert volume.delete_before_replace


def test_file_system_root_leaves_the_rest_alone() -> None:
    seen: list[str] = []
    lustre: Any = dict(LUSTRE)

    def program() -> None:
        root = file_system_root(lustre)
        assert {**root, "mount_name": ""} == {**LUSTRE, "mount_name": ""}
        pulumi.Output.from_input(root["mount_name"]).apply(seen.append)

    record(program)
    assert seen == ["abcdefgh"]
    assert lustre == LUSTRE


def test_the_pod_is_root_without_a_capability() -> None:
    pod = whole_numbers(pod_of(run()))
    assert pod["securityContext"] == {
        "runAsUser": 0,
        "runAsGroup": TRAINER_GID,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container_of(run())["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert [set(volume) for volume in pod["volumes"]] == [{"name", "persistentVolumeClaim"}]


def test_the_pod_is_small_ends_and_runs_on_system_nodes() -> None:
    recording = run()
    spec = whole_numbers(job_of(recording).inputs["spec"])
    assert spec["backoffLimit"] == 4
    assert spec["activeDeadlineSeconds"] == 900
    assert pod_of(recording)["nodeSelector"] == {"ml.platform/pool": "system"}
    assert pod_of(recording)["restartPolicy"] == "Never"
    for kind in ("requests", "limits"):
        assert set(container_of(recording)["resources"][kind]) == {"cpu", "memory"}
    (mount,) = container_of(recording)["volumeMounts"]
    assert mount["mountPath"] == container_of(recording)["args"][0]
    assert pod_of(recording)["volumes"][0]["persistentVolumeClaim"]["claimName"] == "lustre-root"


def test_users_wait_for_the_job_and_the_job_for_the_driver() -> None:
    recording = run()
    job = job_of(recording)
    assert {"driver", "folders-claim", "folders-volume"} <= depends_on(recording, job)
    assert job.name in depends_on(recording, recording.one("kubernetes:core/v1:ConfigMap", "user"))
    for resource in recording.resources:
        if resource.name.startswith("folders-"):
            assert "driver" in depends_on(recording, resource), resource.name


def identity(recording: Recording) -> tuple[str, str]:
    job = job_of(recording)
    return job.name, job.inputs["metadata"]["name"]


def test_other_teams_make_another_job() -> None:
    logical, name = identity(run())
    assert name.startswith("lustre-folders-")
    assert logical.endswith(name.removeprefix("lustre-folders-"))
    more, less = identity(run(teams=["vision", "speech", "audio"])), identity(run(teams=["vision"]))
    assert len({logical, more[0], less[0]}) == len({name, more[1], less[1]}) == 3


def test_the_order_of_teams_and_the_image_make_no_other_job() -> None:
    job = job_of(run())
    assert identity(run(teams=["speech", "vision", "vision"])) == identity(run())
    assert container_of(run(teams=["speech", "vision", "vision"]))["args"] == container_of(run())["args"]
    assert identity(run(image=IMAGE.replace("0" * 64, "1" * 64))) == identity(run())
    assert job.ignore_changes == ("spec.template.spec.containers[0].image",)


def test_another_file_system_or_a_failure_runs_the_job_again() -> None:
    job = job_of(run())
    other = job_of(run(lustre={**LUSTRE, "file_system_id": "fs-0fedcba9876543210"}))
    assert job.inputs["spec"]["template"] != other.inputs["spec"]["template"]
    assert job.replace_on_changes == ("*",)
    assert job.delete_before_replace


def test_an_image_without_a_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="pinned by its digest, got pytorch:2"):
        run(image="pytorch:2")


@pytest.mark.parametrize("team", ["", "..", "a/b", "-rf", "Vision", "a b", "$(reboot)", "vision\n", "v" * 64])
def test_a_team_that_is_no_name_of_a_folder_is_refused(team: str) -> None:
    with pytest.raises(ValueError, match="DNS label"):
        run(teams=["speech", team])


def test_the_name_is_of_the_arguments() -> None:
    _, name = identity(run())
    assert name == f"lustre-folders-{content_hash(container_of(run())['args'])}"


# The script itself, run by a shell.


def shell(root: Path, *teams: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*container_of(run())["command"], str(root), *teams]
    assert command[2] == SCRIPT
    return subprocess.run([*before, *command], capture_output=True, text=True, check=False, umask=0o077)


def owner_and_mode(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_script_makes_the_folders_and_may_run_again(tmp_path: Path) -> None:
    user, group = os.getuid(), os.getgid()
    linked = tmp_path / "data" / "set"
    linked.mkdir(parents=True)
    linked.chmod(0o700)
    first = shell(tmp_path, "speech", "vision")
    assert first.returncode == 0, first.stderr
    assert names(tmp_path) == ["data", "teams"]
    assert names(tmp_path / "teams") == ["speech", "vision"]
    for team in ("speech", "vision"):
        assert owner_and_mode(tmp_path / "teams" / team) == (user, group, 0o2775)
    file = tmp_path / "teams" / "vision" / "run" / "weights"
    file.parent.mkdir(mode=0o700)
    file.write_text("kept")
    file.chmod(0o600)
    before = (owner_and_mode(file), file.stat().st_mtime_ns, owner_and_mode(file.parent))
    (tmp_path / "teams" / "speech").chmod(0o700)
    # A team that left keeps its folder; one that came gets one.
    again = shell(tmp_path, "audio", "speech")
    assert again.returncode == 0, again.stderr
    assert file.read_text() == "kept"
    assert (owner_and_mode(file), file.stat().st_mtime_ns, owner_and_mode(file.parent)) == before
    assert owner_and_mode(linked) == (user, group, 0o700)
    for team in ("audio", "speech", "vision"):
        assert owner_and_mode(tmp_path / "teams" / team) == (user, group, 0o2775)


def test_the_script_works_without_teams(tmp_path: Path) -> None:
    assert shell(tmp_path).returncode == 0
    assert names(tmp_path / "teams") == []


@pytest.mark.parametrize("path", ["teams", "teams/vision"])
def test_the_script_follows_no_link(tmp_path: Path, path: str) -> None:
    root, target = tmp_path / "root", tmp_path / "target"
    target.mkdir(mode=0o700)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(target)
    result = shell(root, "vision")
    assert result.returncode == 1
    assert f"{path} is a symbolic link" in result.stderr
    assert owner_and_mode(target)[2] == 0o700
    assert names(target) == []


def test_the_script_fails_where_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "teams").write_text("mine")
    result = shell(tmp_path, "vision")
    assert result.returncode != 0
    assert (tmp_path / "teams").read_text() == "mine"


def as_user(user: int, group: int) -> tuple[str, ...]:
    """A prefix that runs a command as that user without a capability, as the container runtime does."""
    identity = (f"--reuid={user}", f"--regid={group}", "--clear-groups")
    return ("setpriv", *identity, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--")


@pytest.fixture
def file_system() -> Iterator[Path]:
    """Like the root of a new file system: root's, 0755, and reachable by every user."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv to become other users")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders let nobody else in
        root = Path(folder)
        root.chmod(0o755)
        yield root


def test_with_the_pods_rights_trainers_can_write_and_nobody_could_before(file_system: Path) -> None:
    pod = whole_numbers(pod_of(run()))["securityContext"]
    setup = as_user(pod["runAsUser"], pod["runAsGroup"])
    trainer = as_user(TRAINER_UID, TRAINER_GID)

    def touch(path: str) -> int:
        return subprocess.run([*trainer, "touch", str(file_system / path)], capture_output=True, check=False).returncode

    assert touch("file") != 0
    for _ in range(2):
        result = shell(file_system, "vision", before=setup)
        assert result.returncode == 0, result.stderr
        assert owner_and_mode(file_system / "teams" / "vision") == (0, TRAINER_GID, 0o2775)
        assert owner_and_mode(file_system / "teams")[::2] == (0, 0o755)
    assert touch("teams/vision/file") == 0
    assert owner_and_mode(file_system / "teams" / "vision" / "file")[:2] == (TRAINER_UID, TRAINER_GID)
    assert touch("file") != 0
    assert touch("teams/file") != 0
    assert subprocess.run([*trainer, "rmdir", str(file_system / "teams" / "vision")], check=False).returncode != 0


def test_a_user_without_rights_makes_nothing(file_system: Path) -> None:
    result = shell(file_system, "vision", before=as_user(TRAINER_UID, TRAINER_GID))
    assert result.returncode != 0
    assert names(file_system) == []
