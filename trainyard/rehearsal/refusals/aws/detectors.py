"""Features of GuardDuty: the runtime of EKS alone is looked at, or that of everything, and never both.

Source: GuardDuty API reference, `DetectorFeatureConfiguration` ("Specifying both features EKS Runtime Monitoring and
Runtime Monitoring will cause an error").
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.types import DETECTOR_FEATURE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.rules import Rules

_OF_EKS: Final = "EKS_RUNTIME_MONITORING"
_OF_ALL: Final = "RUNTIME_MONITORING"
_ON: Final = "ENABLED"


def runtime(view: View) -> None:
    """The narrow feature beside the wide one of the same detector, both on."""
    detector = view.text("detectorId")
    if view.text("name") != _OF_EKS or view.text("status") != _ON or detector is None:
        return
    for other in view.stack.of_type(DETECTOR_FEATURE):
        same = other.text("detectorId") == detector and other.text("status") == _ON
        if same and other.text("name") == _OF_ALL:
            view.error(
                "guardduty-runtime", "name", f"{_OF_EKS} beside {_OF_ALL} of {other.name}: GuardDuty refuses the two",
                allowed=f"{_OF_ALL} alone, which looks at clusters too",
            )  # fmt: skip


RULES: Final[Rules] = {runtime: (DETECTOR_FEATURE,)}
