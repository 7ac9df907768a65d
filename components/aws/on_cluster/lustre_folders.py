"""Folders on the FSx for Lustre file system that training pods can write to.

The root of a new file system belongs to root and is writable by nobody else, training pods run as the trainers' user,
and the FSx CSI driver does not apply a pod's `fsGroup`: without these folders nobody could write a byte. A Job makes
them once, with the claim on the file system's root in a namespace of its own.

It makes `teams/<team>`, mode 2775 with the trainers' group: what is made in it keeps the group. The folders are beside
the directory that is linked to the data bucket, so nothing of them is exported to S3 or backed up; each is the volume
`scratch` of its team (`volumes.py`).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TypedDict

import pulumi
import pulumi_kubernetes.batch.v1 as batch
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.networking.v1 as networking

from trainyard.components.aws.on_cluster.volumes import LustreVolumeArgs, file_system_root, lustre_source
from trainyard.components.k8s.network_rules import DEFAULT_DENY
from trainyard.components.k8s.objects import add_on_namespace, named, prerequisites
from trainyard.components.k8s.volumes import static_claim, static_volume
from trainyard.components.outputs import register
from trainyard.conventions import FILE_SYSTEM_ANNOTATION, SYSTEM_NODES, TRAINER_GID, team_prefix

NAMESPACE = "storage-setup"
CLAIM = "lustre-root"
MOUNT_PATH = "/lustre"
DEADLINE_SECONDS = 900
"""Seconds that all attempts of the Job may take. The work takes a second; the image is several GB and may be new to the
node."""

_FOLDER = team_prefix("$team").rstrip("/")
"""Path of one team's folder, as the shell spells it."""

SCRIPT = f"""\
root=$1
shift
make() {{
  if [ -L "$1" ]; then
    echo "$1 is a symbolic link; left alone" >&2
    exit 1
  fi
  mkdir -p -- "$1"
}}
umask 022
make "$root/{PurePosixPath(_FOLDER).parent}"
for team in "$@"; do
  make "$root/{_FOLDER}"
  chmod -- 2775 "$root/{_FOLDER}"
  ls -ld -- "$root/{_FOLDER}"
done
"""
"""Arguments: mount point, teams. A folder is its maker's, with the maker's group. Touches the folders themselves and
nothing in them, and deletes nothing, so it may run again at any time. `teams` stays root's: a team can neither remove
nor replace another's folder."""

_TEAM = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class LustreFoldersArgs(TypedDict):
    """Arguments of `LustreFolders`."""

    lustre: LustreVolumeArgs
    """The file system; of its `mount_name` only the file system's own name counts."""
    teams: Sequence[str]
    """Short names of the teams that get a folder."""
    image: str
    """Image with a POSIX shell, chmod, ls and mkdir, `image:tag@sha256:...`. A change of it alone does not run
    the Job again."""


class LustreFolders(pulumi.ComponentResource):
    """The folders `teams/<team>` at the root of the file system, made by a Job.

    Users of the folders depend on the component: the engine reports the Job as made once it has succeeded.

    The Job runs again when the teams or the file system change, or after it has failed, and not otherwise. A team that
    is left out keeps its folder. Raises ValueError for an image without a digest and for a team's name that is no DNS
    label.
    """

    namespace: pulumi.Output[str]
    """Namespace that the Job runs in."""

    def __init__(self, name: str, args: LustreFoldersArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:LustreFolders", name, {}, opts)
        if "@sha256:" not in args["image"]:
            raise ValueError(f"the image of {name} has to be pinned by its digest, got {args['image']}")
        for team in args["teams"]:
            if not _TEAM.fullmatch(team):
                raise ValueError(f"a team's folder is named by a DNS label, got {team!r}")
        before = prerequisites(opts)
        namespace = add_on_namespace(f"{name}-namespace", NAMESPACE, self, pod_security="baseline", depends_on=before)
        child = pulumi.ResourceOptions(parent=self, depends_on=before)
        fence = networking.NetworkPolicy(
            f"{name}-default-deny",
            metadata={"name": "default-deny", "namespace": named(namespace, NAMESPACE)},
            # The node's kernel mounts the file system; the pod itself talks to nobody.
            spec=DEFAULT_DENY,
            opts=child,
        )
        # A handle of its own, as those of the teams' volumes; no team's name can hold an underscore.
        root = lustre_source(file_system_root(args["lustre"]), "_root")
        volume = static_volume(name, root, volume_name=CLAIM, claim=CLAIM, namespace=NAMESPACE, opts=child)
        claim = static_claim(name, root, volume=volume, claim=CLAIM, namespace=named(namespace, NAMESPACE), opts=child)
        self._job(name, args, namespace, claim, [*before, fence])
        self.namespace = named(namespace, NAMESPACE)
        register(self)

    def _job(
        self,
        name: str,
        args: LustreFoldersArgs,
        namespace: core.Namespace,
        claim: pulumi.Output[str],
        before: Sequence[pulumi.Resource],
    ) -> batch.Job:
        arguments = [MOUNT_PATH, *sorted(set(args["teams"]))]
        digest = content_hash(arguments)
        labels = {"app.kubernetes.io/name": "lustre-folders"}
        template: core.PodTemplateSpecArgsDict = {
            # A new file system has no folders yet.
            "metadata": {
                "labels": labels,
                "annotations": {FILE_SYSTEM_ANNOTATION: args["lustre"]["file_system_id"]},
            },
            "spec": {
                "restart_policy": "Never",  # the log of an attempt that failed stays
                "automount_service_account_token": False,
                "enable_service_links": False,
                "node_selector": dict(SYSTEM_NODES),
                "security_context": {
                    # The one pod of the platform that is root, without a capability: the root of a new file system
                    # is root's, and nobody else can write there.
                    "run_as_user": 0,
                    # What it makes belongs to the trainers' group, and chmod keeps the setgid bit, which it drops
                    # where the folder's group is not the caller's (chmod(2)).
                    "run_as_group": TRAINER_GID,
                    "seccomp_profile": {"type": "RuntimeDefault"},
                },
                "containers": [
                    {
                        "name": "folders",
                        "image": args["image"],
                        "image_pull_policy": "IfNotPresent",
                        "command": ["sh", "-euc", SCRIPT, "lustre-folders"],
                        "args": arguments,
                        "resources": {
                            "requests": {"cpu": "10m", "memory": "32Mi"},
                            "limits": {"cpu": "100m", "memory": "64Mi"},
                        },
                        "security_context": {
                            "allow_privilege_escalation": False,
                            "read_only_root_filesystem": True,
                            "capabilities": {"drop": ["ALL"]},
                        },
                        "volume_mounts": [{"name": CLAIM, "mount_path": MOUNT_PATH}],
                    }
                ],
                "volumes": [{"name": CLAIM, "persistent_volume_claim": {"claim_name": claim}}],
            },
        }
        return batch.Job(
            # The hash is in the logical name too: a run for other teams is another resource, which ignores nothing of
            # what is declared, while the Job that has run ignores a newer image.
            f"{name}-job-{digest}",
            metadata={
                "name": f"lustre-folders-{digest}",
                "namespace": named(namespace, NAMESPACE),
                "labels": labels,
            },
            spec={"backoff_limit": 4, "active_deadline_seconds": DEADLINE_SECONDS, "template": template},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=list(before),
                ignore_changes=["spec.template.spec.containers[0].image"],
                replace_on_changes=["*"],  # a Job's template cannot be changed; also brings a failed one again
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create=f"{DEADLINE_SECONDS + 60}s", delete="5m"),
            ),
        )


def content_hash(arguments: Sequence[str]) -> str:
    """Digest of the script and its arguments: 10 hexadecimal digits."""
    return hashlib.sha256(json.dumps([SCRIPT, *arguments]).encode()).hexdigest()[:10]
