"""In which order AWS asks policies: each case is named after the rule of the IAM User Guide that it plays.

Pages: "Policy evaluation logic", "Cross-account policy evaluation logic", "Evaluating identity-based policies with
permissions boundaries", "IAM JSON policy elements: Principal"; AWS KMS Developer Guide, "Key policies in AWS KMS".
"""

import pytest

from trainyard.rehearsal.works.rights.aws.callers import ANONYMOUS, principal, service
from trainyard.rehearsal.works.rights.aws.documents import Request, read_document
from trainyard.rehearsal.works.rights.aws.evaluate import Asked, evaluate

OWN, OTHER = "111122223333", "444455556666"
ROLE, FOREIGN, USER = (f"arn:aws:iam::{at}" for at in (f"{OWN}:role/trainer", f"{OTHER}:role/x", f"{OWN}:user/ann"))
SESSION = {"aws:securetransport": ("true",)}


def documents(*statements, version="2012-10-17"):
    said = [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", **one} for one in statements]
    return (read_document({"policy": {"Version": version, "Statement": said}}, "policy", what="the policy"),)


def answer(who=ROLE, **asked):
    caller = who if not isinstance(who, str) else principal(who)
    return evaluate(Request(caller, "s3:GetObject", "arn:aws:s3:::b/k", SESSION), Asked(**asked)).answer


ALLOW, DENY = {}, {"Effect": "Deny"}
TO_ROLE, TO_ACCOUNT, TO_ALL = (
    {"Principal": {"AWS": ROLE}},
    {"Principal": {"AWS": f"arn:aws:iam::{OWN}:root"}},
    {"Principal": "*"},
)
TO_FOREIGN = {"Principal": {"AWS": OTHER}}

CASES = [
    ("by default all requests are denied", {}, "no"),
    ("an explicit allow overrides the default", {"identity": documents(ALLOW)}, "yes"),
    ("an explicit deny overrides any allow", {"identity": documents(ALLOW, DENY)}, "no"),
    ("a deny of the resource too", {"identity": documents(ALLOW), "resource": documents({**DENY, **TO_ALL})}, "no"),
    ("NotAction: all but", {"identity": documents({"Action": [], "NotAction": "iam:*"})}, "yes"),
    ("NotAction: not what it names", {"identity": documents({"Action": [], "NotAction": "s3:*"})}, "no"),
    ("NotResource: all but", {"identity": documents({"Resource": [], "NotResource": "arn:aws:s3:::b/*"})}, "no"),
    ("in one account the resource's policy is enough", {"resource": documents(TO_ROLE)}, "yes"),
    ("naming the account leaves it to the role's policies", {"resource": documents(TO_ACCOUNT)}, "no"),
    (
        "which then decide",
        {"resource": documents(TO_ACCOUNT), "identity": documents(ALLOW)},
        "yes",
    ),
    ("a star is everybody", {"resource": documents(TO_ALL)}, "yes"),
    ("a key has to allow it itself", {"identity": documents(ALLOW), "resource_must_allow": True}, "no"),
    (
        "or to leave it to the account",
        {"identity": documents(ALLOW), "resource": documents(TO_ACCOUNT), "resource_must_allow": True},
        "yes",
    ),
    ("a boundary limits", {"identity": documents(ALLOW), "boundary": documents({"Action": "kms:*"})}, "no"),
    ("a boundary grants nothing", {"boundary": documents(ALLOW)}, "no"),
    ("both together", {"identity": documents(ALLOW), "boundary": documents(ALLOW)}, "yes"),
    (
        "a boundary limits what a resource gives a role",
        {"resource": documents(TO_ROLE), "boundary": documents({"Action": "kms:*"})},
        "no",
    ),
    (
        "not what it gives a user",
        {
            "who": USER,
            "resource": documents({"Principal": {"AWS": USER}}),
            "boundary": documents({"Action": "kms:*"}),
        },
        "yes",
    ),
    ("an endpoint has to let it through", {"identity": documents(ALLOW), "endpoint": documents(TO_FOREIGN)[0]}, "no"),
    ("an endpoint open to all", {"identity": documents(ALLOW), "endpoint": documents(TO_ALL)[0]}, "yes"),
    ("an endpoint grants nothing", {"endpoint": documents(TO_ALL)[0]}, "no"),
    ("across accounts the caller's policy alone", {"identity": documents(ALLOW), "same_account": False}, "no"),
    ("or the resource's alone are too little", {"resource": documents(TO_ROLE), "same_account": False}, "no"),
    (
        "both are enough",
        {"identity": documents(ALLOW), "resource": documents(TO_ROLE), "same_account": False},
        "yes",
    ),
    (
        "another account gives itself what it likes",
        {"who": FOREIGN, "identity": None, "resource": documents(TO_FOREIGN), "same_account": False},
        "yes",
    ),
    ("if it is let in", {"who": FOREIGN, "identity": None, "same_account": False}, "no"),
    ("nobody signs: a star", {"who": ANONYMOUS, "resource": documents(TO_ALL), "same_account": False}, "yes"),
    ("nobody signs: the account", {"who": ANONYMOUS, "resource": documents(TO_ACCOUNT), "same_account": False}, "no"),
    (
        "a service by its name",
        {"who": service("sns.amazonaws.com"), "resource": documents({"Principal": {"Service": "sns.amazonaws.com"}})},
        "yes",
    ),
    (
        "not another service",
        {"who": service("sns.amazonaws.com"), "resource": documents({"Principal": {"Service": "s3.amazonaws.com"}})},
        "no",
    ),
    (
        "NotPrincipal with Deny: all but",
        {"identity": documents(ALLOW), "resource": documents({**DENY, "NotPrincipal": {"AWS": ROLE}})},
        "yes",
    ),
    (
        "NotPrincipal denies the others",
        {"identity": documents(ALLOW), "resource": documents({**DENY, "NotPrincipal": {"AWS": USER}})},
        "no",
    ),
    ("what nobody has recorded", {"identity": (), "not_in_the_table": ("AmazonX",)}, "unknown"),
    ("a denial is known all the same", {"identity": documents(DENY), "not_in_the_table": ("AmazonX",)}, "no"),
    ("a boundary that nobody has", {"identity": documents(ALLOW), "boundary_unknown": True}, "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_order(asked, expected):
    assert answer(**asked) == expected


def test_the_words_name_the_statement():
    asked = Asked(identity=documents({"Sid": "Read"}), resource=documents({**DENY, **TO_ALL, "Sid": "Tls"}))
    verdict = evaluate(Request(principal(ROLE), "s3:GetObject", "arn:aws:s3:::b/k", SESSION), asked)
    assert str(verdict) == "no: statement Tls of the policy denies s3:GetObject on arn:aws:s3:::b/k"
