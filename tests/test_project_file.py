"""Pulumi.yaml declares the keys of the settings; the example stack files are sound."""

from pathlib import Path

import pytest
import yaml

from tests.shared import ROOT
from trainyard.rehearsal.engine.project import stack_files
from trainyard.settings.declarations import project_file

PROJECT = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())


def test_it_is_written_from_the_settings():
    assert (ROOT / "Pulumi.yaml").read_text() == project_file("stacks"), "make golden"


def test_the_program_starts_in_the_folder_of_main():
    assert PROJECT["main"] == PROJECT["stackConfigDir"] == "stacks"
    assert (ROOT / "stacks" / "__main__.py").is_file()


@pytest.mark.parametrize("file", stack_files(ROOT / "stacks"), ids=lambda path: Path(path).name)
def test_stack_files_forbid_default_providers_and_hold_no_unknown_namespace(file):
    config = yaml.safe_load(file.read_text())["config"]
    assert config["pulumi:disable-default-providers"] == ["*"]
    assert {key.split(":")[0] for key in config} == {"trainyard", "pulumi"}
