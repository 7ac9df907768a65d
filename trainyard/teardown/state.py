"""A stack's state, as `pulumi stack export` writes it, made ready for its end: what stays is let go, the rest unlocked.

The engine reads from the state, not from the program, whether it may delete a resource (`protect`), whether deleting
leaves the thing where it is (`retainOnDelete`), and by which values its provider deletes it (`forceDestroy` of a
bucket, `skipFinalSnapshot` of a database). So the state is where all of that is set, and no `up` is needed for it: an
environment that is broken can be taken down too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from trainyard import cards
from trainyard.recorded.types import (
    BUCKET,
    CLOUD_SQL,
    DATA_REPOSITORY_ASSOCIATION,
    DATABASE,
    ECR_CACHE_RULE,
    FILESTORE,
    GCP_LUSTRE,
    LUSTRE,
    REPOSITORY,
    ROLE,
    SAGEMAKER_DOMAIN,
)
from trainyard.rehearsal.change.earlier import exported_resources
from trainyard.teardown.kinds import (
    COPIED,
    GCP_VAULT,
    GIVEN_UP,
    GROUP_OF,
    GROUPS,
    HOLDS_NOTHING,
    KEYS,
    NO_SETTING,
    PARTS,
    SETTINGS,
    Group,
)
from trainyard.teardown.model import Kept


@dataclass(frozen=True, slots=True)
class Ending:
    """A state that is ready for `pulumi destroy`, and what becomes of what holds something."""

    state: Mapping[str, Any]
    kept: tuple[Kept, ...]
    lost: tuple[str, ...]  # a line each: what is deleted with what it holds


class State:
    """The resources of an exported state."""

    def __init__(self, exported: Any) -> None:
        """Raises `SettingsError` where it is no such state."""
        self.resources = exported_resources(exported)
        self.exported = exported
        self.by_urn = {each["urn"]: each for each in self.resources}
        self.pending: Sequence[Any] = exported["deployment"].get("pending_operations") or ()

    @property
    def made(self) -> list[dict[str, Any]]:
        """The resources that a provider made: no components, providers, nor what is only read."""
        return [
            each
            for each in self.resources
            if each.get("custom") and not each["type"].startswith("pulumi:") and not each.get("external")
        ]

    def of(self, pattern: str) -> list[dict[str, Any]]:
        """The resources of a type, or of a pattern of types."""
        return [each for each in self.made if fnmatchcase(each["type"], pattern)]

    def needed_by(self, resource: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a resource depends on, at any distance."""
        found: dict[str, dict[str, Any]] = {}
        waiting = [resource]
        while waiting:
            for urn in dependencies(waiting.pop()):
                if urn in self.by_urn and urn not in found:
                    found[urn] = self.by_urn[urn]
                    waiting.append(self.by_urn[urn])
        return list(found.values())


def dependencies(resource: Mapping[str, Any]) -> set[str]:
    """URNs that a resource names: it is deleted before them."""
    named = set(resource.get("dependencies") or ())
    for urns in (resource.get("propertyDependencies") or {}).values():
        named.update(urns or ())
    named.update(urn for urn in (resource.get("parent"), resource.get("deletedWith")) if urn)
    provider = resource.get("provider")
    return named | ({provider.rpartition("::")[0]} if provider else set())


def group_of(resource: Mapping[str, Any]) -> Group | None:
    """What a resource counts as that holds something; None of any other, and of a key: it goes with what it opens."""
    type_ = resource["type"]
    if type_ in (*KEYS, *HOLDS_NOTHING) or not cards.of(type_).stateful:
        return None
    for beginning, group in GROUP_OF:
        if type_.startswith(beginning):
            return group
    return "artifacts" if _name(resource).endswith("-artifacts") else "data"


def ending(state: State, keep: Sequence[Group]) -> Ending:
    """The state for `pulumi destroy`, with what stays let go of and everything else unprotected."""
    edited = State(copy.deepcopy(state.exported))
    stays, lost = _chosen(edited, keep)
    left_there = [each for each in edited.made if each["urn"] in stays and each["type"] not in COPIED]
    # A tracking server acts as its role, on what holds its artifacts.
    servers = [each for each in left_there if each["type"].startswith("aws:sagemaker/mlflow")]
    left_there += [need for each in servers for need in edited.needed_by(each) if need["type"] == ROLE]
    settings = _settings(edited, left_there)
    opened = _keys(edited, [each for each in edited.made if each["urn"] in stays] + settings)
    for each in (each for each in edited.made if each["type"] in KEYS):
        # With everything kept the program's own word counts: copies that nobody knows of may need the key.
        if each["urn"] in opened or (set(keep) == set(GROUPS) and _left_by_the_program(each)):
            stays[each["urn"]] = _kept(each, "it opens what stays")
            left_there.append(each)
        else:
            lost.append(f"{_told(each)}: scheduled for deletion, with all that only it opens")
    settings = _settings(edited, left_there)  # of the keys, too
    for each in edited.resources:
        each["protect"] = False
    for each in edited.made:
        if each in left_there or each in settings or each["type"] in PARTS:
            each["retainOnDelete"] = True
        elif cards.of(each["type"]).stateful:
            each["retainOnDelete"] = False
        if each["urn"] not in stays:
            _set(each, GIVEN_UP.get(each["type"], {}))
    return Ending(edited.exported, tuple(stays.values()), tuple(lost))


def _settings(state: State, of: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is a setting of any of these."""
    return [each for each in state.made if any(_is_setting(each, one) for one in of)]


def _chosen(state: State, keep: Sequence[Group]) -> tuple[dict[str, Kept], list[str]]:
    """What stays of all that holds something, by URN, and a line of what does not; a key goes with what it opens."""
    stays: dict[str, Kept] = {}
    lost: list[str] = []
    cached = tuple(f"{(each.get('inputs') or {}).get('ecrRepositoryPrefix')}/" for each in state.of(ECR_CACHE_RULE))
    for each in state.made:
        if each["type"] == GCP_VAULT:  # one with backups cannot be deleted, whatever is to stay
            stays[each["urn"]] = _vault(each)
            continue
        group = group_of(each)
        copies = each["type"] == REPOSITORY and str((each.get("inputs") or {}).get("name", "")).startswith(cached)
        if group is None or (cached and copies):  # what was pulled through can be pulled again
            continue
        if _is_record(each):
            stays[each["urn"]] = _kept(each, "its files are locked: docs/audit.md")
        elif group not in keep:
            lost.append(_told(each))
        elif each["type"] == SAGEMAKER_DOMAIN:
            continue  # stands in the network that goes; `lift.stop_apps` sees that nobody's files go with it
        elif each["type"] == DATABASE:
            stays[each["urn"]] = _snapshot(each)
            _set(each, {"skipFinalSnapshot": False, "deletionProtection": False})
        elif each["type"] == CLOUD_SQL:
            stays[each["urn"]] = Kept("Cloud SQL backup", (str(each.get("id")),), f"--keep {group}")
            _set(each, {"deletionProtection": False})
        elif each["type"] == FILESTORE:
            stays[each["urn"]] = Kept("Filestore backup", (backup_of(each),), f"--keep {group}")
            _set(each, {"deletionProtectionEnabled": False})
        elif each["type"] == GCP_LUSTRE:  # stands in the network that goes, and Managed Lustre makes no copy
            lost.append(f"{_told(each)}: scratch space, of which there is no copy")
        elif each["type"] == LUSTRE:  # stands in the network that goes: its files are in the bucket, or in a backup
            if not any(_names(each, link) for link in state.of(DATA_REPOSITORY_ASSOCIATION)):
                _set(each, {"skipFinalBackup": False})
                stays[each["urn"]] = Kept("FSx backup", (str(each.get("id")),), f"--keep {group}")
        else:
            stays[each["urn"]] = _kept(each, f"--keep {group}")
    return stays, lost


def waves(state: State) -> Iterator[list[dict[str, Any]]]:
    """What is deleted together, in order: each before everything that it depends on."""
    left = {each["urn"]: {urn for urn in dependencies(each) if urn in state.by_urn} for each in state.resources}
    while left:
        needed = {urn for names in left.values() for urn in names}
        now = [urn for urn in left if urn not in needed]
        if not now:  # a state whose resources wait for each other is none of the engine's
            now = list(left)
        for urn in now:
            del left[urn]
        found = [state.by_urn[urn] for urn in now]
        made = [each for each in found if each.get("custom") and not each["type"].startswith("pulumi:")]
        if made:
            yield made


def _keys(state: State, stays: Sequence[Mapping[str, Any]]) -> set[str]:
    """The keys that something which stays is encrypted with, or was."""
    return {need["urn"] for each in stays for need in state.needed_by(each) if need["type"] in KEYS}


def _is_setting(resource: Mapping[str, Any], of: Mapping[str, Any]) -> bool:
    if resource["type"] in NO_SETTING or resource["type"] == of["type"]:
        return False
    for pattern, key in SETTINGS:
        if fnmatchcase(resource["type"], pattern):
            inputs = {**(resource.get("outputs") or {}), **(resource.get("inputs") or {})}
            own = {of.get("id"), (of.get("outputs") or {}).get("bucket")} - {None}
            named = of["urn"] in ((resource.get("propertyDependencies") or {}).get(key) or ())
            return named or inputs.get(key) in own
    return False


def _names(of: Mapping[str, Any], link: Mapping[str, Any]) -> bool:
    return bool((link.get("inputs") or {}).get("fileSystemId") == of.get("id")) or of["urn"] in dependencies(link)


def _is_record(resource: Mapping[str, Any]) -> bool:
    """Whether it is a bucket whose objects are locked, and that the program itself leaves where it is."""
    inputs = resource.get("inputs") or {}
    return resource["type"] == BUCKET and bool(resource.get("retainOnDelete")) and bool(inputs.get("objectLockEnabled"))


def backup_of(share: Mapping[str, Any]) -> str:
    """Name of the backup that the end of an environment leaves of a share of Filestore."""
    return f"{str(share.get('id')).rpartition('/')[2]}-end"


def _snapshot(resource: Mapping[str, Any]) -> Kept:
    known = {**(resource.get("inputs") or {}), **(resource.get("outputs") or {})}
    name = str(known.get("finalSnapshotIdentifier", ""))
    parts = str(known.get("arn", "")).split(":")
    arn = ":".join((*parts[:5], "snapshot", name)) if len(parts) > 5 else ""
    return Kept("database snapshot", tuple(filter(None, (name, arn))), "--keep tracking")


def vault_of(path: str) -> str:
    """What a vault of backups is known by, of its own path or that of something in it; nothing where it is neither.

    A path may have its project's id or number, and the vault's bare name is its share's too.
    """
    _, of_vault, within = path.partition("/backupVaults/")
    return f"backupVaults/{within.partition('/')[0]}" if of_vault else ""


def _vault(resource: Mapping[str, Any]) -> Kept:
    path = str(resource.get("id"))
    return Kept(_word(resource), tuple(filter(None, (path, vault_of(path)))), "its backups go with their days")


def _kept(resource: Mapping[str, Any], why: str) -> Kept:
    outputs = resource.get("outputs") or {}
    names = (resource.get("id"), outputs.get("arn"), outputs.get("bucket"))
    return Kept(_word(resource), tuple(dict.fromkeys(str(each) for each in names if each)), why)


def _left_by_the_program(key: Mapping[str, Any]) -> bool:
    """Whether a plain `pulumi destroy` leaves a key where it is."""
    return bool(key.get("retainOnDelete")) or (key.get("inputs") or {}).get("deletionPolicy") == "ABANDON"


def _told(resource: Mapping[str, Any]) -> str:
    return f"{_word(resource)} {resource.get('id') or _name(resource)}"


def _word(resource: Mapping[str, Any]) -> str:
    return str(resource["type"].rpartition(":")[2])


def _name(resource: Mapping[str, Any]) -> str:
    return str(resource["urn"].rpartition("::")[2])


def _set(resource: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Sets values in the state's outputs, which the provider deletes by, and its inputs."""
    for part in ("inputs", "outputs"):
        if values and isinstance(resource.get(part), dict):
            resource[part] = {**resource[part], **values}
