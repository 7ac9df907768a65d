from __future__ import annotations

from tests.components.gcp.environment import recorded
from tests.components.k8s.checkers import check_plain_objects
from tests.pulumi_harness import Recorded, Recording, record
from trainyard.components.gcp.on_cluster.volumes import BucketVolumesArgs, ingest_volume, team_volumes
from trainyard.components.k8s.volumes import TeamVolumes
from trainyard.conventions import data_prefix, team_prefix

VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"


def buckets(*, per_team: bool = False) -> BucketVolumesArgs:
    return {"data_bucket": "acme-data", "data_per_team": per_team, "checkpoints_bucket": "acme-checkpoints"}


def run(*, per_team: bool = False) -> Recording:
    def mounted() -> TeamVolumes:
        found = team_volumes("vision", buckets(per_team=per_team))
        return TeamVolumes("volumes", {"teams": [{"name": "vision", "namespace": "team-vision", "volumes": found}]})

    return record(mounted)


def both(recording: Recording, tier: str) -> tuple[Recorded, Recorded]:
    name = f"volumes-vision-{tier}"
    return recording.one(VOLUME, f"{name}-volume"), recording.one(CLAIM, f"{name}-claim")


def test_every_object_is_valid() -> None:
    assert check_plain_objects(run()) == 4


def test_each_tier_has_the_profile_of_its_purpose_and_its_claim_the_same() -> None:
    recording = run()
    for tier, profile in {"data": "gcsfusecsi-training", "checkpoints": "gcsfusecsi-checkpointing"}.items():
        volume, claim = both(recording, tier)
        assert volume.inputs["spec"]["storageClassName"] == claim.inputs["spec"]["storageClassName"] == profile
        # A profile is the class's to name: GKE refuses it among the options of a volume.
        assert not any("profile" in option for option in volume.inputs["spec"]["mountOptions"])


def test_the_data_are_read_only_and_checkpoints_are_asked_after_each_time() -> None:
    recording = run()
    data, checkpoints = both(recording, "data")[0].inputs["spec"], both(recording, "checkpoints")[0].inputs["spec"]
    assert data["csi"]["readOnly"] is True and data["accessModes"] == ["ReadOnlyMany"]
    assert data["mountOptions"] == ["implicit-dirs", f"only-dir={data_prefix().rstrip('/')}"]
    assert "readOnly" not in checkpoints["csi"]
    assert checkpoints["mountOptions"] == [
        "implicit-dirs",
        f"only-dir={team_prefix('vision').rstrip('/')}",
        "metadata-cache:ttl-secs:0",
    ]


def test_a_team_that_sees_its_own_data_mounts_no_others() -> None:
    options = both(run(per_team=True), "data")[0].inputs["spec"]["mountOptions"]
    assert f"only-dir={data_prefix('vision').rstrip('/')}" in options


def test_who_brings_the_data_in_sees_what_is_there_now() -> None:
    written = ingest_volume(buckets())
    assert written["access_mode"] == "ReadWriteMany"
    assert "storage_class" not in written


def test_another_class_replaces_the_volume_too() -> None:
    """A volume that is kept stays with the claim that it was bound to, whatever the next one is called."""
    for tier in ("data", "checkpoints"):
        volume, claim = both(run(), tier)
        assert "spec.storageClassName" in volume.replace_on_changes
        assert claim.delete_before_replace and volume.delete_before_replace


def test_gke_counts_what_it_mounts_by_a_profile_and_reads_none_of_it() -> None:
    made = recorded()
    for tier in ("data", "checkpoints"):
        grant = made.one(MEMBER, f"acme-demo-{tier}-counted").inputs
        assert grant["role"] == "roles/storage.legacyBucketReader"
        assert grant["member"].startswith("serviceAccount:") and "container" in grant["member"]
    assert not [found for found in made.of_type(MEMBER) if found.name == "acme-demo-artifacts-counted"]
