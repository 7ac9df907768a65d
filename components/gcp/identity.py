"""What pods may do on Google Cloud: roles given to their service account of Kubernetes directly, without a key."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_gcp.storage as storage

from trainyard.components.outputs import register

READ, WRITE = "roles/storage.objectViewer", "roles/storage.objectUser"
"""Roles on objects: to read and list; to write and delete too."""


class FolderRightArgs(TypedDict):
    """A right on a bucket, or on a folder of it."""

    name: str
    """Short name that stays, such as `data`."""
    bucket: pulumi.Input[str]
    """Name of the bucket."""
    folder: NotRequired[str]
    """Folder that the right is limited to, with a slash at its end. Default: the whole bucket."""
    write: bool
    """Whether objects may be written and deleted too."""


class PodIdentityArgs(TypedDict):
    """What `PodIdentity` needs."""

    project_number: pulumi.Input[str]
    """Number of the project."""
    workload_pool: pulumi.Input[str]
    """`GkeCluster.workload_pool`, which makes the binding wait for the cluster: the pool comes with it."""
    namespace: str
    """Namespace of the service account."""
    service_account: str
    """Name of the service account of Kubernetes."""
    rights: Sequence[FolderRightArgs]
    """What its pods may do."""


class PodIdentity(pulumi.ComponentResource):
    """The rights of the pods of one service account. No key and no account of Google's stands between.

    `granted` lists them: a pod that starts earlier is refused until they hold, some minutes later.
    """

    member: pulumi.Output[str]
    """The pods as an IAM member: principal://…"""

    def __init__(self, name: str, args: PodIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a folder without a slash at its end, and for two rights of one name."""
        super().__init__("trainyard:index:PodIdentity", name, None, opts)
        names = [right["name"] for right in args["rights"]]
        if len(set(names)) != len(names):
            raise ValueError(f"rights: got {', '.join(names)}; each name once")
        self.member = pulumi.Output.concat(
            "principal://iam.googleapis.com/projects/",
            args["project_number"],
            "/locations/global/workloadIdentityPools/",
            args["workload_pool"],
            f"/subject/ns/{args['namespace']}/sa/{args['service_account']}",
        )
        child = pulumi.ResourceOptions(parent=self)
        self.granted: list[pulumi.Resource] = []
        for right in args["rights"]:
            role, folder = WRITE if right["write"] else READ, right.get("folder")
            if folder is None:
                self.granted.append(
                    storage.BucketIAMMember(
                        f"{name}-{right['name']}", bucket=right["bucket"], role=role, member=self.member, opts=child
                    )
                )
                continue
            if not folder.endswith("/"):
                raise ValueError(f"rights: folder {folder!r}; it ends with a slash")
            made = storage.ManagedFolder(
                f"{name}-{right['name']}", bucket=right["bucket"], name=folder, force_destroy=False, opts=child
            )
            self.granted.append(
                storage.ManagedFolderIamMember(
                    f"{name}-{right['name']}",
                    bucket=right["bucket"],
                    managed_folder=made.name,
                    role=role,
                    member=self.member,
                    opts=child,
                )
            )
        register(self)
