"""`trainyard schema` writes what `init` puts beside a stack file, and what this project's own examples name."""

import json

import jsonschema
import yaml
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli.main import app
from trainyard.cli.schema import SCHEMA_FILE


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_it_is_printed_and_written(tmp_path):
    printed = run("schema")
    assert printed.exit_code == 0
    written = run("schema", "--output", str(tmp_path / "here.json"))
    assert (written.exit_code, written.output) == (0, "")
    assert (tmp_path / "here.json").read_text() == printed.stdout == (ROOT / "docs" / SCHEMA_FILE).read_text()


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    done = run("schema", "-o", str(tmp_path / "none" / "here.json"))
    assert done.exit_code == 2
    assert "cannot be written" in done.output


def test_a_project_begins_with_a_stack_file_that_an_editor_checks(tmp_path):
    assert run("init", str(tmp_path), "--client", "acme").exit_code == 0
    text = (tmp_path / "Pulumi.dev.yaml").read_text()
    place = text.splitlines()[0].partition("# yaml-language-server: $schema=")[2]
    schema = json.loads((tmp_path / place).read_text())
    assert schema == json.loads((ROOT / "docs" / SCHEMA_FILE).read_text())
    assert list(jsonschema.Draft7Validator(schema).iter_errors(yaml.safe_load(text))) == []
