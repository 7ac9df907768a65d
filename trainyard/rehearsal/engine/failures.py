"""An exception of the program as a finding: the component, the resource and the key it is about, not a traceback."""

from __future__ import annotations

import ast
import linecache
import re
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import pulumi

from trainyard.problems import nearest
from trainyard.recorded.model import Finding
from trainyard.rehearsal.engine.recorder import ProgramExitError, Recording
from trainyard.rehearsal.engine.sdk_types import type_token
from trainyard.rehearsal.engine.wire import LOOKED_UP

_REHEARSAL = Path(__file__).resolve().parents[1]
_UNEXPECTED = re.compile(r"(?:(?P<cls>\w+)\.)?\w+\(\) got an unexpected keyword argument '(?P<key>\w+)'")
_MISSING = re.compile(r"(?:(?P<cls>\w+)\.)?\w+\(\) missing \d+ required .*?argument[s]?: (?P<keys>.+)")
_MISSING_PROPERTY = re.compile(r"Missing required property '(?P<key>\w+)'")
_PROCESSING = re.compile(r"While processing resource: '(?P<name>[^']*)', type:? '(?P<type>[^']*)'")
_INPUT = re.compile(r"While processing input: '(?P<key>[^']*)'")
_RISEN = re.compile(r"(?:ValueError|AssertionError) has risen: (?P<why>.+)\Z", re.DOTALL)


def failure_findings(recording: Recording, root: Path) -> list[Finding]:
    """What stopped a run, if anything did."""
    if recording.hang is not None:
        return [
            Finding(
                "error",
                "hang",
                f"the program does not end: {_relative(recording.hang, root)}",
                hint="does something await a value that is never set?",
            )
        ]
    if recording.error is None:
        return []
    return [_finding(recording.error, recording, root)]


def _finding(error: BaseException, recording: Recording, root: Path) -> Finding:
    frames = [frame for chained in exception_chain(error) for frame in traceback.walk_tb(chained.__traceback__)]
    component = "/".join(_component_names(frames))
    type_, name, cls = _resource_at(frames)
    text = str(error).strip() or type(error).__name__
    # The innermost: an export or another resource that takes what could not be made stands before it.
    processing = max(_PROCESSING.finditer(text), key=re.Match.start, default=None)
    if processing is not None:
        type_, name, text = processing["type"], processing["name"], text[processing.start() :]
    if name and not component:
        component = recording.component_of(type_, name)
    path, rule, message, hint = _explained(error, text, cls)
    place = _place(frames, root)
    return Finding(
        level="error",
        rule=rule,
        message=f"{message} ({place})" if place else message,
        type=type_,
        name=name,
        component=component,
        path=path,
        hint=hint,
    )


def _explained(error: BaseException, text: str, cls: type | None) -> tuple[str, str, str, str]:
    """Path, rule, message and hint for an exception."""
    unexpected = _UNEXPECTED.search(text)
    if isinstance(error, TypeError) and unexpected is not None:
        key = unexpected["key"]
        owner = _class_named(unexpected["cls"]) or cls
        return key, "unknown-key", f"{_named(owner)} has no such argument", nearest(key, _keywords(owner))
    missing = _MISSING.search(text)
    if isinstance(error, TypeError) and missing is not None:
        return missing["keys"].replace("'", ""), "missing-key", f"{missing['cls'] or _named(cls)} needs it", ""
    missing_property = _MISSING_PROPERTY.search(text)
    if missing_property is not None:
        return missing_property["key"], "missing-key", f"{_named(cls)} needs it", ""
    if type(error).__name__ == "_OutputToStringError":
        return (
            "",
            "output-in-text",
            "an Output in an f-string, str() or json.dumps: its value is not known yet",
            "use pulumi.Output.concat, Output.format, Output.json_dumps or .apply",
        )
    if isinstance(error, ProgramExitError):
        return "", "program-error", text, ""
    at = _INPUT.search(text)
    risen = list(_RISEN.finditer(text))
    if risen:
        why = _reworded(risen[-1]["why"].split("has risen: ")[-1].strip())
        return (at["key"] if at else ""), "wrong-type", why, ""
    first = "; ".join(line.strip() for line in text.splitlines()[:3] if line.strip())
    if LOOKED_UP in text or LOOKED_UP in str(getattr(error, "doc", "")):
        return (
            "",
            "look-up-unknown",
            f"what somebody wrote is looked up, and a rehearsal does not know it: {type(error).__name__}: {first}",
            "ask for it as an output (`get_secret_version_output`) and use .apply: what is made of it is then unknown, "
            "as at a first preview",
        )
    return "", "program-error", f"{type(error).__name__}: {first}", ""


_EXPECTED = re.compile(r"Unexpected type. Expected '(?P<given>\w+)' got '(?:<class ')?(?P<due>[\w.]+)'?>?'")


def _reworded(text: str) -> str:
    """The SDK names a value of the wrong kind as what it expects: said the other way round."""
    match = _EXPECTED.search(text)
    if match is None:
        return text
    words = {"list": "a list", "dict": "a map", "str": "text", "int": "a whole number", "bool": "true or false"}
    given = words.get(match["given"], match["given"])
    return f"{given} is given where {words.get(match['due'].split('.')[-1], 'an object')} is due"


def exception_chain(error: BaseException) -> list[BaseException]:
    """The exception and what it was raised from, the innermost first. The SDK makes rings of them."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and not any(current is other for other in seen):
        seen.append(current)
        current = current.__cause__ or current.__context__
    return seen[::-1]


def _component_names(frames: list[tuple[types.FrameType, int]]) -> list[str]:
    """The components whose constructors were running, outermost first."""
    names: list[str] = []
    for frame, _ in frames:
        owner = frame.f_locals.get("self")
        if isinstance(owner, pulumi.ComponentResource) and type(owner).__module__ != "pulumi.runtime.stack":
            name = getattr(owner, "_name", None) or frame.f_locals.get("name")
            if isinstance(name, str) and name not in names:
                names.append(name)
    return names


def _resource_at(frames: list[tuple[types.FrameType, int]]) -> tuple[str, str, type | None]:
    """Type, name and class of the resource that was being made when the exception rose."""
    for frame, line in reversed(frames):
        local = frame.f_locals
        made = local.get("__self__") or local.get("self")
        if isinstance(made, pulumi.CustomResource) and isinstance(local.get("resource_name"), str):
            return type_token(type(made)) or type(made).__name__, local["resource_name"], type(made)
        if frame.f_code.co_name == "do_register" and isinstance(local.get("ty"), str):
            return local["ty"], str(local.get("name", "")), None
        if "site-packages" not in frame.f_code.co_filename:
            found = _enclosing_resource(frame, line)
            if found is not None:
                return found
    return "", "", None


def _enclosing_resource(frame: types.FrameType, line: int) -> tuple[str, str, type | None] | None:
    """The `eks.NodeGroup("name", …)` in the source around a line: its arguments failed before it was called."""
    source = "".join(linecache.getlines(frame.f_code.co_filename))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    for call in sorted(calls, key=lambda node: (node.end_lineno or 0) - node.lineno):
        cls = _value_of(call.func, frame) if isinstance(call.func, (ast.Name, ast.Attribute)) else None
        if isinstance(cls, type) and issubclass(cls, pulumi.CustomResource):
            named = call.args[0] if call.args else None
            name = _value_of(named, frame) if isinstance(named, (ast.Constant, ast.JoinedStr, ast.Name)) else ""
            return type_token(cls) or cls.__name__, name if isinstance(name, str) else "", cls
    return None


def _value_of(node: ast.expr, frame: types.FrameType) -> Any:
    """The value of a name, an attribute or a text, in the program's own frame; None where it has none any more."""
    code = compile(ast.Expression(node), "<rehearsal>", "eval")
    try:
        return eval(code, frame.f_globals, frame.f_locals)  # noqa: S307 (names and texts of the program itself)
    except Exception:  # the program's own names may be gone; then there is no name to tell
        return None


def _class_named(name: str | None) -> type | None:
    if name is None:
        return None
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("pulumi_"):
            found = getattr(module, "__dict__", {}).get(name)
            if isinstance(found, type):
                return found
    return None


def _keywords(cls: type | None) -> list[str]:
    if cls is None:
        return []
    found: list[str] = []
    for method in ("_internal_init", "__init__"):
        function = getattr(cls, method, None)
        code = getattr(function, "__code__", None)
        if code is not None:
            found += code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in found if not name.startswith("__") and name not in ("self", "resource_name", "opts")]


def _named(cls: type | None) -> str:
    return cls.__name__ if cls is not None else "the resource"


def _place(frames: list[tuple[types.FrameType, int]], root: Path) -> str:
    """`components/aws/gpu_nodes.py:88`: the innermost line that is not of an installed package."""
    for frame, line in reversed(frames):
        file = frame.f_code.co_filename
        if "site-packages" not in file and "/lib/python" not in file and not file.startswith("<"):
            real = Path(file).resolve()
            if _REHEARSAL in real.parents:
                continue
            return f"{_relative(str(real), root)}:{line}"
    return ""


def _relative(text: str, root: Path) -> str:
    return text.replace(f"{root.resolve()}/", "").replace(f"{root}/", "")
