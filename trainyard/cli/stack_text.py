"""The text of a stack's file, as a command writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import yaml

from trainyard.cli.schema import schema_comment
from trainyard.settings.read import NAMESPACE


def stack_text(settings: Mapping[str, object], stack: str, schema: str, secrets_provider: str = "") -> str:
    """A stack file with these settings; `schema`: the place of the schema seen from the file."""
    config = {f"{NAMESPACE}:{key}": value for key, value in settings.items()}
    provider = yaml.safe_dump({"secretsprovider": secrets_provider}) if secrets_provider else ""
    return (
        schema_comment(schema)
        + f"# What every key means is told in Pulumi.yaml; `trainyard explain {stack}` lists what the rest comes to.\n"
        + provider
        + yaml.safe_dump({"config": config}, sort_keys=False)
        + "  # The ambient credentials must never be used by accident: every resource names its provider.\n"
        + f"  pulumi:disable-default-providers: {json.dumps(['*'])}\n"
    )
