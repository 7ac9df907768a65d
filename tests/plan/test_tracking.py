"""The tracking server of a plan: which image it runs."""

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import pins

IMAGE = f"registry.example/mlflow:3.17.2@sha256:{'0' * 64}"


def test_without_the_setting_it_is_the_pinned_one():
    assert plan_of().core.pins.image("mlflow") == pins().image("mlflow")


def test_an_image_of_ones_own_takes_its_place_and_no_other_s():
    found = plan_of(mlflow=keys(image=IMAGE)).core
    assert found.pins.image("mlflow") == IMAGE
    assert {name for name, image in found.pins.images if image != pins().image(name)} == {"mlflow"}
    (decision,) = [decision for decision in found.decisions if decision.key == "images.mlflow"]
    assert (decision.value, decision.source) == (IMAGE, "setting mlflow.image")
