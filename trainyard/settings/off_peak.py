"""The settings of off-peak hours."""

from pydantic import Field

from trainyard.settings.types import Model, TimeOfDay, TimeZone


class OffPeak(Model):
    """The hours in which work that can wait runs on reserved nodes that nobody uses; each team has a queue for it."""

    start: TimeOfDay = Field(alias="from", description='when they begin, such as "20:00"')
    end: TimeOfDay = Field(
        alias="to", description='when they end, such as "07:00": of the next day where that is no later than `from`'
    )
    time_zone: TimeZone = Field(description="by whose clock, such as Europe/Berlin: its summer time is followed")
