"""Writes `data/gcp_roles.json`: the names of Google Cloud's predefined roles, by service.

    python -m trainyard.rehearsal.refusals.gcp.generate_roles iam-dataset

The work tree of iann0036/iam-dataset holds a file a role, as the IAM API lists them. Only the names are taken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).parents[1] / "data" / "gcp_roles.json"
_FOLDER: Final = "gcp/roles/"


def main(checkout: Path) -> None:
    """Writes the table anew from the names of the files."""
    listed = _git(checkout, "ls-tree", "--name-only", "HEAD", _FOLDER).split()
    by_service: dict[str, list[str]] = defaultdict(list)
    for path in listed:
        service, _, name = path.removeprefix(_FOLDER).removesuffix(".json").partition(".")
        by_service[service].append(name)
    source = f"iam-dataset {_git(checkout, 'log', '-1', '--format=%h of %cs').strip()}"
    content = {"source": source, "roles": {service: sorted(names) for service, names in sorted(by_service.items())}}
    DATA.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(listed)} roles of {len(by_service)} services\n")


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a work tree of iann0036/iam-dataset, or its git folder")
    main(parser.parse_args().checkout)
