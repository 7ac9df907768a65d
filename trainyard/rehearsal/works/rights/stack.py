"""Who may do what in a recorded stack: the clouds' policies and the clusters' RBAC behind one question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.works.rights.aws.access_entries import access_grants, entries
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.gcp.members import Caller as CallerOfGoogle
from trainyard.rehearsal.works.rights.gcp.project import Project
from trainyard.rehearsal.works.rights.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.rights.principals import Person, Pod
from trainyard.rehearsal.works.rights.verdict import Verdict


class Rights:
    """What is recorded of rights, asked with `may`. `aws`, `gcp` and `cluster` answer in their own terms."""

    def __init__(self, resources: Iterable[RecordedResource] | Resources) -> None:
        resources = resources if isinstance(resources, Resources) else Resources(resources)
        self.aws = Account(resources)
        self.gcp = Project(resources)
        self.cluster = Cluster(resources, tuple(access_grants(resources)))
        self.people: Mapping[str, Person] = {entry.arn: entry.person for entry in entries(resources)}
        """Who may sign in to the cluster, by the ARN of their principal."""

    def may(
        self,
        principal: Person | Pod | Caller | CallerOfGoogle | str,
        action: str,
        resource: str = "*",
        context: Mapping[str, str | bool | Sequence[str]] | None = None,
    ) -> Verdict:
        """Whether somebody may do something.

        Args:
            principal: a pod; a person of Kubernetes; a caller of the cloud, or a role, user or service by ARN or name.
            action: with a colon an action of AWS (`s3:GetObject`), with a dot a permission of Google Cloud
                (`storage.objects.get`), else a verb of Kubernetes (`create`).
            resource: an ARN; the full name of a thing of Google Cloud; or `jobs.batch`, `pods/exec`.
            context: condition keys of AWS, attributes of Google Cloud; `namespace` and `name` in Kubernetes.

        Raises:
            UnknownInput: something that decides is not known yet.
            ValueError: the principal is none that such an action can be asked for.
        """
        context = context or {}
        if "." in action:
            if not isinstance(principal, (Pod, CallerOfGoogle)):
                raise ValueError(f"{principal} is nobody on Google Cloud: give pods, or a caller of it")
            return self.gcp.may(principal, action, resource, context)
        if isinstance(principal, CallerOfGoogle):
            raise ValueError(f"{principal} is nobody but on Google Cloud")
        if ":" in action:
            if isinstance(principal, Person):
                if principal.name not in self.people and not principal.name.startswith("arn:"):
                    raise ValueError(f"{principal} is nobody in the cloud: give the ARN of a principal")
                principal = principal.name
            return self.aws.may(principal, action, resource, context)
        if isinstance(principal, Caller):
            principal = principal.arn
        if isinstance(principal, str):
            if principal not in self.people:
                return Verdict("no", f"{principal} has no access entry: the cluster lets it in as nobody")
            principal = self.people[principal]
        where = {key: str(context[key]) for key in ("namespace", "name") if key in context}
        return self.cluster.may(principal, action, resource, **where)
