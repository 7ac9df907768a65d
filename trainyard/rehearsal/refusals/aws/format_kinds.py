"""What a single value may be: one of some texts, a pattern, a range, an ARN, a network, JSON, base64."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from trainyard.recorded.read import as_number


@dataclass(frozen=True, slots=True)
class Format:
    """What a value may be. `accepts` sees known values only."""

    rule: str
    accepts: Callable[[Any], bool]
    allowed: str
    choices: tuple[str, ...] = ()


def one_of(rule_id: str, choices: str | tuple[str, ...]) -> Format:
    """Accepts one of the given texts."""
    names = tuple(choices.split()) if isinstance(choices, str) else choices
    return Format(
        rule_id, lambda value: not isinstance(value, str) or value in names, f"one of {', '.join(names)}", names
    )


_compiled = cache(re.compile)


def matching(rule_id: str, pattern: str, allowed: str, most: int | None = None) -> Format:
    """Accepts a text that a pattern matches as a whole."""

    def accepts(value: Any) -> bool:
        return not isinstance(value, str) or (
            _compiled(pattern).fullmatch(value) is not None and (most is None or len(value) <= most)
        )

    return Format(rule_id, accepts, allowed)


def between(rule_id: str, least: float, most: float, unit: str = "") -> Format:
    """Accepts a number within a range, both ends included."""

    def accepts(value: Any) -> bool:
        number = as_number(value)
        return number is None or least <= number <= most

    return Format(rule_id, accepts, f"must be {least:g} to {most:g}{unit and ' ' + unit}")


def number_in(rule_id: str, *numbers: int) -> Format:
    """Accepts one of the given numbers."""

    def accepts(value: Any) -> bool:
        number = as_number(value)
        return number is None or number in numbers

    return Format(rule_id, accepts, f"one of {', '.join(map(str, numbers))}")


def _is_network(value: Any) -> bool:
    if not isinstance(value, str) or "/" not in value:
        return False
    try:
        ipaddress.ip_network(value, strict=True)
    except ValueError:
        return False
    return True


def _is_json(value: Any) -> bool:
    if not isinstance(value, str) or not value.strip():
        return True
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def is_service_network(value: Any) -> bool:
    """Whether EKS takes a range for its services: /12 to /24 inside a private range."""
    if not _is_network(value):
        return False
    network = ipaddress.ip_network(value)
    private = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    return (
        isinstance(network, ipaddress.IPv4Network)
        and 12 <= network.prefixlen <= 24
        and any(network.subnet_of(ipaddress.IPv4Network(outer)) for outer in private)
    )


def sized_network(least: int, most: int) -> Callable[[Any], bool]:
    """Accepts networks whose prefix length lies between two."""

    def accepts(value: Any) -> bool:
        return _is_network(value) and least <= ipaddress.ip_network(value).prefixlen <= most

    return accepts


def arn(service: str = "") -> Format:
    """An Amazon Resource Name, of one service where one is named.

    What an alarm does with an instance has `ec2` for its account (`arn:aws:automate:eu-west-1:ec2:recover`, CloudWatch
    API reference, `PutMetricAlarm`).
    """
    allowed = f"must be an ARN{f' of {service}' if service else ''} (arn:aws:{service or 'service'}:…)"
    middle = service or "[a-z0-9-]+"
    return matching("aws-arn", rf"arn:aws[a-z-]*:{middle}:[a-z0-9-]*:(\d{{12}}|aws|aws-managed|ec2)?:\S+", allowed)


NETWORK: Final = Format(
    "aws-cidr", _is_network, "must be a network address with its prefix and without host bits, like 10.20.0.0/16"
)
JSON: Final = Format("aws-json", _is_json, "must be valid JSON")
BASE64: Final = Format("launch-template-user-data", _is_base64, "must be base64 (the provider does not encode it)")
