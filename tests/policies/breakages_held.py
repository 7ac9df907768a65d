"""Changes that weaken one wall where another holds, or that are somebody's to decide: not refused, and why."""

from __future__ import annotations

from dataclasses import dataclass

from tests.policies.breaking import (
    BUCKET_MEMBER,
    CLUSTER,
    PROJECT_MEMBER,
    QUOTA,
    RELEASE,
    argument,
    document,
    first,
    member,
    trusts,
    without_sid,
)
from tests.policies.mutants import Change, edit, put


@dataclass(frozen=True)
class Held:
    """A change of the recorded stack, and what holds it."""

    stack: str
    what: str
    why: str
    change: Change


HELD = (
    Held(
        "demo",
        "services of the nodes",
        "teams may make no services: `team-rights-beyond-its-list` says so",
        edit(QUOTA, "teams-vision-quota", put("spec", "hard", "services.nodeports", value="10")),
    ),
    Held(
        "demo",
        "a team's role for whatever account",
        "the cluster's ARN names the account",
        trusts("team-vision-role", first(lambda one: one["Condition"]["StringEquals"].pop("aws:SourceAccount"))),
    ),
    Held(
        "demo",
        "artifacts by the clients themselves",
        "clients have no rights to the bucket: they fail, and see nothing",
        argument("--serve-artifacts", "--no-serve-artifacts"),
    ),
    Held(
        "demo",
        "rights by a map",
        "who may write the map, `rights-that-lead-to-more` tells; who stands in it, `team-administers-cluster`",
        edit(CLUSTER, "cluster-cluster", put("accessConfig", "authenticationMode", value="API_AND_CONFIG_MAP")),
    ),
    Held(
        "demo",
        "GPU nodes by a variable",
        "the nodes' toolkit does not take the variable from unprivileged pods: they get nothing",
        edit(
            RELEASE,
            "gpu-nvidia-device-plugin",
            put("values", "deviceListStrategy", value="envvar"),
        ),
    ),
    Held(
        "demo",
        "a database of a known password",
        "what is a secret, a policy is not told under the engine; the program's own text is for a scanner of code",
        edit(
            "aws:rds/instance:Instance",
            "acme-demo-mlflow",
            lambda inputs: (inputs.pop("manageMasterUserPassword"), inputs.update(password="hunter2hunter2")),
        ),
    ),
    Held(
        "large-aws",
        "EFS without an access point",
        "what allows a mount names the access points, the file system's policy and the roles' own",
        edit(
            "aws:efs/fileSystemPolicy:FileSystemPolicy",
            "globex-production-shared-policy",
            document("policy", without_sid("DenyWithoutAccessPoint")),
        ),
    ),
    Held(
        "demo-gcp",
        "a whole domain",
        "people of the organisation may read, as with aws:PrincipalOrgID on AWS",
        member(
            BUCKET_MEMBER, "roles/storage.objectViewer", "domain:acme.example", bucket="acme-demo-gcp-data-aa563e44"
        ),
    ),
    Held(
        "demo-gcp",
        "an account of another project",
        "one named identity may read: that is how shared data work",
        member(
            BUCKET_MEMBER,
            "roles/storage.objectViewer",
            "serviceAccount:x@other-project.iam.gserviceaccount.com",
            bucket="acme-demo-gcp-data-aa563e44",
        ),
    ),
    Held(
        "small-gcp",
        "people administer Vertex AI",
        "`managed-ceiling-lifted` of the rehearsal warns",
        member(PROJECT_MEMBER, "roles/aiplatform.admin", "group:research@hooli.example", project="hooli-research"),
    ),
    Held(
        "small-gcp",
        "people start machines",
        "`managed-ceiling-lifted` of the rehearsal warns",
        edit(
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            "managed-people",
            lambda inputs: inputs["permissions"].append("compute.instances.create"),
        ),
    ),
)
