"""Values of charts that reach a field of the API by its own name, wherever they stand: words, and quantities.

Charts write them out as they are, so that what the API server refuses fails the release. An empty text is the chart's
way of leaving the field out. Sources: API reference of Kubernetes 1.35 (`enums`) and the charts' own values, 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, listed, show
from trainyard.rehearsal.refusals.kubernetes.enums import ENUMS
from trainyard.rehearsal.refusals.kubernetes.schema import QUANTITY, QUANTITY_TEXT

_MODES: Final = ENUMS["core.v1.PersistentVolumeClaimSpec.accessModes"]
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "pullPolicy": ENUMS["core.v1.Container.imagePullPolicy"],
    "imagePullPolicy": ENUMS["core.v1.Container.imagePullPolicy"],
    "dnsPolicy": ENUMS["core.v1.PodSpec.dnsPolicy"],
    "concurrencyPolicy": ENUMS["batch.v1.CronJobSpec.concurrencyPolicy"],
    "podManagementPolicy": ENUMS["apps.v1.StatefulSetSpec.podManagementPolicy"],
    "unhealthyPodEvictionPolicy": ENUMS["policy.v1.PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy"],
    "volumeBindingMode": ENUMS["storage.v1.StorageClass.volumeBindingMode"],
    "accessModes": _MODES,
    "accessMode": _MODES,
}
"""Fields by name, with what they take."""
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "service": ENUMS["core.v1.ServiceSpec.type"],
    "updateStrategy": ("RollingUpdate", "Recreate", "OnDelete"),
    "deploymentStrategy": ("RollingUpdate", "Recreate"),
    "strategy": ("RollingUpdate", "Recreate", "OnDelete"),
}
"""Fields `type`, by the name of what they are of."""
_FOREIGN: Final = ("custom", "config")
"""Values below which words are a program's own, not fields of the API."""
_AMOUNTS: Final = ("cpu", "memory", "storage", "ephemeral-storage")


def check_words(view: View, values: Any, path: str = "values") -> None:
    """Every value below a path."""
    if isinstance(values, list):
        for index, item in enumerate(values):
            check_words(view, item, f"{path}[{index}]")
    if not isinstance(values, Mapping):
        return
    parent = path.rpartition(".")[2]
    for name, value in values.items():
        here = f"{path}.{str(name).replace('.', chr(92) + '.')}"
        taken = _TYPES.get(parent) if name == "type" else _WORDS.get(str(name))
        if taken is not None:
            _word(view, here, value, taken)
        elif parent in ("requests", "limits") and name in _AMOUNTS and isinstance(value, str):
            if value and "{{" not in value and not QUANTITY.fullmatch(value):
                view.error("k8s-quantity", here, f"got {show(value)}", allowed=f"must be {QUANTITY_TEXT}")
        elif isinstance(value, (Mapping, list)) and name not in _FOREIGN:
            check_words(view, value, here)
    rolling = values.get("rollingUpdate") if parent in _TYPES else None
    if isinstance(rolling, Mapping) and all(_is_nothing(rolling.get(key)) for key in ("maxSurge", "maxUnavailable")):
        here = f"{path}.rollingUpdate"
        view.error("k8s-rollout", here, "maxSurge and maxUnavailable are 0", allowed="one above 0")


def _word(view: View, path: str, value: Any, taken: tuple[str, ...]) -> None:
    for index, item in enumerate(listed(value) if isinstance(value, list) else [value]):
        if isinstance(item, str) and item and "{{" not in item and item not in taken:
            here = f"{path}[{index}]" if isinstance(value, list) else path
            allowed, hint = f"one of {', '.join(taken)}", nearest(item, taken)
            view.error("k8s-enum", here, f"got {show(item)}", allowed=allowed, hint=hint)


def _is_nothing(value: Any) -> bool:
    return value == "0%" or (not isinstance(value, bool) and as_number(value) == 0)
