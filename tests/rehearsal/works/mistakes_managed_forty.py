"""Sixteen of forty other mistakes, in managed training: the others are in `mistakes_gcp_forty.py`."""

from __future__ import annotations

from tests.rehearsal.works.mistakes import drop, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import said
from tests.rehearsal.works.mistakes_managed_sixty import APP, AWS, BUDGET, DOMAIN, GOOGLE

PROFILE = "aws:sagemaker/userProfile:UserProfile"
OWN, FROM = "aws:iam/rolePolicy:RolePolicy", "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
TOPIC_POLICY = "aws:sns/topicPolicy:TopicPolicy"
TEMPLATE = "gcp:colab/runtimeTemplate:RuntimeTemplate"
IMAGES = "gcp:artifactregistry/repository:Repository"
ACTS, REMOVED = "gcp:serviceaccount/iAMMember:IAMMember", "gcp:projects/iamMemberRemove:IamMemberRemove"
IN_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"

REFUSED = {
    "a name with an underscore": (edit(PROFILE, "studio-everyone-1", put("userProfileName", "everyone_1")), AWS),
    "artifacts without a scheme": (said(APP, "tracking", "artifactStoreUri", "s3://", ""), AWS),
    "money with a comma": (edit(BUDGET, "budget-budget", put("limitAmount", "10,168")), AWS),
    "an app that there is not": (
        edit(DOMAIN, "studio", put("defaultUserSettings.studioWebPortalSettings.hiddenAppTypes[0]", "Jupyter")),
        AWS,
    ),
    "a disk of a kind that there is not": (
        edit(TEMPLATE, "editors-e2-standard-4", put("dataPersistentDiskSpec.diskType", "pd-fast")),
        GOOGLE,
    ),
    "a repository in capitals": (edit(IMAGES, "hooli-research-images", put("repositoryId", "Images_of_jobs")), GOOGLE),
}

SILENT = {
    "people may send what no job carries": (
        said(
            OWN,
            "managed-people",
            "policy",
            '"aws:RequestTag/project": "initech-research"',
            '"aws:RequestTag/project": "initech"',
        ),
        AWS,
    ),
    "ranks that do not hear each other": (drop(FROM, "training-from-itself"), AWS),
    "runs on the page of another domain": (edit(APP, "tracking", put("defaultDomainIdLists", ["d-000000000000"])), AWS),
    "keys by way of another region": (
        said(OWN, "managed-jobs", "policy", "s3.us-east-1.amazonaws.com", "s3.us-east-2.amazonaws.com"),
        AWS,
    ),
    "editors of another domain": (
        said(OWN, "managed-people-editors", "policy", "d-45f8e6b27c9d", "d-45f8e6b27c9e"),
        AWS,
    ),
    "a topic for a rule of another name": (
        said(TOPIC_POLICY, "budget-alerts-policy", "policy", "managed-jobs-ended-", "managed-job-ended-"),
        AWS,
    ),
    "editors have the rights of jobs": (
        edit(
            DOMAIN,
            "studio",
            put("defaultUserSettings.executionRole", "arn:aws:iam::123456789012:role/managed-jobs-0f6abda"),
        ),
        AWS,
    ),
    "people may take the account's token and send nothing as it": (
        edit(ACTS, "managed-research@hooli.example", put("role", "roles/iam.serviceAccountTokenCreator")),
        GOOGLE,
    ),
    "the rights of nobody are taken away": (
        said(REMOVED, "custom-code-agent", "member", "210987654321", "210987654312"),
        GOOGLE,
    ),
    "jobs keep their output in another bucket": (
        said(IN_BUCKET, "managed-jobs-artifacts", "bucket", "artifacts", "outputs"),
        GOOGLE,
    ),
}
