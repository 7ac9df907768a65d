"""The clients of a project: one stack each or several, with what the agency says of them in `fleet.yaml`."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field, ValidationError

from trainyard.conventions import state
from trainyard.fleet.known import HOMES
from trainyard.problems import Problem, SettingsError, kind_of, nearest, shown, spell_path
from trainyard.rehearsal.engine.project import StackConfig, read_stack, stack_of
from trainyard.review.handover.agency import LONGEST_NAME, Agency
from trainyard.settings.common import Settings
from trainyard.settings.namespace import namespace_values
from trainyard.settings.one_entry import with_entry
from trainyard.settings.read import NAMESPACE, read_settings
from trainyard.settings.types import Model, matching
from trainyard.settings.unseen import stand_in
from trainyard.user_files import read_text, read_yaml

FILE: Final = "fleet.yaml"
"""What an agency says of its clients' stacks, beside Pulumi.yaml."""

Wave = Literal["canary", "early", "rest"]
WAVES: Final[tuple[Wave, ...]] = ("canary", "early", "rest")
"""The order in which stacks are brought forward; a stack that nobody names is among the last."""

_HEAD = """\
# What the agency says of its clients' stacks. `wave`: canary, early or rest, the order of `trainyard fleet upgrade`.
# `version`: the release of Trainyard that brought the stack up last, which that command writes. `pin`: the release that
# one stays on. `frozen`: why one is left alone. `agency`: who hands over, as docs/report.md tells. `index`: your own
# package index, for releases whose wheel is not in wheels/.
"""


CLIENT_KEY: Final = f"{NAMESPACE}:client"
"""The full key of who an environment is for."""


class Entry(Model):
    """What is said of one stack."""

    wave: Wave = "rest"
    called: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    """The client's name as its documents write it: `Acme Robotics`; by default the setting `client`."""
    version: Annotated[str, matching(r"[0-9]+(\.[0-9]+)+([a-z0-9.+-]*)", "must look like 1.4.0")] | None = None
    """The release that brought it up last; `fleet upgrade` writes it."""
    pin: Annotated[str, matching(r"[0-9]+(\.[0-9]+)+([a-z0-9.+-]*)", "must look like 1.4.0")] | None = None
    """The release that the stack stays on: it is judged, brought up and asked for drift by that one alone."""
    frozen: str | None = Field(default=None, min_length=1, max_length=500)
    """Why the stack is left alone for now."""

    def stays_on_another(self, installed: str) -> bool:
        """Whether the stack is pinned to another release than the installed one."""
        return self.pin not in (None, installed)


class Fleet(Model):
    """The content of `fleet.yaml`."""

    agency: Agency | None = None
    """Who hands over, whose name and colour `trainyard report` has."""
    index: Annotated[str, matching(r"https://\S+", "must be a URL that begins with https://")] | None = None
    """The agency's own package index, which may be asked for releases whose wheel is not in the repository."""
    stacks: Mapping[str, Entry] = {}


@dataclass(frozen=True, slots=True)
class Client:
    """One stack of a client."""

    stack: str
    file: Path
    config: StackConfig
    settings: Settings  # as far as they are right
    entry: Entry
    python: Path | None = None  # of the release that it is pinned to, where that is not the installed one
    view: Path | None = None  # the project as that release's program is run in it
    is_read: bool = True  # False: its file is no YAML, so that nothing is known of it but its name

    @property
    def is_named(self) -> bool:
        """Whether its file, or Pulumi.yaml, says who it is for."""
        return CLIENT_KEY in self.config.values

    @property
    def name(self) -> str:
        """Who the environment is for; where nobody says, the stack's own name, so that it is taken for no other's."""
        return self.settings.client if self.is_named else self.stack

    @property
    def folder(self) -> Path:
        """Where Pulumi runs its program."""
        return self.view or self.config.root

    @property
    def backend(self) -> str:
        """Where its state is: its own, else the project's; empty where nobody says."""
        return self.settings.state_backend or self.config.state[state.BACKEND]

    @property
    def secrets_provider(self) -> str:
        """What encrypts its secrets; empty: the default."""
        return self.config.state[state.SECRETS_PROVIDER]


def read_fleet(project: Path, stacks: Sequence[str]) -> Fleet:
    """What `fleet.yaml` says; nothing where there is no such file.

    Raises:
        SettingsError: it is no such file, or names a stack that is not there.
    """
    path = project / FILE
    if not path.exists():
        return Fleet()
    content = read_yaml(path, FILE)
    if content is None:
        return Fleet()
    if not isinstance(content, dict):
        raise SettingsError([Problem(FILE, kind_of(content), "must be a mapping with the keys agency and stacks")])
    try:
        fleet = Fleet.model_validate(content)
    except ValidationError as error:
        raise SettingsError(
            Problem(f"{FILE}: {spell_path(found['loc'])}", shown(found["input"]), found["msg"].lower())
            for found in error.errors(include_url=False)
        ) from None
    lost = [name for name in fleet.stacks if name not in stacks]
    if lost:
        there = f"must be one of the stacks: {', '.join(stacks) or 'there is none'}"
        raise SettingsError([Problem(f"{FILE}: stacks.{name}", name, there, nearest(name, stacks)) for name in lost])
    return fleet


def fleet_text(fleet: Fleet) -> str:
    """The text of `fleet.yaml`."""
    content: dict[str, Any] = {}
    if fleet.agency is not None:
        content["agency"] = fleet.agency.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if fleet.index is not None:
        content["index"] = fleet.index
    content |= {"stacks": {name: _said(entry) for name, entry in sorted(fleet.stacks.items())}}
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=120)


def with_stack(project: Path, stacks: Sequence[str], stack: str, change: Callable[[Entry], Entry]) -> str:
    """The text of `fleet.yaml` after a change of what is said of one stack; all else stays as a person wrote it.

    A file in one line, or with anchors, is written anew. Raises `SettingsError` as `read_fleet` does.
    """
    fleet = read_fleet(project, stacks)
    before = fleet.stacks.get(stack)
    after = change(before or Entry())
    path = project / FILE
    text: str | None = read_text(path, FILE) if path.exists() else _HEAD
    said, was = _said(after), _said(before) if before is not None else {}
    if before is None or was.keys() - said.keys():  # a key that is gone goes with the whole entry
        text = with_entry(str(text), ("stacks", stack), said, FILE)
    else:
        for key in said:
            if text is not None and (said[key] != was.get(key)):
                text = with_entry(text, ("stacks", stack, key), said[key], FILE)
    return text or fleet_text(fleet.model_copy(update={"stacks": {**fleet.stacks, stack: after}}))


@contextmanager
def alone_with_fleet(project: Path) -> Iterator[None]:
    """Holds a lock of the project's, so that two commands do not write `fleet.yaml` over each other's; waits for it.

    The lock is a file that is open for writing, not the folder: over NFS no other kind can be held alone.
    """
    homes = project / HOMES
    homes.mkdir(exist_ok=True)
    with (homes / f"{FILE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _said(entry: Entry) -> dict[str, Any]:
    return {"wave": entry.wave, **entry.model_dump(exclude_none=True, exclude={"wave"})}


def read_clients(project: Path, files: Sequence[Path], *, broken_too: bool = False) -> list[Client]:
    """The clients' stacks, in the order of their waves, by name within one; raises `SettingsError`.

    Settings that are wrong are left out: `trainyard check` tells them. With `broken_too` a file that cannot be read is
    a client of whom nothing is known, so that one broken file hides no other client; all of them broken still raises.
    """
    fleet = read_fleet(project, [stack_of(file) for file in files])
    found, broken = [], None
    for file in files:
        entry = fleet.stacks.get(stack_of(file), Entry())
        try:
            found.append(read_client(project, file, entry))
        except SettingsError as error:
            if not broken_too:
                raise
            broken = error
            found.append(_unread(project, file, entry))
    if broken is not None and not any(client.is_read for client in found):
        raise broken
    return sorted(found, key=lambda client: (WAVES.index(client.entry.wave), client.stack))


def _unread(project: Path, file: Path, entry: Entry) -> Client:
    """A client whose file cannot be read."""
    nowhere = {state.BACKEND: "", state.SECRETS_PROVIDER: ""}
    config = StackConfig("", stack_of(file), project, file, project, {}, frozenset(), state=nowhere)
    return Client(config.stack, file, config, read_settings({}).settings, entry, is_read=False)


def read_client(project: Path, file: Path, entry: Entry) -> Client:
    """One stack; raises `SettingsError` where its file is no such file."""
    config = read_stack(project, file, stand_in=stand_in)
    settings = read_settings(namespace_values(config.values)).settings
    return Client(config.stack, file, config, settings, entry)
