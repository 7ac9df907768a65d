"""Writes `data/gcp_values.json`: which texts an input of a Google Cloud resource may be.

    python -m trainyard.rehearsal.refusals.gcp.generate google_api_python_client-2.202.0-py3-none-any.whl magic-modules

The wheel holds Google's discovery documents; `magic-modules` is a work tree of that repository, which
`generate_provider` reads. The inputs are those of the installed pulumi_gcp: each is looked up in its
API's schema under its own name, its singular, or what `_ELSEWHERE` says. Facts only: names and their values.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from trainyard.rehearsal.refusals.gcp import generate_provider

DATA: Final = Path(__file__).parents[1] / "data" / "gcp_values.json"
_DOCUMENTS: Final = "googleapiclient/discovery_cache/documents"

_SCHEMAS: Final[Mapping[str, tuple[str, str]]] = {
    "gcp:container/cluster:Cluster": ("container.v1beta1", "Cluster"),
    "gcp:container/nodePool:NodePool": ("container.v1beta1", "NodePool"),
    "gcp:compute/network:Network": ("compute.beta", "Network"),
    "gcp:compute/subnetwork:Subnetwork": ("compute.beta", "Subnetwork"),
    "gcp:compute/routerNat:RouterNat": ("compute.beta", "RouterNat"),
    "gcp:compute/firewall:Firewall": ("compute.beta", "Firewall"),
    "gcp:compute/address:Address": ("compute.beta", "Address"),
    "gcp:compute/globalAddress:GlobalAddress": ("compute.beta", "Address"),
    "gcp:compute/reservation:Reservation": ("compute.beta", "Reservation"),
    "gcp:compute/futureReservation:FutureReservation": ("compute.beta", "FutureReservation"),
    "gcp:compute/resourcePolicy:ResourcePolicy": ("compute.beta", "ResourcePolicy"),
    "gcp:storage/bucket:Bucket": ("storage.v1", "Bucket"),
    "gcp:sql/databaseInstance:DatabaseInstance": ("sqladmin.v1beta4", "DatabaseInstance"),
    "gcp:sql/user:User": ("sqladmin.v1beta4", "User"),
    "gcp:kms/cryptoKey:CryptoKey": ("cloudkms.v1", "CryptoKey"),
    "gcp:billing/budget:Budget": ("billingbudgets.v1", "GoogleCloudBillingBudgetsV1Budget"),
    "gcp:filestore/instance:Instance": ("file.v1beta1", "Instance"),
    "gcp:cloudrunv2/service:Service": ("run.v2", "GoogleCloudRunV2Service"),
    "gcp:monitoring/alertPolicy:AlertPolicy": ("monitoring.v3", "AlertPolicy"),
    "gcp:artifactregistry/repository:Repository": ("artifactregistry.v1", "Repository"),
    "gcp:workbench/instance:Instance": ("notebooks.v2", "Instance"),
    "gcp:dns/managedZone:ManagedZone": ("dns.v1", "ManagedZone"),
    "gcp:logging/projectBucketConfig:ProjectBucketConfig": ("logging.v2", "LogBucket"),
    "gcp:pubsub/topic:Topic": ("pubsub.v1", "Topic"),
    "gcp:pubsub/subscription:Subscription": ("pubsub.v1", "Subscription"),
    "gcp:compute/router:Router": ("compute.beta", "Router"),
    "gcp:compute/disk:Disk": ("compute.beta", "Disk"),
    "gcp:compute/instance:Instance": ("compute.beta", "Instance"),
    "gcp:logging/metric:Metric": ("logging.v2", "LogMetric"),
    "gcp:monitoring/notificationChannel:NotificationChannel": ("monitoring.v3", "NotificationChannel"),
    "gcp:dns/recordSet:RecordSet": ("dns.v1", "ResourceRecordSet"),
    "gcp:secretmanager/secret:Secret": ("secretmanager.v1", "Secret"),
    "gcp:secretmanager/regionalSecret:RegionalSecret": ("secretmanager.v1", "Secret"),
    "gcp:bigquery/dataset:Dataset": ("bigquery.v2", "Dataset"),
    "gcp:redis/instance:Instance": ("redis.v1", "Instance"),
}
"""Types with their document and its schema: of the beta where the bridge is of the beta provider."""

_ELSEWHERE: Final[Mapping[str, Mapping[str, str]]] = {
    "gcp:container/cluster:Cluster": {
        "datapathProvider": "networkConfig.datapathProvider",
        "privateIpv6GoogleAccess": "networkConfig.privateIpv6GoogleAccess",
        "dnsConfig": "networkConfig.dnsConfig",
        "gatewayApiConfig": "networkConfig.gatewayApiConfig",
        "inTransitEncryptionConfig": "networkConfig.inTransitEncryptionConfig",
        "loggingConfig.enableComponents": "loggingConfig.componentConfig.enableComponents",
        "monitoringConfig.enableComponents": "monitoringConfig.componentConfig.enableComponents",
        "monitoringConfig.managedPrometheus": "monitoringConfig.managedPrometheusConfig",
        "clusterAutoscaling": "autoscaling",
        "nodeConfig.guestAccelerators": "nodeConfig.accelerators",
    },
    "gcp:container/nodePool:NodePool": {
        "nodeConfig": "config",
        "nodeConfig.guestAccelerators": "config.accelerators",
    },
    "gcp:compute/network:Network": {"routingMode": "routingConfig.routingMode"},
    "gcp:storage/bucket:Bucket": {"publicAccessPrevention": "iamConfiguration.publicAccessPrevention"},
    "gcp:sql/databaseInstance:DatabaseInstance": {"settings.diskType": "settings.dataDiskType"},
    "gcp:billing/budget:Budget": {"allUpdatesRule": "notificationsRule"},
}
"""Inputs that the API has under another name, with their path in it."""

_PROVIDER: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "gcp:storage/bucket:Bucket": {
        "storageClass": (
            "STANDARD",
            "MULTI_REGIONAL",
            "REGIONAL",
            "NEARLINE",
            "COLDLINE",
            "ARCHIVE",
            "DURABLE_REDUCED_AVAILABILITY",
            "RAPID",
        ),
        "publicAccessPrevention": ("enforced", "inherited"),
        "rpo": ("DEFAULT", "ASYNC_TURBO"),
        "lifecycleRules.action.type": ("Delete", "SetStorageClass", "AbortIncompleteMultipartUpload"),
        "lifecycleRules.condition.withState": ("LIVE", "ARCHIVED", "ANY"),
        "autoclass.terminalStorageClass": ("NEARLINE", "ARCHIVE"),
    },
    "gcp:container/cluster:Cluster": {
        "networkingMode": ("VPC_NATIVE", "ROUTES"),
        "maintenancePolicy.maintenanceExclusions.exclusionOptions.scope": (
            "NO_UPGRADES",
            "NO_MINOR_UPGRADES",
            "NO_MINOR_OR_NODE_UPGRADES",
        ),
    },
    "gcp:container/nodePool:NodePool": {
        "nodeConfig.kubeletConfig.insecureKubeletReadonlyPortEnabled": ("TRUE", "FALSE")
    },
    "gcp:billing/budget:Budget": {"thresholdRules.spendBasis": ("CURRENT_SPEND", "FORECASTED_SPEND")},
}
"""What the provider alone enumerates (terraform-provider-google-beta, 2026-08-21)."""


def main(wheel: Path, checkout: Path) -> None:
    """Writes the table anew from the documents in the wheel and the provider's own description."""
    release = wheel.name.split("-")[1]
    limits, together = generate_provider.provider_limits(checkout)
    found: dict[str, dict[str, list[str]]] = {}
    with zipfile.ZipFile(wheel) as packed:
        services = sorted({*_hosts(packed), *_HOSTS})
        documents = {name: json.loads(packed.read(f"{_DOCUMENTS}/{name}.json")) for name, _ in set(_SCHEMAS.values())}
    for token, (document, schema) in _SCHEMAS.items():
        schemas = documents[document]["schemas"]
        values = {}
        for path, said in _walk(token, schemas, schemas[schema]):
            if isinstance(said, list):
                values[path] = said
            else:
                limits.setdefault(token, {}).setdefault(path, {"form": said})
        values |= {path: list(allowed) for path, allowed in _PROVIDER.get(token, {}).items()}
        found[token] = dict(sorted(values.items()))
    content = {
        "source": f"discovery documents of google-api-python-client {release}",
        "values": found,
        "provider": _described(checkout),
        "limits": limits,
        "together": together,
        "services": services,
    }
    DATA.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")
    for what, table in (("enumerated", found), ("limited by the provider", limits)):
        sys.stdout.write(f"{sum(map(len, table.values()))} inputs of {len(table)} types {what}\n")


_HOSTS: Final = (
    "cloudquotas.googleapis.com", "containerscanning.googleapis.com", "containerfilesystem.googleapis.com",
    "lustre.googleapis.com",
    "storage-api.googleapis.com", "storage-component.googleapis.com", "stackdriver.googleapis.com",
    "servicecontrol.googleapis.com", "bigquerystorage.googleapis.com", "oslogin.googleapis.com",
    "containerthreatdetection.googleapis.com", "anthos.googleapis.com", "multiclusterservicediscovery.googleapis.com",
    "maintenance.googleapis.com", "hypercomputecluster.googleapis.com", "networktopology.googleapis.com",
    "autoscaling.googleapis.com", "opsconfigmonitoring.googleapis.com", "telemetry.googleapis.com",
)  # fmt: skip
"""Services without a document, that stacks enable."""


def _hosts(packed: zipfile.ZipFile) -> Iterator[str]:
    """The names of all services that have a document."""
    for name in packed.namelist():
        match = re.fullmatch(rf"{_DOCUMENTS}/(\w+)\.\S+\.json", name)
        if match:
            yield f"{match[1]}.googleapis.com"
            url = json.loads(packed.read(name)).get("rootUrl", "")
            host = re.match(r"https://([a-z-]+\.googleapis\.com)/", url)
            if host:
                yield host[1]


def _described(checkout: Path) -> str:
    """The provider's own description, with the commit of the work tree where it has one."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"],
        capture_output=True,
        check=False,
        text=True,
    )
    return f"magic-modules {done.stdout.strip()} and pulumi_gcp {version('pulumi-gcp')}".replace("  ", " ")


_FORMATS: Final = {"google-duration": "duration", "google-datetime": "date"}
"""Formats of the documents that a value can be held against."""


def _walk(token: str, schemas: Mapping[str, Any], top: Mapping[str, Any]) -> Iterator[tuple[str, list[str] | str]]:
    module, kind = token.split(":")[1].partition("/")[0], token.rpartition(":")[2]
    inputs = importlib.import_module(f"pulumi_gcp.{module}._inputs")
    args = getattr(importlib.import_module(f"pulumi_gcp.{module}"), f"{kind}Args")
    yield from _fields(token, inputs, args.__init__.__annotations__, schemas, top, top, "")


def _fields(
    token: str,
    inputs: Any,
    annotations: Mapping[str, Any],
    schemas: Mapping[str, Any],
    schema: Mapping[str, Any],
    top: Mapping[str, Any],
    prefix: str,
) -> Iterator[tuple[str, list[str] | str]]:
    for snake, annotation in annotations.items():
        if snake in ("return", "__self__"):
            continue
        path = f"{prefix}{_camel_case(snake)}"
        elsewhere = _ELSEWHERE.get(token, {}).get(path)
        described = _at(schemas, top, elsewhere) if elsewhere else _named(schemas, schema, _camel_case(snake))
        if described is None:
            continue
        allowed = [text for text in described.get("enum", ()) if "UNSPECIFIED" not in text and text != "INVALID"]
        if allowed:
            yield path, allowed
        elif described.get("format") in _FORMATS and "str" in str(annotation):
            yield path, _FORMATS[described["format"]]
        nested = re.search(r"(\w+Args)(?:Dict)?\b", str(annotation))
        below = getattr(inputs, nested[1], None) if nested else None
        if below is not None and "properties" in described:
            yield from _fields(token, inputs, below.__init__.__annotations__, schemas, described, top, f"{path}.")


def _named(schemas: Mapping[str, Any], schema: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    properties = schema.get("properties", {})
    singular = name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
    for candidate in (name, singular):
        if candidate in properties:
            return _resolved(schemas, properties[candidate])
    return None


def _at(schemas: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = schema
    for part in path.split("."):
        found = _named(schemas, found, part) if found is not None else None
    return found


def _resolved(schemas: Mapping[str, Any], described: Mapping[str, Any]) -> Mapping[str, Any]:
    """A property's schema: of a list, that of its items."""
    if described.get("type") == "array":
        described = described["items"]
    return schemas[described["$ref"]] if "$ref" in described else described


def _camel_case(snake: str) -> str:
    first, *others = snake.split("_")
    return first + "".join(word.capitalize() for word in others)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="google_api_python_client-….whl")
    parser.add_argument("checkout", type=Path, help="a work tree of GoogleCloudPlatform/magic-modules")
    options = parser.parse_args()
    main(options.wheel, options.checkout)
