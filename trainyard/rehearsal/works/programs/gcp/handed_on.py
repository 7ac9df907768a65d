"""What one service of Google Cloud is told of another, and takes, and that then does not come: calls with a token of
the wrong kind, messages that nobody reads, backups that nobody makes, logins that a database does not know.

Sources: Cloud Scheduler, "Use authentication with HTTP targets" (APIs of Google take OAuth, services of Cloud Run and
functions OpenID Connect); Pub/Sub, "Dead-letter topics" (a topic without subscription keeps nothing); Backup for GKE,
"Install Backup for GKE"; Cloud SQL, "IAM authentication" (the flag); Cloud Run, "Configure Direct VPC egress";
Compute Engine, "Predefined metadata keys", "Service accounts" (scopes); Workload Identity Federation, "Attribute
mappings"; Organization Policy, "Resource locations"; as generally known in 2026-11.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.problems import nearest, nearest_word
from trainyard.recorded.model import bare
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_BUCKET_NOTIFICATION,
    GCP_DATABASE_USER,
    GCP_FUNCTION,
    GCP_IDENTITY_PROVIDER,
    GCP_MACHINES,
    GCP_NOTIFICATION_CHANNEL,
    GCP_ORGANISATION_POLICY,
    GCP_REDIS,
    GCP_RUN_JOB,
    GCP_RUN_SERVICE,
    GCP_SCHEDULE,
    GCP_SECRET,
    GCP_SECRET_VERSION,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
    GCP_TRANSFER_JOB,
    GKE_BACKUP_PLAN,
    GKE_CLUSTER,
)
from trainyard.rehearsal.context import Stack, View, show

_OF_GOOGLE: Final = re.compile(r"https://[\w.-]+\.googleapis\.com(/|$)")
_KEY: Final = re.compile(r"[?&]key=")
"""A key in the address: of a webhook of Google Chat, or of an API that takes one."""
_OF_RUN: Final = re.compile(r"https://[\w.-]+\.(run\.app|cloudfunctions\.net)(/|$)")
_ATTRIBUTE: Final = re.compile(
    r"principalSet://iam\.googleapis\.com/(?P<pool>projects/[^/]+/locations/global/workloadIdentityPools/[^/]+)"
    r"/attribute\.(?P<name>[^/]+)/.+"
)
_OF_AWS: Final = ("google.subject", "attribute.aws_role")
"""What a provider of AWS's identities maps that is not told what to."""
_READS: Final = re.compile(r"roles/pubsub\.(subscriber|editor|admin)|projects/.+|organizations/.+")
_ON_TOPIC: Final = re.compile(r"gcp:pubsub/topicIAM(Member|Binding|Policy):\w+")
_GRANT: Final = re.compile(r"gcp:\w+/\w+:\w*(IAM|Iam)(Member|Binding)")
_KEYS: Final = (
    "block-project-ssh-keys", "disable-legacy-endpoints", "enable-guest-attributes", "enable-osconfig",
    "enable-oslogin", "enable-oslogin-2fa", "google-logging-enabled", "google-monitoring-enabled",
    "idle-timeout-seconds", "install-nvidia-driver", "serial-port-enable", "serial-port-logging-enable",
    "shutdown-script", "shutdown-script-url", "ssh-keys", "sshKeys", "startup-script", "startup-script-url",
    "user-data", "windows-startup-script-ps1",
)  # fmt: skip
"""Keys of metadata that Google's images read."""
_SAY_WHO: Final = {"authorization", "x-goog-api-key"}
_SAME_KEY: Final = 0.92
_SCOPES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "roles/logging.logWriter": ("send logs", ("logging-write", "logging.write", "logging.admin")),
    "roles/monitoring.metricWriter": (
        "send figures", ("monitoring", "monitoring-write", "monitoring.write"),
    ),
    "roles/storage.objectAdmin": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                       "devstorage.full_control")),
    "roles/storage.objectUser": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                      "devstorage.full_control")),
    "roles/storage.objectCreator": ("write to buckets", ("storage-rw", "storage-full", "devstorage.read_write",
                                                         "devstorage.full_control")),
    "roles/pubsub.publisher": ("publish", ("pubsub",)),
    "roles/pubsub.subscriber": ("take messages", ("pubsub",)),
    "roles/bigquery.dataEditor": ("write tables", ("bigquery", "bigquery.insertdata")),
    "roles/bigquery.jobUser": ("run queries", ("bigquery",)),
}  # fmt: skip
"""By role, what an account does with it, and any of the scopes beside which a machine may."""
_AREAS: Final[Mapping[str, tuple[str, ...]]] = {
    "eu": ("europe-",), "europe": ("europe-",), "us": ("us-",), "asia": ("asia-",),
    "northamerica": ("northamerica-", "us-"), "southamerica": ("southamerica-",), "australia": ("australia-",),
    "canada": ("northamerica-northeast1", "northamerica-northeast2"), "india": ("asia-south1", "asia-south2"),
    "japan": ("asia-northeast1", "asia-northeast2"), "africa": ("africa-",),
}  # fmt: skip
"""Groups of locations, with how the regions in them begin: the wider where one has exceptions."""
_MULTI: Final = {"eu": "europe-", "us": "us-", "asia": "asia-"}
_PLACE: Final = re.compile(r"[a-z]+-[a-z]+\d+(-[a-z])?")
"""A region or a zone."""


def check(stack: Stack) -> None:
    """Every one of them."""
    for view in stack.of_type(GCP_SCHEDULE):
        _token(view)
    _laid_aside(stack)
    _attributes(stack)
    for view in stack.of_type(GKE_BACKUP_PLAN):
        _agent(view)
    for view in stack.of_type(GCP_TRANSFER_JOB):
        _ended(view)
    for view in stack.of_type(GCP_DATABASE_USER):
        _login(view)
    _private_addresses(stack)
    _prefixes(stack)
    for type_ in GCP_MACHINES:
        for view in stack.of_type(type_):
            _metadata(view)
            _scopes(view)
    for view in stack.of_type(GCP_ORGANISATION_POLICY):
        _locations(view)


def _token(view: View) -> None:
    """APIs of Google take one kind of token, what runs on Cloud Run the other: with the wrong one all is refused."""
    uri = view.text("httpTarget.uri") or ""
    oauth, oidc = ("httpTarget.oauthToken", "httpTarget.oidcToken")
    if _OF_GOOGLE.match(uri) and view.has(oidc):
        words = "an API of Google's is called with a token of OpenID Connect, and refuses it"
        view.error("programs-token", oidc, words, allowed="oauthToken")
    elif _OF_RUN.match(uri) and view.has(oauth):
        words = "a service of Cloud Run is called with a token of OAuth, and refuses it"
        view.error("programs-token", oauth, words, allowed="oidcToken")
    elif _OF_GOOGLE.match(uri) and view.lacks(oauth) and not _has_headers_of_its_own(view) and not _KEY.search(uri):
        words = "is missing: an API of Google's is called by nobody in particular, and refuses it"
        view.error("programs-token", oauth, words, allowed="oauthToken with an account")


def _has_headers_of_its_own(view: View) -> bool:
    """Whether a call says by itself who calls, or may: a header of a token or a key."""
    headers = "httpTarget.headers"
    names = {str(name).lower() for name in view.mapping(headers)}
    return view.is_unknown(headers) or view.is_secret(headers) or not names.isdisjoint(_SAY_WHO)


def _laid_aside(stack: Stack) -> None:
    """A topic without subscription keeps nothing: what is laid aside, or told, there is gone."""
    for type_, path, what in (
        (GCP_SUBSCRIPTION, "deadLetterPolicy.deadLetterTopic", "what fails is laid aside there and lost"),
        (GCP_NOTIFICATION_CHANNEL, "labels.topic", "alerts are told to nobody"),
    ):
        for view in stack.of_type(type_):
            named = view.text(path)
            topics = [one for one in stack.of_type(GCP_TOPIC) if one.resource.id == named and not one.resource.read]
            if len(topics) == 1 and not _is_read(topics[0]):
                words = f"{topics[0].name} has no subscription: {what}"
                view.warning("programs-unread", path, words, allowed="a Subscription of that topic")


def _is_read(topic: View) -> bool:
    """Whether somebody may take messages off a topic: here, or by a right on it from elsewhere."""
    names = {topic.resource.id, topic.resource.outputs.get("name"), topic.text("name")} - {None}
    for view in topic.stack.views:
        if _ON_TOPIC.fullmatch(view.type):
            if _READS.fullmatch(view.text("role") or "projects/x") and view.text("topic") in names:
                return True
        elif view.type != GCP_TOPIC and view.type.startswith(
            ("gcp:pubsub/subscription:", "gcp:eventarc/", "gcp:cloudf", "gcp:cloudbuild/")
        ):
            given = [text for path, text in view.known_texts if not path.startswith("deadLetterPolicy")]
            if names & set(given) or view.is_unknown("topic"):
                return True
    return False


def _attributes(stack: Stack) -> None:
    """A set of identities by an attribute that no provider of the pool makes: nobody is in it."""
    providers = stack.of_type(GCP_IDENTITY_PROVIDER)
    if not providers:
        return
    mapped: dict[str, set[str]] = {}
    for provider in providers:
        pool = (provider.text("workloadIdentityPoolId") or "").rpartition("/")[2]
        if provider.blurred("attributeMapping") or not pool:
            return
        by_default = _OF_AWS if provider.has("aws") and provider.lacks("attributeMapping") else ()
        mapped.setdefault(pool, set()).update(map(str, provider.mapping("attributeMapping")), by_default)
    for view in stack.views:
        member = view.text("member") if _GRANT.fullmatch(view.type) else None
        found = _ATTRIBUTE.fullmatch(member or "")
        keys = mapped.get(found["pool"].rpartition("/")[2]) if found else None
        if found is not None and keys is not None and f"attribute.{found['name']}" not in keys:
            words = f"no provider of the pool maps attribute.{found['name']}: nobody is in that set"
            hint = nearest(f"attribute.{found['name']}", keys)
            view.error("rights-binding-no-account", "member", words, allowed=", ".join(sorted(keys)), hint=hint)


def _agent(view: View) -> None:
    """A plan of backups of a cluster that has nobody to make them."""
    cluster, path = view.referred("cluster", GKE_CLUSTER), "addonsConfig.gkeBackupAgentConfig.enabled"
    if cluster is None or cluster.resource.read or cluster.flag("enableAutopilot"):
        return
    if cluster.flag(path) is False or cluster.lacks(path):
        words = f"{cluster.name} has no agent of Backup for GKE: no backup is made"
        view.error("programs-backup-agent", "cluster", words, allowed=f"{path} of the cluster true")


def _ended(view: View) -> None:
    """A job whose last day is over."""
    end = view.mapping("schedule.scheduleEndDate")
    try:
        last = datetime.date(*(int(end[key]) for key in ("year", "month", "day")))
    except (KeyError, TypeError, ValueError):
        return
    start = view.mapping("schedule.scheduleStartDate")
    if last < datetime.datetime.now(datetime.UTC).date() and start != end:
        words = f"ends on {last.isoformat()}, which is over: nothing is copied"
        view.warning("programs-over", "schedule.scheduleEndDate", words, allowed="a day to come, or none")


def _login(view: View) -> None:
    """A login by IAM on an instance that takes none."""
    kind, instance = view.text("type") or "", view.referred("instance", CLOUD_SQL)
    if not kind.startswith("CLOUD_IAM") or instance is None or instance.resource.read:
        return
    version, path = instance.text("databaseVersion") or "", "settings.databaseFlags"
    flag = "cloudsql.iam_authentication" if version.startswith("POSTGRES") else "cloudsql_iam_authentication"
    flags = {str(one.get("name")): str(one.get("value")).lower() for _, one in instance.items(path)}
    if version and flags.get(flag) not in ("on", "true", "1") and not instance.blurred(path):
        words = f"{instance.name} has not the flag {flag}: nobody logs in by IAM"
        view.error("programs-database", "type", words, allowed=f"{flag} on, in settings.databaseFlags")


def _private_addresses(stack: Stack) -> None:
    """A service without a way into the network that is told of an address in it."""
    private: dict[str, View] = {}
    for view in stack.of_type(CLOUD_SQL):
        public = view.flag("settings.ipConfiguration.ipv4Enabled")
        if public is False:
            private[str(view.resource.outputs.get("privateIpAddress"))] = view
    for type_ in (GCP_REDIS, "gcp:memorystore/instance:Instance"):
        private |= {str(view.resource.outputs.get("host")): view for view in stack.of_type(type_)}
    for type_, at, way in (
        (GCP_RUN_SERVICE, "template.", "vpcAccess"),
        (GCP_RUN_JOB, "template.template.", "vpcAccess"),
        (GCP_FUNCTION, "serviceConfig.", "vpcConnector"),
    ):
        for view in stack.of_type(type_):
            if view.has(f"{at}{way}") or view.has(f"{at}directVpcNetworkInterfaces") or view.is_unknown(at[:-1]):
                continue
            for path, text in view.known_texts:
                found = next((one for address, one in private.items() if _is_told(address, text)), None)
                if found is not None:
                    words = f"names the private address of {found.name}, and there is no way into its network"
                    view.error("programs-database", path, words, allowed=f"{at}{way}")
                    break
            else:
                _by_secret(view, f"{at}{way}", private)


def _by_secret(view: View, way: str, private: Mapping[str, View]) -> None:
    """The same, of an address that stands in a secret which the containers are given."""
    for path, text in view.known_texts:
        name = text.rpartition("/")[2] if path.endswith("secretKeyRef.secret") else ""
        for version in view.stack.of_type(GCP_SECRET_VERSION) if name else ():
            secret = version.referred("secret", GCP_SECRET)
            data = bare(version.inputs.get("secretData"))
            if secret is None or secret.text("secretId") != name or not isinstance(data, str):
                continue
            found = next((one for address, one in private.items() if _is_told(address, data)), None)
            if found is not None:
                words = f"{name} holds the private address of {found.name}, and there is no way into its network"
                view.error("programs-database", path, words, allowed=way)
                return


def _is_told(address: str, text: str) -> bool:
    """Whether a text names an address: not as a part of a longer one."""
    return address not in ("", "None") and bool(
        address in text and re.search(rf"(?<![\w.]){re.escape(address)}(?!\d|\.\d)", text)
    )


def _prefixes(stack: Stack) -> None:
    """Names of objects begin without a stroke."""
    for type_, path in (
        (GCP_BUCKET_NOTIFICATION, "objectNamePrefix"),
        (GCP_TRANSFER_JOB, "transferSpec.gcsDataSource.path"),
        (GCP_TRANSFER_JOB, "transferSpec.gcsDataSink.path"),
    ):
        for view in stack.of_type(type_):
            text = view.text(path) or ""
            if text.startswith(("/", "gs://")):
                view.error("programs-prefix", path, f"{show(text)} begins no object's name", allowed=text.lstrip("/"))


def _metadata(view: View) -> None:
    """Keys that are nearly those that the images read."""
    for key in view.mapping("metadata"):
        near = nearest_word(str(key).lower().replace("_", "-"), _KEYS, _SAME_KEY)
        if near and key not in _KEYS:
            words = f"nothing reads the key {show(key)}"
            view.warning("programs-metadata", f"metadata.{key}", words, allowed=near, hint=f"did you mean {near}?")


def _scopes(view: View) -> None:
    """A role that the machine's scopes take away again; it may be meant for others who run as the same account."""
    path = "serviceAccount.scopes"
    held = {scope.rpartition("/auth/")[2] for scope in view.texts(path)}
    email = view.text("serviceAccount.email")
    if not held or "cloud-platform" in held or view.blurred(path) or email is None:
        return
    for grant in view.stack.once(_by_member).get(f"serviceAccount:{email}", ()):
        what, scopes = _SCOPES.get(grant.text("role") or "", ("", ()))
        if scopes and not held & set(scopes):
            words = f"with these scopes it cannot {what}, which {grant.name} gives its account"
            view.warning("rights-node-scopes", path, words, allowed="cloud-platform")


def _by_member(stack: Stack) -> dict[str, list[View]]:
    """Grants to one, by who has it."""
    found: dict[str, list[View]] = {}
    for view in stack.views:
        member = view.text("member") if _GRANT.fullmatch(view.type) else None
        if member is not None:
            found.setdefault(member, []).append(view)
    return found


def _locations(view: View) -> None:
    """A policy of locations in which the stack itself makes things elsewhere."""
    name = view.text("name") or ""
    if not name.endswith("/gcp.resourceLocations"):
        return
    allowed = [
        text
        for path, _ in view.items("spec.rules")
        for text in view.texts(f"{path}.values.allowedValues")
        if not view.blurred(f"{path}.values.allowedValues")
    ]
    starts = list(_starts(allowed))
    if not allowed or None in starts or any(rule.get("condition") for _, rule in view.items("spec.rules")):
        return
    known = tuple(one for one in starts if one)
    parent = view.text("parent") or ""
    for made in view.stack.views:
        place = (next((text for key in ("location", "region", "zone") if (text := made.text(key))), "")).lower()
        if not made.type.startswith("gcp:") or made.resource.read or not _is_below(made, parent):
            continue
        if place not in _MULTI and not _PLACE.fullmatch(place):
            continue  # a group of regions, or a pair, by a name of the service's own
        low = _MULTI.get(place, place)
        if not low.startswith(known):
            words = f"allows {', '.join(allowed)}, and {made.name} is made in {place}: it is refused"
            view.error("programs-locations", "spec.rules", words, allowed="the places of this stack among them")
            return


def _is_below(made: View, parent: str) -> bool:
    """Whether a policy's parent has a thing in it: all of them for a folder and an organization, and of a project what
    says so, or says nothing where the stack names no other project."""
    kind, _, name = parent.partition("/")
    if kind != "projects":
        return True
    given = [made.text("project"), *(inputs.get("project") for inputs in made.stack.provider_inputs(made.resource))]
    own = next((one for one in given if isinstance(one, str)), None)
    return own == name if own is not None else made.stack.once(_projects) == {name}


def _projects(stack: Stack) -> set[str]:
    """The projects that a stack's things say that they are in."""
    return {project for view in stack.views if view.type.startswith("gcp:") and (project := view.text("project"))}


def _starts(allowed: list[str]) -> Iterator[str | None]:
    """How the places that a policy allows begin; None for a group that is not known."""
    for text in allowed:
        group, _, kind = text.removeprefix("in:").rpartition("-")
        if not text.startswith("in:"):
            yield text.removeprefix("is:").lower()
        elif kind != "locations":
            yield None
        elif group in _AREAS:
            yield from _AREAS[group]
        else:
            yield group if re.fullmatch(r"[a-z]+-[a-z]+\d", group) else None
