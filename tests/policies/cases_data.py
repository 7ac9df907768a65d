"""Truth tables of checkpoints and data."""

from tests.policies.truth import (
    NOT_APPLICABLE,
    OK,
    UNDECIDED,
    UNKNOWN,
    VIOLATED,
    bucket,
    kubernetes,
    made,
    node_group,
    table,
    team,
    unknown,
)

CHECKPOINTS = bucket("acme-checkpoints")
KEY = made("aws:kms/key:Key", "key", {})
KEPT_KEY = made("aws:kms/key:Key", "kept", {}, retain_on_delete=True)
OPEN_ZFS = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"


def volume(*uses):
    return kubernetes("core/v1:PersistentVolume", "a-checkpoints", spec={}, uses={"spec": uses})


def claim(name="checkpoints", of="a-checkpoints"):
    return kubernetes("core/v1:PersistentVolumeClaim", name, "team-a", spec={"volumeName": of})


def lifecycle(name, *rules):
    rules = [{"status": "Enabled", "id": "rule", **rule} for rule in rules]
    type_ = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
    return made(type_, f"{name}-lifecycle", {"rules": rules})


def superseded(days, kept=None):
    rule = {"noncurrentDays": days} | ({"newerNoncurrentVersions": kept} if kept else {})
    return {"noncurrentVersionExpiration": rule}


def gcs(**inputs):
    return made("gcp:storage/bucket:Bucket", "data", inputs, protect=True)


def versioning(of, status="Enabled"):
    inputs = {"bucket": UNKNOWN, "versioningConfiguration": {"status": status}}
    return made("aws:s3/bucketVersioning:BucketVersioning", "versioning", inputs, uses={"bucket": [of]})


def database(**inputs):
    sound = {"deletionProtection": True, "backupRetentionPeriod": 14, "skipFinalSnapshot": False}
    uses = inputs.pop("uses", {})
    return made("aws:rds/instance:Instance", "db", sound | inputs, protect=True, uses=uses)


def encrypted_by(key, **inputs):
    kept = bucket(**inputs)
    type_ = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    return [kept, made(type_, "encryption", {}, uses={"bucket": [kept], "rules": [key]})]


LUSTRE = made("aws:fsx/lustreFileSystem:LustreFileSystem", "fs", {"automaticBackupRetentionDays": 0}, protect=True)


def cloud_sql(**backups):
    inputs = {"settings": {"backupConfiguration": backups}}
    return made("gcp:sql/databaseInstance:DatabaseInstance", "db", inputs, protect=True)


def association(events=("NEW", "CHANGED"), uses=(CHECKPOINTS,)):
    return made(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        "link",
        {"dataRepositoryPath": UNKNOWN, "s3": {"autoExportPolicy": {"events": list(events)}}},
        uses={"fileSystemId": [LUSTRE], "dataRepositoryPath": uses},
    )


ENDS = {
    "policy": "stateful-resource-unprotected",
    "resource": "*",
    "reason": "the project ends, the data has moved",
    "owner": "ml-platform@acme.example",
    "expires": "2999-12-31",
}
TEARDOWN = {"policyExceptions": [ENDS]}


CASES = [
    *table(
        "spot-pool-without-checkpoint-tier",
        ("every team", OK, [node_group(), team("a"), CHECKPOINTS, volume(CHECKPOINTS), claim()]),
        ("no claim", VIOLATED, [node_group(), team("a"), CHECKPOINTS, volume(CHECKPOINTS)]),
        ("one of two teams", VIOLATED, [node_group(), team("a"), team("b"), CHECKPOINTS, volume(CHECKPOINTS), claim()]),
        ("volume of no bucket", VIOLATED, [node_group(), team("a"), CHECKPOINTS, volume(), claim()]),
        ("other name", VIOLATED, [node_group(), team("a"), CHECKPOINTS, volume(CHECKPOINTS), claim("data")]),
        ("no team", VIOLATED, node_group()),
        ("no spot", NOT_APPLICABLE, [node_group(capacity="on-demand"), team("a")]),
        ("namespace unknown", UNDECIDED, [node_group(), unknown(team("a"), "metadata")]),
    ),
    *table(
        "lifecycle-deletes-newest-version",
        ("superseded only", OK, lifecycle("data", superseded(30))),
        ("by age", VIOLATED, lifecycle("data", {"expiration": {"days": 30}})),
        ("by date", VIOLATED, lifecycle("data", {"expiration": {"date": "2027-01-01"}})),
        ("delete markers", OK, lifecycle("data", {"expiration": {"expiredObjectDeleteMarker": True}})),
        ("disabled", OK, lifecycle("data", {"expiration": {"days": 1}, "status": "Disabled"})),
        ("access logs", OK, lifecycle("acme-logs", {"expiration": {"days": 365}})),
        ("checkpoints keep three", OK, lifecycle("checkpoints", superseded(30, 3), superseded(180))),
        ("checkpoints keep none", VIOLATED, lifecycle("checkpoints", superseded(30))),
        ("days unknown", VIOLATED, lifecycle("data", {"expiration": {"days": UNKNOWN}})),
        ("rules unknown", UNDECIDED, unknown(lifecycle("data"), "rules")),
        ("GCP by age", VIOLATED, gcs(lifecycleRules=[{"action": {"type": "Delete"}, "condition": {"age": 30}}])),
        (
            "GCP superseded",
            OK,
            gcs(lifecycleRules=[{"action": {"type": "Delete"}, "condition": {"numNewerVersions": 3}}]),
        ),
    ),
    *table(
        "bucket-without-versioning",
        ("enabled", OK, [bucket(), versioning(bucket())]),
        ("by the lock of its objects", OK, made(bucket().type, "b", {"objectLockEnabled": True})),
        ("none", VIOLATED, bucket()),
        ("suspended", VIOLATED, [bucket(), versioning(bucket(), "Suspended")]),
        ("of another bucket", VIOLATED, [bucket(), bucket("b"), versioning(bucket())]),
        ("status unknown", UNDECIDED, [bucket(), unknown(versioning(bucket()), "versioningConfiguration", "status")]),
        ("GCP", OK, gcs(versioning={"enabled": True})),
        ("GCP off", VIOLATED, gcs(versioning={"enabled": False})),
        ("GCP hierarchical", OK, gcs(hierarchicalNamespace={"enabled": True})),
    ),
    *table(
        "artifact-versions-kept-too-short",
        ("a year", OK, lifecycle("artifacts", superseded(365))),
        ("a month", VIOLATED, lifecycle("artifacts", superseded(30))),
        ("another bucket", OK, lifecycle("data", superseded(30))),
        ("a month is enough", OK, lifecycle("artifacts", superseded(30)), {}, {"minDays": 30}),
        ("days unknown", UNDECIDED, lifecycle("artifacts", superseded(UNKNOWN))),
    ),
    *table(
        "stateful-resource-unprotected",
        ("protected", OK, database()),
        ("not protected", VIOLATED, made(bucket().type, "data", {})),
        ("the service's own off", VIOLATED, database(deletionProtection=False)),
        ("forced", VIOLATED, bucket(forceDestroy=True)),
        ("holds nothing", OK, made("aws:ec2/vpc:Vpc", "vpc", {})),
        ("flag unknown", UNDECIDED, database(deletionProtection=UNKNOWN)),
        ("GCP", VIOLATED, made("gcp:storage/bucket:Bucket", "data", {})),
        ("teardown, written down", OK, bucket(protect=False), TEARDOWN),
        ("teardown, over", VIOLATED, bucket(protect=False), {"policyExceptions": [{**ENDS, "expires": "2020-01-01"}]}),
        ("teardown of another", VIOLATED, bucket(protect=False), {"policyExceptions": [{**ENDS, "resource": "other"}]}),
        ("cluster", VIOLATED, made("aws:eks/cluster:Cluster", "c", {"deletionProtection": False})),
        ("cluster, protected", OK, made("aws:eks/cluster:Cluster", "c", {"deletionProtection": True}, protect=True)),
        ("cluster, replaced by a line", VIOLATED, made("aws:eks/cluster:Cluster", "c", {"deletionProtection": True})),
        ("cluster, not said", VIOLATED, made("aws:eks/cluster:Cluster", "c", {})),
        ("GKE", VIOLATED, made("gcp:container/cluster:Cluster", "c", {"deletionProtection": False}, protect=True)),
        ("GKE, protected", OK, made("gcp:container/cluster:Cluster", "c", {}, protect=True)),
        ("GKE, replaced by a line", VIOLATED, made("gcp:container/cluster:Cluster", "c", {})),
    ),
    *table(
        "database-without-backups",
        ("two weeks", OK, database()),
        ("a day", VIOLATED, database(backupRetentionPeriod=1)),
        ("no final snapshot", VIOLATED, database(skipFinalSnapshot=True)),
        ("a cluster's, a day where it does not say", OK, made("aws:rds/cluster:Cluster", "c", {}), {}, {"minDays": 1}),
        (
            "an instance's, none where it does not say",
            VIOLATED,
            made("aws:rds/instance:Instance", "i", {}),
            {},
            {"minDays": 1},
        ),
        ("unknown", UNDECIDED, database(backupRetentionPeriod=UNKNOWN)),
        ("a replica", OK, database(replicateSourceDb="db", backupRetentionPeriod=0, skipFinalSnapshot=True)),
        ("no replica any more", VIOLATED, database(replicateSourceDb="", backupRetentionPeriod=0)),
        (
            "Cloud SQL, a replica",
            OK,
            made("gcp:sql/databaseInstance:DatabaseInstance", "r", {"masterInstanceName": "db"}),
        ),
        ("Cloud SQL", OK, cloud_sql(enabled=True)),
        ("Cloud SQL, none", VIOLATED, cloud_sql()),
        ("Cloud SQL, three", VIOLATED, cloud_sql(enabled=True, backupRetentionSettings={"retainedBackups": 3})),
        ("a day is enough", OK, database(backupRetentionPeriod=1), {}, {"minDays": 1}),
    ),
    *table(
        "key-gone-before-its-data",
        ("stays", OK, [KEPT_KEY, *encrypted_by(KEPT_KEY)]),
        ("goes", VIOLATED, [KEY, *encrypted_by(KEY)]),
        ("goes before a snapshot", VIOLATED, [KEY, database(uses={"kmsKeyId": [KEY]})]),
        ("no snapshot", OK, [KEY, database(skipFinalSnapshot=True, uses={"kmsKeyId": [KEY]})]),
        (
            "no snapshot, backups stay",
            VIOLATED,
            [KEY, database(skipFinalSnapshot=True, deleteAutomatedBackups=False, uses={"kmsKeyId": [KEY]})],
        ),
        ("a snapshot of another key", OK, [KEY, KEPT_KEY, database(uses={"kmsKeyId": [KEPT_KEY]})]),
        ("a bucket that is emptied", OK, [KEY, *encrypted_by(KEY, forceDestroy=True)]),
        (
            "a volume that stays",
            VIOLATED,
            [KEY, made("aws:ebs/volume:Volume", "v", {}, uses={"kmsKeyId": [KEY]}, retain_on_delete=True)],
        ),
        ("a volume that goes", OK, [KEY, made("aws:ebs/volume:Volume", "v", {}, uses={"kmsKeyId": [KEY]})]),
        ("a file system", OK, [KEY, made(LUSTRE.type, "fs", {}, uses={"kmsKeyId": [KEY]})]),
        (
            "a file system with a last backup",
            VIOLATED,
            [KEY, made(LUSTRE.type, "fs", {"skipFinalBackup": False}, uses={"kmsKeyId": [KEY]})],
        ),
        ("OpenZFS backs up by itself", VIOLATED, [KEY, made(OPEN_ZFS, "fs", {}, uses={"kmsKeyId": [KEY]})]),
        ("nothing encrypted", OK, KEY),
        ("unknown", UNDECIDED, [KEY, database(skipFinalSnapshot=UNKNOWN, uses={"kmsKeyId": [KEY]})]),
    ),
    *table(
        "lustre-without-durable-bucket",
        ("linked", OK, [LUSTRE, association(), CHECKPOINTS]),
        ("alone", VIOLATED, LUSTRE),
        ("import only", VIOLATED, [LUSTRE, association(events=()), CHECKPOINTS]),
        ("foreign bucket", VIOLATED, [LUSTRE, association(uses=()), CHECKPOINTS]),
        ("backed up", OK, made(LUSTRE.type, "fs", {"automaticBackupRetentionDays": 7})),
        ("path unknown", OK, [LUSTRE, association(), CHECKPOINTS]),
        ("events unknown", UNDECIDED, [LUSTRE, unknown(association(), "s3"), CHECKPOINTS]),
    ),
]
