"""The SDK's functions that a run replaces: the same recording with and without them, and all of them put back."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import random
import re
import types
from contextlib import nullcontext
from typing import Any

import pulumi
import pytest
from pulumi.runtime import resource_cycle_breaker as cycles
from pulumi.runtime import rpc

from tests.rehearsal.conftest import GOOD, Run
from trainyard.recorded.model import RecordedResource, Secret
from trainyard.rehearsal.engine import light_outputs, light_registration, light_sdk, recorder
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.rehearse import Rehearsal, rehearse

WIDE = """
ANY = "10.0.0.0/8"


class Room(pulumi.ComponentResource):
    def __init__(self, name, opts):
        super().__init__("mini:index:Room", name, {"size": 3, "tags": ["a", None]}, opts)
        self.role = iam.Role(
            f"{name}-role",
            assume_role_policy=pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": []}),
            tags={"room": name, "none": None, "provider": aws.urn},
            opts=pulumi.ResourceOptions(parent=self, aliases=[pulumi.Alias(name=f"old-{name}")]),
        )
        self.group = ec2.SecurityGroup(
            f"{name}-group",
            description=pulumi.Output.format("for {0} at {1}", self.role.name, self.role.arn),
            ingress=[{"protocol": "tcp", "from_port": 1, "to_port": 2, "cidr_blocks": [pulumi.Output.from_input(ANY)]}],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"role": self.role.arn, "ids": [self.group.id, {"deep": (self.role.id,)}]})


on_room = pulumi.ResourceOptions(providers=[aws], aliases=[pulumi.Alias(name="older")])
first = Room("first", on_room)
of_type = pulumi.Alias(type_="mini:index:Hall")
later = pulumi.ResourceOptions(providers=[aws], aliases=[of_type], depends_on=pulumi.Output.from_input([first]))
second = Room("second", later)
bucket = s3.Bucket(
    "data",
    tags={"secret": pulumi.Output.secret("hidden-for-good"), "both": pulumi.Output.concat(first.group.id, "/", "x")},
    opts=pulumi.ResourceOptions(provider=aws, depends_on=[first, second.role, second.role]),
)
s3.BucketVersioning(
    "versions", bucket=bucket.id, versioning_configuration=s3.BucketVersioningVersioningConfigurationArgs(
        status=bucket.region.apply(lambda region: "Enabled" if region else "Suspended")
    ), opts=on_aws,
)
kubernetes.core.v1.ConfigMap(
    "map",
    metadata={"labels": {"a": "b"}},
    data={"empty": "", "id": bucket.id, "nested": pulumi.Output.all(a=bucket.arn, b=[1, 2.5, True]).apply(str)},
    opts=pulumi.ResourceOptions(
        provider=kubernetes.Provider("cluster", kubeconfig=bucket.arn.apply(lambda arn: arn))
    ),
)


async def later(value):
    return value


class Odd(pulumi.ComponentResource):
    def __init__(self):
        values = {
            "asset": pulumi.StringAsset("text"),
            "later": later({"deep": [bucket.arn, 7]}),
            "pair": (1, "two", 2.5),
            "large": 2**60,
            "secrets": [{"token": pulumi.Output.secret("hidden"), "none": None}],
            "when": pulumi.Output.all(bucket.id, [bucket.arn]).apply(lambda found: {"id": found[0], "made": 3}),
            "text": "grüße",
            "rooms": [first, {"deep": bucket}],
            "group": pulumi.Output.from_input(first.group),
        }
        super().__init__("mini:index:Odd", "odd", {**values, "found": None}, pulumi.ResourceOptions(providers=[aws]))
        self.register_outputs({"found": self.asset})


Odd()
statements = [{"Effect": "Allow", "Action": "s3:GetObject"}]
policy = pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": statements})
iam.Policy("added-to", policy=policy, opts=on_aws)
statements.append({"Effect": "Allow", "Action": "s3:*"})
s3.BucketObjectv2(
    "object",
    bucket=bucket.id,
    source=pulumi.StringAsset("content"),
    tags=pulumi.Output.all(bucket.id, bucket.tags).apply(lambda found: {"a": found[0], "b": found[1]["both"]}),
    opts=on_aws,
)
iam.RolePolicyAttachment("as-it-is", role=first.role, policy_arn="arn:aws:iam::aws:policy/ReadOnlyAccess", opts=on_aws)
s3.BucketObjectv2("mixed", bucket=bucket, source=pulumi.StringAsset("x"), tags={"of": bucket, "grün": "x"}, opts=on_aws)
iam.Role.get("there", "role-id", opts=on_aws)
pulumi.export("all", {"bucket": bucket.arn, "tags": bucket.tags, "rooms": [first.role.name, second.group.id]})
pulumi.export("none", bucket.bucket_prefix)
"""

WAITING = """
import pulumi_aws


class Room(pulumi.ComponentResource):
    def __init__(self, name, opts):
        super().__init__("mini:index:Room", name, None, opts)
        own = pulumi.ResourceOptions(parent=self)
        door = iam.Role(f"{name}-door", assume_role_policy="{}", opts=own)
        self.parts = [
            iam.Role(f"{name}-{number}", assume_role_policy="{}", description=door.arn, opts=own) for number in range(6)
        ]
        self.register_outputs({})


rooms = [Room(name, pulumi.ResourceOptions(providers=[aws])) for name in ("first", "second")]
s3.Bucket("after-rooms", opts=pulumi.ResourceOptions(provider=aws, depends_on=rooms))
s3.Bucket("after-found", opts=pulumi.ResourceOptions(provider=aws, depends_on=pulumi.Output.from_input(rooms)))
caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws, depends_on=rooms))
s3.Bucket("of-caller", tags={"by": caller.account_id}, opts=on_aws)
for part in [*rooms[0].parts, *rooms[1].parts]:
    beside = s3.Bucket(f"beside-{part._name}", tags={"after": part.arn}, opts=on_aws)
    for number in range(6):
        beside = s3.Bucket(f"{part._name}-later-{number}", tags={"after": beside.arn}, opts=on_aws)
"""
"""Components that others wait for, while others yet are registered turn by turn."""

WRONG = {
    "circular dependency": """
        class Knot(pulumi.ComponentResource):
            def __init__(self):
                super().__init__("mini:index:Knot", "knot", None, pulumi.ResourceOptions(providers=[aws]))
                inside = pulumi.ResourceOptions(parent=self, depends_on=[self])
                iam.Role("tied", assume_role_policy="{}", opts=inside)
                self.register_outputs({})
        Knot()
    """,
    "unexpected input of type set": """
        bad = s3.Bucket("bad", tags={"set": {1, 2}}, opts=on_aws)
        s3.BucketVersioning("versions", bucket=bad.id, versioning_configuration={"status": "Enabled"}, opts=on_aws)
        pulumi.export("arn", bad.arn)
    """,
    "string indices": """
        bucket = s3.Bucket("bucket", opts=on_aws)
        pulumi.export("wrong", bucket.bucket.apply(lambda name: name["x"]))
    """,
    "While processing input: 'tags'": """
        def refuse(name):
            raise ValueError("not this one")
        bucket = s3.Bucket("bucket", opts=on_aws)
        s3.Bucket("bad", tags=bucket.bucket.apply(refuse), opts=on_aws)
    """,
    "no more": """
        s3.Bucket("bucket", opts=on_aws)
        raise ValueError("no more")
    """,
}


def of(rehearsal: Rehearsal) -> dict[str, Any]:
    found = rehearsal.as_json()
    del found["seconds"]
    return {**found, "preview": told(rehearsal.preview), "known": told(rehearsal.known)}


def told(run: Recording) -> dict[str, Any]:
    return {
        "resources": sorted(repr(in_order(asdict(found))) for found in run.resources),
        "outputs": run.stack_outputs,
        "component_outputs": run.component_outputs,
        "constructed": run.constructed,
        "messages": run.messages,
        "error": re.sub(r"0x[0-9a-f]+", "0x", repr(run.error)),
        "hang": run.hang,
    }


def in_order(value: Any) -> Any:
    """With keys in the order of the alphabet, in which the wire does not send them, and secrets to be seen."""
    if isinstance(value, Secret):
        return ("secret", in_order(value.value))
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, (list, tuple)) else value


def asdict(resource: RecordedResource) -> dict[str, Any]:
    return {field.name: getattr(resource, field.name) for field in dataclasses.fields(resource) if field.compare}


def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainyard.rehearsal.engine.recorder.light_sdk", nullcontext)


def test_the_good_project_is_recorded_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    light = of(rehearse(GOOD, "demo"))
    heavy(monkeypatch)
    assert of(rehearse(GOOD, "demo")) == light
    assert len(light["resources"]) > 20


def test_every_kind_of_input_is_recorded_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(WIDE)
    light = of(found)
    assert found.preview.error is None and found.known.error is None, found.findings
    assert len(light["resources"]) == 17
    heavy(monkeypatch)
    assert of(run(WIDE)) == light


def test_a_resource_as_an_input_is_its_id(run: Run) -> None:
    """As the engine tells providers that take no references, which are the bridge's and that of Kubernetes."""
    found = run(
        """
        role = iam.Role("role", assume_role_policy="{}", opts=on_aws)
        made = iam.RolePolicy("policy", role=role, policy="{}", opts=on_aws)
        pulumi.export("role", made.role)
        """
    )
    assert found.findings == ()
    for run_ in (found.preview, found.known):
        assert run_ is not None
        role, policy = run_.resources[-2:]
        assert policy.inputs["role"] == role.id
        assert policy.property_dependencies["role"] == (role.urn,)
    assert found.outputs["role"] == found.known.resources[-2].id


def test_a_resource_where_a_number_is_due_is_told(run: Run) -> None:
    found = run(
        """
        role = iam.Role("role", assume_role_policy="{}", opts=on_aws)
        iam.Role("other", assume_role_policy="{}", max_session_duration=role, opts=on_aws)
        """
    )
    assert [(finding.rule, finding.path) for finding in found.errors] == [("wrong-type", "maxSessionDuration")]


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_program_fails_the_same(run: Run, monkeypatch: pytest.MonkeyPatch, mistake: str) -> None:
    light = of(run(WRONG[mistake]))
    assert mistake in light["preview"]["error"] and mistake in light["known"]["error"]
    heavy(monkeypatch)
    assert of(run(WRONG[mistake])) == light


def test_no_resource_of_a_stack_goes_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own registration takes twice as long; only what is unusual is left to it."""
    sent: list[str] = []
    over_the_wire = recorder._Monitor.RegisterResource

    def register(monitor: Any, request: Any) -> Any:
        sent.append(request.name)
        return over_the_wire(monitor, request)

    monkeypatch.setattr(recorder._Monitor, "RegisterResource", register)
    count = len(rehearse(GOOD, "demo").resources)
    assert not [name for name in sent if name != "mini-demo"]
    heavy(monkeypatch)
    rehearse(GOOD, "demo")
    assert len(sent) > count


def test_the_order_is_the_same_each_time(run: Run) -> None:
    runs = [run(WIDE) for _ in range(2)]
    orders = [[resource.urn for resource in found.known.resources] for found in runs]
    assert orders[0] == orders[1]


@pytest.mark.parametrize("runs", [1, 2])
def test_the_order_is_the_same_wherever_resources_lie_in_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch, runs: int
) -> None:
    """Sets give resources in the order of their addresses, which are others in each process."""
    if runs == 2:
        monkeypatch.setattr("trainyard.rehearsal.rehearse.run_program_once", lambda *_, **__: (None, None))
    orders = set()
    for seed in range(6):
        chance = random.Random(seed)
        monkeypatch.setattr(
            pulumi.Resource,
            "__hash__",
            lambda self, chance=chance: self.__dict__.setdefault("_hash", chance.getrandbits(40)),
        )
        found = run(WAITING)
        assert not found.errors
        orders.add(tuple(tuple(each.name for each in view.resources) for view in (found.known, found.preview)))
    assert len(orders) == 1


def test_a_registration_in_another_way_is_the_one_that_replace_makes() -> None:
    asked = light_registration.Registration("a:b:C", "one", "urn", True, {"key": 1}, dependencies={"urn:of:another"})
    others: dict[str, Any] = {"inputs": {"key": 2}, "provider": "urn::id"}
    assert asked.but(others) == dataclasses.replace(asked, **others)
    assert asked.but({}) == asked


def test_whoever_waits_for_several_goes_on_when_the_last_is_there_whatever_comes_of_it() -> None:
    async def waits() -> list[str]:
        made: list[Any] = [types.SimpleNamespace(urn=types.SimpleNamespace(_data=asyncio.Future())) for _ in range(3)]
        for place, each in enumerate(made):
            vars(each)[light_registration.PLACE] = place
        waiting = asyncio.ensure_future(light_registration.all_there(made))
        said = []
        for place in (2, 0, 1):
            await asyncio.sleep(0.01)
            said.append(f"{place} {waiting.done()}")
            if place:
                made[place].urn._data.set_exception(ValueError("it failed"))
            else:
                made[place].urn._data.set_result("a")
        await waiting
        return [*said, *(str(each.urn._data.exception()) for each in made)]

    # `asyncio.run` would leave the thread without a loop, and the SDK asks for one in other tests.
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        said = loop.run_until_complete(waits())
    assert said == ["2 False", "0 False", "1 False", "None", "it failed", "it failed"]


def test_the_sdk_is_put_back_when_the_last_block_ends() -> None:
    before = [vars(owner)[name] for owner, name, _ in light_sdk._LIGHTER]
    with light_sdk.light_sdk():
        with light_sdk.light_sdk():
            pass
        assert [vars(owner)[name] for owner, name, _ in light_sdk._LIGHTER] == [new for _, _, new in light_sdk._LIGHTER]
    after = [vars(owner)[name] for owner, name, _ in light_sdk._LIGHTER]
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert not any(one is new for one, (_, _, new) in zip(after, light_sdk._LIGHTER, strict=True))


def test_unknowns_are_found_at_any_depth() -> None:
    unknown = pulumi.output.UNKNOWN
    loop: list[Any] = [1]
    loop.append(loop)
    values: list[Any] = ["text", None, 1, unknown, {}, [], {"a": [{"b": unknown}]}, {"a": [{"b": 1}]}, loop, (unknown,)]
    values.append([*loop, unknown])
    for value in values:
        assert light_outputs.has_unknowns(value) == rpc.contains_unknowns(value), repr(value)


def test_circles_are_refused_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Node:
        pass

    edges = [(0, 1), (1, 2), (0, 1), (2, 0), (3, 0), (2, 3), (4, 4), (2, 5), (5, 6), (6, 1), (6, 4), (4, 0), (5, 2)]
    slow, fast = [Node() for _ in range(7)], [Node() for _ in range(7)]
    expected = [cycles.declare_dependency(slow[one], slow[other]) for one, other in edges]  # type: ignore[arg-type]
    with light_sdk.light_sdk():
        found = [rpc.declare_dependency(fast[one], fast[other]) for one, other in edges]  # type: ignore[arg-type, attr-defined]
    assert found == expected
    assert expected.count(False) == 6


def test_what_a_resource_waits_for_is_remembered_in_one_set() -> None:
    """A copy of the set for every entry made a stack of 200 teams take minutes."""

    class Resource:
        pass

    one, others = Resource(), [Resource() for _ in range(3)]
    with light_sdk.light_sdk():
        for other in others:
            assert cycles.declare_dependency(one, other)  # type: ignore[arg-type]
        before = cycles._deps(one)  # type: ignore[arg-type]
        assert cycles.declare_dependency(one, Resource())  # type: ignore[arg-type]
        assert cycles._deps(one) is before  # type: ignore[arg-type]
    assert before > set(others)
    assert not cycles._deps(others[0])  # type: ignore[arg-type]


def test_an_output_that_nobody_reads_has_no_future(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine in ten are never read."""
    asked: list[str] = []
    future = light_outputs.Answers.future

    def counted(answers: light_outputs.Answers, name: str) -> Any:
        asked.append(name)
        return future(answers, name)

    monkeypatch.setattr(light_outputs.Answers, "future", counted)
    found = run('pulumi.export("arn", s3.Bucket("bucket", opts=on_aws).arn)')
    assert not found.errors
    assert asked == ["arn"]


def test_an_output_of_a_resource_that_fails_fails_whenever_it_is_read(run: Run) -> None:
    found = run(
        """
        bad = s3.Bucket("bad", tags={"set": {1, 2}}, opts=on_aws)
        good = s3.Bucket("good", opts=on_aws)
        pulumi.export("late", good.id.apply(lambda _: bad.arn))
        """
    )
    assert "unexpected input of type set" in repr(found.known.error)
    assert "late" not in found.known.stack_outputs
