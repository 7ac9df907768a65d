"""The list of options is that of the program; one that it has not is told."""

from __future__ import annotations

import pytest

from tests.conftest import WHOLE
from tests.rehearsal.works.mistakes import both, context_of, edit, put
from tests.rehearsal.works.mistakes_programs import DEPLOYMENT, SERVER, spoken
from tests.rehearsal.works.programs.test_mistakes import findings
from trainyard.rehearsal.works.programs.kubernetes.options import MLFLOW_SERVER, MLFLOW_VERSION


def test_the_list_is_that_of_the_program():
    mlflow = pytest.importorskip("mlflow")
    if mlflow.__version__ != MLFLOW_VERSION:
        pytest.skip(f"another version is installed: {mlflow.__version__}")
    from mlflow.cli import cli

    options = {name for one in cli.commands["server"].params for name in (*one.opts, *one.secondary_opts)}
    assert {name.removeprefix("--") for name in options if name.startswith("--")} - {"env-file"} == MLFLOW_SERVER


OTHER_IMAGE = edit(DEPLOYMENT, SERVER, put("spec.template.spec.containers[0].image", "burakince/mlflow:4.0.0"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (edit(DEPLOYMENT, SERVER, spoken("--serve-artifacts", "--artifact-root=s3://a")), True),
        (edit(DEPLOYMENT, SERVER, spoken("--workers=4", "--worker=4")), True),
        (edit(DEPLOYMENT, SERVER, spoken("--workers=4", "--threads=4")), True),
        (edit(DEPLOYMENT, SERVER, spoken("--workers=4", "--dev")), False),
        (both(OTHER_IMAGE, edit(DEPLOYMENT, SERVER, spoken("--workers=4", "--threads=4"))), False),
        (both(OTHER_IMAGE, edit(DEPLOYMENT, SERVER, spoken("--workers=4", "--worker=4"))), True),
    ],
)
def test_an_option_that_the_server_has_not(rehearsed, change, told):
    demo = rehearsed(WHOLE)
    rules = {finding.rule for finding in findings(change(demo.known.resources), context_of(demo))}
    assert ("programs-option" in rules) is told
