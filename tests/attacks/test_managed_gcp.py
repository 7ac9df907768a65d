"""Managed training on Google Cloud attacked by its own people and by a training job.

Every attack is refused by the evaluator of IAM over the recorded stack, or closed by a quota; every use that a team is
there for is allowed.
"""

import json
import re
import subprocess
import sys
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from tests.attacks.verdicts import allows, refuses
from tests.conftest import MANAGED_ON_GOOGLE
from tests.shared import ROOT
from tests.stacks.test_order import Order
from trainyard.catalog import gcp as catalog
from trainyard.conventions.gcp import VERTEX_QUOTAS, vertex_quota
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_ACCOUNT, GCP_BUCKET, GCP_CRYPTO_KEY, GCP_IMAGE_REPOSITORY
from trainyard.rehearsal.works.rights.gcp.grants import EDITOR_TEMPLATE
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.project import full_name, object_name
from trainyard.rehearsal.works.rights.stack import Rights


class Stack:
    """A recorded stack with its people and its jobs."""

    def __init__(self, rehearsed):
        self.recorded = rehearsed.resources
        self.resources = Resources(rehearsed.resources)
        self.rights = Rights(self.resources)
        self.outputs, self.plan = rehearsed.outputs, rehearsed.plan
        self.project = f"projects/{self.outputs['project']}"
        (self.account,) = self.resources.of(GCP_ACCOUNT)
        (who,) = self.plan["core"]["teams"][0]["principals"]
        self.people = Caller("people", member=who)
        self.jobs = Caller("jobs", account=self.outputs["jobAccount"])

    def bucket(self, end):
        return next(bucket for bucket in self.resources.of(GCP_BUCKET) if bucket.name.endswith(f"-{end}"))

    def people_may(self, permission, resource=None):
        return self.rights.may(self.people, permission, resource or self.project)

    def jobs_may(self, permission, resource=None):
        """People's groups apart: who is in one is not known, and an account is not."""
        return self.rights.may(self.jobs, permission, resource or self.project)


@pytest.fixture(scope="module", params=MANAGED_ON_GOOGLE)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param))


@pytest.mark.parametrize("kind", ["customJobs", "hyperparameterTuningJobs"])
def test_people_send_a_job_as_the_account_of_jobs_and_follow_it(stack, kind):
    for verb in ("create", "get", "list", "cancel"):
        allows(stack.people_may(f"aiplatform.{kind}.{verb}"))
    allows(stack.people_may("iam.serviceAccounts.actAs", str(stack.account.id)))
    refuses(stack.people_may(f"aiplatform.{kind}.delete"))


def test_people_act_as_nobody_else(stack):
    refuses(stack.people_may("iam.serviceAccounts.actAs"))
    for permission in ("getAccessToken", "setIamPolicy", "delete", "disable"):
        refuses(stack.people_may(f"iam.serviceAccounts.{permission}", str(stack.account.id)))
    refuses(stack.people_may("iam.serviceAccountKeys.create", str(stack.account.id)))


@pytest.mark.parametrize(
    "permission",
    ["endpoints.create", "endpoints.deploy", "persistentResources.create", "pipelineJobs.create", "nasJobs.create",
     "batchPredictionJobs.create", "notebookRuntimeTemplates.create", "notebookRuntimeTemplates.update",
     "notebookRuntimeTemplates.setIamPolicy", "notebookExecutionJobs.create", "trainingPipelines.create",
     "deploymentResourcePools.create", "indexEndpoints.create", "featurestores.create"],
)  # fmt: skip
def test_nothing_else_that_is_paid_for_is_started(stack, permission):
    refuses(stack.people_may(f"aiplatform.{permission}"))
    refuses(stack.jobs_may(f"aiplatform.{permission}"))


@pytest.mark.parametrize(
    "permission",
    ["serviceusage.quotas.update", "serviceusage.services.disable", "resourcemanager.projects.setIamPolicy",
     "iam.roles.update", "iam.roles.create", "iam.serviceAccounts.create", "compute.instances.create",
     "compute.firewalls.create", "container.clusters.create", "notebooks.instances.create", "logging.sinks.delete",
     "logging.buckets.update", "monitoring.alertPolicies.delete", "storage.buckets.create", "storage.buckets.update",
     "orgpolicy.policies.update", "billing.budgets.update"],
)  # fmt: skip
def test_no_ceiling_is_lifted_and_nobody_goes_around_it(stack, permission):
    refuses(stack.people_may(permission))
    refuses(stack.jobs_may(permission))


def test_people_open_editors_of_the_environment_s_templates(stack):
    templates = stack.resources.of(EDITOR_TEMPLATE)
    assert templates
    for template in templates:
        allows(stack.people_may("aiplatform.notebookRuntimeTemplates.apply", full_name(template)))
        refuses(stack.people_may("aiplatform.notebookRuntimeTemplates.setIamPolicy", full_name(template)))
    # Another of the project's templates may have any machine, and no idle shutdown.
    refuses(stack.people_may("aiplatform.notebookRuntimeTemplates.apply"))
    for permission in ("notebookRuntimes.assign", "notebookRuntimes.start",
                       "notebookRuntimes.delete"):  # fmt: skip
        allows(stack.people_may(f"aiplatform.{permission}"))
    for permission in ("repositories.create", "repositories.list"):
        allows(stack.people_may(f"dataform.{permission}"))


def test_runs_are_tracked_and_stay(stack):
    for permission in ("contexts.create", "executions.create", "artifacts.create", "tensorboardRuns.write"):
        allows(stack.people_may(f"aiplatform.{permission}"))
    for kind in ("contexts", "executions", "artifacts", "tensorboards", "tensorboardExperiments", "tensorboardRuns",
                 "metadataStores", "models"):  # fmt: skip
        refuses(stack.people_may(f"aiplatform.{kind}.delete"))
        refuses(stack.jobs_may(f"aiplatform.{kind}.delete"))


def test_data_is_read_and_results_are_written(stack):
    data, checkpoints, artifacts = (object_name(stack.bucket(end), "x") for end in ("data", "checkpoints", "artifacts"))
    for found in (data, checkpoints, artifacts):
        allows(stack.people_may("storage.objects.get", found))
        allows(stack.jobs_may("storage.objects.get", found))
    allows(stack.people_may("storage.objects.create", artifacts))
    for found in (checkpoints, artifacts):
        allows(stack.jobs_may("storage.objects.create", found))


@pytest.mark.parametrize("permission", ["create", "delete", "update", "setIamPolicy", "overrideUnlockedRetention"])
def test_nobody_writes_the_data_or_touches_the_logs(stack, permission):
    for end in ("data", "logs"):
        refuses(stack.people_may(f"storage.objects.{permission}", object_name(stack.bucket(end), "x")))
        refuses(stack.jobs_may(f"storage.objects.{permission}", object_name(stack.bucket(end), "x")))
    refuses(stack.people_may("storage.objects.delete", object_name(stack.bucket("checkpoints"), "x")))


@pytest.mark.parametrize("permission", ["update", "delete", "setIamPolicy", "getIamPolicy"])
def test_a_bucket_is_nobody_s_to_change(stack, permission):
    for end in ("data", "checkpoints", "artifacts", "logs"):
        refuses(stack.people_may(f"storage.buckets.{permission}", full_name(stack.bucket(end))))
        refuses(stack.jobs_may(f"storage.buckets.{permission}", full_name(stack.bucket(end))))


def test_a_key_is_nobody_s_to_use_or_to_destroy(stack):
    for key in stack.resources.of(GCP_CRYPTO_KEY):
        for permission in ("cryptoKeyVersions.useToDecrypt", "cryptoKeyVersions.destroy", "cryptoKeys.setIamPolicy"):
            refuses(stack.people_may(f"cloudkms.{permission}", str(key.id)))
            refuses(stack.jobs_may(f"cloudkms.{permission}", str(key.id)))


def test_people_bring_images_and_jobs_pull_them(stack):
    (images,) = stack.resources.of(GCP_IMAGE_REPOSITORY)
    allows(stack.people_may("artifactregistry.repositories.uploadArtifacts", str(images.id)))
    allows(stack.jobs_may("artifactregistry.repositories.downloadArtifacts", str(images.id)))
    refuses(stack.people_may("artifactregistry.repositories.delete", str(images.id)))


def test_a_gpu_that_no_training_type_has_is_closed_however_it_is_paid_for(stack):
    closed = {
        unquote(item.inputs["metric"]).rpartition("/")[2]
        for item in stack.recorded
        if item.type == "gcp:serviceusage/consumerQuotaOverride:ConsumerQuotaOverride"
        and item.inputs["overrideValue"] == "0"
        and "dimensions" not in item.inputs  # in every region: people may send jobs to all of them
    }
    given = {item.gpu for item in catalog.instances() if item.type in stack.outputs["trainingTypes"]}
    for gpu in VERTEX_QUOTAS:
        for spot in (False, True):
            assert (vertex_quota(gpu, spot=spot) in closed) == (gpu not in given)


def test_google_s_agent_for_custom_code_loses_its_rights_after_the_first_job(stack):
    """A job that names no account runs as it, and people need no right to act as it."""
    (removed,) = [item for item in stack.recorded if item.type == "gcp:projects/iamMemberRemove:IamMemberRemove"]
    assert removed.inputs["role"] == "roles/aiplatform.customCodeServiceAgent"
    number = stack.plan["ground"]["project_number"]
    assert removed.inputs["member"] == f"serviceAccount:service-{number}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com"
    order = Order(stack.recorded)
    (images,) = stack.resources.of(GCP_IMAGE_REPOSITORY)
    for agent in ("gcp-sa-aiplatform", "gcp-sa-aiplatform-cc"):
        caller = Caller(agent, account=f"service-{number}@{agent}.iam.gserviceaccount.com")
        allows(stack.rights.may(caller, "artifactregistry.repositories.downloadArtifacts", str(images.id)))
        refuses(stack.rights.may(caller, "artifactregistry.repositories.delete", str(images.id)))
    before = {order.by_urn[urn].type for urn in order.before(removed.urn) if urn in order.by_urn}
    assert "command:local:Command" in before, "the agent is made with the first job of a project"


def test_notebooks_are_kept_under_the_environments_key(stack):
    """Whoever makes one makes a repository of Dataform: the region's default says under which key."""
    (config,) = (item for item in stack.recorded if item.type == "gcp:dataform/config:Config")
    key = config.inputs["defaultKmsKeyName"]
    assert key in {str(found.id) for found in stack.resources.of(GCP_CRYPTO_KEY)}
    (agent,) = (item for item in stack.recorded if item.name == "services-dataform-agent")
    caller = Caller("Dataform", account=str(agent.outputs["email"]))
    allows(stack.rights.may(caller, "cloudkms.cryptoKeyVersions.useToEncrypt", key))


def test_somebody_is_told_of_a_job_as_another_account_and_of_one_that_failed(stack):
    filters = {
        item.name: item.inputs["conditions"][0]["conditionMatchedLog"]["filter"]
        for item in stack.recorded
        if item.type == "gcp:monitoring/alertPolicy:AlertPolicy" and item.name.startswith("managed-jobs-")
    }
    assert (
        f'NOT protoPayload.request.customJob.jobSpec.serviceAccount="{stack.outputs["jobAccount"]}"'
        in (filters["managed-jobs-foreign"])
    )
    assert "CreateHyperparameterTuningJob" in filters["managed-jobs-foreign"]
    assert filters["managed-jobs-failed"].startswith('resource.type="ml_job"')


def test_an_editor_has_nobody_s_rights_but_who_opened_it_and_is_shut_down(stack):
    templates = [item for item in stack.recorded if item.type == "gcp:colab/runtimeTemplate:RuntimeTemplate"]
    assert [item.inputs["machineSpec"]["machineType"] for item in templates] == list(
        stack.plan["ground"]["managed"]["editor_types"]
    )
    for item in templates:
        assert item.inputs["eucConfig"] == {"eucDisabled": False}
        assert item.inputs["idleShutdownConfig"] == {"idleTimeout": "3600s"}
        assert item.inputs["encryptionSpec"]["kmsKeyName"] in {
            str(key.id) for key in stack.resources.of(GCP_CRYPTO_KEY)
        }


def test_the_proof_is_the_planned_job_in_the_stack_s_own_place(stack):
    (command,) = [item for item in stack.recorded if item.type == "command:local:Command"]
    planned = stack.plan["ground"]["managed"]["smoke"]
    request = json.loads(command.inputs["triggers"][0])
    job = request["jobSpec"]
    assert job["serviceAccount"] == stack.outputs["jobAccount"]
    assert request["encryptionSpec"]["kmsKeyName"] == stack.outputs["outputKey"]
    (pool,) = job["workerPoolSpecs"]
    assert pool["containerSpec"]["imageUri"] == planned["image"]
    assert pool["machineSpec"]["machineType"] == planned["machine_type"].partition("+")[0]
    assert stack.bucket("artifacts").outputs["name"] in job["baseOutputDirectory"]["outputUriPrefix"]
    order = Order(stack.recorded)
    before = {order.by_urn[urn].name for urn in order.before(command.urn) if urn in order.by_urn}
    assert {"managed-jobs", "managed-jobs-artifacts", "managed-jobs-checkpoints", "managed-jobs-data",
            "hooli-research-tracking-vertex", "services-aiplatform"} <= before  # fmt: skip
    values = command.inputs["environment"]
    assert all(f'"${name}"' in command.inputs["create"] for name in values), "every value is handed on"


def test_a_job_from_a_laptop_is_below_the_ceilings_and_in_the_stack_s_place(rehearsed, monkeypatch):
    """The example of docs/how-to/train-without-a-cluster.md; a stand-in for the SDK takes down what it is told."""
    guide = (ROOT / "docs" / "how-to" / "train-without-a-cluster.md").read_text(encoding="utf-8")
    import google.cloud  # noqa: F401 - the SDK's name is looked up in it

    _, code, *_ = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    found = rehearsed("small-gcp")
    stack, told = Stack(found), {}

    def job(**inputs):
        told["job"] = inputs
        return SimpleNamespace(submit=lambda **options: told.update(sent=options))

    sdk = SimpleNamespace(init=lambda **options: told.update(init=options), CustomJob=job)
    monkeypatch.setitem(sys.modules, "google.cloud.aiplatform", sdk)
    monkeypatch.setattr(sys.modules["google.cloud"], "aiplatform", sdk, raising=False)
    monkeypatch.setattr(subprocess, "check_output", lambda *_, **__: json.dumps(dict(found.outputs)))
    exec(compile(code, "guide", "exec"), {"IMAGE": "pytorch/pytorch:2.13.0", "ENTRYPOINT": ["python3"]})
    assert told["sent"]["service_account"] == stack.outputs["jobAccount"]
    assert told["sent"]["tensorboard"] == stack.outputs["tensorboard"]
    bucket = told["init"]["staging_bucket"].split("/")[2]
    allows(stack.people_may("storage.objects.create", f"projects/_/buckets/{bucket}/objects/runs/code.tar.gz"))
    (pool,) = told["job"]["worker_pool_specs"]
    assert pool["machine_spec"]["machine_type"] in stack.outputs["trainingTypes"]
    assert told["job"]["labels"] == {"project": dict(stack.plan["ground"]["labels"])["project"]}
