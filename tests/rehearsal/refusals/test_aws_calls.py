"""Calls that describe types by name alone, and what the provider's documentation says: its own examples are right."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from tests.rehearsal.refusals.builders import CONTEXT, findings, resource
from trainyard import cards
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.refusals.aws import elsewhere, generate, generate_examples, made_up, model_check, said
from trainyard.rehearsal.refusals.check import RULES

DOMAIN = "aws:opensearch/domain:Domain"
WALL = "aws:wafv2/webAcl:WebAcl"
PIPE = "aws:pipes/pipe:Pipe"


def table(name: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("trainyard.rehearsal.refusals.data").joinpath(name).read_text("utf-8"))[
        key
    ]
    return found


@cache
def shown() -> list[tuple[str, dict[str, Any]]]:
    return list(generate_examples.resources())


def test_every_call_of_the_table_is_one_that_amazon_has() -> None:
    calls = table("aws_calls.json", "calls")
    assert len(calls) > 800
    for token in calls:
        model = elsewhere.model_of(token)
        assert model is not None and model.by_name
        assert model_check.roots(model.calls)
    assert not calls.keys() & (cards.BY_TYPE.keys() | elsewhere.by_hand().keys())


def test_the_tables_are_what_the_generator_writes() -> None:
    examples = generate.examples()
    for token in (DOMAIN, WALL, PIPE, "aws:codepipeline/pipeline:Pipeline", "aws:glue/trigger:Trigger"):
        fields = generate.fields_of(token)
        assert fields is not None
        model = generate.model_for(token, fields)
        assert model is not None
        made = generate.corrected(token, model, examples[token])
        row = table("aws_calls.json", "calls")[token]
        assert (list(made.calls), list(made.undescribed)) == (row["calls"], row.get("undescribed", []))
    rows = table("aws_said.json", "said")
    for token in ("aws:ecs/service:Service", "aws:lb/listenerRule:ListenerRule"):
        assert json.loads(json.dumps(generate.said_of(token, examples))) == rows[token]


def test_no_example_of_the_documentation_is_refused_by_a_model_or_by_what_it_says() -> None:
    told: Counter[tuple[str, str, str]] = Counter()
    for token, inputs in shown():
        view = Stack([resource(token, "one", inputs)], CONTEXT).views[0]
        model = elsewhere.model_of(token)
        if model is not None and model.by_name:
            model_check.check(view, model)
        said.said(view)
        told.update((token, finding.rule, finding.path) for finding in view.findings)
    assert len(shown()) > 5_000
    assert told == {}


def test_no_rule_falls_over_an_example_of_the_documentation() -> None:
    for token, inputs in shown():
        view = Stack([resource(token, "one", inputs)], CONTEXT).views[0]
        for rule in RULES.get(token, ()):
            rule(view)


@pytest.mark.parametrize(
    ("token", "inputs", "path"),
    [
        (DOMAIN, {"clusterConfig": {"instanceType": "r7g.large"}}, "clusterConfig.instanceType"),
        (DOMAIN, {"clusterConfig": {"instanceType": "r7g.large.searched"}}, "clusterConfig.instanceType"),
        (WALL, {"scope": "GLOBAL"}, "scope"),
        (WALL, {"rules": [{"statement": {"rateBasedStatement": {"limit": 5}}}]},
         "rules[0].statement.rateBasedStatement.limit"),
        ("aws:codepipeline/pipeline:Pipeline", {"stages": [{"actions": [{"category": "Approve"}]}]},
         "stages[0].actions[0].category"),
        ("aws:route53/healthCheck:HealthCheck", {"type": "HTTP_S"}, "type"),
        ("aws:transfer/server:Server", {"protocols": ["FTPES"]}, "protocols[0]"),
        ("aws:sagemaker/trainingJob:TrainingJob", {"resourceConfig": {"instanceCount": 2, "instanceGroups": [{}]}},
         "resourceConfig.instanceGroups"),
    ],
)  # fmt: skip
def test_a_wrong_value_of_a_type_that_nobody_looked_at(token: str, inputs: dict[str, Any], path: str) -> None:
    assert path in {finding.path for finding in findings([resource(token, "one", inputs)])}


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (DOMAIN, {"engineVersion": "OpenSearch_2.19", "clusterConfig": {"instanceType": "r9g.large.search"},
                  "ebsOptions": {"ebsEnabled": True}}),
        ("aws:route53/healthCheck:HealthCheck", {"type": "HTTPS", "fqdn": "acme.example", "failureThreshold": 0}),
        ("aws:transfer/server:Server", {"protocols": ["SFTP"], "endpointType": "PUBLIC"}),
    ],
)  # fmt: skip
def test_newer_machines_and_zeros_are_not(token: str, inputs: dict[str, Any]) -> None:
    assert findings([resource(token, "one", inputs)]) == []


def test_what_is_made_up_of_another_resource_has_no_wrong_form() -> None:
    task = resource("aws:datasync/task:Task", "task", {"sourceLocationArn": "arn:aws:datasync:x:1:efs/files-1234567"})
    place = resource("aws:datasync/efsLocation:EfsLocation", "files", {}, "arn:aws:datasync:x:1:efs/files-1234567")
    assert [finding.path for finding in findings([task])] == ["sourceLocationArn"]
    assert findings([task, place]) == []


def test_what_a_resource_is_given_is_not_made_up_because_it_says_it_again() -> None:
    given = {"description": "not a role", "roleArn": "not a role", "region": "us-east-1"}
    echo = resource("aws:pipes/pipe:Pipe", "echo", given, "arn:aws:pipes:us-east-1:1:pipe/echo", **given)
    assert not {"not a role", "us-east-1"} & made_up.made_up_texts(Stack([echo], CONTEXT))
