"""Runs a program as a stack inside this process and records every resource that it registers.

The SDK talks to a `Monitor` object instead of the engine (`Settings(monitor=…)`, `run_in_stack`). Calls to it are
made in the event loop's own thread, one after the other: two runs of a program record the same in the same order.
A run is bounded: a program that never ends is given up after `timeout_seconds`, and the line it is at is told.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading
import traceback
import types
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi
from google.protobuf import empty_pb2  # type: ignore[import-untyped]
from pulumi.runtime import Settings, configure, register_stack_transformation, run_in_stack, set_all_config
from pulumi.runtime.proto import engine_pb2, resource_pb2
from pulumi.runtime.settings import get_root_resource

from trainyard.recorded.marks import UNKNOWN_MARK
from trainyard.recorded.model import UNKNOWN, AboutInputs, Alias, RecordedResource, Secret, bare, has_secret
from trainyard.recorded.types import PULUMI_STACK, RENDERING
from trainyard.recorded.unseen import MADE
from trainyard.rehearsal.engine import light_outputs, outputs, wire
from trainyard.rehearsal.engine.contents import Content, contents_may_be_anything
from trainyard.rehearsal.engine.invokes import invoke
from trainyard.rehearsal.engine.light_registration import Registered, Registration
from trainyard.rehearsal.engine.light_sdk import light_sdk
from trainyard.rehearsal.engine.loop import InlineLoop, output_strings_raise, rare_collections, settled
from trainyard.rehearsal.engine.manifests import finds_nothing_yet, inline, is_seen, reads_no_address
from trainyard.rehearsal.engine.other_stacks import outputs_of
from trainyard.rehearsal.engine.sdk_types import output_fields, resource_class
from trainyard.rehearsal.engine.synthesised import Place, addresses_are_without
from trainyard.rehearsal.engine.two_views import DryRun, Views

_FEATURES = (
    *("SECRETS", "RESOURCE_REFERENCES", "ALIAS_SPECS", "REPLACEMENT_TRIGGER", "DELETED_WITH", "REPLACE_WITH"),
    *("TRANSFORMS", "INVOKE_TRANSFORMS", "PARAMETERIZATION", "RESOURCE_HOOKS", "ERROR_HOOKS"),
)
"""What this monitor understands, of the protocol's features. `INVOKE_DEPENDS_ON` is left to the SDK's own side."""

_CALLED_BY = ("client", "environment")
"""Settings whose words are in the names of a client's resources."""
_NAMESPACE = "trainyard"
"""Where they are whatever the project is called; a program of somebody else's has them under its project's name."""
_TIMEOUTS = ("create", "update", "delete")
STACK_REFERENCE = "pulumi:pulumi:StackReference"


@dataclass(frozen=True, slots=True)
class WrongProvider:
    """A provider handed to a resource, or into a `providers` map, that cannot serve what it was meant for."""

    type: str
    name: str
    package: str  # of the provider
    key: str = ""  # of the `providers` map; empty: the `provider` option


@dataclass(frozen=True, slots=True)
class Constructed:
    """A resource object that the program made, registered or not."""

    type: str
    name: str
    component: str  # as in RecordedResource
    file: str = ""  # of the program's own code that made it
    line: int = 0


@dataclass(slots=True)
class Recording:
    """What one run of a program did, in the order of registration."""

    preview: bool
    resources: list[RecordedResource] = field(default_factory=list)
    classes: dict[str, type] = field(default_factory=dict)  # type token -> SDK or component class
    stack_outputs: dict[str, Any] = field(default_factory=dict)
    component_outputs: dict[str, dict[str, Any]] = field(default_factory=dict)  # by URN
    outputs_registered_twice: list[str] = field(default_factory=list)  # URNs
    wrong_providers: list[WrongProvider] = field(default_factory=list)
    missing_stacks: list[str] = field(default_factory=list)  # StackReferences to nothing that is known
    stacks_are_told: bool = False  # whether anything says which other stacks there are
    asked_too_early: list[tuple[str, str, str]] = field(default_factory=list)  # (type, name, object not there yet)
    transformed: list[str] = field(default_factory=list)  # URNs with engine-side transforms, which are not run
    constructed: list[Constructed] = field(default_factory=list)  # in program order
    messages: list[tuple[str, str]] = field(default_factory=list)  # what the program logged: (severity, text)
    error: BaseException | None = None
    hang: str | None = None  # where the program was when it was given up

    def of_type(self, type_: str) -> list[RecordedResource]:
        """All resources of one type."""
        return [resource for resource in self.resources if resource.type == type_]

    def component_of(self, type_: str, name: str) -> str:
        """The components around a resource, also of one that was never registered."""
        return next((made.component for made in self.constructed if (made.type, made.name) == (type_, name)), "")


class ProgramExitError(Exception):
    """The program called `sys.exit`."""

    def __init__(self, code: object) -> None:
        super().__init__(f"the program ends itself with exit code {code}")


class _Engine:
    """The engine's logging service."""

    def __init__(self, recording: Recording, views: Views | None) -> None:
        self._recording = recording
        self._views = views

    def Log(self, request: Any) -> Any:  # noqa: N802 (the protocol's name)
        if request.severity >= engine_pb2.WARNING:
            severity = "warning" if request.severity == engine_pb2.WARNING else "error"
            self._recording.messages.append((severity, request.message))
            if self._views is not None:
                self._views.happens("a message is logged")
        return empty_pb2.Empty()


def _default_providers(config: Mapping[str, Any]) -> dict[str, outputs.ProviderState]:
    """The providers that the engine makes of the configuration, by package: `aws:region`."""
    told: dict[str, dict[str, Any]] = {}
    for key, value in config.items():
        package, _, name = key.partition(":")
        told.setdefault(package, {})[name] = value
    return {package: outputs.ProviderState.of(package, inputs) for package, inputs in told.items()}


@dataclass(frozen=True, slots=True)
class _Beside:
    """One registration with everything known, which that of a preview stands beside."""

    asked: Registration
    recorded: RecordedResource
    checked: outputs.Checked | None


class _Monitor:
    """The engine's resource monitor: answers registrations as Check and Create would, and records them."""

    def __init__(
        self,
        recording: Recording,
        deployment: Deployment,
        preview: _Monitor | None = None,
    ) -> None:
        self.views = Views() if preview is not None else None
        self._preview = preview  # what records the view of a preview, where one run is for both
        project, stack = deployment.project, deployment.stack
        self.recording = recording
        self._prefix = f"urn:pulumi:{stack}::{project}::"
        self._stack_urn = f"{self._prefix}{PULUMI_STACK}::{project}-{stack}"
        self._stacks = deployment.stack_outputs
        recording.stacks_are_told = bool(self._stacks) and deployment.only_these_stacks
        self._by_default = _default_providers(deployment.config)
        self._providers: dict[str, outputs.ProviderState] = {}
        self._components: dict[str, str] = {}  # URN -> "environment/network"
        self._registered_outputs: set[str] = set()
        self._last: _Beside | None = None

    def urn(self, parent: str, type_: str, name: str) -> str:
        """The URN as the engine builds it: the chain of the parents' types, without the stack, then the name."""
        if not parent or parent == self._stack_urn:
            return f"{self._prefix}{type_}::{name}"
        return f"{self._prefix}{parent.split('::')[2]}${type_}::{name}"

    def register(self, asked: Registration, at_preview: Registration) -> Registered:
        """Answers a registration in plain values, which the wire does not carry."""
        found = self._registered(asked)
        if self._preview is None:
            return found
        at_preview_found = self._preview._registered(at_preview, self._last)
        return Registered(found.urn, found.id, found.outputs, at_preview_found)

    def _registered(self, asked: Registration, beside: _Beside | None = None) -> Registered:
        if asked.type == PULUMI_STACK:
            return Registered(self._stack_urn, "", {})
        urn = self.urn(asked.parent, asked.type, asked.name)
        inputs = asked.inputs
        if not asked.custom:
            around = self._components.get(asked.parent, "")
            self._components[urn] = f"{around}/{asked.name}" if around else asked.name
            made_of = inputs if is_seen(asked.type, inputs) else {**inputs, MADE: UNKNOWN}
            self._record(asked, urn, outputs.Answer(UNKNOWN, inputs, made_of), beside)
            return Registered(urn, "", inputs)
        provider = self._provider_of(asked)
        cls = self._class_of(asked.type)
        checked = beside.checked if beside is not None else None
        preview = self.recording.preview
        made = outputs.answer(asked.type, asked.name, urn, inputs, cls, provider, preview=preview, beside=checked)
        is_provider = asked.type.startswith("pulumi:providers:")
        if is_provider:
            package = asked.type.rsplit(":", 1)[1]
            self._providers[urn] = outputs.ProviderState.of(package, inputs)
        self._record(asked, urn, made, beside)
        # Of a provider to be made the engine answers the raw mark, which `apply` runs with.
        identity = made.id if isinstance(made.id, str) else UNKNOWN_MARK if is_provider else ""
        return Registered(urn, identity, made.outputs)

    def _over_the_wire(self, what: str) -> None:
        if self.views is not None:
            self.views.doubt(f"{what} goes over the wire")

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        self._over_the_wire("a registration")
        for given in request.object.fields.values():
            wire.tell_ids(given)
        asked = Registration(
            type=request.type,
            name=request.name,
            parent=request.parent,
            custom=request.custom,
            inputs=wire.decode_struct(request.object),
            provider=request.provider,
            dependencies=request.dependencies,
            property_dependencies={key: value.urns for key, value in request.propertyDependencies.items()},
            protect=request.protect,
            ignore_changes=request.ignoreChanges,
            replace_on_changes=request.replaceOnChanges,
            aliases=request.aliases,
            alias_urns=request.aliasURNs,
            delete_before_replace=request.deleteBeforeReplace,
            retain_on_delete=request.retainOnDelete,
            custom_timeouts=request.customTimeouts,
            additional_secret_outputs=request.additionalSecretOutputs,
            transformed=bool(request.transforms),
        )
        found = self._registered(asked)
        response = resource_pb2.RegisterResourceResponse(urn=found.urn, id=found.id)
        if request.type == PULUMI_STACK:
            return response
        if not request.custom:
            response.object.CopyFrom(request.object)
            if request.remote:  # what its provider makes of the inputs is not known here
                cls = self._class_of(request.type)
                missing = [key for key in (output_fields(cls) if cls is not None else ()) if key not in asked.inputs]
                wire.encode_fields(dict.fromkeys(missing, UNKNOWN), response.object)
            for made in inline(asked, found.urn):
                self._registered(made)
        else:
            _write_outputs(response.object, request.object, asked.inputs, found.outputs)
        return response

    def _class_of(self, type_: str) -> type | None:
        found = self.recording.classes.get(type_) or resource_class(type_)
        if found is not None:
            self.recording.classes[type_] = found
        return found

    def _provider_of(self, request: Any) -> outputs.ProviderState | None:
        if not request.provider:
            return self._by_default.get((request.tok if hasattr(request, "tok") else request.type).partition(":")[0])
        return self._providers.get(request.provider.rsplit("::", 1)[0])  # without the provider's id

    def _about(self, request: Any, urn: str) -> dict[str, Any]:
        """What is known alike of a resource that is registered and of one that is read."""
        return {
            "urn": urn,
            "type": request.type,
            "name": request.name,
            "parent": "" if request.parent == self._stack_urn else request.parent,
            "component": self._components.get(request.parent, ""),
            "provider": request.provider,
        }

    def _record(self, asked: Registration, urn: str, made: outputs.Answer, beside: _Beside | None = None) -> None:
        if asked.transformed:
            self.recording.transformed.append(urn)
        like = beside.recorded if beside is not None else None  # where both views have one, one is kept
        waits = asked.property_dependencies
        one_wait = beside is not None and waits is beside.asked.property_dependencies
        timeouts = asked.custom_timeouts
        about = like.about_inputs if like is not None and like.inputs is made.inputs else AboutInputs(made.inputs)
        recorded = RecordedResource(
            **self._about(asked, urn),
            custom=asked.custom,
            inputs=made.inputs,
            secret_paths=like.secret_paths if like is not None and like.inputs is made.inputs else about.secret_paths,
            dependencies=like.dependencies if like is not None and one_wait else tuple(sorted(asked.dependencies)),
            property_dependencies=like.property_dependencies
            if like is not None and one_wait
            else {key: tuple(sorted(urns)) for key, urns in sorted(waits.items())},
            protect=asked.protect,
            ignore_changes=tuple(asked.ignore_changes),
            replace_on_changes=tuple(asked.replace_on_changes),
            aliases=like.aliases
            if like is not None
            else (*(_alias(item) for item in asked.aliases), *(Alias(urn=urn) for urn in asked.alias_urns)),
            delete_before_replace=asked.delete_before_replace,
            retain_on_delete=asked.retain_on_delete,
            custom_timeouts={key: getattr(timeouts, key) for key in _TIMEOUTS if getattr(timeouts, key)}
            if timeouts is not None
            else {},
            additional_secret_outputs=tuple(asked.additional_secret_outputs),
            id=made.id if asked.custom else None,
            outputs=made.outputs,
            from_check=made.from_check,
        )
        recorded.knows_inputs_by(about)
        self.recording.resources.append(recorded)
        if self._preview is not None:
            self._last = _Beside(asked, recorded, made.checked)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        self._over_the_wire("a resource that is looked up")
        urn = self.urn(request.parent, request.type, request.name)
        given = wire.decode_struct(request.properties)
        if request.type == STACK_REFERENCE:
            known = outputs_of(request.id, self._stacks)
            if known is None:
                self.recording.missing_stacks.append(request.id)
            # Nobody said what the others give: it is unknown then, as what waits for it is. A secret among what is told
            # may be any text, which leaves the rest known.
            told: Any = UNKNOWN
            if known is not None or self.recording.stacks_are_told:
                told = {
                    name: Secret(Content.of(request.id, name)) if bare(value) is UNKNOWN else value
                    for name, value in (known or {}).items()
                }
            secret = [name for name, value in (known or {}).items() if has_secret(value)]
            made: Mapping[str, Any] = {"name": request.id, "outputs": told, "secretOutputNames": secret}
        else:
            provider, cls = self._provider_of(request), self._class_of(request.type)
            found = outputs.answer(request.type, request.name, urn, given, cls, provider, preview=False).outputs
            fields = output_fields(cls) if cls is not None else {}
            # What somebody wrote there: tags, the data of a config map.
            unknown = {key: UNKNOWN for key, field in fields.items() if field.type.kind == "map" and not found.get(key)}
            made = {**found, **unknown}
        self.recording.resources.append(
            RecordedResource(
                **self._about(request, urn), custom=True, inputs=given, id=request.id, outputs=made, read=True
            )
        )
        response = resource_pb2.ReadResourceResponse(urn=urn)
        wire.encode_fields(made, response.properties)
        return response

    def invoke(self, token: str, arguments: Mapping[str, Any], provider: str) -> tuple[Mapping[str, Any], bool]:
        """The answer of a data source, and whether its provider is configured at a preview."""
        asked = resource_pb2.ResourceInvokeRequest(tok=token, provider=provider)
        state, then = self._provider_of(asked), self._preview._provider_of(asked) if self._preview is not None else None
        place = state.place if state is not None else Place()
        return invoke(token, arguments, place), then is None or then.configured

    def Invoke(self, request: Any) -> Any:  # noqa: N802
        then = self._preview._provider_of(request) if self._preview is not None else None
        if self.views is not None and then is not None and not then.configured:
            self.views.doubt("a data source of a provider that a preview does not know")
        response = resource_pb2.ResourceInvokeResponse()
        provider = self._provider_of(request)
        if provider is not None and not provider.configured and self.recording.preview:
            response.unknown = True
            return response
        place = provider.place if provider is not None else Place()
        result = invoke(request.tok, wire.decode_struct(request.args, as_told=True), place)
        wire.encode_fields(result, getattr(response, "return"))
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
        self._over_the_wire("outputs of a component")
        self._take_outputs(request.urn, wire.decode_struct(request.outputs))
        return empty_pb2.Empty()

    def register_outputs(self, urn: str, outputs: Mapping[str, Any], at_preview: Mapping[str, Any]) -> None:
        """Takes down the outputs of a component or of the stack, in plain values."""
        self._take_outputs(urn, outputs)
        if self.views is not None and self._preview is not None:
            self.views.happens("outputs are registered")
            self._preview._take_outputs(urn, at_preview)

    def _take_outputs(self, urn: str, found: Mapping[str, Any]) -> None:
        if urn in self._registered_outputs:
            self.recording.outputs_registered_twice.append(urn)
        self._registered_outputs.add(urn)
        if urn == self._stack_urn:
            self.recording.stack_outputs.update(found)
        else:
            self.recording.component_outputs[urn] = dict(found)
            if found.get(MADE) is UNKNOWN and RENDERING.search(urn):
                self._is_unseen(urn)

    def _is_unseen(self, urn: str) -> None:
        """Notes of a component that has read manifests that their objects are not known."""
        recorded = self.recording.resources
        place = next((place for place in reversed(range(len(recorded))) if recorded[place].urn == urn), None)
        if place is not None:
            unseen = {**recorded[place].outputs, MADE: UNKNOWN}
            recorded[place] = replace(recorded[place], outputs=unseen)

    def ExistsResource(self, request: Any) -> Any:  # noqa: N802, ARG002
        return resource_pb2.ExistsResourceResponse(exists=False)

    def GetDeploymentInfo(self, _: Any) -> Any:  # noqa: N802
        return resource_pb2.DeploymentInfo(
            supportedFeatures=[getattr(resource_pb2, f"RESOURCE_MONITOR_FEATURE_{name}") for name in _FEATURES]
        )

    def RegisterPackage(self, request: Any) -> Any:  # noqa: N802
        return resource_pb2.RegisterPackageResponse(ref=f"{request.name}@{request.version}")

    def _nothing(self, _: Any) -> Any:
        return empty_pb2.Empty()

    RegisterStackTransform = _nothing
    RegisterStackInvokeTransform = _nothing
    RegisterResourceHook = _nothing
    RegisterErrorHook = _nothing
    SignalAndWaitForShutdown = _nothing


def _alias(proto: Any) -> Alias:
    if proto.WhichOneof("alias") == "urn":
        return Alias(urn=proto.urn)
    spec = proto.spec
    return Alias(
        name=spec.name,
        type=spec.type,
        stack=spec.stack,
        project=spec.project,
        parent_urn=spec.parentUrn,
        no_parent=spec.noParent,
    )


def _write_outputs(into: Any, given: Any, inputs: Mapping[str, Any], made: Mapping[str, Any]) -> None:
    """Writes the outputs, taking over what is as the program gave it in its wire form."""
    given_fields, fields = given.fields, into.fields
    for key, value in made.items():
        if key in given_fields and inputs[key] is value:
            fields[key].CopyFrom(given_fields[key])
        else:
            wire.encode(value, fields[key])


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a program is run as."""

    project: str = "trainyard"
    stack: str = "test"
    organization: str = "organization"
    root_directory: str = "."
    config: Mapping[str, str] = field(default_factory=dict)  # full keys: "trainyard:region"
    secret_keys: Sequence[str] = ()
    stack_outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of other stacks, by name
    only_these_stacks: bool = False  # whether there are no other stacks


def record(
    program: Callable[[], object],
    *,
    preview: bool,
    deployment: Deployment | None = None,
    timeout_seconds: float = 120.0,
) -> Recording:
    """Runs `program` as a stack. Whatever it raises is kept in `Recording.error`; a hang in `Recording.hang`.

    `preview` True: as the first preview of the stack, with nothing known of what is to be made.
    """
    deployment = deployment or Deployment()
    recording = Recording(preview=preview)
    _run(program, _Monitor(recording, deployment), deployment, preview, timeout_seconds)
    return recording


def record_both(
    program: Callable[[], object],
    *,
    deployment: Deployment | None = None,
    timeout_seconds: float = 120.0,
) -> tuple[Recording | None, Recording | None]:
    """Runs `program` once with everything known: what that run records, and what a first preview would.

    None where a run of its own has to tell (`two_views`): of the preview, or of both; and of what is known where the
    program hangs for both.
    """
    deployment = deployment or Deployment()
    known, preview = Recording(preview=False), Recording(preview=True)
    preview.classes = known.classes  # by type: what the one has found serves the other
    monitor = _Monitor(known, deployment, _Monitor(preview, deployment))
    views = monitor.views
    assert views is not None
    stuck = _run(program, monitor, deployment, DryRun(views), timeout_seconds)
    if stuck is not None and not views.reason and not _in_an_apply(stuck):
        preview.hang = known.hang  # in the program itself, which both runs go through alike
        return None, preview
    if known.error is not None or known.hang is not None or views.reason:
        # An error may be of what was called for the preview alone.
        return None if views.spoiled or (known.error is not None and views.tried) else known, None
    preview.classes = dict(known.classes)
    preview.wrong_providers = list(known.wrong_providers)
    preview.constructed = list(known.constructed)
    preview.messages = list(known.messages)
    return known, preview


def _run(
    program: Callable[[], object],
    monitor: _Monitor,
    deployment: Deployment,
    dry_run: bool | DryRun,
    timeout_seconds: float,
) -> types.FrameType | None:
    """Runs `program`; the frame that it is at, where it never ends."""
    recording = monitor.recording
    asked: Any = dry_run

    async def run() -> None:
        called = [f"{prefix}:{key}" for prefix in (_NAMESPACE, deployment.project) for key in _CALLED_BY]
        addresses_are_without([*(deployment.config.get(key, "") for key in called), deployment.stack])
        set_all_config(dict(deployment.config), list(deployment.secret_keys))
        configure(
            Settings(
                project=deployment.project,
                stack=deployment.stack,
                monitor=monitor,
                engine=_Engine(recording, monitor.views),
                dry_run=asked,
                organization=deployment.organization,
                root_directory=deployment.root_directory,
            )
        )

        def call() -> Awaitable[None]:
            register_stack_transformation(_watch(recording, monitor.views))
            try:
                program()
            except SystemExit as error:  # would end the event loop before it has finished what is under way
                raise ProgramExitError(error.code) from error
            return settled()

        await asyncio.wait_for(run_in_stack(call), timeout_seconds)

    context = contextvars.copy_context()
    frames: dict[str, int] = {}

    def thread() -> None:
        frames["ident"] = threading.get_ident()
        try:
            with asyncio.Runner(loop_factory=InlineLoop) as runner:
                runner.run(run())
        except TimeoutError as error:
            if error.__traceback__ is not None and recording.hang is None:
                recording.hang = "nothing more happens: something awaits a value that never comes"
        except BaseException as error:
            recording.error = error

    worker = threading.Thread(target=context.run, args=(thread,), name="rehearsal", daemon=True)
    with output_strings_raise(), light_sdk(), rare_collections(), contents_may_be_anything():
        worker.start()
        worker.join(timeout_seconds + 1)
    if worker.is_alive():
        stuck = sys._current_frames().get(frames.get("ident", 0))
        recording.hang = _where(stuck)
        return stuck
    return None


def _in_an_apply(frame: types.FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == light_outputs.__name__:
            return True
        frame = frame.f_back
    return False


_to_forget: ContextVar[list[pulumi.Resource] | None] = ContextVar("_to_forget", default=None)


@contextmanager
def resources_forgotten() -> Iterator[None]:
    """Empties the program's own resource objects at the end of the block: nobody has them then but each other.

    A resource and its outputs hold each other, and that is most of what a garbage collector finds after a run: it takes
    a tenth of a second for what is freed in a hundredth when they let go (measured on 577 resources, 2026-11).
    """
    made: list[pulumi.Resource] = []
    token = _to_forget.set(made)
    try:
        yield
    finally:
        _to_forget.reset(token)
        for resource in made:
            vars(resource).clear()


def _watch(recording: Recording, views: Views | None) -> Callable[[pulumi.ResourceTransformationArgs], None]:
    """Looks at every resource as it is constructed: its class, and the providers it was handed."""

    paths: dict[pulumi.Resource, str] = {}
    made = _to_forget.get()
    root = get_root_resource()
    if made is not None and root is not None:
        made.append(root)  # its transformation is this one, which holds the recording

    def look(arguments: pulumi.ResourceTransformationArgs) -> None:
        if made is not None:
            made.append(arguments.resource)
        if views is not None:
            views.happens("a resource is made")
        type_, name, options = arguments.type_, arguments.name, arguments.opts
        around = paths.get(options.parent, "") if options.parent is not None else ""
        recording.constructed.append(Constructed(type_, name, around, *_made_at()))
        if isinstance(arguments.resource, pulumi.ComponentResource):
            paths[arguments.resource] = f"{around}/{name}" if around else name
            if RENDERING.match(f":{type_}::"):
                reads_no_address(type_)
                if recording.preview:
                    finds_nothing_yet(arguments.resource, functools.partial(_asked_too_early, recording, type_, name))
        recording.classes.setdefault(type_, type(arguments.resource))
        if isinstance(options.providers, Mapping):
            for key, provider in options.providers.items():
                if provider.package != key:
                    recording.wrong_providers.append(WrongProvider(type_, name, provider.package, key))
        custom = isinstance(arguments.resource, pulumi.CustomResource)
        if custom and options.provider is not None and options.provider.package != type_.split(":", 1)[0]:
            recording.wrong_providers.append(WrongProvider(type_, name, options.provider.package))

    return look


def _asked_too_early(recording: Recording, type_: str, name: str, what: str) -> None:
    recording.asked_too_early.append((type_, name, what))


def _made_at() -> tuple[str, int]:
    """File and line of the innermost code under way that is neither the SDK's nor ours."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).split(".", 1)[0]
        if not package.startswith("pulumi"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


def _where(frame: types.FrameType | None) -> str:
    """The innermost line of the program itself in a stack of frames."""
    if frame is None:
        return "the program"
    lines = [
        f"{entry.filename}:{entry.lineno} in {entry.name}: {entry.line}"
        for entry in traceback.extract_stack(frame)
        if "site-packages" not in entry.filename and "/lib/python" not in entry.filename
    ]
    return lines[-1] if lines else "the program"
