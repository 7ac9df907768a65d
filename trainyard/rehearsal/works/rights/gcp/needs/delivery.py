"""What services that hand on messages, lines, events and copies need where they put them, and who calls what.

| who | what | where |
| --- | --- | --- |
| Pub/Sub's own account | publish; consume | the topic for dead letters; the subscription that they are of |
| Pub/Sub's own account | write | the table or the bucket of a subscription |
| the account of the token of a push, a schedule or an event | call | the service or job of Cloud Run |
| Cloud Storage's own account | publish | the topic of a notification; the project, for events of Eventarc |
| a sink's writer | publish, write | its topic, data set or bucket |
| Monitoring's own account | publish | the topic of a channel |
| Secret Manager's own account | publish | the topics of a secret |
| Storage Transfer's own account | read; write | the buckets of a job |

Sources: Pub/Sub, "Handle message failures", "BigQuery subscriptions", "Cloud Storage subscriptions", "Push
subscriptions" (authentication); Cloud Storage, "Configure Pub/Sub notifications"; Cloud Logging, "Set destination
permissions"; Cloud Monitoring, "Create and manage notification channels" (Pub/Sub); Secret Manager, "Event
notifications"; Storage Transfer Service, "Permissions"; Cloud Scheduler, "Use authentication with HTTP targets";
Eventarc, "Roles and permissions"; as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.recorded.model import RecordedResource, has_unknown
from trainyard.recorded.types import (
    GCP_BUCKET_NOTIFICATION,
    GCP_DATA_TRANSFER,
    GCP_DATABASE_USER,
    GCP_DATASET,
    GCP_EVENT_TRIGGER,
    GCP_FUNCTION,
    GCP_LOG_SINK,
    GCP_NOTIFICATION_CHANNEL,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SCHEDULE,
    GCP_SECRET,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
    GCP_TRANSFER_JOB,
)
from trainyard.rehearsal.context import Stack, View, expand
from trainyard.rehearsal.works.rights.gcp.grants import REGIONAL_SECRET
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.keys import agents
from trainyard.rehearsal.works.rights.gcp.needs.model import OWN, Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project, full_name, object_name

RULE: Final = "rights-delivery"
_ON_SERVICES: Final = ("gcp:cloudrunv2/serviceIam", "gcp:cloudrun/iam", "gcp:cloudfunctionsv2/functionIam")
"""How the types begin that give rights to a service, or to the function that it is."""
_PUBLISH: Final = "pubsub.topics.publish"
_WRITE_ROWS: Final = "bigquery.tables.updateData"
_ANYBODY: Final = Caller("whoever shows no token", member="allUsers")
_RUNS: Final = re.compile(r"https://(?:[\w-]+-)?run\.googleapis\.com/.*/jobs/([^/:]+):run")
_WRITER: Final = re.compile(r"serviceAccount:service-\d+@gcp-sa-logging\.iam\.gserviceaccount\.com")


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """Everything that is handed on within the recording."""
    yield from _subscriptions(stack, project)
    yield from _announcements(stack)
    yield from _sinks(stack, project)
    yield from _events(stack, project)
    yield from _awoken(stack, project)
    yield from _copies(stack, project)
    yield from _logins(stack, project)
    for view in stack.of_type(GCP_SCHEDULE):
        uri = view.text("httpTarget.uri") or ""
        token = view.text("httpTarget.oidcToken.serviceAccountEmail")
        yield from _called(stack, project, view, "httpTarget", uri, token)
        yield from _run(stack, project, view, uri)


def _topic(stack: Stack, view: View, path: str) -> RecordedResource | None:
    """The recorded topic that an input names."""
    return _thing(stack, view, path, GCP_TOPIC)


def _thing(stack: Stack, view: View, path: str, type_: str) -> RecordedResource | None:
    found = stack.resources.referred(view.resource, path.partition(".")[0].partition("[")[0], type_)
    text = str(view.text(path) or "")
    named = [one for one in stack.resources.of(type_) if _is_named(one, text)]
    both = [one for one in named if one in found] or named
    return both[0] if len(both) == 1 else None


def _is_named(one: RecordedResource, text: str) -> bool:
    """Whether a text names a thing: by its id, or by its name alone."""
    if not text:
        return False
    names = {one.inputs.get("name"), one.outputs.get("name"), one.inputs.get("datasetId")} - {None}
    return text in (one.id, *names) or text.endswith(f"/{one.id}")


def _publish(view: View, path: str, who: tuple[Caller, ...], words: str, purpose: str, topic: str) -> Need:
    hint = "a TopicIAMMember of the topic that gives it roles/pubsub.publisher"
    return Need(view, path, RULE, who, words, purpose, (Deed(_PUBLISH, topic),), hint)


def _subscriptions(stack: Stack, project: Project) -> Iterator[Need]:
    words, callers = agents(stack, "pubsub", "Pub/Sub")
    for view in stack.of_type(GCP_SUBSCRIPTION):
        dead = _topic(stack, view, path := "deadLetterPolicy.deadLetterTopic")
        if dead is not None:
            yield _publish(view, path, callers, words, "lay aside what fails", str(dead.id))
            deeds = (Deed("pubsub.subscriptions.consume", str(view.resource.id)),)
            hint = "a SubscriptionIAMMember of the subscription that gives it roles/pubsub.subscriber"
            yield Need(view, path, RULE, callers, words, "take off what it laid aside", deeds, hint)
        table = view.text("bigqueryConfig.table")
        own = view.text("bigqueryConfig.serviceAccountEmail")
        who = (words, callers) if own is None else _as(project, own)
        if table is not None and who is not None and not view.is_unknown("bigqueryConfig.serviceAccountEmail"):
            for dataset in stack.resources.of(GCP_DATASET):
                if dataset.inputs.get("datasetId") == table.replace(":", ".").split(".")[-2:][0]:
                    yield _rows(stack, view, "bigqueryConfig.table", who, "write messages into the table", dataset)
        bucket = project.bucket(view.text("cloudStorageConfig.bucket") or "")
        own = view.text("cloudStorageConfig.serviceAccountEmail")
        who = (words, callers) if own is None else _as(project, own)
        if bucket is not None and who is not None and not view.is_unknown("cloudStorageConfig.serviceAccountEmail"):
            deeds = (Deed("storage.objects.create", object_name(bucket, "messages")),)
            hint = "a BucketIAMMember of the bucket that gives it roles/storage.objectCreator"
            yield Need(view, "cloudStorageConfig.bucket", RULE, who[1], who[0], "write messages", deeds, hint)
        uri = view.text("pushConfig.pushEndpoint") or ""
        token = view.text("pushConfig.oidcToken.serviceAccountEmail")
        yield from _called(stack, project, view, "pushConfig", uri, token)


def _as(project: Project, email: str) -> tuple[str, tuple[Caller, ...]] | None:
    """An account of the recording in words and as who asks; None for one of somebody else's."""
    email = email.rpartition("/")[2]
    if project.account(email) is None:
        return None
    return f"the account {email}", (Caller(f"account {email}", account=email),)


def _rows(
    stack: Stack, view: View, path: str, who: tuple[str, tuple[Caller, ...]], purpose: str, dataset: RecordedResource
) -> Need:
    words, callers = who
    if dataset.inputs.get("accesses") or stack.of_type("gcp:bigquery/datasetAccess:DatasetAccess"):
        callers = ()  # who may is in a list of the data set's own
    deeds = (Deed(_WRITE_ROWS, str(dataset.id)),)
    hint = "a DatasetIamMember of the data set that gives it roles/bigquery.dataEditor"
    return Need(view, path, RULE, callers, words, purpose, deeds, hint)


def _called(stack: Stack, project: Project, view: View, at: str, uri: str, token: str | None) -> Iterator[Need]:
    """A service of Cloud Run that is called by its address."""
    if view.is_unknown(at) or view.is_unknown(f"{at}.oidcToken") or view.text(f"{at}.oauthToken.serviceAccountEmail"):
        return
    headers = f"{at}.headers"
    if view.is_unknown(headers) or "authorization" in {str(name).lower() for name in view.mapping(headers)}:
        return  # a token of its own
    for service in stack.of_type(GCP_RUN_SERVICE):
        known = service.resource.outputs.get("uri")
        if not isinstance(known, str) or not (uri == known or uri.startswith(f"{known}/")):
            continue
        if service.flag("invokerIamDisabled") or service.is_unknown("invokerIamDisabled"):
            continue
        who = ("a call without a token", (_ANYBODY,)) if token is None else _as(project, token)
        if who is not None and not view.is_unknown(f"{at}.oidcToken.serviceAccountEmail"):
            yield _invoke(view, f"{at}.oidcToken", *who, str(service.resource.id))


def _invoke(view: View, path: str, words: str, who: tuple[Caller, ...], service: str) -> Need:
    hint = "a ServiceIamMember of the service that gives the account of its token roles/run.invoker"
    return Need(view, path, RULE, who, words, "call the service", (Deed("run.routes.invoke", service),), hint)


def _run(stack: Stack, project: Project, view: View, uri: str) -> Iterator[Need]:
    """A job of Cloud Run that a schedule starts."""
    named, email = _RUNS.fullmatch(uri), view.text("httpTarget.oauthToken.serviceAccountEmail")
    who = _as(project, email) if email is not None else None
    if named is None or who is None:
        return
    for job in stack.resources.of(GCP_RUN_JOB):
        if str(job.id).endswith(f"/jobs/{named[1]}") or job.outputs.get("name") == named[1]:
            hint = "a cloudrunv2.JobIamMember of the job that gives it roles/run.invoker"
            deeds = (Deed("run.jobs.run", str(job.id)),)
            yield Need(view, "httpTarget.oauthToken", RULE, who[1], who[0], "start the job", deeds, hint)


def _announcements(stack: Stack) -> Iterator[Need]:
    """Who tells of things by a topic: buckets, alerts, secrets."""
    for type_, path, service, called, purpose in (
        (GCP_BUCKET_NOTIFICATION, "topic", "storage", "Cloud Storage", "announce what lands in the bucket"),
        (GCP_NOTIFICATION_CHANNEL, "labels.topic", "monitoring", "Cloud Monitoring", "tell of alerts"),
        (GCP_SECRET, "topics[].name", "secretmanager", "Secret Manager", "tell of the secret"),
        (REGIONAL_SECRET, "topics[].name", "secretmanager", "Secret Manager", "tell of the secret"),
    ):
        words, callers = agents(stack, service, called)
        for view in stack.of_type(type_):
            for at, _ in expand(view.inputs, path):
                topic = _topic(stack, view, at)
                if topic is not None:
                    yield _publish(view, at, callers, words, purpose, str(topic.id))


def _sinks(stack: Stack, project: Project) -> Iterator[Need]:
    path = "destination"
    for view in stack.of_type(GCP_LOG_SINK):
        writer = view.resource.outputs.get("writerIdentity")
        if view.flag("uniqueWriterIdentity") is False or not isinstance(writer, str):
            continue
        named = {member for grant in project.grants for member in grant.members if _WRITER.fullmatch(member)}
        words = f"the sink's writer ({writer.removeprefix('serviceAccount:')})"
        callers = tuple(Caller(words, member=member) for member in sorted({writer, *named}))
        host, _, rest = (view.text(path) or "").partition("/")
        if host == "pubsub.googleapis.com":
            for topic in stack.resources.of(GCP_TOPIC):
                if topic.id == rest:
                    yield _publish(view, path, callers, words, "publish what it is to keep", rest)
        elif host == "bigquery.googleapis.com":
            for dataset in stack.resources.of(GCP_DATASET):
                if dataset.id == rest:
                    yield _rows(stack, view, path, (words, callers), "write what it is to keep", dataset)
        elif host == "storage.googleapis.com" and (bucket := project.bucket(rest)) is not None:
            deeds = (Deed("storage.objects.create", object_name(bucket, "logs")),)
            hint = "a BucketIAMMember of the bucket that gives it roles/storage.objectCreator"
            yield Need(view, path, RULE, callers, words, "write what it is to keep", deeds, hint)


def _events(stack: Stack, project: Project) -> Iterator[Need]:
    """Triggers of Eventarc: who receives, who calls, and who publishes."""
    for view in stack.of_type(GCP_EVENT_TRIGGER):
        kinds = [
            str(criterion.get("value"))
            for _, criterion in view.items("matchingCriterias")
            if criterion.get("attribute") == "type"
        ]
        who = _as(project, view.text("serviceAccount") or "")
        direct = any(kind.startswith("google.cloud.") and ".pubsub." not in kind for kind in kinds)
        if who is not None and direct:
            deeds, hint = (
                (Deed("eventarc.events.receiveEvent", OWN),),
                "an IAMMember with roles/eventarc.eventReceiver",
            )
            yield Need(view, "serviceAccount", RULE, who[1], who[0], "receive events", deeds, hint)
        service = _thing(stack, view, "destination.cloudRunService.service", GCP_RUN_SERVICE)
        if who is not None and service is not None and service.inputs.get("invokerIamDisabled") is not True:
            yield _invoke(view, "serviceAccount", *who, str(service.id))
        if any(".storage.object." in kind for kind in kinds):
            words, callers = agents(stack, "storage", "Cloud Storage")
            hint = "an IAMMember of the project that gives it roles/pubsub.publisher"
            deeds = (Deed(_PUBLISH, OWN),)
            yield Need(view, "matchingCriterias", RULE, callers, words, "publish events", deeds, hint)


def _may_mean(grant: View, email: str) -> bool:
    """Whether a grant on a service or a function may be to an account."""
    told = str(grant.inputs)
    return has_unknown(grant.inputs) or email in told or "allUsers" in told or "allAuthenticatedUsers" in told


def _awoken(stack: Stack, project: Project) -> Iterator[Need]:
    """Functions that events start: the account of the trigger receives them, and calls the service that the function
    is ("Eventarc triggers", "Roles and permissions for Cloud Run functions")."""
    for view in stack.of_type(GCP_FUNCTION):
        path, kind = "eventTrigger.serviceAccountEmail", view.text("eventTrigger.eventType") or ""
        email = view.text(path) or ""
        who = _as(project, email)
        if who is None:
            continue
        if not any(one.type.startswith(_ON_SERVICES) and _may_mean(one, email) for one in stack.views):
            yield _invoke(view, path, *who, OWN)
        if kind.startswith("google.cloud.") and ".pubsub." not in kind:
            hint = "an IAMMember with roles/eventarc.eventReceiver"
            deeds = (Deed("eventarc.events.receiveEvent", OWN),)
            yield Need(view, path, RULE, who[1], who[0], "receive events", deeds, hint)
        if ".storage.object." in kind:
            words, callers = agents(stack, "storage", "Cloud Storage")
            hint = "an IAMMember of the project that gives it roles/pubsub.publisher"
            deeds = (Deed(_PUBLISH, OWN),)
            yield Need(view, "eventTrigger.eventType", RULE, callers, words, "publish events", deeds, hint)


def _copies(stack: Stack, project: Project) -> Iterator[Need]:
    """Jobs of Storage Transfer, and queries that come by themselves."""
    words, callers = agents(stack, "storagetransfer", "Storage Transfer")
    for view in stack.of_type(GCP_TRANSFER_JOB):
        if view.text("serviceAccount") is not None or view.is_unknown("serviceAccount"):
            continue
        for end, permission, role, purpose in (
            ("gcsDataSource", "storage.objects.get", "storage.objectViewer", "read what it is to copy"),
            ("gcsDataSink", "storage.objects.create", "storage.legacyBucketWriter", "write what it copies"),
        ):
            path = f"transferSpec.{end}.bucketName"
            bucket = project.bucket(view.text(path) or "")
            if bucket is not None:
                folder = view.text(f"transferSpec.{end}.path") or ""
                deeds = (
                    Deed(permission, object_name(bucket, f"{folder}x")),
                    Deed("storage.buckets.get", full_name(bucket)),
                )
                hint = (
                    f"a BucketIAMMember of the bucket that gives it roles/{role}, and one that lets it get the bucket"
                )
                yield Need(view, path, RULE, callers, words, purpose, deeds, hint)
    for view in stack.of_type(GCP_DATA_TRANSFER):
        who = _as(project, view.text("serviceAccountName") or "")
        if who is None or view.text("dataSourceId") != "scheduled_query":
            continue
        hint = "an IAMMember with roles/bigquery.jobUser"
        asked = (Deed("bigquery.jobs.create", OWN),)
        yield Need(view, "serviceAccountName", RULE, who[1], who[0], "run queries", asked, hint)
        dataset = _thing(stack, view, "destinationDatasetId", GCP_DATASET)
        if dataset is not None:
            yield _rows(stack, view, "destinationDatasetId", who, "write the result", dataset)


def _logins(stack: Stack, project: Project) -> Iterator[Need]:
    """Accounts that log in to a database by IAM."""
    for view in stack.of_type(GCP_DATABASE_USER):
        name = view.text("name")
        if view.text("type") != "CLOUD_IAM_SERVICE_ACCOUNT" or name is None:
            continue
        email = name if name.endswith(".gserviceaccount.com") else f"{name}.gserviceaccount.com"
        who = _as(project, email)
        if who is not None:
            deeds = (Deed("cloudsql.instances.login", OWN),)
            hint = "an IAMMember of the project that gives it roles/cloudsql.instanceUser"
            yield Need(view, "name", RULE, who[1], who[0], "log in to the database", deeds, hint)
