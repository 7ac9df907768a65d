from __future__ import annotations

from typing import Any

import pulumi
import pulumi_kubernetes.core.v1 as core

from tests.components.k8s.checkers import check_plain_objects, depends_on
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.k8s.volumes import TeamVolumes, VolumeSourceArgs

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"


def source(handle: pulumi.Input[str], **changes: Any) -> VolumeSourceArgs:
    found: dict[str, Any] = {
        "driver": "files.example.com",
        "handle": handle,
        "attributes": {"share": "training"},
        "mount_options": ["nconnect=4"],
        "access_mode": "ReadWriteMany",
        "capacity_gib": 1024,
        **changes,
    }
    return {key: value for key, value in found.items() if value is not None}  # type: ignore[return-value]


def volumes(opts: pulumi.ResourceOptions | None = None) -> TeamVolumes:
    teams = ("vision", "speech")
    return TeamVolumes(
        "volumes",
        {
            "teams": [
                {
                    "name": team,
                    "namespace": f"team-{team}",
                    "volumes": {
                        "data": source(f"{team}-1", access_mode="ReadOnlyMany"),
                        "checkpoints": source(f"{team}-2", attributes=None, mount_options=[]),
                    },
                }
                for team in teams
            ]
        },
        opts,
    )


def run() -> Recording:
    return record(volumes)


def volume(recording: Recording, name: str) -> Recorded:
    return recording.one(VOLUME, f"volumes-{name}-volume")


def test_every_object_is_valid() -> None:
    assert check_plain_objects(run()) == 8


def test_volumes_and_claims_bind_to_each_other_and_nothing_else() -> None:
    recording = run()
    for team in ("vision", "speech"):
        for tier in ("data", "checkpoints"):
            pv = volume(recording, f"{team}-{tier}")
            pvc = recording.one(CLAIM, f"volumes-{team}-{tier}-claim")
            reference = {"namespace": pvc.inputs["metadata"]["namespace"], "name": pvc.inputs["metadata"]["name"]}
            assert reference == {"namespace": f"team-{team}", "name": tier}
            assert pv.inputs["spec"]["claimRef"] == reference
            assert pvc.inputs["spec"]["volumeName"] == pv.inputs["metadata"]["name"]
            # An API server keeps the empty text on a claim, where it means "no class", and drops it on a volume.
            assert pvc.inputs["spec"]["storageClassName"] == ""
            assert "storageClassName" not in pv.inputs["spec"]
            assert pv.inputs["spec"]["accessModes"] == pvc.inputs["spec"]["accessModes"]
            assert pvc.inputs["spec"]["resources"]["requests"] == pv.inputs["spec"]["capacity"]
            assert pv.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
            assert pv.name in depends_on(recording, pvc)


def test_a_volume_is_what_its_source_says() -> None:
    spec = volume(run(), "vision-data").inputs["spec"]
    assert spec["csi"] == {
        "driver": "files.example.com",
        "volumeHandle": "vision-1",
        "readOnly": True,
        "volumeAttributes": {"share": "training"},
    }
    assert spec["mountOptions"] == ["nconnect=4"]
    assert spec["accessModes"] == ["ReadOnlyMany"]
    assert spec["capacity"] == {"storage": "1Ti"}


def test_nothing_is_sent_that_an_api_server_does_not_keep() -> None:
    """Fields with `omitempty` in k8s.io/api core/v1 PersistentVolumeSpec: a refresh would show them for ever."""
    recording = run()
    for pv in recording.of_type(VOLUME):
        assert not [key for key, value in pv.inputs["spec"].items() if value in ("", [], {})], pv.name
    assert "mountOptions" not in volume(recording, "vision-checkpoints").inputs["spec"]


def test_a_change_of_the_source_replaces_the_volume() -> None:
    for pv in run().of_type(VOLUME):
        assert {"spec.csi", "spec.claimRef"} <= set(pv.replace_on_changes)
        assert pv.delete_before_replace


def test_volumes_wait_for_the_driver_and_claims_reach_the_caller() -> None:
    def program() -> None:
        driver = core.ConfigMap("driver")
        claims = volumes(pulumi.ResourceOptions(depends_on=[driver])).claims["vision"]
        core.ConfigMap("job", data={"data": claims["data"], "to": claims["checkpoints"]})

    recording = record(program)
    job = recording.one("kubernetes:core/v1:ConfigMap", "job")
    assert job.inputs["data"] == {"data": "data", "to": "checkpoints"}
    assert {"volumes-vision-data-claim", "volumes-vision-checkpoints-claim"} <= depends_on(recording, job)
    for pv in recording.of_type(VOLUME):
        assert "driver" in depends_on(recording, pv)
