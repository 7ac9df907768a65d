"""The table of rules is made of the modules' tables, complete and in their order."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals import aws
from trainyard.rehearsal.refusals.check import RULES
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, by_type

MODULES = [importlib.import_module(f"{aws.__name__}.{found.name}") for found in pkgutil.iter_modules(aws.__path__)]


def rules_of(module: ModuleType) -> set[str]:
    """The module's public functions that look at one resource."""
    return {
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and list(inspect.signature(function).parameters) == ["view"]
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_rule_of_a_module_is_in_its_table_and_in_the_whole(module: ModuleType) -> None:
    table = getattr(module, "RULES", {})
    assert {rule.__name__ for rule in table} == rules_of(module)
    for rule, types in table.items():
        assert types, rule
        for type_ in types:
            assert rule in RULES[type_], (rule, type_)


def test_rules_speak_in_the_order_of_their_tables() -> None:
    def first(view: View) -> None: ...

    def second(view: View) -> None: ...

    assert by_type([{second: ("a", "b")}, {first: ("a", EVERY_TYPE)}]) == {
        "a": [second, first],
        "b": [second],
        EVERY_TYPE: [first],
    }


def test_a_rule_speaks_whatever_was_imported_before() -> None:
    """One module alone, first: the order of imports decides nothing."""
    program = (
        "import trainyard.rehearsal.refusals.aws.policies\n"
        "from trainyard.rehearsal.refusals.check import RULES\n"
        "print([rule.__name__ for rule in RULES['aws:kms/key:Key']])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['formats', 'key', 'of_resource']"
