"""A generated module that is kept with the bodies of its classes apart holds the same classes as ever."""

from __future__ import annotations

import inspect
import os
import sys
import typing
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from trainyard.rehearsal.engine.sdk_classes import ClassesLoader, waiting

SOURCE = '''
"""Generated."""
import pulumi
from typing import TypedDict

@pulumi.input_type
class BedArgs:
    """A bed."""

    def __init__(__self__, *, width: pulumi.Input[int]):
        pulumi.set(__self__, "width", width)

    @property
    @pulumi.getter
    def width(self) -> pulumi.Input[int]:
        return pulumi.get(self, "width")

class BedArgsDict(TypedDict):
    width: int

class Base:
    kind = "furniture"

    def __init__(self):
        super().__init__()

class Chair(Base):
    legs = 4

if pulumi:
    class Twice:
        which = "first"
else:
    class Twice:
        which = "second"

def beds(count):
    class Inner:
        number = count
    return [Inner.number] * count
'''

Load = Callable[[], ModuleType]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "furniture.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture
def load(source: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    def loaded() -> ModuleType:
        module = ModuleType("furniture")
        monkeypatch.setitem(sys.modules, "furniture", module)
        ClassesLoader(module.__name__, str(source)).exec_module(module)
        return module

    return loaded


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by a module's name each time that the whole of its code is read."""
    read: list[str] = []
    get_code = SourceFileLoader.get_code

    def counted(self: SourceFileLoader, fullname: str) -> object:
        read.append(fullname)
        return get_code(self, fullname)

    monkeypatch.setattr(ClassesLoader, "get_code", counted)
    return read


def kept(source: Path) -> Path:
    (found,) = (source.parent / "__pycache__").glob("*.bodies")
    return found


def told(module: ModuleType) -> list[object]:
    """What can be seen of the module, once all in it is made."""
    bed = module.BedArgs(width=2)
    assert typing.is_typeddict(module.BedArgsDict)
    return [
        module.__doc__,
        (bed.width, module.BedArgs.__doc__, str(inspect.signature(module.BedArgs))),
        (inspect.getsourcelines(module.BedArgs.__init__), module.BedArgs.width.fget.__code__.co_filename),
        (module.BedArgsDict.__annotations__, module.BedArgsDict.__required_keys__),
        (module.Base().kind, module.Chair.legs, module.Chair.kind, module.Chair.__qualname__),
        (module.Twice.which, module.beds(2)),
    ]


def test_what_is_kept_is_the_same_and_spares_reading_the_whole(source: Path, load: Load, whole: list[str]) -> None:
    first = load()
    assert waiting(first.BedArgs)
    seen = told(first)
    assert whole == ["furniture"]
    second = load()
    assert waiting(second.BedArgs)
    assert told(second) == seen
    assert whole == ["furniture"]
    assert len(list(source.parent.glob("__pycache__/*"))) == 2  # Python's own beside it


@pytest.mark.parametrize("same", ["size", "time"])
def test_a_module_written_anew_is_read_anew(source: Path, load: Load, same: str) -> None:
    load()
    before = source.stat()
    source.write_text(SOURCE.replace("legs = 4", "legs = 3" if same == "size" else "legs = 12"))
    if same == "time":
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    else:
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    for _ in range(2):
        assert load().Chair.legs == (3 if same == "size" else 12)


HARM: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[:100],
    "of another": lambda content: b"x" + content[1:],
    "a length": lambda content: content[:16] + bytes([255] * 4) + content[20:],
    "the module's own code": lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
    "the last body": lambda content: content[:-20] + bytes(20),
    "without bodies": lambda content: content[: 24 + int.from_bytes(content[16:20])],
}


@pytest.mark.parametrize("harm", HARM)
def test_what_is_damaged_is_not_used(source: Path, load: Load, harm: str) -> None:
    seen = told(load())
    content = kept(source).read_bytes()
    kept(source).write_bytes(HARM[harm](content))
    assert kept(source).read_bytes() != content
    assert told(load()) == seen


def test_a_class_is_made_though_what_was_kept_was_cleared_away(source: Path, load: Load) -> None:
    seen = told(load())
    module = load()
    kept(source).unlink()
    assert told(module) == seen


def test_a_class_that_is_gone_from_its_module_is_named(source: Path, load: Load) -> None:
    load()
    module = load()
    source.write_text("# another release\n")
    kept(source).unlink()
    with pytest.raises(ImportError, match=r"furniture\.py was changed while it was in use: BedArgs is gone"):
        module.BedArgs(width=1)


def test_nothing_is_kept_where_python_writes_no_byte_code(
    source: Path, load: Load, whole: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for _ in range(2):
        assert load().Chair.legs == 4
    assert whole == ["furniture"] * 2
    assert not (source.parent / "__pycache__").exists()
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    assert load().Chair.legs == 4
