"""The checkpoint drill: a small job that restores each week what it left on the checkpoint tier the week before.

Like the smoke job's worker it is sent as text to where nothing of ours is installed: `drill.py` with the modules of
`ddp` that it needs, both as folders below one.
"""

from __future__ import annotations

from pathlib import Path

from trainyard.smoke_jobs.launch.payload import FOLDER, WORKER

PROGRAMS = tuple(Path(__file__).with_name(name) for name in ("drill.py", "exits.py"))
NEEDED = ("__init__.py", "checkpoints.py", "tier.py", "training.py")
"""Modules of the smoke job's worker that it imports."""


LOOK = tuple(Path(__file__).with_name(name) for name in ("look.py", "exits.py"))
"""What looks at a team's own checkpoints; it needs the standard library alone."""


def files_of_look() -> dict[str, str]:
    """Path below one folder to text, of the look at a team's own checkpoints."""
    return {f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8") for path in LOOK}


def files() -> dict[str, str]:
    """Path below one folder to text."""
    found = {f"{FOLDER}/{name}": (WORKER / name).read_text(encoding="utf-8") for name in NEEDED}
    return found | {f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8") for path in PROGRAMS}
