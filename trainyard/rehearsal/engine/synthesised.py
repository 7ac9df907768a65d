"""Ids and outputs of the shape that the clouds give them: `vpc-0f3a…`, ARNs with account and region, endpoints.

Everything is derived from type and logical name by SHA-256, so two runs agree and two types never share an id. How the
texts of a type look is on its card.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard import cards
from trainyard.capture import derived
from trainyard.catalog.tables import tree
from trainyard.recorded.model import UNKNOWN, Secret, bare
from trainyard.rehearsal.engine import google_ids

_WORD: Final = re.compile(r"[0-9A-Za-z]+")
ACCOUNT = "123456789012"
"""The account of synthesised ARNs where the provider names none."""
PROJECT: Final = "rehearsal"
"""The project of synthesised names of Google Cloud where neither resource nor provider names one."""


def digest(*parts: str) -> str:
    """64 hex digits that depend on every part."""
    return derived(hashlib.sha256("\x00".join(parts).encode()).hexdigest(), *parts)


_words_of_client: ContextVar[Mapping[str, str]] = ContextVar("trainyard_words_of_client")
"""What stands for each of the client's words in the names that addresses go by."""


def addresses_are_without(texts: Iterable[str]) -> None:
    """Says, for the rest of this context, what the client is called: no address goes by that.

    An address is no word that may be any other: rules ask in which range it is. So two clients that are alike have
    the same ones. Within a stack things of other names have others, whichever of the words they have: rules find a
    server by its address.
    """
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    _words_of_client.set({word: f"<{place}>" for place, word in enumerate(words)})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a resource lives, as far as its provider says."""

    account: str = ACCOUNT
    region: str = "us-east-1"
    project: str = PROJECT

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn` or `aws-us-gov`, from the region."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    @property
    def dns_suffix(self) -> str:
        """Ending of the region's host names: `amazonaws.com`, or China's."""
        return "amazonaws.com.cn" if self.partition == "aws-cn" else "amazonaws.com"


def name_inputs(type_: str) -> tuple[str, ...]:
    """The inputs of which the first that is given is the name in the cloud."""
    return ("name", f"{_middle(type_)[-1]}Name", "bucket", "identifier", "clusterName", "replicationGroupId")


def _middle(type_: str) -> list[str]:
    return (type_.split(":")[1] if ":" in type_ else type_).split("/")


@dataclass(frozen=True, slots=True)
class Subject:
    """One resource whose outputs are to be made: its type, its name and what is known of its inputs."""

    type: str
    name: str  # logical
    inputs: Mapping[str, Any]
    place: Place

    @property
    def hex(self) -> str:
        """Hex digits that depend on the resource's type and name."""
        return digest(self.type, self.name)

    @property
    def address_hex(self) -> str:
        """Hex digits for an address, which are without the client's words (`addresses_are_without`)."""
        stand_ins = _words_of_client.get({})
        return digest(self.type, *(stand_ins.get(word, word) for word in _WORD.findall(self.name)))

    @property
    def kind(self) -> str:
        """The type's last part: `nodeGroup` of `aws:eks/nodeGroup:NodeGroup`."""
        return self._middle[-1]

    @property
    def module(self) -> str:
        """The type's module: `eks` of `aws:eks/nodeGroup:NodeGroup`."""
        return self._middle[0]

    @property
    def _middle(self) -> list[str]:
        return _middle(self.type)

    @property
    def uuid(self) -> str:
        """A text in the form of a UUID of version 4, this resource's own."""
        h = self.hex
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-8{h[17:20]}-{h[20:32]}"

    def text(self, key: str, default: str = "") -> str:
        """An input as text; the default for one that is missing, unknown or no text."""
        value = bare(self.inputs.get(key))
        return value if isinstance(value, str) else default

    @property
    def cloud_name(self) -> str:
        """The name in the cloud: what was given or what Check made, else the logical name."""
        return next(filter(None, map(self.text, name_inputs(self.type))), self.name)

    def arn(self, service: str, resource: str, *, region: bool = True, account: bool = True) -> str:
        """An ARN in this resource's partition."""
        where = f"{self.place.region if region else ''}:{self.place.account if account else ''}"
        return f"arn:{self.place.partition}:{service}:{where}:{resource}"


SERVICES: dict[str, str] = {
    "efs": "elasticfilesystem",
    "costexplorer": "ce",
    "lb": "elasticloadbalancing",
    "alb": "elasticloadbalancing",
    "vpc": "ec2",
    "ebs": "ec2",
    "msk": "kafka",
    "sfn": "states",
    "emr": "elasticmapreduce",
    "emrserverless": "emr-serverless",
    "codestarconnections": "codestar-connections",
}
"""Pulumi modules whose service is called otherwise in ARNs."""


_TABLES: Final[Mapping[str, str]] = {"aws": "elsewhere.yaml", "gcp": "elsewhere_gcp.yaml"}
"""By provider, the table of the types that have no card."""


@cache
def _table(file: str) -> Mapping[str, Mapping[str, Any]]:
    return tree(files(__package__).joinpath(file))


def _elsewhere(type_: str) -> Mapping[str, Any]:
    """How a type is called which has no card of its own; the table is read when the first such type comes."""
    file = _TABLES.get(type_.partition(":")[0])
    return {} if file is None or type_ in cards.BY_TYPE else _table(file).get(type_, {})


def is_written_down(type_: str) -> bool:
    """Whether somebody wrote down how a type's ids and ARNs look."""
    return type_ in cards.BY_TYPE or bool(_elsewhere(type_))


@cache
def _ids_of_aws() -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads(files(__package__).joinpath("aws_ids.json").read_text(encoding="utf-8"))
    return found


def _as_imported(type_: str) -> str | None:
    """The form of the ids of a type of AWS that nobody wrote down, as its page shows it (`generate_aws_ids`)."""
    return _ids_of_aws().get(type_) if type_.startswith("aws:") and not is_written_down(type_) else None


def is_described(type_: str) -> bool:
    """Whether it is known how a type's ids look."""
    return is_written_down(type_) or _as_imported(type_) is not None


_GLOBAL = {"iam", "budgets", "ce", "route53", "cloudfront", "organizations"}


def arn(subject: Subject, identity: str) -> str:
    """The ARN of an AWS resource."""
    if subject.module == "s3":
        return subject.arn("s3", subject.text("bucket", subject.name), region=False, account=False)
    card, called = cards.of(subject.type), _elsewhere(subject.type)
    shown = _as_imported(subject.type)
    if shown is not None and shown.startswith("arn:"):
        return written(shown, subject, identity)
    if "arn" in called:
        service, part = called["arn"]
        return subject.arn(service, written(part, subject, identity), account=called.get("of_account", True))
    service = card.arn_service or SERVICES.get(subject.module, subject.module)
    if card.arn:
        part = written(card.arn, subject, identity)
    else:
        kind = re.sub(r"^get-", "", "".join(f"-{c.lower()}" if c.isupper() else c for c in subject.kind))
        part = f"{kind}/{identity}"
    return subject.arn(service, part, region=service not in _GLOBAL)


def identity(subject: Subject) -> str:
    """The id that the cloud would give."""
    if subject.type.startswith("gcp:") and subject.type not in cards.BY_TYPE:
        found = google_ids.identity(subject, subject.place.region, subject.place.project)
        if found is not None:
            return found
    form = _elsewhere(subject.type).get("id") or _as_imported(subject.type) or cards.of(subject.type).id
    return written(form, subject)


_OF_GOOGLE: Final[Mapping[str, str]] = {
    "project": "{project}",
    "region": "{region}",
    "writerIdentity": f"serviceAccount:service-{google_ids.NUMBER}@gcp-sa-logging.iam.gserviceaccount.com",
    "ipAddress": "10.0.0.{host}",
    "privateIpAddress": "10.0.1.{host}",
    "publicIpAddress": "203.0.113.{host}",
    "selfLink": "https://www.googleapis.com/compute/v1/{id}",
}
"""Outputs of Google Cloud's types, by their names."""


def of_google(key: str, subject: Subject) -> str | None:
    """An output of one of Google Cloud's resources; None for one that is like those of other clouds."""
    if key == "name" and subject.type not in cards.BY_TYPE:
        return google_ids.full_name(subject.type, identity(subject))
    form = _OF_GOOGLE.get(key)
    return None if form is None else written(form, subject, identity(subject))


def special(subject: Subject, ident: str) -> dict[str, Any]:
    """Outputs that a program reads and no annotation promises: merged under what the program gave."""
    card = cards.of(subject.type)
    named = {**card.outputs, **_elsewhere(subject.type).get("outputs", {})}
    outputs = {key: _filled(value, subject, ident) for key, value in named.items()}
    for key, more in card.outputs_with.items():
        if bare(subject.inputs.get(key)) not in (None, False):
            outputs |= {name: _filled(value, subject, ident) for name, value in more.items()}
    return {key: Secret(value) if key in card.secret_outputs else value for key, value in outputs.items()}


def written(text: str, subject: Subject, ident: str = "") -> str:
    """A text of a card for one resource; `ident` is its id, where that is known."""
    return text.format_map(_Fields(subject, ident)) if "{" in text else text


def _filled(value: Any, subject: Subject, ident: str) -> Any:
    if isinstance(value, str):
        return written(value, subject, ident)
    if isinstance(value, Mapping):
        return {key: _filled(item, subject, ident) for key, item in value.items()}
    if isinstance(value, list):
        return [made for item in value for made in _of_each(item, subject, ident)]
    return value


_LETTERS: Final = "abcdef"


def _of_each(item: Any, subject: Subject, ident: str) -> list[Any]:
    """An entry of a list; one with `each` is there once for every entry of that input, with what this one gives."""
    if not isinstance(item, Mapping) or "each" not in item:
        return [_filled(item, subject, ident)]
    form = {key: value for key, value in item.items() if key != "each"}
    given = bare(subject.inputs.get(item["each"]))
    entries = given if isinstance(given, list) else []
    return [
        _filled(
            form,
            replace(
                subject,
                name=f"{subject.name}-{place}",
                inputs={**(one if isinstance(one, Mapping) else {}), "letter": _LETTERS[place % len(_LETTERS)]},
            ),
            ident,
        )
        for place, one in enumerate(entries)
    ]


class _Fields:
    """The fields of a card's texts (`trainyard.cards.card`) for one resource."""

    def __init__(self, subject: Subject, ident: str) -> None:
        self._subject = subject
        self._id = ident

    def __getitem__(self, field: str) -> Any:
        return _FIELDS[field](self._subject, self._id)


@dataclass(frozen=True, slots=True)
class _WithArgument:
    """A field that takes an argument behind its colon."""

    subject: Subject
    of: Callable[[Subject, str], str]

    def __format__(self, argument: str) -> str:
        return self.of(self.subject, argument)


def _input(subject: Subject, argument: str) -> str:
    key, _, default = argument.partition("|")
    value = bare(subject.inputs.get(key))
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else default


def _end(subject: Subject, argument: str) -> str:
    key, _, default = argument.partition("|")
    return re.split("[:/]", subject.text(key))[-1] or default


def _digest(subject: Subject, argument: str) -> str:
    word, _, length = argument.partition(".")
    return digest(subject.type, subject.name, word)[: int(length)]


_FIELDS: Final[Mapping[str, Callable[[Subject, str], Any]]] = {
    "name": lambda s, _: s.name,
    "cloud_name": lambda s, _: s.cloud_name,
    "hex": lambda s, _: s.hex,
    "HEX": lambda s, _: s.hex.upper(),
    "uuid": lambda s, _: s.uuid,
    "octet": lambda s, _: int(s.address_hex[:2], 16),
    "host": lambda s, _: 1 + int(s.address_hex[2:4], 16) % 254,
    "id": lambda _, ident: ident,
    "arn": lambda s, _: arn(s, s.uuid),
    "region": lambda s, _: s.place.region,
    "account": lambda s, _: s.place.account,
    "partition": lambda s, _: s.place.partition,
    "project": lambda s, _: s.text("project").removeprefix("projects/") or s.place.project,
    "dns_suffix": lambda s, _: s.place.dns_suffix,
    "object_id": lambda s, _: _object_id(s),
    "path": lambda s, _: s.cloud_name.removeprefix("/"),
    "scope": lambda s, _: "global" if s.text("scope") == "CLOUDFRONT" else "regional",
    "input": lambda s, _: _WithArgument(s, _input),
    "digest": lambda s, _: _WithArgument(s, _digest),
    "tail": lambda s, _: _WithArgument(s, lambda s, key: s.text(key).rpartition(":")[2]),
    "end": lambda s, _: _WithArgument(s, _end),
    "address": lambda s, _: _WithArgument(s, lambda s, key: s.text(key).removeprefix("https://")),
}


def _object_id(subject: Subject) -> str:
    metadata = bare(subject.inputs.get("metadata"))
    if not isinstance(metadata, Mapping):  # a Helm release
        namespace, name = subject.text("namespace", "default"), subject.cloud_name
    else:
        namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name", subject.name))
    return f"{namespace}/{name}" if namespace else name


def unknown_like(value: Any) -> Any:
    """The same structure with every leaf unknown: what a preview makes of a computed part of a block."""
    if isinstance(value, Mapping):
        return {key: unknown_like(item) for key, item in value.items()}
    if isinstance(value, Secret):
        return Secret(UNKNOWN)
    return UNKNOWN
