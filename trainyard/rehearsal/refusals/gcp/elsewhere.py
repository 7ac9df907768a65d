"""Services that no environment of ours makes, of other people's programs on Google Cloud: what their APIs refuse.

Sources: Compute Engine, "GPU machine types" (a host's maintenance ends a machine with GPUs) and "Spot VMs"; Backup for
GKE, `RetentionPolicy`; Cloud Build, "User-specified service accounts" (who names one says where logs go); Eventarc,
"Eventarc locations" (events of a bucket are those of its place); Workload Identity Federation, "Configure for
deployment pipelines" (an issuer whom everybody shares needs a condition); BigQuery, Cloud Run and Redis as their pages
have it, generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.problems import nearest, nearest_word
from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_BUILD_TRIGGER,
    GCP_EVENT_TRIGGER,
    GCP_FUNCTION,
    GCP_IDENTITY_PROVIDER,
    GCP_MACHINES,
    GKE_BACKUP_PLAN,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_WITH_GPUS: Final = re.compile(r"(?:a2|a3|a4|a4x|g2|g4)-")
_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)s")
_OWN_RULES: Final = ("gcp:container/", "gcp:compute/routerNat:", "gcp:cloudrunv2/")
"""Types whose least and most rules of their own are held against each other."""
_GITHUB: Final = "https://token.actions.githubusercontent.com"
SHARED: Final[Mapping[str, tuple[str, ...]]] = {
    _GITHUB: (
        "actor", "actor_id", "aud", "base_ref", "enterprise", "enterprise_id", "environment", "event_name", "exp",
        "head_ref", "iat", "iss", "job_workflow_ref", "job_workflow_sha", "jti", "nbf", "ref", "ref_protected",
        "ref_type", "repository", "repository_id", "repository_owner", "repository_owner_id", "repository_visibility",
        "run_attempt", "run_id", "run_number", "runner_environment", "sha", "sub", "workflow", "workflow_ref",
        "workflow_sha", "check_run_id", "issuer_scope",
    ),
    "https://gitlab.com": (
        "aud", "ci_config_ref_uri", "ci_config_sha", "deployment_tier", "environment", "environment_action",
        "environment_protected", "exp", "iat", "iss", "jti", "namespace_id", "namespace_path", "nbf", "pipeline_id",
        "pipeline_source", "project_id", "project_path", "project_visibility", "ref", "ref_path", "ref_protected",
        "ref_type", "runner_environment", "runner_id", "sha", "sub", "user_access_level", "user_email", "user_id",
        "user_identities", "user_login", "groups_direct", "job_id", "job_project_id", "job_project_path",
        "job_namespace_id", "job_namespace_path",
    ),
}  # fmt: skip
"""Issuers of whom everybody gets tokens, and the claims of those (GitHub, "OpenID Connect reference"; GitLab, "ID
token payload")."""
_CLAIM: Final = re.compile(r"\bassertion\.([A-Za-z_]\w*)")
_MAPPED: Final = re.compile(r"\battribute\.([a-z_][a-z0-9_]*)")


def least_and_most(view: View) -> None:
    """Checks that of two inputs beside each other the least is not above the most."""
    if view.type.startswith("gcp:") and not view.type.startswith(_OWN_RULES):
        for path, least, most in _pairs(view.inputs, ""):
            view.error("gcp-least-and-most", path, f"{show(least)}, and at most {show(most)}", allowed="at most that")


def _pairs(value: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _pairs(item, f"{path}[{index}]")
    if not isinstance(value, Mapping):
        return
    for key, item in value.items():
        here = f"{path}.{key}" if path else str(key)
        yield from _pairs(item, here)
        other = value.get(f"max{key[3:]}") if str(key).startswith("min") else None
        least, most = _size(item), _size(other)
        if least is not None and most and least > most:
            yield here, item, other


def _size(value: Any) -> float | None:
    """A number, or a time in seconds."""
    found = _SECONDS.fullmatch(value) if isinstance(value, str) else None
    return float(found[1]) if found is not None else None if isinstance(value, bool) else as_number(value)


def machine(view: View) -> None:
    """Machines with GPUs end when their host is maintained, and those that may go at any time are not started anew."""
    kept, machine_type = view.text("scheduling.onHostMaintenance"), view.text("machineType") or ""
    added = any(one.get("count") != 0 for _, one in view.items("guestAccelerators"))
    gpus = added or _WITH_GPUS.match(machine_type.rpartition("/")[2])
    spot = view.text("scheduling.provisioningModel") == "SPOT" or view.flag("scheduling.preemptible") is True
    ends = spot or view.is_unknown("scheduling.provisioningModel") or view.is_unknown("scheduling.preemptible")
    if gpus and kept == "MIGRATE":
        what = "a machine with GPUs is not moved to another host"
        view.error("gcp-gpu-maintenance", "scheduling.onHostMaintenance", what, allowed="TERMINATE")
    elif added and not ends and view.lacks("scheduling.onHostMaintenance"):
        what = "is missing beside GPUs, and MIGRATE is what holds without it"
        view.error("gcp-gpu-maintenance", "scheduling.onHostMaintenance", what, allowed="TERMINATE")
    if not spot:
        return
    if view.flag("scheduling.automaticRestart") is not False and not view.is_unknown("scheduling.automaticRestart"):
        what = "a machine that may go at any time is not started anew by Google"
        view.error("gcp-spot", "scheduling.automaticRestart", what, allowed="false")
    if kept == "MIGRATE":
        what = "a machine that may go at any time is not moved to another host"
        view.error("gcp-spot", "scheduling.onHostMaintenance", what, allowed="TERMINATE")


def backup_plan(view: View) -> None:
    """A backup is not locked for longer than it is kept."""
    locked, kept = (view.number(f"retentionPolicy.{key}") for key in ("backupDeleteLockDays", "backupRetainDays"))
    if locked is not None and kept and locked > kept:
        path = "retentionPolicy.backupDeleteLockDays"
        view.error(
            "gcp-backup", path, f"{locked:g} days, of {kept:g} that a backup is kept", allowed=f"at most {kept:g}"
        )


def build(view: View) -> None:
    """Who builds as an account of the project says where the logs go."""
    if not (view.has("serviceAccount") and view.has("build")) or view.is_unknown("build"):
        return
    logging, path = view.text("build.options.logging"), "build.options.logging"
    elsewhere = view.has("build.logsBucket") or view.has("build.options.defaultLogsBucketBehavior")
    unknown = view.is_unknown(path) or view.is_unknown("build.options")
    if logging in ("CLOUD_LOGGING_ONLY", "NONE", "GCS_ONLY") or elsewhere or unknown:
        return
    allowed = "CLOUD_LOGGING_ONLY or NONE, or build.logsBucket"
    view.error(
        "gcp-build-logs", path, "a build as an account of the project, without a place for its logs", allowed=allowed
    )


def event_place(view: View) -> None:
    """Events of a bucket are told in the bucket's own place."""
    if view.type == GCP_EVENT_TRIGGER:
        criteria, path = view.items("matchingCriterias"), "location"
    else:
        criteria, path = view.items("eventTrigger.eventFilters"), "eventTrigger.triggerRegion"
    place = view.text(path)
    if place is None:
        return
    for _, criterion in criteria:
        if criterion.get("attribute") != "bucket":
            continue
        for bucket in view.stack.of_type(GCP_BUCKET):
            names = {bucket.text("name"), bucket.resource.outputs.get("name"), bucket.resource.id}
            of = bucket.text("location")
            if criterion.get("value") in names and of is not None and of.lower() != place.lower():
                words = f"{show(place)}; {bucket.name}, whose events these are, is in {of}"
                view.error("gcp-event-place", path, words, allowed=of.lower())


def provider(view: View) -> None:
    """An issuer whom everybody shares: whom of them it lets in, and by which claims."""
    given = view.text("oidc.issuerUri")
    if given is None:
        return
    issuer = given.rstrip("/")
    known = SHARED.get(issuer)
    if known is None:
        near = nearest_word(issuer, [_GITHUB], 0.95)
        if near and not issuer.startswith(f"{near}/"):  # an enterprise has a path of its own
            words = f"{show(given)} issues no tokens: nobody is let in"
            view.error("gcp-issuer", "oidc.issuerUri", words, allowed=near, hint=f"did you mean {near}?")
        return
    if given != issuer and issuer == _GITHUB:  # GitLab's own documentation writes its issuer with the stroke
        words = f"{show(given)}: its tokens say {issuer}, and not one is taken"
        view.error("gcp-issuer", "oidc.issuerUri", words, allowed=issuer)
    condition = view.text("attributeCondition")
    if view.lacks("attributeCondition") or condition == "":
        words = f"is missing: everybody of {issuer} would be let in"
        view.error("gcp-issuer", "attributeCondition", words, allowed="a condition on one of its claims")
    mapping = {key: text for key, text in view.mapping("attributeMapping").items() if isinstance(text, str)}
    texts = {
        "attributeCondition": condition or "",
        **{f"attributeMapping.{key}": text for key, text in mapping.items()},
    }
    for path, text in texts.items():
        for claim in dict.fromkeys(_CLAIM.findall(text)):
            meant = "" if claim in known else _meant(claim, known)
            if meant:
                words = f"assertion.{claim} is no claim of {issuer}"
                view.error("gcp-issuer", path, words, allowed=", ".join(known), hint=f"did you mean {meant}?")


def _meant(claim: str, known: tuple[str, ...]) -> str:
    """The claim that another was probably meant for; empty where it may be one that came since, or somebody's own."""
    return nearest_of(claim, known) or next((one for one in known if one.startswith(claim)), "")


def mapped(view: View) -> None:
    """A provider's condition asks for attributes that its own mapping makes, and says who somebody is."""
    mapping = view.mapping("attributeMapping")
    if not mapping or view.blurred("attributeMapping") or view.has("aws"):
        return
    if "google.subject" not in mapping:
        view.error("gcp-issuer", "attributeMapping", "has no google.subject", allowed="google.subject among them")
    for name in dict.fromkeys(_MAPPED.findall(view.text("attributeCondition") or "")):
        if f"attribute.{name}" not in mapping:
            keys = [str(key) for key in mapping]
            words = f"attribute.{name} is not mapped"
            hint = nearest(f"attribute.{name}", keys)
            view.error("gcp-issuer", "attributeCondition", words, allowed=", ".join(keys), hint=hint)


RULES: Rules = {
    machine: GCP_MACHINES,
    backup_plan: (GKE_BACKUP_PLAN,),
    build: (GCP_BUILD_TRIGGER,),
    event_place: (GCP_EVENT_TRIGGER, GCP_FUNCTION),
    provider: (GCP_IDENTITY_PROVIDER,),
    mapped: (GCP_IDENTITY_PROVIDER,),
    least_and_most: (EVERY_TYPE,),
}
