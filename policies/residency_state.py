"""Residency: the state is a copy of every output and secret, so it lies in a region of the chosen regime as well.

`pulumi login` without a URL is Pulumi Cloud. Where a state lies is told by `backend.url` of Pulumi.yaml, or by the
setting `stateBackend` where whoever runs Pulumi says it (`PULUMI_BACKEND_URL`); which key encrypts its secrets, by
`secretsprovider` of the stack's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import parse_qs

from pulumi import Config as PulumiConfig
from pulumi_policy import Severity

from trainyard.conventions.state import BACKEND, READ, SECRETS_PROVIDER, STATE
from trainyard.policies.residency import REGIME, allowed_regions
from trainyard.policies.rules import Config, NotApplicable, StackViolation, stack_rule
from trainyard.policies.stack_settings import setting
from trainyard.recorded.read import split_url
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import AWS_PROVIDER, GCP_PROVIDER, KUBERNETES_PROVIDER

PULUMI_CLOUD: Final = ("us-west-2", "Pulumi Cloud, in the United States")
"""Where Pulumi's own service keeps states (general knowledge: on AWS, in Oregon; no source read, 2026-11-22)."""

PULUMI_CLOUD_HOSTS: Final = ("api.pulumi.com", "app.pulumi.com")
REMEDY: Final = (
    "Name a backend with its region: backend.url in Pulumi.yaml, or stateBackend, such as "
    "s3://BUCKET?region=REGION&awssdk=v2, or gs://BUCKET with stateRegion; and a key: pulumi "
    "stack change-secrets-provider awskms://alias/NAME?region=REGION"
)
_KEY_ARN: Final = re.compile(r"/*arn:[^:]+:kms:(?P<region>[^:]+):")
_GCP_KEY: Final = re.compile(r"projects/[^/]+/locations/(?P<region>[^/]+)/")


@stack_rule(
    "state-outside-residency",
    "With a residency regime chosen, the stack's state and the key of its secrets are in its regions.",
    types=(AWS_PROVIDER, GCP_PROVIDER, KUBERNETES_PROVIDER),
    severity=Severity.CRITICAL,
    controls=("NIST 800-53r5 SA-9(5)", "ISO 27001:2022 A.5.34", "ISO 27001:2022 A.5.23"),
    fix=REMEDY,
    config={
        **REGIME,
        "accepted": {
            "type": "array",
            "items": {"type": "string"},
            "default": [],
            "description": "Backends and secrets providers that are known to be in the regime's regions (globs).",
        },
    },
)
def state_outside_residency(_: Resources, config: Config) -> Iterator[StackViolation]:
    """A bucket of Google or Azure and a host do not say where they are: `stateRegion` does, or `accepted`."""
    regime, allowed = allowed_regions(config)
    told = PulumiConfig(STATE)
    own = setting("stateBackend")
    if told.get(_key(READ)) is None and not own:
        raise NotApplicable("the engine does not tell where it keeps the state; `trainyard check` reads it")
    backends = dict.fromkeys(text for text in (own, told.get(_key(BACKEND)) or "") if text) or {"": None}
    for backend in backends:
        if not _accepted(backend, config):
            region, what = state_place(backend)
            if not region and not backend.startswith("file:"):
                region = setting("stateRegion") or ""
                what += f", and in {region} as stateRegion says" if region else ""
            if region not in allowed:
                yield None, f"the state is in {what}; {regime} allows {', '.join(allowed)}"
    provider = told.get(_key(SECRETS_PROVIDER)) or ""
    if provider and not _accepted(provider, config):
        of_key, what = key_place(provider)
        if of_key not in (None, *allowed):
            yield None, f"the key of its secrets is in {what}; {regime} allows {', '.join(allowed)}"


def state_place(url: str) -> tuple[str, str]:
    """The region that a backend is in, empty where its URL does not say; and what it is, without what may be secret."""
    parts = split_url(url)
    if parts is None:
        return "", "a place that no URL tells"
    if not url or parts.hostname in PULUMI_CLOUD_HOSTS:
        return PULUMI_CLOUD
    said = parse_qs(parts.query)
    if parts.scheme == "s3":
        region, endpoint = said.get("region", [""])[0], said.get("endpoint", [""])[0]
        if endpoint:
            return "", "a bucket at an endpoint whose place its URL does not say"
        return region, f"a bucket in {region}" if region else "a bucket whose URL names no region (?region=…)"
    kinds = {"gs": "a bucket of Google's", "azblob": "a container of Azure's", "file": "a file on somebody's disk"}
    what = kinds.get(parts.scheme, f"{parts.scheme}://{parts.hostname or ''}")
    return "", f"{what}, whose URL does not say where it is"


def key_place(provider: str) -> tuple[str | None, str]:
    """The region of a secrets provider's key, None for a passphrase, which has none; empty where it does not say."""
    scheme, _, rest = provider.partition("://")
    if scheme in ("passphrase", "default"):
        return None, "whoever knows the passphrase"
    if scheme == "awskms":
        found = _KEY_ARN.match(rest)
        region = found["region"] if found else parse_qs(rest.partition("?")[2]).get("region", [""])[0]
        return region, f"KMS of {region}" if region else "KMS of a region that its URL does not name (?region=…)"
    if scheme == "gcpkms":
        location = _GCP_KEY.search(rest)
        region = location["region"] if location else ""
        return region, f"Cloud KMS of {region or 'a place that its URL does not name'}"
    return "", f"{scheme}, whose URL does not say where it is"


def _key(full: str) -> str:
    return full.partition(":")[2]


def _accepted(url: str, config: Config) -> bool:
    return any(fnmatchcase(url, pattern) for pattern in config["accepted"])
