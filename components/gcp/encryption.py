"""Keys of the environment: one a class of data, each with the agents of the services that encrypt with it."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.kms as kms

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

ROTATION = "7776000s"
"""Ninety days: at most so long does CKV_GCP_43 want a version in use."""

_USER = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


class ProjectKeysArgs(TypedDict):
    """What `ProjectKeys` needs."""

    location: pulumi.Input[str]
    """Location of the keys: that of what they encrypt, never `global`."""
    members: Mapping[str, Mapping[str, pulumi.Input[str]]]
    """Class of data to who encrypts and decrypts with its key: a short name that stays, and an IAM member such as
    `serviceAccount:service-1@gs-project-accounts.iam.gserviceaccount.com`."""
    protect: bool
    """Whether Pulumi refuses to delete or replace the keys."""
    stay: NotRequired[Sequence[str]]
    """Short names among `members` that a destroy leaves on their key: those of a service whose copies outlast the
    stack, and cannot be read without."""


class ProjectKeys(pulumi.ComponentResource):
    """A key ring with a key a class of data.

    A key ring and its keys stay for ever and their names can never be used again; destroying a key destroys its
    versions, and with them what is encrypted: keys are left alone when the stack goes. `granted` lists, by class, what
    has to be there before anything is encrypted. `depends_on` is what it waits for: the service cloudkms.
    """

    key_ids: dict[str, pulumi.Output[str]]
    """Class of data to the id of its key: projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY."""

    def __init__(self, name: str, args: ProjectKeysArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError where no class of data is named, and where one that is to stay is no member."""
        super().__init__("trainyard:index:ProjectKeys", name, None, opts)
        if not args["members"]:
            raise ValueError("members: got none; a key for at least one class of data")
        stay = set(args.get("stay", ()))
        if unknown := sorted(stay - {who for members in args["members"].values() for who in members}):
            raise ValueError(f"stay: got {', '.join(unknown)}; must be among the members of a class")
        ring = kms.KeyRing(
            f"{name}-keys",
            location=args["location"],
            opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
        )
        self.key_ids = {}
        self.granted: dict[str, Sequence[pulumi.Resource]] = {}
        for class_, members in args["members"].items():
            key = kms.CryptoKey(
                f"{name}-{class_}",
                key_ring=ring.id,
                purpose="ENCRYPT_DECRYPT",
                rotation_period=ROTATION,
                destroy_scheduled_duration="2592000s",  # thirty days to notice
                version_template={"algorithm": "GOOGLE_SYMMETRIC_ENCRYPTION", "protection_level": "SOFTWARE"},
                deletion_policy="ABANDON",
                opts=pulumi.ResourceOptions(parent=self, protect=args["protect"]),
            )
            self.key_ids[class_] = key.id
            self.granted[class_] = [
                kms.CryptoKeyIAMMember(
                    f"{name}-{class_}-{who}",
                    crypto_key_id=key.id,
                    role=_USER,
                    member=member,
                    opts=pulumi.ResourceOptions(parent=self, retain_on_delete=who in stay or None),
                )
                for who, member in members.items()
            ]
        register(self)
