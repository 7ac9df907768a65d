"""Pulumi.yaml is written from the settings."""

import yaml

from trainyard.settings.common import Settings
from trainyard.settings.declarations import project_file
from trainyard.settings.mistakes import fields_of, models_in

CONFIG = yaml.safe_load(project_file())["config"]


def test_every_key_at_every_depth_is_described():
    def check(model, text):
        for key, field in fields_of(model).items():
            assert field.description, f"{model.__name__}.{key}"
            assert f"- {key}: {field.description}" in " ".join(text.split())
            for inner in models_in(field.annotation):
                check(inner, text)

    for key, field in fields_of(Settings).items():
        for model in models_in(field.annotation):
            check(model, CONFIG[key]["description"])


def test_types_and_defaults_are_what_the_engine_takes():
    kinds = {"string": str, "boolean": bool, "array": list, "object": dict}
    for key, declaration in CONFIG.items():
        if "default" in declaration:
            assert isinstance(declaration["default"], kinds[declaration["type"]]), key
    assert CONFIG["teams"]["items"] == {"type": "object"}
    assert CONFIG["alertEmails"]["items"] == {"type": "string"}
    assert CONFIG["teamSize"]["default"] == ""
    assert CONFIG["protect"]["default"] is True
    assert CONFIG["residency"]["default"] == "none"
    assert "default" not in CONFIG["client"]


def test_lines_fit():
    assert max(map(len, project_file().splitlines())) <= 120
