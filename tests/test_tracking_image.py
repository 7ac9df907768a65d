"""The recipe of a tracking server's image holds what the tests run, and every file of it by hash."""

from __future__ import annotations

import re
from pathlib import Path

from trainyard import catalog

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "images" / "mlflow"


def versions(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE))


def test_it_holds_the_versions_that_the_tests_run():
    of_tests, of_image = versions(ROOT / "requirements-dev.lock"), versions(FOLDER / "requirements.lock")
    assert {"mlflow", "psycopg2-binary", "boto3", "prometheus-flask-exporter", "flask-wtf"} <= of_image.keys()
    assert of_image == {name: of_tests[name] for name in of_image}


def test_it_is_the_mlflow_of_the_pinned_image():
    tag = catalog.pins().image("mlflow").partition("@")[0].rpartition(":")[2]
    assert versions(FOLDER / "requirements.lock")["mlflow"] == tag
    assert f"mlflow[auth]=={tag}" in (FOLDER / "requirements.in").read_text(encoding="utf-8")


def test_every_file_has_its_hash_and_the_recipe_asks_for_it():
    lock = (FOLDER / "requirements.lock").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=[A-Za-z0-9])", lock.strip()):
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    recipe = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    assert "--require-hashes" in recipe and "ARG BASE\nFROM ${BASE}\n" in recipe
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", recipe, re.MULTILINE)
