"""How far an upgrade came: on the disk before and after every step, so that whoever is killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from trainyard.plan.lock import lock_path
from trainyard.problems import Problem, SettingsError, shown
from trainyard.teardown.ledger import write_private
from trainyard.upgrade.legs import Versions
from trainyard.upgrade.queues import LocalQueue
from trainyard.user_files import read_json

FILE: Final = "upgrade.json"
_LAYOUT: Final = 1

Kind = Literal["ask", "even", "hold", "wait", "lock", "up", "release"]
_WORDS: Final = {
    "ask": "ask EKS whether it offers these versions, and every add-on in the build that is pinned",
    "even": "look whether what is deployed is what the program says (pulumi preview --expect-no-changes)",
    "hold": "hold people's queues: nothing new starts, what runs goes on",
    "wait": "wait until no job of theirs runs",
    "lock": "write {} into the stack's lock",
    "release": "let the queues go",
}
_UPGRADES: Final = "control plane, add-ons, node groups one node after the other, smoke jobs on every pool"
_CHANGES: Final = "what the stack file says; the nodes change, and a smoke job proves each pool of which they did"


@dataclass(slots=True)
class Step:
    """One step. `running` after a kill: nobody knows how far it came, and it is done again."""

    kind: Kind
    to: Versions | None = None  # of `lock` and `up`
    state: Literal["waiting", "running", "done"] = "waiting"
    flavors: tuple[str, ...] = ()  # of `wait`: of the nodes that change; empty: all jobs of the queues are waited for

    @property
    def words(self) -> str:
        """What is done, for people."""
        if self.kind == "wait" and self.flavors:
            return f"wait until no job runs on {', '.join(self.flavors)}; jobs on other nodes go on"
        if self.kind == "up":
            return f"pulumi up: {_UPGRADES if self.to is not None else _CHANGES}"
        to = f"Kubernetes {self.to.kubernetes}, nodes {self.to.node_release}" if self.to is not None else ""
        return _WORDS[self.kind].format(to)


@dataclass(slots=True)
class Ledger:
    """The steps of one upgrade, in order, and the queues that it holds."""

    path: Path
    begun: str
    steps: list[Step]
    held: list[LocalQueue] = field(default_factory=list)
    tries: int = 0
    said: str = ""  # of a change of the stack file: what that said when its jobs were counted (`said_by`)

    @property
    def target(self) -> Versions | None:
        """Where the upgrade leads; None: to what the stack file says."""
        found = [step.to for step in self.steps if step.to is not None]
        return found[-1] if found else None

    @property
    def left(self) -> list[Step]:
        """The steps that are not done, in order."""
        return [step for step in self.steps if step.state != "done"]

    def mark(self, step: Step, state: Literal["running", "done"]) -> None:
        """Notes how far a step is, on the disk before this returns."""
        step.state = state
        self.write()

    def write(self) -> None:
        """Writes the file whole."""
        write_private(self.path, json.dumps(self.as_json(), indent=2))

    def as_json(self) -> dict[str, Any]:
        """What the file holds."""
        return {
            "layout": _LAYOUT,
            "begun": self.begun,
            "tries": self.tries,
            "said": self.said,
            "held": [asdict(queue) for queue in self.held],
            "steps": [asdict(step) for step in self.steps],
        }


def steps_of(through: Sequence[Versions]) -> list[Step]:
    """The steps of an upgrade through these versions: the queues are held once for all of them."""
    return [
        Step("ask"),
        Step("even"),
        Step("hold"),
        Step("wait"),
        *_each(through),
        Step("release"),
    ]


def steps_of_change(flavors: Sequence[str]) -> list[Step]:
    """The steps of a change of the stack file by which the nodes of some flavors become others."""
    return [Step("hold"), Step("wait", flavors=tuple(flavors)), Step("up"), Step("release")]


def said_by(stack_file: Path) -> str:
    """A digest of a stack file and its lock, by which another content is noticed."""
    files = (stack_file, lock_path(stack_file))
    parts = [hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "" for file in files]
    return " ".join(parts)


def _each(through: Sequence[Versions]) -> Iterator[Step]:
    for versions in through:
        yield Step("lock", versions)
        yield Step("up", versions)


def read_ledger(folder: Path) -> Ledger | None:
    """The upgrade that is under way; None where there is none. Raises `SettingsError`."""
    path = folder / FILE
    if not path.exists():
        return None
    content = read_json(path, path.name)
    try:
        if content["layout"] != _LAYOUT:
            raise ValueError(content["layout"])
        steps = [_step(each) for each in content["steps"]]
        held = [LocalQueue(str(each["namespace"]), str(each["name"])) for each in content["held"]]
        found = Ledger(path, str(content["begun"]), steps, held, int(content["tries"]), str(content.get("said", "")))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        allowed = "must be what `trainyard upgrade` wrote; take it away to begin anew"
        raise SettingsError([Problem(str(path), shown(str(error)), allowed)]) from None
    return found if found.left else None


def _step(value: Any) -> Step:
    flavors = tuple(str(name) for name in value.get("flavors", ()))
    return Step(value["kind"], _versions(value["to"]), value["state"], flavors)


def _versions(value: Any) -> Versions | None:
    return None if value is None else Versions(str(value["kubernetes"]), str(value["node_release"]))
