"""What decides a setting that is left out is asked of the planner, not written down a second time."""

import pytest

from trainyard.plan.defaults import TYPICAL, defaults, in_words
from trainyard.plan.profiles import profile
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import field_at
from trainyard.settings.schema import example, leaves

DEFAULTS = defaults()

NOTHING = {
    "images.cacheLogins.dockerHub",
    "images.cacheLogins.github",
    "environment", "teamSize", "profile", "owner", "costCentre", "teams.*.share", "aws.accountId",
    "aws.organizationId",  # the account alone
    "aws.assumeRole", "aws.profile",  # the credentials as they are
    "aws.permissionsBoundary",  # none
    "teams.*.monthlyBudgetUsd",  # its share decides
    "scheduler.priorities",  # each has a decision of its own
    "gpuPools.*.purpose", "gpuPools.*.gpu", "gpuPools.*.fabric", "gpuPools.*.zone",  # what the pool or instance has
    "gcp.tpuPools.*.reserved.chipHourUsd", "gcp.tpuPools.*.spot.chipHourUsd",  # list and spot prices
    "gcp.tpuPools.*.onDemand.chipHourUsd", "gcp.tpuPools.*.flexStart.chipHourUsd",
    "gpuPools.*.reserved.maxNodes", "gpuPools.*.spot.minNodes", "gpuPools.*.spot.maxNodes",
    "gpuPools.*.onDemand.minNodes", "gpuPools.*.onDemand.maxNodes",
    "gpuPools.*.reserved.start", "gpuPools.*.reserved.end", "gpuPools.*.reserved.lastStartHours",  # a block's alone
    "gpuPools.*.localSsds",  # none, or what the machine comes with
    "gpuPools.*.owners",  # the teams' shares decide
    "gpuPools.*.sharing.timeSlices", "gpuPools.*.sharing.mig",  # GPUs are whole
    "aws.wayOut",  # a way out, as the profile makes it
    "audit.trail.reason", "audit.threatDetection.reason",  # a person's words
    "gcp.project", "gcp.projectNumber",  # have to be given
    "gcp.billingAccount", "gcp.organisationDomain",  # none
    "gcp.networkProject",  # none: the network is the environment's own
    "gcp.tpuPools.*.purpose",  # the pool's name says it
    "notebooks.address", "notebooks.signOn.authorizeUrl",  # there is no hub, or GitHub has its own
    "notebooks.signOn.tokenUrl", "notebooks.signOn.userdataUrl",
    "gcp.bucketNetworks", "gcp.dataCacheHours",  # buckets are reached from everywhere, and no cache stands before them
    "offPeak.from", "offPeak.to", "offPeak.timeZone",  # there are no such hours
    "stateBackend", "stateRegion",  # whoever runs Pulumi decides
}  # fmt: skip
"""Settings without a default of their own, of which no single figure of a profile decides either."""


def left_to_the_plan(path):
    field = field_at(tuple(step if step != "*" else 0 for step in path.split(".")))
    return not field.is_required() and field.default is None


def test_every_setting_that_is_left_to_the_plan_has_its_default():
    paths = {path for path, _ in leaves(example()) if left_to_the_plan(path)}
    assert paths - set(DEFAULTS) == NOTHING
    assert Settings.model_fields["team_size"].default is None


@pytest.mark.parametrize("name", TYPICAL)
def test_a_figure_of_the_profile_is_what_is_told(name):
    told = {path: entry for path, entries in DEFAULTS.items() for entry in entries if entry.profile == name}
    assert told["mlflow.replicas"].value == str(profile(name).figure("mlflow.replicas").value)
    assert told["monthlyBudgetUsd"].value == str(profile(name).figure("budget.monthly_usd").at(TYPICAL[name]))
    assert told["aws.natPerZone"].source.startswith(f"profile {name}, network.nat_per_zone: ")


def test_profiles_that_agree_are_told_once():
    assert in_words(DEFAULTS["logRetentionDays"]) == "365"
    assert in_words(DEFAULTS["mlflow.replicas"]) == "2 for 12 people, 3 for 40 people"
    assert in_words(DEFAULTS["gcp.releaseChannel"]) == "REGULAR"
    assert in_words(DEFAULTS["gpuPools.*.rootDiskGib"]) == "200 (pool train)"
