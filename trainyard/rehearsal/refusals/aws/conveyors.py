"""What carries things from one place to the next: pipelines of code, brokers, pipes, windows of maintenance.

Sources: AWS CodePipeline User Guide, "Pipeline structure reference" (artifacts, categories, what a source and a manual
approval take); Amazon MSK Developer Guide, "Create a cluster" (brokers are a multiple of the zones) and "IAM access
control" (by TLS alone); Amazon EventBridge User Guide, "Pipes targets"; Amazon Redshift Management Guide, "Base
capacity"; AWS Systems Manager API reference, `CreateMaintenanceWindow`; EC2 Image Builder User Guide, "Semantic
versioning" (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import MAINTENANCE_WINDOW
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.rules import Rules

PIPELINE: Final = "aws:codepipeline/pipeline:Pipeline"
PIPE: Final = "aws:pipes/pipe:Pipe"
_BROKERS: Final = "aws:msk/cluster:Cluster"
_WAREHOUSE: Final = "aws:redshiftserverless/workgroup:Workgroup"
_RECIPES: Final = ("aws:imagebuilder/imageRecipe:ImageRecipe", "aws:imagebuilder/containerRecipe:ContainerRecipe")
_VERSIONED: Final = (
    *_RECIPES,
    "aws:imagebuilder/component:Component",
    "aws:imagebuilder/workflow:Workflow",
)


def pipeline(view: View) -> None:
    """Stages are called apart, the first has sources alone, and what an action takes another made before."""
    stages = list(view.items("stages"))
    names = [name for _, stage in stages if isinstance(name := stage.get("name"), str)]
    if len(set(names)) < len(names):
        view.error("pipeline-stages", "stages", "have a name twice", allowed="each once")
    if len(stages) == 1 and not view.blurred("stages"):
        view.error("pipeline-stages", "stages", "is one stage", allowed="a stage of sources, and another")
    made: list[str] = []
    for number, (path, stage) in enumerate(stages):
        actions = [one for one in listed(stage.get("actions")) if isinstance(one, dict)]
        for index, action in sorted(enumerate(actions), key=lambda one: as_number(one[1].get("runOrder")) or 1):
            at, category = f"{path}.actions[{index}]", action.get("category")
            if isinstance(category, str) and (number == 0) != (category == "Source"):
                view.error(
                    "pipeline-stages",
                    f"{at}.category",
                    f"got {category} in stage {number + 1}",
                    allowed="Source in the first stage, and there alone",
                )
            for name in listed(action.get("inputArtifacts")):
                if isinstance(name, str) and name not in made:
                    view.error(
                        "pipeline-artifact",
                        f"{at}.inputArtifacts",
                        f"{show(name)} is made by no action before",
                        allowed=", ".join(made) or "none",
                        hint=nearest(name, made),
                    )
            if category == "Approval" and (action.get("inputArtifacts") or action.get("outputArtifacts")):
                view.error("pipeline-artifact", at, "is an approval with artifacts", allowed="none")
            for name in listed(action.get("outputArtifacts")):
                if isinstance(name, str) and name in made:
                    view.error(
                        "pipeline-artifact", f"{at}.outputArtifacts", f"{show(name)} is made twice", allowed="each once"
                    )
                made.append(str(name))


def brokers(view: View) -> None:
    """Brokers are as many in each zone, and who logs in by IAM does so by TLS."""
    count, subnets = view.number("numberOfBrokerNodes"), view.entries("brokerNodeGroupInfo.clientSubnets")
    if (
        count is not None
        and len(subnets) > 1
        and not view.blurred("brokerNodeGroupInfo.clientSubnets")
        and count % len(subnets)
    ):
        view.error(
            "msk-brokers",
            "numberOfBrokerNodes",
            f"{count:g} over {len(subnets)} subnets",
            allowed=f"a multiple of {len(subnets)}",
        )
    if len(subnets) == 1 and not view.blurred("brokerNodeGroupInfo.clientSubnets"):
        view.error("msk-brokers", "brokerNodeGroupInfo.clientSubnets", "is one subnet", allowed="two or three")
    plain = view.text("encryptionInfo.encryptionInTransit.clientBroker") == "PLAINTEXT"
    named = any(view.flag(f"clientAuthentication.sasl.{way}") for way in ("iam", "scram")) or view.has(
        "clientAuthentication.tls"
    )
    if plain and named:
        view.error(
            "msk-clients",
            "encryptionInfo.encryptionInTransit.clientBroker",
            "is PLAINTEXT beside clientAuthentication",
            allowed="TLS or TLS_PLAINTEXT",
        )


def pipe(view: View) -> None:
    """What goes into a queue in order belongs to a group, and what is read of a stream begins somewhere."""
    target, source = view.text("target") or "", view.text("source") or ""
    if (
        target.endswith(".fifo")
        and ":sqs:" in target
        and view.lacks("targetParameters.sqsQueueParameters.messageGroupId")
    ):
        view.error(
            "pipe-target",
            "targetParameters.sqsQueueParameters.messageGroupId",
            "is missing for a FIFO queue",
            allowed="a group",
        )
    if (
        ":kinesis:" in target
        and ":stream/" in target
        and view.lacks("targetParameters.kinesisStreamParameters.partitionKey")
    ):
        view.error(
            "pipe-target",
            "targetParameters.kinesisStreamParameters.partitionKey",
            "is missing for a stream",
            allowed="a key",
        )
    for mark, name in ((":kinesis:", "kinesisStreamParameters"), (":dynamodb:", "dynamodbStreamParameters")):
        if mark in source and view.lacks(f"sourceParameters.{name}.startingPosition"):
            view.error(
                "pipe-source",
                f"sourceParameters.{name}.startingPosition",
                "is missing for a stream",
                allowed="LATEST or TRIM_HORIZON",
            )


def warehouse(view: View) -> None:
    """Capacity comes in steps."""
    for name in ("baseCapacity", "maxCapacity"):
        capacity = view.number(name)
        if capacity is not None and capacity > 4 and capacity % 8:
            view.error("redshift-capacity", name, f"got {capacity:g}", allowed="4, or a multiple of 8, of RPUs")
    base, most = view.number("baseCapacity"), view.number("maxCapacity")
    if base is not None and most and most < base:
        view.error(
            "redshift-capacity", "maxCapacity", f"{most:g} is below baseCapacity {base:g}", allowed="at least it"
        )


def window(view: View) -> None:
    """No task begins in the last hours of a window, of which there have to be some before."""
    cutoff, hours = view.number("cutoff"), view.number("duration")
    if cutoff is not None and hours is not None and cutoff >= hours:
        view.error(
            "ssm-window", "cutoff", f"{cutoff:g} hours of {hours:g}: no task would begin", allowed="below duration"
        )


def version(view: View) -> None:
    """A version has three numbers; of a recipe, one of them may be left to Image Builder to count."""
    text, is_recipe = view.text("version"), view.type in _RECIPES
    part = r"(\d+|x)" if is_recipe else r"\d+"
    if text is not None and not re.fullmatch(rf"{part}\.{part}\.{part}", text):
        counted = ", or 1.0.x" if is_recipe else ""
        view.error("image-version", "version", f"got {show(text)}", allowed=f"three numbers: 1.0.0{counted}")


RULES: Final[Rules] = {
    pipeline: (PIPELINE,),
    brokers: (_BROKERS,),
    pipe: (PIPE,),
    warehouse: (_WAREHOUSE,),
    window: (MAINTENANCE_WINDOW,),
    version: _VERSIONED,
}
