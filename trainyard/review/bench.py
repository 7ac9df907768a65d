"""`python -m trainyard.review.bench`: wall time of a check of every example stack, each time in a fresh process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 3
BAR_SECONDS = 10.0
_CHECK = "import typer; from trainyard.cli.check import check; app = typer.Typer(); app.command()(check); app()"


def main() -> None:
    """Prints the median; exit 1 above the bar, or when a stack breaks a mandatory policy."""
    project = Path(__file__).resolve().parents[2]
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", _CHECK, "--all"], cwd=project, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - started)
    median = statistics.median(seconds)
    stacks = len(list((project / "stacks").glob("Pulumi.*.yaml")))
    print(
        f"check --all, {stacks} stacks: {median:.1f} s ({min(seconds):.1f}-{max(seconds):.1f}); bar {BAR_SECONDS:.0f} s"
    )
    sys.exit(median > BAR_SECONDS)


if __name__ == "__main__":
    main()
