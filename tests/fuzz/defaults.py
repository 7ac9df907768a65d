"""Settings that leave everything to the team-size profile: every region, teams of all sizes."""

from __future__ import annotations

from tests.fuzz.fields import SELLING
from tests.fuzz.files import Case, file_text

SIZES = (5, 6, 7, 9, 12, 16, 19, 20, 23, 30, 40, 50, 60)
"""Both ends of the medium profile, the least of the large one, and what lies between: figures grow in steps."""

REGIONS = SELLING


def default_case(region: str, size: int) -> Case:
    """Who, where, how many, and whom to tell: nothing else is said."""
    values = {
        "client": "acme",
        "cloud": "aws",
        "region": region,
        "teamSize": size,
        "alertEmails": ["ml-platform@acme.example"],
    }
    return Case(f"{region}:{size}", "plausible", values, file_text(values))
