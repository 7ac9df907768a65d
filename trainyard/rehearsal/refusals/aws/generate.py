"""Writes `data/aws_calls.json`, the calls that describe the inputs of every type of the provider that has no card, and
`data/aws_said.json`, what its documentation says of inputs that stand beside each other.

    python -m trainyard.rehearsal.refusals.aws.generate

A type's call is the one that makes it and is called after it, in the service that its module is called after; where its
inputs stand in one structure of the call, they are looked up there. An input whose kind differs from the member of its
name (a list of blocks for a text) is left out, and so is one of which the provider's own documentation gives a value
that the model would refuse: the provider says it otherwise there. `elsewhere.yaml` has what a person looked at, and
goes before.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from trainyard import cards
from trainyard.cards.card import ServiceModel
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.read import steps
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
from trainyard.rehearsal.engine.sdk_types import Fields, FieldType, input_class, input_fields
from trainyard.rehearsal.refusals.aws import elsewhere, generate_examples, generate_said, model_check
from trainyard.rehearsal.refusals.aws.models import ModelMissingError, Shape, operation, operations

DATA: Final = Path(__file__).parents[1] / "data"
DEPTH: Final = 4
"""Levels of inputs that are looked at: rules of firewalls and the like hold themselves."""
LEAST_FOUND: Final = 0.5
"""The share of a type's inputs that its call has to know."""

SERVICES: Final[Mapping[str, str]] = {
    "acmpca": "acm-pca",
    "alb": "elbv2",
    "appautoscaling": "application-autoscaling",
    "appintegrations": "appintegrations",
    "bcmdata": "bcm-data-exports",
    "bedrock": "bedrock bedrock-agent bedrock-agentcore-control",
    "bedrockmodel": "bedrock",
    "cfg": "config",
    "cloudformation": "cloudformation",
    "cloudwatch": "cloudwatch events logs oam",
    "codeconnections": "codeconnections",
    "codestarconnections": "codestar-connections",
    "codestarnotifications": "codestar-notifications",
    "cognito": "cognito-idp cognito-identity",
    "costexplorer": "ce",
    "directoryservice": "ds",
    "ebs": "ec2",
    "ec2": "ec2",
    "ec2clientvpn": "ec2",
    "ec2transitgateway": "ec2",
    "elasticsearch": "es",
    "emrcontainers": "emr-containers",
    "emrserverless": "emr-serverless",
    "kinesis": "kinesis firehose kinesisanalytics kinesisvideo",
    "kinesisanalyticsv2": "kinesisanalyticsv2",
    "lb": "elbv2",
    "licensemanager": "license-manager",
    "msk": "kafka",
    "mskconnect": "kafkaconnect",
    "networkfirewall": "network-firewall",
    "redshiftserverless": "redshift-serverless",
    "resourceexplorer": "resource-explorer-2",
    "resourcegroups": "resource-groups",
    "route53": "route53 route53resolver route53profiles",
    "route53recoverycontrol": "route53-recovery-control-config",
    "route53recoveryreadiness": "route53-recovery-readiness",
    "securitylake": "securitylake",
    "servicequotas": "service-quotas",
    "sfn": "stepfunctions",
    "ssmincidents": "ssm-incidents",
    "ssmcontacts": "ssm-contacts",
    "ssoadmin": "sso-admin",
    "timestreaminfluxdb": "timestream-influxdb",
    "timestreamwrite": "timestream-write",
    "verifiedaccess": "ec2",
    "vpc": "ec2",
    "vpclattice": "vpc-lattice",
    "workspacesweb": "workspaces-web",
}
"""Services of the modules that are not called as botocore calls them."""

CALLS: Final[Mapping[str, str]] = {
    "aws:appautoscaling/policy:Policy": "application-autoscaling.PutScalingPolicy",
    "aws:appautoscaling/scheduledAction:ScheduledAction": "application-autoscaling.PutScheduledAction",
    "aws:appautoscaling/target:Target": "application-autoscaling.RegisterScalableTarget",
    "aws:ec2/ami:Ami": "ec2.RegisterImage",
    "aws:ec2/spotFleetRequest:SpotFleetRequest": "ec2.RequestSpotFleet.SpotFleetRequestConfig",
    "aws:ec2/volumeAttachment:VolumeAttachment": "ec2.AttachVolume",
    "aws:glue/catalogDatabase:CatalogDatabase": "glue.CreateDatabase.DatabaseInput glue.CreateDatabase",
    "aws:glue/catalogTable:CatalogTable": "glue.CreateTable.TableInput glue.CreateTable",
    "aws:kinesis/firehoseDeliveryStream:FirehoseDeliveryStream": "firehose.CreateDeliveryStream",
    "aws:lb/listenerRule:ListenerRule": "elbv2.CreateRule",
    "aws:msk/cluster:Cluster": "kafka.CreateCluster",
    "aws:ssm/association:Association": "ssm.CreateAssociation",
    "aws:ssm/maintenanceWindowTask:MaintenanceWindowTask": "ssm.RegisterTaskWithMaintenanceWindow",
    "aws:ssm/maintenanceWindowTarget:MaintenanceWindowTarget": "ssm.RegisterTargetWithMaintenanceWindow",
    "aws:ssm/parameter:Parameter": "ssm.PutParameter",
    "aws:emr/cluster:Cluster": "emr.RunJobFlow emr.RunJobFlow.Instances",
}
"""Calls of the types that are called otherwise."""

_VERBS: Final = (
    "Create",
    "Put",
    "Register",
    "Request",
    "Run",
    "Allocate",
    "Add",
    "Attach",
    "Associate",
    "Set",
    "Update",
    "Modify",
    "Enable",
    "Start",
    "Import",
    "Upload",
    "Publish",
    "Authorize",
)
_SCALARS: Final = frozenset({"text", "integer", "number", "boolean"})


def services(module: str) -> tuple[str, ...]:
    """The services that a module's types may be of."""
    names = SERVICES.get(module, module).split()
    return tuple(name for name in names if _is_service(name))


@cache
def _is_service(name: str) -> bool:
    try:
        operations(name)
    except ModelMissingError:
        return False
    return True


def _plain(name: str) -> str:
    return name.lower().removesuffix("s")


def candidates(module: str, noun: str) -> Iterator[tuple[str, ...]]:
    """The calls that may make a type, the likeliest first."""
    wanted = {
        _plain(noun),
        _plain(module + noun),
        *(_plain(f"{name.replace('-', '')}{noun}") for name in services(module)),
    }
    for suffix in ("resource", "configuration", "config", "settings", "default"):
        if noun.lower().endswith(suffix):
            wanted.add(_plain(noun.lower().removesuffix(suffix)))
        wanted.add(_plain(noun.lower() + suffix))
    for verb in _VERBS:
        for service in services(module):
            for name in sorted(operations(service)):
                if name.startswith(verb) and _plain(name.removeprefix(verb)) in wanted:
                    yield (f"{service}.{name}",)


def roots(call: str) -> Iterator[tuple[str, ...]]:
    """A call, and the call with each structure that may hold the inputs."""
    yield (call,)
    service, name = call.split(".")
    try:
        shape = operation(service, name)
    except ModelMissingError:
        return
    for member, held in shape.members.items():
        if held.kind == "structure" and len(held.members) > 2:
            yield (f"{call}.{member}", call)


def args_of(token: str) -> type | None:
    """The class of the inputs that a type takes."""
    (fqn, name) = _CLASSES[token]
    with piecewise_imports():
        module = importlib.import_module(f"pulumi_aws.{fqn}")
        return input_class(getattr(module, name))


def fields_of(token: str) -> Fields | None:
    """The inputs that a type takes."""
    found = args_of(token)
    return input_fields(found) if found is not None else None


_CLASSES: Final = {token: place for place, token in generate_examples.types().items()}


def described(
    model: ServiceModel, fields: Fields, above: tuple[Shape, ...], path: str = "", depth: int = 0
) -> Iterator[tuple[str, bool]]:
    """Each input that a member of its name is found for, with whether the two are of one kind."""
    for name, type_ in fields.types.items():
        here = f"{path}.{name}" if path else name
        try:
            shape = model_check.resolve(model, here, above)
        except ModelMissingError:
            continue
        if shape is None:
            continue
        fits, inner, kind = _fits(shape, type_)
        yield here, fits
        if fits and inner is not None and kind.kind == "object" and kind.cls is not None and depth < DEPTH - 1:
            yield from described(model, input_fields(kind.cls), (inner,), here, depth + 1)


def _fits(shape: Shape, type_: FieldType) -> tuple[bool, Shape | None, FieldType]:
    inner, kind = model_check.inner(shape), type_
    lists = 0
    while kind.kind == "list" and kind.item is not None:
        kind, lists = kind.item, lists + 1
    if kind.kind in _SCALARS:
        return inner.kind not in ("structure", "map") and (lists > 0 or shape.kind != "list"), None, kind
    if kind.kind == "object":
        return inner.kind == "structure", inner, kind
    if kind.kind == "map":
        return inner.kind == "map", None, kind
    return False, None, kind


def model_for(token: str, fields: Fields) -> ServiceModel | None:
    """The calls of a type that know the most of its inputs; None where none knows half."""
    module, (_, noun) = token.split(":")[1].split("/")[0], _CLASSES[token]
    given = [name for name in fields.types if name not in ("region", "tags", "timeouts", "namePrefix")]
    tried = (
        [tuple(CALLS[token].split())]
        if token in CALLS
        else [calls for (call,) in candidates(module, noun) for calls in roots(call)]
    )
    best: tuple[float, tuple[str, ...]] = (0.0, ())
    for calls in tried:
        model = ServiceModel(calls, by_name=True)
        try:
            above = model_check.roots(calls)
        except (ModelMissingError, KeyError):
            continue
        top = [name for name, fits in described(model, fields, above, depth=DEPTH) if fits]
        share = len(top) / max(1, len(given))
        if share > best[0] + 1e-9:
            best = share, calls
    if best[0] < LEAST_FOUND and not (token in CALLS and best[1]):
        return None
    calls = best[1]
    unfit = [
        name
        for name, fits in described(ServiceModel(calls, by_name=True), fields, model_check.roots(calls))
        if not fits
    ]
    return ServiceModel(calls, {}, tuple(sorted(unfit)), by_name=True)


def corrected(token: str, model: ServiceModel, examples: Sequence[Mapping[str, Any]]) -> ServiceModel:
    """The model without what the documentation's own values contradict."""
    caseless, undescribed = set(model.caseless), set(model.undescribed)
    for _ in range(6):
        now = ServiceModel(model.calls, {}, tuple(sorted(undescribed)), tuple(sorted(caseless)), by_name=True)
        refused = {
            ".".join(part for part in steps(finding.path) if isinstance(part, str)): finding.message
            for inputs in examples
            for finding in _refused(token, now, inputs)
        }
        if not refused:
            return now
        for path in refused:
            plain = next(
                (
                    path.rsplit(".", cut)[0]
                    for cut in range(path.count(".") + 1)
                    if path.rsplit(".", cut)[0] not in undescribed
                ),
                path,
            )
            if path not in caseless:
                caseless.add(path)
            else:
                caseless.discard(path)
                undescribed.add(plain)
    return now


def _refused(token: str, model: ServiceModel, inputs: Mapping[str, Any]) -> Sequence[Any]:
    one = RecordedResource(f"urn:pulumi:a::a::{token}::a", token, "a", "", "", True, "", dict(inputs), id="a")
    (view,) = Stack([one], ValueContext(kubernetes_version="1.35", region="us-east-1")).views
    for name, value in inputs.items():
        model_check._walk(view, model, {name: value}, "", "", model_check.roots(model.calls))
    return view.findings


Examples = Mapping[str, Sequence[Mapping[str, Any]]]


def examples() -> Examples:
    """The examples of the documentation by type."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for token, inputs in generate_examples.resources():
        found[token].append(inputs)
    return found


def calls(shown: Examples) -> dict[str, Any]:
    """The calls of each type that has no card and that nobody looked at."""
    found = {}
    for token in sorted(_CLASSES):
        if token in cards.BY_TYPE or token in elsewhere.by_hand():
            continue
        fields = fields_of(token)
        model = model_for(token, fields) if fields is not None else None
        if model is None:
            continue
        model = corrected(token, model, shown.get(token, ()))
        found[token] = {"calls": list(model.calls)} | {
            key: list(getattr(model, key)) for key in ("undescribed", "caseless") if getattr(model, key)
        }
    return found


def said_of(token: str, shown: Examples) -> list[tuple[str, str, tuple[str, ...]]]:
    """What is said of the inputs of a type beside each other, and no example contradicts."""
    args = args_of(token)
    rows = sorted(set(generate_said.said(args))) if args is not None else []
    return [row for row in rows if not generate_said.contradicted(row, shown.get(token, ()))]


def said(shown: Examples) -> dict[str, Any]:
    """What is said of each type."""
    return {token: rows for token in sorted(_CLASSES) if (rows := said_of(token, shown))}


def write(name: str, key: str, source: str, rows: Mapping[str, Any]) -> None:
    """One table, a line a type."""
    lines = ",\n".join(f"  {json.dumps(token)}: {json.dumps(row)}" for token, row in rows.items())
    text = f'{{"source": {json.dumps(source)},\n"{key}": {{\n{lines}\n}}}}\n'
    (DATA / name).write_text(text, encoding="utf-8")
    sys.stderr.write(f"{name}: {len(rows)} types\n")


def main() -> None:
    """Writes both tables."""
    shown, sdk = examples(), f"pulumi_aws {version('pulumi_aws')}"
    models = f"botocore {version('botocore')}: its models"
    write(
        "aws_calls.json",
        "calls",
        f"{sdk}: its types, their inputs, its documentation's examples; {models}",
        calls(shown),
    )
    write("aws_said.json", "said", f"{sdk}: its documentation", said(shown))


if __name__ == "__main__":
    main()
