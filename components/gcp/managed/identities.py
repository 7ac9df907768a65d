"""Who people and jobs of managed training are, and what they may do: an account for jobs, a custom role for each.

People send jobs as the account of jobs and as no other that they may act as; nobody of them changes a right, a bucket,
a key, a quota or a template. A job that names no account runs as Google's own agent for custom code, which Google lets
read and write every bucket of the project: that right is taken away (`CustomCodeAgent`).
"""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_gcp.artifactregistry as artifactregistry
import pulumi_gcp.projects as projects
import pulumi_gcp.serviceaccount as serviceaccount
import pulumi_gcp.storage as storage

from trainyard.components.gcp.identity import READ, WRITE
from trainyard.components.gcp.managed.rights import APPLYING, JOBS, PEOPLE, TRACKING
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

_ACT_AS = "roles/iam.serviceAccountUser"


class ManagedIdentitiesArgs(TypedDict):
    """What `ManagedIdentities` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    environment: str
    """Name of the environment, which ids of roles begin with."""
    account_id: str
    """Id of the account of jobs: 6 to 30 of a-z, 0-9 and -."""
    people: Sequence[str]
    """Who trains, as IAM members: `group:research@acme.example`. May be empty: then owners of the project alone do."""
    ingest: Sequence[str]
    """Who brings the data in, as IAM members. May be empty: then owners of the project alone do."""
    data_bucket: pulumi.Input[str]
    """Name of the bucket of the data, which neither people nor jobs write to."""
    checkpoints_bucket: pulumi.Input[str]
    """Name of the bucket of checkpoints, which jobs write."""
    artifacts_bucket: pulumi.Input[str]
    """Name of the bucket of artifacts, which both write."""
    repository: pulumi.Input[str]
    """Name of the repository of the team's images."""
    location: pulumi.Input[str]
    """Region of the repository."""
    tracking: bool
    """Whether both may track their runs."""


class ManagedIdentities(pulumi.ComponentResource):
    """The account of jobs, and the rights of both. `depends_on` is what it waits for: services.

    `granted` lists what a job waits for: it is refused until its rights hold, some minutes later.
    """

    job_account_email: pulumi.Output[str]
    """Address of the account that jobs run as."""
    editor_role: pulumi.Output[str]
    """Name of the role with which a template of editors is used."""

    def __init__(self, name: str, args: ManagedIdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:ManagedIdentities", name, None, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        first = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        tracked = TRACKING if args["tracking"] else ()
        account = serviceaccount.Account(
            f"{name}-jobs",
            project=args["project"],
            account_id=args["account_id"],
            display_name=f"Training jobs of {args['environment']}",
            opts=first,
        )
        self.job_account_email = account.email
        jobs = pulumi.Output.concat("serviceAccount:", account.email)
        job_role = self._role("jobs", "Training jobs", (*JOBS, *tracked), first)
        self.granted: list[pulumi.Resource] = [
            self._may("jobs", job_role, jobs),
            *self._stores("jobs", jobs, {"data": READ, "checkpoints": WRITE, "artifacts": WRITE}),
            self._images("jobs", jobs, "roles/artifactregistry.reader"),
        ]
        people_role = self._role("people", "People who train", (*PEOPLE, *tracked), first)
        self.editor_role = self._role("editors", "Editors", APPLYING, first)
        for member in args["people"]:
            short = member.partition(":")[2]
            self._may(short, people_role, member)
            self._stores(short, member, {"data": READ, "checkpoints": READ, "artifacts": WRITE})
            self._images(short, member, "roles/artifactregistry.writer")
            serviceaccount.IAMMember(
                f"{name}-{short}", service_account_id=account.name, role=_ACT_AS, member=member, opts=self._child
            )
        for member in args["ingest"]:
            self._stores(f"ingest-{member.partition(':')[2]}", member, {"data": WRITE})
        register(self)

    def _role(
        self, kind: str, title: str, permissions: Sequence[str], opts: pulumi.ResourceOptions
    ) -> pulumi.Output[str]:
        # Pulumi's own name would have a hyphen, which the provider refuses.
        role_id = f"{self._args['environment']}_{kind}".replace("-", "_")
        return projects.IAMCustomRole(
            f"{self._name}-{kind}",
            project=self._args["project"],
            role_id=role_id,
            title=f"{title} ({self._args['environment']})",
            description="Managed training, and nothing else of the project",
            permissions=sorted(permissions),
            opts=opts,
        ).name

    def _may(self, who: str, role: pulumi.Input[str], member: pulumi.Input[str]) -> pulumi.Resource:
        return projects.IAMMember(
            f"{self._name}-{who}", project=self._args["project"], role=role, member=member, opts=self._child
        )

    def _stores(self, who: str, member: pulumi.Input[str], roles: dict[str, str]) -> list[pulumi.Resource]:
        buckets = {
            "data": self._args["data_bucket"],
            "checkpoints": self._args["checkpoints_bucket"],
            "artifacts": self._args["artifacts_bucket"],
        }
        return [
            storage.BucketIAMMember(
                f"{self._name}-{who}-{tier}", bucket=buckets[tier], role=role, member=member, opts=self._child
            )
            for tier, role in roles.items()
        ]

    def _images(self, who: str, member: pulumi.Input[str], role: str) -> pulumi.Resource:
        return artifactregistry.RepositoryIamMember(
            f"{self._name}-{who}-images",
            project=self._args["project"],
            location=self._args["location"],
            repository=self._args["repository"],
            role=role,
            member=member,
            opts=self._child,
        )


class CustomCodeAgentArgs(TypedDict):
    """What `CustomCodeAgent` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    project_number: pulumi.Input[str]
    """Number of the project, which the agent is named by."""
    repository: pulumi.Input[str]
    """Name of the repository of the team's images, which the agents of Vertex AI pull."""
    location: pulumi.Input[str]
    """Region of the repository."""
    proven: bool
    """Whether a job has been sent: before the first one the agent for custom code is not there."""


class CustomCodeAgent(pulumi.ComponentResource):
    """Takes from Google's agent for custom code what Google gave it: every bucket of the project.

    Vertex AI makes the agent, and gives it its role, with the first job of a project, which this waits for
    (`depends_on`). Where Google gives it again, a refresh sees it and the next `up` takes it away.

    An image is pulled by Google and not by the account of the job (Vertex AI, "Use a custom service account"): what the
    role let the agents pull, they pull from the team's own repository alone.
    """

    def __init__(self, name: str, args: CustomCodeAgentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:CustomCodeAgent", name, None, opts)
        agent = pulumi.Output.concat(
            "serviceAccount:service-", args["project_number"], "@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"
        )
        projects.IamMemberRemove(
            name,
            project=args["project"],
            role="roles/aiplatform.customCodeServiceAgent",
            member=agent,
            opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
        )
        pullers = {"service": "gcp-sa-aiplatform", **({"jobs": "gcp-sa-aiplatform-cc"} if args["proven"] else {})}
        for who, domain in pullers.items():
            artifactregistry.RepositoryIamMember(
                f"{name}-{who}-images",
                project=args["project"],
                location=args["location"],
                repository=args["repository"],
                role="roles/artifactregistry.reader",
                member=pulumi.Output.concat(
                    "serviceAccount:service-", args["project_number"], f"@{domain}.iam.gserviceaccount.com"
                ),
                opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
            )
        register(self)
