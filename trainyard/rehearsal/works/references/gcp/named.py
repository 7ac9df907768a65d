"""What an input of Google Cloud names by its full name (`projects/P/regions/R/subnetworks/NAME`), or by the name of
what it is a part of: whether the stack makes it there.

Others make things too, and a full name that the stack does not make is believed, unless it all but is one of the
stack's: the same kind and name in another project or place, or a slip of the name. A part (a router's NAT, a user of a
database) is told where it names a whole that the stack does not make, while the stack makes one without such a part.

Source: Google's "Resource names" (AIP-122): pairs of a collection and a name below a project and a location.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.read import known_texts
from trainyard.recorded.types import CLOUD_SQL, GCP_NETWORK, GKE_CLUSTER
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_FULL: Final = re.compile(
    r"(?:https://www\.googleapis\.com/compute/v1/|(?://)?[a-z]+\.googleapis\.com/)?"
    r"projects/(?P<project>[^/]+)/(?:(?P<of>regions|zones|locations)/(?P<place>[^/]+)|(?P<all>global))?/?"
    r"(?P<rest>[A-Za-z]+/[^/]+(?:/[A-Za-z]+/[^/]+)*)"
)
_ALIKE: Final = 0.9
"""How much two names have in common of which one was meant for the other (a ratio of difflib)."""
_KEPT: Final = "gcp:secretmanager/%s:%s"
_ROUTER: Final = "gcp:compute/router:Router"


@dataclass(frozen=True, slots=True)
class _Part:
    type: str
    path: str
    whole: str
    what: str  # the whole, in words


_PARTS: Final = (
    _Part("gcp:compute/routerNat:RouterNat", "router", _ROUTER, "router"),
    _Part(_ROUTER, "network", GCP_NETWORK, "network"),
    _Part("gcp:compute/subnetwork:Subnetwork", "network", GCP_NETWORK, "network"),
    _Part("gcp:servicenetworking/connection:Connection", "network", GCP_NETWORK, "network"),
    _Part(GKE_NODE_POOL, "cluster", GKE_CLUSTER, "cluster"),
    _Part("gcp:sql/database:Database", "instance", CLOUD_SQL, "instance"),
    _Part("gcp:sql/user:User", "instance", CLOUD_SQL, "instance"),
    _Part("gcp:kms/cryptoKey:CryptoKey", "keyRing", "gcp:kms/keyRing:KeyRing", "key ring"),
    _Part(
        _KEPT % ("secretVersion", "SecretVersion"), "secret", _KEPT % ("secret", "Secret"), "secret",
    ),
    _Part(
        _KEPT % ("regionalSecretVersion", "RegionalSecretVersion"), "secret",
        _KEPT % ("regionalSecret", "RegionalSecret"), "secret",
    ),
    _Part("gcp:dns/recordSet:RecordSet", "managedZone", "gcp:dns/managedZone:ManagedZone", "zone"),
    _Part("gcp:pubsub/subscription:Subscription", "topic", "gcp:pubsub/topic:Topic", "topic"),
)  # fmt: skip


def check(stack: Stack) -> None:
    """Every full name in an input of Google Cloud, and every part of something that the stack makes."""
    _full_names(stack)
    _accounts(stack)
    _channels(stack)
    for part in _PARTS:
        _part(stack, part)


def _kind(match: re.Match[str]) -> tuple[str, ...]:
    return tuple(match["rest"].split("/")[::2])


def _full_names(stack: Stack) -> None:
    gcp = [view for view in stack.views if view.type.startswith("gcp:")]
    made: dict[str, re.Match[str]] = {}
    for view in gcp:
        for text in _known_as(view.resource):
            match = _FULL.fullmatch(text)
            if match is not None:
                made[_bare(text)] = match
    same: dict[str, list[str]] = {}
    for name, match in made.items():
        same.setdefault(match["rest"], []).append(name)
    for view in gcp:
        if view.resource.read:
            continue
        for path, text in known_texts(view.inputs):
            match = _FULL.fullmatch(text) if "projects/" in text else None
            # A wildcard, a version, or what is below a thing of the stack's is no name of its own.
            if match is None or _bare(text) in made or _bare(text).startswith(tuple(f"{name}/" for name in made)):
                continue
            _elsewhere(view, path, match, same, made)


def _elsewhere(
    view: View, path: str, match: re.Match[str], same: dict[str, list[str]], made: dict[str, re.Match[str]]
) -> None:
    there = same.get(match["rest"], ())
    if len(there) == 1:
        own = made[there[0]]
        words = (
            f"of project {match['project']}"
            if match["project"] != own["project"]
            else f"in {match['place'] or 'global'}"
        )
        view.error(
            "reference-elsewhere", path, f"names {match['rest']} {words}, and the stack makes it as {there[0]}",
            allowed=there[0],
        )  # fmt: skip
        return
    alike = {name: made[name]["rest"] for name in made if _kind(made[name]) == _kind(match)}
    near = nearest_of(match["rest"], list(alike.values()))
    if near:
        view.error(
            "reference-elsewhere", path, f"the stack makes no {show(match['rest'])}", hint=f"did you mean {near}?"
        )


_ACCOUNT: Final = re.compile(
    r"(?P<name>[a-z][a-z0-9-]{4,28}[a-z0-9])@(?P<project>[a-z][a-z0-9-]+)\.iam\.gserviceaccount\.com"
)
_GOOGLES: Final = ("gcp-sa-", "gs-project-accounts", "compute-system", "container-engine-robot", "cloud-filer")
_MEMBERS: Final = re.compile(r"(^|\.)members?(\[\d+\])?$")


def _accounts(stack: Stack) -> None:
    """An account that something runs as: its address is one of the stack's, or nothing like one. Members of grants are
    held against the accounts with the rights."""
    made = {
        text: view
        for view in stack.of_type("gcp:serviceaccount/account:Account")
        if isinstance(text := view.resource.outputs.get("email"), str)
    }
    names = {text.partition("@")[0]: text for text in made}
    for view in stack.views if made else ():
        if not view.type.startswith("gcp:") or view.resource.read:
            continue
        for path, text in known_texts(view.inputs):
            match = _ACCOUNT.fullmatch(text) if "@" in text else None
            if match is None or text in made or match["project"].startswith(_GOOGLES) or _MEMBERS.search(path):
                continue
            own = names.get(match["name"]) or names.get(nearest_of(match["name"], list(names)))
            if own is not None:
                view.error("reference-elsewhere", path, f"the stack makes no account {text}", allowed=own)


_BY_CHANNEL: Final = (("gcp:billing/budget:Budget", "allUpdatesRule.monitoringNotificationChannels"),)


def _channels(stack: Stack) -> None:
    """A channel that all but is one of the stack's."""
    made = [
        text
        for view in stack.of_type("gcp:monitoring/notificationChannel:NotificationChannel")
        for text in _known_as(view.resource)
    ]
    for type_, path in _BY_CHANNEL:
        for view in stack.of_type(type_):
            for index, text in enumerate(view.texts(path)):
                if text not in made and (near := nearest(text, made, cutoff=_ALIKE)):
                    words = f"the stack makes no channel {show(text)}"
                    view.error("reference-elsewhere", f"{path}[{index}]", words, hint=near)


def _bare(text: str) -> str:
    at = text.find("projects/")
    return text[at:]


def _known_as(resource: RecordedResource) -> Iterator[str]:
    for text in (
        resource.id,
        resource.outputs.get("name"),
        resource.outputs.get("selfLink"),
        resource.outputs.get("id"),
    ):
        if isinstance(text, str) and text:
            yield text


def _part(stack: Stack, part: _Part) -> None:
    wholes = [view for view in stack.of_type(part.whole) if not view.resource.read]
    parts = [view for view in stack.of_type(part.type) if not view.resource.read]
    if not wholes or not parts:
        return
    names = {view: {*_known_as(view.resource), view.text("name") or view.name} for view in wholes}
    without, strays = set(wholes), []
    for view in parts:
        text = view.text(part.path)
        if text is None:
            return  # whose part it is will be known
        of = [whole for whole, known in names.items() if any(_means(text, name) for name in known)]
        without.difference_update(of)
        if not of:
            strays.append((view, text))
    for view, text in strays:
        # What the whole is called is known only when it is there: a text that it is part of means it.
        near = nearest_of(text, [name for known in names.values() for name in known])
        if near or len(without) == len(strays) == 1:
            whole = next(iter(sorted(without, key=lambda one: one.name)), wholes[0])
            view.error(
                "reference-elsewhere", part.path,
                f"names {part.what} {show(text)}, which the stack does not make; its own is {whole.name}",
                allowed=f"{part.what} {whole.name}", hint=f"did you mean {near}?" if near else "",
            )  # fmt: skip


def _means(text: str, name: str) -> bool:
    return text == name or text.endswith(f"/{name}") or name.endswith(f"/{text}") or _bare(text) == _bare(name)
