"""Filters on audit logs: calls by the names that entries give them, in the log that such calls are written to.

Source: Cloud Audit Logs, "Types of audit logs" (what changes something is in `activity`, which nobody switches off;
what reads, or writes data, is in `data_access`), and each service's page of audited methods, as generally known in
2026-11. A call that is spelt otherwise, or looked for in the other log, is never found, and nobody refuses the filter.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.near import nearest_of
from trainyard.rehearsal.refusals.gcp.values import services

_METHOD: Final = re.compile(r"protoPayload\.methodName\"?\s*([=:])\s*\"([\w.]+)\"")
_SERVICE: Final = re.compile(r"protoPayload\.serviceName\"?\s*=\s*\"([^\"]+)\"")
_LOG: Final = re.compile(r"cloudaudit\.googleapis\.com(?:/|%2F)(\w+)")
_LOGS: Final = ("activity", "data_access", "system_event", "policy")
_CHANGES: Final = (
    *(f"google.iam.admin.v1.{name}" for name in (
        "CreateServiceAccountKey", "DeleteServiceAccountKey", "UploadServiceAccountKey", "DisableServiceAccountKey",
        "EnableServiceAccountKey", "CreateServiceAccount", "DeleteServiceAccount", "DisableServiceAccount",
        "EnableServiceAccount", "PatchServiceAccount", "SetIAMPolicy", "CreateRole", "UpdateRole", "DeleteRole",
        "UndeleteRole", "UndeleteServiceAccount",
    )),
    *(f"google.logging.v2.ConfigServiceV2.{name}" for name in (
        "CreateSink", "UpdateSink", "DeleteSink", "CreateBucket", "UpdateBucket", "DeleteBucket", "UndeleteBucket",
        "CreateExclusion", "UpdateExclusion", "DeleteExclusion", "UpdateCmekSettings", "UpdateSettings",
        "CreateView", "UpdateView", "DeleteView", "CreateLink", "DeleteLink",
    )),
    "SetIamPolicy", "google.iam.v1.IAMPolicy.SetIamPolicy", "storage.setIamPermissions", "storage.buckets.update",
    "storage.buckets.delete", "cloudsql.instances.update", "cloudsql.instances.delete",
    "google.container.v1.ClusterManager.UpdateCluster", "google.container.v1.ClusterManager.DeleteCluster",
    "google.container.v1.ClusterManager.CreateCluster", "google.cloud.kms.v1.KeyManagementService.UpdateCryptoKey",
    "DestroyCryptoKeyVersion", "UpdateCryptoKey", "google.api.serviceusage.v1.ServiceUsage.DisableService",
    "v1.compute.firewalls.insert", "v1.compute.firewalls.patch", "v1.compute.firewalls.delete",
    "google.cloud.secretmanager.v1.SecretManagerService.DestroySecretVersion",
)  # fmt: skip
"""Calls that change something, in `activity`."""
_USES: Final = (
    "storage.objects.create", "storage.objects.delete", "storage.objects.get", "storage.objects.list",
    "google.cloud.secretmanager.v1.SecretManagerService.AccessSecretVersion", "Decrypt", "Encrypt",
)  # fmt: skip
"""Calls that read, or write data, in `data_access`."""
_METHODS: Final = (*_CHANGES, *_USES)
"""Calls that alerts watch, as they stand in entries; there are more, so only a slip of the pen is told."""
_VERSION: Final = re.compile(r"(^|\.)(v\d+\w*|alpha|beta)(?=\.)")
"""The version of an API, which its calls bear in their names: any may be asked."""
_VERB: Final = re.compile(r"[A-Z]?[a-z]+")
_WRITE_ONLY: Final = ("admin", "cloudidentity", "login", "oauth2")
"""Services that nobody switches on, and that write entries all the same (Google Workspace's audit logs)."""
_JOBS: Final = "JobService."
_KINDS: Final = ("CustomJob", "DataLabelingJob", "HyperparameterTuningJob", "NasJob", "BatchPredictionJob")
_JOB_METHODS: Final = (
    *(f"{do}{kind}" for kind in _KINDS for do in ("Create", "Get", "Delete", "Cancel")),
    *(f"List{kind}s" for kind in _KINDS), "ListNasTrialDetails", "GetNasTrialDetail",
    *(f"{do}ModelDeploymentMonitoringJob" for do in ("Create", "Get", "Update", "Delete", "Pause", "Resume")),
    "ListModelDeploymentMonitoringJobs", "SearchModelDeploymentMonitoringStatsAnomalies",
)  # fmt: skip
"""Calls of Vertex AI's service of jobs (google.cloud.aiplatform.v1.JobService, API reference)."""


def check(view: View, path: str, text: str) -> None:
    """Everything about one filter."""
    logs = set(_LOG.findall(text))
    for name in sorted(logs - set(_LOGS)):
        hint = nearest(name, _LOGS)
        _note(view, path, f"there is no audit log {show(name)}", hint=hint, allowed=", ".join(_LOGS))
    for how, name in _METHOD.findall(text):
        _call(view, path, how, name)
        for known, right, wrong in ((_CHANGES, "activity", "data_access"), (_USES, "data_access", "activity")):
            if name in known and logs == {wrong}:
                _note(view, path, f"{name} is never in the log {wrong}", allowed=f"cloudaudit.googleapis.com/{right}")
    for name in _SERVICE.findall(text):
        short, domain, _ = name.partition(".googleapis.com")
        if not domain or name in services() or short in _WRITE_ONLY:
            continue
        if meant := nearest_of(short, (each.partition(".")[0] for each in services())):
            _note(view, path, f"no service is named {show(name)}", hint=f"did you mean {meant}.googleapis.com?")


def _call(view: View, path: str, how: str, name: str) -> None:
    if name in _METHODS:
        return
    _, of_jobs, method = name.rpartition(_JOBS)
    if of_jobs and how == "=" and name == f"{_JOBS}{method}":
        _note(view, path, f"calls are named in full, and {show(name)} is only the end of one", allowed='methodName:"…"')
    elif of_jobs and method and method not in _JOB_METHODS:
        _note(view, path, f"Vertex AI's service of jobs has no call {show(method)}", hint=nearest(method, _JOB_METHODS))
    elif not of_jobs and how == ":" and any(name in one for one in _METHODS):
        return  # a part of one is meant
    elif not of_jobs and how == "=" and "." not in name and (full := _ending_in(name)):
        _note(view, path, f"entries name the call in full, and {show(name)} is its end", allowed=full[0])
    elif not of_jobs and (meant := _slip(name)):
        _note(view, path, f"no call is named {show(name)}", hint=f"did you mean {meant}?")


def _ending_in(name: str) -> list[str]:
    return [one for one in _METHODS if one.endswith(f".{name}")]


def _slip(name: str) -> str:
    """The call that was probably meant: of the same service, in whatever version, which does the same to something that
    is called nearly so. Other verbs and other things make other calls, and no table has all of them."""
    service, last = _parts(name)
    verb = _verb(last)
    full = {its_last: one for one in _METHODS for its, its_last in [_parts(one)] if its == service}
    return full.get(nearest_of(last, (one for one in full if verb and verb != one and _verb(one) == verb)), "")


def _parts(name: str) -> tuple[str, str]:
    """A call's service without its version, and the call."""
    service, _, last = _VERSION.sub("", name).rpartition(".")
    return service, last


def _verb(call: str) -> str:
    found = _VERB.match(call)
    return found[0] if found is not None else ""


def _note(view: View, path: str, words: str, *, allowed: str = "", hint: str = "") -> None:
    view.error("programs-filter", path, f"{words}: no entry is meant", allowed=allowed, hint=hint)
