"""Tracking of managed training: Vertex AI Experiments, with a TensorBoard for curves. Nothing to run, nothing idle."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_gcp.vertex as vertex

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites


class ExperimentsArgs(TypedDict):
    """What `Experiments` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    region: pulumi.Input[str]
    """Region in which runs are kept."""
    display_name: str
    """Name of the TensorBoard, for people."""
    key_id: pulumi.Input[str]
    """Key of what is kept, in the region."""
    labels: Mapping[str, str]
    """Labels on the bill."""
    protect: bool
    """Whether Pulumi refuses to delete or replace what holds the runs."""


class Experiments(pulumi.ComponentResource):
    """The region's metadata store and a TensorBoard. `depends_on` is what it waits for: services, the agent's right on
    the key.

    Google makes the store at the first run where nobody did, under a key of its own that nothing changes any more.
    """

    tensorboard_name: pulumi.Output[str]
    """projects/NUMBER/locations/REGION/tensorboards/ID."""

    def __init__(self, name: str, args: ExperimentsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:Experiments", name, None, opts)
        kept = pulumi.ResourceOptions(parent=self, protect=args["protect"], depends_on=prerequisites(opts))
        vertex.AiMetadataStore(
            f"{name}-store",
            project=args["project"],
            region=args["region"],
            name="default",  # the only one that Experiments knows
            description="Runs of training jobs, with their parameters and results",
            encryption_spec={"kms_key_name": args["key_id"]},
            opts=kept,
        )
        board = vertex.AiTensorboard(
            f"{name}-curves",
            project=args["project"],
            region=args["region"],
            display_name=args["display_name"],
            description="Curves of training jobs",
            encryption_spec={"kms_key_name": args["key_id"]},
            labels=dict(args["labels"]),
            opts=kept,
        )
        self.tensorboard_name = board.name
        register(self)
