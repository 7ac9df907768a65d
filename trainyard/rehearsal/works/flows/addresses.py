"""Sets of addresses, with which walls are told apart from what lies behind them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

Span = tuple[int, int, int]
"""Version of the protocol (4 or 6), first and last address as numbers."""

_SHOWN: Final = 3
"""CIDR blocks that a sentence names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Any set of IP addresses, as sorted spans that neither touch nor overlap. An empty one is false."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, *networks: str) -> Addresses:
        """The addresses of some CIDR blocks or single addresses. Raises ValueError for what is none."""
        return _of(networks)

    @classmethod
    def of_place(cls, network: str, place: int) -> Addresses:
        """The address at a place of a CIDR block, 0 the first. Raises ValueError for no block, or a smaller one."""
        version, first, last = _span(network)
        if first + place > last:
            raise ValueError(f"{network} has no address {place}")
        return cls(((version, first + place, first + place),))

    @classmethod
    def union(cls, parts: Iterable[Addresses]) -> Addresses:
        """What is in one of the sets."""
        return cls._joined(span for part in parts for span in part.spans)

    @classmethod
    def _joined(cls, spans: Iterable[Span]) -> Addresses:
        joined: list[Span] = []
        for version, first, last in sorted(spans):
            if joined and joined[-1][0] == version and first <= joined[-1][2] + 1:
                joined[-1] = (version, joined[-1][1], max(joined[-1][2], last))
            else:
                joined.append((version, first, last))
        return cls(tuple(joined))

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __and__(self, other: Addresses) -> Addresses:
        return self._joined(
            (version, max(first, start), min(last, end))
            for version, first, last in self.spans
            for other_version, start, end in other.spans
            if version == other_version and first <= end and start <= last
        )

    def __or__(self, other: Addresses) -> Addresses:
        return self.union((self, other))

    def __sub__(self, other: Addresses) -> Addresses:
        left = list(self.spans)
        for version, start, end in other.spans:
            cut: list[Span] = []
            for span in left:
                if span[0] != version or end < span[1] or span[2] < start:
                    cut.append(span)
                    continue
                if span[1] < start:
                    cut.append((version, span[1], start - 1))
                if end < span[2]:
                    cut.append((version, end + 1, span[2]))
            left = cut
        return Addresses(tuple(left))

    def __str__(self) -> str:
        """The CIDR blocks, the first few of them: for a sentence."""
        blocks = [
            str(network)
            for version, first, last in self.spans
            for network in ipaddress.summarize_address_range(_address(version, first), _address(version, last))
        ]
        more = [f"{len(blocks) - _SHOWN} more"] if len(blocks) > _SHOWN else []
        return ", ".join([*blocks[:_SHOWN], *more]) or "no address"


@lru_cache(maxsize=4096)
def _of(networks: tuple[str, ...]) -> Addresses:
    """Policies name the same few blocks over and over."""
    return Addresses._joined(_span(network) for network in networks)


def _span(network: str) -> Span:
    found = ipaddress.ip_network(network, strict=False)
    return found.version, int(found.network_address), int(found.broadcast_address)


def _address(version: int, number: int) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.IPv4Address(number) if version == 4 else ipaddress.IPv6Address(number)


PRIVATE: Final = Addresses.of("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
"""Private networks, and the shared one that clouds number pods from (RFC 1918, RFC 6598)."""

INTERNET: Final = (
    Addresses.of("0.0.0.0/0")
    - PRIVATE
    - Addresses.of(
        "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
    )
)  # fmt: skip
"""Public addresses: all of IPv4 but what the IANA special-purpose registry keeps back (RFC 6890, 2026-11)."""
