"""Alerts that Alertmanager publishes, and sessions that an instance without a way in is reached by.

Sources, read 2026-11: Prometheus documentation, "Alertmanager configuration", `sns_config` (with `sigv4` alone it signs
as its pod's role); Amazon SNS developer guide, "Managing Amazon SNS encryption keys"; AWS Systems Manager User Guide,
"Step 2: Verify or add instance permissions for Session Manager".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from trainyard.conventions.aws import SESSION_AGENT_ACTIONS
from trainyard.recorded.types import EC2_INSTANCE, INSTANCE_PROFILE, ROLE
from trainyard.rehearsal.context import View, listed
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.bindings import Bindings
from trainyard.rehearsal.works.rights.aws.needs.controllers import metadata_is_closed, nodes
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.workloads.model import Workload

_CONFIGS: Final = {"kube-prometheus-stack": "values.alertmanager.config", "alertmanager": "values.config"}
_TOPIC: Final = re.compile(r"arn:aws[\w-]*:sns:(?P<region>[a-z0-9-]+):\d{12}:(?P<name>[\w.-]+)")
_OWN_CREDENTIALS: Final = ("access_key", "secret_key", "profile", "role_arn")

_MEANT: Final = re.compile(r"ssm(messages)?:|AmazonSSMManagedInstanceCore")


def needs(places: Places, bindings: Bindings, made: Sequence[Workload]) -> Iterator[Need]:
    """What recorded Alertmanagers and instances of sessions need."""
    for workload in made:
        if workload.origin == "chart" and workload.name == "alertmanager":
            yield from _alerts(places, bindings, workload)
    yield from _sessions(places)


def _alerts(places: Places, bindings: Bindings, workload: Workload) -> Iterator[Need]:
    view = places.stack.view_of(workload.resource)
    chart = (view.text("chart") or "").rpartition("/")[2]
    account = workload.spec.get("serviceAccountName")
    if chart not in _CONFIGS or not isinstance(account, str):
        return
    topics = list(_topics(view, _CONFIGS[chart]))
    identity = bindings.identity(workload.namespace, account)
    if not topics or identity.state in ("unknown", "refused"):
        return
    words = f"Alertmanager, as {workload.namespace}/{account},"
    path, _ = topics[0]
    who: tuple[Caller, ...] = (identity.caller,) if identity.caller is not None else ()
    if not who:
        if not metadata_is_closed(places):
            who = nodes(places)
        elif nodes(places):
            view.error(
                "rights-program-no-role",
                path,
                f"{words} has no role and its pods do not reach their node's: it cannot tell anybody of an alert",
                hint=f"a Pod Identity association for {workload.namespace}/{account}",
            )
    for path, topic in topics if who else ():
        yield Need(view, path, "rights-program-lacks", who, words, "publish alerts", tuple(_publishing(places, topic)))


def _topics(view: View, base: str) -> Iterator[tuple[str, str]]:
    for path, receiver in view.items(f"{base}.receivers"):
        for index in range(len(listed(receiver.get("sns_configs")))):
            here = f"{path}.sns_configs[{index}]"
            topic = view.text(f"{here}.topic_arn")
            own = any(view.has(f"{here}.sigv4.{key}") for key in _OWN_CREDENTIALS)
            if topic is not None and _TOPIC.fullmatch(topic) and not own:
                yield f"{here}.topic_arn", topic


def _publishing(places: Places, topic: str) -> Iterator[Deed]:
    yield Deed("sns:Publish", topic)
    found = _TOPIC.fullmatch(topic)
    recorded = places.place(topic) or places.place(found["name"] if found else "")
    key = places.key_of(recorded) if recorded is not None else ""
    if key and found is not None:
        context = {
            "kms:ViaService": f"sns.{found['region']}.amazonaws.com",
            "kms:EncryptionContext:aws:sns:topicArn": topic,
        }
        yield Deed("kms:GenerateDataKey", key, context)
        yield Deed("kms:Decrypt", key, context)


def _sessions(places: Places) -> Iterator[Need]:
    """An instance whose role is given something of Session Manager is meant to be reached by it."""
    for view in places.stack.of_type(EC2_INSTANCE):
        profile = view.referred("iamInstanceProfile", INSTANCE_PROFILE)
        role = profile.referred("role", ROLE) if profile is not None else None
        found = places.role(role.text("name") or role.name) if role is not None else None
        if role is None or found is None or not _is_meant(places, role):
            continue
        yield Need(
            view,
            "iamInstanceProfile",
            "rights-program-lacks",
            (found[1],),
            f"the agent of instance {view.name}, with role {role.name},",
            "open sessions",
            tuple(Deed(action) for action in SESSION_AGENT_ACTIONS),
        )


def _is_meant(places: Places, role: View) -> bool:
    if "Bastion$" in role.resource.urn:
        return True
    texts = [str(role.value("managedPolicyArns")), str(role.value("inlinePolicies"))]
    for resource in places.stack.resources.all:
        if resource.type.startswith("aws:iam/role") and resource is not role.resource:
            view = places.stack.view_of(resource)
            if view.referred("role", ROLE) is role:
                texts += [view.text("policy") or "", view.text("policyArn") or ""]
    return any(_MEANT.search(text) for text in texts)
