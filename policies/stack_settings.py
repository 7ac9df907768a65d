"""What the stack file says, for policies that depend on it: profile, residency, exceptions.

The engine starts a policy pack with the stack's configuration in its environment, and `pulumi.Config` reads it there.
The offline check sets the same keys. Without any (a bare analyser) every setting is empty.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pulumi
import yaml
from pulumi.runtime import config as pulumi_config

from trainyard.plan.people import resolve_profile
from trainyard.plan.profiles import Profile, profile
from trainyard.problems import SettingsError
from trainyard.recorded.yaml_text import read_yaml

NAMESPACE = "trainyard"


def setting(key: str) -> str:
    """The text of a key of the stack file; empty where it is not set."""
    return pulumi.Config(NAMESPACE).get(key) or ""


def part_of(key: str, *path: str) -> str:
    """The text at a path of a block of the stack file, such as `audit`; empty where nothing is said."""
    found = _at(key, *path)
    return found if isinstance(found, str) else ""


def texts_of(key: str, *path: str) -> dict[str, str]:
    """The texts by name at a path of a block, such as the mirrors of `images`; none where nothing is said."""
    found = _at(key, *path)
    return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def _at(key: str, *path: str) -> Any:
    found: Any = None
    with suppress(json.JSONDecodeError):
        found = json.loads(setting(key) or "null")
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def team_size() -> int:
    """How many people the stack is for: `teamSize`, else the members of its teams; 0 where it does not say."""
    text = setting("teamSize")
    if text:
        return int(float(text))
    with suppress(json.JSONDecodeError):
        return sum(int(team.get("members", 0)) for team in json.loads(setting("teams") or "[]"))
    return 0


def stack_profile() -> Profile | None:
    """The team-size profile of the stack; None where the stack file names neither one nor a size that one covers."""
    with suppress(SettingsError):
        return profile(setting("profile") or resolve_profile(team_size()))
    return None


def plain_values() -> list[tuple[str, Any]] | None:
    """Every value of the stack's configuration that is not encrypted, of all namespaces, with its path.

    None under an engine: what it starts a pack with (`PULUMI_CONFIG`) has encrypted values in the clear among the
    others, and pulumi_policy 1.21 does not hand on which they are. `PULUMI_CONFIG_SECRET_KEYS` is not for packs:
    where it is set, it is that of a program around the engine.
    """
    given, secret = pulumi_config.CONFIG.get(), pulumi_config._SECRET_KEYS.get()
    if not given and "PULUMI_CONFIG" in os.environ:
        return None
    return [found for key, text in given.items() if key not in secret for found in _parts(key, text)]


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value with the parts of the document that it is, if it is one: JSON, or a kubeconfig in YAML."""
    yield path, value
    content = value
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(json.JSONDecodeError, RecursionError):
            content = json.loads(value)
    elif isinstance(value, str) and "apiVersion:" in value:
        with suppress(yaml.YAMLError, RecursionError):
            content = read_yaml(value)
    if isinstance(content, dict):
        for key, item in content.items():
            yield from _parts(f"{path}.{key}", item)
    elif isinstance(content, list):
        for index, item in enumerate(content):
            yield from _parts(f"{path}[{index}]", item)
