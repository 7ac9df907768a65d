"""Which quota of EC2 an instance type counts against: its name says so, and names change when AWS adds a family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Market = Literal["on-demand", "spot"]

_NAMES: Final[Mapping[Market, re.Pattern[str]]] = {
    "on-demand": re.compile(r"Running On-Demand (?P<families>.+) instances"),
    "spot": re.compile(r"All (?P<families>.+) Spot Instance Requests"),
}
_FAMILY: Final = re.compile(r"\b(?!Standard\b|High\b|Memory\b)[A-Z][A-Za-z]*[0-9]*\b")
_TYPE: Final = re.compile(r"([a-z]+)[0-9]")

STANDARD: Final = frozenset("acdhimrtz")
"""Classes of types that share the quota "Standard" (EC2 User Guide, "Amazon EC2 service quotas", 2026-11)."""


@dataclass(frozen=True, slots=True)
class Known:
    """A quota as it is known where the account cannot be asked."""

    market: Market
    classes: frozenset[str]  # "p"
    code: str
    name: str


KNOWN: Final = (
    Known("on-demand", STANDARD, "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"),
    Known("on-demand", frozenset(("g", "vt")), "L-DB2E81BA", "Running On-Demand G and VT instances"),
    Known("on-demand", frozenset("p"), "L-417A185B", "Running On-Demand P instances"),
    Known("spot", STANDARD, "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"),
    Known("spot", frozenset(("g", "vt")), "L-3819A6DF", "All G and VT Spot Instance Requests"),
    Known("spot", frozenset("p"), "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"),
)
"""The codes of EC2's quotas for these families (Service Quotas console, service `ec2`, 2026-11)."""


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota of the account: its value is in vCPUs."""

    code: str
    name: str
    value: float | None  # None: the account was not asked


def class_of(type_: str) -> str:
    """The class of a type: `p` of p4d.24xlarge, `inf` of inf2.xlarge."""
    found = _TYPE.match(type_)
    return found[1] if found else type_.partition(".")[0]


def quota_of(type_: str, market: Market, listed: Iterable[Mapping[str, Any]]) -> Quota | None:
    """The quota that a type counts against, of those that the account lists; None where none is of its family.

    A quota that names the type's generation (`P5`) goes before one that names its class (`P`).
    """
    best: tuple[int, Quota] | None = None
    for entry in listed:
        named = _NAMES[market].fullmatch(str(entry["QuotaName"]))
        if named is None:
            continue
        depth = _depth(type_, named["families"])
        if depth and (best is None or depth > best[0]):
            best = depth, Quota(str(entry["QuotaCode"]), str(entry["QuotaName"]), float(entry["Value"]))
    return best[1] if best else None


def known_quota(type_: str, market: Market) -> Quota | None:
    """The quota of a type's class by its known code, without a value; None where no code is known."""
    class_ = class_of(type_)
    for known in KNOWN:
        if known.market == market and class_ in known.classes:
            return Quota(known.code, known.name, None)
    return None


def _depth(type_: str, families: str) -> int:
    """How exactly a quota's name means a type: 2 by its generation, 1 by its class, 0 not at all."""
    names = {name.lower() for name in _FAMILY.findall(families)}
    if any(name[-1].isdigit() and type_.startswith(name) and not type_[len(name)].isdigit() for name in names):
        return 2
    return 1 if class_of(type_) in names else 0
