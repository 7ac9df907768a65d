"""Settings: the teams that share an environment."""

from typing import Annotated

from pydantic import Field

from trainyard.settings.types import Model, Name, StandIn


class Team(Model):
    """A group of people with a namespace, a queue and a share of the GPUs."""

    name: Name = Field(description="short name")
    members: int = Field(ge=1, le=10_000, description="how many people")
    share: Annotated[float, Field(gt=0, le=100)] | None = Field(
        default=None, description="percent of the GPUs; all teams have one and they add up to 100, or members decide"
    )
    monthly_budget_usd: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = Field(
        default=None,
        description=(
            "US dollars a month that its GPUs may cost; by default its part, as its share or members, of what the "
            "budget leaves for those without one"
        ),
    )
    people: list[Name] = Field(
        default=[], description="who has a login of their own at the MLflow server, beside the one of the team's jobs"
    )
    principals: list[Annotated[str, StandIn("arn:aws:iam::123456789012:role/unseen-{number}")]] = Field(
        default=[],
        description=(
            "who submits its jobs and sees its pods, as the cloud names them: ARNs of IAM roles and users; on Google "
            "Cloud group:, user: or serviceAccount: and an address"
        ),
    )
