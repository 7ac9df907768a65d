"""Whose signature the certificate of an RDS database has (`rds_authorities.pem`)."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_ENTRY = re.compile(r"^# ([a-z0-9-]+)\n(-----BEGIN CERTIFICATE-----\n.*?-----END CERTIFICATE-----\n)", re.M | re.S)


@lru_cache(maxsize=1)
def _authorities() -> dict[str, str]:
    return dict(_ENTRY.findall(files("trainyard.catalog").joinpath("rds_authorities.pem").read_text(encoding="utf-8")))


def rds_authority(region: str) -> str:
    """The root certificate of RDS in a region, PEM.

    Raises:
        KeyError: the catalogue has none for that region.
    """
    return _authorities()[region]
