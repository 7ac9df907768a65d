"""What an allow-list proxy lets by: the access rules of a Squid configuration, asked about a request.

Source: Squid configuration reference, `acl` and `http_access` (read 2026-11): the first rule all of whose lists match
decides; where none does, the opposite of the last one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass


class CannotSay(Exception):  # noqa: N818 (says what cannot be known)
    """A list is of a kind that is not read here."""


@dataclass(frozen=True, slots=True)
class Connect:
    """A tunnel that somebody asks the proxy for."""

    host: str  # a name or an address
    port: int = 443
    door: int | None = None  # the proxy's own port that it was asked at
    address: str = ""  # where the name leads


def doors(configuration: str) -> list[int]:
    """The ports that the proxy listens on."""
    lines = (line.partition("#")[0].split() for line in configuration.splitlines())
    ports = [words[1].rpartition(":")[2] for words in lines if words[:1] == ["http_port"] and len(words) > 1]
    return [int(port) for port in ports if port.isdigit()]


def names(configuration: str) -> list[str]:
    """The names on its lists, as they stand there."""
    lines = (line.partition("#")[0].split() for line in configuration.splitlines())
    return [
        word
        for words in lines
        if words[:1] == ["acl"] and words[2:3] == ["dstdomain"]
        for word in words[3:]
        if not word.startswith("-")
    ]


def lets_by(configuration: str, request: Connect) -> bool:
    """Whether the rules let a request by. Raises `CannotSay`."""
    lists: dict[str, list[tuple[str, Sequence[str]]]] = {}
    last = "allow"
    for line in configuration.splitlines():
        words = line.partition("#")[0].split()
        if words[:1] == ["acl"] and len(words) > 2:
            values = [word for word in words[3:] if word not in ("-n", "-i", "--")]
            lists.setdefault(words[1], []).append((words[2], values))
        if words[:1] == ["http_access"] and len(words) > 1:
            last = words[1]
            if all(_matches(lists, word, request) for word in words[2:]):
                return last == "allow"
    return last != "allow"


def _matches(lists: dict[str, list[tuple[str, Sequence[str]]]], word: str, request: Connect) -> bool:
    name = word.removeprefix("!")
    if name == "all":
        found = True
    elif name in lists:
        found = any(_means(kind, values, request) for kind, values in lists[name])
    else:
        raise CannotSay(name)
    return found is not word.startswith("!")


def _means(kind: str, values: Sequence[str], request: Connect) -> bool:
    if kind in ("src", "localip"):  # whoever asks is in the network
        return True
    if kind == "localport" and request.door is not None:
        return any(_in_range(request.door, value) for value in values)
    if kind == "method":
        return "CONNECT" in values
    if kind == "port":
        return any(_in_range(request.port, value) for value in values)
    if kind == "dstdomain":
        return any(
            request.host == value or (value.startswith(".") and f".{request.host}".endswith(value)) or value == "."
            for value in values
        )
    if kind == "dstdom_regex":
        return any(re.search(value, request.host) for value in values)
    if kind == "dst":
        return any(_is_in(request.address or request.host, value) for value in values)
    raise CannotSay(kind)


def _in_range(port: int, text: str) -> bool:
    first, _, last = text.partition("-")
    return first.isdigit() and int(first) <= port <= int(last or first)


def _is_in(host: str, network: str) -> bool:
    if network == "all":
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:  # a name: it is not said where it leads
        return False
