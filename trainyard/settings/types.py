"""What the settings are made of: the base of their models, and the kinds of text and number that several keys share."""

from __future__ import annotations

import datetime
import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from trainyard.conventions import LONGEST_NAME

_PRIVATE = tuple(
    ipaddress.IPv4Network(cidr)
    for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16")
)


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


def matching(pattern: str, allowed: str) -> Matching:
    """A text that matches a pattern as a whole; `allowed` says to its author what that is."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise ValueError(allowed)
        return value

    return Matching(check, pattern, allowed)


def _network(value: str) -> str:
    try:
        ipaddress.IPv4Network(value, strict=True)
    except ValueError:
        raise ValueError("must be an IPv4 network without host bits, like 10.20.0.0/16") from None
    return value


def _public_network(value: str) -> str:
    network = ipaddress.IPv4Network(_network(value))
    if network.prefixlen < 8:
        raise ValueError("must be narrower than /8: an endpoint open to the internet is refused")
    if any(network.overlaps(private) for private in _PRIVATE):
        raise ValueError("the internet reaches no private address; name the public ones of your offices and runners")
    return value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _day(value: object) -> object:
    """The day of midnight: a date without quotes reaches a program as the time that Go makes of it."""
    return _MIDNIGHT.sub("", value) if isinstance(value, str) else value


_MIDNIGHT = re.compile(r"(T00:00:00Z| 00:00:00 \+0000 UTC)$")

NAME_PATTERN = re.compile(rf"[a-z]([a-z0-9]|-(?!-|$)){{0,{LONGEST_NAME - 1}}}")
NAME_ALLOWED = f"must be lower-case letters, digits and single '-', begin with a letter, at most {LONGEST_NAME} long"
Name = Annotated[str, matching(NAME_PATTERN.pattern, NAME_ALLOWED)]
"""Name of a client, an environment, a team, a GPU pool or a priority: a part of the names of resources."""

Email = Annotated[
    str,
    matching(r"[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+", "must be an e-mail address"),
    StandIn("unseen-{number}@example.com"),
]

Label = Annotated[
    str,
    matching(
        r"[\w][\w .:/=+@-]{0,99}", "must be 1 to 100 letters, digits, spaces or . : / = + - @ _ (it becomes a tag)"
    ),
]

TextLikeNumber = Annotated[str, BeforeValidator(_as_text), WithJsonSchema({"type": ["string", "number"]})]
"""Text even where YAML made a number of it: versions and account ids."""

Date = Annotated[datetime.date, BeforeValidator(_day)]
"""A day; in a stack file with quotes or without."""

_CIDR_SCHEMA = WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+){3}(/\d+)?$"})
Cidr = Annotated[str, AfterValidator(_network), _CIDR_SCHEMA]
PublicCidr = Annotated[str, AfterValidator(_public_network), _CIDR_SCHEMA, StandIn("203.0.113.{number}/32")]
Image = Annotated[
    str,
    matching(r"\S+@sha256:[0-9a-f]{64}", "must be pinned by its digest, like repository:tag@sha256:…"),
    StandIn("unseen/image@sha256:{number:064x}"),
]
Quantity = Annotated[
    str, matching(r"[0-9]+(\.[0-9]+)?(m|[KMGT]i?)?", "must be a Kubernetes quantity, like 500m or 4Gi")
]
Nodes = Annotated[int, Field(ge=0, le=1000)]
Days = Annotated[int, Field(ge=1, le=3650)]
