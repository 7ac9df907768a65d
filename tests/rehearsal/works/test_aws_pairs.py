"""What rules of AWS took for a mistake and is none, each beside what is one: both in programs of other people."""

from __future__ import annotations

import pytest

from tests.rehearsal.works.aws_changes import output, reworded
from tests.rehearsal.works.mistakes import edit, in_json, put
from tests.rehearsal.works.test_aws_services import added

P, S, W = "pipeline", "serving", "workshop"
PERMISSION = "aws:lambda/permission:Permission"
MACHINE = "aws:sfn/stateMachine:StateMachine"


def on_the_stage(path):
    """A permission on an interface's stage, by what the stage itself says it is called with."""

    def change(resources):
        (stage,) = (one for one in resources if one.type == "aws:apigateway/stage:Stage")
        return edit(PERMISSION, "desk", put("sourceArn", f"{output(stage, 'executionArn')}{path}"))(resources)

    return change


def calls(name):
    """The state machine calls this function, in JSONata."""
    refresh = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "QueryLanguage": "JSONata",
               "Arguments": {"FunctionName": name}, "Next": "Done"}  # fmt: skip
    return edit(MACHINE, "train", in_json("definition", lambda flow: flow["States"].update(Refresh=refresh)))


PAIRS = {
    "a permission on one stage": (
        W, edit(PERMISSION, "desk", reworded("sourceArn", "/*/GET/jobs", "/live/GET/jobs")),
        edit(PERMISSION, "desk", reworded("sourceArn", "/*/GET/jobs", "/live/POST/jobs")), "rights-delivery"),
    "a permission by the stage's ARN": (W, on_the_stage("/GET/*"), on_the_stage("/GET/job"), "rights-delivery"),
    "a function that is computed": (
        P, calls("{% $states.input.function %}"), calls("another-function"), "rights-role-lacks"),
}  # fmt: skip
"""The stack, what is right in it, what is wrong beside that, and the rule that says so."""


@pytest.mark.parametrize("what", PAIRS)
def test_what_is_right_is_not_told_and_what_is_wrong_beside_it_is(rehearsed, what):
    stack, right, wrong, rule = PAIRS[what]
    assert [str(finding) for finding in added(rehearsed, stack, right)] == []
    assert rule in {finding.rule for finding in added(rehearsed, stack, wrong)}
