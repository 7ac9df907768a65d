"""What an input of Google Cloud names by its full name (`projects/P/regions/R/subnetworks/NAME`), or by the name of
what it is a part of: whether the stack makes it there.

Others make things too, and a full name that the stack does not make is believed, unless it all but is one of the
stack's: a slip of the name, or (a warning) the same kind and name in another project. A part (a router's NAT, a user of
a database) is told where the whole that it names is a slip of one that the stack makes.

Source: Google's "Resource names" (AIP-122): pairs of a collection and a name below a project and a location.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trainyard.problems import nearest
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.node_groups import GKE_NODE_POOL
from trainyard.recorded.types import (
    CLOUD_SQL,
    GCP_ACCOUNT,
    GCP_BUDGET,
    GCP_CONNECTION,
    GCP_CRYPTO_KEY,
    GCP_DATABASE_USER,
    GCP_NAT,
    GCP_NETWORK,
    GCP_NOTIFICATION_CHANNEL,
    GCP_ROUTER,
    GCP_SUBNETWORK,
    GCP_SUBSCRIPTION,
    GCP_TOPIC,
    GKE_CLUSTER,
)
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.near import nearest_of

_FULL: Final = re.compile(
    r"(?:https://www\.googleapis\.com/compute/v1/|(?://)?[a-z]+\.googleapis\.com/)?"
    r"projects/(?P<project>[^/]+)/(?:(?P<of>regions|zones|locations)/(?P<place>[^/]+)|(?P<all>global))?/?"
    r"(?P<rest>[A-Za-z]+/[^/]+(?:/[A-Za-z]+/[^/]+)*)"
)
_ALIKE: Final = 0.9
"""How much two names have in common of which one was meant for the other (a ratio of difflib)."""
_LONGER: Final = 2
"""Letters by which a slip makes a name longer or shorter."""
_OTHERS: Final = ("peerNetwork",)
"""What names another project's thing, which may be called as the stack's own."""
_KEPT: Final = "gcp:secretmanager/%s:%s"


@dataclass(frozen=True, slots=True)
class _Part:
    type: str
    path: str
    whole: str
    what: str  # the whole, in words


_PARTS: Final = (
    _Part(GCP_NAT, "router", GCP_ROUTER, "router"),
    _Part(GCP_ROUTER, "network", GCP_NETWORK, "network"),
    _Part(GCP_SUBNETWORK, "network", GCP_NETWORK, "network"),
    _Part(GCP_CONNECTION, "network", GCP_NETWORK, "network"),
    _Part(GKE_NODE_POOL, "cluster", GKE_CLUSTER, "cluster"),
    _Part("gcp:sql/database:Database", "instance", CLOUD_SQL, "instance"),
    _Part(GCP_DATABASE_USER, "instance", CLOUD_SQL, "instance"),
    _Part(GCP_CRYPTO_KEY, "keyRing", "gcp:kms/keyRing:KeyRing", "key ring"),
    _Part(
        _KEPT % ("secretVersion", "SecretVersion"), "secret", _KEPT % ("secret", "Secret"), "secret",
    ),
    _Part(
        _KEPT % ("regionalSecretVersion", "RegionalSecretVersion"), "secret",
        _KEPT % ("regionalSecret", "RegionalSecret"), "secret",
    ),
    _Part("gcp:dns/recordSet:RecordSet", "managedZone", "gcp:dns/managedZone:ManagedZone", "zone"),
    _Part(GCP_SUBSCRIPTION, "topic", GCP_TOPIC, "topic"),
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
    below = tuple(f"{name}/" for name in made)
    told = _Elsewhere(made)
    for view in gcp:
        if view.resource.read:
            continue
        for path, text in view.known_texts:
            match = _FULL.fullmatch(text) if "projects/" in text else None
            # A wildcard, a version, or what is below a thing of the stack's is no name of its own.
            if match is None or _bare(text) in made or _bare(text).startswith(below):
                continue
            told.of(view, path, match)


class _Elsewhere:
    """Names of nothing that the stack makes, against what it makes.

    A project may be told by its number, which Vertex AI asks for and no id gives away: such a name is believed. So is
    one of another place (a replica), and of another project's network that ours is peered with.
    """

    def __init__(self, made: Mapping[str, re.Match[str]]) -> None:
        self._same: dict[tuple[str, ...], list[str]] = {}
        self._alike: dict[tuple[str, ...], list[str]] = {}
        for name, match in made.items():
            self._same.setdefault((match["rest"], _place(match)), []).append(name)
            self._alike.setdefault((match["project"], _place(match), *_kind(match)), []).append(match["rest"])
        self._made = made
        self._near: dict[tuple[str, ...], str] = {}

    def of(self, view: View, path: str, match: re.Match[str]) -> None:
        rest = match["rest"]
        if match["project"].isdigit():
            return
        there = self._same.get((rest, _place(match)), ())
        if len(there) == 1 and not self._made[there[0]]["project"].isdigit() and path not in _OTHERS:
            words = f"names {rest} of project {match['project']}, and the stack makes it as {there[0]}"
            view.warning("reference-elsewhere", path, words, allowed=there[0])
            return
        near = self._nearest(rest, (match["project"], _place(match), *_kind(match)))
        if near:
            words = f"the stack makes no {show(rest)}"
            view.error("reference-elsewhere", path, words, hint=f"did you mean {near}?")

    def _nearest(self, rest: str, where: tuple[str, ...]) -> str:
        """The name beside which it is a slip: many inputs name the same thing, and each is looked for once."""
        key = (rest, *where)
        if key not in self._near:
            alike = [name for name in self._alike.get(where, ()) if abs(len(name) - len(rest)) <= _LONGER]
            self._near[key] = nearest_of(rest, alike)
        return self._near[key]


def _place(match: re.Match[str]) -> str:
    return match["place"] or match["all"] or ""


_ACCOUNT: Final = re.compile(
    r"(?<![\w.-])(?P<name>[a-z][a-z0-9-]{4,28}[a-z0-9])@(?P<project>[a-z][a-z0-9-]+)\.iam\.gserviceaccount\.com(?![\w-])"
)
_GOOGLES: Final = ("gcp-sa-", "gs-project-accounts", "compute-system", "container-engine-robot", "cloud-filer")
_MEMBERS: Final = re.compile(r"(^|\.)members?(\[\d+\])?$")


def _accounts(stack: Stack) -> None:
    """An account that something runs as, or a filter asks for: its address is one of the stack's, or no slip of one in
    the same project, for other projects have accounts of the same names. Members of grants are held against the
    accounts with the rights."""
    made = {
        text: view for view in stack.of_type(GCP_ACCOUNT) if isinstance(text := view.resource.outputs.get("email"), str)
    }
    names: dict[str, dict[str, str]] = {}
    for text in made:
        name, _, where = text.partition("@")
        names.setdefault(where, {})[name] = text
    for view in stack.views if made else ():
        if not view.type.startswith("gcp:") or view.resource.read:
            continue
        for path, text in view.known_texts:
            if "@" not in text or _MEMBERS.search(path):
                continue
            for match in _ACCOUNT.finditer(text):
                if match[0] in made or match["project"].startswith(_GOOGLES):
                    continue
                there = names.get(match[0].partition("@")[2], {})
                near = nearest_of(match["name"], list(there))
                if near:
                    words = f"the stack makes no account {match[0]}"
                    view.error("reference-elsewhere", path, words, allowed=there[near])
                    break


_BY_CHANNEL: Final = ((GCP_BUDGET, "allUpdatesRule.monitoringNotificationChannels"),)


def _channels(stack: Stack) -> None:
    """A channel that all but is one of the stack's."""
    made = [text for view in stack.of_type(GCP_NOTIFICATION_CHANNEL) for text in _known_as(view.resource)]
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
    known = [name for own in names.values() for name in own]
    for view in parts:
        text = view.text(part.path)
        if text is None or any(_means(text, name) for name in known):
            continue
        near = nearest_of(text, known)
        if near:
            whole = next(whole for whole, own in names.items() if near in own)
            view.error(
                "reference-elsewhere", part.path,
                f"names {part.what} {show(text)}, which the stack does not make; its own is {whole.name}",
                allowed=f"{part.what} {whole.name}", hint=f"did you mean {near}?",
            )  # fmt: skip


def _means(text: str, name: str) -> bool:
    return text == name or text.endswith(f"/{name}") or name.endswith(f"/{text}") or _bare(text) == _bare(name)
