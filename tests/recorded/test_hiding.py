"""What hides secrets in sentences, and what is remembered of a resource's inputs for it."""

from dataclasses import replace

import pytest

from tests.policies.truth import made
from trainyard.recorded.hiding import secrets_hidden
from trainyard.recorded.model import Secret


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("user postgres.db", "user [secret].db"),
        ("postgresql", "postgresql"),
        ("postgresql of postgres", "postgresql of [secret]"),
        ("", ""),
    ],
)
def test_a_secret_is_hidden_where_it_stands_as_a_word(sentence, expected):
    assert secrets_hidden([made("a:b:C", "c", {"user": Secret("postgres"), "id": Secret("ab")})])(sentence) == expected


@pytest.mark.parametrize(
    ("login", "expected"),
    [
        ({"user": "admin", "password": "Tr0ub4dor"}, "admin logs in by [secret], admin"),
        ({"GF_ADMIN_USER": "admin", "password": "Tr0ub4dor"}, "admin logs in by [secret], admin"),
        ({"user": "admin", "password": "admin"}, "[secret] logs in by Tr0ub4dor, [secret]"),
        ({"user": Secret("admin"), "password": "Tr0ub4dor"}, "[secret] logs in by [secret], [secret]"),
        ({"word": "admin", "user": "Tr0ub4dor"}, "[secret] logs in by [secret], [secret]"),  # a token for a user
    ],
)
def test_a_user_that_is_secret_beside_a_password_alone_stays_readable(login, expected):
    secret = made("kubernetes:core/v1:Secret", "grafana", {"stringData": Secret(login)})
    assert secrets_hidden([secret])("admin logs in by Tr0ub4dor, admin") == expected


def test_without_secrets_nothing_is_hidden():
    assert secrets_hidden([made("a:b:C", "c", {"user": "postgres"})])("postgres") == "postgres"


def test_what_is_remembered_of_inputs_is_of_these_inputs():
    plain = made("a:b:C", "c", {"user": "x", "list": [1]})
    assert (plain.has_secrets, plain.bare_inputs) == (False, plain.inputs)
    secret = replace(plain, inputs={"user": Secret({"name": "y"}), "list": [Secret(2)]})
    assert (secret.has_secrets, secret.bare_inputs) == (True, {"user": {"name": "y"}, "list": [2]})
    assert secret.inputs["user"] == Secret({"name": "y"})
    assert not replace(secret, inputs=plain.inputs).has_secrets
