"""Which entries of a log a filter of Cloud Logging lets by, as far as this project's alarms are written.

A stand-in of the tests, after "Logging query language" of Google's documentation (as generally known): a field that an
entry has not is never equal, `:` is a part of a text, and AND, OR and parentheses join comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TOKEN = re.compile(r'\s*(log_id\("[^"]*"\)|\(|\)|"[^"]*"|=~|>=|>|=|:|[^\s()"=:>~]+)')
_SEVERITIES = ("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ALERT", "EMERGENCY")


class LogFilter:
    """A filter, which is read anew for every entry."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        if "".join(self._tokens) != re.sub(r'\s+(?=(?:[^"]*"[^"]*")*[^"]*$)', "", text):
            raise ValueError(f"not understood: {text}")

    def lets_by(self, entry: Mapping[str, Any]) -> bool:
        """Whether it lets an entry by. Raises `ValueError` for what it does not understand."""
        self._rest, self._entry = list(self._tokens), entry
        found = self._any()
        if self._rest:
            raise ValueError(f"not understood: {self._rest}")
        return found

    def _any(self) -> bool:
        found = self._all()
        while self._rest[:1] == ["OR"]:
            self._rest.pop(0)
            found |= self._all()
        return found

    def _all(self) -> bool:
        found = self._one()
        while self._rest[:1] == ["AND"]:
            self._rest.pop(0)
            found &= self._one()
        return found

    def _one(self) -> bool:
        token = self._rest.pop(0)
        if token == "(":
            found = self._any()
            self._rest.pop(0)
            return found
        if token.startswith("log_id"):
            log = token.removeprefix('log_id("').removesuffix('")').replace("/", "%2F")
            return str(self._entry["logName"]).endswith(f"/logs/{log}")
        sign, values = self._rest.pop(0), [self._rest.pop(0)]
        if values == ["("]:
            values = []
            while (each := self._rest.pop(0)) != ")":
                values += [each] if each != "OR" else []
        return any(_compared(_at(self._entry, token), sign, value.strip('"')) for value in values)


def _at(entry: Mapping[str, Any], path: str) -> Any:
    found: Any = entry
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _compared(found: Any, sign: str, value: str) -> bool:
    if found is None:
        return False
    if sign in (">", ">="):
        pair = (found, int(value)) if isinstance(found, int) else (_SEVERITIES.index(found), _SEVERITIES.index(value))
        return pair[0] > pair[1] or (sign == ">=" and pair[0] == pair[1])
    signs = {"=": str(found) == value, ":": value in str(found), "=~": re.search(value, str(found)) is not None}
    return signs[sign]
