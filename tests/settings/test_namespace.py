"""A key under a namespace that was meant to be ours is a mistake; a key of anybody else is none."""

import pytest

from tests.plan.stack_files import STACK, configuration
from trainyard.plan.resolve import resolve_all
from trainyard.problems import SettingsError
from trainyard.settings.namespace import misplaced_keys

OTHERS = [
    "pulumi", "aws", "aws-native", "awsx", "eks", "gcp", "google-native", "azure", "azure-native", "azuread",
    "azuredevops", "kubernetes", "docker", "docker-build", "random", "tls", "time", "command", "cloudflare",
    "datadog", "github", "gitlab", "vault", "rancher2", "tailscale", "terraform", "railway", "digitalocean",
    "linode", "hcloud", "openstack", "vsphere", "snowflake", "databricks", "confluentcloud", "mongodbatlas",
    "artifactory", "harness", "train", "training", "yard", "railyard", "acme-ml", "acme", "platform", "ml",
]  # fmt: skip


def engine(**others):
    own = {f"trainyard:{key}": value for key, value in configuration().items()}
    return {**own, **{key.replace("__", ":"): value for key, value in others.items()}}


def refusal(values):
    with pytest.raises(SettingsError) as caught:
        resolve_all(values, STACK)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("trainyrd:residency", "did you mean trainyard:residency?"),
        ("trainyards:residency", "did you mean trainyard:residency?"),
        ("trianyard:residency", "did you mean trainyard:residency?"),
        ("Trainyard:residency", "did you mean trainyard:residency?"),
        ("TRAINYARD:residency", "did you mean trainyard:residency?"),
        (":residency", "did you mean trainyard:residency?"),
        (" :residency", "did you mean trainyard:residency?"),
        ("train-yard:residency", "did you mean trainyard:residency?"),
        ("trainyard :residency", "did you mean trainyard:residency?"),
        ("trainyrd:residncy", "did you mean trainyard:residency?"),
        ("trainyrd:awsAccountId", "did you mean trainyard:awsAccountId?"),
        ("trainyrd:something", "did you mean the namespace trainyard?"),
        ("acme:trainyard.residency", "did you mean trainyard:residency?"),
        ("trainyard:trainyard.residency", "did you mean residency?"),
        ("trainyard:trainyard residency", "did you mean residency?"),
        ("trainyard:Trainyard/residency", "did you mean residency?"),
        ("trainyard:config:residency", "did you mean residency?"),
        ("trainyard::residency", "did you mean residency?"),
        ("trainyard:Residency", "did you mean residency?"),
        ("trainyard:residency ", "did you mean residency?"),
    ],
)
def test_a_key_that_was_meant_to_be_ours_is_refused_and_its_value_not_told(key, hint):
    problem = refusal({**engine(), key: "hunter2hunter2"})
    assert problem.hint == hint
    assert "hunter2" not in str(problem)
    assert problem.got == "a text of 14 characters"


@pytest.mark.parametrize("namespace", OTHERS)
def test_a_key_of_anybody_else_passes(namespace):
    assert not list(misplaced_keys({f"{namespace}:region": "eu-west-1", f"{namespace}:residency": "eu"}))


def test_it_is_told_together_with_what_is_wrong_in_our_own():
    with pytest.raises(SettingsError) as caught:
        resolve_all({**engine(), "trainyard:teamSize": "0", "trainyrd:residency": "eu"}, STACK)
    assert {problem.key for problem in caught.value.problems} == {"trainyrd:residency", "teamSize"}


def test_a_long_key_is_cut():
    assert len(refusal({**engine(), "trainyrd:" + "x" * 500: "1"}).key) <= 60


def test_a_setting_under_another_project_s_name_is_a_warning():
    """Without a namespace the engine puts a key under the project's name, where no setting is read."""
    values = {**engine(), "acme-ml:residency": "eu", "acme-ml:something": "x", "other:residency": "eu"}
    (warning,) = resolve_all(values, STACK, project="acme-ml").warnings
    assert warning.startswith("acme-ml:residency is not a setting")
    assert "trainyard:residency" in warning
    assert not resolve_all(engine(), STACK).warnings
