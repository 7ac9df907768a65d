"""What a tracking server on Cloud Run needs: its account in its database and its bucket, IAP's own account at its door,
the migration's at the password, and the jobs' to sign for whom IAP lets in.

Source: Cloud Run, "Configure IAP for Cloud Run"; IAP, "Programmatic authentication"; Cloud SQL, "IAM database
authentication", as read and generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.conventions.gcp import IAP_ACCOUNT, IAP_AUDIENCE
from trainyard.recorded.read import split_url
from trainyard.recorded.types import CLOUD_SQL, GCP_ACCOUNT, GCP_RUN_JOB, GCP_RUN_SERVICE, GCP_SECRET
from trainyard.rehearsal.context import Stack, View, expand
from trainyard.rehearsal.works.managed.gcp.jobs import Job, jobs
from trainyard.rehearsal.works.managed.gcp.servers import ROOT, words_of
from trainyard.rehearsal.works.rights.gcp.members import Caller
from trainyard.rehearsal.works.rights.gcp.needs.keys import agents
from trainyard.rehearsal.works.rights.gcp.needs.model import OWN, Deed, Need
from trainyard.rehearsal.works.rights.gcp.project import Project, object_name

_BY_TOKEN: Final = re.compile(r"postgresql(\+\w+)?://[^@/:]+(%40|@)[^@/:]+\.iam@")
"""An address of a database whose user is an account, and which names no password."""
_INSTANCES: Final = "cloudSqlInstance.instances"
_SECRET: Final = re.compile(
    r"https://secretmanager\.[^/]+/v1/(?P<secret>projects/.+/secrets/[^/]+)/versions/[^/]+:access"
)


def needs(stack: Stack, project: Project) -> Iterator[Need]:
    """What services and jobs of Cloud Run, and jobs that go through IAP, have to be allowed."""
    for view in stack.of_type(GCP_RUN_SERVICE):
        yield from _server(view, "template.", project)
        # Where the service does not ask who calls, IAP needs no right to.
        open_inside = view.flag("invokerIamDisabled") or view.is_unknown("invokerIamDisabled")
        if view.flag("iapEnabled") and not open_inside and isinstance(view.resource.id, str):
            yield _door(stack, view)
    for view in stack.of_type(GCP_RUN_JOB):
        yield from _server(view, "template.template.", project)
    for job in jobs(stack):
        yield from _signs(stack, job, project)


def _server(view: View, at: str, project: Project) -> Iterator[Need]:
    email = view.text(f"{at}serviceAccount")
    if email is None or project.account(email) is None:
        return
    who, path = (Caller(f"account {email}", account=email),), f"{at}serviceAccount"
    what = "the migration" if view.type == GCP_RUN_JOB else "the server"
    said = f"{what}, as {email},"
    yield from _secrets(view, at, who, path)
    yield from _mounts(view, at, project, who, path)
    yield from _sockets(view, at, who, path)
    for word in words_of(view, at):
        secret = _SECRET.fullmatch(word)
        if secret is not None:
            deeds = (Deed("secretmanager.versions.access", secret["secret"]),)
            hint = "a RegionalSecretIamMember of the secret that gives it roles/secretmanager.secretAccessor"
            yield Need(view, path, "rights-run", who, said, "read the password", deeds, hint)
        elif view.type == GCP_RUN_SERVICE and _BY_TOKEN.search(word):
            deeds = (Deed("cloudsql.instances.login", OWN),)
            hint = "an IAMMember of the project that gives it roles/cloudsql.instanceUser"
            yield Need(view, path, "rights-run", who, said, "log in to its database", deeds, hint)
        elif word.startswith(f"{ROOT}gs://"):
            name, _, folder = word.removeprefix(f"{ROOT}gs://").partition("/")
            bucket = project.bucket(name)
            if bucket is not None:
                deeds = (Deed("storage.objects.get", object_name(bucket, f"{folder}/1/artifacts/a")),)
                hint = "a BucketIAMMember of the bucket that gives it roles/storage.objectViewer"
                yield Need(view, path, "rights-run", who, said, "show files of runs", deeds, hint)


def _secrets(view: View, at: str, who: tuple[Caller, ...], path: str) -> Iterator[Need]:
    """Secrets that variables and volumes are made of: without the right, no instance starts."""
    named = {
        str(name).partition("/versions/")[0].rpartition("/")[2]
        for key in ("containers[].envs[].valueSource.secretKeyRef.secret", "volumes[].secret.secret")
        for _, name in expand(view.inputs, f"{at}{key}")
        if isinstance(name, str)
    }
    for secret in view.stack.resources.of(GCP_SECRET):
        if secret.read or secret.inputs.get("secretId") not in named:
            continue
        deeds = (Deed("secretmanager.versions.access", str(secret.id)),)
        hint = "a SecretIamMember of the secret that gives it roles/secretmanager.secretAccessor"
        words = f"the containers, as {who[0].account},"
        yield Need(view, path, "rights-run", who, words, f"read the secret {secret.name}", deeds, hint)


def _mounts(view: View, at: str, project: Project, who: tuple[Caller, ...], path: str) -> Iterator[Need]:
    """Buckets that are mounted."""
    for _, volume in view.items(f"{at}volumes"):
        mounted = volume.get("gcs")
        name = mounted.get("bucket") if isinstance(mounted, Mapping) else None
        bucket = project.bucket(name) if isinstance(name, str) else None
        if bucket is None or bucket.read:
            continue
        written = isinstance(mounted, Mapping) and mounted.get("readOnly") is False
        wanted = ("storage.objects.get", *(("storage.objects.create",) if written else ()))
        deeds = tuple(Deed(one, object_name(bucket, "a")) for one in wanted)
        role = "objectUser" if written else "objectViewer"
        hint = f"a BucketIAMMember of the bucket that gives it roles/storage.{role}"
        yield Need(view, path, "rights-run", who, f"the containers, as {who[0].account},", "mount it", deeds, hint)


def _sockets(view: View, at: str, who: tuple[Caller, ...], path: str) -> Iterator[Need]:
    """Databases whose sockets are mounted: the proxy behind them asks in the name of the account."""
    own = {str(one.outputs.get("connectionName")) for one in view.stack.resources.of(CLOUD_SQL) if not one.read}
    if any(name in own for at_, _ in view.items(f"{at}volumes") for name in view.texts(f"{at_}.{_INSTANCES}")):
        deeds = (Deed("cloudsql.instances.get", OWN), Deed("cloudsql.instances.connect", OWN))
        hint = "an IAMMember of the project that gives it roles/cloudsql.client"
        words = f"the containers, as {who[0].account},"
        yield Need(view, path, "rights-run", who, words, "connect to the database", deeds, hint)


def _door(stack: Stack, view: View) -> Need:
    words, callers = agents(stack, "iap", "IAP")
    return Need(
        view,
        "iapEnabled",
        "rights-run",
        callers,
        words,
        "call the service for whom it let in",
        (Deed("run.routes.invoke", str(view.resource.id)),),
        "a cloudrunv2.ServiceIamMember of the service that gives it roles/run.invoker",
    )


def _signs(stack: Stack, job: Job, project: Project) -> Iterator[Need]:
    """A job that is told of an account signs in its name, and IAP lets that account in to the service that it names."""
    told = _told(job)
    email, own = told.get(IAP_ACCOUNT, ""), job.text("jobSpec", "serviceAccount")
    client = next(
        (each for each in stack.of_type(GCP_ACCOUNT) if each.text("accountId") == email.partition("@")[0]), None
    )
    if client is None or not isinstance(client.resource.id, str) or project.account(own) is None:
        return
    yield Need(
        job.view,
        job.place,
        "rights-run",
        (Caller(f"account {own}", account=own),),
        f"the job, as {own},",
        f"sign for the tracking server in the name of {email}",
        (Deed("iam.serviceAccounts.signJwt", client.resource.id),),
        "a serviceaccount.IAMMember of that account with a role that has iam.serviceAccounts.signJwt",
    )
    known = str(client.resource.outputs.get("email"))
    audience = split_url(told.get(IAP_AUDIENCE, ""))
    host = (audience.hostname if audience is not None else None) or ""
    for view in stack.of_type(GCP_RUN_SERVICE):
        if view.flag("iapEnabled") and isinstance(view.resource.id, str) and _is_at(view, host):
            yield Need(
                view,
                "iapEnabled",
                "rights-run",
                (Caller(f"account {known}", account=known),),
                f"jobs, which come in as {known},",
                "pass IAP",
                (Deed("iap.webServiceVersions.accessViaIAP", view.resource.id),),
                "an iap.WebCloudRunServiceIamMember that gives it roles/iap.httpsResourceAccessor",
            )


def _is_at(view: View, host: str) -> bool:
    """Whether a host is of the addresses that Cloud Run gives a service by its name."""
    name = view.text("name")
    return bool(name) and re.match(rf"{re.escape(str(name))}-(\d+\.|[a-z0-9]+-[a-z]+\.a\.)", host) is not None


def _told(job: Job) -> Mapping[str, str]:
    """Variables of the job's first container."""
    container = job.pools[0].get("containerSpec") if job.pools else None
    named = container.get("env") if isinstance(container, Mapping) else None
    return {str(each.get("name")): str(each.get("value")) for each in named or () if isinstance(each, Mapping)}
