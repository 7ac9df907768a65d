"""Rights that lack or give nobody anything: mistakes put into the grants of the demo stack on Google Cloud."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, both, drop, edit, put
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import DEPLOYMENT, GKE_CLUSTER, SERVICE_ACCOUNT, VOLUME

STACK = "demo-gcp"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
BUCKET_BINDING = "gcp:storage/bucketIAMBinding:BucketIAMBinding"
FOLDER_MEMBER = "gcp:storage/managedFolderIamMember:ManagedFolderIamMember"
KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
POOL = "//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/acme-ml.svc.id.goog"
TRAINER = f"principal:{POOL}/subject/ns/team-vision/sa/trainer"
DATA = "acme-demo-gcp-data-aa563e44"
ARTIFACTS = "acme-demo-gcp-artifacts-6d222b0e"
ACCOUNT = "acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com"


def granted(type_: str, name: str, **inputs: Any) -> Change:
    """Adds a grant that a program would make."""

    def change(resources: Recorded) -> list[RecordedResource]:
        urn = f"urn:pulumi:demo-gcp::trainyard::{type_}::{name}"
        return [*resources, RecordedResource(urn, type_, name, "", "grants", True, "p::p", inputs, id=name)]

    return change


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


MISTAKES = [
    mistake(
        "a grant forgotten",
        "nobody gives a team its folder of checkpoints",
        drop(FOLDER_MEMBER, "team-vision-checkpoints"),
        "rights-volume",
    ),
    mistake(
        "data that the team cannot read",
        "the team's right to the data is gone",
        drop(BUCKET_MEMBER, "team-tabular-data"),
        "rights-volume",
    ),
    mistake(
        "read where it writes",
        "the folder of checkpoints may be read only",
        edit(FOLDER_MEMBER, "team-language-checkpoints", put("role", "roles/storage.objectViewer")),
        "rights-volume",
    ),
    mistake(
        "created and never overwritten",
        "ingest may create objects and not list, read or overwrite them",
        edit(BUCKET_MEMBER, "ingest-data", put("role", "roles/storage.objectCreator")),
        "rights-volume",
    ),
    mistake(
        "the folder of another team",
        "a team's grant is on its neighbour's folder",
        edit(FOLDER_MEMBER, "team-vision-checkpoints", put("managedFolder", "teams/tabular/")),
        "rights-volume",
    ),
    mistake(
        "a volume of another folder",
        "a team's volume shows a folder that its grant is not on",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions", ["only-dir=teams/visoin"])),
        "rights-volume",
    ),
    mistake(
        "a volume of the whole bucket",
        "a team's volume has lost its folder",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions", ["implicit-dirs"])),
        "rights-volume",
    ),
    mistake(
        "a condition on other names",
        "the right to the data holds for objects of another beginning",
        edit(
            BUCKET_MEMBER,
            "team-vision-data",
            put(
                "condition",
                {
                    "title": "data",
                    "expression": f'resource.name.startsWith("projects/_/buckets/{DATA}/objects/dat/")',
                },
            ),
        ),
        "rights-volume",
    ),
    mistake(
        "a condition that forgets lists",
        "names of objects are compared, which a list of a bucket does not have",
        edit(
            BUCKET_MEMBER,
            "team-vision-data",
            put(
                "condition",
                {"title": "data", "expression": f'resource.name.startsWith("projects/_/buckets/{DATA}/objects/data/")'},
            ),
        ),
        "rights-volume",
    ),
    mistake(
        "a condition of time",
        "the right to the data ends some day",
        edit(
            BUCKET_MEMBER,
            "team-vision-data",
            put("condition", {"title": "t", "expression": 'request.time < timestamp("2030-01-01T00:00:00Z")'}),
        ),
        None,
        "whether the day has come is in no recording",
    ),
    mistake(
        "artifacts that the tracking server cannot keep",
        "the server's folder may be read only",
        edit(FOLDER_MEMBER, "mlflow-artifacts", put("role", "roles/storage.objectViewer")),
        "rights-pod-lacks",
    ),
    mistake(
        "another folder of artifacts",
        "the server is started with a folder that it has no right on",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            lambda inputs: _replaced(inputs, f"{ARTIFACTS}/mlflow", f"{ARTIFACTS}/runs"),
        ),
        "rights-pod-lacks",
    ),
    mistake(
        "a server as another account",
        "the server's pods run as the default account",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.template.spec.serviceAccountName", "default")),
        "rights-pod-lacks",
    ),
    mistake(
        "a role that nobody here knows",
        "a custom role of the organisation's",
        edit(BUCKET_MEMBER, "team-vision-data", put("role", "organizations/1/roles/reader")),
        None,
        "what it holds is in no recording",
    ),
    mistake(
        "the account misspelt",
        "a grant names a service account that is not there",
        edit(BUCKET_MEMBER, "team-vision-data", put("member", TRAINER.replace("sa/trainer", "sa/trianer"))),
        "rights-binding-no-account",
    ),
    mistake(
        "the namespace misspelt",
        "a grant names a namespace that is not there",
        edit(BUCKET_MEMBER, "team-vision-data", put("member", TRAINER.replace("team-vision", "team-visoin"))),
        "rights-binding-no-account",
    ),
    mistake(
        "the pool of another project",
        "the identities are those of a project of nearly the same name",
        edit(BUCKET_MEMBER, "team-vision-data", put("member", TRAINER.replace("acme-ml.svc", "acme-m1.svc"))),
        "rights-binding-no-account",
    ),
    mistake(
        "identities off",
        "the cluster has no pool of identities",
        edit(GKE_CLUSTER, "cluster-cluster", put("workloadIdentityConfig", DROP)),
        "rights-no-workload-identity",
    ),
    mistake(
        "nodes that hand out their own account",
        "a pool serves the node's metadata to pods",
        edit(GKE_NODE_POOL, "cluster-cpu", put("nodeConfig.workloadMetadataConfig.mode", "GCE_METADATA")),
        "rights-no-workload-identity",
    ),
    mistake(
        "an account that pods may not take",
        "a service account is annotated, and the account does not let it",
        edit(
            SERVICE_ACCOUNT, "mlflow-service-account",
            put("metadata.annotations", {"iam.gke.io/gcp-service-account": ACCOUNT}),
        ),
        "rights-binding-untrusted",
    ),
    mistake(
        "an account that other pods may take",
        "a service account is annotated, and the account lets another one",
        both(
            edit(
                SERVICE_ACCOUNT, "mlflow-service-account",
                put("metadata.annotations", {"iam.gke.io/gcp-service-account": ACCOUNT}),
            ),
            granted(
                ACCOUNT_MEMBER, "mlflow-takes", serviceAccountId=f"projects/acme-ml/serviceAccounts/{ACCOUNT}",
                role="roles/iam.workloadIdentityUser", member="serviceAccount:acme-ml.svc.id.goog[mlflow/server]",
            ),
        ),
        "rights-binding-untrusted",
    ),
    mistake(
        "an account without what its pods need",
        "the pods may take the account, and it has no right on the artifacts",
        both(
            edit(
                SERVICE_ACCOUNT, "mlflow-service-account",
                put("metadata.annotations", {"iam.gke.io/gcp-service-account": ACCOUNT}),
            ),
            granted(
                ACCOUNT_MEMBER, "mlflow-takes", serviceAccountId=f"projects/acme-ml/serviceAccounts/{ACCOUNT}",
                role="roles/iam.workloadIdentityUser", member="serviceAccount:acme-ml.svc.id.goog[mlflow/mlflow]",
            ),
        ),
        "rights-pod-lacks",
    ),
    mistake(
        "a binding beside members",
        "somebody binds the role of readers for one account alone",
        granted(
            BUCKET_BINDING, "readers", bucket=DATA, role="roles/storage.objectViewer",
            members=["serviceAccount:reader@acme-ml.iam.gserviceaccount.com"],
        ),
        "rights-binding-replaced",
    ),
    mistake(
        "a key that Cloud Storage may not use",
        "the key of the checkpoints is given to nobody",
        drop(KEY_MEMBER, "acme-demo-gcp-checkpoints-storage"),
        "rights-key",
    ),
    mistake(
        "a key that encrypts and never decrypts",
        "the disks' key is given for half of what it takes",
        edit(KEY_MEMBER, "acme-demo-gcp-platform-disks", put("role", "roles/cloudkms.cryptoKeyEncrypter")),
        "rights-key",
    ),
    mistake(
        "a key that Cloud SQL may not use",
        "the database's key is given to nobody",
        drop(KEY_MEMBER, "acme-demo-gcp-tracking-sql"),
        "rights-key",
    ),
    mistake(
        "a key for another service's account",
        "the secrets' key is given to the account of Cloud Storage",
        edit(
            KEY_MEMBER, "acme-demo-gcp-tracking-secrets",
            put("member", "serviceAccount:service-123456789012@gs-project-accounts.iam.gserviceaccount.com"),
        ),
        "rights-key",
    ),
    mistake(
        "a key that GKE may not use",
        "the key of the cluster's secrets is given to nobody",
        drop(KEY_MEMBER, "acme-demo-gcp-platform-container"),
        "rights-key",
    ),
    mistake(
        "an access log that nobody may write",
        "Google's log delivery has no right on the bucket of the access logs",
        drop(BUCKET_MEMBER, "acme-demo-gcp-logs-delivery"),
        "rights-access-logs",
    ),
    mistake(
        "an access log that somebody else may write",
        "the right on the bucket of the access logs is a service account's",
        edit(BUCKET_MEMBER, "acme-demo-gcp-logs-delivery", put("member", f"serviceAccount:{ACCOUNT}")),
        "rights-access-logs",
    ),
    mistake(
        "pods that are held for ever",
        "GKE may not count the objects of the data, which the profile of their volumes asks for",
        drop(BUCKET_MEMBER, "acme-demo-gcp-data-counted"),
        "rights-profile",
    ),
    mistake(
        "objects that are seen and not listed",
        "GKE may see the bucket of the checkpoints and not list its objects",
        edit(BUCKET_MEMBER, "acme-demo-gcp-checkpoints-counted", put("role", "roles/storage.objectCreator")),
        "rights-profile",
    ),
    mistake(
        "logs that cannot be encrypted",
        "the key of the record is not Cloud Logging's to use",
        drop(KEY_MEMBER, "acme-demo-gcp-record-logging"),
        "rights-key",
    ),
    mistake(
        "nodes without their role",
        "the account of the nodes may not send logs",
        drop(PROJECT_MEMBER, "cluster-nodes-defaultNodeServiceAccount"),
        "rights-nodes",
    ),
    mistake(
        "scopes",
        "nodes' scopes let them read storage alone",
        edit(GKE_NODE_POOL, "gpu-nodes-train-spot",
             put("nodeConfig.oauthScopes", ["https://www.googleapis.com/auth/devstorage.read_only"])),
        "rights-node-scopes",
    ),
    mistake(
        "streaming API",
        "images are streamed, and the API for it is not switched on",
        drop("gcp:projects/service:Service", "services-containerfilesystem"),
        "rights-api-off",
    ),
]  # fmt: skip


def _replaced(inputs: dict[str, Any], old: str, new: str) -> None:
    """Puts another text into the arguments of the containers."""
    for container in inputs["spec"]["template"]["spec"]["containers"]:
        for key in ("command", "args"):
            if key in container:
                container[key] = [text.replace(old, new) for text in container[key]]
