"""Attacks on the record on Google Cloud: what a team's pods might change of it, and what nobody takes back.

Every attack is refused by the evaluator of IAM over each example stack on Google Cloud as it is recorded; every use is
allowed.
"""

import pytest

from tests.attacks.verdicts import allows, refuses
from tests.conftest import ON_GOOGLE
from trainyard.conventions import TEAM_LABEL, TRAINER_SERVICE_ACCOUNT
from trainyard.conventions.gcp import LOG_DELIVERY
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_LOG_BUCKET,
    GCP_LOG_EXCLUSION,
    GKE_CLUSTER,
    NAMESPACE,
)
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.project import full_name, object_name
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.stack import Rights

DELIVERY = Caller("Google's log delivery", group=LOG_DELIVERY)
LOGGING = Caller("Cloud Logging", agent="gcp-sa-logging.iam.gserviceaccount.com")
DAY_S = 86_400


class Stack:
    """An example stack with its teams' pods, and where the record is."""

    def __init__(self, resources):
        self.resources = Resources(resources)
        self.rights = Rights(self.resources)
        self.pods = [
            Pod(namespace.inputs["metadata"]["name"], account)
            for namespace in self.resources.of(NAMESPACE)
            if TEAM_LABEL in namespace.inputs["metadata"].get("labels", {})
            for account in (TRAINER_SERVICE_ACCOUNT, "default")
        ]

    def one(self, type_, end):
        (found,) = [found for found in self.resources.of(type_) if found.name.endswith(end)]
        return found


@pytest.fixture(scope="module", params=ON_GOOGLE)
def stack(request, rehearsed):
    return Stack(rehearsed(request.param).resources)


def test_a_pod_neither_changes_what_is_recorded_nor_where(stack):
    project = f"projects/{stack.one(GCP_LOG_BUCKET, '').inputs['project']}"
    assert stack.pods or not stack.resources.of(GKE_CLUSTER)
    for pod in stack.pods:
        for permission in (
            "logging.sinks.update", "logging.sinks.delete", "logging.exclusions.create", "logging.exclusions.delete",
            "logging.buckets.update", "logging.buckets.delete", "logging.logs.delete", "logging.logEntries.list",
            "resourcemanager.projects.setIamPolicy", "monitoring.alertPolicies.delete",
        ):  # fmt: skip
            refuses(stack.rights.may(pod, permission, project))


def test_a_pod_touches_no_access_log_and_not_the_key_of_the_record(stack):
    logs, key = stack.one(GCP_BUCKET, "-logs"), stack.one(GCP_CRYPTO_KEY, "-record")
    for pod in stack.pods:
        for right in ("get", "create", "delete", "overrideUnlockedRetention"):
            refuses(stack.rights.may(pod, f"storage.objects.{right}", object_name(logs, "data_usage_1")))
        refuses(stack.rights.may(pod, "storage.buckets.update", full_name(logs)))
        refuses(stack.rights.may(pod, "cloudkms.cryptoKeyVersions.useToDecrypt", str(key.id)))


def test_google_writes_access_logs_and_does_no_more(stack):
    logs, data = stack.one(GCP_BUCKET, "-logs"), stack.one(GCP_BUCKET, "-data")
    allows(stack.rights.may(DELIVERY, "storage.objects.create", object_name(logs, "data_usage_1")))
    for right in ("get", "delete", "list"):
        refuses(stack.rights.may(DELIVERY, f"storage.objects.{right}", object_name(logs, "data_usage_1")))
    refuses(stack.rights.may(DELIVERY, "storage.objects.create", object_name(data, "data/any")))


def test_nobody_deletes_an_access_log_in_its_time_whatever_iam_says(stack):
    """A retention policy is the bucket's, not IAM's: an owner has to change the bucket first, which is on record."""
    logs = stack.one(GCP_BUCKET, "-logs").inputs
    held = int(logs["retentionPolicy"]["retentionPeriod"])
    assert held >= 30 * DAY_S
    ages = [rule["condition"]["age"] for rule in logs["lifecycleRules"] if rule["action"]["type"] == "Delete"]
    assert ages and min(ages) * DAY_S >= held


def test_logs_are_under_a_key_of_their_own_and_nothing_goes_elsewhere(stack):
    record = stack.one(GCP_LOG_BUCKET, "")
    key = stack.one(GCP_CRYPTO_KEY, "-record")
    assert record.inputs["cmekSettings"]["kmsKeyName"] == key.id
    allows(stack.rights.may(LOGGING, "cloudkms.cryptoKeyVersions.useToEncrypt", str(key.id)))
    refuses(
        stack.rights.may(LOGGING, "cloudkms.cryptoKeyVersions.useToEncrypt", str(stack.one(GCP_CRYPTO_KEY, "-data").id))
    )
    assert record.inputs["location"] == stack.one(GCP_BUCKET, "-data").inputs["location"]
    shut = stack.one(GCP_LOG_EXCLUSION, "").inputs
    assert shut["filter"] == "severity>=DEFAULT" and not shut.get("disabled")
