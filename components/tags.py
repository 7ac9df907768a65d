"""The tags that every resource of an environment carries: pure, no Pulumi.

The AWS provider puts them on everything through its default tags. What it cannot reach (the instances, volumes and
interfaces that an Auto Scaling group makes) gets them through the launch template.
"""

import re
from collections.abc import Mapping

MANAGED_BY = "trainyard"

_TEXT = re.compile(r"[\w .:/=+\-@]*")
_MOST_TAGS = 50


def resource_tags(
    *,
    client: str,
    environment: str,
    team: str,
    cost_centre: str,
    owner: str,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment's tags, with `extra` ones after them.

    Raises ValueError, naming the tag, for what AWS refuses only at apply and no offline check sees: a key that is
    not 1 to 128 characters or begins with `aws:`, a value over 256, other characters than letters, digits, spaces
    and `_.:/=+-@`, more than 50 tags (AWS General Reference, "Tag naming limits and requirements", 2026-11) — and
    for an extra tag that would overwrite one of the environment's.
    """
    tags = {
        "client": client,
        "environment": environment,
        "team": team,
        "cost-centre": cost_centre,
        "owner": owner,
        "managed-by": MANAGED_BY,
    }
    for key, value in (extra or {}).items():
        if key in tags:
            raise ValueError(f"tag {key!r} is the environment's own and is not to be overwritten with {value!r}")
        tags[key] = value
    check_tags(tags)
    return tags


def check_tags(tags: Mapping[str, str]) -> None:
    """Raises ValueError, naming the first tag that AWS would refuse; see `resource_tags` for the rules."""
    if len(tags) > _MOST_TAGS:
        raise ValueError(f"{len(tags)} tags: a resource holds at most {_MOST_TAGS}")
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or not _TEXT.fullmatch(key):
            raise ValueError(f"tag key {key!r}: 1 to 128 letters, digits, spaces or any of _.:/=+-@")
        if key.lower().startswith("aws:"):
            raise ValueError(f"tag key {key!r}: the prefix aws: is Amazon's own")
        if len(value) > 256 or not _TEXT.fullmatch(value):
            raise ValueError(f"tag {key!r}: value {value!r} is not at most 256 letters, digits, spaces or _.:/=+-@")
