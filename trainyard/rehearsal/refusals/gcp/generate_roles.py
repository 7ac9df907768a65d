"""Writes `data/gcp_roles.json`, the names of Google Cloud's predefined roles by service, `gcp_permissions.json`, the
permissions of the services that environments use, and `gcp_holders.json`, the roles that hold what the rooms ask for.

    python -m trainyard.rehearsal.refusals.gcp.generate_roles iam-dataset

The work tree of iann0036/iam-dataset holds a file a role, as the IAM API lists them. Only names are taken: those of the
files, and those of all permissions that some role holds. What the rooms ask for are the texts of permissions in their
sources: who asks for another one runs this again.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).parents[1] / "data" / "gcp_roles.json"
PERMISSIONS: Final = DATA.with_name("gcp_permissions.json")
HOLDERS: Final = DATA.with_name("gcp_holders.json")
_ROOMS: Final = Path(__file__).parents[2] / "works"
_ASKED: Final = re.compile(r'"([a-z]+(?:\.[a-zA-Z]+){2,})"')
_FOLDER: Final = "gcp/roles/"
_SERVICES: Final = (
    "aiplatform", "artifactregistry", "autoscaling", "cloudkms", "cloudsql", "compute", "container", "dataform", "dns",
    "file", "iam", "logging", "lustre", "monitoring", "notebooks", "pubsub", "resourcemanager", "run", "secretmanager",
    "servicenetworking", "serviceusage", "storage",
)  # fmt: skip
"""Services whose permissions custom roles of an environment hold."""

_WHOLE: Final = (
    "aiplatform.customCodeServiceAgent", "artifactregistry.reader", "artifactregistry.writer",
    "bigquery.dataEditor", "bigquery.dataViewer", "bigquery.jobUser", "bigquery.metadataViewer",
    "bigquery.readSessionUser", "cloudkms.cryptoKeyDecrypter", "cloudkms.cryptoKeyEncrypter",
    "cloudkms.cryptoKeyEncrypterDecrypter", "cloudsql.client", "cloudsql.instanceUser", "cloudsql.viewer",
    "cloudtrace.agent", "container.defaultNodeServiceAccount", "eventarc.eventReceiver",
    "iam.serviceAccountTokenCreator", "iam.serviceAccountUser", "iam.workloadIdentityUser",
    "iap.httpsResourceAccessor", "logging.logWriter", "logging.viewer", "monitoring.metricWriter",
    "pubsub.publisher", "pubsub.subscriber", "pubsub.viewer", "run.invoker", "run.jobsExecutor",
    "run.servicesInvoker", "run.viewer", "secretmanager.secretAccessor", "storage.admin",
    "storage.bucketViewer", "storage.legacyBucketReader", "storage.legacyBucketWriter", "storage.objectAdmin",
    "storage.objectCreator", "storage.objectUser", "storage.objectViewer",
)  # fmt: skip
"""Roles that environments give, whose permissions the table has all: whoever asks whether an account may do something
that no room asks for is told (attacks, `explain rights`). Of any other role it has what the rooms ask for."""


def main(checkout: Path) -> None:
    """Writes the table anew from the names of the files."""
    listed = _git(checkout, "ls-tree", "--name-only", "HEAD", _FOLDER).split()
    by_service: dict[str, list[str]] = defaultdict(list)
    for path in listed:
        service, _, name = path.removeprefix(_FOLDER).removesuffix(".json").partition(".")
        by_service[service].append(name)
    source = f"iam-dataset {_git(checkout, 'log', '-1', '--format=%h of %cs').strip()}"
    content = {"source": source, "roles": {service: sorted(names) for service, names in sorted(by_service.items())}}
    DATA.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(listed)} roles of {len(by_service)} services\n")
    roles = {
        path.removeprefix(_FOLDER).removesuffix(".json"): json.loads(_git(checkout, "show", f"HEAD:{path}")).get(
            "includedPermissions", []
        )
        for path in listed
    }
    _write_holders(source, roles)
    held = _held(roles)
    permissions = {service: {what: " ".join(sorted(do)) for what, do in sorted(of.items())} for service, of in held}
    PERMISSIONS.write_text(
        json.dumps({"source": source, "permissions": permissions}, separators=(",", ":")) + "\n", encoding="utf-8"
    )


def asked() -> set[str]:
    """Texts of the rooms' sources that are written as a permission is."""
    return {text for path in _ROOMS.rglob("*.py") for text in _ASKED.findall(path.read_text(encoding="utf-8"))}


def _write_holders(source: str, roles: Mapping[str, list[str]]) -> None:
    wanted, holders = asked(), defaultdict(list)
    for role, permissions in roles.items():
        for permission in wanted.intersection(permissions):
            holders[permission].append(role)
    found = {permission: " ".join(sorted(names)) for permission, names in sorted(holders.items())}
    whole = {role: " ".join(sorted(roles[role])) for role in _WHOLE}
    content = json.dumps({"source": source, "holders": found, "whole": whole}, separators=(",", ":"))
    HOLDERS.write_text(content + "\n", encoding="utf-8")


def _held(roles: Mapping[str, list[str]]) -> list[tuple[str, dict[str, set[str]]]]:
    """Every permission that some role holds: what may be done, by service and by what it is done to."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for permissions in roles.values():
        for permission in permissions:
            service, _, rest = permission.partition(".")
            what, _, do = rest.rpartition(".")
            if service in _SERVICES:
                found[service][what].add(do)
    return sorted(found.items())


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a work tree of iann0036/iam-dataset, or its git folder")
    main(parser.parse_args().checkout)
