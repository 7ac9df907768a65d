"""The pinned images beside what their registries say of them now, and the pins written anew."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from trainyard.catalog.versions import ImagePin
from trainyard.refresh.model import RefreshError
from trainyard.refresh.registry import NoSuchManifest, Reference, read_digest, reference


class State(StrEnum):
    """What a registry says of a pin."""

    SAME = "same"  # the tag stands for the pinned digest
    MOVED = "moved"  # the registry has the pinned digest, and the tag stands for another
    GONE = "gone"  # the registry has no such digest: nothing can be pulled by this pin
    UNPINNED = "unpinned"  # no digest was pinned
    SILENT = "silent"  # the registry could not be asked


@dataclass(frozen=True, slots=True)
class Compared:
    """A pin beside its registry's answer. `now` is the digest of the tag, empty where there was no answer."""

    name: str
    image: str
    state: State
    now: str
    why: str = ""

    def as_json(self) -> dict[str, str]:
        """As `trainyard images check --json` tells it."""
        return {"name": self.name, "image": self.image, "state": self.state.value, "now": self.now, "why": self.why}


def compare(images: Iterable[tuple[str, str]]) -> tuple[Compared, ...]:
    """Asks the registry of each image, by its name in the catalogue (or the image's own)."""
    return tuple(_compare(name, image) for name, image in images)


def _compare(name: str, image: str) -> Compared:
    try:
        parts = reference(image)
        now = read_digest(parts, parts.tag or parts.digest or "latest")
        if not parts.digest:
            return Compared(name, image, State.UNPINNED, now)
        if now == parts.digest:
            return Compared(name, image, State.SAME, now)
        return Compared(name, image, State.MOVED if _has(parts) else State.GONE, now)
    except NoSuchManifest as error:
        return Compared(name, image, State.GONE, "", str(error))
    except RefreshError as error:
        return Compared(name, image, State.SILENT, "", str(error))


def _followed_by(value: str) -> Callable[[re.Match[str]], str]:
    return lambda found: found[1] + value


def _has(image: Reference) -> bool:
    try:
        read_digest(image, image.digest)
    except NoSuchManifest:
        return False
    return True


def written(text: str, pins: Sequence[ImagePin], found: Sequence[Compared], today: datetime.date) -> str:
    """The catalogue's file with every digest that was read, its source and its day; all or none.

    Raises RefreshError where a registry did not answer, or where the file is not laid out as it is written here.
    """
    silent = [one for one in found if not one.now]
    if silent:
        names = ", ".join(one.name for one in silent)
        raise RefreshError(f"nothing is written: {names} could not be read ({silent[0].why})")
    before: dict[str, Any] = yaml.safe_load(text)
    by_label = {pin.label: pin for pin in pins}
    for one in found:
        pin = by_label[one.name]
        if pin.section == "charts":  # its version and where that is from stay as they are
            entry: dict[str, Any] = {"digest": one.now, "read": today}
        else:
            entry = {
                "image": f"{pin.image.partition('@')[0]}@{one.now}",
                "source": f"tag read from {reference(pin.image).registry} by trainyard images check --write",
                "date": today,
                "read": today,
            }
        for key, value in entry.items():
            line = rf"  {re.escape(pin.name)}:[^\n]*\n(?:    [^\n]*\n)*?    {key}: "
            text, count = re.subn(
                rf"(?ms)(^{pin.section}:\n(?:.*?\n)?{line})[^\n]*",
                _followed_by(str(value)),
                text,
                count=1,
            )
            if count != 1:
                raise RefreshError(f"nothing is written: {one.name} has no line {key} in versions.yaml")
        before[pin.section][pin.name] |= entry
    if yaml.safe_load(text) != before:
        raise RefreshError("nothing is written: versions.yaml is not laid out as it was")
    return text
