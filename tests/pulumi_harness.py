"""Runs a small Pulumi program in-process and keeps what it registered, for the tests of components."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks, Settings, configure, run_in_stack, set_all_config
from pulumi.runtime.mocks import MockEngine, MockMonitor
from pulumi.runtime.rpc import deserialize_properties

ACCOUNT = "123456789012"


@dataclass(frozen=True)
class Recorded:
    type: str
    name: str
    parent: str
    urn: str
    inputs: dict[str, Any]
    provider: str
    protect: bool
    ignore_changes: tuple[str, ...]
    dependencies: tuple[str, ...]
    custom: bool
    delete_before_replace: bool
    replace_on_changes: tuple[str, ...]


@dataclass
class Recording:
    resources: list[Recorded] = field(default_factory=list)

    def of_type(self, type_: str) -> list[Recorded]:
        return [r for r in self.resources if r.type == type_]

    def one(self, type_: str, name: str | None = None) -> Recorded:
        found = [r for r in self.of_type(type_) if name is None or r.name == name]
        assert len(found) == 1, (
            f"{len(found)} resources of type {type_} named {name}: {[r.name for r in self.resources]}"
        )
        return found[0]


_SHAPES = {
    "aws:ec2/vpc:Vpc": "vpc-{h}",
    "aws:ec2/subnet:Subnet": "subnet-{h}",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt-{h}",
    "aws:ec2/securityGroup:SecurityGroup": "sg-{h}",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "fs-{h}",
    "aws:efs/fileSystem:FileSystem": "fs-{h}",
    "aws:kms/key:Key": "{u}",
}


class _Cloud(Mocks):
    """Answers as the clouds would: ids of the real shape, ARNs with account and region."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        digest = f"{abs(hash((args.typ, args.name))) & 0xFFFFFFFFFFFFFFFFF:017x}"[:17]
        shape = _SHAPES.get(args.typ, args.name + "-{h}")
        uuid = f"{digest[:8]}-{digest[8:12]}-4000-8000-{digest[:12]}"
        identity = shape.format(h=digest, u=uuid)
        outputs = dict(args.inputs)
        outputs.setdefault("name", args.name)
        service = args.typ.split(":")[1].split("/")[0] if args.typ.startswith("aws:") else ""
        if args.typ.startswith("aws:"):
            outputs.setdefault("arn", f"arn:aws:{service}:us-east-1:{ACCOUNT}:{args.name}/{identity}")
            outputs.setdefault("dnsName", f"{identity}.{service}.us-east-1.amazonaws.com")
            outputs.setdefault("mountName", "abcdefgh")
            outputs.setdefault("latestVersion", 1)
            outputs.setdefault("endpoint", f"https://{identity}.example.internal")
            outputs.setdefault("address", f"{identity}.example.internal")
            outputs.setdefault("port", 5432)
        if args.typ == "aws:s3/bucket:Bucket":
            outputs.setdefault("bucket", args.name)
            outputs["arn"] = f"arn:aws:s3:::{outputs['bucket']}"
            identity = outputs["bucket"]
        if args.typ == "aws:kms/key:Key":
            outputs["arn"] = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/{identity}"
            outputs["keyId"] = identity
        if args.typ == "aws:eks/cluster:Cluster":
            outputs["certificateAuthority"] = {"data": "Q0E="}
            outputs["vpcConfig"] = {
                **args.inputs.get("vpcConfig", {}),
                "clusterSecurityGroupId": "sg-0cluster000000000",
            }
        if args.typ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"eks-{args.name}-{digest}"}]}]
        if args.typ == "aws:rds/instance:Instance":
            outputs["masterUserSecrets"] = [
                {"secretArn": f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:rds!db-1-AbCdEf", "kmsKeyId": "k"}
            ]
        if args.typ == "random:index/randomPassword:RandomPassword":
            outputs["result"] = "not-a-real-password"
        return identity, outputs

    def call(self, args: MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        return dict(args.args), None


class _Monitor(MockMonitor):
    def __init__(self, mocks: Mocks, preview: bool) -> None:
        super().__init__(mocks)
        self._preview = preview
        self._lock = threading.Lock()
        self.recording = Recording()

    def RegisterResource(self, request: Any) -> Any:
        response = super().RegisterResource(request)
        if request.type != "pulumi:pulumi:Stack":
            with self._lock:
                self.recording.resources.append(
                    Recorded(
                        type=request.type,
                        name=request.name,
                        parent=request.parent,
                        urn=response.urn,
                        inputs=deserialize_properties(request.object, keep_unknowns=True),
                        provider=request.provider,
                        protect=request.protect,
                        ignore_changes=tuple(request.ignoreChanges),
                        dependencies=tuple(request.dependencies),
                        custom=request.custom,
                        delete_before_replace=request.deleteBeforeReplace,
                        replace_on_changes=tuple(request.replaceOnChanges),
                    )
                )
        return response


class _Preview(_Cloud):
    """Nothing is known of what is to be made."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        return None, {}


def plain(value: Any) -> Any:
    """Inputs with Pulumi's secret wrappers taken off, so that a test can compare them."""
    if isinstance(value, dict):
        if "4dabf18193072939515e22adb298388d" in value and "value" in value:
            return plain(value["value"])
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def record(program: Callable[[], Any], *, preview: bool = False) -> Recording:
    """Runs `program` as a stack and returns every resource that it registered, in registration order."""
    monitor = _Monitor(_Preview() if preview else _Cloud(), preview)

    async def run() -> None:
        set_all_config({})
        configure(
            Settings(
                project="trainyard",
                stack="test",
                monitor=monitor,
                engine=MockEngine(None),
                dry_run=preview,
                organization="organization",
                parallel=16,
            )
        )

        def call() -> None:
            program()

        await run_in_stack(call)

    contextvars.copy_context().run(lambda: asyncio.run(run()))
    return monitor.recording


__all__ = ["ACCOUNT", "Recorded", "Recording", "plain", "pulumi", "record"]
