"""What is put off for a command to begin sooner is the same as ever once it is there."""

import copy
import dataclasses
import functools
import inspect
import pickle
import re
import subprocess
import sys
import textwrap
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from trainyard.cli import main, quick_start

COMPILED = getattr(dataclasses, "_create_fn", None)
"""What the standard library makes a method with, where it makes each for itself."""
WRAPS = getattr(dataclasses, "_recursive_repr", None)
"""What it wraps `__repr__` in there."""

of_dataclasses = pytest.mark.skipif(COMPILED is None, reason="dataclasses makes all methods of a class at once")


def made(**options: Any) -> tuple[type, type]:
    """A class, and one derived from it, with a default, a factory and a field outside of comparison."""

    class Pool:
        """A pool."""

        name: str
        nodes: int = 1
        tags: dict[str, str] = field(default_factory=dict, compare=False)

    pool: Any = dataclasses.dataclass(**options)(Pool)

    class Spot(pool):  # type: ignore[misc]
        """A pool that may end."""

        price: float = 0.5

    return pool, dataclasses.dataclass(**options)(Spot)


def told(classes: tuple[type, type]) -> list[Any]:
    """All that two classes made with the same options are asked."""
    pool, spot = classes
    one, same, other = pool("train", 2, {"a": "b"}), pool("train", 2), pool("train", nodes=3)
    derived = spot("night", price=0.25)
    found = [
        [str(inspect.signature(cls)) for cls in classes],
        [str(inspect.signature(cls.__eq__)) for cls in classes],
        [[name for name in vars(cls) if name != "__qualname__"] for cls in classes],
        [cls.__init__.__qualname__ for cls in classes],
        [cls.__eq__.__qualname__ for cls in classes],
        [[cls.__repr__.__doc__, cls.__repr__.__module__, cls.__repr__.__qualname__] for cls in classes],
        [str(inspect.signature(cls.__repr__)) for cls in classes],
        repr(one),
        repr(derived),
        [one == same, one == other, one != other, one == "train", derived == spot("night", price=0.25)],
        [cls.__hash__ is None or hash(cls("train")) == hash(cls("train")) for cls in classes],
        dataclasses.asdict(derived),
        dataclasses.replace(derived, nodes=9).nodes,
        copy.deepcopy(derived) == derived,
    ]
    for attempt in (
        lambda: pool(),
        lambda: pool("train", size=3),
        lambda: setattr(one, "nodes", 4),
        lambda: delattr(one, "nodes"),
        lambda: setattr(derived, "price", 4),
        lambda: setattr(derived, "unknown", 4),
        lambda: one < other,
        lambda: sorted([other, one])[0].nodes,
    ):
        try:
            found.append(repr(attempt()))
        except (TypeError, AttributeError) as error:  # FrozenInstanceError is one
            found.append([type(error).__name__, str(error)])
    return found


@pytest.fixture
def methods_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_start, "PUT_OFF", quick_start.PUT_OFF | {__name__.partition(".")[0]})
    monkeypatch.setattr(dataclasses, "_create_fn", quick_start._later(COMPILED))
    monkeypatch.setattr(dataclasses, "_recursive_repr", quick_start._wrapped_later(WRAPS))


OPTIONS = [
    {},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"slots": True, "eq": False},
    {"frozen": True, "order": True},
    {"unsafe_hash": True},
]


@of_dataclasses
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "plain")
def test_methods_that_are_compiled_later_are_the_same(options, request):
    whole = told(made(**options))
    request.getfixturevalue("methods_later")
    assert told(made(**options)) == whole


@of_dataclasses
def test_a_method_is_compiled_once_and_only_when_it_is_used(methods_later):
    pool, _ = made(frozen=True, slots=True)
    assert isinstance(vars(pool)["__init__"], quick_start._Method)
    one = pool("train")
    assert inspect.isfunction(vars(pool)["__init__"])
    assert isinstance(vars(pool)["__eq__"], quick_start._Method)
    assert one == pool("train")
    assert inspect.isfunction(vars(pool)["__eq__"])
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        one.name = "other"


@of_dataclasses
def test_a_method_is_called_where_the_class_keeps_it(methods_later):
    """Out of its `__dict__`, and as a descriptor without the class."""
    pool, _ = made()
    one = pool.__new__(pool)
    vars(pool)["__init__"](one, "train", nodes=2)
    assert (one.name, one.nodes) == ("train", 2)
    assert vars(pool)["__eq__"].__get__(one)(pool("train", 2))
    assert vars(pool)["__repr__"](one) == repr(one)


@of_dataclasses
def test_a_record_that_holds_itself_is_shown(methods_later):
    pool, _ = made()
    one = pool("train")
    one.tags = {"own": one}
    assert repr(one).endswith("tags={'own': ...})")


@of_dataclasses
def test_a_method_of_the_class_itself_stays(methods_later):
    class Named:
        name: str = ""

        def __repr__(self) -> str:
            return "ours"

        @functools.cached_property
        def long(self) -> int:
            return len(self.name)

    named: Any = dataclasses.dataclass(Named)
    assert repr(named("a")) == "ours" and named("abc").long == 3


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    name: str


@of_dataclasses
def test_a_record_is_pickled_as_ever(methods_later):
    assert pickle.loads(pickle.dumps(Kept("a"))) == Kept("a")


PROVIDER = """
    import dataclasses
    from pulumi.dynamic import CreateResult, ResourceProvider
    from pulumi.dynamic.dynamic import serialize_provider
    from helper import quota

    @dataclasses.dataclass(frozen=True)
    class Options:
        region: str = "eu"

    Named = dataclasses.make_dataclass("Named", ["name"])

    class Quotas(ResourceProvider):
        options = Options()

        def create(self, props):
            return CreateResult(Named(self.options.region).name, outs={"limit": quota().limit})

    given = Quotas()
    given.quota = quota()  # of a class that is made in a function, which no name leads to
    print(serialize_provider(given))
"""

HELPER = """
    import dataclasses

    def quota():
        @dataclasses.dataclass
        class Quota:
            limit: int = 3
        return Quota()
"""


def test_a_provider_of_the_programs_own_is_written_out_as_ever(tmp_path):
    """`pulumi.dynamic` sends the program's classes whole, as an input: the same one as under `pulumi up`."""
    (tmp_path / "program.py").write_text(textwrap.dedent(PROVIDER))
    (tmp_path / "helper.py").write_text(textwrap.dedent(HELPER))
    run = "import runpy; runpy.run_path('program.py', run_name='__main__')"
    sent = [
        subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, '.'); {before}{run}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for before in ("", "from trainyard.cli.quick_start import quick_start; quick_start(); ")
    ]
    assert len(sent[0]) > 500 and sent[1] == sent[0]


@pytest.fixture
def pattern():
    """A constant of ours that waits, otherwise `PATTERN`, and what has been compiled of it."""
    compiled: list[str] = []

    def compile_(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        compiled.append(pattern)
        return re.compile(pattern, flags)

    source = 'SIZE = compile_("(?P<size>[0-9]+)", 2)\ndef made(): return compile_("b")\nOURS = made()'
    names = {"__name__": "trainyard.sizes", "compile_": quick_start._patterns_later(compile_)}
    exec(source, names)
    assert compiled == ["b"] and type(names["OURS"]) is re.Pattern, "only a constant waits"
    exec(source, other := {**names, "__name__": "program"})
    assert type(other["SIZE"]) is re.Pattern, "and only of a module of ours"
    compiled.clear()
    return names["SIZE"], compiled


PATTERN = re.compile("(?P<size>[0-9]+)", re.IGNORECASE)


@pytest.mark.parametrize(
    "asked",
    [
        lambda one: one.search("a12").groupdict(),
        lambda one: one.fullmatch("a12"),
        lambda one: one.sub("n", "1 and 2"),
        lambda one: re.sub(one, "n", "1 and 2"),
        lambda one: re.split(one, "1 and 2"),
        lambda one: re.compile(one).pattern,
        lambda one: (one.pattern, one.flags, one.groups, dict(one.groupindex)),
        lambda one: [isinstance(one, re.Pattern), isinstance(one, str), repr(one)],
        lambda one: [one == PATTERN, PATTERN == one, one != re.compile("a"), one in {PATTERN: 1}],  # noqa: SIM300
        lambda one: [copy.copy(one), copy.deepcopy({"a": one})["a"]] == [PATTERN, PATTERN],
        lambda one: pickle.dumps(one),
        lambda one: pickle.loads(pickle.dumps(one)).findall("1 2"),
        lambda one: hasattr(one, "length"),
    ],
)
def test_a_pattern_that_is_compiled_later_is_the_same(pattern, asked):
    one, compiled = pattern
    assert compiled == []
    assert asked(one) == asked(PATTERN)
    asked(one)
    one.search("a")
    assert compiled == [PATTERN.pattern], "once, and not before"


def test_modules_are_run_when_something_of_them_is_asked_for():
    program = """
        import sys, types
        from trainyard.cli.quick_start import LATER, quick_start
        quick_start()
        quick_start()
        import gc
        assert gc.get_threshold()[0] > 1_000_000, "collections are rare before the first import of many"
        import trainyard.cli.main
        import pulumi
        waiting = [name for name in sorted(LATER) if type(sys.modules[name]) is not types.ModuleType]
        assert waiting == sorted(LATER), waiting
        assert not {"pydantic", "trainyard.cli.smoke", "trainyard.cli.rehearse"} & sys.modules.keys()
        import dill
        assert dill.loads(dill.dumps([1])) == [1]
        assert pulumi.automation.Stack.__module__.startswith("pulumi.automation")
        from pulumi.automation import LocalWorkspace
        assert "opentelemetry.sdk" not in sys.modules
        from pulumi.runtime import _instrumentation
        assert _instrumentation.SdkTracerProvider.__module__ == "opentelemetry.sdk.trace"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_describes_a_schema_is_what_it_was_but_for_its_keys():
    program = """
        import typing
        from trainyard.cli.quick_start import quick_start
        quick_start()
        import typing_extensions
        own = typing.TypedDict, typing_extensions.TypedDict
        from pydantic_core import core_schema
        assert (typing.TypedDict, typing_extensions.TypedDict) == own
        made = core_schema.CoreConfig(title="a")
        assert made == {"title": "a"} and type(made) is dict
        assert core_schema.CoreConfig.__total__ is False and core_schema.CoreConfig.__annotations__["title"] == "str"
        assert core_schema.str_schema(strict=True) == {"type": "str", "strict": True}
        import pydantic
        class Keys(typing_extensions.TypedDict):
            number: int
        assert pydantic.TypeAdapter(Keys).validate_python({"number": "1"}) == {"number": 1}
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [["explain", "demo"], ["--debug", "explain"], ["--no-color", "--debug", "explain", "-h"], ["explain", "rehearse"]],
)
def test_the_verb_that_is_asked_for_alone_is_imported(words):
    [verb] = main._asked(words).registered_commands
    assert verb.name == "explain"


@pytest.mark.parametrize("words", [[], ["--help"], ["nope"], ["--version"], ["--help", "explain"], ["--nope", "plan"]])
def test_all_verbs_are_there_where_none_is_asked_for(words):
    found = main._asked(words)
    assert [verb.name for verb in (*found.registered_commands, *found.registered_groups)] == list(main.VERBS)
