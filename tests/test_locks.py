"""The locks: what each installs, and that one environment can grow from the smallest to the largest."""

import hashlib
import os
import re
import shutil
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.shared import ROOT

LOCKS = ("requirements.lock", "requirements-smoke.lock", "requirements-dev.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
BY_INDEX = ("torch",)
"""Whose build is the index's to decide (docs/decisions/0021-installed-by-hash.md)."""
ASKED = {
    "requirements.lock": PROJECT["dependencies"],
    "requirements-smoke.lock": [*PROJECT["dependencies"], *EXTRAS["smoke"]],
    "requirements-dev.lock": [*PROJECT["dependencies"], *EXTRAS["smoke"], *EXTRAS["dev"], *EXTRAS["docs"]],
}


def pins(name):
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+) \\$", (ROOT / name).read_text(), flags=re.MULTILINE))


def hashes(name):
    """By package what its files must be."""
    blocks = re.split(r"^(?=[\w.-]+==)", (ROOT / name).read_text(), flags=re.MULTILINE)[1:]
    return {block.partition("==")[0]: re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block) for block in blocks}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_the_project_asks_for(name):
    locked = pins(name)
    for requirement in map(Requirement, [*ASKED[name], *BUILD]):
        if requirement.name in BY_INDEX:
            continue
        version = locked[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, requirement


@pytest.mark.parametrize("name", LOCKS)
def test_every_file_that_is_installed_is_known_by_its_digest(name):
    known = hashes(name)
    assert known.keys() == pins(name).keys() and len(known) > 50
    assert all(known.values())
    assert not known.keys() & set(BY_INDEX)
    assert "://" not in (ROOT / name).read_text(), "a digest is a file's, whatever index it comes from"


def test_no_installation_of_ours_goes_past_the_digests():
    """What is installed from a lock is installed by hash, alone, and the project itself is built by what was."""
    files = [ROOT / "Makefile", ROOT / ".ci" / "try_python", *(ROOT / ".github" / "workflows").glob("*.yml")]
    found = 0
    for file in [*files, ROOT / "docs" / "ci" / "gitlab-ci.yml"]:
        text = file.read_text().replace("\\\n", " ")
        for line in re.findall(r"^.*\bpip\"? install (.*)$", text, flags=re.MULTILINE):
            if "--requirement" in line:
                assert {"--no-deps", "--require-hashes"} <= set(line.split()), line
            if "--editable" in line:
                assert "--no-build-isolation" in line, line
            found += 1
    assert found >= 8
    makefile = (ROOT / "Makefile").read_text()
    assert "BY_HASH := $(INSTALL) --no-deps --require-hashes --requirement\n" in makefile
    assert "ITSELF := $(INSTALL) --no-build-isolation --editable\n" in makefile
    assert len(re.findall(r"@\$\(BY_HASH\) requirements", makefile)) == len(LOCKS)


@pytest.mark.parametrize(("smaller", "larger"), [LOCKS[:2], LOCKS[1:]])
def test_the_smaller_lock_is_a_part_of_the_larger_one(smaller, larger):
    assert pins(smaller).items() < pins(larger).items()
    of_larger = hashes(larger)
    assert all(of_larger[name] == digests for name, digests in hashes(smaller).items())


def test_the_rehearsal_installs_nothing_of_an_extra():
    extra = {canonicalize_name(Requirement(text).name) for name in ("smoke", "gcp") for text in EXTRAS[name]}
    assert pins("requirements.lock").keys() & extra == set()


def test_the_demo_shows_the_rehearsal_before_it_installs_for_the_smoke_job(tmp_path):
    for name in ("Makefile", "pyproject.toml", *LOCKS):
        shutil.copy(ROOT / name, tmp_path)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    told = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    ).stdout
    steps = [
        "requirements.lock",
        "trainyard rehearse demo",
        "requirements-smoke.lock",
        "trainyard smoke --target local",
    ]
    places = [told.index(step) for step in steps]
    assert places == sorted(places)


def test_the_license_is_apache_2_whole_and_named():
    text = (ROOT / "LICENSE").read_bytes()
    # The digest of https://www.apache.org/licenses/LICENSE-2.0.txt.
    assert hashlib.sha256(text).hexdigest() == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]
