"""Where data is kept: one table for both readers."""

from __future__ import annotations

from collections import Counter

from trainyard.review.handover.model import Grid
from trainyard.review.handover.subject import Subject
from trainyard.review.reports.picture.model import Store


def stores(subject: Subject) -> list[tuple[str, Store]]:
    """Buckets, file systems and databases, each by a name of its own: of two that are called alike, the resource's."""
    found = (*subject.picture.stores, *subject.picture.databases)
    names = Counter(store.name for store in found)
    return [(store.name if names[store.name] == 1 else store.urn.rpartition("::")[2], store) for store in found]


def kept(subject: Subject, title: str = "") -> Grid:
    """Each with how it keeps what is in it, and what keeps it safe."""
    rows = tuple(
        (name, store.kind, ", ".join(store.facts), ", ".join(store.marks) or "–") for name, store in stores(subject)
    )
    return Grid(("where", "what", "how it is kept", "safe by"), rows, title)
