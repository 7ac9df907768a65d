"""What an agency's own repository starts with, beside what every project has: its pipelines, and a page for its people.

The files lie in `files/` as they are written, but for the release (`@TRAINYARD@`) and the version of Pulumi's program
(`@PULUMI@`).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from trainyard.fleet.clients import FILE, Fleet, fleet_text
from trainyard.review.handover.agency import Agency

CLIENTS: Final = "clients"
"""The folder of the clients' stack files."""

WHEELS: Final = "wheels"
"""The folder of the release that the clients run, which pipelines install from there and from no index."""

_PLACES: Final = {"github": ".github/workflows", "gitlab-ci.yml": ".gitlab-ci.yml"}
"""Where a repository's host looks for what lies elsewhere here."""

_CLIENTS_NOTE = """\
# Clients

Each client's stack file, its lock and the client's answers; `trainyard new` adds them.
"""

_WHEELS_NOTE = """\
# The release

`sh ci/install` takes Trainyard from this folder and from no index: put `trainyard-{release}-py3-none-any.whl` here and
commit it.
"""


def repository_files(agency: str = "") -> dict[str, str]:
    """The files by their path in the repository of an agency, whose name reports have where it is given."""
    release = version("trainyard")
    own = {
        FILE: fleet_text(Fleet(agency=Agency(name=agency) if agency else None)),
        f"{CLIENTS}/README.md": _CLIENTS_NOTE,
        f"{WHEELS}/README.md": _WHEELS_NOTE.format(release=release),
    }
    for path, file in _below(files(__name__).joinpath("files")):
        first, _, rest = path.partition("/")
        place = "/".join(filter(None, (_PLACES.get(first, first), rest)))
        text = file.read_text(encoding="utf-8")
        own[place] = text.replace("@TRAINYARD@", release).replace("@PULUMI@", version("pulumi"))
    return own


def _below(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _below(entry, f"{above}{entry.name}/")
        elif entry.is_file():
            yield f"{above}{entry.name}", entry
