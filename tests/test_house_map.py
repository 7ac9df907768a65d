"""`make map`: what it counts, and that it sees an import that runs the wrong way."""

import textwrap
from collections import Counter

import grimp

from tests import house_map
from tests.house_map import Lines

PLACED = [["cli"], ["plan"], ["catalog", "problems"]]


def graph_of(*pairs):
    graph = grimp.ImportGraph()
    for module in ("trainyard", *(f"trainyard.{name}" for name in {name for pair in pairs for name in pair})):
        graph.add_module(module)
    for importer, imported in pairs:
        graph.add_import(importer=f"trainyard.{importer}", imported=f"trainyard.{imported}")
    return graph


def test_code_is_neither_blank_nor_comment_nor_docstring():
    text = '''
    """A module
    of two lines."""

    import os  # with a comment

    # alone
    TEXT = """one

    three"""
    """What TEXT is."""


    def name() -> str:
        """A function."""
        return os.fspath(
            TEXT,
        )
    '''
    assert house_map.count("trainyard/plan/x.py", textwrap.dedent(text)) == Lines(code=8)


def test_other_files_are_data():
    assert house_map.count("trainyard/catalog/gpus.csv", "# source\nname\nA100\n") == Lines(data=3)


def test_rooms_are_what_lies_directly_below_the_package():
    rooms = {
        "trainyard/plan/pools.py": "plan",
        "trainyard/conventions/aws.py": "conventions",
        "components/aws/network.py": "components",
        "trainyard/__init__.py": "trainyard",
        "tests/plan/test_plan.py": "",
        "README.md": "",
    }
    assert {path: house_map.room_of_file(path) for path in rooms} == rooms


def test_files_count_to_the_room_that_they_are_said_to_lie_in():
    files = {"a.py": "x = 1\n", "b.py": "y = 2\nz = 3\n", "c.csv": "1\n", "d.md": "not counted\n"}
    rooms = {"a.py": "plan", "b.py": "plan", "c.csv": "catalog", "d.md": ""}
    assert house_map.by_room(files, rooms) == {"plan": Lines(code=3), "catalog": Lines(data=1)}


def test_an_earlier_file_counts_to_where_it_or_its_folder_went():
    moves = {"stacks/cost/price.py": "trainyard/cost/price.py", "stacks/cost/old.py": "trainyard/plan/new.py"}
    earlier = [*moves, "stacks/cost/model.py", "stacks/cost/gone.py", "policies/pack.py", "policies/away/x.py"]
    now = [*moves.values(), "trainyard/cost/model.py", "policies/pack.py"]
    moves["stacks/cost/model.py"] = "trainyard/cost/model.py"
    assert house_map.rooms_now(earlier, now, moves) == {
        "stacks/cost/price.py": "cost",
        "stacks/cost/old.py": "plan",
        "stacks/cost/model.py": "cost",
        "stacks/cost/gone.py": "cost",
        "policies/pack.py": "policies",
        "policies/away/x.py": "policies",
    }


def test_every_module_of_the_package_has_a_place():
    placed = {room for layer in house_map.layers() for room in layer}
    rooms = {room for path in house_map.here() if (room := house_map.room_of_file(path))}
    assert rooms - {"trainyard"} == placed


def test_imports_are_counted_between_rooms():
    graph = graph_of(("cli.main", "plan.make"), ("cli.check", "plan.make"), ("plan.make", "plan.parts"))
    assert house_map.imports(graph) == Counter({("cli", "plan"): 2})


def test_an_import_upwards_or_aside_is_told():
    assert house_map.wrong_ways(graph_of(("cli", "plan"), ("plan", "problems")), PLACED) == []
    assert house_map.wrong_ways(graph_of(("plan", "cli")), PLACED) == ["upwards: plan imports cli"]
    assert house_map.wrong_ways(graph_of(("catalog", "problems")), PLACED) == ["upwards: catalog imports problems"]


def test_a_circle_within_a_room_is_told():
    [line] = house_map.wrong_ways(graph_of(("plan.a", "plan.b"), ("plan.b", "plan.a")), PLACED)
    assert line.startswith("a circle: trainyard.plan.")
