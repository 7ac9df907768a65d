"""What stays of an environment and what goes: decided in its state."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.conftest import WHOLE
from tests.teardown.states import exported
from trainyard.problems import SettingsError
from trainyard.recorded.types import (
    BUCKET,
    CLOUD_SQL,
    DATA_REPOSITORY_ASSOCIATION,
    DATABASE,
    EKS_CLUSTER,
    GCP_BUCKET,
    GCP_CRYPTO_KEY,
    GCP_MANAGED_FOLDER,
    GKE_CLUSTER,
    KEY,
    LUSTRE,
)
from trainyard.teardown.kinds import GCP_VAULT, GROUPS, PARTS, Group
from trainyard.teardown.model import Left
from trainyard.teardown.state import State, dependencies, ending, group_of, waves

SETTINGS = ("bucketPolicy", "bucketPublicAccessBlock", "bucketVersioning", "bucketServerSideEncryptionConfiguration")


@pytest.fixture(scope="module")
def state(rehearsed) -> State:
    return State(exported(rehearsed(WHOLE)))


def ended(state: State, *keep: Group) -> tuple[State, Any]:
    found = ending(state, keep)
    return State(found.state), found


def by_name(state: State, type_: str, name: str) -> dict[str, Any]:
    (found,) = (each for each in state.of(type_) if each["urn"].endswith(f"::{name}"))
    return found


def test_everything_that_holds_something_has_a_group(state: State) -> None:
    groups = {each["urn"].rpartition("::")[2]: group_of(each) for each in state.made if group_of(each)}
    assert groups["acme-demo-data"] == groups["acme-demo-checkpoints"] == "data"
    assert groups["acme-demo-artifacts"] == "artifacts"
    assert groups["acme-demo-mlflow"] == "tracking"


def test_nothing_is_lost_by_default(state: State) -> None:
    after, found = ended(state, *GROUPS)
    assert found.lost == ()
    assert not any(each.get("protect") for each in after.resources), "or `pulumi destroy` is refused whole"
    for each in after.of(BUCKET):
        assert each["retainOnDelete"], each["urn"]
        assert each["inputs"]["forceDestroy"] is False
    assert all(each["retainOnDelete"] for each in after.of(KEY))
    database = by_name(after, DATABASE, "acme-demo-mlflow")
    assert not database["retainOnDelete"], "it stands in a network that goes: its last snapshot stays"
    assert database["outputs"]["skipFinalSnapshot"] is False
    assert database["outputs"]["deletionProtection"] is False
    (snapshot,) = (each for each in found.kept if each.kind == "database snapshot")
    assert database["inputs"]["finalSnapshotIdentifier"] in snapshot.names


def test_a_bucket_that_stays_keeps_its_walls(state: State) -> None:
    after, _ = ended(state, *GROUPS)
    for kind in SETTINGS:
        settings = after.of(f"aws:s3/{kind}:*")
        assert settings
        assert all(each["retainOnDelete"] for each in settings), kind
    one, _ = ended(state, "data")
    policies = {each["urn"].rpartition("::")[2]: each["retainOnDelete"] for each in one.of("aws:s3/bucketPolicy:*")}
    assert policies["acme-demo-data-policy"]
    assert not policies["acme-demo-artifacts-policy"]


def test_what_is_given_up_can_be_deleted_with_what_it_holds(state: State) -> None:
    after, found = ended(state, "data")
    artifacts = by_name(after, BUCKET, "acme-demo-artifacts")
    assert artifacts["outputs"]["forceDestroy"] is artifacts["inputs"]["forceDestroy"] is True
    assert artifacts["retainOnDelete"] is False
    assert by_name(after, DATABASE, "acme-demo-mlflow")["outputs"]["skipFinalSnapshot"] is True
    assert any("acme-demo-artifacts" in line for line in found.lost)
    assert not any("acme-demo-data" in line for line in found.lost)
    assert by_name(after, BUCKET, "acme-demo-data")["outputs"]["forceDestroy"] is False


def test_a_key_stays_as_long_as_something_that_it_opens(state: State) -> None:
    def keys(*keep: Group) -> set[str]:
        after, _ = ended(state, *keep)
        return {each["urn"].rpartition("::")[2] for each in after.of(KEY) if each["retainOnDelete"]}

    assert keys(*GROUPS) >= {"data-key", "checkpoints-key", "tracking-key", "platform-key"}
    assert "tracking-key" in keys("tracking")
    assert "data-key" in keys("data")
    assert "data-key" not in keys("artifacts")
    assert keys() == {"acme-demo-trail-key"}, "the record outlives what it records"


def test_the_record_is_never_given_up(state: State) -> None:
    after, found = ended(state)
    trail = by_name(after, BUCKET, "acme-demo-trail-logs")
    assert trail["retainOnDelete"] is True
    assert trail["outputs"]["forceDestroy"] is False
    assert any("docs/audit.md" in each.why for each in found.kept)


def test_a_linked_file_system_goes_and_one_that_is_not_leaves_a_backup(state: State) -> None:
    after, found = ended(state, *GROUPS)
    (lustre,) = after.of(LUSTRE)
    assert lustre["retainOnDelete"] is False
    assert lustre["inputs"]["skipFinalBackup"] is True
    changed = deepcopy(state.exported)
    changed["deployment"]["resources"] = [
        each for each in changed["deployment"]["resources"] if each["type"] != DATA_REPOSITORY_ASSOCIATION
    ]
    after, found = ended(State(changed), *GROUPS)
    assert after.of(LUSTRE)[0]["outputs"]["skipFinalBackup"] is False
    backup = Left("FSx backup", "backup-1", "tag", 1.0, made_of=after.of(LUSTRE)[0]["id"])
    assert any(each.is_of(backup) for each in found.kept)


def test_the_cluster_is_unprotected(state: State) -> None:
    after, _ = ended(state, *GROUPS)
    assert all(each["outputs"]["deletionProtection"] is False for each in after.of(EKS_CLUSTER))


def test_the_state_given_is_left_as_it_was(state: State) -> None:
    before = deepcopy(state.exported)
    ending(state, ())
    assert state.exported == before


def test_a_second_look_after_what_stays_is_out_of_the_state_finds_the_rest(state: State) -> None:
    after, _ = ended(state, *GROUPS)
    rest = deepcopy(after.exported)
    rest["deployment"]["resources"] = [
        each for each in rest["deployment"]["resources"] if not each.get("retainOnDelete") or each["type"] == DATABASE
    ]
    again, found = ended(State(rest), *GROUPS)
    assert found.lost == ()
    assert not again.of(BUCKET)


@pytest.mark.parametrize("content", [None, [], {}, {"deployment": None}, {"deployment": {"resources": [{}]}}])
def test_what_is_no_state_is_refused(content: Any) -> None:
    with pytest.raises(SettingsError, match="pulumi stack export"):
        State(content)


def test_each_is_deleted_before_what_it_depends_on(state: State) -> None:
    order = {each["urn"]: number for number, wave in enumerate(waves(state)) for each in wave}
    assert len(order) == len(state.made)
    for each in state.made:
        for urn in dependencies(each):
            if urn in order:
                assert order[each["urn"]] < order[urn], (each["urn"], urn)


def test_a_managed_stack_keeps_models_and_the_server_with_its_role(rehearsed) -> None:
    state = State(exported(rehearsed("small-aws")))
    groups = {each["type"]: group_of(each) for each in state.made if "sagemaker" in each["type"] and group_of(each)}
    assert groups == {
        "aws:sagemaker/domain:Domain": "homes",
        "aws:sagemaker/mlflowApp:MlflowApp": "tracking",
        "aws:sagemaker/modelPackageGroup:ModelPackageGroup": "artifacts",
    }
    after, found = ended(state, *GROUPS)
    assert found.lost == ()
    (server,) = after.of("aws:sagemaker/mlflowApp:*")
    (domain,) = after.of("aws:sagemaker/domain:*")
    assert server["retainOnDelete"]
    assert not domain["retainOnDelete"], "its network goes"
    role = next(each for each in after.needed_by(server) if each["type"] == "aws:iam/role:Role")
    assert role["retainOnDelete"]
    policies = [each for each in after.of("aws:iam/rolePolicy:*") if each["inputs"]["role"] == role["id"]]
    assert policies
    assert all(each["retainOnDelete"] for each in policies)
    without, _ = ended(state, "data")
    assert not without.of("aws:sagemaker/mlflowApp:*")[0]["retainOnDelete"]


def test_copies_of_images_that_can_be_pulled_again_go(rehearsed) -> None:
    state = State(exported(rehearsed("large-aws")))
    assert state.of("aws:ecr/repository:Repository")
    after, _ = ended(state, *GROUPS)
    for each in after.of("aws:ecr/repository:Repository"):
        assert not each["retainOnDelete"]
        assert each["outputs"]["forceDelete"] is True
    changed = deepcopy(state.exported)
    changed["deployment"]["resources"] = [
        each for each in changed["deployment"]["resources"] if "pullThroughCacheRule" not in each["type"]
    ]
    own, _ = ended(State(changed), *GROUPS)
    assert all(each["retainOnDelete"] for each in own.of("aws:ecr/repository:Repository")), "nobody can pull them again"


@pytest.fixture(scope="module")
def on_google(rehearsed) -> State:
    return State(exported(rehearsed("demo-gcp")))


def names(resources: list[dict[str, Any]]) -> set[str]:
    return {each["urn"].rpartition("::")[2].removeprefix("acme-demo-gcp-") for each in resources}


def test_on_google_cloud_nothing_is_lost_by_default(on_google: State) -> None:
    after, found = ended(on_google, *GROUPS)
    assert found.lost == ()
    assert not any(each.get("protect") for each in after.resources)
    assert all(each["retainOnDelete"] for each in (*after.of(GCP_BUCKET), *after.of(GCP_CRYPTO_KEY)))
    (database,) = after.of(CLOUD_SQL)
    assert not database["retainOnDelete"], "its network goes: a backup stays"
    assert database["outputs"]["deletionProtection"] is database["inputs"]["deletionProtection"] is False
    backup = Left("BackupRun", "17", "name", None, made_of=database["id"])
    assert any(each.is_of(backup) for each in found.kept)
    (cluster,) = after.of(GKE_CLUSTER)
    assert (cluster["retainOnDelete"], cluster["outputs"]["deletionProtection"]) == (False, False)
    assert not any("secret" in each.kind.lower() or "Cluster" in each.kind for each in found.kept)


def test_on_google_cloud_what_stays_can_be_read_still(on_google: State) -> None:
    """The bucket's own account uses the key, and the folders hold who may read them."""
    after, _ = ended(on_google, "data")
    stays = names([each for each in after.of(GCP_BUCKET) if each["retainOnDelete"]])
    assert stays == {"data", "checkpoints", "logs"}
    kept_keys = [each for each in after.of(GCP_CRYPTO_KEY) if each["retainOnDelete"]]
    assert {"data", "checkpoints"} <= names(kept_keys)
    for right in after.of("gcp:kms/cryptoKeyIAMMember:*"):
        of_kept = any(key["id"] == right["inputs"]["cryptoKeyId"] for key in kept_keys)
        assert right["retainOnDelete"] is of_kept, right["urn"]
    for folder in after.of(GCP_MANAGED_FOLDER):
        bucket = next(each for each in after.of(GCP_BUCKET) if each["outputs"]["name"] == folder["inputs"]["bucket"])
        assert folder["retainOnDelete"] is bucket["retainOnDelete"], folder["urn"]


def test_on_google_cloud_what_is_given_up_can_be_deleted(on_google: State) -> None:
    after, found = ended(on_google)
    for each in (*after.of(GCP_BUCKET), *after.of(GCP_MANAGED_FOLDER)):
        assert each["outputs"]["forceDestroy"] is True
        assert not each["retainOnDelete"]
    assert all(each["outputs"]["deletionPolicy"] == "DELETE" for each in after.of(GCP_CRYPTO_KEY)), (
        "and not left for ever"
    )
    assert found.kept == ()
    assert any(line.startswith("DatabaseInstance ") for line in found.lost)


@pytest.mark.parametrize("keep", [(), ("data",), GROUPS])
def test_the_vault_of_backups_stays_with_its_key_and_can_be_read(rehearsed, keep: tuple[Group, ...]) -> None:
    after, found = ended(State(exported(rehearsed("large-gcp"))), *keep)
    (vault,) = after.of(GCP_VAULT)
    (kept,) = (each for each in found.kept if each.kind == "BackupVault")
    assert vault["retainOnDelete"] and kept.why == "its backups go with their days"
    key = by_name(after, GCP_CRYPTO_KEY, "northwind-production-data")
    assert key["retainOnDelete"] and key["outputs"]["deletionPolicy"] == "ABANDON"
    assert by_name(after, "gcp:kms/cryptoKeyIAMMember:*", "northwind-production-data-backups")["retainOnDelete"]
    share = Left("Instance", vault["inputs"]["backupVaultId"], "tag", 1.0)
    assert not any(each.is_of(share) for each in found.kept), "it has the vault's name, and is to go"


def test_a_user_that_owns_tables_is_not_dropped_from_a_database_that_goes(on_google: State) -> None:
    for keep in (GROUPS, ()):
        after, _ = ended(on_google, *keep)
        parts = [each for each in after.made if each["type"] in PARTS]
        assert len(parts) == 2
        assert all(each["retainOnDelete"] for each in parts)
