"""One run for both recordings: what it tells of a first preview is what a preview run of its own records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import EXAMPLES
from tests.rehearsal.conftest import Run
from tests.rehearsal.engine.test_light_sdk import of, told
from tests.shared import ROOT
from trainyard.capture import rehearsing
from trainyard.rehearsal.engine import two_views
from trainyard.rehearsal.engine.program import run_program, run_program_once
from trainyard.rehearsal.engine.project import read_stack
from trainyard.rehearsal.engine.recorder import Deployment, Recording
from trainyard.rehearsal.rehearse import Rehearsal

ONCE = {
    "all with one unknown": """
        bucket = s3.Bucket("data", opts=on_aws)
        both = pulumi.Output.all(bucket.id, bucket.bucket, "text", [1, {"a": bucket.arn}])
        iam.Role("role", assume_role_policy=pulumi.Output.json_dumps({"a": both}), opts=on_aws)
        named = pulumi.Output.all(known=bucket.bucket, also="x")
        iam.Role("named", assume_role_policy=pulumi.Output.json_dumps(named, sort_keys=True), opts=on_aws)
        pulumi.export("parts", [both[1], both[3][1]["a"], named["known"]])
    """,
    "secrets": """
        hidden = pulumi.Output.secret("hidden-for-good")
        bucket = s3.Bucket("data", tags={"secret": hidden, "plain": "x"}, opts=on_aws)
        tags = {
            "both": pulumi.Output.concat(bucket.id, "/", hidden),
            "known": pulumi.Output.concat(bucket.bucket, hidden),
            "deep": pulumi.Output.secret({"id": bucket.id})["id"],
            "open": pulumi.Output.unsecret(pulumi.Output.all(hidden, bucket.arn))[0],
        }
        s3.Bucket("other", tags=tags, opts=on_aws)
        pulumi.export("tags", bucket.tags)
        pulumi.export("all", bucket.tags_all)
    """,
    "nested dicts and lists": """
        role = iam.Role("role", assume_role_policy="{}", opts=on_aws)
        place = {"subnet_ids": ["subnet-0123456789abcdef0", role.unique_id], "security_group_ids": []}
        cluster = eks.Cluster("cluster", role_arn=role.arn, vpc_config=place, opts=on_aws)
        pulumi.export("place", cluster.vpc_config)
        pulumi.export("subnets", cluster.vpc_config.subnet_ids)
        pulumi.export("group", cluster.vpc_config["cluster_security_group_id"])
        pulumi.export("name", {"deep": [{"name": cluster.name, "version": cluster.version}, (role.name, None)]})
        made = s3.BucketVersioning(
            "versions", bucket=s3.Bucket("data", opts=on_aws).id, opts=on_aws,
            versioning_configuration=s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
        )
        pulumi.export("status", made.versioning_configuration.status)
    """,
    "objects of a cluster to be made": """
        role = iam.Role("role", assume_role_policy="{}", opts=on_aws)
        place = eks.ClusterVpcConfigArgs(subnet_ids=["subnet-0123456789abcdef0"])
        cluster = eks.Cluster("cluster", role_arn=role.arn, vpc_config=place, opts=on_aws)
        config = pulumi.Output.format("{0} {1}", cluster.name, cluster.endpoint)
        named = pulumi.Output.format("{a}/{b}", a=cluster.name, b="c")
        to_come = pulumi.ResourceOptions(provider=kubernetes.Provider("cluster", kubeconfig=config))
        there = pulumi.ResourceOptions(provider=kubernetes.Provider("there", kubeconfig=cluster.name))
        for where, opts in (("to-come", to_come), ("there", there)):
            room = core.Namespace(f"{where}-room", metadata={"labels": {"a": "b"}}, opts=opts)
            core.ConfigMap(
                f"{where}-map",
                metadata={"namespace": room.metadata.name, "name": named},
                data={"arn": cluster.arn, "room": room.metadata["name"], "role": role.name, "uid": room.metadata.uid},
                opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[role, room])),
            )
            pulumi.export(where, room.metadata)
    """,
    "a function of the program's own over what both know": """
        bucket = s3.Bucket("data", tags={"a": "b"}, opts=on_aws)
        s3.Bucket("other", tags={"of": bucket.bucket.apply(lambda name: f"{name}-too")}, opts=on_aws)
        bucket.bucket.apply(lambda name: s3.Bucket("third", bucket=name + "-third", opts=on_aws))
        pulumi.export("both", bucket.bucket.apply(lambda name: pulumi.Output.concat(name, bucket.id)))
    """,
    "components and their parts": """
        class Room(pulumi.ComponentResource):
            def __init__(self, name, opts):
                super().__init__("mini:index:Room", name, {"of": on_aws.provider.urn, "none": None}, opts)
                self.role = iam.Role(f"{name}-role", assume_role_policy="{}", opts=pulumi.ResourceOptions(parent=self))
                self.register_outputs({"arn": self.role.arn, "name": self.role.name, "none": None})

        first = Room("first", pulumi.ResourceOptions(providers=[aws], aliases=[pulumi.Alias(name="older")]))
        second = Room("second", pulumi.ResourceOptions(providers=[aws], depends_on=[first]))
        waits = pulumi.ResourceOptions(provider=aws, depends_on=[first, second], protect=True)
        s3.Bucket("data", tags={"of": second.role.arn}, opts=waits)
    """,
    "data sources": """
        import pulumi_aws
        caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
        bucket = s3.Bucket("data", tags={"by": caller.account_id}, opts=on_aws)
        after = pulumi_aws.get_caller_identity_output(
            opts=pulumi.InvokeOutputOptions(provider=aws, depends_on=[bucket])
        )
        context = iam.get_session_context_output(
            arn=bucket.arn, opts=pulumi.InvokeOutputOptions(provider=aws)
        )
        at_once = pulumi_aws.get_region(opts=pulumi.InvokeOptions(provider=aws))
        tags = {"after": after.account_id, "issuer": context.issuer_arn, "at-once": at_once.region}
        s3.Bucket("other", tags=tags, opts=on_aws)
    """,
    "a warning of the program": """
        pulumi.log.warn("mind the gap")
        s3.Bucket("data", opts=on_aws)
    """,
    "outputs registered twice": """
        nodes = Nodes("gpu", group, pulumi.ResourceOptions(providers=[aws]))
        nodes.register_outputs({"again": nodes.made.arn})
    """,
    "resources as values": """
        bucket = s3.Bucket("data", opts=on_aws)
        kept = pulumi.Output.all(bucket.bucket, {"a": ["b", ("c",)]}).apply(lambda found: found[1])
        tags = {"kept": kept["a"][0]}
        text = pulumi.StringAsset("content")
        s3.BucketObjectv2("object", bucket=bucket.bucket, source=text, tags=tags, opts=on_aws)
    """,
}
"""Programs that one run tells both of."""

TWICE = {
    "asks whether this is a preview": """
        if not pulumi.runtime.is_dry_run():
            s3.Bucket("only-made", opts=on_aws)
    """,
    "asks whether this is a preview, too": """
        from pulumi.runtime.settings import SETTINGS
        s3.Bucket("preview" if SETTINGS.dry_run == True else "made", opts=on_aws)
    """,
    "writes down whether this is a preview": """
        from pulumi.runtime.settings import SETTINGS
        s3.Bucket("data", tags={"preview": str(bool(SETTINGS.dry_run))}, opts=on_aws)
    """,
    "makes a resource of an unknown": """
        bucket = s3.Bucket("data", opts=on_aws)
        bucket.id.apply(lambda name: s3.Bucket("inside", bucket=name + "-inside", opts=on_aws))
    """,
    "hands a function of its own to a trusted one": """
        import functools
        seen = []
        bucket = s3.Bucket("data", opts=on_aws)
        bucket.id.apply(functools.partial(sorted, key=lambda letter: seen.append(letter) or letter))
        bucket.bucket.apply(lambda _: s3.Bucket("other", tags={"seen": str(len(seen))}, opts=on_aws))
    """,
    "exports what only one view knows": """
        import functools
        bucket = s3.Bucket("data", opts=on_aws)
        bucket.id.apply(functools.partial(pulumi.export, "late"))
    """,
    "counts what is called": """
        seen = []
        bucket = s3.Bucket("data", opts=on_aws)
        bucket.id.apply(seen.append)
        bucket.bucket.apply(lambda _: s3.Bucket("other", tags={"seen": str(len(seen))}, opts=on_aws))
    """,
    "fails on an unknown": """
        def refuse(name):
            raise ValueError("not this one")
        bucket = s3.Bucket("data", opts=on_aws)
        pulumi.export("refused", bucket.id.apply(refuse))
    """,
    "recovers from a failure on an unknown": """
        bucket = s3.Bucket("data", opts=on_aws)
        wrong = bucket.arn.apply(lambda arn: arn["x"])
        s3.Bucket("other", tags={"of": wrong.recover(lambda error: "recovered")}, opts=on_aws)
    """,
    "warns of an unknown": """
        bucket = s3.Bucket("data", opts=on_aws)
        pulumi.export("told", bucket.id.apply(lambda id: pulumi.log.warn("it is " + id)))
    """,
    "runs with the id of a provider": """
        on_aws.provider.id.apply(lambda id: s3.Bucket("data", tags={"id": id}, opts=on_aws))
        s3.Bucket("other", tags={"of": on_aws.provider.id}, opts=on_aws)
    """,
    "waits for an output itself": """
        bucket = s3.Bucket("data", opts=on_aws)

        async def tags():
            return {"known": str(await bucket.id.is_known()), "value": str(await bucket.arn.future())}

        s3.Bucket("other", tags=tags(), opts=on_aws)
    """,
    "makes an output by hand": """
        import asyncio
        bucket = s3.Bucket("data", opts=on_aws)
        by_hand = pulumi.Output({bucket}, bucket.id.future(), bucket.id.is_known())
        s3.Bucket("other", tags={"of": by_hand}, opts=on_aws)
    """,
    "runs with unknowns": """
        bucket = s3.Bucket("data", opts=on_aws)
        kind = bucket.id.apply(lambda value: type(value).__name__, True)
        s3.Bucket("other", tags={"kind": kind}, opts=on_aws)
    """,
    "waits in a function": """
        bucket = s3.Bucket("data", opts=on_aws)

        async def later(name):
            return name + "-later"

        s3.Bucket("other", tags={"of": bucket.id.apply(later), "name": bucket.bucket.apply(later)}, opts=on_aws)
    """,
    "looks up a resource": """
        role = iam.Role.get("there", "role-id", opts=on_aws)
        s3.Bucket("data", tags={"of": role.arn}, opts=on_aws)
    """,
    "exports a resource": """
        pulumi.export("bucket", s3.Bucket("data", opts=on_aws))
    """,
    "an output that holds outputs": """
        bucket = s3.Bucket("data", opts=on_aws)
        holds = bucket.bucket.apply(lambda name: {"id": bucket.id})
        s3.Bucket("other", tags=holds, opts=on_aws)
    """,
    "a data source of an object to come": """
        provider = kubernetes.Provider("cluster", kubeconfig=s3.Bucket("data", opts=on_aws).arn)
        config = core.ConfigMap.get("there", "kube-system/there", opts=pulumi.ResourceOptions(provider=provider))
        pulumi.export("data", config.data)
    """,
    "a wrong program": """
        s3.Bucket("data", tags={"set": {1, 2}}, opts=on_aws)
    """,
    "ends in an error": """
        s3.Bucket("data", opts=on_aws)
        raise ValueError("no more")
    """,
}
"""Programs whose preview has to run for itself."""

TRUSTED = {
    "makes a resource of an unknown": TWICE["makes a resource of an unknown"],
    "runs with the id of a provider": TWICE["runs with the id of a provider"],
    "warns of an unknown": TWICE["warns of an unknown"],
    "fails on an unknown": TWICE["fails on an unknown"],
    "recovers from a failure on an unknown": TWICE["recovers from a failure on an unknown"],
    "waits in a function": TWICE["waits in a function"],
    "makes a resource in a function that an unknown leads to": """
        bucket = s3.Bucket("data", opts=on_aws)
        inner = lambda name: s3.Bucket("inside", bucket=name + "-inside", opts=on_aws).id
        pulumi.export("inside", bucket.id.apply(lambda _: bucket.bucket.apply(inner)))
    """,
    "makes a resource of an unknown, later": """
        bucket = s3.Bucket("data", opts=on_aws)

        async def later(name):
            s3.Bucket("inside", bucket=name + "-inside", opts=on_aws)

        bucket.id.apply(later)
    """,
    "makes a resource of what only a preview lets by": """
        bucket = s3.Bucket("data", opts=on_aws)

        def make(value):
            if isinstance(value, str):
                return "known"
            s3.Bucket("only-previewed", opts=on_aws)
            return "unknown"

        s3.Bucket("other", tags={"is": bucket.id.apply(make, True)}, opts=on_aws)
    """,
}
"""Programs whose preview has to run for itself even if their functions were known to do nothing but to return."""


def both_ways(run: Run, monkeypatch: pytest.MonkeyPatch, program: str) -> tuple[bool, Rehearsal]:
    """Whether one run told both, and the rehearsal, which is the same as of two runs."""
    alone: list[bool] = []

    def one_run(*arguments: Any, **options: Any) -> tuple[Recording | None, Recording | None]:
        found = run_program_once(*arguments, **options)
        alone.append(None not in found)
        return found

    monkeypatch.setattr("trainyard.rehearsal.rehearse.run_program_once", one_run)
    once = run(program)
    monkeypatch.setattr("trainyard.rehearsal.rehearse.run_program_once", lambda *_, **__: (None, None))
    twice = run(program)
    assert "preview" in twice.seconds and ("preview" in once.seconds) is not alone[0]
    assert of(once) == of(twice)
    return alone[0], once


@pytest.mark.parametrize("program", ONCE)
def test_one_run_tells_both(run: Run, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    alone, found = both_ways(run, monkeypatch, ONCE[program])
    assert alone and found.known.error is None, found.findings


@pytest.mark.parametrize("program", TWICE)
def test_a_preview_that_may_differ_runs_for_itself(run: Run, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    alone, _ = both_ways(run, monkeypatch, TWICE[program])
    assert not alone


@pytest.mark.parametrize("program", TRUSTED)
def test_trust_in_a_function_hides_nothing_that_it_does(
    run: Run, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(two_views, "_TRUSTED", (*two_views._TRUSTED, "__main__"))
    alone, _ = both_ways(run, monkeypatch, TRUSTED[program])
    assert not alone


@pytest.mark.parametrize("stack", EXAMPLES)
def test_one_run_tells_both_of_an_example(stack: str, rehearsed: Callable[[str], Rehearsal]) -> None:
    once = rehearsed(stack)
    assert "preview" not in once.seconds, "a second run of the program costs as much as the first"
    config = read_stack(ROOT, stack, None, None)
    deployment = Deployment(
        config.project, config.stack, root_directory=str(config.root), config=config.values,
        secret_keys=sorted(config.secret_keys),
    )  # fmt: skip
    with rehearsing(config.file):
        for found in (once.known, once.preview):
            assert found is not None
            alone = run_program(config, deployment, preview=found.preview, timeout_seconds=120)
            assert told(found) == told(alone)
            assert found.classes == alone.classes


@pytest.mark.parametrize(
    "program",
    [
        'import uuid\ns3.Bucket(f"data-{uuid.uuid4().hex[:6]}", opts=on_aws)',
        'import os\ns3.Bucket("data-" + os.urandom(6).hex(), opts=on_aws)',
        'import tempfile, pathlib\ns3.Bucket(f"data-{pathlib.Path(tempfile.mkdtemp()).name}", opts=on_aws)',
    ],
)
def test_a_name_by_chance_is_found_out(run: Run, program: str) -> None:
    found = run(program)
    assert [finding.rule for finding in found.findings] == ["one-run-only", "one-run-only"]


def test_a_program_that_hangs_is_waited_for_once(run: Run) -> None:
    found = run("import time; time.sleep(6)", timeout_seconds=0.5)
    assert "time.sleep" in (found.preview.hang or "")
    assert not found.known.resources and "preview" not in found.seconds


def test_what_a_function_cannot_tell_apart_is_the_same() -> None:
    assert two_views.same({"a": [1, ("b", None)]}, {"a": [1, ("b", None)]})
    for one, other in ((1, True), (1, 1.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1], (1,)), (object(), object())):
        assert not two_views.same(one, other)
