"""The pages of the reference that are written from the code alone, when the site is built."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer.main

from trainyard.cli.main import app
from trainyard.components.plugin import provider
from trainyard.policies.pack import POLICIES
from trainyard.policies.rules import Rule


def commands() -> str:
    """Every verb with its arguments and options, as `--help` has them."""
    told = [text for name, command in _verbs("trainyard", typer.main.get_command(app)) for text in _verb(name, command)]
    return "\n\n".join(["# Commands", "Each says the same of itself with `--help`.", *told]) + "\n"


def _verbs(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every verb with its whole name. What they are made of, Typer takes from click or brings along."""
    if hasattr(command, "commands"):
        for short, below in command.commands.items():
            yield from _verbs(f"{name} {short}", below)
    else:
        yield name, command


def _verb(name: str, command: Any) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    yield f"## `{name}`"
    words = [name, *(_metavar(each) for each in arguments), *(["[OPTIONS]"] if options else [])]
    yield f"```sh\n{' '.join(words)}\n```"
    yield inspect.cleandoc(command.help or "").replace("<", "&lt;")
    if command.params:
        rows = [(f"`{_metavar(each)}`", _told(each)) for each in arguments]
        rows += [
            (", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts)), _told(each)) for each in options
        ]
        yield _table(("argument or option", "what it is"), rows)


def _metavar(argument: Any) -> str:
    word = argument.metavar or (argument.name or "").upper()
    return word if argument.required or word.startswith("[") else f"[{word}]"


def _told(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "")


def policies() -> str:
    """Every policy of the pack, by area, with what would do."""
    areas: dict[str, list[Rule]] = {}
    for policy in POLICIES:
        areas.setdefault(policy.area, []).append(policy)
    parts = [
        "# Policies",
        f"{len(POLICIES)} policies judge every stack, in a rehearsal, in a pipeline and with "
        "`pulumi preview --policy-pack policies`. A mandatory one forbids a deployment; an exception with a reason, an "
        "owner and a last day is data in the stack file (`policyExceptions`).",
    ]
    for area, found in areas.items():
        parts += [f"## {area[:1].upper()}{area[1:]}", *(text for policy in found for text in _policy(policy))]
    return "\n\n".join(parts) + "\n"


def _policy(policy: Rule) -> Iterator[str]:
    yield f"### `{policy.name}`"
    yield f"{policy.description} {policy.remediation_steps or ''}".strip()
    level = policy.enforcement_level.value if policy.enforcement_level else "mandatory"
    severity = policy.severity.value if policy.severity else ""
    yield ", ".join(filter(None, [level, f"severity {severity}" if severity else "", *policy.controls])) + "."


def components() -> str:
    """Every component of the package with its inputs and outputs, as its schema has them."""
    schema: dict[str, Any] = json.loads(provider().schema)
    parts = [
        "# Components",
        "A package for every Pulumi language: `pulumi package add` with the address of this repository's folder "
        "`components`. An input of another type than a plain one is described at the end.",
    ]
    for token, made in sorted(schema["resources"].items()):
        required = set(made.get("requiredInputs", ()))
        parts += [f"## `{token.rpartition(':')[2]}`", _line(made.get("description", ""))]
        if made.get("inputProperties"):
            parts.append(_properties("input", made["inputProperties"], required))
        if made.get("properties"):
            parts.append(_properties("output", made["properties"], set()))
    parts.append("## Types of inputs")
    for token, type_ in sorted(schema["types"].items()):
        parts += [f"### `{token.rpartition(':')[2]}`", _line(type_.get("description", ""))]
        parts.append(_properties("field", type_.get("properties", {}), set(type_.get("required", ()))))
    return "\n\n".join(parts) + "\n"


def _properties(what: str, properties: Mapping[str, Any], required: set[str]) -> str:
    rows = [
        (f"`{name}`", _type(node), "must be there" if name in required else "", _line(node.get("description", "")))
        for name, node in properties.items()
    ]
    if not required:
        return _table((what, "type", "what it is"), [(name, type_, told) for name, type_, _, told in rows])
    return _table((what, "type", "", "what it is"), rows)


def _type(node: Mapping[str, Any]) -> str:
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2].rpartition(":")[2]
        return f"[`{name}`](#{name.lower()})" if node["$ref"].startswith("#/types/") else "any"
    if node.get("type") == "array":
        return f"list of {_type(node['items'])}"
    if node.get("type") == "object":
        return f"mapping to {_type(node['additionalProperties'])}" if "additionalProperties" in node else "mapping"
    return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(node["type"], node["type"])


def _line(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_line(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


PAGES: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands,
    "reference/policies.md": policies,
    "reference/components.md": components,
}
"""How each page is written, by its place on the site."""
