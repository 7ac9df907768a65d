"""A Pulumi project and one of its stack files, read as the engine reads them before it starts the program.

What the engine refuses at that point is reported as `Problem`s: a declared key without value and default, a value
that is not of the declared type, a secret in the clear. Undeclared keys pass, as they pass the engine: to refuse them
is the task of the program's own settings.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from trainyard.catalog.tables import YamlLoader
from trainyard.problems import Problem, SettingsError

DEEPEST = 32
"""Levels of a file. No setting has a tenth of them; a file that refers to itself has no end."""

MOST_VALUES = 200_000
"""Values of a file, every use of an anchor counted: a few lines of anchors can stand for millions."""


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What the engine hands to the program: full keys ("trainyard:region") with their values as text."""

    project: str
    stack: str
    root: Path  # where Pulumi.yaml lies
    main: Path  # the folder in which the program runs
    values: Mapping[str, str]
    secret_keys: frozenset[str]
    placeholders: frozenset[str] = field(default_factory=frozenset)  # that stand for what only the CLI can decrypt
    problems: tuple[Problem, ...] = ()


def read_stack(
    project_directory: Path, stack: str | Path, config_overrides: Mapping[str, Any] | None = None
) -> StackConfig:
    """The configuration of one stack, defaults of Pulumi.yaml filled in.

    `stack` is a stack's name, or the path of a `Pulumi.<stack>.yaml` anywhere. `config_overrides` replace whole keys
    (without a namespace: of this project). Raises `SettingsError` when a file is missing or is no YAML mapping.
    """
    project = _load(project_directory / "Pulumi.yaml", "Pulumi.yaml")
    if not isinstance(project.get("name"), str):
        raise SettingsError([Problem("Pulumi.yaml: name", _shown(project.get("name")), "must be the project's name")])
    name = str(project["name"])
    main = project_directory / str(project.get("main", "."))
    if not (main.is_file() or (main / "__main__.py").is_file()):
        given_main = _shown(project.get("main"))
        raise SettingsError([Problem("Pulumi.yaml: main", given_main, "must be a folder with a __main__.py in it")])
    folder = _stack_folder(project_directory, project)
    path = Path(stack) if isinstance(stack, Path) or str(stack).endswith((".yaml", ".yml")) else None
    if path is None:
        path = folder / f"Pulumi.{stack}.yaml"
        if not path.is_file():
            there = sorted(found.name.split(".")[1] for found in folder.glob("Pulumi.*.yaml"))
            raise SettingsError([Problem("stack", str(stack), f"must be one of {', '.join(there) or 'none yet'}")])
    stack_name = path.name.removeprefix("Pulumi.").rsplit(".", 1)[0]
    given = dict(_mapping(_load(path, path.name), "config", path.name))
    for key, value in (config_overrides or {}).items():
        given[_full_key(key, name)] = value
    return _Reading(name).read(project, stack_name, project_directory, main, given)


def stack_folder(project_directory: Path) -> Path:
    """Where a project keeps its stack files; raises `SettingsError` when its Pulumi.yaml is no YAML mapping."""
    return _stack_folder(project_directory, _load(project_directory / "Pulumi.yaml", "Pulumi.yaml"))


def _stack_folder(project_directory: Path, project: Mapping[str, Any]) -> Path:
    return project_directory / str(project.get("stackConfigDir", "."))


def _load(path: Path, shown: str) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            content = yaml.load(file, Loader=YamlLoader)  # noqa: S506 (it is safe)
    except FileNotFoundError:
        raise SettingsError([Problem("stack", shown, "must be an existing file")]) from None
    except OSError as error:
        raise SettingsError(
            [Problem(shown, f"an error ({error.strerror})", "must be a file that can be read")]
        ) from None
    except UnicodeDecodeError:
        raise SettingsError([Problem(shown, "bytes that are no text", "must be YAML in UTF-8")]) from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a timestamp like 2026-13-45
        raise SettingsError([Problem(shown, "no YAML", " ".join(str(error).split()))]) from None
    except RecursionError:
        raise SettingsError([_too_deep(shown)]) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError([Problem(shown, _kind(content), "must be a mapping")])
    _check_size(content, shown)
    return content


def _check_size(content: Any, shown: str) -> None:
    level, count, depth = [content], 0, 0
    while level:
        depth += 1
        count += len(level)
        if depth > DEEPEST:
            raise SettingsError([_too_deep(shown)])
        if count > MOST_VALUES:
            raise SettingsError([Problem(shown, f"more than {MOST_VALUES} values", "must be smaller")])
        level = [
            item
            for value in level
            if isinstance(value, (dict, list))
            for item in (value.values() if isinstance(value, dict) else value)
        ]


def _too_deep(shown: str) -> Problem:
    return Problem(shown, "endless or very deep nesting", f"must be nested at most {DEEPEST} deep")


def _mapping(content: Mapping[str, Any], key: str, shown: str) -> Mapping[Any, Any]:
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError([Problem(f"{shown}: {key}", _kind(value), "must be a mapping")])
    return value


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false"}.get(type(value), f"{value!r}")


def _full_key(key: str, project: str) -> str:
    return key if ":" in key else f"{project}:{key}"


class _Reading:
    """One pass over declarations and values."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._placeholders: set[str] = set()
        self._problems: list[Problem] = []

    def read(
        self, project: Mapping[str, Any], stack: str, root: Path, main: Path, given: Mapping[str, Any]
    ) -> StackConfig:
        values: dict[str, str] = {}
        secrets: set[str] = set()
        declared = _mapping(project, "config", "Pulumi.yaml")
        for key, declaration in declared.items():
            full = _full_key(str(key), self._project)
            if full in given:
                self._check(str(key), declaration, given[full])
                continue
            default = self._default(declaration)
            if default is not None:
                values[full] = _text(default)
            else:
                self._problems.append(Problem(str(key), "nothing", "must be set: it has no default in Pulumi.yaml"))
        for key, value in given.items():
            full = _full_key(str(key), self._project)
            plain = self._opened(full, value)
            values[full] = _text(plain)
            declaration = declared.get(key) or declared.get(str(key).removeprefix(f"{self._project}:"))
            if plain != value or (isinstance(declaration, Mapping) and declaration.get("secret") is True):
                secrets.add(full)
        return StackConfig(
            project=self._project,
            stack=stack,
            root=root,
            main=main,
            values=values,
            secret_keys=frozenset(secrets),
            placeholders=frozenset(self._placeholders),
            problems=tuple(self._problems),
        )

    @staticmethod
    def _default(declaration: Any) -> Any:
        if isinstance(declaration, Mapping):
            value = declaration.get("value")
            return declaration.get("default") if value is None else value
        return declaration

    def _opened(self, path: str, value: Any) -> Any:
        """The value with a placeholder for every `secure:` part of it."""
        if isinstance(value, Mapping):
            if set(value) == {"secure"}:
                text = f"rehearsed-secret-{hashlib.sha256(path.encode()).hexdigest()[:16]}"
                self._placeholders.add(text)
                return text
            return {key: self._opened(f"{path}.{key}", item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._opened(f"{path}[{index}]", item) for index, item in enumerate(value)]
        return value

    def _check(self, key: str, declaration: Any, value: Any) -> None:
        if not isinstance(declaration, Mapping):
            return
        secure = isinstance(value, Mapping) and set(value) == {"secure"}
        if declaration.get("secret") is True and not secure:
            self._problems.append(
                Problem(key, "a value in the clear", f"is a secret: set it with `pulumi config set --secret {key}`")
            )
            return
        wanted = declaration.get("type")
        if secure or wanted is None:
            return
        if not _is_of(wanted, declaration.get("items"), value):
            items = declaration.get("items")
            of = f" of {items.get('type')}" if isinstance(items, Mapping) and wanted == "array" else ""
            self._problems.append(Problem(key, _shown(value), f"must be of type {wanted}{of}, as Pulumi.yaml declares"))


def _is_of(wanted: str, items: Any, value: Any) -> bool:
    """Whether the engine takes `value` for the declared type; numbers and booleans may be text."""
    if wanted == "string":
        return not isinstance(value, (Mapping, list))
    if wanted == "integer":
        return not isinstance(value, bool) and (isinstance(value, int) or _is_integer(value))
    if wanted == "boolean":
        return isinstance(value, bool) or value in ("true", "false")
    if wanted == "object":
        return isinstance(value, Mapping)
    if wanted == "array":
        inner = items.get("type") if isinstance(items, Mapping) else None
        return isinstance(value, list) and (
            inner is None or all(_is_of(str(inner), items.get("items"), item) for item in value)
        )
    return True


def _is_integer(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip("+-").isdigit()


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    return json.dumps(value, default=str) if isinstance(value, (Mapping, list, str)) else str(value)


def _text(value: Any) -> str:
    """A configuration value as it reaches the program."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, (Mapping, list)):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, default=_text)
    return "" if value is None else str(value)
