"""An agency's first day as a transcript: an empty folder, the wheel, three clients. `docs/agency.md` holds it.

`python -m tests.agency_transcript` builds the wheel, runs every command with it and writes the page anew; a test runs
them too, and compares all but the figures and verdicts, which change with prices.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import yaml

from tests.shared import ROOT

PAGE = ROOT / "docs" / "agency.md"
WIDTH = "132"

ANSWERS = {
    "people": {"teamSize": 8, "hourlyUsd": 100},
    "today": {"gpu": "A10G", "gpus": 4, "hoursARun": 72, "waitHoursARun": 5},
    "training": {
        "task": "fine-tune", "model": "llama-3-8b", "data": "300M tokens", "runsAMonth": 30, "hoursWanted": 6,
    },
    "where": {"cloud": "aws", "region": "eu-west-1", "residency": "eu"},
    "money": {"monthlyBudgetUsd": 40000},
    "compliance": {"rules": ["ISO 27001"], "logDays": 400},
}  # fmt: skip

COMMANDS = (
    "trainyard init agency --default owner=platform@agency.example",
    "cd agency",
    "trainyard new acme --answers acme.yaml --alert-email ml@acme.example --cost-centre acme "
    "--state-backend 's3://state-acme?region=eu-west-1' "
    "--secrets-provider 'awskms://alias/acme?region=eu-west-1' --wave early",
    "trainyard new globex --cloud gcp --team-size 8 --alert-email ml@globex.example --cost-centre globex "
    "--gcp-project globex-train-1 --gcp-project-number 123456789012 --gcp-billing-account 012345-6789AB-CDEF01 "
    "--state-backend gs://state-globex --state-region us-central1 --secrets-provider "
    "gcpkms://projects/globex-train-1/locations/us-central1/keyRings/state/cryptoKeys/pulumi",
    "trainyard new initech --team-size 3 --alert-email ml@initech.example --cost-centre initech "
    "--state-backend 's3://state-initech?region=us-east-1' "
    "--secrets-provider 'awskms://alias/initech?region=us-east-1' --wave canary",
    "trainyard fleet check",
    "trainyard fleet list",
)

_HEAD = """\
# An agency's first day

A folder that is empty, the package, and three clients: a team of eight on AWS that answered the questionnaire, a team
of eight on Google Cloud, and a team of three, who get managed training instead of a cluster. No cloud is asked. Written
by `python -m tests.agency_transcript`, which runs the commands with the built wheel; the figures are of that day.

What the first client said, `acme.yaml`:

"""

_TAIL = """
The repository is then committed and pushed. Its own page, `README.md`, tells the agency's people how a client is
added, deployed, upgraded and ended, and what its pipelines may; `docs/how-to/serve-many-clients.md` tells more of each
command.
"""

Run = Callable[[list[str], Path], "CompletedProcess[str]"]
"""Runs Trainyard with arguments in a folder."""


def transcript(run: Run, folder: Path) -> str:
    """The commands and what they say, run in an empty folder. Raises AssertionError where one fails."""
    told = []
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        said = ""
        if program == "cd":
            folder = folder / arguments[0]
            (folder / "acme.yaml").write_text(yaml.safe_dump(ANSWERS, sort_keys=False))
        else:
            done = run(arguments, folder)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            said = done.stderr + done.stdout
        told.append(f"$ {_folded(command)}\n{said}")
    return "".join(told)


def page(told: str) -> str:
    """The text of the page."""
    answers = yaml.safe_dump(ANSWERS, sort_keys=False)
    lines = "\n".join(line.rstrip() for line in told.splitlines())
    return f"{_HEAD}```yaml\n{answers}```\n\n```text\n{lines}\n```\n{_TAIL}"


def shape(text: str) -> str:
    """A text without what changes from day to day: figures, and what a verdict says of them."""
    lines = [line for line in text.splitlines() if not line.startswith(("USD a month", "Recommended: "))]
    plain = "\n".join(re.sub(r"^(\S+-prod) (is|can be) .*", r"\1 is judged", line) for line in lines)
    return re.sub(r"[ \t]+", " ", re.sub(r"\d[\d,.]*|\b(sound|warned)\b", "#", plain))


def _folded(command: str) -> str:
    """A long command over several lines, as a shell takes it."""
    return command.replace(" --state-backend", " \\\n    --state-backend").replace(
        " --gcp-project ", " \\\n    --gcp-project "
    )


def main() -> None:
    """Writes the page with a wheel that is built for it."""
    from tests.test_wheel import build, interpreter, trainyard

    with tempfile.TemporaryDirectory() as scratch:
        wheel = build(ROOT, Path(scratch) / "wheel", "wheel")
        python = interpreter(wheel, Path(scratch) / "installed")
        folder = Path(scratch) / "empty"
        folder.mkdir()
        told = transcript(lambda arguments, where: trainyard(python, *arguments, cwd=where, COLUMNS=WIDTH), folder)
    PAGE.write_text(page(told))
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
