"""The formats, by the names that options give them. Light: the command line knows them before anything is judged."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """How the outcome of a check is told."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"
