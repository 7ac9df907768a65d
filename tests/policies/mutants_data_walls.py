"""Mutants of the walls around data: each takes one of them down."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.policies.mutants import Change, Mutant, Resources, drop, edit, put
from tests.policies.mutants_unsafe import KEY, stating

VOLUME = "kubernetes:core/v1:PersistentVolume"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
GRANT = "aws:kms/grant:Grant"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
EFS_POLICY = "aws:efs/fileSystemPolicy:FileSystemPolicy"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
SHARED = {"storage": {"sharedFileSystem": True}}
DATA, CHECKPOINTS, HOME = (f"volumes-vision-{tier}-volume" for tier in ("data", "checkpoints", "home"))


def documented(type_: str, name: str, into: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Changes the statements of a policy, where the document is known."""

    def change(inputs: dict[str, Any]) -> None:
        if isinstance(inputs["policy"], str):
            document = json.loads(inputs["policy"])
            into(document["Statement"])
            inputs["policy"] = json.dumps(document)

    return edit(type_, name, change)


def without_statement(sid: str) -> Change:
    """The file system's policy loses a statement."""

    def into(statements: list[dict[str, Any]]) -> None:
        statements[:] = [statement for statement in statements if statement["Sid"] != sid]

    return documented(EFS_POLICY, "acme-demo-shared-policy", into)


def unconditional(role: str, sid: str) -> Change:
    """A right to a key loses its conditions."""

    def into(statements: list[dict[str, Any]]) -> None:
        next(each for each in statements if each["Sid"] == sid).pop("Condition")

    return documented(ROLE_POLICY, f"{role}-role-policy", into)


def written(inputs: dict[str, Any]) -> None:
    """The volume is mounted to write, whatever its access mode says."""
    inputs["spec"]["csi"].pop("readOnly")
    inputs["spec"]["mountOptions"].remove("ro")


def one_key_for_two(resources: Resources) -> list[Any]:
    """The checkpoints are encrypted with the key of the data."""
    (data,) = (each for each in resources if (each.type, each.name) == (ENCRYPTION, "acme-demo-data-encryption"))
    return [
        replace(
            each,
            inputs={**each.inputs, "rules": data.inputs["rules"]},
            property_dependencies={**each.property_dependencies, "rules": data.property_dependencies["rules"]},
        )
        if (each.type, each.name) == (ENCRYPTION, "acme-demo-checkpoints-encryption")
        else each
        for each in resources
    ]


ACCOUNT = {"AWS": "arn:aws:iam::123456789012:root"}

DATA_WALLS = (
    Mutant("volume-for-any-claim", "no claim", change=edit(VOLUME, DATA, lambda i: i["spec"].pop("claimRef"))),
    Mutant(
        "volume-with-the-drivers-rights",
        "a bucket as the driver",
        change=edit(
            VOLUME, CHECKPOINTS, put("spec", "csi", "volumeAttributes", "authenticationSource", value="driver")
        ),
    ),
    Mutant(
        "volume-with-the-drivers-rights",
        "a home without a role",
        SHARED,
        change=edit(VOLUME, HOME, put("spec", "mountOptions", value=["tls"])),
    ),
    Mutant("team-writes-what-others-read", "data to write", change=edit(VOLUME, DATA, written)),
    Mutant("file-system-open-to-the-network", "no policy", SHARED, drop(EFS_POLICY, "acme-demo-shared-policy")),
    Mutant("file-system-open-to-the-network", "no TLS", SHARED, without_statement("DenyPlainNfs")),
    Mutant(
        "file-system-open-to-the-network",
        "no squash",
        change=edit(LUSTRE, "acme-demo-lustre", lambda inputs: inputs.pop("rootSquashConfiguration")),
    ),
    Mutant(
        "file-system-open-to-the-network",
        "root of every node",
        change=edit(LUSTRE, "acme-demo-lustre", put("rootSquashConfiguration", "noSquashNids", value=["*@tcp"])),
    ),
    Mutant(
        "key-changed-by-the-account",
        "administered through IAM",
        change=stating(KEY, "data-key", Principal=ACCOUNT, Action="kms:*"),
    ),
    Mutant(
        "key-changed-by-the-account",
        "a right to pass it on",
        change=stating(KEY, "tracking-key", Principal=ACCOUNT, Action=["kms:CreateGrant"]),
    ),
    Mutant("key-shared-between-classes", "data and checkpoints", change=one_key_for_two),
    Mutant(
        "key-use-not-bound-to-its-bucket",
        "the tracking server's right",
        change=unconditional("mlflow", "KeyOfArtifacts"),
    ),
    Mutant(
        "key-use-not-bound-to-its-bucket",
        "a grant",
        change=edit(GRANT, "acme-demo-lustre-data-key", lambda inputs: inputs.pop("constraints")),
    ),
)
