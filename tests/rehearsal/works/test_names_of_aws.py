"""Names that are nearly another's: a letter wrong is told, a sister is not."""

from __future__ import annotations

import pytest

from trainyard.rehearsal.works.names_of_aws import slip


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("acme-ml-platform-training-outputs", "acme-ml-platform-training-inputs"),
        ("models-us-west-2", "models-us-east-1"),
        ("acme-models-us-west-2", "acme-models-us-east-2"),
        ("acme-pretraining", "acme-posttraining"),
        ("acme-ml-platform-gpu-2", "acme-ml-platform-gpu-1"),
        ("acme-platform-train2", "acme-platform-train"),
        ("acme-platform-models", "acme-platform-models-copy"),
    ],
)
def test_a_sister_is_no_slip(name, other):
    assert slip(name, [other]) == slip(other, [name]) == ""


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("acme-keeping-model", "acme-keeping-models"),
        ("models-us-wset-2", "models-us-west-2"),
        ("acme-ml-platform-trainnig-inputs", "acme-ml-platform-training-inputs"),
        ("acmekeeping-models", "acme-keeping-models"),
    ],
)
def test_a_letter_wrong_is_one(name, other):
    assert slip(name, [other]) == f"did you mean {other}?"
