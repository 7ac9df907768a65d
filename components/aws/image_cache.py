"""Images of public registries in the account's own registry, which fetches each when it is first pulled.

A rule lets ECR fetch from a registry. The repositories are made here and nodes may make none: through the cache comes
what the platform runs, and a pod that names anything else of those registries is told that it does not exist. A tag
cannot be moved once it is there: what the registry abroad says later changes nothing here.
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws.ecr as ecr

from trainyard.components.outputs import register

KEPT_IMAGES = 10
"""Images that a repository keeps, the newest: a version and those to fall back on."""


class CachedRegistryArgs(TypedDict):
    """A registry whose images are cached."""

    upstream: str
    """The registry as ECR names it, such as `registry.k8s.io` or `registry-1.docker.io`."""
    prefix: str
    """Where its repositories are in the account's registry: `acme-demo/k8s`. Plain text: it names resources."""
    credential_arn: NotRequired[pulumi.Input[str] | None]
    """ARN of the secret with the login there, whose name begins with `ecr-pullthroughcache/`. Default: none."""


class ImageCacheArgs(TypedDict):
    """Arguments of `ImageCache`."""

    registries: Sequence[CachedRegistryArgs]
    """The registries."""
    repositories: Sequence[str]
    """The repositories, each below the prefix of a registry. Plain text: they name resources."""
    key_arn: pulumi.Input[str]
    """ARN of the KMS key that encrypts them; whoever makes them must be allowed to make grants of it."""
    protect: bool
    """Whether Pulumi refuses to delete the repositories."""


class ImageCache(pulumi.ComponentResource):
    """The rules and the repositories. What is in them can be fetched again: a repository goes with its images."""

    repository_urls: pulumi.Output[dict[str, str]]
    """Where the images of a repository are pulled from, by the repository."""

    def __init__(self, name: str, args: ImageCacheArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a repository below no prefix: nothing would come into it."""
        super().__init__("trainyard:index:ImageCache", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        prefixes = [registry["prefix"] for registry in args["registries"]]
        for repository in args["repositories"]:
            if not repository.startswith(tuple(f"{prefix}/" for prefix in prefixes)):
                raise ValueError(f"{name}: {repository} is below none of {', '.join(prefixes)}")
        for registry in args["registries"]:
            ecr.PullThroughCacheRule(
                f"{name}-{_slug(registry['prefix'])}",
                ecr_repository_prefix=registry["prefix"],
                upstream_registry_url=registry["upstream"],
                credential_arn=registry.get("credential_arn"),
                opts=child,
            )
        made = {repository: _repository(name, repository, args, child) for repository in args["repositories"]}
        self.repository_urls = pulumi.Output.all(**{key: one.repository_url for key, one in made.items()})
        register(self)


def _repository(name: str, repository: str, args: ImageCacheArgs, child: pulumi.ResourceOptions) -> ecr.Repository:
    made = ecr.Repository(
        f"{name}-{_slug(repository)}",
        name=repository,
        image_tag_mutability="IMMUTABLE",
        encryption_configurations=[{"encryption_type": "KMS", "kms_key": args["key_arn"]}],
        force_delete=True,
        opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=args["protect"])),
    )
    newest = {
        "rulePriority": 1,
        "selection": {"tagStatus": "any", "countType": "imageCountMoreThan", "countNumber": KEPT_IMAGES},
        "action": {"type": "expire"},
    }
    ecr.LifecyclePolicy(
        f"{name}-{_slug(repository)}",
        repository=made.name,
        policy=pulumi.Output.json_dumps({"rules": [newest]}),
        opts=child,
    )
    return made


def _slug(path: str) -> str:
    return path.replace("/", "-")
