"""Expressions in CEL, the language of admission policies: what one says where the answer can be known.

The extension is loaded without its package, whose `__init__` imports a command line (0.13 s; the extension takes 7 ms).
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final

from trainyard.recorded.quantities import quantity


class CannotSay(Exception):  # noqa: N818 (says what cannot be known)
    """An expression uses what this evaluator does not have: a library of the API server's, another syntax, a parameter
    that is not recorded."""


class Fails(Exception):  # noqa: N818 (the outcome of an evaluation)
    """An expression ends in an error, as it would in the API server: it reads a field that is not there."""


def _number(text: Any) -> float:
    found = quantity(text)
    if found is None:
        raise ValueError(f"{text!r} is no quantity")
    return found


_LIBRARIES: Final[Mapping[str, Callable[..., Any]]] = {
    "quantity": _number,
    "isQuantity": lambda text: quantity(text) is not None,
    "asApproximateFloat": float,
    "asInteger": int,
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
    "sum": lambda numbers: float(sum(numbers)),
    "max": max,
    "min": min,
    "dyn": lambda value: value,
    "lowerAscii": lambda text: text.lower(),
    "upperAscii": lambda text: text.upper(),
    "split": lambda text, by: text.split(by),
    "join": lambda texts, by="": by.join(texts),
    "replace": lambda text, old, new: text.replace(old, new),
}
"""Libraries of the API server's that the extension lacks (Kubernetes documentation, "Common Expression Language in
Kubernetes", read 2026-11). Of quantities those that compare: they are numbers here."""

_UNDEFINED: Final = re.compile(r"Undefined variable or function")


_NAME: Final = "cel.cel"


@cache
def _extension() -> Any:
    """The extension. A process may start it once: who imports the package after this gets the same, and before, too."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    package = importlib.util.find_spec("cel")
    places = package.submodule_search_locations if package else None
    found = importlib.machinery.PathFinder.find_spec(_NAME, list(places or ()))
    if found is None or found.loader is None:
        raise ImportError("common-expression-language is not installed", name="cel")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    sys.modules[_NAME] = module
    return module


@cache
def _program(expression: str) -> tuple[Any, tuple[str, ...]]:
    """The compiled expression, and what it calls of the libraries; None where it cannot be read: by the extension,
    which may be behind the API server."""
    try:
        program = _extension().compile(expression)
    except ValueError:
        return None, ()
    except BaseException as error:
        _unless_it_panicked(error)
        return None, ()
    return program, tuple(name for name in program.functions() if name in _LIBRARIES)


def make_ready(expressions: Iterable[str]) -> None:
    """Compiles expressions, so that they are when they are first evaluated."""
    for expression in expressions:
        _program(expression)


def scope(variables: Mapping[str, Any]) -> Any:
    """What an expression may name."""
    return _extension().Context(dict(variables))


def evaluate(expression: str, context: Any) -> Any:
    """The value of an expression. Raises `CannotSay` and `Fails`."""
    program, functions = _program(expression)
    if program is None:
        raise CannotSay(expression)
    for name in functions:
        context.add_function(name, _LIBRARIES[name])
    try:
        return program.execute(context)
    except RuntimeError as error:
        raise (CannotSay if _UNDEFINED.search(str(error)) else Fails)(str(error)) from error
    except (KeyError, TypeError, ValueError, ArithmeticError, IndexError) as error:
        raise Fails(str(error)) from error
    except BaseException as error:
        _unless_it_panicked(error)
        raise CannotSay(expression) from error


def _unless_it_panicked(error: BaseException) -> None:
    """Raises an error again that is not a mistake of the extension's own, which PyO3 raises as no `Exception`."""
    if type(error).__name__ != "PanicException":
        raise error


_TEXT: Final = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")


def texts(expressions: Iterable[str]) -> set[str]:
    """The texts that stand in expressions, as they are written."""
    return {one or other for expression in expressions for one, other in _TEXT.findall(expression)}
