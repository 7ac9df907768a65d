"""Pulumi.yaml and the settings declare the same keys; the example stack files are sound."""

from pathlib import Path

import pytest
import yaml

from tests.shared import ROOT
from trainyard.settings.model import Settings

PROJECT = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())


def test_the_declared_keys_are_the_fields_of_settings():
    fields = {field.alias for field in Settings.model_fields.values()}
    assert set(PROJECT["config"]) == fields


@pytest.mark.parametrize("key", sorted(PROJECT["config"]))
def test_every_key_has_a_type_and_a_description(key):
    declaration = PROJECT["config"][key]
    assert declaration["type"] in {"string", "integer", "boolean", "array", "object"}
    assert declaration["description"].strip().endswith(".")


@pytest.mark.parametrize("key", sorted(PROJECT["config"]))
def test_a_key_without_default_is_one_that_settings_require(key):
    field = next(field for field in Settings.model_fields.values() if field.alias == key)
    assert ("default" not in PROJECT["config"][key]) == field.is_required()


def test_nested_keys_are_named_in_the_descriptions():
    for name, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and hasattr(model, "model_fields"):
            text = PROJECT["config"][field.alias]["description"]
            for nested in model.model_fields.values():
                assert nested.alias in text, f"{field.alias}.{nested.alias} is not described"
            assert name


def test_the_program_starts_in_the_folder_of_main():
    assert PROJECT["main"] == PROJECT["stackConfigDir"] == "stacks"
    assert (ROOT / "stacks" / "__main__.py").is_file()


@pytest.mark.parametrize("file", sorted((ROOT / "stacks").glob("Pulumi.*.yaml")), ids=lambda path: Path(path).name)
def test_stack_files_forbid_default_providers_and_hold_no_unknown_namespace(file):
    config = yaml.safe_load(file.read_text())["config"]
    assert config["pulumi:disable-default-providers"] == ["*"]
    assert {key.split(":")[0] for key in config} == {"trainyard", "pulumi"}
