"""The worker stands alone: PyTorch, the standard library, and a few packages where present; small enough to mount."""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "smoke_jobs" / "ddp"
FILES = sorted(PACKAGE.glob("*.py"))
OPTIONAL = {"tier.py": {"boto3", "botocore"}, "tracking_client.py": {"mlflow"}}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_nothing_in_the_worker_imports_from_the_rest_of_the_project(path: Path) -> None:
    own = {p.stem for p in FILES}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 1
            names = {node.module.split(".")[0]} if node.module else {alias.name for alias in node.names}
            assert names <= own, f"{path.name} imports {names - own}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            for module in modules:
                top = module.split(".")[0]
                allowed = top == "torch" or top in sys.stdlib_module_names or top in OPTIONAL.get(path.name, set())
                assert allowed, f"{path.name} imports {module}"


BY_NAME = {
    "__main__.py": {"entrypoint", "interrupted", "worker"},
    "worker.py": {path.stem for path in FILES if path.stem.startswith("check_")},
}
"""What `import_module` is given while the job runs."""


def imported(path: Path) -> set[str]:
    """Modules of the package that a module imports, those by name included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "import_module":
            found |= BY_NAME[path.name]
    return found


def test_imports_of_the_worker_run_one_way() -> None:
    remaining = {path.stem: imported(path) for path in FILES}
    while free := {name for name, uses in remaining.items() if not uses & remaining.keys()}:
        remaining = {name: uses for name, uses in remaining.items() if name not in free}
    assert not remaining, f"import each other: {remaining}"


@pytest.mark.parametrize("name", ["tier.py", "tracking_client.py"])
def test_optional_packages_are_imported_where_they_are_needed(name: str) -> None:
    tree = ast.parse((PACKAGE / name).read_text())
    top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    modules = {a.name for n in top if isinstance(n, ast.Import) for a in n.names} | {
        n.module for n in top if isinstance(n, ast.ImportFrom)
    }
    assert not modules & OPTIONAL[name]


@pytest.mark.parametrize(
    "name", ["entrypoint", "options", "result", "supervise", "rollcall", "topology", "local_mlflow", "nccl_log"]
)
def test_the_wrapper_does_not_wait_for_torch(name: str) -> None:
    for node in ast.walk(ast.parse((PACKAGE / f"{name}.py").read_text())):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("torch") for alias in node.names)


def test_the_package_is_flat_and_fits_a_config_map() -> None:
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert all(p.parent == PACKAGE for p in files)
    assert (
        sum(p.stat().st_size for p in files) < 448 * 1024
    )  # a ConfigMap holds 1 MiB, of this and of what is sent with it


def test_every_check_is_a_module_with_a_run() -> None:
    from trainyard.smoke_jobs.ddp.options import CHECKS

    for name in CHECKS:
        tree = ast.parse((PACKAGE / f"check_{name}.py").read_text())
        assert ast.get_docstring(tree)
        assert any(isinstance(n, ast.FunctionDef) and n.name == "run" for n in tree.body)


NEW_IN_311 = {"UTC", "StrEnum", "Self", "ExceptionGroup", "BaseExceptionGroup", "TaskGroup", "assert_never", "tomllib"}
"""Names of the standard library that Python 3.10 lacks, of those that one might take."""


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_it_runs_on_the_python_of_older_images(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 10))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            used |= {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
    assert not used & NEW_IN_311
