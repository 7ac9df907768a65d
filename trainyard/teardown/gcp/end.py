"""A project of Google Cloud as the end of a stack needs it, through `gcloud`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask, is_absence, said
from trainyard.teardown.cloud import LiftError, Say
from trainyard.teardown.kinds import GCP_ACCOUNT, GCP_DATABASE, GCP_FILES, GCP_TEMPLATE, Group
from trainyard.teardown.state import State, backup_of

BACKUP_SECONDS: Final = 3600
"""How long a backup may take: Cloud SQL writes only what changed since the last one."""
CHANGE_SECONDS: Final = 900

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
        templates = state.of(GCP_TEMPLATE)
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
        for each in state.of(GCP_DATABASE):
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

        for each in state.of(GCP_FILES):
            name, region = str(each["id"]).rpartition("/")[2], str(each["inputs"]["location"])
            if self._asked("filestore", "instances", "describe", name, f"--location={region}") is None:
                continue
            if "homes" in keep:
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

    def sweep(self, _state: State, _say: Say) -> int:
        """None: what GKE's controllers make goes with its Service or claim, and the proof tells what did not."""
        return 0

    def afterwards(self, _stood: Sequence[State], _since: datetime, _say: Say) -> int:
        """None: a bucket of logs stays deleted; what is written after its sink is gone is the project's own."""
        return 0

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
