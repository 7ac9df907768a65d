from __future__ import annotations

from typing import Any

import pulumi_aws.fsx as fsx
import pulumi_kubernetes.core.v1 as core
import pytest

from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.aws.on_cluster.volumes import StorageVolumesArgs, ingest_volume, team_volumes
from trainyard.components.k8s.volumes import TeamVolumes
from trainyard.conventions import team_prefix

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"

LUSTRE = {
    "file_system_id": "fs-0123456789abcdef0",
    "dns_name": "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com",
    "data_mount_name": "abcdefgh/data",
    "scratch_mount_name": "abcdefgh/scratch",
}


def arguments(**changes: Any) -> StorageVolumesArgs:
    args: dict[str, Any] = {
        "region": "us-east-1",
        "data_bucket": "acme-data",
        "data_per_team": False,
        "checkpoints_bucket": "acme-checkpoints",
        "lustre": LUSTRE,
    }
    return {key: value for key, value in {**args, **changes}.items() if value is not None}  # type: ignore[return-value]


def mounted(storage: StorageVolumesArgs) -> TeamVolumes:
    teams = ("vision", "speech")
    return TeamVolumes(
        "volumes",
        {"teams": [{"name": t, "namespace": f"team-{t}", "volumes": team_volumes(t, storage)} for t in teams]},
    )


def run(**changes: Any) -> Recording:
    return record(lambda: mounted(arguments(**changes)))


def volume(recording: Recording, name: str) -> Recorded:
    return recording.one(VOLUME, f"volumes-{name}-volume")


def test_every_object_is_valid() -> None:
    assert check_plain_objects(run()) == 12
    assert check_plain_objects(run(lustre=None)) == 8


SHARED = {
    "file_system_id": "fs-0aaaaaaaaaaaaaaaa",
    "access_point_ids": {"vision": "fsap-0aaaaaaaaaaaaaaa1", "speech": "fsap-0aaaaaaaaaaaaaaa2"},
}


def test_a_team_has_its_own_directory_of_the_shared_file_system() -> None:
    recording = run(shared=SHARED)
    assert check_plain_objects(recording) == 16
    for team, access_point in SHARED["access_point_ids"].items():
        spec = volume(recording, f"{team}-home").inputs["spec"]
        assert spec["csi"] == {"driver": "efs.csi.aws.com", "volumeHandle": f"fs-0aaaaaaaaaaaaaaaa::{access_point}"}
        assert spec["mountOptions"] == ["iam"]  # with an access point the driver adds tls
        assert spec["accessModes"] == ["ReadWriteMany"]
        claim = recording.one(CLAIM, f"volumes-{team}-home-claim").inputs
        assert claim["metadata"] == {"name": "home", "namespace": f"team-{team}"}
        assert claim["spec"]["volumeName"] == f"{team}-home"


def test_without_a_shared_file_system_there_is_no_home() -> None:
    assert not [resource.name for resource in run().resources if "home" in resource.name]


def test_names_and_handles_of_volumes_are_their_own() -> None:
    volumes = run().of_type(VOLUME)
    assert len({pv.inputs["metadata"]["name"] for pv in volumes}) == 6
    assert len({pv.inputs["spec"]["csi"]["volumeHandle"] for pv in volumes}) == 6


@pytest.mark.parametrize(("per_team", "below"), [(False, ""), (True, "/teams/vision")])
def test_lustre_is_mounted_by_its_names_and_read_only(per_team: bool, below: str) -> None:
    spec = volume(run(data_per_team=per_team), "vision-data").inputs["spec"]
    assert spec["csi"] == {
        "driver": "fsx.csi.aws.com",
        "volumeHandle": "fs-0123456789abcdef0-vision-data",
        "volumeAttributes": {"dnsname": LUSTRE["dns_name"], "mountname": f"abcdefgh/data{below}"},
        "readOnly": True,
    }
    assert spec["mountOptions"] == ["flock", "ro"]
    assert spec["capacity"] == {"storage": "1Ti"}
    assert spec["accessModes"] == ["ReadOnlyMany"]


def test_scratch_is_the_teams_own_folder_beside_the_data() -> None:
    recording = run()
    for team in ("vision", "speech"):
        spec = volume(recording, f"{team}-scratch").inputs["spec"]
        found = spec["csi"]["volumeAttributes"]
        assert found == {"dnsname": LUSTRE["dns_name"], "mountname": f"abcdefgh/scratch/teams/{team}"}
        assert spec["accessModes"] == ["ReadWriteMany"]
        assert "readOnly" not in spec["csi"]
    assert not [pv for pv in run(lustre=None).of_type(VOLUME) if "scratch" in pv.name]


@pytest.mark.parametrize(("per_team", "prefix"), [(False, "data/"), (True, "data/teams/speech/")])
def test_without_lustre_the_data_bucket_is_read(per_team: bool, prefix: str) -> None:
    recording = run(lustre=None, data_per_team=per_team)
    spec = volume(recording, "speech-data").inputs["spec"]
    assert spec["csi"] == {
        "driver": "s3.csi.aws.com",
        "volumeHandle": "speech-data",
        "volumeAttributes": {"bucketName": "acme-data", "authenticationSource": "pod"},
        "readOnly": True,
    }
    assert spec["mountOptions"] == ["region us-east-1", f"prefix {prefix}", "read-only"]
    assert spec["accessModes"] == ["ReadOnlyMany"]


def test_the_data_are_written_through_the_bucket_with_the_pods_own_role() -> None:
    written = ingest_volume(arguments())
    assert written["driver"] == "s3.csi.aws.com"
    assert written["access_mode"] == "ReadWriteMany"
    assert written["attributes"] == {"bucketName": "acme-data", "authenticationSource": "pod"}
    assert "prefix data/" in written["mount_options"]
    assert "allow-overwrite" in written["mount_options"]


def test_checkpoints_are_the_teams_own_prefix() -> None:
    recording = run()
    for team in ("vision", "speech"):
        spec = volume(recording, f"{team}-checkpoints").inputs["spec"]
        assert spec["csi"]["driver"] == "s3.csi.aws.com"
        assert spec["csi"]["volumeAttributes"] == {"bucketName": "acme-checkpoints", "authenticationSource": "pod"}
        assert spec["mountOptions"] == [
            "region us-east-1",
            f"prefix teams/{team}/",
            "allow-delete",
            "allow-overwrite",
        ]
    assert team_prefix("vision") == "teams/vision/"


def test_volumes_wait_for_the_file_system_and_claims_reach_the_caller() -> None:
    def program() -> None:
        tier = fsx.LustreFileSystem("tier", subnet_ids="subnet-0", storage_capacity=1200)
        args = arguments(
            lustre={
                "file_system_id": tier.id,
                "dns_name": tier.dns_name,
                "data_mount_name": tier.mount_name,
                "scratch_mount_name": tier.mount_name,
                "capacity_gib": 1024,
            }
        )
        claims = mounted(args).claims["vision"]
        core.ConfigMap("job", data={"data": claims["data"], "to": claims["checkpoints"]})

    recording = record(program)
    pv = volume(recording, "vision-data")
    assert "tier" in depends_on(recording, pv)
    assert pv.inputs["spec"]["csi"]["volumeHandle"].startswith("fs-")
    assert pv.inputs["spec"]["csi"]["volumeHandle"].endswith("-vision-data")
    assert pv.inputs["spec"]["capacity"] == {"storage": "1Ti"}
    job = recording.one("kubernetes:core/v1:ConfigMap")
    assert job.inputs["data"] == {"data": "data", "to": "checkpoints"}
    assert {"volumes-vision-data-claim", "volumes-vision-checkpoints-claim", "tier"} <= depends_on(recording, job)
