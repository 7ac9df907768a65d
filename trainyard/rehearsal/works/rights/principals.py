"""Who asks, in the terms of an environment: pods by their service account, people by their groups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod: in Kubernetes its service account, in the cloud the role that is bound to it."""

    namespace: str
    service_account: str = "default"
    cluster: str = ""  # of the environment's clusters; empty where there is one

    @property
    def user(self) -> str:
        """The name that the API server knows the service account by."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"

    def __str__(self) -> str:
        """The pod in words."""
        return f"a pod of {self.namespace}/{self.service_account}"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in to the API server: a name and the groups that come with it."""

    groups: tuple[str, ...] = ()
    name: str = "somebody"

    def __str__(self) -> str:
        """The person in words."""
        return f"{self.name} of {', '.join(self.groups)}" if self.groups else self.name
