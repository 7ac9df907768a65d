"""From a stack's configuration to its settings: every mistake that can be told without planning, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError

from trainyard.problems import Problem, SettingsError, shown, spell_path
from trainyard.settings.common import Settings, advice, cross_checks
from trainyard.settings.mistakes import annotation_at, field_at, fields_of, problem_of
from trainyard.user_files import parse_json

NAMESPACE = "trainyard"

STAND_INS: Mapping[str, str] = {"client": "client", "cloud": "aws", "region": "us-east-1"}
"""Values that stand in for required keys that are missing or wrong, so that the rest of the file can still be
checked."""

MOVED: Mapping[str, str] = {
    "awsAccountId": "aws.accountId",
    "endpointAccess": "apiAccess.cidrs",
    "adminPrincipals": "aws.adminPrincipals",
    "createAutoscalingRole": "aws.createAutoscalingRole",
    "network.natPerZone": "aws.natPerZone",
    "network.flowLogRetentionDays": "aws.flowLogRetentionDays",
    "mlflow.database.instanceClass": "aws.databaseInstanceClass",
    "budget.anomalyDetection": "aws.anomalyDetection",
    "budget.activateCostTags": "aws.activateCostTags",
}
"""Old place of a key -> where it is now. The old place is still understood."""


_FILLED_IN: Mapping[str, object] = {"adminPrincipals": [], "endpointAccess": [], "createAutoscalingRole": "false"}
"""What an older `Pulumi.yaml`, which declares these old places, fills in there where nobody set them."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read. With problems, `settings` hold what was right, and stand-ins for what is required."""

    settings: Settings
    problems: tuple[Problem, ...]
    wrong: frozenset[str]
    """Keys whose value was taken out because it is wrong."""
    warnings: tuple[str, ...]
    """What works and should be changed: keys at their old place, a line each."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Keys that were said at their old place -> that place."""

    def new(self, problems: Iterable[Problem]) -> list[Problem]:
        """Those of later problems that tell something: what was taken out as wrong is not missing as well."""
        taken = {key.split("[")[0].split(".")[0] for key in self.wrong}
        sized = {"teamSize", "teams", "profile"}  # each of them says how large the team is
        return [
            problem
            for problem in problems
            if problem.got != "nothing" or not (problem.key in self.wrong or (problem.key in sized and taken & sized))
        ]


def read_settings(config: Mapping[str, str]) -> Reading:
    """Reads the values of the project's namespace as the engine hands them to a program.

    Every value is text, objects and arrays are JSON. An empty text is the default of Pulumi.yaml for "left out".
    """
    by_key = {key: decode(key, text) for key, text in config.items() if text != ""}
    found, moved = _move(by_key)
    warnings = [f"{old} has moved to {new}; the old place is still understood" for new, old in moved.items()]
    problems = list(found)
    settings, mistakes = _validate(by_key)
    problems += mistakes
    reading = Reading(
        settings,
        tuple(problems),
        frozenset(problem.key for problem in problems),
        (*warnings, *advice(settings)),
        moved,
    )
    later = reading.new(cross_checks(settings))
    return replace(reading, problems=tuple(dict.fromkeys([*problems, *later])))


def decode(key: str, text: str) -> Any:
    """Objects and arrays come as JSON; scalars stay text, which pydantic reads as the field's type wants."""
    if (key not in fields_of(Settings) and key not in MOVED) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text, key)
    except SettingsError:  # a text where a list or a mapping is wanted, which the validation tells
        return text


def _move(by_key: dict[str, Any]) -> tuple[list[Problem], dict[str, str]]:
    """Takes keys from their old places to the new ones, and says which; a key that stands at both is a problem."""
    problems, moved = [], {}
    for old, new in MOVED.items():
        *above, last = old.split(".")
        node = _mapping_at(by_key, above)
        if node is None or last not in node:
            continue
        block, name = new.split(".")
        value = node.pop(last)
        target = by_key.setdefault(block, {})
        if not isinstance(target, dict) or (old in _FILLED_IN and value == _FILLED_IN[old]):
            continue  # a block that is no mapping is a mistake of its own
        if name in target:
            problems.append(Problem(old, shown(value), f"has moved to {new}, which is set too"))
            continue
        target[name] = value
        moved[new] = old
    return problems, moved


def _mapping_at(by_key: dict[str, Any], path: list[str]) -> dict[str, Any] | None:
    node: Any = by_key
    for step in path:
        node = node.get(step) if isinstance(node, dict) else None
    return node if isinstance(node, dict) else None


def _validate(by_key: dict[str, Any]) -> tuple[Settings, list[Problem]]:
    """Validates, takes out what is wrong, and validates the rest, until something valid is left to check further."""
    problems: list[Problem] = []
    for path in list(_truths_for_numbers(by_key, ())):
        problems.append(Problem(spell_path(path), "true or false", "must be a number"))
        _take_out(by_key, path)
    while True:
        try:
            return Settings.model_validate(by_key), problems
        except ValidationError as error:
            details = error.errors(include_url=False)
            problems += [problem_of(detail) for detail in details]
            for detail in details:
                _take_out(by_key, detail["loc"])


def _truths_for_numbers(node: Any, path: tuple[int | str, ...]) -> Iterator[tuple[int | str, ...]]:
    """Where true or false stands for a number, which pydantic would take for 1 and 0."""
    for step, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if isinstance(value, bool) and _is_number(annotation_at((*path, step))):
            yield (*path, step)
        else:
            yield from _truths_for_numbers(value, (*path, step))


def _is_number(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_number(part) for part in get_args(annotation))
    return annotation is int or annotation is float


def _take_out(by_key: dict[str, Any], path: tuple[int | str, ...]) -> None:
    top = str(path[0])
    steps = list(_present_steps(by_key, path))
    if len(steps) == len(path) and isinstance(steps[-1], dict) and (len(path) == 1 or not _is_required(path)):
        del steps[-1][path[-1]]
    else:
        # A part that is missing or that its list or mapping cannot do without: the whole entry goes.
        by_key.pop(top, None)
    if top in STAND_INS and top not in by_key:
        by_key[top] = STAND_INS[top]


def _present_steps(by_key: Any, path: tuple[int | str, ...]) -> Iterator[Any]:
    """The containers along a path, as far as the path is there."""
    node = by_key
    for step in path:
        inside = step in node if isinstance(node, dict) else isinstance(node, list) and isinstance(step, int)
        if not inside:
            return
        yield node
        node = node[step]


def _is_required(path: tuple[int | str, ...]) -> bool:
    field = field_at(path)
    return field is not None and field.is_required()
