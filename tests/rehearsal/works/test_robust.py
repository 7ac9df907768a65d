"""Whatever kind of value a program gives: the rooms say what they can, and nothing breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.rehearsal.works import test_foreign_programs as foreign_programs
from tests.rehearsal.works.mistakes import context_of, edit, put
from tests.rehearsal.works.test_foreign_programs import foreign_program
from trainyard.policies.pack import POLICIES
from trainyard.recorded.kinds import without_wrong_kinds
from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret
from trainyard.recorded.read import UnreadableInput, follow, steps
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE, ROLE
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.refusals.schema import check_schema
from trainyard.rehearsal.works.check import check_works
from trainyard.rehearsal.works.rights.aws.recorded_policies import names_of
from trainyard.rehearsal.works.rights.kubernetes import keepers
from trainyard.review.policy_check.check import check_policies
from trainyard.review.works.topics import TOPICS, tables_of

KINDS: tuple[Any, ...] = (
    "text", "", "[", "http://[", "10.0.0.0/99", "10.0.0.1/32", "null", "{", "1e999", 7, -1, 0, 1.5, 10**400,
    float("nan"), True, None, UNKNOWN, [], ["a"], [None], [[]], [{}], [UNKNOWN], {}, {"a": 1}, {"": None},
    {"a": UNKNOWN},
)  # fmt: skip
STACKS = ("demo", "demo", "demo", "demo-gcp", "small-gcp", "small-aws", "pipeline", "on_google")
"""What is changed: examples, and programs of somebody else's."""
AT_ONCE = 7
"""Changes of one recording: each at a type of its own, so that all are seen."""

Path = tuple[Any, ...]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of everything in a value, in JSON texts too."""
    value = value.value if isinstance(value, Secret) else value
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value, path = json.loads(value), (*path, json)
        except ValueError:
            return
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(value: Any, path: Path, new: Any) -> Any:
    """A value with another at a path."""
    if isinstance(value, Secret):
        return Secret(changed(value.value, path, new))
    if not path:
        return new
    if path[0] is json:
        return json.dumps(changed(json.loads(value), path[1:], new), default=str)
    if isinstance(value, Mapping):
        return {**value, path[0]: changed(value[path[0]], path[1:], new)}
    return [*value[: path[0]], changed(value[path[0]], path[1:], new), *value[path[0] + 1 :]]


def of(rehearsed: Any, stack: str) -> Any:
    """The rehearsal of an example, or of a program of somebody else's."""
    return foreign_program(stack) if stack in foreign_programs.STACKS else rehearsed(stack)


def judged(resources: list[RecordedResource], rehearsal: Any) -> None:
    """Everything that a rehearsal and a review ask of a recording."""
    context = context_of(rehearsal) if rehearsal.plan else foreign_programs.CONTEXT
    schema = list(check_schema(resources, rehearsal.known.classes))
    found = check_values(without_wrong_kinds(resources, schema), context)
    readable = without_wrong_kinds(resources, [*schema, *found])
    check_works(readable, context)
    for topic in TOPICS:
        with suppress(UnreadableInput):  # which whoever asks is told
            tables_of(topic, Resources(readable))


@pytest.mark.parametrize(("group", "stack"), list(enumerate(STACKS)))
def test_no_kind_of_value_breaks_a_room(rehearsed, group, stack):
    rng, rehearsal = Random(f"robust {group}"), of(rehearsed, stack)
    resources = list(rehearsal.known.resources)
    of_type: dict[str, list[int]] = {}
    for index, resource in enumerate(resources):
        if resource.custom and resource.inputs:
            of_type.setdefault(resource.type, []).append(index)
    told = []
    for type_ in rng.sample(sorted(of_type), AT_ONCE):
        index = rng.choice(of_type[type_])
        path, new = rng.choice(list(places(dict(resources[index].inputs)))), rng.choice(KINDS)
        inputs = changed(dict(resources[index].inputs), path, new)
        resources[index] = replace(resources[index], inputs=inputs)
        told.append((type_, path, str(new)[:20]))
    try:
        judged(resources, rehearsal)
    except Exception as error:
        raise AssertionError(f"{told}: {error!r}") from error


BROKEN = "://["
"""The rest of a URL of which a bracket is not closed."""


@pytest.mark.parametrize("new", [BROKEN, "", -1, [{}]], ids=repr)
@pytest.mark.parametrize("stack", ["demo", "small-gcp", "on_google"])
def test_no_address_breaks_a_room(rehearsed, stack, new):
    """All that are given at once, and by halves: what finds the first of them bad may not look at the next."""
    rehearsal = of(rehearsed, stack)
    for half in (slice(None), slice(0, None, 2), slice(1, None, 2)):
        resources = list(rehearsal.known.resources)
        resources[half] = [replace(each, inputs=bad_addresses(each.inputs, new)) for each in resources[half]]
        judged(resources, rehearsal)


def bad_addresses(value: Any, new: Any) -> Any:
    """A value with another for every URL, ARN and range of addresses in it, those in JSON texts too."""
    if isinstance(value, Secret):
        return Secret(bad_addresses(value.value, new))
    if isinstance(value, Mapping):
        return {key: bad_addresses(item, new) for key, item in value.items()}
    if isinstance(value, list):
        return [bad_addresses(item, new) for item in value]
    if not isinstance(value, str):
        return value
    if value[:1] in ("{", "["):
        with suppress(ValueError):
            return json.dumps(bad_addresses(json.loads(value), new))
    if new == BROKEN:  # whichever scheme a room asks for
        return re.sub(r"://\S*", new, value)
    return new if re.search(r"^\w+://|^[\d.]+/\d+$|^arn:", value) else value


VPC, CLUSTER, TEMPLATE = "aws:ec2/vpc:Vpc", "aws:eks/cluster:Cluster", "aws:ec2/launchTemplate:LaunchTemplate"
QUOTA = "kubernetes:core/v1:ResourceQuota"
QUEUE, FLAVOR = (f"kubernetes:kueue.x-k8s.io/v1beta2:{kind}" for kind in ("ClusterQueue", "ResourceFlavor"))


@pytest.mark.parametrize(
    ("type_", "path", "value"),
    [
        (VPC, "cidrBlock", "10.0.0.1/32"),
        (VPC, "cidrBlock", True),
        (CLUSTER, "kubernetesNetworkConfig.serviceIpv4Cidr", "10.0.0.1/32"),
        (CLUSTER, "name", ["a", "list"]),
        (TEMPLATE, "networkInterfaces[0].networkCardIndex", float("nan")),
        (QUOTA, "spec.scopeSelector.matchExpressions[0].scopeName", ["PriorityClass"]),
        (QUOTA, "spec.hard.pods", 10**400),
        (QUEUE, "spec.cohortName", {"a": 1}),
        (FLAVOR, "spec.nodeLabels", {"ml.platform/pool": {"a": "list"}}),
        (HELM_RELEASE, "values.alertmanager.config.receivers[0].name", {}),
        (HELM_RELEASE, "values.alertmanager.config.receivers", 1),
    ],
)  # fmt: skip
def test_what_broke_one_once(rehearsed, type_, path, value):
    rehearsal = rehearsed("demo")
    named = (found for found in rehearsal.known.resources if found.type == type_)
    first = next(found for found in named if follow(found.inputs, *steps(path)[:-1]) is not None)
    judged(edit(type_, first.name, put(path, value))(rehearsal.known.resources), rehearsal)


@pytest.mark.parametrize("name", [["a"], {"a": 1}, None, UNKNOWN], ids=repr)
def test_what_is_no_name_is_none_of_its_names(name):
    role = RecordedResource("urn:nodes", ROLE, "nodes", "", "", True, "", {"name": name}, id="nodes-1")
    assert names_of(role) == {"nodes-1"}


@pytest.mark.parametrize(
    "configuration",
    [
        {"flavors": [{"a": 1}]}, {"flavors": 1}, {"teams": []}, {"teams": {"a": {}}}, {"teams": {"a": {"queues": 1}}},
        {"queues": [1]}, {"namespaces": [None]},
    ],
    ids=repr,
)  # fmt: skip
def test_no_configuration_breaks_a_keeper(configuration):
    for kind in keepers._ASK:
        container = {"command": ["python", "-m", f"keepers.{kind}"], "args": [json.dumps(configuration)]}
        assert all(isinstance(part, str) for one in keepers.asked(container) for part in one)


def test_no_policy_breaks(rehearsed):
    """Of free inputs; what the types of a program refuse never reaches a policy."""
    rng, rehearsal = Random("policies"), rehearsed("demo")
    resources = list(rehearsal.known.resources)
    free = [
        index for index, found in enumerate(resources) if found.custom and any(map(_is_json, found.inputs.values()))
    ]
    for index in rng.sample(free, AT_ONCE):
        inputs = dict(resources[index].inputs)
        path = rng.choice([found for found in places(inputs) if json in found])
        new = rng.choice([kind for kind in KINDS if kind is not UNKNOWN])
        resources[index] = replace(resources[index], inputs=changed(inputs, path, new))
    report = check_policies("demo", resources, resources, rehearsal.settings)
    assert report.policies == len(POLICIES)


def _is_json(value: Any) -> bool:
    value = value.value if isinstance(value, Secret) else value
    return isinstance(value, str) and value[:1] in ("{", "[")
