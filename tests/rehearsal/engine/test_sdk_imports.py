"""Packages of provider SDKs imported a module at a time hold the same names as ever."""

from __future__ import annotations

import json
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import ModuleType

import pytest
from pulumi import _types as sdk

from tests.rehearsal.engine.conftest import Fresh
from trainyard.rehearsal.engine.sdk_classes import ClassesLoader, waiting

Run = Callable[[str], dict[str, object]]


@pytest.fixture
def run(fresh: Fresh) -> Run:
    """What a program, run where no provider's SDK is imported, leaves in `found`."""

    def left(program: str) -> dict[str, object]:
        told = fresh(textwrap.dedent(program) + "\nimport json\nprint(json.dumps(found))\n")
        found = json.loads(told.splitlines()[-1])
        assert isinstance(found, dict)
        return found

    return left


def test_only_what_is_asked_for_is_imported(run: Run) -> None:
    found = run("""
        import sys
        from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
        with piecewise_imports():
            import pulumi_aws.ec2 as ec2
            import pulumi_kubernetes.core.v1 as core
        found = {
            "classes": [ec2.Vpc.__name__, ec2.VpcArgs.__name__, core.ConfigMap.__name__, core.PodSpecArgs.__name__],
            "function": ec2.get_ami_output.__module__,
            "module": ec2.outputs.__name__,
            "subnet": "pulumi_aws.ec2.subnet" in sys.modules,
            "pod": "pulumi_kubernetes.core.v1.Pod" in sys.modules,
        }
    """)
    assert found == {
        "classes": ["Vpc", "VpcArgs", "ConfigMap", "PodSpecArgs"],
        "function": "pulumi_aws.ec2.get_ami",
        "module": "pulumi_aws.ec2.outputs",
        "subnet": False,
        "pod": False,
    }


@pytest.mark.parametrize("package", ["pulumi_aws.fsx", "pulumi_aws.iam", "pulumi_kubernetes.policy.v1"])
def test_every_name_is_the_same(run: Run, package: str) -> None:
    whole = run(f"""
        import importlib, types
        package = importlib.import_module({package!r})
        package.outputs
        found = {{}}
        for name in dir(package):
            value = getattr(package, name)
            if not name.startswith("__"):
                module = "module" if isinstance(value, types.ModuleType) else ""
                found[name] = module or getattr(value, "__module__", type(value).__name__)
    """)
    one_by_one = run(f"""
        import importlib, types
        from trainyard.rehearsal.engine.sdk_imports import _Package, piecewise_imports
        with piecewise_imports():
            package = importlib.import_module({package!r})
            package.outputs
        assert type(package) is _Package
        found = {{}}
        for name in {[name for name in whole if name not in ("_utilities", "_builtins", "typing")]!r}:
            value = getattr(package, name)
            module = "module" if isinstance(value, types.ModuleType) else ""
            found[name] = module or getattr(value, "__module__", type(value).__name__)
        assert type(package) is _Package, "no name should need the whole package"
    """)
    assert one_by_one == {name: whole[name] for name in one_by_one}
    assert len(one_by_one) > 10


def test_a_package_is_found_as_the_standard_library_finds_it(run: Run) -> None:
    found = run("""
        from importlib.machinery import PathFinder
        import pulumi_aws
        from trainyard.rehearsal.engine.sdk_imports import _Finder
        finder, path = _Finder(), pulumi_aws.__path__
        seen = "origin", "submodule_search_locations", "cached", "parent", "has_location"
        found = {"alike": 0, "other": 0}
        for name in ("ec2", "eks", "config", "no_such", "vpc", "_utilities", "get_arn"):
            asked = f"pulumi_aws.{name}", list(path)
            ours, theirs = finder.find_spec(*asked), PathFinder.find_spec(*asked)
            told = [[getattr(spec, each, None) for each in seen] for spec in (ours, theirs)]
            found["alike" if told[0] == told[1] else "other"] += 1
        found["in an archive"] = finder.find_spec("pulumi_aws.ec2", ["no.zip/pulumi_aws"])
    """)
    assert found == {"alike": 7, "other": 0, "in an archive": None}


def test_whole_package_on_demand(run: Run) -> None:
    found = run("""
        from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
        with piecewise_imports():
            import pulumi_aws.sns as sns
            import pulumi_aws.sqs as sqs
        sqs.Queue  # or the SDK's own placeholder is what `dir` looks at
        names = {}
        exec("from pulumi_aws.sns import *", names)
        found = {"star": "TopicSubscription" in names, "dir": "QueuePolicy" in dir(sqs)}
        found["none"] = [hasattr(sns, "Topics"), hasattr(sqs, "Queues"), hasattr(sqs, "outputs")]
    """)
    assert found == {"star": True, "dir": True, "none": [False, False, False]}


def test_packages_that_do_more_are_imported_as_ever(run: Run) -> None:
    found = run("""
        from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
        with piecewise_imports():
            import pulumi_kubernetes
            from pulumi_kubernetes.apiextensions import CustomResource
        found = {"type": type(pulumi_kubernetes.apiextensions).__name__, "class": CustomResource.__name__}
    """)
    assert found == {"type": "module", "class": "CustomResource"}


_TOLD = """
    import importlib, inspect, typing
    from pulumi import _types
    found = {}
    for part in ("outputs", "_inputs", "lustre_file_system", "get_windows_file_system"):
        module = importlib.import_module(f"pulumi_aws.fsx.{part}")
        for name, cls in ((name, getattr(module, name)) for name in dir(module)):
            if not isinstance(cls, type) or cls.__module__ != module.__name__:
                continue
            told = [cls.__qualname__, cls.__doc__, [base.__name__ for base in cls.__mro__]]
            if typing.is_typeddict(cls):
                told += sorted(cls.__required_keys__), sorted(cls.__optional_keys__), str(cls.__annotations__)
            else:
                marks = [_types.is_input_type(cls), _types.is_output_type(cls)]
                told += marks, sorted(vars(cls)), str(inspect.signature(cls))
                told.append(str(_types._types_from_py_properties(cls)))
            found[f"{module.__name__}.{name}"] = told
"""


_KEPT = """
    import sys
    from importlib.machinery import SourceFileLoader
    sys.dont_write_bytecode = False
    whole = []
    get_code = SourceFileLoader.get_code
    def noted(self, fullname):
        whole.append(fullname)
        return get_code(self, fullname)
    SourceFileLoader.get_code = noted
"""


def test_classes_that_wait_are_the_same(run: Run) -> None:
    whole = run(_TOLD)
    waited = textwrap.dedent(_KEPT) + (
        "from trainyard.rehearsal.engine.sdk_imports import piecewise_imports\n"
        "with piecewise_imports():\n"
        "    from pulumi_aws.fsx import _inputs, lustre_file_system, outputs\n"
        "    from pulumi_aws.fsx.get_windows_file_system import GetWindowsFileSystemResult\n"
        "from trainyard.rehearsal.engine.sdk_classes import waiting\n"
        "assert waiting(_inputs.LustreFileSystemLogConfigurationArgs)\n"
        "assert waiting(outputs.LustreFileSystemLogConfiguration)\n"
        "assert waiting(lustre_file_system._LustreFileSystemState)\n"
        "assert not waiting(GetWindowsFileSystemResult)  # another class derives from it\n" + textwrap.dedent(_TOLD)
    )
    assert run(waited) == whole
    assert len(whole) > 60
    assert run(waited + "assert not [name for name in whole if '.fsx.' in name]\n") == whole  # they are kept now


def test_a_class_of_a_module_with_many_is_made_when_its_name_is_asked_for(run: Run) -> None:
    """As an attribute, by `import`, in an annotation, by everything at once: it is one and the same class."""
    found = run("""
        from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
        with piecewise_imports():
            import pulumi_aws.fsx as fsx
            from pulumi_aws.fsx import _inputs, outputs, lustre_file_system
        import pulumi, typing
        name = "LustreFileSystemLogConfigurationArgs"
        there = [name in vars(module) for module in (_inputs, lustre_file_system)]
        within = {"Output": pulumi.Output, "T": type(None)}
        hints = typing.get_type_hints(fsx.LustreFileSystemArgs.__init__, None, within)
        made = getattr(_inputs, name)
        whole = {}
        exec("from pulumi_aws.fsx._inputs import *", whole)
        try:
            _inputs.LustreFileSystemLogConfigurationArg
            missing = ""
        except AttributeError as error:
            missing = str(error)
        found = {
            "there": there,
            "in the annotation": f"{made.__module__}.{name}" in repr(hints["log_configuration"]),
            "the same": made is getattr(fsx, name) is getattr(lustre_file_system, name) is whole[name],
            "whole": sorted(set(_inputs.__all__) - set(whole)) + sorted(set(_inputs.__all__) - set(dir(_inputs))),
            "missing": missing,
            "built in": _inputs.__builtins__["len"] is len and _inputs.__builtins__["__import__"] is __import__,
        }
    """)
    assert found == {
        "there": [False, False],
        "in the annotation": True,
        "the same": True,
        "whole": [],
        "missing": "module 'pulumi_aws.fsx._inputs' has no attribute 'LustreFileSystemLogConfigurationArg'",
        "built in": True,
    }


def test_an_enum_that_waited_is_one(run: Run) -> None:
    program = """
        import pulumi_aws.ec2 as ec2
        from pulumi import _types
        kind = ec2.InstanceType
        found = {"values": [member.value for member in kind][:3], "first": str(next(iter(kind))),
                 "token": getattr(kind, "pulumi_type", ""), "is": isinstance(next(iter(kind)), str)}
    """
    waiting = "from trainyard.rehearsal.engine.sdk_imports import piecewise_imports\nimport pulumi_aws\n"
    waiting += "with piecewise_imports():\n    import pulumi_aws.ec2\n"
    assert run(waiting + textwrap.dedent(program)) == run(program)


def test_an_output_that_waited_reads_as_ever(run: Run) -> None:
    """Keys of both spellings, and the warning that the SDK gives for the provider's own."""
    program = """
        warned = []
        import pulumi
        pulumi.log.warn = warned.append
        import pulumi_aws.fsx as fsx
        made = fsx.outputs.LustreFileSystemMetadataConfiguration(iops=3, mode="AUTOMATIC")
        class Ours(fsx.outputs.LustreFileSystemRootSquashConfiguration):
            pass
        squash = Ours(no_squash_nids=["10.0.0.1"], root_squash="1:2")
        found = {"iops": made.iops, "items": dict(made), "equal": made == type(made)(iops=3)}
        found |= {"own": squash.get("noSquashNids"), "ours": squash["root_squash"], "warned": warned}
    """
    waiting = "from trainyard.rehearsal.engine.sdk_imports import piecewise_imports\nimport pulumi_aws\n"
    found = run(waiting + "with piecewise_imports():\n" + textwrap.indent(textwrap.dedent(program), "    "))
    assert found == run(program)
    assert found["iops"] == 3 and found["ours"] == "1:2" and "noSquashNids" in str(found["warned"])


def test_only_inputs_that_are_used_are_made(run: Run) -> None:
    found = run("""
        from trainyard.rehearsal.engine.sdk_imports import piecewise_imports
        with piecewise_imports():
            import pulumi_kubernetes.core.v1 as core
            import pulumi_kubernetes.core.v1._inputs as inputs
        from pulumi import _types
        from trainyard.rehearsal.engine.sdk_classes import waiting
        before = [waiting(inputs.ContainerPortArgs), waiting(inputs.ContainerPortArgsDict)]
        port = core.ContainerPortArgs(container_port=80)
        found = {
            "before": before,
            "after": [waiting(inputs.ContainerPortArgs), waiting(inputs.ProbeArgs)],
            "asked": [_types.is_input_type(inputs.ProbeArgs), waiting(inputs.ProbeArgs)],
            "value": _types.input_type_to_dict(port),
            "same": type(port) is inputs.ContainerPortArgs is core.ContainerPortArgs,
            "equal": port == core.ContainerPortArgs(container_port=80),
            "plain": core.ContainerPortArgsDict(container_port=80),
        }
        try:
            core.ContainerPortArgs(port=80)
        except TypeError as error:
            found["refused"] = str(error)
        class Ours(inputs.ProbeArgs):
            pass
        class OurDict(inputs.ProbeArgsDict):
            more: str
        found["derived"] = [Ours(period_seconds=3).period_seconds, "more" in OurDict.__annotations__]
    """)
    assert "unexpected keyword argument 'port'" in str(found.pop("refused"))
    assert found == {
        "before": [True, True],
        "after": [False, True],
        "asked": [True, True],
        "value": {"containerPort": 80},
        "same": True,
        "equal": True,
        "plain": {"container_port": 80},
        "derived": [3, True],
    }


_DERIVED = """
    import abc
    import pulumi_aws.ec2 as ec2
    found = {}

    class Shown(abc.ABC):
        @abc.abstractmethod
        def show(self): ...

    for late in (ec2.InstanceEbsBlockDeviceArgs, ec2.InstanceRootBlockDeviceArgs, ec2.outputs.InstanceEbsBlockDevice):
        class Abstract(late, Shown):
            pass
        class Ours(Shown, late):
            def show(self):
                return f"{self.iops} at {self.device_name}"
        class Plain(late):
            pass
        class Both(Plain, Shown):
            show = Ours.show
        @Shown.register
        class Other: pass
        Ours.register(Other)
        given = dict(device_name="xvdb", iops=3) if late is not ec2.InstanceRootBlockDeviceArgs else dict(iops=3)
        if late is ec2.outputs.InstanceEbsBlockDevice:
            given |= dict(delete_on_termination=True, encrypted=True, kms_key_id="", snapshot_id="", tags={})
            given |= dict(tags_all={}, throughput=1, volume_id="", volume_size=1, volume_type="gp3")
        told = found[late.__qualname__] = [
            [isinstance(cls(**given), of) for cls in (Ours, Plain, Both) for of in (late, Shown, Ours, Plain)],
            [isinstance(Other(), cls) for cls in (Shown, Ours, Both, late)],
            [issubclass(cls, of) for cls in (Ours, Both, Plain, late, Other) for of in (Ours, Plain, late, Shown)],
            [isinstance(cls, abc.ABCMeta) for cls in (Ours, Both)],
            [sorted(cls.__abstractmethods__) for cls in (Abstract, Ours)],
            Ours(**given).iops,
        ]
        try:
            Abstract(**given)
        except TypeError as error:
            told.append(str(error))
"""


def test_a_program_derives_from_a_class_and_from_an_abstract_one(run: Run) -> None:
    waiting = "from trainyard.rehearsal.engine.sdk_imports import piecewise_imports\nimport pulumi_aws\n"
    found = run(waiting + "with piecewise_imports():\n" + textwrap.indent(textwrap.dedent(_DERIVED), "    "))
    assert found == run(_DERIVED)
    assert "abstract" in str(found) and len(found) == 3


_LATE = """
import pulumi

@pulumi.input_type
class LateArgs:
    begin()
    def __init__(__self__, *, size: pulumi.Input[int]):
        pulumi.set(__self__, "size", size)

    @property
    @pulumi.getter
    def size(self) -> pulumi.Input[int]:
        return pulumi.get(self, "size")
"""


@pytest.fixture
def late(tmp_path: Path) -> ModuleType:
    """A generated module whose class calls `begin` of the module when its body is run."""
    path = tmp_path / "late_inputs.py"
    path.write_text(_LATE)
    module = ModuleType("late_inputs")
    ClassesLoader(module.__name__, str(path)).exec_module(module)
    assert waiting(module.LateArgs)
    return module


def test_another_thread_waits_for_a_class_that_is_being_made(late: ModuleType) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def begin() -> None:
        begun.set()
        go_on.wait(20)

    late.begin = begin  # type: ignore[attr-defined]
    cls = late.LateArgs
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(lambda: cls(size=1).size)
        assert begun.wait(20)
        second = threads.submit(lambda: cls(size=2).size)
        third = threads.submit(lambda: sdk.is_input_type(cls))
        wait([second, third], timeout=0.2)
        go_on.set()
        assert [first.result(20), second.result(20), third.result(20)] == [1, 2, True]


@pytest.mark.parametrize("fails", ["body", "decorator"])
def test_a_class_whose_making_failed_is_made_when_it_is_asked_again(
    late: ModuleType, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("not now")

    late.begin = fail if fails == "body" else lambda: None  # type: ignore[attr-defined]
    with monkeypatch.context() as once:
        if fails == "decorator":
            once.setattr(sdk, "_process_class", lambda *_, **__: fail())
        for _ in range(2):
            with pytest.raises(RuntimeError, match="not now"):
                late.LateArgs(size=1)
    assert waiting(late.LateArgs) and sdk.is_input_type(late.LateArgs)
    late.begin = lambda: None  # type: ignore[attr-defined]
    assert late.LateArgs(size=1).size == 1 and sdk.is_input_type(late.LateArgs)
