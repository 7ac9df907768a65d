"""Encrypted settings: each gets a text of its form where nothing can decrypt; what must be in the clear is told."""

import json

import pytest

from tests.plan.stack_files import BASE, STACK, bought, configuration, gpu_pool
from trainyard.plan.resolve import resolve_all
from trainyard.problems import Problem, SettingsError
from trainyard.settings.mistakes import annotation_at, fields_of, metadata_of, models_in
from trainyard.settings.read import read_settings
from trainyard.settings.types import StandIn
from trainyard.settings.unseen import secret_texts, stand_in, without_values

MAY_BE_ENCRYPTED = {
    "teams[].principals[]",
    "gpuPools.*.reserved.reservationId",
    "gcp.tpuPools.*.image",
    "gcp.tpuPools.*.reserved.reservationId",
    "alertEmails[]",
    "smoke.image",
    "mlflow.image",
    "policyExceptions[].reason",
    "policyExceptions[].owner",
    "audit.trail.reason",
    "audit.threatDetection.reason",
    "audit.breakGlass.principals[]",
    "apiAccess.cidrs[]",
    "apiAccess.securityGroups[]",
    "storage.ingestPrincipals[]",
    "aws.accountId",
    "aws.adminPrincipals[]",
    "aws.assumeRole",
    "aws.permissionsBoundary",
    "aws.deployers[]",
    "aws.organizationId",
    "gcp.apiNetworks.*",
    "gcp.bucketNetworks.*",
    "gcp.project",
    "gcp.projectNumber",
    "gcp.billingAccount",
}
PLACES = [
    ("teams", 0, "principals", 1),
    ("gpuPools", "train", "reserved", "reservationId"),
    ("alertEmails", 0),
    ("smoke", "image"),
    ("policyExceptions", 0, "reason"),
    ("policyExceptions", 0, "owner"),
    ("audit", "trail", "reason"),
    ("audit", "threatDetection", "reason"),
    ("audit", "breakGlass", "principals", 0),
    ("apiAccess", "cidrs", 3),
    ("endpointAccess", 3),
    ("aws", "accountId"),
    ("aws", "organizationId"),
    ("gcp", "project"),
    ("gcp", "projectNumber"),
    ("gcp", "billingAccount"),
    ("awsAccountId",),
    ("aws", "adminPrincipals", 0),
    ("adminPrincipals", 0),
]


def places(path=()):
    """Every place of the settings, with 0 for an index and `train` for a name."""
    keys = [key for model in models_in(annotation_at(path)) for key in fields_of(model)]
    of_mapping = annotation_at((*path, "train")) is not None
    for step in ("train",) if of_mapping else (0, *keys):
        if annotation_at((*path, step)) is not None:
            yield (*path, step)
            yield from places((*path, step))


def spelt(path):
    return "".join("[]" if step == 0 else ".*" if step == "train" else f".{step}" for step in path).lstrip(".")


def test_what_may_be_encrypted_is_what_is_listed_here():
    marked = {spelt(path) for path in places() if metadata_of(annotation_at(path), StandIn) is not None}
    assert marked == MAY_BE_ENCRYPTED


@pytest.mark.parametrize("path", PLACES, ids=str)
def test_a_stand_in_is_different_for_every_number(path):
    texts = {stand_in((f"trainyard:{path[0]}", *path[1:]), number) for number in range(1, 100)}
    assert len(texts) == 99
    assert all(isinstance(text, str) for text in texts)


def test_stand_ins_of_every_kind_plan():
    def text(*path):
        number[0] += 1
        return stand_in((f"trainyard:{path[0]}", *path[1:]), number[0])

    number = [0]
    principals = [text("teams", 0, "principals", index) for index in range(3)]
    teams = [{**team, "principals": principals if index == 0 else []} for index, team in enumerate(BASE["teams"])]
    id_ = text("gpuPools", "train", "reserved", "reservationId")
    exception = {"policy": "public-bucket", "resource": "*", "expires": "2099-01-01"}
    values = configuration(
        teams=teams,
        gpuPools={"train": gpu_pool(reserved=bought(id_, 1, "us-east-1b"))},
        alertEmails=[text("alertEmails", index) for index in range(10)],
        smoke={"image": text("smoke", "image")},
        policyExceptions=[
            {
                **exception,
                "reason": text("policyExceptions", 0, "reason"),
                "owner": text("policyExceptions", 0, "owner"),
            }
        ],
        endpointAccess=[text("endpointAccess", index) for index in range(40)],
        awsAccountId=text("awsAccountId"),
        aws={"adminPrincipals": [text("aws", "adminPrincipals", index) for index in range(3)]},
    )
    plan = resolve_all({f"trainyard:{key}": value for key, value in values.items()}, STACK).plan
    assert plan.ground.account_id.startswith("9000")
    assert plan.clusters[0].pool("train").node_groups[0].reservation.id == id_


def test_a_list_that_is_encrypted_as_a_whole_stands_for_one_entry():
    assert json.loads(stand_in(("trainyard:alertEmails",), 7)) == ["unseen-7@example.com"]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        (("client",), ""),
        (("region",), ""),
        (("teamSize",), ""),
        (("owner",), ""),
        (("protect",), ""),
        (("residency",), ""),
        (("network", "zones", 0), ""),
        (("network", "cidr"), ""),
        (("teams", 0, "name"), ""),
        (("teams", 0), "encrypt parts of it instead"),
        (("aws",), "encrypt parts of it instead"),
        (("gpuPools", "train"), "encrypt parts of it instead"),
    ],
    ids=str,
)
def test_what_decides_what_is_made_must_be_in_the_clear(path, hint):
    problem = stand_in((f"trainyard:{path[0]}", *path[1:]), 1)
    assert isinstance(problem, Problem)
    assert problem.got == "an encrypted value"
    assert problem.hint == hint


@pytest.mark.parametrize("path", [("aws:secretKey",), ("trainyard:nonsense",), ("trainyard:aws", "nonsense")])
def test_any_text_will_do_for_what_is_no_setting(path):
    assert stand_in(path, 1) is None


def test_only_what_may_be_encrypted_is_taken_for_secret():
    values = {
        "aws": json.dumps(
            {"accountId": "123456789012", "natPerZone": "true", "databaseInstanceClass": "db.t4g.medium"}
        ),
        "alertEmails": json.dumps(["a@example.com", "b@example.com"]),
        "teams": json.dumps([{"name": "vision", "members": 3, "principals": ["arn:aws:iam::123456789012:role/x"]}]),
        "adminPrincipals": json.dumps(["arn:aws:iam::123456789012:role/y"]),
        "client": "acme",
    }
    assert secret_texts(values, {"aws", "teams", "client", "adminPrincipals"}) == {
        "123456789012",
        "arn:aws:iam::123456789012:role/x",
        "arn:aws:iam::123456789012:role/y",
    }
    assert secret_texts(values, {"alertEmails"}) == {"a@example.com", "b@example.com"}
    assert secret_texts(values, ()) == frozenset()
    exceptions = json.dumps([{"policy": "public-bucket", "resource": "*", "reason": "as agreed", "owner": "me"}])
    assert secret_texts({"policyExceptions": exceptions}, {"policyExceptions"}) == frozenset(), "no resource holds them"


def test_no_problem_quotes_a_key_that_holds_something_encrypted():
    values = {f"trainyard:{key}": value for key, value in configuration(alertEmails=["hunter2"], region="x").items()}
    values["trainyard:awsAccountId"] = "hunter2"
    with pytest.raises(SettingsError) as caught:
        resolve_all(values, STACK, {"trainyard:alertEmails", "trainyard:awsAccountId"})
    told = {problem.key: problem for problem in caught.value.problems}
    assert set(told) == {"alertEmails[0]", "aws.accountId", "region"}
    assert "hunter2" not in str(caught.value)
    assert told["region"].got == "x"
    assert told["alertEmails[0]"].got == "a value that is not shown: alertEmails is encrypted"


def test_what_is_missing_is_still_said_to_be():
    assert without_values([Problem("teams[0].name", "nothing", "is required")], {"teams"})[0].got == "nothing"


def test_what_stands_for_an_encrypted_value_is_one_that_may_stand_there():
    blocks = {
        "audit": ({"breakGlass": {"principals": [stand_in(_at("audit", "breakGlass", "principals", 0), 7)]}}),
        "storage": {"ingestPrincipals": [stand_in(_at("storage", "ingestPrincipals", 0), 7)]},
        "aws": {
            "deployers": [stand_in(_at("aws", "deployers", 0), 7)],
            "organizationId": stand_in(_at("aws", "organizationId"), 7),
            "accountId": stand_in(_at("aws", "accountId"), 7),
        },
    }
    given = {"client": "a", "cloud": "aws", "region": "us-east-1", "profile": "medium"}
    assert read_settings(given | {key: json.dumps(value) for key, value in blocks.items()}).problems == ()


def test_a_list_within_a_block_is_encrypted_by_its_entries():
    told = stand_in(_at("aws", "deployers"), 7)
    assert isinstance(told, Problem)
    assert "encrypt its entries instead" in str(told)
    assert stand_in(_at("adminPrincipals"), 7) == '["arn:aws:iam::123456789012:role/unseen-7"]'


def _at(key, *inner):
    return (f"trainyard:{key}", *inner)
