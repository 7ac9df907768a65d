"""`invoke_output` of pulumi 3.272 where one run is for both views: what a preview gets of a data source, too.

And, in every run, what a data source waits for, in an order that is the same each time.
"""

from __future__ import annotations

import asyncio
import functools
import importlib
from collections.abc import Awaitable, Collection, Mapping
from typing import Any, Protocol

import pulumi
from pulumi.output import _OutputData
from pulumi.runtime import _depends_on, rpc
from pulumi.runtime.settings import SETTINGS

from trainyard.recorded.model import has_secret, has_unknown
from trainyard.rehearsal.engine.contents import opened
from trainyard.rehearsal.engine.light_outputs import UnusualError, data_of, pass_on, pending, track
from trainyard.rehearsal.engine.light_registration import all_there, for_program, parts_of, properties_of, reference
from trainyard.rehearsal.engine.looked_up import CONTENTS
from trainyard.rehearsal.engine.two_views import Data, Views, preview_of, twofold

sdk_invoke = importlib.import_module("pulumi.runtime.invoke")  # its package has a function of this name
_invoke_output = sdk_invoke.invoke_output
_expand_dependencies = rpc._expand_dependencies


class Sources(Protocol):
    """A monitor that answers of data sources without the wire."""

    views: Views

    def invoke(self, token: str, arguments: Mapping[str, Any], provider: str) -> tuple[Mapping[str, Any], bool]:
        """The result, and whether the provider is configured at a preview."""
        ...


def invoke_output(
    tok: str, props: Mapping[str, Any], opts: Any = None, typ: Any = None, package_ref: Any = None
) -> pulumi.Output[Any]:
    """Stands for the SDK's function of this name, and leaves to it what is unusual and all runs for one view."""
    monitor = SETTINGS.monitor
    if tok in CONTENTS and hasattr(monitor, "views"):
        nothing = pending()
        nothing._data.set_result(data_of(set(), None, False, False))
        track(nothing)
        return nothing
    if getattr(monitor, "views", None) is None or package_ref is not None or tok.startswith("kubernetes:"):
        found: pulumi.Output[Any] = _invoke_output(tok, props, opts, typ, package_ref)
        return found
    output = pending()
    track(output)
    task = asyncio.ensure_future(_asked(output._data, tok, props, opts, typ, monitor))
    SETTINGS.rpc_manager.rpcs.append(task)
    return output


async def _asked(
    into: asyncio.Future[Data], tok: str, props: Mapping[str, Any], opts: Any, typ: Any, monitor: Sources
) -> None:
    try:
        found = await _answered(tok, props, opts or pulumi.InvokeOptions(), typ, monitor)
    except Exception:  # asked again below, in the SDK's own way, which tells of it in the SDK's own words
        monitor.views.doubt("a data source is asked in an unusual way, or fails")
        _invoke_output(tok, props, opts, typ)._data.add_done_callback(functools.partial(pass_on, into))
        return
    into.set_result(found)


async def _answered(tok: str, props: Mapping[str, Any], opts: Any, typ: Any, monitor: Sources) -> Data:
    """What the SDK's `_invoke` makes of an answer; `UnusualError` where a run of its own has to tell."""
    listed: Any = opts._depends_on_list() if isinstance(opts, pulumi.InvokeOutputOptions) else []
    if type(listed) is not list or not all(isinstance(each, pulumi.Resource) for each in listed):
        raise UnusualError
    provider = opts.provider
    if provider is None and opts.parent is not None:
        provider = opts.parent.get_provider(tok)
    asked = await properties_of(props, _unusual)
    if has_unknown(asked.inputs) or has_secret(asked.inputs):
        raise UnusualError
    then = dict(asked.inputs)
    waits_then = dict(asked.waits)
    for key, (value, resources) in asked.differing.items():
        then[key], waits_then[key] = value, resources
    known_then = not has_unknown(then)
    if known_then and then != asked.inputs:
        raise UnusualError
    waits = {*listed, *(each for resources in asked.waits.values() for each in resources)}
    if known_then and waits != {*listed, *(each for resources in waits_then.values() for each in resources)}:
        raise UnusualError
    for each in (await rpc._expand_dependencies(waits, None)).values():
        if isinstance(each, pulumi.CustomResource) and each.__dict__.get("id"):
            known_then = known_then and preview_of(await each.id._data).is_known
    result, is_configured = monitor.invoke(tok, asked.inputs, await reference(provider) if provider is not None else "")
    value = opened(for_program(result, None))
    if typ:
        value = rpc.translate_output_properties(value, _same, typ)
    known = _OutputData(waits, value, True, False)
    if known_then and is_configured:
        return known
    return twofold(monitor.views, known, data_of(set(), None, False, False))


def _unusual(*_: Any) -> Awaitable[Any]:
    raise UnusualError


def _same(name: str) -> str:
    return name


async def _expanded(resources: Collection[Any], waiting: pulumi.Resource | None) -> dict[str, pulumi.Resource]:
    """`_expand_dependencies` of a set, as data sources ask it: all waited for at once, and told by their URNs."""
    if waiting is None:  # else whoever asks first looks for a circle, in which nothing ever comes
        await all_there([each for each in parts_of(resources) if isinstance(each, pulumi.Resource)])
    return dict(sorted((await _expand_dependencies(resources, waiting)).items()))


REPLACED = (
    (rpc, "_expand_dependencies", _expanded),
    (_depends_on, "_expand_dependencies", _expanded),
    (sdk_invoke, "invoke_output", invoke_output),
    (pulumi.runtime, "invoke_output", invoke_output),
)
"""What stands for what: owner, name, replacement."""
