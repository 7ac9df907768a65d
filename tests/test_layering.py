"""Imports run one way (pyproject.toml, import-linter and ruff), and each rule refuses what it is there for."""

import io
import subprocess
import sys
from contextlib import redirect_stdout
from copy import deepcopy

import grimp
import pytest
from importlinter.application.use_cases import lint_imports, read_user_options
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract

from tests.shared import ROOT

CONTRACTS = {
    contract.type_name: contract
    for contract in (ForbiddenContract, IndependenceContract, LayersContract, ProtectedContract)
}
EXTERNAL = {"pulumi", "pulumi_aws", "pulumi_kubernetes", "boto3", "botocore", "google", "kubernetes", "smoke_jobs"}

FORBIDDEN = [
    # Nothing of Pulumi or a cloud where it is decided what shall be made.
    ("plan.make", "pulumi"),
    ("settings.common", "pulumi"),
    ("catalog.tables", "pulumi"),
    ("advice.fit", "pulumi_aws"),
    ("conventions", "pulumi"),
    ("plan.pools", "boto3"),
    ("catalog.instances", "botocore"),
    ("advice.prices", "kubernetes"),
    ("advice.prices", "google"),
    ("smoke_jobs.launch.job", "pulumi_kubernetes"),
    # One way.
    ("plan.make", "components.aws.network"),
    ("plan.make", "cost.price"),
    ("catalog.tables", "plan.make"),
    ("conventions", "catalog.tables"),
    ("settings.common", "plan.make"),
    ("components.aws.network", "plan.parts"),
    ("components.aws.network", "stacks.environment.build"),
    ("components.k8s.kueue", "policies.rules"),
    ("rehearsal.rehearse", "plan.make"),
    ("rehearsal.rehearse", "settings.common"),
    ("rehearsal.graph", "components.aws.network"),
    ("rehearsal.engine.recorder", "stacks.environment.build"),
    ("policies.rules", "components.aws.network"),
    ("policies.rules", "stacks.environment.build"),
    ("cost.price", "policies.rules"),
    ("cost.price", "components.k8s.kueue"),
    ("policies.money", "advice.options"),
    ("review.review", "cli.main"),
    ("policies.money", "boto3"),
    ("cost.price", "botocore"),
    ("components.aws.network", "settings.common"),
    ("components.aws.network", "rehearsal.graph"),
    ("components.aws.network", "boto3"),
    # What is neutral knows no cloud.
    ("rehearsal.works.flows.kubernetes.pods", "rehearsal.works.flows.aws.places"),
    ("components.k8s.kueue", "components.aws.network"),
    ("components.k8s.kueue", "components.gcp.network"),
    ("components.k8s.kueue", "conventions.aws"),
    ("components.k8s.kueue", "pulumi_aws"),
    ("stacks.environment.cluster", "components.aws.network"),
    ("stacks.environment.cluster", "pulumi_aws"),
    ("stacks.environment.ground", "stacks.environment.aws.build"),
    ("plan.pools", "plan.aws.market"),
    ("plan.sharing", "plan.aws.parts"),
    # The worker stands alone.
    ("smoke_jobs.ddp.worker", "conventions"),
    ("smoke_jobs.ddp.worker", "smoke_jobs.launch.job"),
    ("smoke_jobs.ddp.worker", "smoke_jobs"),
    # The clouds do not know each other: in rooms that are there and in those to come.
    ("components.aws.network", "components.gcp.network"),
    ("components.gcp.network", "components.aws.network"),
    ("plan.aws.market", "plan.gcp.pools"),
    ("settings.gcp", "settings.aws"),
    ("components.gcp.network", "pulumi_aws"),
    ("components.aws.on_cluster.drivers", "components.gcp.storage"),
    ("rehearsal.refusals.aws.eks", "google"),
]


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("trainyard", include_external_packages=True, cache_dir=None)


def test_the_importers_that_are_tried_exist(graph):
    rooms_to_come = {"components.gcp.network", "settings.gcp"}
    assert {importer for importer, _ in FORBIDDEN} - {
        module.removeprefix("trainyard.") for module in graph.modules
    } <= rooms_to_come


@pytest.fixture(scope="module")
def contracts():
    configure()
    options = read_user_options(str(ROOT / "pyproject.toml"))
    return [
        CONTRACTS[contract["type"]](contract["name"], options.session_options, contract)
        for contract in options.contracts_options
    ]


@pytest.fixture(scope="module")
def told_today(graph, contracts):
    """What the contracts say of the code as it is."""
    said = io.StringIO()
    with redirect_stdout(said):
        broken(graph, contracts)
    return " ".join(said.getvalue().split())


def test_imports_run_one_way(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    configure()
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), cache_dir=None), capsys.readouterr().out


@pytest.mark.parametrize(("importer", "imported"), FORBIDDEN, ids=[" -> ".join(pair) for pair in FORBIDDEN])
def test_a_forbidden_import_is_refused_by_name(graph, contracts, told_today, capsys, importer, imported):
    importer = f"trainyard.{importer}"
    external = imported in EXTERNAL
    imported = imported if external else f"trainyard.{imported}"
    assert f"{importer} -> {imported}" not in told_today
    changed = deepcopy(graph)
    place(changed, importer)
    if imported not in changed.modules:
        place(changed, imported, is_squashed=external)
    changed.add_import(importer=importer, imported=imported, line_number=1, line_contents=f"import {imported}")
    assert f"{importer} -> {imported} (l.1)" in told(changed, contracts, capsys)


@pytest.mark.parametrize("module", ["trainyard.new_room", "trainyard.helpers"])
def test_a_new_module_must_be_placed(graph, contracts, capsys, module):
    changed = deepcopy(graph)
    changed.add_module(module)
    assert module.removeprefix("trainyard.") in told(changed, contracts, capsys)


def place(graph, module, *, is_squashed=False):
    """Adds a module that is yet to be written, with the packages that it lies in."""
    names = module.split(".")
    for depth in range(1, len(names) + 1):
        name = ".".join(names[:depth])
        if name not in graph.modules:
            graph.add_module(name, is_squashed=is_squashed)


def told(graph, contracts, capsys):
    """What the contracts say of a graph."""
    capsys.readouterr()
    broken(graph, contracts)
    return " ".join(capsys.readouterr().out.split())


def broken(graph, contracts):
    """Prints what the contracts say of a graph."""
    for contract in contracts:
        check = contract.check(deepcopy(graph), verbose=False)
        if not check.kept:
            contract.render_broken_contract(check)


@pytest.mark.parametrize("name", ["components", "policies.rules", "smoke_jobs.ddp", "stacks.environment"])
@pytest.mark.parametrize("place", ["trainyard/plan/new.py", "tests/plan/test_new.py"])
def test_a_folder_of_the_root_is_not_imported_by_its_bare_name(name, place):
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--output-format=concise",
        "--stdin-filename",
        place,
    ]
    found = subprocess.run(
        [*command, "-"], cwd=ROOT, input=f"import {name}\n", capture_output=True, text=True, check=False
    )
    assert f"TID251 `{name.split('.')[0]}`" in found.stdout or f"TID251 `{name}`" in found.stdout, found.stdout


SDKS = ("pulumi", "boto3", "botocore", "google", "googleapiclient", "kubernetes", "torch", "mlflow")
LIGHT = (
    "catalog",
    "settings",
    "plan",
    "advice",
    "conventions",
    "output",
    "problems",
    "capture",
    "recorded",
    "smoke_jobs.launch",
    "cli",
)

IMPORT_ALL = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
print(*sys.modules)
"""


def test_pure_rooms_launchers_and_commands_load_no_sdk_when_they_are_imported():
    """Also through third parties, and where a launcher or a command imports an SDK only when it works."""
    rooms = [f"trainyard.{room}" for room in LIGHT]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *rooms], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not {name for name in loaded if name in SDKS or name.startswith("pulumi_")}
    assert "trainyard.smoke_jobs.launch.sagemaker" in done.stdout.split()
