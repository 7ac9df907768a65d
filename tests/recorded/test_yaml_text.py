"""YAML that lies as a text among inputs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from trainyard.recorded.yaml_text import read_yaml


def test_a_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load = yaml.load

    def counted(text: str, Loader: Any) -> object:  # noqa: N803 - as yaml calls it
        read.append(text)
        return load(text, Loader)

    monkeypatch.setattr(yaml, "load", counted)
    text = "once: [1, 2]  # of this test alone"
    assert read_yaml(text) == read_yaml(text) == {"once": [1, 2]}
    assert read == [text]


@pytest.mark.parametrize("text", ["[" * 200_000, "- " * 200_000, "{a: " * 200_000, "? " * 200_000])
def test_what_is_nested_too_deep_does_not_end_the_process(text: str) -> None:
    with pytest.raises((RecursionError, yaml.YAMLError)):
        read_yaml(text)


def test_what_is_no_yaml_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(yaml.YAMLError):
            read_yaml("a: [")
