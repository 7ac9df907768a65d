"""Images of public registries in the project's own registry, which fetches each when it is first pulled.

A remote repository stands in front of a registry as a whole: whoever may pull from it gets anything that is published
there. So nobody's list of allowed images may hold the project's registry as a whole where there is such a cache.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import pulumi
import pulumi_gcp.artifactregistry as artifactregistry

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

UNUSED_DAYS = 90
"""Days after which a cached image goes: it is fetched again when it is wanted."""


class RemoteRegistryArgs(TypedDict):
    """A registry whose images are cached."""

    repository: str
    """Name of the remote repository: at most 63 of a-z, 0-9 and `-`, a letter first. Plain text."""
    uri: str
    """Where the registry is, such as `https://registry.k8s.io`."""


class RemoteImagesArgs(TypedDict):
    """What `RemoteImages` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    location: pulumi.Input[str]
    """Region of the repositories: a multi-region would leave it."""
    registries: Sequence[RemoteRegistryArgs]
    """The registries."""
    key_id: pulumi.Input[str]
    """Key of what is stored, in that region. The project's agent of Artifact Registry must be let use it."""
    labels: Mapping[str, pulumi.Input[str]]
    """Labels on the bill."""
    protect: bool
    """Whether Pulumi refuses to delete the repositories."""


class RemoteImages(pulumi.ComponentResource):
    """The remote repositories. `depends_on` is what they wait for: the service, and its agent's right on the key.

    `ready` lists what nodes wait for, whose images are pulled through them.
    """

    def __init__(self, name: str, args: RemoteImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:RemoteImages", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts), protect=args["protect"])
        self.ready: list[pulumi.Resource] = [
            artifactregistry.Repository(
                f"{name}-{registry['repository']}",
                project=args["project"],
                location=args["location"],
                repository_id=registry["repository"],
                description=f"Images of {registry['uri']}, fetched when they are first pulled",
                format="DOCKER",
                mode="REMOTE_REPOSITORY",
                kms_key_name=args["key_id"],
                remote_repository_config={"common_repository": {"uri": registry["uri"]}},
                cleanup_policies=[
                    {
                        "id": "unused",
                        "action": "DELETE",
                        "condition": {"tag_state": "ANY", "older_than": f"{UNUSED_DAYS * 86_400}s"},
                    }
                ],
                labels=args["labels"],
                opts=child,
            )
            for registry in args["registries"]
        ]
        register(self)
