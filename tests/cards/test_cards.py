"""A card states what it must, agrees with the SDK, and is the only place where its facts stand."""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import re
from pathlib import Path

import pytest
from pulumi import _types

from tests.conftest import EXAMPLES
from tests.shared import ROOT
from trainyard import cards
from trainyard.cards.card import AutomaticName, Card, Free
from trainyard.cards.load import entries
from trainyard.cost.rules import free_reason, rule_of
from trainyard.policies.data import STATEFUL
from trainyard.policies.money_tags import COSTED
from trainyard.policies.security_encryption import KEY_PROPERTY
from trainyard.recorded.model import leaves
from trainyard.rehearsal.engine.synthesised import Place, Subject, arn, identity, special

TOKEN = re.compile(r"(aws|gcp|kubernetes|random|tls|pulumi):[\w.-]+(/[\w.-]+)?:\w+")

OTHER_TABLES = {
    "trainyard/rehearsal/works/references/aws/identities.py": "what two may not have alike, beyond a card's id",
    "trainyard/rehearsal/works/references/gcp/identities.py": "what two may not have alike, beyond a card's id",
    "trainyard/rehearsal/refusals/aws/generate.py": "by which call of Amazon's models a type is made",
    "trainyard/rehearsal/refusals/gcp/generate.py": "which service of Google's documents describes a type",
    "trainyard/rehearsal/refusals/gcp/generate_provider.py": "where the provider's source describes a type",
    "trainyard/rehearsal/refusals/gcp/forms.py": "which input names a region or zone, and what is wider than one",
    "trainyard/rehearsal/refusals/gcp/names.py": "patterns of names, whose rule is the service's and no type's",
    "trainyard/rehearsal/engine/invokes.py": "functions, not resources",
    "trainyard/rehearsal/engine/rules.py": "components whose objects nobody registers, and what these are",
    "trainyard/rehearsal/engine/looked_up.py": "functions, and ids of what is looked up and no card is of",
    "trainyard/rehearsal/refusals/aws/formats.py": "single values that Amazon's models leave open",
    "trainyard/rehearsal/works/rights/aws/needs/functions.py": "where a caller names a function, and as whom it calls",
}
"""Modules that may have a table by resource type, with what is in it: none of what a card says."""


def recorded_types() -> set[str]:
    """The types of resources, not of components, that the example stacks make."""
    found: set[str] = set()
    for stack in EXAMPLES:
        golden = json.loads((ROOT / "tests" / "golden" / f"{stack}.rehearsal.json").read_text())
        found |= {resource["type"] for resource in golden["resources"]}
    return {type_ for type_ in found if not type_.startswith("trainyard:")}


def clouds() -> list[Card]:
    return [card for card in cards.BY_TYPE.values() if card.type.startswith("aws:")]


def inputs(type_: str) -> set[str]:
    """The SDK's inputs of an AWS type."""
    _, module, name = type_.split(":")
    folder = {"lambda": "lambda_"}.get(module.split("/")[0], module.split("/")[0])
    package = importlib.import_module(f"pulumi_aws.{folder}")
    return set(_types.input_type_types(getattr(package, f"{name}InitArgs", None) or getattr(package, f"{name}Args")))


def test_every_type_of_a_cloud_that_the_examples_make_has_a_card_of_its_own_with_a_price() -> None:
    types = {type_ for type_ in recorded_types() if type_.startswith(("aws:", "gcp:"))}
    assert len(types) > 40
    assert sorted(types - set(cards.BY_TYPE)) == []
    assert sorted(type_ for type_ in types if cards.of(type_).price is None) == []


def test_every_other_type_of_the_examples_is_on_the_card_of_its_package() -> None:
    assert [type_ for type_ in recorded_types() if cards.of(type_).type == "*"] == []


def test_a_type_without_a_card_gets_the_one_of_the_longest_beginning() -> None:
    assert cards.of("aws:s3/inventory:Inventory").type == "aws:s3/*"
    assert cards.of("kubernetes:core/v1:Endpoints").type == "kubernetes:*"
    assert cards.of("pulumi:providers:aws").type == "pulumi:providers:*"
    assert cards.of("acme:index:Rocket").type == "*"


def test_no_type_has_two_cards() -> None:
    every = [type_ for file in Path(cards.__file__).parent.rglob("*.yaml") for type_ in entries(file)]
    assert len(every) == len(set(every))


def test_every_time_has_a_source() -> None:
    for card in cards.BY_TYPE.values():
        for time in (card.seconds, card.seconds_in_smoke_job):
            assert time is None or (time.value > 0 and time.source), card.type


@pytest.mark.parametrize("card", clouds(), ids=lambda card: card.type)
def test_a_card_agrees_with_the_sdk(card: Card) -> None:
    known = inputs(card.type)
    assert card.taggable == ("tags" in known)
    named = {card.key_input, *card.outputs_with} - {""}
    if card.automatic_name is not None:
        named.add(card.automatic_name.input)
    assert sorted(named - known) == []


def test_every_rule_of_a_card_is_one_and_what_is_free_says_why() -> None:
    for type_, card in cards.BY_TYPE.items():
        assert (rule_of(type_) is not None) == isinstance(card.price, str)
        assert (free_reason(type_) is not None) == isinstance(card.price, Free)


@pytest.mark.parametrize("card", cards.BY_TYPE.values(), ids=lambda card: card.type)
def test_every_text_of_a_card_can_be_filled_in(card: Card) -> None:
    """An unknown field would raise; what is left over would hold a brace."""
    given = {"clusterName": "one", "url": "https://issuer", "topic": "arn:aws:sns:us-east-1:1:topic", "port": 5432}
    subject = Subject(card.type, "logical", {**given, **dict.fromkeys(card.outputs_with, True)}, Place())
    ident = identity(subject)
    outputs = special(subject, ident)
    texts = [value for _, value, _ in leaves(outputs) if isinstance(value, str)]
    assert ident and not any("{" in text for text in (ident, arn(subject, ident), *texts))
    assert set(outputs) == {*card.outputs, *(key for more in card.outputs_with.values() for key in more)}


def test_outputs_that_come_with_an_input_stay_away_without_it() -> None:
    def outputs(**given: object) -> set[str]:
        subject = Subject("aws:rds/instance:Instance", "db", given, Place())
        return set(special(subject, identity(subject)))

    assert outputs(manageMasterUserPassword=True) - outputs() == {"masterUserSecrets"}
    assert outputs(manageMasterUserPassword=False) == outputs()


def test_what_an_api_server_refuses_to_change_makes_a_new_object() -> None:
    """Every object of the examples whose card names such inputs asks for its replacement."""
    found: set[str] = set()
    for stack in EXAMPLES:
        golden = json.loads((ROOT / "tests" / "golden" / f"{stack}.rehearsal.json").read_text())
        for resource in golden["resources"]:
            unchangeable = cards.of(resource["type"]).unchangeable
            assert list(unchangeable) == resource.get("replaceOnChanges", [])[: len(unchangeable)], resource["name"]
            found |= {resource["type"]} if unchangeable else set()
    assert found == {card.type for card in cards.BY_TYPE.values() if card.unchangeable}


def test_the_pattern_of_an_automatic_name_is_one() -> None:
    names = [card.automatic_name for card in cards.BY_TYPE.values() if isinstance(card.automatic_name, AutomaticName)]
    assert len(names) > 10
    for name in names:
        assert re.compile(name.pattern) and name.longest > 8


def test_the_policies_lists_are_those_of_the_cards() -> None:
    assert {"aws:s3/bucket:Bucket", "aws:kms/key:Key", "gcp:sql/databaseInstance:DatabaseInstance"} <= set(STATEFUL)
    assert {"aws:eks/nodeGroup:NodeGroup", "aws:ec2/natGateway:NatGateway", "aws:s3/bucket:Bucket"} <= set(COSTED)
    assert not {"aws:iam/role:Role", "aws:ec2/route:Route"} & {*COSTED, *STATEFUL}
    assert KEY_PROPERTY["aws:sns/topic:Topic"] == "kmsMasterKeyId"


def tables_by_type(path: Path) -> list[int]:
    """The lines of a module at which a table begins whose keys are resource types, written out or by constants."""
    tree = ast.parse(path.read_text())
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and is_token(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        and any(is_token(key) or (isinstance(key, ast.Name) and key.id in names) for key in node.keys)
    ]


def is_token(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and TOKEN.fullmatch(node.value) is not None


def test_no_table_of_resource_types_stands_anywhere_else() -> None:
    rooms = [ROOT / "trainyard", *(ROOT / room for room in ("components", "policies", "smoke_jobs", "stacks"))]
    found = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in room.rglob("*.py")
        if not path.is_relative_to(ROOT / "trainyard" / "cards") and tables_by_type(path)
    }
    assert found == set(OTHER_TABLES)


def test_a_table_of_resource_types_is_found_however_it_is_written(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('KEY = "aws:kms/key:Key"\nONE = {KEY: 1}\nTWO = {"aws:ec2/vpc:Vpc": 2}\nTHREE = {"vpc": 3}\n')
    assert tables_by_type(module) == [2, 3]


def test_every_type_that_a_stack_makes_on_aws_or_a_cluster_says_what_replaces_it() -> None:
    known = {card.type for card in cards.BY_TYPE.values() if card.type.startswith("aws:")} | set(recorded_types())
    types = {type_ for type_ in known if type_.startswith(("aws:", "kubernetes:", "random:", "tls:"))}
    assert len(types) > 100
    assert sorted(type_ for type_ in types if cards.of(type_).replaced_by is None) == []


def test_every_type_that_holds_data_says_what_replaces_it() -> None:
    told = "take `replaced_by` from the provider's schema: each input that it marks as forcing a new resource"
    assert [card.type for card in cards.BY_TYPE.values() if card.stateful and card.replaced_by is None] == [], told


def test_what_replaces_a_resource_is_an_input_of_it() -> None:
    """Of the types that the examples make: a word that no argument has would never be found changed."""
    wrong = {}
    for type_ in recorded_types():
        first = {path.split(".")[0] for path in (*(cards.of(type_).replaced_by or ()), *cards.of(type_).unordered)}
        if type_.startswith("aws:") and first - inputs(type_):
            wrong[type_] = first - inputs(type_)
    assert wrong == {}


def nested(type_: str, path: str) -> bool:
    """Whether the SDK has an input at a path: the types of its parts are called after it, of lists by one of them."""
    package, module, name = type_.split(":")
    folder = {"lambda": "lambda_"}.get(module.split("/")[0], module.split("/")[0])
    known = importlib.import_module(f"pulumi_{package}.{folder}._inputs")
    parts, types = path.split("."), [name]
    for part, inner in itertools.pairwise(parts):
        word = part[0].upper() + part[1:]
        singular = re.sub(r"(?:ies|ses|s)$", lambda found: {"ies": "y", "ses": "s", "s": ""}[found[0]], word)
        types = [
            f"{each}{spelt}" for each in types for spelt in dict.fromkeys((word, singular, word.removesuffix("s")))
        ]
        types = [each for each in types if hasattr(known, f"{each}Args")]
        if not any(inner in _types.input_type_types(getattr(known, f"{each}Args")) for each in types):
            return False
    return True


def test_what_lies_deeper_is_an_input_too() -> None:
    """`guestAccelerator` for `guestAccelerators` would let a change of GPUs pass for one in place."""
    wrong = []
    for card in cards.BY_TYPE.values():
        if card.type.startswith(("aws:", "gcp:")):
            wrong += [
                f"{card.type} {path}"
                for path in (*(card.replaced_by or ()), *card.unordered)
                if "." in path and not nested(card.type, path)
            ]
    assert wrong == []
