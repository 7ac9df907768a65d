"""The questions to AWS in the order in which they are told, each with what is not known where it cannot be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trainyard.account.aws import Account, CannotAskError, NoCredentialsError, account_of
from trainyard.preflight.aws import (
    capacity,
    endpoint,
    existing_network,
    identity,
    managed,
    network,
    offerings,
    quotas,
    rights,
    roles,
    taken,
    versions,
)
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Line, Lines, Subject

Check = Callable[[AwsSubject, Account], Lines]


@dataclass(frozen=True, slots=True)
class Question:
    """One check, by the name that its lines have, and what it asks in words."""

    name: str
    asks: str
    ask: Check


QUESTIONS: Final = (
    Question(identity.NAME, "who asks, and in which account", identity.check),
    Question(quotas.NAME, "whether quotas leave room for every family and capacity", quotas.check),
    Question(managed.NAME, "whether SageMaker's quotas leave room", managed.check),
    Question(offerings.NAME, "whether the zones sell the instance types", offerings.check),
    Question(capacity.NAME, "what is reserved, and how likely spot nodes are", capacity.check),
    Question(rights.NAME, "whether the identity may make what the program makes", rights.check),
    Question(roles.NAME, "whether the service-linked roles are there", roles.check),
    Question(existing_network.NAME, "whether the network that is there is as the settings say", existing_network.check),
    Question(network.NAME, "whether addresses clash with other networks", network.check),
    Question(taken.NAME, "whether something of a name is there already", taken.check),
    Question(versions.NAME, "whether the versions are offered", versions.check),
    Question(endpoint.NAME, "whether the cluster's API can be reached from here", endpoint.check),
)


def look(subject: Subject[Any], account: Account | None) -> tuple[list[Line], bool]:
    """All questions about a stack on AWS, to the account that its ground names unless another stands in for it."""
    on_aws: AwsSubject = subject
    login, region = on_aws.plan.ground.login, on_aws.plan.ground.region
    return ask_all(on_aws, account or account_of(region, login.assume_role, login.profile))


def ask_all(
    subject: AwsSubject, account: Account, questions: Sequence[Question] = QUESTIONS
) -> tuple[list[Line], bool]:
    """The lines of all questions, and whether there were credentials to ask with.

    A question that the account does not answer is a line of its own, with the reason; the others are still asked.
    """
    lines: list[Line] = []
    has_credentials = True
    for question in questions:
        try:
            for line in question.ask(subject, account):
                lines.append(line)
        except NoCredentialsError as error:
            first, has_credentials = has_credentials, False
            answer = Answer.FAILS if question.name == identity.NAME else Answer.UNKNOWN
            remedy = error.remedy if first else ""
            lines.append(Line(question.name, question.asks, answer, str(error), remedy))
        except CannotAskError as error:
            lines.append(Line(question.name, question.asks, Answer.UNKNOWN, str(error), error.remedy))
    return lines, has_credentials
