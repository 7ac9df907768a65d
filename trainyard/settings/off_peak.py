"""The settings of off-peak hours."""

from pydantic import Field

from trainyard.settings.types import Model, TimeOfDay, TimeZone


class OffPeak(Model):
    """The hours in which work that can wait runs on reserved nodes that nobody uses, and development may sleep."""

    start: TimeOfDay | None = Field(
        default=None, alias="from", description='when they begin, such as "20:00"; by default there are no such hours'
    )
    end: TimeOfDay | None = Field(
        default=None,
        alias="to",
        description='when they end, such as "07:00": of the next day where that is no later than `from`',
    )
    time_zone: TimeZone | None = Field(
        default=None, description="by whose clock, such as Europe/Berlin: its summer time is followed"
    )
    development_sleeps: bool = Field(
        default=False,
        description=(
            "whether jobs of the priority development are switched off when the hours begin, and on again when they "
            "end; who needs one meanwhile writes ml.platform/keep-until on it"
        ),
    )
