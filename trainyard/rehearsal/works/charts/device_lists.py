"""How a device plugin hands GPUs to containers, against what the container toolkit of the nodes takes.

Source: NVIDIA/k8s-device-plugin README (`deviceListStrategy`) and NVIDIA Container Toolkit, "Read list of GPU devices
from volume mounts instead of NVIDIA_VISIBLE_DEVICES" (`accept-nvidia-visible-devices-*` of its configuration), 2026-11.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from trainyard.recorded.node_groups import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.recorded.read import follow
from trainyard.rehearsal.context import Stack, View, listed

_BY_VARIABLE: Final = "accept-nvidia-visible-devices-envvar-when-unprivileged"
_BY_MOUNTS: Final = "accept-nvidia-visible-devices-as-volume-mounts"
_REFUSED_BY: Final = {"envvar": _BY_VARIABLE, "volume-mounts": _BY_MOUNTS}
"""By strategy the option of the toolkit without which it gives a container nothing."""
_OPTION: Final = re.compile(r"(accept-nvidia-visible-devices-[a-z-]+)\s*=\s*(true|false)")
_VARIABLE: Final = "DEVICE_LIST_STRATEGY"


def check_device_lists(release: View, chart: str, stack: Stack) -> None:
    """A plugin that hands GPUs over in a way that the nodes' start-up data switches off: no container sees any."""
    path, given = _strategy(release, chart)
    strategies = given.split(",") if given else []
    if not strategies or not all(strategy in _REFUSED_BY for strategy in strategies):
        return
    for group, options in _options(stack):
        if all(options.get(_REFUSED_BY[strategy]) == "false" for strategy in strategies):
            release.error(
                "charts-device-list", path,
                f"is {given}, and the toolkit of node group {group}'s nodes takes no GPUs so "
                f"({_REFUSED_BY[strategies[0]]}=false in their start-up data): no container sees one",
                allowed=", ".join(name for name, option in _REFUSED_BY.items() if options.get(option) != "false"),
            )  # fmt: skip
            return


def _strategy(release: View, chart: str) -> tuple[str, str]:
    """Where a chart is told of it, and what; empty where it is not known. The plugin's own default is the variable."""
    if release.is_unknown("values") or release.has("valueYamlFiles"):
        return "", ""
    if chart == "nvidia-device-plugin":
        path = "values.deviceListStrategy"
        text = release.text(path) or ("envvar" if release.lacks(path) else "")
        return path, "" if release.mapping("values.config.map") else text
    if chart == "gpu-operator":
        path = "values.devicePlugin.env"
        told = [follow(one, "value") for one in listed(release.value(path)) if follow(one, "name") == _VARIABLE]
        return path, told[0] if told and isinstance(told[0], str) else ""
    return "", ""


def _options(stack: Stack) -> list[tuple[str, dict[str, str]]]:
    """By node group what its start-up data tells the toolkit; groups of which that is not known are left out."""
    templates = {view.resource.id: view for view in stack.of_type(LAUNCH_TEMPLATE)}
    found = []
    for group in stack.of_type(EKS_NODE_GROUP):
        template = templates.get(group.text("launchTemplate.id") or "")
        try:
            data = base64.b64decode(template.text("userData") or "" if template else "", validate=True)
        except (binascii.Error, ValueError):
            continue
        options = dict(_OPTION.findall(data.decode(errors="replace"))) if data else {}
        if options:
            found.append((group.name, options))
    return found
