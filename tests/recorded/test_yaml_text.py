"""YAML that lies as a text among inputs."""

from __future__ import annotations

import pytest
import yaml

from trainyard.recorded.yaml_text import read_yaml


def test_a_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load = yaml.safe_load

    def counted(text: str) -> object:
        read.append(text)
        return load(text)

    monkeypatch.setattr(yaml, "safe_load", counted)
    text = "once: [1, 2]  # of this test alone"
    assert read_yaml(text) == read_yaml(text) == {"once": [1, 2]}
    assert read == [text]


def test_what_is_no_yaml_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(yaml.YAMLError):
            read_yaml("a: [")
