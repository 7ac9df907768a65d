"""The record of who did what in the project: what is written down, where it stays, and who is told of what matters.

Google writes down by itself who changes what (Admin Activity), for 400 days, and nobody can switch that off. Who reads
and writes data, and who uses a key, it writes down where it is asked to. Every log goes to a log bucket of the region,
under a key of its own, and no more to `_Default`, which is of no region.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import pulumi
import pulumi_gcp.logging as logging
import pulumi_gcp.projects as projects

from trainyard.components.gcp.channels import LogAlarm, LogAlarmsArgs, log_alarms
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions.monitoring import RUNBOOKS

DATA_ACCESS: Final = ("storage", "cloudkms", "secretmanager")
"""Services whose reads and writes of data are written down: objects, uses of keys, passwords."""

EVERYTHING: Final = "severity>=DEFAULT"
"""A filter that every entry of a log passes: DEFAULT is the least of severities (Cloud Logging, "Logging query
language", as generally known)."""

_BUCKET_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")

ALARMS: Final[Mapping[str, tuple[str, str]]] = {
    "rights": (
        "somebody changes rights of the project",
        'log_id("cloudaudit.googleapis.com/activity") AND resource.type="project" AND '
        'protoPayload.methodName="SetIamPolicy"',
    ),
    "record": (
        "somebody changes what is recorded, or where",
        'log_id("cloudaudit.googleapis.com/activity") AND '
        "(protoPayload.serviceData.policyDelta.auditConfigDeltas:* OR "
        r'protoPayload.methodName=~"^google\.logging\.v2\.ConfigServiceV2\.(Create|Update|Delete)'
        r'(Sink|Bucket|BucketAsync|Exclusion)")',
    ),
    "keys": (
        "somebody makes a key of a service account, which works from everywhere",
        'log_id("cloudaudit.googleapis.com/activity") AND '
        'protoPayload.methodName="google.iam.admin.v1.CreateServiceAccountKey"',
    ),
}
"""What somebody is told of: a short name that stays, in words, and the entries of the log that tell it. All are of the
log of changes, which nobody can switch off or keep entries out of (CIS Google Cloud 2.4 and 2.5 ask for the first
two)."""


class ProjectRecordArgs(TypedDict):
    """What `ProjectRecord` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    location: pulumi.Input[str]
    """Region in which the logs stay."""
    bucket_id: str
    """Name of the log bucket: up to 100 letters, digits, `_`, `.` and `-`, the first a letter or digit."""
    key_id: pulumi.Input[str]
    """Key of the log bucket, in its region."""
    retention_days: int
    """Days that every entry is kept, 1 to 3650."""
    locked: bool
    """Whether the days can never be made fewer, nor the bucket be deleted before its entries are that old. There is no
    way back."""
    protect: bool
    """Whether Pulumi refuses to take the log bucket out of the stack."""


class ProjectRecord(pulumi.ComponentResource):
    """What is written down of the project's data, and the log bucket that all of its logs go to.

    The log bucket outlives the stack; logs go to `_Default` again when the stack is gone. `depends_on` is what it waits
    for: services, and the right of Cloud Logging on the key.
    """

    log_bucket: pulumi.Output[str]
    """projects/PROJECT/locations/LOCATION/buckets/BUCKET."""

    def __init__(self, name: str, args: ProjectRecordArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name or days that Cloud Logging refuses."""
        super().__init__("trainyard:index:ProjectRecord", name, None, opts)
        if not _BUCKET_ID.fullmatch(args["bucket_id"]):
            raise ValueError(
                f"bucket_id: got {args['bucket_id']!r}; up to 100 letters, digits, '_', '.' and '-', a letter or digit "
                "first"
            )
        if not 1 <= args["retention_days"] <= 3650:
            raise ValueError(f"retention_days: got {args['retention_days']}; 1 to 3650")
        first = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        for service in DATA_ACCESS:
            projects.IAMAuditConfig(
                f"{name}-{service}",
                project=args["project"],
                service=f"{service}.googleapis.com",
                audit_log_configs=[{"log_type": kind} for kind in ("ADMIN_READ", "DATA_READ", "DATA_WRITE")],
                opts=first,
            )
        bucket = logging.ProjectBucketConfig(
            f"{name}-logs",
            project=args["project"],
            location=args["location"],
            bucket_id=args["bucket_id"],
            description="Every log of the project, in its region.",
            retention_days=args["retention_days"],
            locked=args["locked"],
            cmek_settings={"kms_key_name": args["key_id"]},
            deletion_policy="ABANDON",
            opts=pulumi.ResourceOptions(parent=self, protect=args["protect"], depends_on=prerequisites(opts)),
        )
        self.log_bucket = bucket.id
        sink = logging.ProjectSink(
            f"{name}-sink",
            project=args["project"],
            name=args["bucket_id"],
            description="Every log of the project to the log bucket of its region.",
            destination=pulumi.Output.concat("logging.googleapis.com/", bucket.id),
            # Within its own project a sink needs no account of its own to write as.
            unique_writer_identity=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        # After the sink, so that no entry is in neither place.
        logging.ProjectExclusion(
            f"{name}-not-global",
            project=args["project"],
            name=f"{args['bucket_id']}-not-global",
            description="Nothing to _Default, which is of no region.",
            filter=EVERYTHING,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[sink]),
        )
        register(self)


class RecordAlarmsArgs(TypedDict):
    """What `RecordAlarms` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    subject: str
    """Whose alarms these are, for whoever reads them: the environment's name."""
    emails: Sequence[str]
    """Addresses that are written to. May be empty: then incidents are seen in the console alone."""
    labels: Mapping[str, str]
    """Labels of channels and policies, which Google calls the user's."""
    runbooks: NotRequired[str]
    """The address that the runbooks' pages are below. Default `docs/runbooks`, in Trainyard's repository."""


class RecordAlarms(pulumi.ComponentResource):
    """Who is told when rights of the project change, or the record does. `depends_on` is what it waits for: services.

    An `up` that changes them sets it off as well.
    """

    def __init__(self, name: str, args: RecordAlarmsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trainyard:index:RecordAlarms", name, None, opts)
        child = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        told: LogAlarmsArgs = {
            "project": args["project"],
            "subject": args["subject"],
            "addressed": f"Security of {args['subject']}",
            "emails": args["emails"],
            "labels": args["labels"],
        }
        runbook = f"{args.get('runbooks', RUNBOOKS)}/break-glass.md"
        alarms = {short: LogAlarm(what, filter_, runbook) for short, (what, filter_) in ALARMS.items()}
        log_alarms(name, told, alarms, child)
        register(self)
