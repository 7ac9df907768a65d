"""Attacks by right on Google Cloud: what a team's pods may do there, and what a team is there for.

Every attack is refused by the evaluator of IAM over each example stack on Google Cloud as it is recorded; every use is
allowed.
"""

import pytest

from tests.attacks.verdicts import allows, refuses
from tests.conftest import GKE
from trainyard.conventions import TEAM_LABEL, TRAINER_SERVICE_ACCOUNT, data_prefix, team_prefix
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import GCP_ACCOUNT, GCP_BUCKET, GCP_CRYPTO_KEY, NAMESPACE
from trainyard.rehearsal.works.rights.gcp.grants import REGIONAL_SECRET
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.project import LIST_PREFIX, full_name, object_name
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights


class Stack:
    """An example stack with its teams, and what they are after."""

    def __init__(self, resources):
        self.resources = Resources(resources)
        self.rights = Rights(self.resources)
        self.namespaces = {
            labels[TEAM_LABEL]: namespace.inputs["metadata"]["name"]
            for namespace in self.resources.of(NAMESPACE)
            if TEAM_LABEL in (labels := namespace.inputs["metadata"].get("labels", {}))
        }

    def bucket(self, end):
        return next(bucket for bucket in self.resources.of(GCP_BUCKET) if bucket.name.endswith(f"-{end}"))

    def pod(self, team):
        return Pod(self.namespaces[team], TRAINER_SERVICE_ACCOUNT)

    def pairs(self):
        """Every team with every other."""
        return [(one, other) for one in self.namespaces for other in self.namespaces if one != other]


@pytest.fixture(scope="module", params=GKE)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param).resources)


def test_there_are_teams_to_play(stack):
    assert len(stack.namespaces) >= 2


@pytest.mark.parametrize(
    "permission",
    ["objects.get", "objects.create", "objects.delete", "objects.update", "objects.setIamPolicy",
     "multipartUploads.create", "multipartUploads.abort", "objects.restore", "objects.overrideUnlockedRetention"],
)  # fmt: skip
def test_a_pod_does_not_touch_another_teams_checkpoints(stack, permission):
    for team, other in stack.pairs():
        checkpoint = object_name(stack.bucket("checkpoints"), f"{team_prefix(other)}run-1/model.pt")
        refuses(stack.rights.may(stack.pod(team), f"storage.{permission}", checkpoint))


@pytest.mark.parametrize("prefix", ["", "teams/", "teams", "{other}", "{other}run-1/"])
def test_a_pod_does_not_list_beyond_its_own_folder(stack, prefix):
    for team, other in stack.pairs():
        said = {LIST_PREFIX: prefix.format(other=team_prefix(other))}
        refuses(stack.rights.may(stack.pod(team), "storage.objects.list", full_name(stack.bucket("checkpoints")), said))


@pytest.mark.parametrize("sibling", ["{own}-2", "{own}x", "../{other}", "TEAMS/{own}"])
def test_a_longer_name_is_another_team(stack, sibling):
    for team, other in stack.pairs():
        path = "teams/" + sibling.format(own=team, other=other) + "/model.pt"
        refuses(
            stack.rights.may(stack.pod(team), "storage.objects.get", object_name(stack.bucket("checkpoints"), path))
        )


@pytest.mark.parametrize("permission", ["create", "delete", "update"])
def test_a_pod_does_not_change_the_data(stack, permission):
    for team in stack.namespaces:
        shard = object_name(stack.bucket("data"), f"{data_prefix()}shard-0")
        refuses(stack.rights.may(stack.pod(team), f"storage.objects.{permission}", shard))


@pytest.mark.parametrize("end", ["artifacts", "logs"])
def test_a_pod_has_nothing_in_the_buckets_that_are_not_its(stack, end):
    """Models are in the artifacts: the tracking server hands them out, to whom they belong."""
    bucket = stack.bucket(end)
    for team in stack.namespaces:
        for permission in ("get", "create", "delete"):
            refuses(
                stack.rights.may(stack.pod(team), f"storage.objects.{permission}", object_name(bucket, "mlflow/1/m"))
            )
        refuses(stack.rights.may(stack.pod(team), "storage.objects.list", full_name(bucket)))


@pytest.mark.parametrize("permission", ["setIamPolicy", "delete", "update"])
def test_a_pod_does_not_change_a_bucket(stack, permission):
    for team in stack.namespaces:
        for bucket in stack.resources.of(GCP_BUCKET):
            refuses(stack.rights.may(stack.pod(team), f"storage.buckets.{permission}", full_name(bucket)))


@pytest.mark.parametrize(
    "permission",
    ["cryptoKeyVersions.useToDecrypt", "cryptoKeyVersions.useToEncrypt", "cryptoKeys.setIamPolicy",
     "cryptoKeyVersions.destroy", "cryptoKeys.update"],
)  # fmt: skip
def test_a_pod_neither_uses_nor_changes_a_key(stack, permission):
    for team in stack.namespaces:
        for key in stack.resources.of(GCP_CRYPTO_KEY):
            refuses(stack.rights.may(stack.pod(team), f"cloudkms.{permission}", full_name(key)))


def test_a_pod_reads_no_secret(stack):
    secrets = stack.resources.of(REGIONAL_SECRET)
    assert secrets
    for team in stack.namespaces:
        for secret in secrets:
            for permission in ("versions.access", "versions.add", "secrets.setIamPolicy"):
                name = f"{full_name(secret)}/versions/latest"
                refuses(stack.rights.may(stack.pod(team), f"secretmanager.{permission}", name))


@pytest.mark.parametrize("permission", ["getAccessToken", "signJwt", "actAs", "setIamPolicy", "implicitDelegation"])
def test_a_pod_takes_no_account(stack, permission):
    accounts = stack.resources.of(GCP_ACCOUNT)
    assert accounts
    for team in stack.namespaces:
        for account in accounts:
            refuses(stack.rights.may(stack.pod(team), f"iam.serviceAccounts.{permission}", full_name(account)))


@pytest.mark.parametrize(
    "permission",
    ["resourcemanager.projects.setIamPolicy", "iam.serviceAccountKeys.create", "compute.instances.create",
     "container.clusters.update", "container.pods.create", "cloudsql.instances.connect", "logging.logEntries.list",
     "logging.logEntries.create", "artifactregistry.repositories.uploadArtifacts", "storage.buckets.create"],
)  # fmt: skip
def test_a_pod_has_no_right_in_the_project(stack, permission):
    for team in stack.namespaces:
        refuses(stack.rights.may(stack.pod(team), permission, "projects/acme-ml"))


def test_the_pods_of_a_namespace_that_are_not_training_pods_have_no_right(stack):
    for namespace in stack.namespaces.values():
        for account in ("default", "somebody"):
            for end in ("data", "checkpoints"):
                refuses(
                    stack.rights.may(
                        Pod(namespace, account), "storage.objects.get", object_name(stack.bucket(end), "a")
                    )
                )


def test_pods_of_another_pool_and_accounts_of_others_get_nothing(stack):
    team, namespace = next(iter(stack.namespaces.items()))
    own = object_name(stack.bucket("checkpoints"), f"{team_prefix(team)}model.pt")
    strangers = (
        Caller("pods of another project's cluster", pod=Pod(namespace, TRAINER_SERVICE_ACCOUNT), pool="x.svc.id.goog"),
        Caller("somebody else's account", account="somebody@elsewhere.iam.gserviceaccount.com"),
    )
    for stranger in strangers:
        refuses(stack.rights.may(stranger, "storage.objects.get", own))


def test_nodes_read_no_bucket_secret_or_key(stack):
    for account in stack.resources.of(GCP_ACCOUNT):
        node = Caller("a node", account=account.outputs["email"])
        for bucket in stack.resources.of(GCP_BUCKET):
            refuses(stack.rights.may(node, "storage.objects.get", object_name(bucket, "any")))
        for thing in (*stack.resources.of(REGIONAL_SECRET), *stack.resources.of(GCP_CRYPTO_KEY)):
            for permission in ("secretmanager.versions.access", "cloudkms.cryptoKeyVersions.useToDecrypt"):
                refuses(stack.rights.may(node, permission, full_name(thing)))


# What a team is there for


def test_a_pod_checkpoints_resumes_and_reads_data(stack):
    for team in stack.namespaces:
        pod, checkpoints, data = stack.pod(team), stack.bucket("checkpoints"), stack.bucket("data")
        for permission in ("get", "create", "delete"):
            own = object_name(checkpoints, f"{team_prefix(team)}run-1/model.pt")
            allows(stack.rights.may(pod, f"storage.objects.{permission}", own))
        said = {LIST_PREFIX: team_prefix(team)}
        allows(stack.rights.may(pod, "storage.objects.list", full_name(checkpoints), said))
        allows(stack.rights.may(pod, "storage.objects.list", full_name(data), {LIST_PREFIX: data_prefix()}))
        allows(stack.rights.may(pod, "storage.objects.get", object_name(data, f"{data_prefix()}shard-0")))


def test_the_tracking_server_keeps_its_artifacts_and_no_checkpoints(stack):
    mlflow = Pod("mlflow", "mlflow")
    for permission in ("get", "create", "delete"):
        artifact = object_name(stack.bucket("artifacts"), "mlflow/1/model.pt")
        allows(stack.rights.may(mlflow, f"storage.objects.{permission}", artifact))
    refuses(stack.rights.may(mlflow, "storage.objects.get", object_name(stack.bucket("checkpoints"), "teams/any/m")))


def test_a_person_is_nobody_on_google_cloud_by_a_name_alone(stack):
    with pytest.raises(ValueError, match="nobody on Google Cloud"):
        stack.rights.may("somebody", "storage.objects.get", "projects/_/buckets/any")
