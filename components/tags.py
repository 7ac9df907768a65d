"""What AWS takes as tags. The plan makes the tags that every resource of an environment carries.

The AWS provider puts them on everything through its default tags. What it cannot reach (the instances, volumes and
interfaces that an Auto Scaling group makes) gets them through the launch template.
"""

import re
from collections.abc import Mapping

_TEXT = re.compile(r"[\w .:/=+\-@]*")
_MOST_TAGS = 50


def check_tags(tags: Mapping[str, str]) -> None:
    """Raises ValueError, naming the first tag, for what AWS refuses only at apply and no offline check sees.

    That is a key that is not 1 to 128 characters or begins with `aws:`, a value over 256, other characters than
    letters, digits, spaces and `_.:/=+-@`, more than 50 tags (AWS General Reference, "Tag naming limits and
    requirements", 2026-11).
    """
    if len(tags) > _MOST_TAGS:
        raise ValueError(f"{len(tags)} tags: a resource holds at most {_MOST_TAGS}")
    for key, value in tags.items():
        if not 1 <= len(key) <= 128 or not _TEXT.fullmatch(key):
            raise ValueError(f"tag key {key!r}: 1 to 128 letters, digits, spaces or any of _.:/=+-@")
        if key.lower().startswith("aws:"):
            raise ValueError(f"tag key {key!r}: the prefix aws: is Amazon's own")
        if len(value) > 256 or not _TEXT.fullmatch(value):
            raise ValueError(f"tag {key!r}: value {value!r} is not at most 256 letters, digits, spaces or _.:/=+-@")
