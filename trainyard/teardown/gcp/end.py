"""A project of Google Cloud as the end of a stack needs it, through `gcloud`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask, is_absence, said
from trainyard.recorded.types import (
    CLOUD_SQL,
    FILESTORE,
    GCP_ACCOUNT,
    GCP_EDITOR_TEMPLATE,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SUBNETWORK,
)
from trainyard.teardown.cloud import LiftError, Say
from trainyard.teardown.kinds import Group
from trainyard.teardown.state import State, backup_of

BACKUP_SECONDS: Final = 3600
"""How long a backup may take: Cloud SQL writes only what changed since the last one."""
CHANGE_SECONDS: Final = 900
ASK_EVERY_SECONDS: Final = 15
ON_ITS_WAY: Final = ("CREATING", "FINALIZING")
"""States of a backup that will be ready (Filestore API, `Backup.State`, as generally known in 2026-11)."""

HELD_SECONDS: Final = 9000
"""How long a subnet's addresses are waited for: Cloud Run gives them back one to two hours after what had them is gone
(Cloud Run, "Direct VPC egress with a VPC network", as generally known in 2026-11)."""
ASK_OF_ADDRESSES_SECONDS: Final = 60
_OF_CLOUD_RUN: Final = "serverless-ipv4-"
"""How the names of those addresses begin."""

RUNNING: Final = ("JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_PAUSED")
"""States of a custom job that is still paid for, or will be (Vertex AI API, `JobState`, 2026-11)."""


@dataclass(frozen=True, slots=True)
class GcpEnd:
    """See `Cloud`."""

    project: str

    def check(self) -> None:
        """Raises CannotAskError."""
        ask("projects", "describe", self.project)

    def before(self, state: State, _keep: Sequence[Group], say: Say) -> None:
        """Managed jobs, and the editors that people opened: in no state, and an editor holds the subnet that it is in.

        What runs on a cluster is stopped there, with its queues and pods.
        """
        templates = state.of(GCP_EDITOR_TEMPLATE)
        own = {str(each["id"]).rpartition("/")[2] for each in templates}
        for region in sorted({str(each["inputs"]["location"]) for each in templates}):
            place = (f"--region={region}", f"--project={self.project}")
            accounts = {str(each["outputs"].get("email")) for each in state.of(GCP_ACCOUNT)}
            for kind, spec in (("hp-tuning-jobs", "trialJobSpec"), ("custom-jobs", "jobSpec")):
                for job in ask("ai", kind, "list", *place, f"--filter=state:({' '.join(RUNNING)})") or ():
                    if job.get(spec, {}).get("serviceAccount") in accounts:
                        say(f"cancelling job {job.get('displayName', job['name'])}")
                        self._said("ai", kind, "cancel", str(job["name"]), *place, seconds=CHANGE_SECONDS)
            for editor in ask("colab", "runtimes", "list", *place) or ():
                made_of = (editor.get("notebookRuntimeTemplateRef") or {}).get("notebookRuntimeTemplate", "")
                if str(made_of).rpartition("/")[2] in own:
                    whose = editor.get("runtimeUser", "nobody")
                    say(f"deleting editor {editor.get('displayName', editor['name'])} of {whose}")
                    self._said("colab", "runtimes", "delete", str(editor["name"]), *place, seconds=CHANGE_SECONDS)

    def unprotect(self, state: State, keep: Sequence[Group], say: Say) -> None:
        """Databases and shared files; one that is to stay leaves a backup behind, and one that is not leaves none."""
        for each in state.of(CLOUD_SQL):
            name = str(each["id"])
            found = self._database(name)
            if found is None:
                continue
            stays = "tracking" in keep
            if stays:
                say(f"backing up database {name}")
                self._sql(
                    "backups", "create", f"--instance={name}", "--description=before the end of the environment",
                    seconds=BACKUP_SECONDS,
                )  # fmt: skip
            settings = found.get("settings") or {}
            wanted = [
                flag
                for flag, has, want in (
                    ("deletion-protection", bool(settings.get("deletionProtectionEnabled")), False),
                    ("retain-backups-on-delete", bool(settings.get("retainBackupsOnDelete")), stays),
                )
                for flag in ([f"--{flag}" if want else f"--no-{flag}"] if has != want else [])
            ]
            if wanted:
                say(f"lifting the protection of database {name}")
                self._sql("instances", "patch", name, *wanted, seconds=CHANGE_SECONDS)

        for each in state.of(FILESTORE):
            name, region = str(each["id"]).rpartition("/")[2], str(each["inputs"]["location"])
            found = self._asked("filestore", "instances", "describe", name, f"--location={region}")
            if found is None:
                continue
            if "homes" in keep and not self._backed_up(backup_of(each), region, str(found.get("createTime", "")), say):
                say(f"backing up shared files {name}")
                self._said(
                    "filestore", "backups", "create", backup_of(each), f"--region={region}", f"--instance={name}",
                    f"--instance-location={region}", f"--file-share={each['inputs']['fileShares']['name']}",
                    f"--project={self.project}", seconds=BACKUP_SECONDS,
                )  # fmt: skip
            if each["inputs"].get("deletionProtectionEnabled"):
                say(f"lifting the protection of shared files {name}")
                self._said(
                    "filestore", "instances", "update", name, f"--location={region}", "--no-deletion-protection",
                    f"--project={self.project}", seconds=CHANGE_SECONDS,
                )  # fmt: skip

    def sweep(self, state: State, say: Say) -> int:
        """Deletes nothing: what GKE's controllers make goes with its Service or claim, and the proof tells the rest.

        Addresses that Cloud Run holds in the stack's subnets are waited for: nobody can give them back but it.
        """
        try:
            found = self._held(state)
            if not found or self._runs(state):  # what runs keeps its addresses: it was not they that stopped Pulumi
                return 0
            most = f"{HELD_SECONDS // 60} minutes"
            say(
                f"waiting for Cloud Run, which holds {len(found)} addresses of the stack's subnets ({found[0]}) for "
                f"one to two hours; {most} at most, and a run that is stopped here may be called again"
            )
            end = time.monotonic() + HELD_SECONDS
            while self._held(state):
                if time.monotonic() > end:
                    say(f"Cloud Run holds addresses still after {most}; run this again later")
                    return 0
                time.sleep(ASK_OF_ADDRESSES_SECONDS)
        except CannotAskError as error:
            say(f"whether Cloud Run holds addresses of the subnets cannot be asked: {error}; {error.remedy}")
            return 0
        return len(found)

    def _held(self, state: State) -> list[str]:
        """Names of addresses that Cloud Run has in the stack's own subnets."""
        own = {str(each["id"]).partition("/regions/")[2] for each in state.of(GCP_SUBNETWORK)} - {""}
        if not own:
            return []
        listed = ask("compute", "addresses", "list", f"--project={self.project}", f"--filter=name~^{_OF_CLOUD_RUN}")
        return [
            str(each["name"])
            for each in listed or ()
            if str(each["name"]).startswith(_OF_CLOUD_RUN)
            and str(each.get("subnetwork", "")).partition("/regions/")[2] in own
        ]

    def _runs(self, state: State) -> bool:
        """Whether a service or a job of Cloud Run in the state is there still."""
        for kind, type_ in (("services", GCP_RUN_SERVICE), ("jobs", GCP_RUN_JOB)):
            for each in state.of(type_):
                place = (f"--region={each['inputs']['location']}", f"--project={self.project}")
                there = {found.get("metadata", {}).get("name") for found in ask("run", kind, "list", *place) or ()}
                if str(each["id"]).rpartition("/")[2] in there:
                    return True
        return False

    def afterwards(self, _stood: Sequence[State], _since: datetime, _say: Say) -> int:
        """None: a bucket of logs stays deleted; what is written after its sink is gone is the project's own."""
        return 0

    def _backed_up(self, backup: str, region: str, share_made: str, say: Say) -> bool:
        """Whether a run before this one has made the backup of a share, which is waited for where it is on its way.

        Raises LiftError for one that is no good, and for one of a share that had this name before.
        """
        end = time.monotonic() + BACKUP_SECONDS
        waiting = False
        while (found := self._asked("filestore", "backups", "describe", backup, f"--region={region}")) is not None:
            state, made = str(found.get("state")), str(found.get("createTime", ""))
            delete = f"gcloud filestore backups delete {backup} --region={region} --project={self.project}"
            if share_made and made and datetime.fromisoformat(made) < datetime.fromisoformat(share_made):
                told = f"backup {backup} of {made} is of an earlier share of this name: keep its files elsewhere"
                raise LiftError(f"{told}, then `{delete}`")
            if state == "READY":
                say(f"backup {backup} of {made} stays; for files that are newer, `{delete}` and run this again")
                return True
            if state not in ON_ITS_WAY:
                raise LiftError(f"backup {backup} is {state}; `{delete}`, then run this again")
            if time.monotonic() > end:
                raise LiftError(
                    f"backup {backup} is still {state} after {BACKUP_SECONDS // 60} minutes; run this again"
                )
            if not waiting:
                say(f"waiting for backup {backup}, which is {state}")
                waiting = True
            time.sleep(ASK_EVERY_SECONDS)
        return False

    def _database(self, name: str) -> dict[str, Any] | None:
        return self._asked("sql", "instances", "describe", name)

    def _asked(self, *command: str) -> dict[str, Any] | None:
        """What gcloud answers; None where it says that there is no such thing."""
        try:
            found: dict[str, Any] = ask(*command, f"--project={self.project}")
        except CannotAskError as error:
            if is_absence(error):
                return None
            raise
        return found

    def _sql(self, *command: str, seconds: int) -> None:
        self._said("sql", *command, f"--project={self.project}", seconds=seconds)

    def _said(self, *command: str, seconds: int) -> None:
        try:
            said(list(command), seconds)
        except CannotAskError as error:
            raise LiftError(f"{error}; {error.remedy}") from error
