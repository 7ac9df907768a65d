"""Lifecycle scripts of editors: for the editor that names them, short enough, and such that a shell runs them.

Source: SageMaker AI API reference, CreateStudioLifecycleConfig (at most 16,384 characters of base64) and UserSettings
(each editor takes scripts of its own app type); SageMaker AI Developer Guide, "Lifecycle configurations with
JupyterLab" (they run as `sagemaker-user`, whose home is /home/sagemaker-user; one that fails lets no editor start);
Jupyter Server 2 (`MappingKernelManager`, `TerminalManager`), 2026-11.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trainyard.problems import nearest
from trainyard.rehearsal.context import Stack, View, show
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN, SCRIPT, USER_PROFILE

_CONTENT: Final = "studioLifecycleConfigContent"
_MOST: Final = 16_384
_KINDS: Final = {
    "jupyterLabAppSettings": "JupyterLab",
    "codeEditorAppSettings": "CodeEditor",
    "jupyterServerAppSettings": "JupyterServer",
    "kernelGatewayAppSettings": "KernelGateway",
}
"""The app type of the scripts that each part of the settings takes."""
_SETTINGS: Final = ((DOMAIN, "defaultUserSettings"), (DOMAIN, "defaultSpaceSettings"), (USER_PROFILE, "userSettings"))
_OF_A_PERSON: Final = ("JupyterLab", "CodeEditor")
_CLOSED: Final = r"/(?:root|etc|usr|home/ec2-user|var/lib|var/log|bin)\b[^\s\"';)]*"
"""Where a person's own user may not write, or there is nothing: a notebook instance has the home of ec2-user."""
_WRITTEN: Final = re.compile(rf"[\"']?(?P<path>{_CLOSED})")
_SENT: Final = re.compile(rf">>?\s*[\"']?(?P<path>{_CLOSED})")
_WRITE_EACH, _WRITE_LAST = ("tee", "mkdir", "touch", "rm", "chmod", "chown"), ("cp", "mv")
"""Commands that write to all that they name, and to the last that they name."""
_OPENERS: Final = ("{", "(", "then", "else", "do")
_APART: Final = re.compile(r"(\|\||&&|[;&|\n])")
_ARITHMETIC: Final = re.compile(r"\(\(.*?\)\)")
_HEREDOC: Final = re.compile(r"^(?P<line>.*?)<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)(?P<rest>.*)$")
_PAIRS: Final = (("if", "fi"), ("do", "done"), ("case", "esac"))
_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "MappingKernelManager": (
        "allow_tracebacks", "allowed_message_types", "buffer_offline_messages", "cull_busy", "cull_connected",
        "cull_idle_timeout", "cull_interval", "default_kernel_name", "kernel_info_timeout", "kernel_manager_class",
        "root_dir", "shared_context", "traceback_replacement_message", "use_pending_kernels",
    ),
    "TerminalManager": ("cull_inactive_timeout", "cull_interval"),
}  # fmt: skip
_ALIKE: Final = (
    "AsyncKernelManager", "AsyncMappingKernelManager", "AsyncMultiKernelManager", "GatewayKernelManager",
    "GatewayMappingKernelManager", "KernelManager", "MultiKernelManager",
)  # fmt: skip
"""Other parts of the server, which are called nearly so."""


def check(stack: Stack) -> None:
    """Every script, and everybody who names one."""
    kinds = {str(view.resource.outputs.get("arn") or view.resource.id): view for view in stack.of_type(SCRIPT)}
    for view in kinds.values():
        _script(view)
    for type_, settings in _SETTINGS:
        for view in stack.of_type(type_):
            for part, kind in _KINDS.items():
                _named(view, f"{settings}.{part}", kind, kinds)


def _named(view: View, at: str, kind: str, kinds: Mapping[str, View]) -> None:
    paths = [f"{at}.lifecycleConfigArns[{index}]" for index in range(len(view.entries(f"{at}.lifecycleConfigArns")))]
    for path in (*paths, f"{at}.defaultResourceSpec.lifecycleConfigArn"):
        script = kinds.get(view.text(path) or "")
        other = script.text("studioLifecycleConfigAppType") if script is not None else None
        if script is not None and other is not None and other != kind:
            message = f"script {script.name} is for {other}, and this is what {kind} starts with: it is refused"
            view.error("managed-script-of-another-app", path, message, allowed=f"a script for {kind}")


def _script(view: View) -> None:
    content = view.text(_CONTENT)
    if content is None:
        return
    if len(content) > _MOST:
        view.error("managed-script-too-long", _CONTENT, f"{len(content):,} characters", allowed=f"at most {_MOST:,}")
    try:
        text = base64.b64decode(content, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return  # told by `editors`
    if "\r" in text:
        message = "its lines end as on Windows: the shell looks for an interpreter with a carriage return in its name"
        view.error("managed-script-broken", _CONTENT, message, allowed="lines that end with \\n alone")
        return
    if not re.match(r"#!\s*\S*(?:sh|env\s+(?:ba)?sh)\b", text):
        return
    for line, end in _unended(text):
        view.error("managed-script-broken", _CONTENT, f"line {line}: {end}")
    if view.text("studioLifecycleConfigAppType") in _OF_A_PERSON:
        for path in _closed(_commands(text)):
            message = f"writes to {path}, which sagemaker-user may not: the script fails, and no editor starts"
            view.error("managed-script-broken", _CONTENT, message, allowed='below "$HOME"')
    for name, body in _documents(text):
        _document(view, name, body)


def _closed(shell: str) -> Iterator[str]:
    """Places that a command writes to and may not: one that may fail, or is asked whether it does, writes to none."""
    before = ""
    parts = _APART.split(shell)
    for part, after in zip(parts[::2], [*parts[1::2], ""], strict=True):
        words = part.split()
        while words and words[0] in _OPENERS:
            del words[0]
        if words and "sudo" not in words and "||" not in (before, after) and before != "&&":
            command = words[0].rpartition("/")[2]
            named = words[1:] if command in _WRITE_EACH else words[-1:] if command in _WRITE_LAST else []
            yield from (found["path"] for word in named if (found := _WRITTEN.match(word)))
            for found in _SENT.finditer(part):
                if not part[: found.start()].count('"') % 2 and not part[: found.start()].count("'") % 2:
                    yield found["path"]
        before = after


def _lines(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Each line with its number, and with the word that ends the document that it is in; None for a command."""
    end: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if end is not None:
            inside = end
            if line.lstrip("\t") == end:
                end = None
            yield number, line, inside
            continue
        yield number, line, None
        found = _HEREDOC.match(_ARITHMETIC.sub("", _uncommented(line)))
        end = found["end"] if found and "<<<" not in line else None
    if end is not None:
        yield -1, end, end


def _commands(text: str) -> str:
    """What the shell itself reads: no documents, and no comments."""
    return _uncommented("\n".join(line for number, line, end in _lines(text) if end is None and number > 0))


def _uncommented(shell: str) -> str:
    """A shell's text without its comments; a `#` in quotes or within a word begins none."""
    kept, quote, place = list[str](), "", 0
    while place < len(shell):
        letter = shell[place]
        if letter == "\\" and quote != "'":
            kept.append(shell[place : place + 2])
            place += 2
            continue
        if letter == "#" and not quote and (not kept or kept[-1] in " \t\n;&|()"):
            place = shell.find("\n", place)
            if place < 0:
                break
            continue
        if letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        kept.append(letter)
        place += 1
    return "".join(kept)


def _unended(text: str) -> Iterator[tuple[int, str]]:
    for number, line, _ in _lines(text):
        if number == -1:
            yield text.count("\n") + 1, f"a document is not ended by {line}"
    shell = _commands(text)
    plain = re.sub(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", "''", shell, flags=re.DOTALL)
    if re.search(r"(?<!\$)['\"]", plain.replace("''", "")):
        yield shell.count("\n") + 1, "a quotation mark is not closed"
        return
    for begins, ends in _PAIRS:
        first, last = (
            len(re.findall(rf"(?:^|[;&|()!]|(?<!\$)\{{|\b(?:then|else|do)\b)\s*{word}\b", plain, re.MULTILINE))
            for word in (begins, ends)
        )
        if first != last:
            yield shell.count("\n") + 1, f"{first} times {begins}, and {last} times {ends}"


def _documents(text: str) -> Iterator[tuple[str, str]]:
    """Files that the script writes, with their text."""
    name, body, variable = "", list[str](), False
    for _, line, end in _lines(text):
        if end is None:
            found = _HEREDOC.match(line)
            target = re.search(r">\s*(\S+)", line) if found else None
            name, body = (target[1].strip("\"'") if target else ""), []
            variable = bool(found and not found["quote"])
        elif line.lstrip("\t") == end:
            if name and not (variable and "$" in "\n".join(body)):
                yield name, "\n".join(body)
        else:
            body.append(line)


def _document(view: View, name: str, body: str) -> None:
    if not name.endswith(".json"):
        return
    try:
        held = json.loads(body)
    except ValueError as error:
        message = f"writes {name.rpartition('/')[2]}, which is no JSON: {error}; the server does not read it"
        view.error("managed-script-broken", _CONTENT, message, allowed="JSON")
        return
    for key, known in _KNOWN.items():
        part = held.get(key) if isinstance(held, dict) else None
        for word in part if isinstance(part, dict) else ():
            near = nearest(word, known) if word not in known else ""
            if near:
                view.error("managed-script-broken", _CONTENT, f"{key} has no {show(word)}", hint=near)
    for key in held if isinstance(held, dict) else ():
        near = nearest(str(key), list(_KNOWN)) if key not in (*_KNOWN, *_ALIKE) else ""
        if near:
            view.error("managed-script-broken", _CONTENT, f"the server has no part {show(key)}", hint=near)
