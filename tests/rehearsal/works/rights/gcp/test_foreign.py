"""A correct stack as somebody else would write it for GKE: none of the rooms accuses it, each tells a mistake in it."""

from __future__ import annotations

import pytest

from tests.policies.truth import kubernetes, made
from trainyard.rehearsal.context import ValueContext
from trainyard.rehearsal.works.check import check_works

PROJECT, NUMBER = "shop-prod", "887766554433"
KEY = f"projects/{PROJECT}/locations/europe-west4/keyRings/main/cryptoKeys/data"
RING = KEY.partition("/cryptoKeys/")[0]
AGENT = f"serviceAccount:service-{NUMBER}@gs-project-accounts.iam.gserviceaccount.com"
ROOMS = ("rights-", "flows-", "paths-", "machine-")


def account(name):
    email = f"{name}@{PROJECT}.iam.gserviceaccount.com"
    place = f"projects/{PROJECT}/serviceAccounts/{email}"
    return made("gcp:serviceaccount/account:Account", name, {"accountId": name}, id=place, outputs={"email": email})


def on_project(name, role, of):
    inputs = {"project": PROJECT, "role": role, "member": f"serviceAccount:{of.outputs['email']}"}
    return made("gcp:projects/iAMMember:IAMMember", name, inputs)


def stack(**changes):
    """A public cluster in the default network, roles on the project, an account that pods take, a key by its ring."""
    nodes, loader = account("nodes"), account("loader")
    takes = {
        "serviceAccountId": loader.id,
        "role": "roles/iam.workloadIdentityUser",
        "members": [f"serviceAccount:{PROJECT}.svc.id.goog[data/loader]"],
    }
    annotation = {"iam.gke.io/gcp-service-account": loader.outputs["email"]}
    pod = {
        "serviceAccountName": "loader",
        "containers": [{"name": "loader", "image": "python:3.13", "args": ["--from", "gs://shop-raw/2026/"]}],
    }
    labels = {"app": "loader"}
    resources = {
        "cluster": made(
            "gcp:container/cluster:Cluster",
            "prod",
            {
                "name": "prod",
                "network": "default",
                "location": "europe-west4",
                "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
            },
            id="prod",
        ),
        "pool": made(
            "gcp:container/nodePool:NodePool",
            "workers",
            {
                "cluster": "prod",
                "nodeConfig": {
                    "machineType": "e2-standard-8",
                    "imageType": "cos_containerd",
                    "serviceAccount": nodes.outputs["email"],
                },
                "nodeCount": 3,
            },
        ),
        "nodes": nodes,
        "loader": loader,
        "logs": on_project("logs", "roles/logging.logWriter", nodes),
        "figures": on_project("figures", "roles/monitoring.metricWriter", nodes),
        "objects": on_project("objects", "roles/storage.objectAdmin", loader),
        "takes": made("gcp:serviceaccount/iAMBinding:IAMBinding", "takes", takes),
        "ring": made("gcp:kms/keyRing:KeyRing", "main", {}, id=RING),
        "key": made("gcp:kms/cryptoKey:CryptoKey", "data", {"keyRing": RING}, id=KEY),
        "agent": made(
            "gcp:kms/keyRingIAMMember:KeyRingIAMMember",
            "agent",
            {"keyRingId": RING, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter", "member": AGENT},
        ),
        "bucket": made(
            "gcp:storage/bucket:Bucket",
            "raw",
            {
                "name": "shop-raw",
                "uniformBucketLevelAccess": True,
                "encryption": {"defaultKmsKeyName": KEY},
            },
            id="shop-raw",
        ),
        "namespace": kubernetes("core/v1:Namespace", "data"),
        "account": kubernetes("core/v1:ServiceAccount", "loader", "data", annotations=annotation),
        "deployment": kubernetes(
            "apps/v1:Deployment",
            "loader",
            "data",
            spec={
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        ),
    }
    return [found for name, found in {**resources, **changes}.items() if found is not None]


def told(resources):
    found = check_works(resources, ValueContext("1.34", "europe-west4"))
    return {finding.rule for finding in found if finding.rule.startswith(ROOMS)}


def test_a_correct_stack_is_left_alone():
    assert told(stack()) == set()


@pytest.mark.parametrize(
    ("gone", "rule"),
    [
        ("logs", "rights-nodes"),
        ("objects", "rights-pod-lacks"),
        ("takes", "rights-binding-untrusted"),
        ("agent", "rights-key"),
    ],
)
def test_what_is_taken_out_is_missed(gone, rule):
    assert told(stack(**{gone: None})) == {rule}


def volume(profile, **changes):
    spec = {
        "capacity": {"storage": "1Ti"},
        "accessModes": ["ReadOnlyMany"],
        "storageClassName": profile,
        "csi": {"driver": "gcsfuse.csi.storage.gke.io", "volumeHandle": "shop-raw", "readOnly": True, **changes},
    }
    return kubernetes("core/v1:PersistentVolume", "raw", spec=spec)


def counts(role):
    member = f"serviceAccount:service-{NUMBER}@container-engine-robot.iam.gserviceaccount.com"
    inputs = {"bucket": "shop-raw", "role": role, "member": member}
    return made("gcp:storage/bucketIAMMember:BucketIAMMember", "counts", inputs)


CLASS = kubernetes("storage.k8s.io/v1:StorageClass", "gcsfusecsi-training", provisioner="gcsfuse.csi.storage.gke.io")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"volume": volume("gcsfusecsi-training")}, {"rights-profile"}),
        ({"volume": volume("gcsfusecsi-serving"), "grant": counts("roles/storage.objectViewer")}, {"rights-profile"}),
        ({"volume": volume("gcsfusecsi-training"), "grant": counts("roles/storage.legacyBucketReader")}, set()),
        ({"volume": volume("gcsfusecsi-training"), "grant": counts("roles/storage.admin")}, set()),
        ({"volume": volume("gcsfusecsi-training"), "grant": counts("organizations/9/roles/counter")}, set()),
        ({"volume": volume("gcsfusecsi-training", volumeHandle="of-another-project")}, set()),
        ({"volume": volume("gcsfusecsi-training", driver="files.example.com")}, set()),
        ({"volume": volume("gcsfusecsi-training"), "class": CLASS}, set()),
        ({"volume": volume("")}, set()),
    ],
)
def test_who_counts_what_a_profile_mounts(changes, rule):
    """GKE's own account, by whatever role lists a bucket; nobody, for volumes of no profile and of nobody's bucket."""
    assert {found for found in told(stack(**changes)) if found.startswith("rights-")} == rule


KMS = "shop-kms"
KMS_RING = f"projects/{KMS}/locations/europe-west4/keyRings/main"
KMS_KEY = f"{KMS_RING}/cryptoKeys/data"


def keys_apart(of=KMS, **inputs):
    """Keys in a project of their own, where Cloud Storage of the other may use all of them."""
    role = {"project": of, "role": "roles/cloudkms.cryptoKeyEncrypterDecrypter", "member": AGENT}
    encrypted = {"name": "shop-raw", "uniformBucketLevelAccess": True, "encryption": {"defaultKmsKeyName": KMS_KEY}}
    return {
        "ring": made("gcp:kms/keyRing:KeyRing", "main", inputs, id=KMS_RING),
        "key": made("gcp:kms/cryptoKey:CryptoKey", "data", {"keyRing": KMS_RING}, id=KMS_KEY),
        "agent": made("gcp:projects/iAMMember:IAMMember", "agent", role),
        "bucket": made("gcp:storage/bucket:Bucket", "raw", encrypted, id="shop-raw"),
    }


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (keys_apart(project=KMS), set()),
        (keys_apart(), set()),
        (keys_apart(of="shop-kmz", project=KMS), {"rights-key"}),
    ],
)
def test_a_role_on_the_project_that_the_keys_are_in_is_no_other_projects(changes, rule):
    home = made("pulumi:providers:gcp", "default", {"project": PROJECT})
    found = check_works([home, *stack(**changes)], ValueContext("1.34", "europe-west4"))
    assert {finding.rule for finding in found if finding.rule.startswith("rights-")} == rule


TEMPLATE = f"projects/{PROJECT}/locations/europe-west4/notebookRuntimeTemplates/7"
APPLY, LOOK = "aiplatform.notebookRuntimeTemplates.apply", "aiplatform.notebookRuntimeTemplates.get"
PEOPLE = "group:vision@shop.example"


def role(name, *permissions):
    place = f"projects/{PROJECT}/roles/{name}"
    inputs = {"roleId": name, "permissions": list(permissions)}
    return made("gcp:projects/iAMCustomRole:IAMCustomRole", name, inputs, id=place, outputs={"name": place})


def editors(**on_project):
    looks, opens = role("looks", LOOK), role("opens", APPLY)
    given = {"runtimeTemplate": TEMPLATE, "role": looks.id, "member": PEOPLE}
    return {
        "looks": looks,
        "opens": opens,
        "template": made("gcp:colab/runtimeTemplate:RuntimeTemplate", "lab", {"displayName": "lab"}, id=TEMPLATE),
        "given": made("gcp:colab/runtimeTemplateIamMember:RuntimeTemplateIamMember", "given", given),
        "more": made("gcp:projects/iAMMember:IAMMember", "more", {"project": PROJECT, **on_project}),
    }


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (editors(role=f"projects/{PROJECT}/roles/looks", member=PEOPLE), {"rights-editor"}),
        (editors(role=f"projects/{PROJECT}/roles/opens", member=PEOPLE), set()),
        (editors(role="organizations/9/roles/nobody-knows", member=PEOPLE), set()),
        (editors(role=f"projects/{PROJECT}/roles/opens", member=AGENT), {"rights-editor"}),
    ],
)
def test_whoever_may_open_every_editor_may_open_this_one(changes, rule):
    assert told(stack(**changes)) == rule


def reads(bucket):
    inputs = {"bucket": bucket, "role": "roles/storage.objectViewer", "member": PEOPLE}
    return made("gcp:storage/bucketIAMMember:BucketIAMMember", "reads", inputs)


OWN = made("gcp:storage/bucket:Bucket", "own", {"name": "shop-dev-data", "uniformBucketLevelAccess": True}, id="s")


@pytest.mark.parametrize(
    ("bucket", "rule"),
    [
        ("shop-dev-data", set()),
        ("shop-prod-data", set()),
        ("shop-dev-date", {"rights-binding-nothing"}),
        ("shop-dev-dta", {"rights-binding-nothing"}),
        ("shop-dev-data-887766554433", set()),
        ("shop-dev-outputs-0fa7c21", {"rights-binding-nothing"}),
    ],
)
def test_a_bucket_of_another_environment_is_no_slip(bucket, rule):
    by_chance = made("gcp:storage/bucket:Bucket", "more", {**OWN.inputs, "name": "shop-dev-artifacts-0fa7c21"}, id="m")
    assert told(stack(own=OWN, more=by_chance, reads=reads(bucket))) == rule
