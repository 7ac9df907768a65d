"""What an end that began has let go of: on the disk before it is done, so that the proof knows it after a kill too."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from trainyard.problems import Problem, SettingsError, shown
from trainyard.teardown.model import Kept
from trainyard.user_files import read_json

FILE: Final = "kept.json"
_LAYOUT: Final = 1


def read_kept(folder: Path) -> tuple[Kept, ...]:
    """What was to stay of an environment; nothing where no end began. Raises `SettingsError`."""
    path = folder / FILE
    if not path.exists():
        return ()
    content = read_json(path, path.name)
    try:
        if content["layout"] != _LAYOUT:
            raise ValueError(content["layout"])
        return tuple(
            Kept(str(each["kind"]), tuple(map(str, each["names"])), str(each["why"])) for each in content["kept"]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SettingsError(
            [
                Problem(
                    str(path),
                    shown(str(error)),
                    "must be what `trainyard destroy` wrote; without it nothing counts as kept",
                )
            ]
        ) from None


def note_kept(folder: Path, kept: Iterable[Kept]) -> tuple[Kept, ...]:
    """Adds to what was to stay, and gives all of it; the file is whole before this returns."""
    found = list(read_kept(folder))
    for each in kept:
        if not any(set(each.names) & set(one.names) for one in found):
            found.append(each)
    write_private(folder / FILE, json.dumps({"layout": _LAYOUT, "kept": [asdict(each) for each in found]}, indent=2))
    return tuple(found)


def write_private(path: Path, text: str) -> None:
    """Writes a file whole that only its owner may read."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(path)
