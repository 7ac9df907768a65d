"""A Pulumi project and one of its stack files, read as the engine reads them before it starts the program.

What the engine refuses at that point is reported as `Problem`s: a declared key without value and default, a value
that is not of the declared type, a secret in the clear. Undeclared keys pass, as they pass the engine: to refuse them
is the task of the program's own settings.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from trainyard.conventions import state
from trainyard.problems import Problem, SettingsError, kind_of, nearest, shown, spell_path
from trainyard.user_files import old_octals, read_text, read_yaml

ValuePath = tuple[str | int, ...]
StandIn = Callable[[ValuePath, int], str | Problem | None]
"""What stands in a rehearsal for an encrypted value: asked with the value's place (the full key first) and a number of
its own, it gives a text of the right form, or why the value must not be encrypted; None where any text will do."""


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What the engine hands to the program: full keys ("trainyard:region") with their values as text."""

    project: str
    stack: str
    root: Path  # where Pulumi.yaml lies
    file: Path  # the stack's
    main: Path  # the folder in which the program runs
    values: Mapping[str, str]
    secret_keys: frozenset[str]
    placeholders: frozenset[str] = field(default_factory=frozenset)  # that stand for what only the CLI can decrypt
    unseen: tuple[str, ...] = ()  # the places of what only the CLI can decrypt
    problems: tuple[Problem, ...] = ()
    state: Mapping[str, str] = field(default_factory=dict)  # where Pulumi keeps the state (`conventions.state`)
    shared: frozenset[str] = frozenset()  # full keys that Pulumi.yaml gives to every stack, and this one leaves so

    def joined(self, told: Collection[Problem]) -> list[Problem]:
        """The problems of the program's settings with those of the reading: one of both on a key is enough.

        The program says best what a value may be, the reading why a value was not there to be judged. What is wrong
        with the file as a whole comes first, since the rest may follow from it.
        """
        unseen = [problem for problem in self.problems if problem.key in self.unseen]
        kept = [problem for problem in told if problem.key not in {other.key for other in unseen}]
        keys = {problem.key.split(".")[0].split("[")[0] for problem in kept}
        more = [problem for problem in self.problems if problem in unseen or problem.key not in keys]
        whole = [problem for problem in more if problem.key.startswith(f"{self.file.name}: ")]
        return [*whole, *kept, *(problem for problem in more if problem not in whole)]


def read_stack(
    project_directory: Path,
    stack: str | Path,
    config_overrides: Mapping[str, Any] | None = None,
    stand_in: StandIn | None = None,
) -> StackConfig:
    """The configuration of one stack, defaults of Pulumi.yaml filled in.

    `stack` is a stack's name, or the path of a `Pulumi.<stack>.yaml` anywhere. `config_overrides` replace whole keys
    (without a namespace: of this project). `stand_in` gives what takes the place of encrypted values. Raises
    `SettingsError` when a file is missing or is no YAML mapping.
    """
    project = _load(project_directory / "Pulumi.yaml", "Pulumi.yaml")
    if not isinstance(project.get("name"), str):
        raise SettingsError([Problem("Pulumi.yaml: name", shown(project.get("name")), "must be the project's name")])
    name = str(project["name"])
    main = project_directory / str(project.get("main", "."))
    if not (main.is_file() or (main / "__main__.py").is_file()):
        given_main = shown(project.get("main"))
        raise SettingsError([Problem("Pulumi.yaml: main", given_main, "must be a folder with a __main__.py in it")])
    folder = _stack_folder(project_directory, project)
    path = Path(stack) if isinstance(stack, Path) or str(stack).endswith((".yaml", ".yml")) else None
    if path is None:
        path = folder / f"Pulumi.{stack}.yaml"
        if not path.is_file():
            there = sorted(stack_of(found) for found in stack_files(folder))
            raise SettingsError([Problem("stack", str(stack), f"must be one of {', '.join(there) or 'none yet'}")])
    content = _load(path, path.name)
    given, problems = _given(_mapping(content, "config", path.name), name, path)
    for key, value in (config_overrides or {}).items():
        given[_full_key(key, name)] = value
    read = _Reading(name, stand_in).read(project, path, project_directory, main, given)
    misspelt = tuple(_misspelt(content, path.name))
    return replace(read, state=_state(project, content), problems=(*misspelt, *problems, *read.problems))


_OF_A_STACK: Final = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
"""Keys of a stack's file (ProjectStack in sdk/go/common/workspace/project.go of Pulumi). The engine passes over others.
"""


def _misspelt(content: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Keys that were meant to be one of the engine's, which else takes the file for one that says nothing of it."""
    for key in content:
        meant = nearest(str(key), _OF_A_STACK, cutoff=0.75)
        if key not in _OF_A_STACK and meant:
            yield Problem(f"{file}: {key}", kind_of(content[key]), f"must be one of {', '.join(_OF_A_STACK)}", meant)


def _state(project: Mapping[str, Any], stack: Mapping[str, Any]) -> dict[str, str]:
    """Where the project says that its state is, and what encrypts the stack's secrets."""
    url = _mapping(project, "backend", "Pulumi.yaml").get("url")
    return {
        state.READ: "true",
        state.BACKEND: str(url or ""),
        state.SECRETS_PROVIDER: str(stack.get("secretsprovider") or ""),
    }


def unseen_text(places: Collection[str]) -> str:
    """What a person has to know of values that only the engine can decrypt."""
    return (
        f"not seen, since only the engine can decrypt: {', '.join(places)}; a text of the right form stands in for each"
    )


def stack_of(stack_file: Path) -> str:
    """Name of a file's stack: `demo` of `Pulumi.demo.yaml`."""
    return stack_file.name.removeprefix("Pulumi.").rsplit(".", 1)[0]


def stack_files(folder: Path) -> list[Path]:
    """The stack files of a folder, by name. A lock and a client's answers lie beside a stack's file and are none."""
    return sorted(
        file for file in folder.glob("Pulumi.*.yaml") if not file.name.endswith((".lock.yaml", ".answers.yaml"))
    )


def stack_folder(project_directory: Path) -> Path:
    """Where a project keeps its stack files; raises `SettingsError` when its Pulumi.yaml is no YAML mapping."""
    return _stack_folder(project_directory, _load(project_directory / "Pulumi.yaml", "Pulumi.yaml"))


def project_defaults(project_directory: Path) -> dict[str, str]:
    """What Pulumi.yaml gives to every stack that says nothing of a key, as text by the declared key; raises
    `SettingsError` when it is no YAML mapping."""
    declared = _mapping(_load(project_directory / "Pulumi.yaml", "Pulumi.yaml"), "config", "Pulumi.yaml")
    found = {str(key): _Reading.default_of(declaration) for key, declaration in declared.items()}
    return {key: _text(default) for key, default in found.items() if default is not None}


def shared_keys(project_directory: Path, stack_file: Path, values: Mapping[str, str]) -> frozenset[str]:
    """The full keys whose values Pulumi.yaml gives, where the stack's file says nothing of them and nobody else does;
    what `StackConfig.shared` says, for the program that the engine runs. Raises `SettingsError` as `read_stack` does.

    Args:
        project_directory: where Pulumi.yaml lies.
        stack_file: the stack's file, which need not be there.
        values: what the engine hands over, by full key.
    """
    project = _load(project_directory / "Pulumi.yaml", "Pulumi.yaml")
    name = str(project.get("name"))
    content = _load(stack_file, stack_file.name) if stack_file.is_file() else {}
    own = {_full_key(str(key), name) for key in _mapping(content, "config", stack_file.name)}
    found = {_full_key(str(key), name): key for key in _mapping(project, "config", "Pulumi.yaml")}
    defaults = project_defaults(project_directory)
    return frozenset(
        full
        for full, key in found.items()
        if full not in own and str(key) in defaults and _same_text(defaults[str(key)], values.get(full))
    )


def _same_text(one: str, other: str | None) -> bool:
    """Whether two texts are one value, however the engine spaces its JSON."""
    if other is None or one == other:
        return one == other
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


def _stack_folder(project_directory: Path, project: Mapping[str, Any]) -> Path:
    return project_directory / str(project.get("stackConfigDir", "."))


def _load(path: Path, shown_as: str) -> dict[str, Any]:
    content = read_yaml(path, shown_as)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError([Problem(shown_as, kind_of(content), "must be a mapping")])
    return content


def _mapping(content: Mapping[str, Any], key: str, file: str) -> Mapping[str, Any]:
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError([Problem(f"{file}: {key}", kind_of(value), "must be a mapping")])
    return value


def _full_key(key: str, project: str) -> str:
    return key if ":" in key else f"{project}:{key}"


def _given(config: Mapping[str, Any], project: str, file: Path) -> tuple[dict[str, Any], list[Problem]]:
    """A stack file's values by their full keys, and what is there twice or is not the number that its author reads."""
    given: dict[str, Any] = {}
    problems = []
    for key, value in config.items():
        full = _full_key(str(key), project)
        if full in given:
            problems.append(Problem(str(key), "a value", f"must be there once; {full} is the same key"))
        given[full] = value
    for (top, *place), written in old_octals(read_text(file, file.name)) if config else ():
        full = _full_key(str(place[0]), project) if place else ""
        if top == "config" and full.startswith(f"{project}:"):
            allowed = "begins with 0, by which YAML counts in eights: must be without it, or in quotes"
            problems.append(Problem(spell_path((full.removeprefix(f"{project}:"), *place[1:])), written, allowed))
    return given, problems


class _Reading:
    """One pass over declarations and values."""

    def __init__(self, project: str, stand_in: StandIn | None) -> None:
        self._project = project
        self._stand_in = stand_in
        self._placeholders: set[str] = set()
        self._unseen: list[str] = []
        self._problems: list[Problem] = []

    def read(
        self, project: Mapping[str, Any], file: Path, root: Path, main: Path, given: Mapping[str, Any]
    ) -> StackConfig:
        values: dict[str, str] = {}
        shared: set[str] = set()
        secrets: set[str] = set()
        declared = _mapping(project, "config", "Pulumi.yaml")
        for key, declaration in declared.items():
            full = _full_key(str(key), self._project)
            if full in given:
                self._check(str(key), declaration, given[full])
                continue
            default = self.default_of(declaration)
            if default is not None:
                values[full] = _text(default)
                shared.add(full)
            else:
                self._problems.append(Problem(str(key), "nothing", "must be set: it has no default in Pulumi.yaml"))
        for key, value in given.items():
            full = _full_key(str(key), self._project)
            before = len(self._unseen)
            values[full] = _text(self._opened((full,), value))
            declaration = declared.get(key) or declared.get(str(key).removeprefix(f"{self._project}:"))
            if len(self._unseen) > before or (isinstance(declaration, Mapping) and declaration.get("secret") is True):
                secrets.add(full)
        return StackConfig(
            project=self._project,
            stack=stack_of(file),
            file=file,
            root=root,
            main=main,
            values=values,
            secret_keys=frozenset(secrets),
            placeholders=frozenset(self._placeholders),
            unseen=tuple(self._unseen),
            problems=tuple(self._problems),
            shared=frozenset(shared),
        )

    @staticmethod
    def default_of(declaration: Any) -> Any:
        """What a declaration gives where a stack says nothing of the key; None where it gives nothing."""
        if isinstance(declaration, Mapping):
            value = declaration.get("value")
            return declaration.get("default") if value is None else value
        return declaration

    def _opened(self, path: ValuePath, value: Any) -> Any:
        """The value with a stand-in for every `secure:` part of it."""
        if _is_secure(value):
            return self._in_place_of(path)
        if isinstance(value, Mapping):
            return {key: self._opened((*path, key), item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._opened((*path, index), item) for index, item in enumerate(value)]
        return value

    def _in_place_of(self, path: ValuePath) -> str:
        place = spell_path((str(path[0]).removeprefix(f"{self._project}:"), *path[1:]))
        self._unseen.append(place)
        text = self._stand_in(path, len(self._unseen)) if self._stand_in is not None else None
        if isinstance(text, Problem):
            self._problems.append(text)
        if not isinstance(text, str):
            text = f"rehearsed-secret-{hashlib.sha256(place.encode()).hexdigest()[:16]}"
        self._placeholders.add(text)
        return text

    def _check(self, key: str, declaration: Any, value: Any) -> None:
        if not isinstance(declaration, Mapping):
            return
        secure = _is_secure(value)
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
            # What was written in the place of a mapping or a list may be a password of it.
            got = kind_of(value) if wanted in ("object", "array") else shown(value)
            self._problems.append(Problem(key, got, f"must be of type {wanted}{of}, as Pulumi.yaml declares"))


def _is_secure(value: Any) -> bool:
    """Whether a value is an encrypted one, as the engine tells it."""
    return isinstance(value, Mapping) and set(value) == {"secure"} and isinstance(value["secure"], str)


def _is_of(wanted: str, items: Any, value: Any) -> bool:
    """Whether the engine takes `value` for the declared type; numbers and booleans may be text."""
    if _is_secure(value):
        return True
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


def _text(value: Any) -> str:
    """A configuration value as it reaches the program."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return str(int(value))
    if isinstance(value, (Mapping, list)):
        return json.dumps(value, separators=(",", ":"), sort_keys=True, default=_inner_text)
    return "" if value is None else str(value)


def _inner_text(value: datetime.datetime) -> str:
    """A date without quotes within an object, as Go prints it: 2027-03-31 00:00:00 +0000 UTC."""
    return value.strftime("%Y-%m-%d %H:%M:%S %z") + (" UTC" if value.utcoffset() == datetime.timedelta() else "")
