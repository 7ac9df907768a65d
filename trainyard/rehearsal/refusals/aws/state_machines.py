"""Definitions of AWS Step Functions: states that lead somewhere, and calls that Amazon's models know.

Sources: Amazon States Language specification; AWS Step Functions Developer Guide, "Validating state machine
definitions" (`CreateStateMachine` refuses a transition to no state and a state that nothing leads to), "Integrating
services", "Logging using CloudWatch Logs" (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, operation
from trainyard.rehearsal.refusals.aws.texts import read, walk
from trainyard.rehearsal.refusals.rules import Rules

STATE_MACHINE: Final = "aws:sfn/stateMachine:StateMachine"
RULE: Final = "states-definition"
_KINDS: Final = ("Task", "Pass", "Choice", "Wait", "Succeed", "Fail", "Parallel", "Map")
CALL: Final = re.compile(
    r"arn:[\w-]+:states:::(?:aws-sdk:)?([a-z0-9-]+):([A-Za-z0-9]+)(?:\.(sync|sync:2|waitForTaskToken))?"
)
"""A call of a service: which service, what is called, and what is waited for."""
_MODELS: Final = {
    "sfn": "stepfunctions",
    "states": "stepfunctions",
    "elasticmapreduce": "emr",
    "bedrock": "bedrock-runtime",
    "eventbridge": "events",
    "cloudwatchlogs": "logs",
    "sagemaker": "sagemaker",
    "emr-serverless": "emr-serverless",
}
_OWN: Final = frozenset(
    {
        "lambda",
        "sns",
        "sqs",
        "apigateway",
        "eks",
        "http",
        "elasticmapreduce",
        "states",
        "events",
        "mediaconvert",
        "bedrock",
    }
)
"""Integrations whose parameters are not a call's input to the letter."""


def definition(of: View) -> Mapping[str, Any] | None:
    """What a state machine is told; None where that is not known, or is no JSON object."""
    held = read(of.text("definition"))
    return held if isinstance(held, dict) else None


def flows(held: Any, at: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each flow of states in a definition: itself, the branches of parallel states, the items of maps."""
    if not isinstance(held, dict) or not isinstance(held.get("States"), dict):
        return
    yield at, held
    for name, state in held["States"].items():
        if isinstance(state, dict):
            here = f"{at}States.{name}."
            for index, branch in enumerate(listed(state.get("Branches"))):
                yield from flows(branch, f"{here}Branches[{index}].")
            for key in ("ItemProcessor", "Iterator"):
                yield from flows(state.get(key), f"{here}{key}.")


def tasks(of: View) -> Iterator[tuple[str, str, Mapping[str, Any] | None]]:
    """Each task of a state machine: where it stands, its resource, and what it is given.

    None where that is computed, or is the input of the state since nothing else is said.
    """
    for at, flow in flows(definition(of)):
        for name, state in flow["States"].items():
            if isinstance(state, dict) and state.get("Type") == "Task" and isinstance(state.get("Resource"), str):
                given = state.get("Parameters", state.get("Arguments"))
                yield f"{at}States.{name}", state["Resource"], given if isinstance(given, dict) else None


def machine(view: View) -> None:
    """Where a state machine logs, and each of its flows."""
    level = view.text("loggingConfiguration.level")
    where = view.text("loggingConfiguration.logDestination")
    if where is not None and not where.endswith(":*"):
        view.error(
            "states-log",
            "loggingConfiguration.logDestination",
            f"got {show(where)}",
            allowed="a log group's ARN with :* behind it",
        )
    if level not in (None, "OFF") and view.lacks("loggingConfiguration.logDestination"):
        view.error(
            "states-log",
            "loggingConfiguration.logDestination",
            f"is missing beside level {level}",
            allowed="a log group's ARN with :*",
        )
    text = view.text("definition")
    if text is None:
        return
    held = definition(view)
    if held is None:
        view.error(RULE, "definition", f"got {show(text)}", allowed="a JSON object")
        return
    if not isinstance(held.get("States"), dict):
        view.error(RULE, "definition", "has no States", allowed="States")
    for at, flow in flows(held):
        _flow(view, at, flow)
    express = view.text("type") == "EXPRESS"
    for at, resource, given in tasks(view):
        _task(view, f"definition.{at}", resource, given, express=express)


def _next(state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("Next", "Default"):
        if key in state:
            yield key, state[key]
    for kind in ("Choices", "Catch"):
        for index, one in enumerate(listed(state.get(kind))):
            if isinstance(one, dict) and "Next" in one:
                yield f"{kind}[{index}].Next", one["Next"]


def _is_state(name: Any, states: Mapping[str, Any]) -> bool:
    return isinstance(name, str) and name in states


def _flow(view: View, at: str, flow: Mapping[str, Any]) -> None:
    states = flow["States"]
    start = flow.get("StartAt")
    if not _is_state(start, states):
        view.error(
            RULE,
            f"definition.{at}StartAt",
            f"names {show(start)}, which is no state here",
            allowed=", ".join(states),
            hint=nearest(str(start), list(states)),
        )
    reached = {str(start)}
    for name, state in states.items():
        here = f"definition.{at}States.{name}"
        if not isinstance(state, dict):
            view.error(RULE, here, "is no object", allowed="a state")
            continue
        kind = state.get("Type")
        if kind not in _KINDS:
            view.error(
                RULE, f"{here}.Type", f"got {show(kind)}", allowed=", ".join(_KINDS), hint=nearest(str(kind), _KINDS)
            )
            continue
        for key, target in _next(state):
            if not _is_state(target, states):
                view.error(
                    RULE,
                    f"{here}.{key}",
                    f"leads to {show(target)}, which is no state here",
                    allowed=", ".join(states),
                    hint=nearest(str(target), list(states)),
                )
            if target != name:
                reached.add(str(target))
        if kind in ("Succeed", "Fail", "Choice"):
            if "Next" in state or "End" in state:
                view.error(
                    RULE,
                    f"{here}.{'Next' if 'Next' in state else 'End'}",
                    f"is given to a state of type {kind}",
                    allowed="none",
                )
        elif ("Next" in state) == bool(state.get("End")):
            view.error(
                RULE, here, "has Next and End" if "Next" in state else "has neither Next nor End", allowed="one of them"
            )
        if kind == "Choice" and not listed(state.get("Choices")):
            view.error(RULE, f"{here}.Choices", "is missing", allowed="at least one")
        if kind == "Task" and "Resource" not in state:
            view.error(RULE, f"{here}.Resource", "is missing", allowed="an ARN")
        if kind == "Wait" and not any(key in state for key in ("Seconds", "SecondsPath", "Timestamp", "TimestampPath")):
            view.error(RULE, here, "does not say how long it waits", allowed="Seconds, Timestamp, or a path to one")
        beat, most = state.get("HeartbeatSeconds"), state.get("TimeoutSeconds")
        if isinstance(beat, int) and isinstance(most, int) and beat >= most:
            view.error(
                RULE, f"{here}.HeartbeatSeconds", f"{beat} is not below TimeoutSeconds {most}", allowed="below it"
            )
        for index, one in enumerate(listed(state.get("Catch"))):
            names = one.get("ErrorEquals") if isinstance(one, dict) else None
            if (
                isinstance(names, list)
                and "States.ALL" in names
                and (len(names) > 1 or index < len(state["Catch"]) - 1)
            ):
                view.error(
                    RULE,
                    f"{here}.Catch[{index}].ErrorEquals",
                    "has States.ALL, and others beside or after it",
                    allowed="alone, and last",
                )
    for name in states:
        if name not in reached and isinstance(states[name], dict):
            view.error(
                RULE,
                f"definition.{at}States.{name}",
                "is a state that nothing leads to",
                allowed="a Next that names it",
            )


def _task(view: View, at: str, resource: str, given: Mapping[str, Any] | None, *, express: bool) -> None:
    call = CALL.fullmatch(resource)
    if call is None:
        return
    service, action, way = call.groups()
    if express and way is not None:
        view.error(RULE, f"{at}.Resource", f"waits ({way}) in a state machine of type EXPRESS", allowed="STANDARD")
    sdk = ":aws-sdk:" in resource
    if sdk and not action[0].islower():
        view.error(RULE, f"{at}.Resource", f"calls {action}", allowed=action[0].lower() + action[1:])
        return
    try:
        shape = operation(_MODELS.get(service, service), action[0].upper() + action[1:])
    except ModelMissingError:
        return
    except KeyError:
        return
    if given is None or (service in _OWN and not sdk):
        return
    walk(view, f"{at}.Parameters", given, shape)


RULES: Final[Rules] = {machine: (STATE_MACHINE,)}
