"""Databases of Google Cloud that a program is told of and does not come to: logins that they do not know, and private
addresses that the program has no way to.

Sources: Cloud SQL, "IAM authentication" (the flag); Cloud Run, "Configure Direct VPC egress"; as generally known in
2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.recorded.model import bare
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_DATABASE_USER,
    GCP_FUNCTION,
    GCP_REDIS,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SECRET,
    GCP_SECRET_VERSION,
)
from trainyard.rehearsal.context import Stack, View


def check(stack: Stack) -> None:
    """Every login, and every service and job that is told an address."""
    for view in stack.of_type(GCP_DATABASE_USER):
        _login(view)
    _private_addresses(stack)


def _login(view: View) -> None:
    """A login by IAM on an instance that takes none."""
    kind, instance = view.text("type") or "", view.referred("instance", CLOUD_SQL)
    if not kind.startswith("CLOUD_IAM") or instance is None or instance.resource.read:
        return
    version, path = instance.text("databaseVersion") or "", "settings.databaseFlags"
    flag = "cloudsql.iam_authentication" if version.startswith("POSTGRES") else "cloudsql_iam_authentication"
    flags = {str(one.get("name")): str(one.get("value")).lower() for _, one in instance.items(path)}
    if version and flags.get(flag) not in ("on", "true", "1") and not instance.blurred(path):
        words = f"{instance.name} has not the flag {flag}: nobody logs in by IAM"
        view.error("programs-database", "type", words, allowed=f"{flag} on, in settings.databaseFlags")


def _private_addresses(stack: Stack) -> None:
    """A service without a way into the network that is told of an address in it."""
    private: dict[str, View] = {}
    for view in stack.of_type(CLOUD_SQL):
        public = view.flag("settings.ipConfiguration.ipv4Enabled")
        if public is False:
            private[str(view.resource.outputs.get("privateIpAddress"))] = view
    for type_ in (GCP_REDIS, "gcp:memorystore/instance:Instance"):
        private |= {str(view.resource.outputs.get("host")): view for view in stack.of_type(type_)}
    for type_, at, way in (
        (GCP_RUN_SERVICE, "template.", "vpcAccess"),
        (GCP_RUN_JOB, "template.template.", "vpcAccess"),
        (GCP_FUNCTION, "serviceConfig.", "vpcConnector"),
    ):
        for view in stack.of_type(type_):
            if view.has(f"{at}{way}") or view.has(f"{at}directVpcNetworkInterfaces") or view.is_unknown(at[:-1]):
                continue
            for path, text in view.known_texts:
                found = next((one for address, one in private.items() if _is_told(address, text)), None)
                if found is not None:
                    words = f"names the private address of {found.name}, and there is no way into its network"
                    view.error("programs-database", path, words, allowed=f"{at}{way}")
                    break
            else:
                _by_secret(view, f"{at}{way}", private)


def _by_secret(view: View, way: str, private: Mapping[str, View]) -> None:
    """The same, of an address that stands in a secret which the containers are given."""
    for path, text in view.known_texts:
        name = text.rpartition("/")[2] if path.endswith("secretKeyRef.secret") else ""
        for version in view.stack.of_type(GCP_SECRET_VERSION) if name else ():
            secret = version.referred("secret", GCP_SECRET)
            data = bare(version.inputs.get("secretData"))
            if secret is None or secret.text("secretId") != name or not isinstance(data, str):
                continue
            found = next((one for address, one in private.items() if _is_told(address, data)), None)
            if found is not None:
                words = f"{name} holds the private address of {found.name}, and there is no way into its network"
                view.error("programs-database", path, words, allowed=way)
                return


def _is_told(address: str, text: str) -> bool:
    """Whether a text names an address: not as a part of a longer one."""
    return address not in ("", "None") and bool(
        address in text and re.search(rf"(?<![\w.]){re.escape(address)}(?!\d|\.\d)", text)
    )
