"""Breakages of the walls on Google Cloud, in the recorded stacks of `demo-gcp` and `small-gcp`."""

from __future__ import annotations

from tests.policies.breaking import (
    ACCOUNT_MEMBER,
    BUCKET_MEMBER,
    FIREWALL,
    GCS,
    GKE,
    KEY_MEMBER,
    POOL,
    POOL_SET,
    PROJECT_MEMBER,
    SQL,
    VISION,
    _nothing,
    beside,
    both,
    bound,
    group,
    member,
)
from tests.policies.mutants import Change, drop, edit, put

GCP_WALLS: dict[str, Change] = {
    "everybody who is signed on reads the data": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "allAuthenticatedUsers", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "everybody reads the data": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "allUsers", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "every pod of the project reads": member(
        BUCKET_MEMBER,
        "roles/storage.objectUser",
        f"{POOL_SET}/*",
        bucket="acme-demo-gcp-checkpoints-ebc9172a",
    ),
    "every pod of a namespace": member(
        BUCKET_MEMBER,
        "roles/storage.objectViewer",
        f"{POOL_SET}/namespace/team-vision",
        bucket="acme-demo-gcp-artifacts",
    ),
    "a team reads every checkpoint": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", VISION, bucket="acme-demo-gcp-checkpoints-ebc9172a"
    ),
    "a team administers its folder's bucket": member(
        BUCKET_MEMBER, "roles/storage.admin", VISION, bucket="acme-demo-gcp-checkpoints-ebc9172a"
    ),
    "a team writes the data": edit(BUCKET_MEMBER, "team-vision-data", put("role", value="roles/storage.objectUser")),
    "a team's folder is another's": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("managedFolder", value="teams/language/"),
    ),
    "a team's folder is all teams'": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("managedFolder", value="teams/"),
    ),
    "one folder's rights can be changed": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("role", value="roles/storage.folderAdmin"),
    ),
    "tokens of every account": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountTokenCreator", VISION, project="acme-ml"
    ),
    "accounts of the project are used": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountUser", "group:vision@acme.example", project="acme-ml"
    ),
    "keys of accounts": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountKeyAdmin", "group:ops@acme.example", project="acme-ml"
    ),
    "an editor": member(PROJECT_MEMBER, "roles/editor", "group:vision@acme.example", project="acme-ml"),
    "an owner": member(PROJECT_MEMBER, "roles/owner", "user:ann@acme.example", project="acme-ml"),
    "a viewer by a pod": member(PROJECT_MEMBER, "roles/viewer", VISION, project="acme-ml"),
    "nodes are editors": member(
        PROJECT_MEMBER,
        "roles/editor",
        "serviceAccount:acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com",
        project="acme-ml",
    ),
    "nodes read buckets": member(
        PROJECT_MEMBER,
        "roles/storage.objectViewer",
        "serviceAccount:acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com",
        project="acme-ml",
    ),
    "all secrets of the project": member(
        PROJECT_MEMBER, "roles/secretmanager.secretAccessor", "group:vision@acme.example", project="acme-ml"
    ),
    "all keys of the project": member(PROJECT_MEMBER, "roles/cloudkms.cryptoKeyDecrypter", VISION, project="acme-ml"),
    "the cluster's administrator is a team": both(
        bound(group("vision@acme.example"), "team-member", "team-vision", "Role"),
        member(PROJECT_MEMBER, "roles/container.admin", "group:vision@acme.example", project="acme-ml"),
    ),
    "another's account is taken by a pod": member(
        ACCOUNT_MEMBER,
        "roles/iam.workloadIdentityUser",
        "serviceAccount:acme-ml.svc.id.goog[team-vision/trainer]",
        serviceAccountId="projects/acme-ml/serviceAccounts/acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com",
    ),
    "a person of another organisation": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "user:mallory@gmail.com", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "a key for everybody": member(
        KEY_MEMBER,
        "roles/cloudkms.cryptoKeyDecrypter",
        "allAuthenticatedUsers",
        cryptoKeyId="projects/acme-ml/locations/us-central1/keyRings/acme-demo-gcp-keys/cryptoKeys/acme-demo-gcp-data",
    ),
    "a key whose rights a group changes": member(
        KEY_MEMBER,
        "roles/cloudkms.admin",
        "group:vision@acme.example",
        cryptoKeyId="projects/acme-ml/locations/us-central1/keyRings/acme-demo-gcp-keys/cryptoKeys/acme-demo-gcp-data",
    ),
    "a bucket for lists of access": edit(GCS, "acme-demo-gcp-data", put("uniformBucketLevelAccess", value=False)),
    "a bucket that may be public": edit(GCS, "acme-demo-gcp-data", put("publicAccessPrevention", value="inherited")),
    "a bucket of everybody's by its list": beside(
        "gcp:storage/bucketAccessControl:BucketAccessControl",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "entity": "allUsers", "role": "READER"},
    ),
    "objects of everybody's by default": beside(
        "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "entity": "allAuthenticatedUsers", "role": "READER"},
    ),
    "a bucket's whole policy": beside(
        "gcp:storage/bucketIAMBinding:BucketIAMBinding",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "role": "roles/storage.objectViewer", "members": ["allUsers"]},
    ),
    "a rule for the world": beside(
        FIREWALL,
        "open",
        {
            "network": "projects/acme-ml/global/networks/network-vpc",
            "direction": "INGRESS",
            "sourceRanges": ["0.0.0.0/0"],
            "allows": [{"protocol": "tcp", "ports": ["22"]}],
        },
    ),
    "a rule without a source": beside(
        FIREWALL,
        "open",
        {
            "network": "projects/acme-ml/global/networks/network-vpc",
            "direction": "INGRESS",
            "allows": [{"protocol": "all"}],
        },
    ),
    "the webhooks' rule for the world": edit(FIREWALL, "network-webhooks", put("sourceRanges", value=["0.0.0.0/0"])),
    "nodes with addresses": edit(
        GKE, "cluster-cluster", put("privateClusterConfig", "enablePrivateNodes", value=False)
    ),
    "pods with the nodes' account": edit(
        POOL, "cluster-cpu", put("nodeConfig", "workloadMetadataConfig", "mode", value="GCE_METADATA")
    ),
    "pods with the nodes' account in all": edit(GKE, "cluster-cluster", _nothing("workloadIdentityConfig")),
    "the old metadata": edit(
        POOL, "cluster-cpu", put("nodeConfig", "metadata", "disable-legacy-endpoints", value="false")
    ),
    "nodes of the default account": edit(
        POOL, "cluster-cpu", lambda inputs: inputs["nodeConfig"].pop("serviceAccount")
    ),
    "network policies of nobody": edit(GKE, "cluster-cluster", put("datapathProvider", value="LEGACY_DATAPATH")),
    "the kubelet's open port": edit(
        POOL, "cluster-cpu", put("nodeConfig", "kubeletConfig", "insecureKubeletReadonlyPortEnabled", value="TRUE")
    ),
    "the cluster for the world": edit(
        GKE,
        "cluster-cluster",
        lambda inputs: inputs.update(
            masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]},
            privateClusterConfig={**inputs["privateClusterConfig"], "enablePrivateEndpoint": False},
        ),
    ),
    "attributes as rights": edit(GKE, "cluster-cluster", put("enableLegacyAbac", value=True)),
    "a certificate of a client": edit(
        GKE, "cluster-cluster", put("masterAuth", value={"clientCertificateConfig": {"issueClientCertificate": True}})
    ),
    "whoever is not signed on asks the API": edit(
        GKE, "cluster-cluster", put("anonymousAuthenticationConfig", "mode", value="ENABLED")
    ),
    "rights for whoever is signed on": edit(
        GKE,
        "cluster-cluster",
        put("rbacBindingConfig", value={"enableInsecureBindingSystemAuthenticated": True}),
    ),
    "secrets in the clear": edit(GKE, "cluster-cluster", put("databaseEncryption", value={"state": "DECRYPTED"})),
    "the database for the world": edit(
        SQL,
        "acme-demo-gcp-mlflow",
        lambda inputs: inputs["settings"]["ipConfiguration"].update(
            ipv4Enabled=True, authorizedNetworks=[{"name": "all", "value": "0.0.0.0/0"}]
        ),
    ),
    "the database by plain connections": edit(
        SQL,
        "acme-demo-gcp-mlflow",
        put("settings", "ipConfiguration", "sslMode", value="ALLOW_UNENCRYPTED_AND_ENCRYPTED"),
    ),
    "reads are not on record": edit(
        "gcp:projects/iAMAuditConfig:IAMAuditConfig",
        "record-storage",
        put("auditLogConfigs", value=[{"logType": "ADMIN_READ"}, {"logType": "DATA_WRITE"}]),
    ),
    "what one does is not on record": edit(
        "gcp:projects/iAMAuditConfig:IAMAuditConfig",
        "record-storage",
        lambda inputs: inputs["auditLogConfigs"][1].update(exemptedMembers=["group:vision@acme.example"]),
    ),
    "nobody looks at keys": drop("gcp:projects/iAMAuditConfig:IAMAuditConfig", "record-cloudkms"),
    "logs of a day": edit(
        "gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", value=1)
    ),
    "a sink that leaves some out": edit(
        "gcp:logging/projectSink:ProjectSink",
        "record-sink",
        put("exclusions", value=[{"name": "audit", "filter": 'logName:"cloudaudit.googleapis.com"'}]),
    ),
    "a sink to another project": beside(
        "gcp:logging/projectSink:ProjectSink",
        "away",
        {
            "destination": "storage.googleapis.com/mallory-logs",
            "name": "away",
            "project": "acme-ml",
            "uniqueWriterIdentity": True,
        },
    ),
    "nobody is told of rights": edit(
        "gcp:monitoring/alertPolicy:AlertPolicy", "record-alarms-rights", put("enabled", value=False)
    ),
    "nobody is told who": edit(
        "gcp:monitoring/alertPolicy:AlertPolicy", "record-alarms-rights", put("notificationChannels", value=[])
    ),
    "a key in a file": beside(
        "gcp:serviceaccount/key:Key",
        "nodes",
        {"serviceAccountId": "acme-demo-gcp-nodes@acme-ml.iam.gserviceaccount.com"},
    ),
    "the network is joined to another's": beside(
        "gcp:compute/networkPeering:NetworkPeering",
        "peer",
        {
            "network": "projects/acme-ml/global/networks/network-vpc",
            "peerNetwork": "projects/other/global/networks/default",
        },
    ),
    "a machine with an address": beside(
        "gcp:compute/instance:Instance",
        "bastion",
        {
            "machineType": "e2-micro",
            "zone": "us-central1-a",
            "networkInterfaces": [{"network": "network-vpc", "accessConfigs": [{}]}],
            "bootDisk": {"initializeParams": {"image": "cos-cloud/cos-stable"}},
        },
    ),
    "a role of everything": beside(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "more",
        {
            "roleId": "more",
            "title": "more",
            "permissions": ["resourcemanager.projects.setIamPolicy"],
            "project": "acme-ml",
        },
    ),
    "images that everybody pulls": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {
            "repository": "images",
            "location": "us-central1",
            "role": "roles/artifactregistry.reader",
            "member": "allUsers",
        },
    ),
    "images that a team's pods write": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {"repository": "images", "location": "us-central1", "role": "roles/artifactregistry.writer", "member": VISION},
    ),
    "a bucket whose lock is off": edit(GCS, "acme-demo-gcp-logs", lambda inputs: inputs.pop("retentionPolicy", None)),
    "the secret by a team": beside(
        "gcp:secretmanager/regionalSecretIamMember:RegionalSecretIamMember",
        "open",
        {
            "secretId": "acme-demo-gcp-mlflow-password",
            "location": "us-central1",
            "role": "roles/secretmanager.secretAccessor",
            "member": VISION,
        },
    ),
}

MANAGED_GCP: dict[str, Change] = {
    "people are editors": member(
        PROJECT_MEMBER, "roles/editor", "group:research@hooli.example", project="hooli-research"
    ),
    "people use every account": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountUser", "group:research@hooli.example", project="hooli-research"
    ),
    "jobs read every bucket": member(
        PROJECT_MEMBER,
        "roles/storage.objectAdmin",
        "serviceAccount:hooli-research-jobs@hooli-research.iam.gserviceaccount.com",
        project="hooli-research",
    ),
    "people lift quotas": edit(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "managed-people",
        lambda inputs: inputs["permissions"].append("serviceusage.quotas.update"),
    ),
    "people take accounts": edit(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "managed-people",
        lambda inputs: inputs["permissions"].append("iam.serviceAccounts.getAccessToken"),
    ),
    "the images of everybody": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {
            "repository": "images",
            "location": "us-central1",
            "role": "roles/artifactregistry.writer",
            "member": "allAuthenticatedUsers",
        },
    ),
}
