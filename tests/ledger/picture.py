"""The chargeback page of the simulated month as a picture, which the documentation shows.

    python -m tests.ledger.picture [FILE]

It needs Prometheus and a browser of Chromium's family; FILE is `docs/pictures/chargeback.png` by default.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from tests.ledger.play import played
from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.review.handover.pdf import find_browser

FILE = ROOT / "docs" / "pictures" / "chargeback.png"
BILL_USD = 102_400
"""What the cloud billed in the simulated month, as somebody types it."""
SIZE = (1100, 1680)
"""Pixels: the month, what is shared, what does not add up and the first team."""


def main(file: Path = FILE) -> None:
    """Plays the month, writes its page, and has a browser draw it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        page = folder / "month.html"
        with played(folder) as ran:
            command = ["chargeback", "demo", "--month", "2025-12", "--prometheus", ran.url, "--bill", str(BILL_USD)]
            done = CliRunner().invoke(app, [*command, "--html", str(page), "--project", str(ROOT)])
            assert done.exit_code == 0, done.output
        draw(page, file, folder)


def draw(page: Path, file: Path, folder: Path) -> None:
    """A page as a PNG; the browser keeps what it notes in `folder`."""
    width, height = SIZE
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
    options += [f"--user-data-dir={folder / 'browser'}", f"--window-size={width},{height}", f"--screenshot={file}"]
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([find_browser(), *options, page.as_uri()], check=True, capture_output=True, timeout=120)


if __name__ == "__main__":
    main(*(Path(name) for name in sys.argv[1:2]))
