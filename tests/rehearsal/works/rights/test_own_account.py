"""Which account is a stack's own, where its provider names none."""

from __future__ import annotations

import json

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, resource
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.rights.aws.own_account import accounts_it_may_be, in_account

MADE_UP = "123456789012"
QUEUE = f"arn:aws:sqs:us-east-1:{MADE_UP}:q"


def policy(**condition):
    return resource("aws:sqs/queuePolicy:QueuePolicy", "p", {"policy": json.dumps({"Resource": QUEUE, **condition})})


def stack(*resources):
    return Stack(resources, CONTEXT)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({}, []),
        ({"aws:SourceAccount": "111122223333"}, ["111122223333"]),
        ({"AWS": "arn:aws:iam::444455556666:root"}, ["444455556666"]),
        ({"a": "111122223333", "b": "arn:aws:s3:::b-444455556666"}, ["111122223333", "444455556666"]),
        ({"a": "111122223333", "aws:SourceAccount": MADE_UP}, []),
        ({"a": "111122223333", "AWS": f"arn:aws:iam::{MADE_UP}:root"}, []),
        ({"a": "1111222233334", "b": "x111122223333"}, []),
    ],
)
def test_it_may_be_any_that_the_program_writes_unless_it_asked_for_its_own(condition, found):
    assert accounts_it_may_be(stack(policy(**condition)), MADE_UP) == found


def test_a_provider_says_which_it_is():
    provider = resource("pulumi:providers:aws", "aws", {"allowedAccountIds": '["111122223333"]'})
    assert accounts_it_may_be(stack(provider, policy(a="444455556666")), MADE_UP) == []


def test_in_another_account_everything_has_its_number():
    (found,) = in_account([policy(AWS=[f"{QUEUE}-2"])], MADE_UP, "111122223333")
    assert MADE_UP not in str(found.inputs)
    assert json.loads(found.inputs["policy"])["AWS"] == ["arn:aws:sqs:us-east-1:111122223333:q-2"]
