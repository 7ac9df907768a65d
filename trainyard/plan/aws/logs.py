"""How long logs are kept."""

from __future__ import annotations

from trainyard.plan.context import Context

LOG_RETENTION_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip
"""Days of retention that CloudWatch Logs accepts (provider's validator, hashicorp/aws 5.100.0)."""


def retention(path: str, setting: str, given: int | None, context: Context) -> int:
    """Days that a log group keeps what it holds: the setting, which must be a value that the service takes."""
    if given is not None and given not in LOG_RETENTION_DAYS:
        close = min(LOG_RETENTION_DAYS, key=lambda days: abs(days - given))
        allowed = f"must be one of {', '.join(map(str, LOG_RETENTION_DAYS))}"
        context.ledger.problem(setting, given, allowed, f"nearest is {close}")
    return int(context.take(path, setting, given))
