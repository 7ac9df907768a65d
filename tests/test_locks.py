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
ASKED = {
    "requirements.lock": PROJECT["dependencies"],
    "requirements-smoke.lock": [*PROJECT["dependencies"], *EXTRAS["smoke"]],
    "requirements-dev.lock": [*PROJECT["dependencies"], *EXTRAS["smoke"], *EXTRAS["dev"]],
}


def pins(name):
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / name).read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_the_project_asks_for(name):
    locked = pins(name)
    for requirement in map(Requirement, ASKED[name]):
        version = locked[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, requirement


@pytest.mark.parametrize(("smaller", "larger"), [LOCKS[:2], LOCKS[1:]])
def test_the_smaller_lock_is_a_part_of_the_larger_one(smaller, larger):
    assert pins(smaller).items() < pins(larger).items()


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
