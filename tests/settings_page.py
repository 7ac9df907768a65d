"""Writes docs/settings.md from the settings: every key with its type, what decides where it is left out, an example.

`make golden` writes it; `tests/test_golden.py` holds it equal. It reads the JSON schema, as an editor does, and says
where each default comes from besides.
"""

import json

from trainyard.cli.schema import schema_document
from trainyard.plan.defaults import TYPICAL, defaults, in_words
from trainyard.settings.read import MOVED

HEAD = """\
# Settings

Every key that a stack file may hold, written from the settings themselves by `make golden`. `trainyard schema` prints
the same for an editor, `docs/trainyard.schema.json`: a stack file that begins with
`# yaml-language-server: $schema=../docs/trainyard.schema.json` is completed and checked while it is written.

Only `client`, `cloud`, `region` and one of `teamSize`, `teams` and `profile` must be there. What is left out, the
team-size profile decides (`trainyard/plan/profiles/`, with a source for each number). The tables say what it comes to
for {people}, in us-east-1; `trainyard explain STACK` says it for a stack of yours.

In the file each key of the first level is written with the namespace, `trainyard:teamSize: 12`, and a key like
`storage.lustre.zone` stands in the mapping `trainyard:storage`. `<name>` is a name that you give, `[]` each entry of a
list. What only identifies somebody or something (`alertEmails`, `apiAccess.cidrs`, `aws.accountId`, principals, ids of
reservations, `mlflow.image`, `smoke.image`, who accepts a violation and why) may be encrypted: `{{ secure: ... }}`, as
`pulumi config set --secret` writes it. It stays a secret in the state; a rehearsal, which cannot decrypt it, puts a
text of its form in its place and says so. What decides what is made, or stands in names and tags, must be in the clear.

Keys of other namespaces (`aws:`, `pulumi:`) are other packages' and pass; an unknown key of this one is refused, and so
is one under a namespace that is nearly this one (`trainyrd:residency`). A stack file is read as the Pulumi engine reads
it: `no` and `on` are texts, and a number that begins with 0, which it reads by eight, is refused. It has at most 2 MB,
200,000 values and 32 levels.
"""

MOVED_HEAD = """\
## Keys that have moved

The old place is still understood, with a warning. A key that stands at both is refused.

| old place | new place |
| --- | --- |
"""


def settings_page():
    schema = schema_document()
    properties = schema["properties"]["config"]["properties"]
    decided = defaults()
    required = [name.partition(":")[2] for name in schema["properties"]["config"]["required"]]
    scalars, blocks = [], []
    for name, node in properties.items():
        if not node.get("deprecated"):
            key = name.partition(":")[2]
            rows = list(_rows(schema, key, key, node, key in required, decided))
            if len(rows) > 1:
                blocks += ["", f"## `{key}`", "", node["description"], "", *_table(rows[1:])]
            else:
                scalars += rows
    people = " and for ".join(f"{count} people (`{name}`)" for name, count in TYPICAL.items())
    moved = [f"| `{old}` | `{new}` |" for old, new in MOVED.items()]
    page = [HEAD.format(people=people), "## Who, where, how many and how much", "", *_table(scalars), *blocks]
    return "\n".join([*page, "", MOVED_HEAD.rstrip("\n"), *moved]) + "\n"


def _table(rows):
    return ["| key | type | left out | what it is | example |", "| --- | --- | --- | --- | --- |", *rows]


def _rows(schema, key, path, node, required, decided):
    """The row of a setting, and those of the settings within it."""
    value = _value(schema, node)
    left_out = "must be there" if required else _left_out(path, node, decided)
    about = node.get("description", "").partition(" By default: ")[0]
    example = f"`{json.dumps(node['examples'][0], ensure_ascii=False)}`" if "examples" in node else ""
    yield "| " + " | ".join(_cell(text) for text in (f"`{key}`", _type(schema, value), left_out, about, example)) + " |"
    if value.get("type") == "array":
        inner = _value(schema, value["items"])
        yield from _inner(schema, f"{key}[]", f"{path}.*", inner, decided)
    for named in value.get("patternProperties", {}).values():
        yield from _inner(schema, f"{key}.<name>", f"{path}.*", _value(schema, named), decided)
    yield from _inner(schema, key, path, value, decided)


def _inner(schema, key, path, value, decided):
    for name, child in value.get("properties", {}).items():
        if not child.get("deprecated"):
            required = name in value.get("required", ())
            yield from _rows(schema, f"{key}.{name}", f"{path}.{name}", child, required, decided)


def _value(schema, node):
    """The schema of a value in the clear, references followed."""
    if "anyOf" in node:
        return _value(schema, node["anyOf"][0])
    return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def _left_out(path, node, decided):
    if path in decided:
        entries = decided[path]
        source = entries[0].source
        if source.startswith("profile "):
            return f"`{in_words(entries)}`; profile, {source.partition(', ')[2].partition(':')[0]}"
        return f"`{in_words(entries)}`; {source}"
    return f"`{json.dumps(node['default'])}`" if "default" in node else ""


def _type(schema, value):
    if "enum" in value and "boolean" not in value["type"]:
        return "one of " + ", ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    types = value.get("type", "object")
    if types == "array":
        return f"list: {_type(schema, _value(schema, value['items']))}"
    if types == "object":
        return "mapping"
    word = next(
        word
        for kind, word in {
            "boolean": "true or false",
            "integer": "whole number",
            "number": "number",
            "string": "text",
        }.items()
        if kind in types and not (kind == "number" and types[0] == "string")
    )
    limits = [
        f"{text} {value[limit]:g}"
        for limit, text in {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}.items()
        if limit in value
    ]
    if value.get("format") == "date":
        word = "date"
    return " ".join([word, *limits]) + (f", {value['patternErrorMessage']}" if "patternErrorMessage" in value else "")


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ")
