"""Kubernetes quantities: amounts of cores or bytes as text, "500m" or "4Gi"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

MEBIBYTE: Final = 2**20
GIBIBYTE: Final = 2**30

_UNITS: Final = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1),
    **{unit: Fraction(1000 ** (power + 1)) for power, unit in enumerate("kMGTPE")},
    **{f"{unit}i": Fraction(1024 ** (power + 1)) for power, unit in enumerate("KMGTPE")},
}  # fmt: skip
_QUANTITY: Final = re.compile(r"([+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30}))([KMGTPE]i|[numkMGTPE])?")


def quantity(text: str) -> Fraction | None:
    """The amount, in cores or bytes; None where the text is no quantity with a suffix or none."""
    found = _QUANTITY.fullmatch(text)
    return None if found is None else Fraction(found[1]) * _UNITS[found[2] or ""]
