"""Values that an input may be: as Google's discovery documents enumerate them, and as the provider describes its inputs
(`data/gcp_values.json`, which `generate` writes)."""

from __future__ import annotations

import base64
import binascii
import datetime
import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from trainyard.problems import nearest
from trainyard.recorded.read import as_number
from trainyard.recorded.types import GCP_ROUTER
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

_PREFIX: Final = "gcp:"


_BY_HAND: Final = (
    "gcp:compute/instance:Instance",
    "gcp:compute/instanceTemplate:InstanceTemplate",
    "gcp:compute/securityPolicy:SecurityPolicy",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "gcp:dns/recordSet:RecordSet",
    "gcp:logging/projectBucketConfig:ProjectBucketConfig",
    "gcp:sql/databaseInstance:DatabaseInstance",
    "gcp:sql/user:User",
    "gcp:storage/bucket:Bucket",
)
"""Types that the provider's authors wrote by hand, where an empty text is none of the words. Of one that is generated
from Google's API the provider takes it as "not said", unless it is required (magic-modules, `EnumValuesToString` in
mmv1/api/type.go): a forwarding rule to what Private Service Connect publishes has to have an empty one."""


@cache
def _table() -> Mapping[str, Any]:
    text = files("trainyard.rehearsal.refusals").joinpath("data", "gcp_values.json").read_text(encoding="utf-8")
    content: Mapping[str, Any] = json.loads(text)
    return content


def services() -> tuple[str, ...]:
    """The hosts of Google's services that are known."""
    return tuple(_table()["services"])


def together(type_: str) -> Mapping[str, Mapping[str, list[str]]]:
    """What a type's inputs are to each other, by their paths: `not_with`, `with` and `one_of` others."""
    found: Mapping[str, Mapping[str, list[str]]] = _table()["together"].get(type_, {})
    return found


def value(view: View) -> None:
    """Texts that the API or the provider enumerates, and numbers, lengths and forms that the provider asks for."""
    if not view.type.startswith(_PREFIX):
        return
    enumerated, limited = (_table()[key].get(view.type, {}) for key in ("values", "limits"))
    for path in {**enumerated, **limited}:
        limits = limited.get(path, {})
        allowed = limits.get("in")
        api = enumerated.get(path, ())
        for where, found in _reached(view.inputs, path.split("."), ""):
            if isinstance(found, str) and (allowed or api) and (found or view.type in _BY_HAND):
                _enumerated(view, where, found, allowed or api, api=api, any_case="any_case" in limits)
            if limits and not isinstance(found, (list, Mapping)):
                _limited(view, where, found, limits)
        if "items" in limits:
            _counted(view, path, *limits["items"])


def _enumerated(view: View, where: str, found: str, allowed: list[str], *, api: list[str], any_case: bool) -> None:
    # Words for "not said" are in the enums and mean nothing; the provider takes some of them.
    if found in allowed or "UNSPECIFIED" in found or (any_case and found.upper() in map(str.upper, allowed)):
        return
    words, may = show(found), ", ".join(allowed)
    if found in api:
        view.warning("gcp-value", where, f"{words} is of the API; the provider is not known to take it", allowed=may)
    else:
        view.error("gcp-value", where, words, allowed=may, hint=nearest(found, allowed))


def _limited(view: View, where: str, found: Any, limits: Mapping[str, Any]) -> None:
    number = as_number(found)
    if "range" in limits and number is not None:
        low, high = limits["range"]
        if (low is not None and number < low) or (high is not None and number > high):
            view.error("gcp-range-of-numbers", where, show(found), allowed=_from_to(low, high))
    if not isinstance(found, str):
        return
    if "length" in limits:
        low, high = limits["length"]
        if (low is not None and len(found) < low) or (high is not None and len(found) > high):
            view.error("gcp-length", where, f"{len(found)} characters", allowed=f"{_from_to(low, high)} characters")
    if "like" in limits and not _like(limits["like"]).search(found):
        view.error("gcp-pattern", where, show(found), allowed=f"like {limits['like']}")
    form = FORMS.get(limits.get("form", ""))
    if form is not None and found and not form[0](found):
        view.error("gcp-form", where, show(found), allowed=form[1])


def _from_to(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"{low} to {high}"


def _counted(view: View, path: str, low: int | None, high: int | None) -> None:
    found = view.value(path)
    if isinstance(found, list) and ((low is not None and len(found) < low) or (high is not None and len(found) > high)):
        view.error("gcp-items", path, f"{len(found)} entries", allowed=f"{_from_to(low, high)} entries")


@cache
def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _reached(value: Any, path: list[str], where: str) -> Iterator[tuple[str, Any]]:
    """Everything at a path, in every item of the lists on the way; unknown is not known to be wrong."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _reached(item, path, f"{where}[{index}]")
    elif not path:
        yield where, value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _reached(value[path[0]], path[1:], f"{where}.{path[0]}" if where else path[0])


def is_duration(text: str) -> bool:
    """Seconds as the APIs write them: `3600s`, `0.5s`."""
    return re.fullmatch(r"\d+(\.\d{1,9})?s", text) is not None


def is_moment(text: str) -> bool:
    """A date with its time and zone (RFC 3339)."""
    return "T" in text.upper() and _is_date(text) and re.search(r"([Zz]|[+-]\d\d:\d\d)$", text) is not None


def _is_date(text: str) -> bool:
    """A date, with or without its time."""
    plain = re.sub(r"(\.\d{6})\d+", r"\1", text)
    try:
        datetime.datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", plain))
    except ValueError:
        return False
    return re.match(r"\d{4}-\d\d-\d\d", text) is not None


def _is_cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


FORMS: Final[Mapping[str, tuple[Callable[[str], bool], str]]] = {
    "duration": (is_duration, "seconds with an 's', like 3600s"),
    "date": (_is_date, "a date, like 2026-11-30 or 2026-11-30T08:00:00Z"),
    "datetime": (is_moment, "a date with time and zone, like 2026-11-30T08:00:00Z"),
    "time": (_matches(r"([01]\d|2[0-3]):[0-5]\d"), "HH:MM"),
    "hour": (_matches(r"([01]\d|2[0-4]):00"), "HH:00"),
    "cidr": (_is_cidr, "a range of addresses, like 10.0.0.0/20"),
    "json": (_is_json, "JSON"),
    "base64": (_is_base64, "base64"),
    "compute-name": (
        _matches(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
        "1 to 63 of a-z, 0-9 and '-', a letter first, no '-' last",
    ),
    "absolute-name": (lambda text: text.endswith("."), "a name that ends with a dot"),
}
"""What the forms of the table ask for, and how that is told."""


_OF_PARTNERS: Final = 16_550
"""Google's own number, which a router for Partner Interconnect has to have (Cloud Router, "Create a router")."""


def private_asn(view: View) -> None:
    """A router's number is one of those for private networks (RFC 6996)."""
    number = view.number("bgp.asn")
    if number == _OF_PARTNERS:
        return
    if number is not None and not (64_512 <= number <= 65_534 or 4_200_000_000 <= number <= 4_294_967_294):
        allowed = "64512 to 65534, or 4200000000 to 4294967294"
        view.error("gcp-asn", "bgp.asn", show(number), allowed=allowed)


RULES: Rules = {private_asn: (GCP_ROUTER,), value: (EVERY_TYPE,)}
