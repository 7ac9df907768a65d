"""Truth tables of the walls around data: volumes, file systems, keys."""

import json

from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, kubernetes, made, table

OWN = "111122223333"
ROOT = f"arn:aws:iam::{OWN}:root"
DEPLOY = f"arn:aws:iam::{OWN}:role/deploy"
EFS = made("aws:efs/fileSystem:FileSystem", "shared", {"encrypted": True})
POINT = f"arn:aws:elasticfilesystem:us-east-1:{OWN}:access-point/fsap-1"
MOUNT = ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]


def volume(name="a-data", namespace="team-a", **spec):
    claim = {"claimRef": {"namespace": namespace, "name": "data"}} if namespace else {}
    return kubernetes("core/v1:PersistentVolume", name, "", spec={**claim, **spec})


def s3(source="pod", prefix="", options=(), **csi):
    attributes = {"bucketName": "acme-data", **({"authenticationSource": source} if source else {})}
    mount = [*([f"prefix {prefix}"] if prefix else []), *options]
    return {"csi": {"driver": "s3.csi.aws.com", "volumeAttributes": attributes, **csi}, "mountOptions": mount}


def lustre(mount_name, *options, **csi):
    attributes = {"dnsname": "fs-1.fsx", "mountname": mount_name}
    return {
        "csi": {"driver": "fsx.csi.aws.com", "volumeAttributes": attributes, **csi},
        "mountOptions": ["flock", *options],
    }


def efs(handle="fs-1::fsap-1", options=("iam",), **attributes):
    csi = {"driver": "efs.csi.aws.com", "volumeHandle": handle, "volumeAttributes": attributes}
    return {"csi": csi, "mountOptions": list(options)}


def namespace(name, *, team=True):
    labels = {"ml.platform/team": name} if team else {}
    found = kubernetes("core/v1:Namespace", name, "")
    found.inputs["metadata"].update(name=name, labels=labels)
    return found


TEAMS = [namespace("team-a"), namespace("team-b"), namespace("ingest", team=False)]


def policy(*statements):
    return [
        EFS,
        made(
            "aws:efs/fileSystemPolicy:FileSystemPolicy", "policy", _document(*statements), uses={"fileSystemId": [EFS]}
        ),
    ]


def _document(*statements):
    return {"policy": json.dumps({"Statement": [{"Effect": "Allow", "Resource": "*", **one} for one in statements]})}


def deny(condition, action=MOUNT):
    found = {"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": action}
    return {**found, "Condition": condition} if condition else found


ALLOW = {
    "Principal": {"AWS": ROOT},
    "Action": MOUNT,
    "Condition": {"StringEquals": {"elasticfilesystem:AccessPointArn": [POINT]}},
}
TLS = deny({"Bool": {"aws:SecureTransport": "false"}})
THROUGH_A_POINT = deny({"Null": {"elasticfilesystem:AccessPointArn": "true"}})
NO_ROOT = deny(None, "elasticfilesystem:ClientRootAccess")


def squashed(root="10001:10001", nids=None):
    own = {"rootSquash": root, **({"noSquashNids": nids} if nids else {})}
    return made("aws:fsx/lustreFileSystem:LustreFileSystem", "lustre", {"rootSquashConfiguration": own} if root else {})


def key(*statements, name="key"):
    return made(
        "aws:kms/key:Key",
        name,
        _document(*statements) if statements else {},
    )


def apart(a_key, *statements):
    """A key's policy as a resource of its own."""
    return made("aws:kms/keyPolicy:KeyPolicy", f"{a_key.name}-policy", _document(*statements), uses={"keyId": [a_key]})


def account(*actions, **condition):
    found = {"Sid": "One", "Principal": {"AWS": ROOT}, "Action": list(actions)}
    return {**found, "Condition": condition} if condition else found


def bucket_of(a_key, name="acme-data"):
    bucket = made("aws:s3/bucket:Bucket", name, {})
    type_ = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    return [bucket, made(type_, f"{name}-encryption", {}, uses={"bucket": [bucket], "rules": [a_key]})]


def role_policy(a_key, *, via=("s3.us-east-1.amazonaws.com",), bucket="arn:aws:s3:::acme-data", resource=None):
    condition = {
        **({"StringEquals": {"kms:ViaService": list(via)}} if via else {}),
        **({"ArnLike": {"kms:EncryptionContext:aws:s3:arn": [bucket]}} if bucket else {}),
    }
    statement = {"Action": ["kms:Decrypt"], "Resource": resource or f"arn:aws:kms:us-east-1:{OWN}:key/{a_key.name}"}
    document = _document({**statement, **({"Condition": condition} if condition else {})})
    return made("aws:iam/rolePolicy:RolePolicy", "role-policy", document, uses={"policy": [a_key]})


def grant(a_key, **constraint):
    inputs = {"constraints": [constraint]} if constraint else {}
    return made("aws:kms/grant:Grant", "grant", inputs, uses={"keyId": [a_key]})


KEY = key()
OTHER = key(name="other")
CLUSTER = made("aws:eks/cluster:Cluster", "cluster", {}, uses={"encryptionConfig": [KEY]})
DATABASE = made("aws:rds/instance:Instance", "database", {}, uses={"kmsKeyId": [KEY]})

CASES = [
    *table(
        "volume-for-any-claim",
        ("a claim of a namespace", OK, volume()),
        ("no claim", VIOLATED, volume(namespace="")),
        ("a claim of any namespace", VIOLATED, volume(namespace="", claimRef={"name": "data"})),
        ("a namespace without a claim", VIOLATED, volume(namespace="", claimRef={"namespace": "team-a"})),
        ("a namespace that is not known yet", OK, volume(namespace=UNKNOWN)),
    ),
    *table(
        "volume-with-the-drivers-rights",
        ("a bucket as the pod", OK, volume(**s3())),
        ("a bucket as the driver", VIOLATED, volume(**s3("driver"))),
        ("a bucket as whoever is the default", VIOLATED, volume(**s3(""))),
        ("a directory of EFS", OK, volume(**efs())),
        ("an access point among the options", OK, volume(**efs("fs-1", ("iam", "accesspoint=fsap-1")))),
        ("all of EFS", VIOLATED, volume(**efs("fs-1"))),
        ("a path of EFS", VIOLATED, volume(**efs("fs-1:/home/a"))),
        ("EFS without a role", VIOLATED, volume(**efs(options=()))),
        ("EFS without TLS", VIOLATED, volume(**efs(encryptInTransit="false"))),
        ("EFS, past its driver", VIOLATED, volume(nfs={"server": "fs-1.efs", "path": "/"})),
        ("the node's files", VIOLATED, volume(hostPath={"path": "/var"})),
        ("a disk of the node", VIOLATED, volume(local={"path": "/mnt/disk"})),
        ("Lustre", OK, volume(**lustre("abc/data"))),
        ("a handle that is not known yet", UNDECIDED, volume(**efs(UNKNOWN))),
    ),
    *table(
        "team-writes-what-others-read",
        (
            "all read",
            OK,
            [
                *TEAMS,
                volume("a", **lustre("abc/data", "ro")),
                volume("b", "team-b", **lustre("abc/data", readOnly=True)),
            ],
        ),
        (
            "one writes",
            VIOLATED,
            [*TEAMS, volume("a", **lustre("abc/data")), volume("b", "team-b", **lustre("abc/data", "ro"))],
        ),
        (
            "an access mode binds nobody",
            VIOLATED,
            [
                *TEAMS,
                volume("a", accessModes=["ReadOnlyMany"], **lustre("abc/data")),
                volume("b", "team-b", **lustre("abc/data", "ro")),
            ],
        ),
        (
            "folders of their own",
            OK,
            [*TEAMS, volume("a", **lustre("abc/s/a")), volume("b", "team-b", **lustre("abc/s/ab"))],
        ),
        (
            "the folder above another's",
            VIOLATED,
            [*TEAMS, volume("a", **lustre("abc/s")), volume("b", "team-b", **lustre("abc/s/b"))],
        ),
        (
            "a folder in what others read",
            VIOLATED,
            [*TEAMS, volume("a", **lustre("abc/data/a")), volume("b", "team-b", **lustre("abc/data", "ro"))],
        ),
        (
            "two mounts of one namespace",
            OK,
            [*TEAMS, volume("a", **lustre("abc/a", "ro")), volume("b", **lustre("abc/a"))],
        ),
        (
            "ingest writes what teams read",
            OK,
            [
                *TEAMS,
                volume("a", **s3(prefix="data/", options=["read-only"])),
                volume("i", "ingest", **s3(prefix="data/")),
            ],
        ),
        (
            "a team writes the bucket that another reads a part of",
            VIOLATED,
            [*TEAMS, volume("a", **s3()), volume("b", "team-b", **s3(prefix="data/", options=["read-only"]))],
        ),
        (
            "one directory for two",
            VIOLATED,
            [*TEAMS, volume("a", **efs()), volume("b", "team-b", **efs())],
        ),
        ("a directory each", OK, [*TEAMS, volume("a", **efs()), volume("b", "team-b", **efs("fs-1::fsap-2"))]),
        (
            "a mount that is not known yet",
            UNDECIDED,
            [*TEAMS, volume("a", **lustre(UNKNOWN)), volume("b", "team-b", **lustre("abc/data"))],
        ),
    ),
    *table(
        "file-system-open-to-the-network",
        ("a policy", OK, policy(ALLOW, TLS, THROUGH_A_POINT, NO_ROOT)),
        ("access points named by what is allowed", OK, policy(ALLOW, TLS)),
        ("no policy", VIOLATED, [EFS]),
        ("nobody", OK, policy(TLS)),
        ("without TLS", VIOLATED, policy(ALLOW, THROUGH_A_POINT, NO_ROOT)),
        (
            "TLS asked of one action",
            VIOLATED,
            policy(ALLOW, deny({"Bool": {"aws:SecureTransport": "false"}}, "elasticfilesystem:ClientWrite")),
        ),
        (
            "TLS asked of some",
            VIOLATED,
            policy(
                ALLOW,
                deny({"Bool": {"aws:SecureTransport": "false"}, "StringEquals": {"aws:PrincipalAccount": "1"}}),
            ),
        ),
        ("past the access points", VIOLATED, policy({**ALLOW, "Condition": {}}, TLS)),
        ("past the access points, denied", OK, policy({**ALLOW, "Condition": {}}, TLS, THROUGH_A_POINT)),
        ("everybody in the network", VIOLATED, policy({**ALLOW, "Principal": {"AWS": "*"}}, TLS, THROUGH_A_POINT)),
        (
            "root",
            VIOLATED,
            policy({**ALLOW, "Action": [*MOUNT, "elasticfilesystem:ClientRootAccess"]}, TLS, THROUGH_A_POINT),
        ),
        ("root by a wildcard", VIOLATED, policy({**ALLOW, "Action": "elasticfilesystem:*"}, TLS, THROUGH_A_POINT)),
        ("root, denied", OK, policy({**ALLOW, "Action": "elasticfilesystem:Client*"}, TLS, THROUGH_A_POINT, NO_ROOT)),
        ("squashed", OK, squashed()),
        ("not squashed", VIOLATED, squashed("")),
        ("squashed to root", VIOLATED, squashed("0:0")),
        ("squashed to root's group", VIOLATED, squashed("10001:0")),
        ("but for one node", OK, squashed(nids=["10.0.1.6@tcp"])),
        ("but for all nodes", VIOLATED, squashed(nids=["10.0.[0-255].[0-255]@tcp"])),
        ("squashed to an unknown", UNDECIDED, squashed(UNKNOWN)),
    ),
    *table(
        "key-changed-by-the-account",
        ("administrators", OK, key(account("kms:*", ArnLike={"aws:PrincipalArn": [ROOT, DEPLOY]}))),
        ("a role", OK, key({"Principal": {"AWS": DEPLOY}, "Action": "kms:*"})),
        ("use and looks", OK, key(account("kms:Decrypt", "kms:GenerateDataKey*", "kms:Describe*", "kms:Get*"))),
        ("AWS's own policy", VIOLATED, key()),
        ("a policy apart", OK, [key(), apart(key(), account("kms:Decrypt"))]),
        ("a policy apart, of another key", VIOLATED, [key(), apart(key(name="other"), account("kms:Decrypt"))]),
        ("a policy apart that gives all", VIOLATED, [key(), apart(key(), account("kms:*"))]),
        ("AWS's own policy, written down", VIOLATED, key(account("kms:*"))),
        ("everything", VIOLATED, key(account("*"))),
        ("all but some", VIOLATED, key({"Principal": {"AWS": ROOT}, "NotAction": "kms:Decrypt"})),
        ("the policy", VIOLATED, key(account("kms:PutKeyPolicy"))),
        ("the end", VIOLATED, key(account("kms:ScheduleKeyDeletion"))),
        ("grants to anybody", VIOLATED, key(account("kms:CreateGrant"))),
        ("grants to services", OK, key(account("kms:CreateGrant", Bool={"kms:GrantIsForAWSResource": "true"}))),
        ("through a service", VIOLATED, key(account("kms:Put*", StringEquals={"kms:ViaService": "s3.amazonaws.com"}))),
        ("any role", VIOLATED, key(account("kms:*", ArnLike={"aws:PrincipalArn": f"arn:aws:iam::{OWN}:role/*"}))),
        ("anybody but one", VIOLATED, key(account("kms:*", ArnNotLike={"aws:PrincipalArn": DEPLOY}))),
        (
            "another account, which is another policy's",
            OK,
            [
                made("aws:budgets/budget:Budget", "budget", {"accountId": OWN}),
                key({"Principal": {"AWS": "444455556666"}, "Action": "kms:*"}),
            ],
        ),
        ("denied", OK, key({**account("kms:*"), "Effect": "Deny"})),
        ("not known yet", UNDECIDED, made("aws:kms/key:Key", "key", {"policy": UNKNOWN})),
    ),
    *table(
        "key-shared-between-classes",
        ("a key a bucket", OK, [KEY, OTHER, *bucket_of(KEY), *bucket_of(OTHER, "acme-checkpoints")]),
        ("two buckets", VIOLATED, [KEY, *bucket_of(KEY), *bucket_of(KEY, "acme-checkpoints")]),
        ("a database and its server's bucket", OK, [KEY, *bucket_of(KEY), DATABASE]),
        ("a bucket and the cluster", VIOLATED, [KEY, *bucket_of(KEY), CLUSTER]),
        ("the database and the cluster", VIOLATED, [KEY, DATABASE, CLUSTER]),
        ("the cluster", OK, [KEY, CLUSTER]),
        (
            "told by what it is made of, not by a value",
            VIOLATED,
            [
                made("aws:kms/key:Key", "key", {"policy": UNKNOWN}),
                *bucket_of(KEY),
                *bucket_of(KEY, "acme-checkpoints"),
            ],
        ),
    ),
    *table(
        "key-use-not-bound-to-its-bucket",
        ("bound", OK, [KEY, *bucket_of(KEY), role_policy(KEY)]),
        ("any bucket", VIOLATED, [KEY, *bucket_of(KEY), role_policy(KEY, bucket="")]),
        ("any bucket, in other words", VIOLATED, [KEY, *bucket_of(KEY), role_policy(KEY, bucket="*")]),
        ("any service", VIOLATED, [KEY, *bucket_of(KEY), role_policy(KEY, via=())]),
        (
            "the secret's service",
            OK,
            [KEY, *bucket_of(KEY), role_policy(KEY, via=("secretsmanager.us-east-1.amazonaws.com",), bucket="")],
        ),
        ("every key", VIOLATED, [KEY, *bucket_of(KEY), role_policy(KEY, via=(), bucket="", resource="*")]),
        ("a key of no bucket", OK, [KEY, OTHER, *bucket_of(OTHER), role_policy(KEY, via=(), bucket="")]),
        ("a bound grant", OK, [KEY, *bucket_of(KEY), grant(KEY, encryptionContextSubset={"aws:s3:arn": "arn"})]),
        ("a grant for all", VIOLATED, [KEY, *bucket_of(KEY), grant(KEY)]),
        (
            "not known yet",
            UNDECIDED,
            [
                KEY,
                *bucket_of(KEY),
                made("aws:iam/rolePolicy:RolePolicy", "p", {"policy": UNKNOWN}, uses={"policy": [KEY]}),
            ],
        ),
    ),
]
