"""Charts whose pods each keep a state of their own, and images of another version than the chart is for.

Sources: Grafana documentation, "Set up Grafana for high availability" (SQLite is one pod's own); the charts of Kueue,
JobSet, Trainer, Karpenter and cert-manager have the version of their program; cluster-autoscaler, README, "Releases"
(the minor version is that of Kubernetes) (2026-11).
"""

from __future__ import annotations

import re
from typing import Any, Final

from trainyard.recorded.model import has_unknown
from trainyard.recorded.read import as_number
from trainyard.rehearsal.context import View, show

_GRAFANA: Final = {"grafana": "values", "kube-prometheus-stack": "values.grafana"}
_DATABASE: Final = ("GF_DATABASE_TYPE", "GF_DATABASE_URL", "GF_DATABASE_HOST")
_ELSEWHERE: Final = ("envFromSecret", "envFromSecrets", "envFromConfigMaps", "envValueFrom")
"""Values by which variables come from objects, which may be about a database."""
_TAGS: Final = {
    "kueue": ("controllerManager.manager.image.tag",),
    "jobset": ("image.tag",),
    "kubeflow-trainer": ("image.tag", "manager.image.tag"),
    "karpenter": ("controller.image.tag",),
    "cert-manager": ("image.tag", "webhook.image.tag", "cainjector.image.tag"),
}
"""Where a chart whose version is its program's takes another image; rights, options and kinds are the chart's."""
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?")


def check_state(release: View, chart: str) -> None:
    """Several Grafanas, with a database in each pod."""
    base = _GRAFANA.get(chart)
    if base is None or release.is_unknown(base) or has_unknown(release.mapping(base)):
        return
    given = {**release.mapping(f"{base}.env"), **release.mapping(f"{base}.envRenderSecret")}
    replicas = as_number(release.value(f"{base}.replicas"))
    scaled = release.flag(f"{base}.autoscaling.enabled")
    elsewhere = any(release.value(f"{base}.{key}") for key in _ELSEWHERE)
    has_database = _ini(release, base).get("database") or elsewhere or any(name in given for name in _DATABASE)
    own_disks = release.flag(f"{base}.useStatefulSet") or release.has(f"{base}.persistence.existingClaim")
    if (replicas or 1) > 1 and release.flag(f"{base}.persistence.enabled") and not own_disks:
        _one_disk(release, base)
    elif ((replicas or 1) > 1 or scaled) and not has_database:
        release.warning(
                "charts-own-state", f"{base}.replicas",
                "each Grafana has a database of its own: who logs in at one is unknown to the next, and what is saved "
                "is there or not, from one request to the other", allowed="1, or grafana.ini.database",
            )  # fmt: skip


def _one_disk(release: View, base: str) -> None:
    """A disk of one node at a time, which all pods of a Deployment ask for; a StatefulSet's have one each."""
    modes = release.texts(f"{base}.persistence.accessModes") or ["ReadWriteOnce"]
    if release.text(f"{base}.persistence.type") in (None, "pvc") and set(modes) <= {
        "ReadWriteOnce",
        "ReadWriteOncePod",
    }:
        release.error(
                "charts-own-state", f"{base}.replicas",
                f"all Grafanas ask for one disk, which is of one node at a time ({modes[0]}): those on other nodes "
                "never start", allowed="1, or a database in grafana.ini and no persistence",
            )  # fmt: skip


def _ini(release: View, base: str) -> dict[str, Any]:
    held = release.mapping(base).get("grafana.ini")
    return dict(held) if isinstance(held, dict) else {}


def check_tags(release: View, chart: str, kubernetes: str) -> None:
    """An image of another minor version than the chart's own; `kubernetes` is the recorded cluster's."""
    version = _VERSION.fullmatch(release.text("version") or "")
    own = ("" if chart == "karpenter" else "v") + (version[0].removeprefix("v") if version is not None else "")
    for path in _TAGS.get(chart, ()) if version is not None else ():
        tag = _VERSION.fullmatch((release.text(f"values.{path}") or "").partition("@")[0])
        if tag is not None and version is not None and tag.groups() != version.groups():
            release.error(
                "charts-image-version", f"values.{path}",
                f"is {show(release.text(f'values.{path}'))}, and the chart is of {release.text('version')}: its "
                "rights, options and kinds are of another program", allowed=f"{own}, or none",
            )  # fmt: skip
    if chart == "cluster-autoscaler":
        tag = _VERSION.fullmatch(release.text("values.image.tag") or "")
        served = _VERSION.fullmatch(kubernetes)
        if tag and served and (tag[1] != served[1] or abs(int(tag[2]) - int(served[2])) > 1):
            release.warning(
                "charts-image-version", "values.image.tag",
                f"is {show(release.text('values.image.tag'))}, and the cluster is of Kubernetes {kubernetes}: it "
                "simulates another scheduler than the one that is there", allowed=f"v{kubernetes}.x",
            )  # fmt: skip
