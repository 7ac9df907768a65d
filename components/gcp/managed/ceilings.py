"""The ceiling of managed training that a project can set by itself: quotas of Vertex AI, lowered to nothing.

No condition of IAM sees what a job asks for, and a budget only tells. A project may lower a quota of its own: a job
with a GPU of a kind whose quota is 0 is refused when it is sent, whoever sends it.
"""

from collections.abc import Sequence
from typing import Final, TypedDict
from urllib.parse import quote

import pulumi
import pulumi_gcp.serviceusage as serviceusage

from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites

VERTEX: Final = "aiplatform.googleapis.com"


class ClosedQuotasArgs(TypedDict):
    """What `ClosedQuotas` needs."""

    project: pulumi.Input[str]
    """Id of the project, in all of which they are closed."""
    metrics: Sequence[str]
    """Metrics of Vertex AI without its domain, such as `custom_model_training_nvidia_h100_gpus`."""


class ClosedQuotas(pulumi.ComponentResource):
    """Quotas of 0; with the stack they go back to what Google granted. `depends_on` is what it waits for: services."""

    def __init__(self, name: str, args: ClosedQuotasArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:ClosedQuotas", name, None, opts)
        for metric in args["metrics"]:
            serviceusage.ConsumerQuotaOverride(
                f"{name}-{metric}",
                project=args["project"],
                service=VERTEX,
                metric=quote(f"{VERTEX}/{metric}", safe=""),
                limit=quote("/project/region", safe=""),
                # Without dimensions it holds in every region: people's rights are the project's, not a region's.
                override_value="0",
                # Below what is in use at the moment, too: what runs goes on.
                force=True,
                opts=pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts)),
            )
        register(self)
