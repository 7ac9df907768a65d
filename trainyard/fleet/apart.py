"""What two clients never share: a copied stack file keeps the first one's owner, addresses and reservations.

What Pulumi.yaml gives to all stacks is the agency's own and may be everybody's; what one client says is its own. A
reservation, a place for the state and a key of secrets are never two clients', wherever they are said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from trainyard.fleet.clients import Client
from trainyard.settings.common import Settings
from trainyard.settings.read import NAMESPACE

Values = Callable[[Settings], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Shared:
    """Something that is one client's, and that two have."""

    rule: str
    key: str  # of the stack files
    value: str
    stacks: tuple[str, ...]
    message: str
    remedy: str

    def as_json(self) -> dict[str, Any]:
        """All fields, in a fixed order."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{', '.join(self.stacks)}: {self.message} ({self.key}); {self.remedy}"


def _folded(text: str) -> str:
    """What mail, people and accountants take for the same: `Ann@Acme.example ` is `ann@acme.example`."""
    return " ".join(text.split()).casefold()


_PLACES: Final = ("endpoint", "prefix", "storage_account")
_KEYS: Final = ("region", "profile")
"""Parameters of a URL that tell one place, or one key, from another; the others say how it is reached."""


def _spelt(url: str, telling: Sequence[str]) -> str:
    """A URL as it is spelt for all who mean the same: without a last slash, and what says only how it is reached."""
    parts = urlsplit(url.strip())
    if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
        return url.strip().rstrip("/")
    given = parse_qs(parts.query)
    told = "&".join(f"{key}={value.strip('/')}" for key in telling for value in given.get(key, ()))
    path = "/".join(part for part in parts.path.split("/") if part)
    place = "/".join(filter(None, (parts.netloc.lower(), path)))
    return f"{parts.scheme.lower()}://{place}{'?' if told else ''}{told}"


def place_of(backend: str) -> str:
    """A backend as it is spelt for all who mean the same place. A bucket's name has no region of its own."""
    return _spelt(backend, _PLACES)


def key_of(provider: str) -> str:
    """A secrets provider as it is spelt for all who mean the same key. An alias is a region's own."""
    return _spelt(provider, _KEYS)


def _reservations(settings: Settings) -> Iterator[str]:
    for pool in settings.gpu_pools.values():
        if pool.reserved is not None:
            own = pool.reserved.reservation_id
            if settings.cloud == "gcp" and not own.startswith("projects/"):  # a name is a project's own
                own = f"projects/{settings.gcp.project}/reservations/{own}"
            yield own


def _accounts(settings: Settings) -> Iterator[str]:
    """The account, by its number: as it stands there, and of the role that is taken in it."""
    if settings.cloud == "aws":
        role = settings.aws.assume_role
        yield from filter(None, (settings.aws.account_id, role.split(":")[4] if role else None))


def _projects(settings: Settings) -> Iterator[str]:
    if settings.cloud == "gcp" and settings.gcp.project:
        yield settings.gcp.project


_OWN: Final[tuple[tuple[str, str, Values, str, str], ...]] = (
    (
        "fleet-shared-address",
        "alertEmails",
        lambda settings: map(_folded, settings.alert_emails),
        "alerts of one client go to another's address",
        "give each its own; an address of the agency belongs into Pulumi.yaml, for all",
    ),
    (
        "fleet-shared-owner",
        "owner",
        lambda settings: [_folded(settings.owner)] if settings.owner else [],
        "the owner of one client's environment is another's",
        "name each one's own; an owner at the agency belongs into Pulumi.yaml, for all",
    ),
    (
        "fleet-shared-cost-centre",
        "costCentre",
        lambda settings: [_folded(settings.cost_centre)] if settings.cost_centre else [],
        "one client's costs are booked with another's",
        "name each one's own; a cost centre of the agency belongs into Pulumi.yaml, for all",
    ),
)
"""What one client may have of another's only where Pulumi.yaml gives it to all: rule, key, values, words, remedy."""

_NEVER: Final[tuple[tuple[str, str, Callable[[Client], Iterable[str]], str, str], ...]] = (
    (
        "fleet-shared-reservation",
        "gpuPools.POOL.reserved.reservationId",
        lambda client: _reservations(client.settings),
        "two clients want the nodes of one reservation",
        "a reservation is one client's: take it out of the others",
    ),
    (
        "fleet-shared-account",
        "aws.accountId, aws.assumeRole",
        lambda client: _accounts(client.settings),
        "one account is two clients'",
        "an account of its own for each, with the role that is taken in it",
    ),
    (
        "fleet-shared-account",
        "gcp.project",
        lambda client: _projects(client.settings),
        "one project is two clients'",
        "a project of its own for each",
    ),
    (
        "fleet-shared-backend",
        "stateBackend",
        lambda client: [place_of(client.backend) or "where `pulumi login` went last"],
        "two clients' state is in one place",
        "a bucket, or a folder of one, for each: s3://BUCKET/CLIENT?region=REGION",
    ),
    (
        "fleet-shared-secrets-key",
        "secretsprovider",
        lambda client: [key_of(client.secrets_provider) or "the default: a passphrase, or Pulumi Cloud's key"],
        "one key opens two clients' secrets",
        "`pulumi stack change-secrets-provider awskms://alias/CLIENT?region=REGION`",
    ),
)
"""What is never two clients': rule, key, values, words, remedy."""


def shared_between(clients: Sequence[Client]) -> list[Shared]:
    """What two clients have in common and must not, the most telling first. Several stacks of one client may share."""
    found: list[Shared] = []
    for rule, key, values, message, remedy in _OWN:
        said = [client for client in clients if f"{NAMESPACE}:{key}" not in client.config.shared]
        found += _met(rule, key, ((client, values(client.settings)) for client in said), message, remedy)
    for rule, key, of_client, message, remedy in _NEVER:
        found += _met(rule, key, ((client, of_client(client)) for client in clients), message, remedy)
    return [*found, *_another_s(clients), *_same_name(clients)]


def _met(
    rule: str, key: str, said: Iterable[tuple[Client, Iterable[str]]], message: str, remedy: str
) -> Iterator[Shared]:
    owners: defaultdict[str, list[Client]] = defaultdict(list)
    for client, values in said:
        for value in dict.fromkeys(values):
            owners[value].append(client)
    for value, clients in owners.items():
        if len({client.name for client in clients}) > 1:
            yield Shared(rule, key, value, tuple(client.stack for client in clients), f"{message}: {value}", remedy)


def _another_s(clients: Sequence[Client]) -> Iterator[Shared]:
    """A stack that says that it is a client's, as stacks do that are called after him, and that is called after
    the house of its people, and has nothing of the client's.

    Where it says the name of another by mistake, all that is looked for between two clients is passed over: they are
    one. `trainyard new` calls a stack after its client; a stack that is called after what it is for may be his, with
    an account, a place of the state and people of its own.
    """
    of_name: defaultdict[str, list[Client]] = defaultdict(list)
    for client in clients:
        if client.is_named:
            of_name[client.name].append(client)
    for name, stacks in of_name.items():
        called = [client for client in stacks if _is_called(client.stack, name)]
        known = set().union(*map(_marks, called))
        for client in stacks if known else ():
            own = _marks(client)
            if client in called or own & known or not _is_of_another(client, called, [text for _, text in own]):
                continue
            told = ", ".join(each.stack for each in called)
            message = (
                f"{client.stack} says that it is {name}'s, as {told} does, and neither its people, accounts, place of "
                "the state nor key are"
            )
            remedy = f"its own client's name; or call it {name}-ENVIRONMENT, or name the owner that {told} names"
            yield Shared(
                "fleet-another-client",
                "client",
                name,
                (client.stack, *(each.stack for each in called)),
                message,
                remedy,
            )


_WORDS: Final = re.compile(r"[a-z0-9]+")


def _is_called(stack: str, name: str) -> bool:
    return f"-{name}-" in f"-{stack}-"


def _is_of_another(client: Client, called: Sequence[Client], marks: Sequence[str]) -> bool:
    """Whether a stack is called as the house of its people, and nothing that it has is called after the client.

    Buckets and keys are called after their stack: by these nobody is known.
    """
    usual = {word for each in called for word in each.stack.split("-")} | {client.settings.environment}
    others = {word for word in client.stack.split("-") if len(word) > 2} - usual
    houses = {word for text in marks if "@" in text for word in _WORDS.findall(text.rpartition("@")[2])}
    is_named = any(_is_called("-".join(_WORDS.findall(text)), client.name) for text in marks)
    return not is_named and not others.isdisjoint(houses)


def _marks(client: Client) -> set[tuple[str, str]]:
    """What tells whose a stack is: what itself says, not what Pulumi.yaml says to all, or nobody."""
    said = {f"{NAMESPACE}:{key}" for _, key, *_ in _OWN} - set(client.config.shared)
    found = {
        (key, value) for _, key, values, *_ in _OWN if f"{NAMESPACE}:{key}" in said for value in values(client.settings)
    }
    if f"{NAMESPACE}:alertEmails" in said:
        found |= {("mail", _folded(address).rpartition("@")[2]) for address in client.settings.alert_emails}
    defaults = {"stateBackend": client.backend, "secretsprovider": client.secrets_provider}
    for _, key, of_client, *_ in _NEVER:
        if defaults.get(key, "said"):
            found |= {(key, value) for value in of_client(client)}
    return found


def _same_name(clients: Sequence[Client]) -> Iterator[Shared]:
    """Two stacks whose resources have one name: the second `up` fails, or takes the first one's over."""
    places: defaultdict[tuple[str, ...], list[Client]] = defaultdict(list)
    for client in clients:
        settings = client.settings
        environment = settings.environment or client.stack
        account = settings.aws.assume_role or settings.aws.account_id or ""
        places[(settings.client, environment, settings.cloud, settings.region, account)].append(client)
    for (name, environment, *_), same in places.items():
        if len(same) > 1:
            stacks = tuple(client.stack for client in same)
            message = f"both are {name}'s environment {environment} in one region, and their resources have one name"
            yield Shared("fleet-one-name", "environment", environment, stacks, message, "another environment for one")
