"""The words of the tables of needs, filled in: ARNs and names of what is recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import UnreadableInput, follow, steps, value_at
from trainyard.recorded.types import BUCKET, BUCKET_ENCRYPTION, EVENT_RULE, KEY, KEY_ALIAS, QUEUE, ROLE, SNS_TOPIC
from trainyard.rehearsal.context import Stack, View, expand
from trainyard.rehearsal.works.rights.aws.account import Account
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.recorded_policies import GUARDED, arn_of, names_of

_BRACES: Final = re.compile(r"\{(?P<path>[\w.\[\]]+)(?P<optional>[-/]?)\}")
_MESSAGES: Final = (SNS_TOPIC, QUEUE)
_KEY_OF_MESSAGES: Final = "kmsMasterKeyId"
"""The input by which a topic or a queue names its key."""


EKS_IMAGES: Final = "602401143452"
EKS_IMAGES_REGIONS: Final = frozenset({
    "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
    "ca-central-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2", "eu-west-3", "sa-east-1", "us-east-1",
    "us-east-2", "us-west-1", "us-west-2",
})  # fmt: skip
"""The account of EKS's own images, and where it is that one: elsewhere each region has another (EKS User Guide, "View
Amazon container image registries for Amazon EKS add-ons", read 2026-11)."""


class Places:
    """Finds what needs are about by the names and ARNs that resources call it by."""

    def __init__(self, stack: Stack, account: Account) -> None:
        self.stack = stack
        self.account = account
        self.region = stack.context.region

    @cached_property
    def _guarded(self) -> dict[str, RecordedResource]:
        found: dict[str, RecordedResource] = {}
        for resource in self.stack.resources.of(*GUARDED):
            for name in (arn_of(resource), *names_of(resource)):
                found.setdefault(name, resource)
        return found

    @cached_property
    def partition(self) -> str:
        """The partition of the account's roles."""
        arns = (arn_of(role) for role in self.stack.resources.of(ROLE))
        return next((arn.split(":")[1] for arn in arns if arn), "aws")

    def place(self, name: str) -> RecordedResource | None:
        """The recorded bucket, topic, queue, key, … of that name or ARN, or the one that an ARN is in."""
        return self._guarded.get(name) or self._guarded.get(name.partition("/")[0])

    def role(self, name: str) -> tuple[RecordedResource, Caller] | None:
        """The recorded role of that name or ARN, and the caller that it is."""
        role = self.account.role(name)
        if role is None or role.read or not arn_of(role):
            return None
        try:
            return role, self.account.caller(arn_of(role))
        except (UnreadableInput, ValueError):  # tags that are not known yet, an ARN that is none
            return None

    @cached_property
    def _encryption(self) -> dict[str, str]:
        """Keys by the id of the bucket whose default they are."""
        found = {}
        for encryption in self.stack.resources.of(BUCKET_ENCRYPTION):
            for bucket in self.stack.resources.referred(encryption, "bucket", BUCKET):
                rules = expand(encryption.inputs, "rules[].applyServerSideEncryptionByDefault")
                for _, rule in rules:
                    algorithm = value_at(rule, "sseAlgorithm", unknown="")
                    key = value_at(rule, "kmsMasterKeyId", default="", unknown="")
                    if isinstance(algorithm, str) and algorithm.startswith("aws:kms"):
                        found[bucket.urn] = str(key)
        return found

    @cached_property
    def _bucket_keys(self) -> frozenset[str]:
        found = set()
        for encryption in self.stack.resources.of(BUCKET_ENCRYPTION):
            if any(enabled is True for _, enabled in expand(encryption.inputs, "rules[].bucketKeyEnabled")):
                found |= {bucket.urn for bucket in self.stack.resources.referred(encryption, "bucket", BUCKET)}
        return frozenset(found)

    def has_bucket_key(self, bucket: RecordedResource) -> bool:
        """Whether a bucket's own key stands between its objects and the key of KMS."""
        return bucket.urn in self._bucket_keys

    def is_kms_encrypted(self, bucket: RecordedResource) -> bool:
        """Whether a bucket's default encryption is one with keys of KMS."""
        return bucket.urn in self._encryption

    def key_of(self, place: RecordedResource) -> str:
        """The ARN of the recorded key that a place is encrypted with; else empty."""
        named = self._encryption.get(place.urn, "")
        if place.type in _MESSAGES:
            named = str(value_at(place.inputs, _KEY_OF_MESSAGES, default="", unknown=""))
        return self.key(named)

    def key(self, named: str) -> str:
        """The ARN of a recorded key by its ARN, id or alias; empty for another."""
        key = self._keys.get(named)
        return arn_of(key) if key is not None else ""

    @cached_property
    def _keys(self) -> dict[str, RecordedResource]:
        found: dict[str, RecordedResource] = {}
        for key in self.stack.resources.of(KEY):
            for name in (arn_of(key), *names_of(key)):
                if name:
                    found.setdefault(name, key)
        for alias in self.stack.resources.of(KEY_ALIAS):
            for key in self.stack.resources.referred(alias, "targetKeyId", KEY):
                for name in (arn_of(alias), *names_of(alias)):
                    if name:
                        found.setdefault(name, key)
        return found

    def filled(self, template: Any, view: View, **more: str) -> str | None:
        """A text of the tables with its braces filled; None where one cannot be."""
        missing = False

        def fill(brace: re.Match[str]) -> str:
            nonlocal missing
            path = brace["path"]
            if path in more:
                return more[path]
            known = {"account": self.account.id, "region": self.region, "partition": self.partition}.get(path)
            if path == "eks_images":
                known = EKS_IMAGES if self.region in EKS_IMAGES_REGIONS else ""
            if known is None and path == "rule_arn":
                rules = self.stack.resources.referred(view.resource, "rule", EVENT_RULE)
                known = arn_of(rules[0]) if len(rules) == 1 else ""
            if known is None:
                found = follow(view.inputs, *steps(path))
                known = found.removesuffix(":*") if isinstance(found, str) else ""
                if found is None and brace["optional"]:
                    return ""
            missing = missing or not known
            return known + ("/" if brace["optional"] == "/" and not known.endswith("/") else "")

        text = _BRACES.sub(fill, str(template))
        return None if missing else text

    def context(self, told: Mapping[str, str], view: View, **more: str) -> dict[str, str]:
        """Condition keys of the tables; one that cannot be filled is left out."""
        found = {key: self.filled(value, view, **more) for key, value in told.items()}
        return {key: value for key, value in found.items() if value is not None}

    def named(self, view: View, path: str) -> Iterator[tuple[str, str]]:
        """The known texts at a path with `[]` for "each", with the path of each."""
        for where, found in expand(view.inputs, path):
            if isinstance(found, str) and found:
                yield where, found
