"""Managed training: from the plan to the components of `trainyard.components.gcp.managed`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pulumi
import pulumi_gcp.artifactregistry as artifactregistry
import pulumi_gcp.dataform as dataform

from trainyard.catalog import gcp as catalog
from trainyard.components.gcp.database import CloudSqlDatabase
from trainyard.components.gcp.encryption import ProjectKeys
from trainyard.components.gcp.managed.alarms import VertexAlarms, VertexAlarmsArgs
from trainyard.components.gcp.managed.ceilings import ClosedQuotas
from trainyard.components.gcp.managed.editors import EditorMachineArgs, EditorTemplates
from trainyard.components.gcp.managed.identities import CustomCodeAgent, CustomCodeAgentArgs, ManagedIdentities
from trainyard.components.gcp.managed.tracking import Experiments
from trainyard.components.gcp.services import ProjectServices
from trainyard.components.gcp.shared_network import AnyVpc
from trainyard.components.gcp.storage import GcsStorageTiers
from trainyard.conventions import SMOKE_PREFIX
from trainyard.conventions.gcp import VERTEX_ACCELERATORS, vertex_gpu
from trainyard.plan.gcp.parts import GcpPlan, ManagedPlan, TrackingServerPlan
from trainyard.plan.gcp.training import training_smoke
from trainyard.plan.parts import Plan
from trainyard.smoke_jobs.launch import vertex
from trainyard.smoke_jobs.launch.payload import digest
from trainyard.stacks.environment.gcp.storage import ARTIFACTS_PREFIX, after, uri

if TYPE_CHECKING:
    from trainyard.components.gcp.managed.tracking_server import TrackingServer

LONGEST_ACCOUNT_ID: Final = 30


@dataclass(frozen=True)
class Managed:
    """What was made, as far as the stack tells of it and jobs need it."""

    identities: ManagedIdentities
    repository: pulumi.Input[str]
    output_key_id: pulumi.Input[str]
    outputs: dict[str, pulumi.Input[object]]
    ready: list[pulumi.Resource]


def make_managed(
    plan: Plan[GcpPlan],
    planned: ManagedPlan,
    network: AnyVpc,
    storage: GcsStorageTiers,
    keys: ProjectKeys,
    switched: ProjectServices,
    database: CloudSqlDatabase | None,
    gcp: pulumi.ResourceOptions,
) -> Managed:
    """Makes images, identities, ceilings, editors, tracking and alarms."""
    name, own, labels, services = plan.core.name, plan.ground, dict(plan.ground.labels), switched.ready
    first = after(gcp, services)
    images = artifactregistry.Repository(
        f"{name}-images",
        project=own.project,
        location=own.region,
        repository_id=f"{name}-images",
        format="DOCKER",
        description="Images of training jobs",
        kms_key_name=keys.key_ids["platform"],
        labels=labels,
        opts=after(
            pulumi.ResourceOptions.merge(gcp, pulumi.ResourceOptions(protect=plan.core.protect)),
            [*services, *keys.granted["platform"]],
        ),
    )
    people = sorted({who for team in plan.core.teams for who in team.principals})
    identities = ManagedIdentities(
        "managed",
        {
            "project": own.project,
            "environment": name,
            "account_id": f"{name[: LONGEST_ACCOUNT_ID - len('-jobs')].rstrip('-')}-jobs",
            "people": people,
            "ingest": plan.core.storage.ingest_principals,
            "data_bucket": storage.data_bucket,
            "checkpoints_bucket": storage.checkpoints_bucket,
            "artifacts_bucket": storage.artifacts_bucket,
            "repository": images.name,
            "location": own.region,
            "tracking": planned.tracked_by == "experiments",
        },
        first,
    )
    ClosedQuotas("ceilings", {"project": own.project, "metrics": planned.closed_quotas}, first)
    editors = EditorTemplates(
        "editors",
        {
            "project": own.project,
            "location": own.region,
            "environment": name,
            "machines": [_machine(type_) for type_ in planned.editor_types],
            "network_id": network.network_id,
            "subnetwork_id": network.subnetwork_id,
            "internet": not planned.private_domain,
            "key_id": keys.key_ids["tracking"],
            "idle_minutes": planned.idle_minutes,
            "disk_gib": planned.space_gib,
            "labels": labels,
            "people": people,
            "role": identities.editor_role,
        },
        after(gcp, [*services, *network.ways_out, *keys.granted["tracking"]]),
    )
    # A notebook is a repository of Dataform, made by who writes it: the region's default says under which key.
    dataform.Config(
        f"{name}-notebooks",
        project=own.project,
        region=own.region,
        default_kms_key_name=keys.key_ids["tracking"],
        opts=after(gcp, [*services, *keys.granted["tracking"]]),
    )
    outputs: dict[str, pulumi.Input[object]] = {
        "jobAccount": identities.job_account_email,
        "imageRepository": pulumi.Output.concat(f"{own.region}-docker.pkg.dev/{own.project}/", images.name),
        "editorTemplates": editors.template_names,
        "trainingTypes": list(planned.training_types),
        "outputKey": keys.key_ids["tracking"],
    }
    tracked: list[pulumi.Resource] = []
    if planned.server is not None and database is not None:
        server = make_server(plan, planned.server, network, storage, keys, switched, database, identities, gcp)
        tracked = server.ready
        outputs["mlflowTrackingUri"] = planned.server.uri
        outputs["mlflowAudience"] = planned.server.audience
        outputs["mlflowClientAccount"] = server.client_account
    elif planned.tracked_by == "experiments":
        experiments = Experiments(
            "tracking",
            {
                "project": own.project,
                "region": own.region,
                "display_name": name,
                "key_id": keys.key_ids["tracking"],
                "labels": labels,
                "protect": plan.core.protect,
            },
            after(gcp, [*services, *keys.granted["tracking"]]),
        )
        outputs["tensorboard"] = experiments.tensorboard_name
    told: VertexAlarmsArgs = {
        "project": own.project,
        "subject": name,
        "job_account_email": identities.job_account_email,
        "emails": plan.core.budget.alert_emails,
        "labels": labels,
    }
    if planned.server is not None:
        told["tracking_service"] = planned.server.service
    VertexAlarms("managed-jobs", told, first)
    return Managed(
        identities,
        images.name,
        keys.key_ids["tracking"],
        outputs,
        [*services, *identities.granted, *keys.granted["tracking"], *tracked],
    )


def make_server(
    plan: Plan[GcpPlan],
    planned: TrackingServerPlan,
    network: AnyVpc,
    storage: GcsStorageTiers,
    keys: ProjectKeys,
    services: ProjectServices,
    database: CloudSqlDatabase,
    identities: ManagedIdentities,
    gcp: pulumi.ResourceOptions,
) -> TrackingServer:
    """Makes MLflow on Cloud Run, in front of the environment's database."""
    # Few environments have one, and its SDKs are not for nothing.
    from trainyard.components.gcp.managed.tracking_server import TrackingServer

    own = plan.ground
    return TrackingServer(
        "tracking-server",
        {
            "project": own.project,
            "region": own.region,
            "service": planned.service,
            "host": planned.host,
            "accounts": {
                "server": planned.account("mlflow"),
                "migration": planned.account("mlflow-up"),
                "client": planned.account("track"),
            },
            "role_id": f"{plan.core.name}_tracking".replace("-", "_"),
            "image": plan.core.pins.image("mlflow"),
            "cpu": planned.cpu,
            "memory": planned.memory,
            "workers": planned.workers,
            "least_instances": planned.least_instances,
            "most_instances": planned.most_instances,
            "concurrency": planned.concurrency,
            "database": {
                "instance": database.instance_name,
                "address": database.address,
                "server_ca": database.server_ca,
                "secret_id": database.secret_id,
                "secret_name": database.secret_name,
            },
            "artifacts_uri": pulumi.Output.concat(uri(storage.artifacts_bucket), f"/{ARTIFACTS_PREFIX}"),
            "artifacts_bucket": storage.artifacts_bucket,
            "network_id": network.network_id,
            "subnetwork_id": network.subnetwork_id,
            "key_id": keys.key_ids["tracking"],
            "iap_agent_email": services.agent_emails["iap"],
            "people": sorted({who for team in plan.core.teams for who in team.principals}),
            "job_account": identities.job_account_email,
            "labels": dict(own.labels),
        },
        after(gcp, [*services.ready, *keys.granted["tracking"], database]),
    )


def _machine(type_: str) -> EditorMachineArgs:
    """A machine type of the catalogue as Google spells it: a T4 is attached to an N1."""
    args: EditorMachineArgs = {"name": type_.replace("+", "-"), "machine_type": type_.partition("+")[0]}
    found = next((item for item in catalog.instances() if item.type == type_), None)
    if found is not None:
        args["accelerator_type"] = VERTEX_ACCELERATORS[vertex_gpu(type_, found.gpu)]
        args["accelerator_count"] = found.gpus
    return args


def make_proof(plan: Plan[GcpPlan], made: Managed, storage: GcsStorageTiers, gcp: pulumi.ResourceOptions) -> None:
    """Makes what proves at `pulumi up` that a job trains, after all that a job needs; then Google's agent for custom
    code, which the first job of a project makes, loses its rights."""
    own, spec = plan.ground, training_smoke(plan)
    agent: CustomCodeAgentArgs = {
        "project": own.project,
        "project_number": own.project_number,
        "repository": made.repository,
        "location": own.region,
        # Beside a cluster managed training is what a small stack had, and that one's smoke job was the first: where
        # smoke jobs are off, perhaps nobody has sent one, and a right for an account that is not there fails the `up`.
        "proven": spec is not None or any(cluster.smoke.jobs for cluster in plan.clusters),
    }
    if spec is None:
        CustomCodeAgent("custom-code-agent", agent, after(gcp, made.ready))
        return
    # Of every environment on Google Cloud few have one, and the SDK is not for nothing.
    import pulumi_command

    from trainyard.components.training_proof import TrainingProof

    values: dict[str, pulumi.Input[str]] = {
        "SMOKE_BUCKET": pulumi.Output.concat(uri(storage.artifacts_bucket), "/", SMOKE_PREFIX),
        "SMOKE_ACCOUNT": made.identities.job_account_email,
        "SMOKE_KMS_KEY": made.output_key_id,
    }

    def settings(found: dict[str, str]) -> vertex.VertexSettings:
        return vertex.VertexSettings(
            bucket=found["SMOKE_BUCKET"],
            project=own.project,
            region=own.region,
            service_account=found["SMOKE_ACCOUNT"],
            kms_key=found["SMOKE_KMS_KEY"],
            spot=False,
            labels=own.labels,
        )

    known = pulumi.Output.all(**values)
    proof = TrainingProof(
        spec.name,
        {
            "arguments": [plan.core.stack, "--target", "vertex", "--no-spot"],
            "options": ["--bucket=SMOKE_BUCKET", "--service-account=SMOKE_ACCOUNT", "--kms-key=SMOKE_KMS_KEY"],
            "values": values,
            "triggers": [
                # The very request, so that it is judged before there is an account, and another one runs the job again.
                known.apply(lambda found: json.dumps(vertex.render(spec, settings(found), spec.name))),
                known.apply(lambda found: digest(json.dumps(vertex.files(spec, settings(found), spec.name)))),
            ],
        },
        pulumi.ResourceOptions.merge(
            gcp, pulumi.ResourceOptions(providers=[pulumi_command.Provider("command")], depends_on=made.ready)
        ),
    )
    CustomCodeAgent("custom-code-agent", agent, after(gcp, [*made.ready, proof]))
