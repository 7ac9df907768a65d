"""Encrypted settings stay encrypted: whatever holds their text, a resource or an output, is a secret in the state.

The plan is plain data, so a setting that its author encrypted (an address, a role, an account) comes to the components
as any other text. What holds it is marked here, once for every resource, instead of in each component that might.

A name cannot be marked: the subscription of an address and the access entry of a role are named by them, so whoever may
read the state's URNs reads an address and the last part of a role's ARN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime import register_stack_transformation

from trainyard.settings.namespace import namespace_values
from trainyard.settings.read import NAMESPACE
from trainyard.settings.unseen import secret_texts


class EncryptedTexts:
    """The texts of a stack's encrypted settings."""

    def __init__(self, texts: frozenset[str]) -> None:
        self._texts = texts

    @classmethod
    def of(cls, values: Mapping[str, str], secret_keys: frozenset[str]) -> EncryptedTexts:
        """Those of the engine's values, of which `secret_keys` hold something encrypted."""
        return cls(secret_texts(namespace_values(values), {key.removeprefix(f"{NAMESPACE}:") for key in secret_keys}))

    def stay_secret(self) -> None:
        """Marks what holds them in every resource that is registered from here on."""
        if self._texts:
            register_stack_transformation(self._transformed)

    def marked(self, value: Any) -> Any:
        """The value with every text in it that holds one of them as a secret."""
        if not self._texts:
            return value
        if isinstance(value, str):
            return pulumi.Output.secret(value) if self._holds(value) else value
        if isinstance(value, Mapping):
            return {key: self.marked(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.marked(item) for item in value]
        if isinstance(value, pulumi.Output):
            return value.apply(lambda known: pulumi.Output.secret(known) if self._holds(known) else known)
        return value

    def _holds(self, value: Any) -> bool:
        if isinstance(value, str):
            return any(text in value for text in self._texts)
        if isinstance(value, Mapping):
            return any(self._holds(item) for pair in value.items() for item in pair)
        return isinstance(value, list | tuple) and any(map(self._holds, value))

    def _transformed(self, args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        props = {key: self.marked(value) for key, value in args.props.items()}
        return pulumi.ResourceTransformationResult(props=props, opts=args.opts)
