"""Settings: managed training, which a team of up to four has instead of a cluster (block `managed`)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from trainyard.settings.types import Model, matching

MachineType = Annotated[
    str,
    matching(
        r"(ml\.)?[a-z][a-z0-9-]*\.[a-z0-9]+|[a-z][a-z0-9-]*[a-z0-9](\+[a-z0-9-]+)?",
        "must be an instance type, like g5.xlarge, or a machine type, like g2-standard-8",
    ),
    AfterValidator(lambda name: name.removeprefix("ml.")),
]
"""SageMaker calls its own `ml.g5.xlarge`: both spellings are one type."""


class Managed(Model):
    """What people may start, how long it runs, and what ends it."""

    beside: bool = Field(
        default=False,
        description=(
            "managed training stays beside the cluster of a team that has outgrown it, until what its people have "
            "there has moved"
        ),
    )
    tracked_by: Literal["experiments", "mlflow"] | None = Field(
        default=None,
        description=(
            "what tracks runs: on AWS an MLflow App always; on Google Cloud Vertex AI Experiments with a TensorBoard, "
            "which cost nothing idle and are no MLflow, or an MLflow server on Cloud Run behind IAP, whose database is "
            "paid for all the time and which a team that grows takes along"
        ),
    )
    private_domain: bool | None = Field(
        default=None,
        description=(
            "editors and jobs reach the internet through the network alone, which then has a NAT gateway (on Google "
            "Cloud editors alone: jobs stand in a network of Google's); by default where residency holds data to a "
            "region"
        ),
    )
    training_types: list[MachineType] | None = Field(
        default=None, min_length=1, max_length=30, description="instance types that training jobs may have"
    )
    editor_types: list[MachineType] | None = Field(
        default=None, min_length=1, max_length=30, description="instance types that notebooks and editors may have"
    )
    max_runtime_hours: Annotated[int, Field(ge=1, le=672)] | None = Field(
        default=None, description="hours after which a training job is stopped, whoever sent it"
    )
    idle_minutes: Annotated[int, Field(ge=10, le=525_600)] | None = Field(
        default=None,
        description=(
            "minutes without work after which an editor is stopped; SageMaker takes 60 at least, Colab Enterprise 1440 "
            "at most"
        ),
    )
    kernel_idle_minutes: Annotated[int, Field(ge=5, le=1440)] | None = Field(
        default=None,
        description="minutes after which an idle kernel or terminal ends: an open one is work to SageMaker",
    )
    space_gib: Annotated[int, Field(ge=5, le=16_384)] | None = Field(default=None, description="disk of an editor, GiB")
    max_space_gib: Annotated[int, Field(ge=5, le=16_384)] | None = Field(
        default=None, description="largest disk that people may give an editor, GiB"
    )
    over_budget: Literal["deny", "tell"] | None = Field(
        default=None, description="what happens over the budget: nobody starts anything new, or it is only told"
    )
