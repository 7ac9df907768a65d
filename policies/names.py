"""Which names of the DNS are anybody's: those below which whoever pays may have one."""

from __future__ import annotations

from typing import Final

_AT_HOME: Final = frozenset(
    {"internal", "local", "lan", "corp", "home", "intranet", "private", "localdomain", "test", "example", "arpa"}
)
"""Labels of the top that no registry sells names below (RFC 6761, RFC 6762 appendix G, RFC 8375 and ICANN's resolution
of 2024 on `.internal`, as generally known)."""
_SOLD: Final = frozenset({"co", "com", "net", "org", "ac", "gov", "edu"})
"""Second labels below which registries of countries sell names: `co.uk`, `com.au`."""


def anybodys(pattern: str) -> bool:
    """Whether a pattern of names (`*.com`, `.com`, `*`) has names in it that anybody may have.

    What a company gives out below a name of its own (`*.github.io`) is not told: it is one decision for a service.
    """
    labels = pattern.rstrip(".").split(".")
    if not pattern.strip("*."):
        return True
    if labels[0] not in ("*", ""):
        return False
    rest = labels[1:]
    if len(rest) == 1:
        return rest[0].lower() not in _AT_HOME
    return len(rest) == 2 and len(rest[1]) == 2 and rest[0].lower() in _SOLD
