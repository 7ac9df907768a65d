"""An AWS that answers: moto where it has the operation, else a table; both are held to botocore's models.

As botocore's Stubber, parameters and answers are checked against the service's model, but in no order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters
from moto import mock_aws

from trainyard.account.aws import Account

REGION = "us-east-1"
MOTO_ACCOUNT = "123456789012"

Answers = Mapping[str, Any]
"""By `service.Operation`: the answer, or what makes it, or an error, of the parameters."""


_CLIENTS: dict[tuple[str, str], Any] = {}
"""Shared by all tests: to make a client takes longer than most tests."""


@cache
def _session() -> Any:
    return botocore.session.get_session()


def refusal(code: str, message: str = "") -> Callable[..., Any]:
    def refuse(asked: Mapping[str, Any]) -> Any:
        raise ClientError({"Error": {"Code": code, "Message": message}}, "")

    return refuse


@contextmanager
def aws(monkeypatch: pytest.MonkeyPatch, answers: Answers | None = None, region: str = REGION) -> Iterator[Account]:
    """An account whose operations are answered by the table, by moto where that has none."""
    table = dict(answers or {})
    asked = BaseClient._make_api_call

    def call(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
        key = f"{client.meta.service_model.service_name}.{operation}"
        if key not in table:
            try:
                return asked(client, operation, parameters)
            except NotImplementedError:  # moto lacks it
                raise ClientError({"Error": {"Code": "NotImplemented"}}, operation) from None
        model = client.meta.service_model.operation_model(operation)
        validate_parameters(parameters, model.input_shape)
        answer = table[key]
        try:
            found = answer(parameters) if callable(answer) else answer
        except ClientError as error:
            raise ClientError(error.response, operation) from None
        if model.output_shape is not None:
            validate_parameters(found, model.output_shape)
        return found

    with mock_aws(), monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", call)
        account = Account(region, _session)
        account._clients = _CLIENTS
        yield account
