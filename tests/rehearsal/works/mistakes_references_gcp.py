"""Volumes of Google Cloud that bind and are never mounted: mistakes put into the large example, one at a time."""

from __future__ import annotations

from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, both, edit, put
from trainyard.recorded.types import GCP_LUSTRE, GKE_CLUSTER, VOLUME

STACK: Final = "large-gcp"
SCRATCH, HOME = "volumes-foundation-scratch-volume", "volumes-foundation-home-volume"
ATTRIBUTES: Final = "spec.csi.volumeAttributes"


def volume(name: str, path: str, value: Any) -> Change:
    return edit(VOLUME, name, put(path, value))


def mistake(name: str, what: str, change: Change, rule: str | None, why: str = "") -> Mistake:
    return Mistake(name, what, change, rule, why=why, stack=STACK)


MISTAKES = [
    mistake(
        "Lustre without its driver",
        "the cluster is told nothing of Managed Lustre",
        edit(GKE_CLUSTER, "cluster-cluster", put("addonsConfig.lustreCsiDriverConfig", DROP)),
        "reference-driver",
    ),
    mistake(
        "Filestore's driver switched off",
        "the add-on of Filestore is there and off",
        edit(GKE_CLUSTER, "cluster-cluster", put("addonsConfig.gcpFilestoreCsiDriverConfig.enabled", False)),
        "reference-driver",
    ),
    mistake(
        "a driver misspelt",
        "a team's scratch space is mounted by a driver of a name that is nearly Lustre's",
        volume(SCRATCH, "spec.csi.driver", "lustre.csi.storage.gke.oi"),
        None,
        "a name outside of GKE's may be somebody's own driver",
    ),
    mistake(
        "a driver of GKE's that is none",
        "home directories are mounted by filstore.csi.storage.gke.io",
        volume(HOME, "spec.csi.driver", "filstore.csi.storage.gke.io"),
        "reference-driver",
    ),
    mistake(
        "scratch space without an address",
        "the volume of scratch space says address where the driver reads ip",
        both(
            volume(SCRATCH, f"{ATTRIBUTES}.ip", DROP),
            volume(SCRATCH, f"{ATTRIBUTES}.address", "10.0.16.2"),
        ),
        "reference-volume-attribute",
    ),
    mistake(
        "a share without its name",
        "the volume of home directories names no share",
        volume(HOME, f"{ATTRIBUTES}.volume", DROP),
        "reference-volume-attribute",
    ),
    mistake(
        "another file system's name",
        "scratch space is mounted as lustrefs, and the file system is called scratch",
        volume(SCRATCH, f"{ATTRIBUTES}.filesystem", "lustrefs/scratch/teams/foundation"),
        "reference-file-system",
    ),
    mistake(
        "a renamed file system",
        "the file system has another name than the volumes",
        edit(GCP_LUSTRE, "northwind-production-lustre", put("filesystem", "work")),
        "reference-file-system",
    ),
    mistake(
        "another share's name",
        "home directories are mounted of vol1",
        volume(HOME, f"{ATTRIBUTES}.volume", "vol1/teams/foundation"),
        "reference-file-system",
    ),
    mistake(
        "a name for an address",
        "scratch space is mounted from a name",
        volume(SCRATCH, f"{ATTRIBUTES}.ip", "lustre.internal"),
        "reference-file-system",
    ),
]
