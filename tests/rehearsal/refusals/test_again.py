"""What was once looked at and well is not looked at again where it is the same; where something changed it is told."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from pulumi_aws.s3 import BucketLifecycleConfiguration

from tests.rehearsal.refusals.builders import CONTEXT, findings, obj, resource
from trainyard.recorded.model import RecordedResource, Secret
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.engine.sdk_types import input_class
from trainyard.rehearsal.refusals import schema
from trainyard.rehearsal.refusals.aws import model_check
from trainyard.rehearsal.refusals.kubernetes import check as kubernetes
from trainyard.rehearsal.refusals.kubernetes import objects
from trainyard.rehearsal.refusals.kubernetes.index import Objects
from trainyard.rehearsal.refusals.schema import check_schema

CLUSTER = resource("aws:eks/cluster:Cluster", "cluster", {"name": "c", "version": "1.35"})
NAMESPACE = obj("v1", "Namespace", "again")
ACCOUNT = obj("v1", "ServiceAccount", "runner", "again")
BOUND = obj(
    "rbac.authorization.k8s.io/v1", "RoleBinding", "bound", "again",
    subjects=[{"kind": "ServiceAccount", "name": "runner", "namespace": "again"}],
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
)  # fmt: skip
RULE = {"id": "gone", "status": "Enabled", "expiration": {"days": 7}, "filter": {"prefix": "tmp/"}}
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"


def told(*resources: RecordedResource) -> set[tuple[str, str]]:
    return {(found.rule, found.name) for found in findings([CLUSTER, *resources]) if found.level == "error"}


def test_an_object_is_told_of_when_what_it_names_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(NAMESPACE, ACCOUNT, BOUND) == set()
    looked: list[str] = []
    check = objects.check
    monkeypatch.setattr(objects, "check", lambda view, known: looked.append(view.name) or check(view, known))
    assert told(NAMESPACE, ACCOUNT, BOUND, obj("v1", "ConfigMap", "other", "again")) == set()
    assert looked == ["configmap-other"], "the others are as they were, and so is what they ask for"
    assert told(NAMESPACE, obj("v1", "ServiceAccount", "another", "again"), BOUND) == {
        ("k8s-reference", "rolebinding-bound")
    }
    assert {("k8s-namespace", "serviceaccount-runner"), ("k8s-namespace", "rolebinding-bound")} <= told(ACCOUNT, BOUND)
    assert told(NAMESPACE, ACCOUNT, BOUND) == set()


def test_an_object_is_told_of_each_time_that_it_is_wrong() -> None:
    wrong = obj("v1", "ConfigMap", "Not_A_Name", "again")
    assert told(NAMESPACE, wrong) == told(NAMESPACE, wrong) == {("k8s-name", "configmap-Not_A_Name")}


def test_a_secret_is_no_part_of_what_is_remembered() -> None:
    hidden = obj("v1", "Secret", "hidden", "again", stringData={"password": Secret("hunter22-hunter22")})
    kept = kubernetes._AMONG_OTHERS._answers
    told(NAMESPACE)
    before = set(kept)
    assert told(NAMESPACE, hidden) == set()
    assert set(kept) == before


def _rules(status: str, days: Any = 7) -> RecordedResource:
    rule = {**copy.deepcopy(RULE), "status": status, "expiration": {"days": days}}
    return resource(LIFECYCLE, status, {"bucket": status, "rules": [rule]})


def test_a_block_that_a_model_takes_is_looked_at_once_and_another_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(_rules("Enabled")) == set()
    assert ("aws-model", "On") in told(_rules("On"))
    assert ("aws-model", "On") in told(_rules("On"))
    walked: list[str] = []
    walk = model_check._walk
    monkeypatch.setattr(model_check, "_walk", lambda *given: walked.append(next(iter(given[2]))) or walk(*given))
    told(_rules("Enabled"))
    assert "rules" not in walked
    told(_rules("Enabled", 8))
    assert "rules" in walked


def _by_schema(*resources: RecordedResource) -> Iterator[tuple[str, str]]:
    for found in check_schema(resources, {LIFECYCLE: BucketLifecycleConfiguration}):
        yield found.rule, found.path


def test_a_block_that_a_provider_takes_is_looked_at_once_and_another_anew() -> None:
    misspelt = resource(LIFECYCLE, "m", {"bucket": "b", "rules": [{**RULE, "statuss": "Enabled"}]})
    for _ in range(2):
        assert list(_by_schema(_rules("Enabled"))) == []
        assert list(_by_schema(misspelt)) == [("unknown-key", "rules[0].statuss")]
        assert list(_by_schema(_rules("Enabled", "soon"))) == [("wrong-type", "rules[0].expiration.days")]
        assert list(_by_schema(_rules("Enabled", Secret("soon")))) == [("wrong-type", "rules[0].expiration.days")]


def test_a_resource_that_a_provider_takes_is_looked_at_once_and_what_differs_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []
    value = schema._Check.value
    monkeypatch.setattr(
        schema._Check, "value", lambda self, path, *rest: looked.append(path) or value(self, path, *rest)
    )
    sound = {"bucket": "looked-at-once", "rules": [RULE]}
    for inputs in (sound, copy.deepcopy(sound)):
        assert not list(check_schema([resource(LIFECYCLE, "rules", inputs)], {LIFECYCLE: BucketLifecycleConfiguration}))
    assert looked.count("bucket") == 1, "a text is looked at as often as the whole resource is"
    for wrong in (
        {**sound, "bukcet": "b"},
        {**sound, "bucket": {"a": "b"}},
        {**sound, "rules": [{**RULE, "sttus": "x"}]},
    ):
        for _ in range(2):
            told_of = resource(LIFECYCLE, "rules", wrong)
            assert list(check_schema([told_of], {LIFECYCLE: BucketLifecycleConfiguration})), wrong


def test_a_program_s_own_class_is_looked_at_each_time() -> None:
    args = input_class(BucketLifecycleConfiguration)
    assert args is not None
    one = _rules("Enabled")
    assert schema._digest(one, args, "rules", [RULE]) is not None
    assert schema._digest(one, args, "rules", [RULE]) != schema._digest(one, args, "rule", [RULE])
    assert schema._digest(one, type("Args", (), {"__module__": "__main__"}), "rules", [RULE]) is None


def test_what_is_read_once_for_all_checks_is_one_thing() -> None:
    stack = Stack([CLUSTER, NAMESPACE], CONTEXT)
    known = stack.once(Objects.of)
    assert stack.once(Objects.of) is known
    assert not known.lacks("Namespace", "", "again")
