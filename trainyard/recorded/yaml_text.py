"""YAML that lies as a text among recorded inputs: a chart's configuration, a node's."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml


@lru_cache(maxsize=256)
def read_yaml(text: str) -> Any:
    """What a text of YAML says, read once a process: several rooms ask for the same one, and so do stacks alike.

    Nobody changes what is returned. Raises `yaml.YAMLError`.
    """
    return yaml.safe_load(text)
