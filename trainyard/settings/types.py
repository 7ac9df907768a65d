"""What the settings are made of: the base of their models, and the kinds of text and number that several keys share.

Modules of models do without `from __future__ import annotations`: pydantic would compile each of 300 annotations.
"""

import datetime
import ipaddress
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from trainyard.conventions import LONGEST_NAME
from trainyard.conventions.quantities import MEBIBYTE, quantity

SPECIAL = {
    ipaddress.IPv4Network(cidr): what
    for cidr, what in (
        ("0.0.0.0/8", "this host"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
}
"""Ranges that no network can have (IANA IPv4 Special-Purpose Address Registry and multicast address space, 2026-11)."""

PRIVATE = tuple(ipaddress.IPv4Network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""Private addresses (RFC 1918)."""

NOT_PUBLIC = (
    *PRIVATE,
    *(ipaddress.IPv4Network(cidr) for cidr in ("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15")),
    *SPECIAL,
)
"""Ranges from which nobody comes over the internet: private, shared by carriers (RFC 6598), of protocols, of benchmarks
(RFC 2544), special. Those of documentation (RFC 5737) are left to examples."""


def is_private(network: ipaddress.IPv4Network) -> bool:
    """Whether nobody has these addresses on the internet: private ones, or those shared by carriers (RFC 6598)."""
    return any(network.subnet_of(other) for other in (*PRIVATE, ipaddress.IPv4Network("100.64.0.0/10")))


def not_private(network: ipaddress.IPv4Network) -> str:
    """What a person has to know of a range that somebody has on the internet."""
    return f"{network} is not private: whoever has these addresses on the internet cannot be reached"


class Model(BaseModel):
    """A part of the settings: plain frozen data, camelCase in a stack file, no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=False)


@dataclass(frozen=True)
class Matching(AfterValidator):
    """A check of a text against a pattern, which a JSON schema tells too."""

    pattern: str
    allowed: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of the text with the pattern; editors show `patternErrorMessage` where it does not match."""
        found = handler(schema)
        if r"\w" in self.pattern:  # a letter of any alphabet here, of ASCII alone in an editor
            return found
        return {**found, "pattern": f"^({self.pattern})$", "patternErrorMessage": self.allowed}


@dataclass(frozen=True, slots=True)
class StandIn:
    """Marks a value that may be encrypted: nothing that is planned depends on it. The template gives a text of its form
    for a rehearsal, which cannot decrypt; `{number}` tells one from another."""

    template: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of the text, marked, so that an editor lets it be encrypted."""
        return {**handler(schema), MAY_BE_ENCRYPTED: True}


MAY_BE_ENCRYPTED = "x-may-be-encrypted"
"""Mark in a JSON schema, of a value that may be encrypted."""


_compiled = cache(re.compile)
"""A stack file has a value for a few patterns of many, and the cache of `re` itself is too small to rely upon."""


def matching(pattern: str, allowed: str) -> Matching:
    """A text that matches a pattern as a whole; `allowed` says to its author what that is."""

    def check(value: str) -> str:
        if not _compiled(pattern).fullmatch(value):
            raise ValueError(allowed)
        return value

    return Matching(check, pattern, allowed)


def _network(value: str) -> str:
    """The network with its length: clouds take neither an address alone nor a netmask."""
    try:
        return str(ipaddress.IPv4Network(value, strict=True))
    except ValueError:
        raise ValueError("must be an IPv4 network without host bits, like 10.20.0.0/16") from None


def _public_network(value: str) -> str:
    spelt = _network(value)
    network = ipaddress.IPv4Network(spelt)
    if network.prefixlen < 8:
        raise ValueError("must be narrower than /8: an endpoint open to the internet is refused")
    if any(network.overlaps(other) for other in NOT_PUBLIC):
        raise ValueError(
            "nobody comes from there over the internet: private, loopback, link-local, multicast or reserved; name the "
            "public ones of your offices and runners"
        )
    return spelt


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _day(value: object) -> object:
    """The day of midnight: a date without quotes reaches a program as the time that Go makes of it."""
    return _MIDNIGHT.sub("", value) if isinstance(value, str) else value


_MIDNIGHT = re.compile(r"(T00:00:00Z| 00:00:00 \+0000 UTC)$")


def _at_least(text: str, least: Fraction | int, shown: str) -> str:
    amount = quantity(text)
    if amount is None or amount < least:
        raise ValueError(f"must be at least {shown}")
    return text


NAME_PATTERN = re.compile(rf"[a-z]([a-z0-9]|-(?!-|$)){{0,{LONGEST_NAME - 1}}}")
NAME_ALLOWED = f"must be lower-case letters, digits and single '-', begin with a letter, at most {LONGEST_NAME} long"
Name = Annotated[str, matching(NAME_PATTERN.pattern, NAME_ALLOWED)]
"""Name of a client, an environment, a team, a GPU pool or a priority: a part of the names of resources."""

Email = Annotated[
    str,
    matching(
        r"(?=.{3,50}$)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
        r"@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?",
        "must be an e-mail address of at most 50 characters",  # AWS Budgets takes no longer one
    ),
    StandIn("unseen-{number}@example.com"),
]

Label = Annotated[
    str,
    matching(
        r"(?![aA][wW][sS]:)[\w][\w .:/=+@-]{0,99}",
        "must be 1 to 100 letters, digits, spaces or . : / = + - @ _, and not begin with aws: (it becomes a tag)",
    ),
]

DomainName = Annotated[
    str,
    matching(
        r"(?=.{4,253}$)\.?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])",
        "must be a domain name in lower case, like pypi.org, or .hf.co for it and all below: no address, port or *",
    ),
]

TimeOfDay = Annotated[
    str, matching(r"([01][0-9]|2[0-3]):[0-5][0-9]", 'must be a time of day in quotes, from "00:00" to "23:59"')
]


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # what is no zone, no name, or a folder of zones
        raise ValueError("must be a name of the IANA time zone database, like Europe/Berlin") from None
    return value


TimeZone = Annotated[str, Field(max_length=60), AfterValidator(_time_zone)]
"""A time zone by its name."""

TextLikeNumber = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number"]})]
"""Text even where YAML made a number of it: versions and account ids."""

Date = Annotated[datetime.date, BeforeValidator(_day)]
"""A day; in a stack file with quotes or without."""

_CIDR_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+){3}(/\d+)?$"})
Cidr = Annotated[str, AfterValidator(_network), _CIDR_SCHEMA]
PublicCidr = Annotated[str, AfterValidator(_public_network), _CIDR_SCHEMA, StandIn("203.0.113.{number}/32")]
Image = Annotated[
    str,
    matching(
        r"([A-Za-z0-9.-]+(:[0-9]{1,5})?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?"
        r"@sha256:[0-9a-f]{64}",
        "must be an image that is pinned by its digest, like repository:tag@sha256:…",
    ),
    StandIn("unseen/image@sha256:{number:064x}"),
]
StateBackend = Annotated[
    str,
    matching(
        r"(https?|s3|gs|azblob|file|postgres)://[^@ ]{1,500}",
        "must be a URL as `pulumi login` takes it, without a user or password: s3://bucket?region=…, gs://, azblob://, "
        "file://, https://",
    ),
]
LEAST_CORES = Fraction("0.05")
LEAST_BYTES = 256 * MEBIBYTE
"""What a server cannot do with less of: own choices, half of what the smallest Python web server starts with."""

Cores = Annotated[
    str,
    matching(r"[0-9]{1,4}(\.[0-9]{1,3})?|[0-9]{1,7}m", "must be cores as a Kubernetes quantity, like 500m or 2"),
    AfterValidator(lambda text: _at_least(text, LEAST_CORES, "50m")),
]
Memory = Annotated[
    str,
    matching(r"[0-9]{1,15}(\.[0-9]{1,3})?(k|Ki|[MGT]i?)?", "must be bytes as a Kubernetes quantity, like 512Mi or 4Gi"),
    AfterValidator(lambda text: _at_least(text, LEAST_BYTES, "256Mi")),
]
Nodes = Annotated[int, Field(ge=0, le=1000)]
Days = Annotated[int, Field(ge=1, le=3650)]
