"""An account on AWS in one region, asked with the credentials that the stack's program comes in with.

Every call has a time-out, is sent again where it was throttled, and reads all pages. What goes wrong is one of three
things, each an exception with a sentence for a person: no credentials, AWS refuses, AWS cannot be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

Session = Any
"""A botocore session, which has no types."""

GLOBAL_REGION: Final = {"aws": "us-east-1", "aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
"""Where the services answer that have no region: IAM, budgets, the quotas of both."""


class CannotAskError(Exception):
    """The account did not answer: the text says why, `remedy` what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(why)
        self.remedy = remedy


class NoCredentialsError(CannotAskError):
    """There is nobody to ask as, or the token is no longer valid."""


class RefusedError(CannotAskError):
    """AWS answered with an error; `code` is its name."""

    def __init__(self, code: str, why: str, remedy: str) -> None:
        super().__init__(why, remedy)
        self.code = code

    @property
    def is_absence(self) -> bool:
        """Whether AWS says that there is no such thing."""
        return self.code in _ABSENT or self.code.endswith(
            (".NotFound", "NotFoundException", "NotFound", "NoSuchEntity")
        )


_ABSENT: Final = frozenset(
    (
        "404",
        "NoSuchBucket",
        "NoSuchEntity",
        "ResourceNotFound",
        "DBInstanceNotFound",
        "DBSnapshotNotFound",
        "NotFoundFault",
    )
)
_EXPIRED: Final = frozenset(
    ("ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure",
     "RequestExpired", "InvalidAccessKeyId", "SignatureDoesNotMatch")
)  # fmt: skip
_DENIED: Final = frozenset(
    ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "Client.UnauthorizedOperation")
)

LOG_IN: Final = (
    "set AWS_PROFILE (after `aws sso login`), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to who runs `pulumi up`"
)


class Account:
    """One region of one account, and as whom it is asked."""

    def __init__(self, region: str, session: Callable[[], Session]) -> None:
        self.region = region
        self._make = session
        self._session: Session | None = None
        self._clients: dict[tuple[str, str], Any] = {}
        self._identity: Mapping[str, str] | None = None

    def client(self, service: str, region: str | None = None) -> Any:
        """A client of a service; in the account's region unless another is named."""
        from botocore.config import Config

        where = region or self.region
        if (service, where) not in self._clients:
            with told():
                if self._session is None:
                    self._session = self._make()
                config = Config(
                    connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 6, "mode": "adaptive"}
                )
                self._clients[service, where] = self._session.create_client(service, region_name=where, config=config)
        return self._clients[service, where]

    def call(self, service: str, operation: str, *, region: str | None = None, **arguments: Any) -> dict[str, Any]:
        """The answer to one operation, such as `describe_vpcs`; raises `CannotAskError`."""
        client = self.client(service, region)
        with told():
            found: dict[str, Any] = getattr(client, operation)(**arguments)
            return found

    def each(
        self, service: str, operation: str, key: str, *, region: str | None = None, **arguments: Any
    ) -> Iterator[Any]:
        """Every entry under `key` of all pages of an operation; raises `CannotAskError`."""
        client = self.client(service, region)
        with told():
            if not client.can_paginate(operation):
                yield from getattr(client, operation)(**arguments).get(key, ())
                return
            for page in client.get_paginator(operation).paginate(**arguments):
                yield from page.get(key) or ()

    @property
    def identity(self) -> Mapping[str, str]:
        """Account and ARN of who asks (`sts:GetCallerIdentity`, which nobody can be refused)."""
        if self._identity is None:
            answer = self.call("sts", "get_caller_identity")
            self._identity = {"account": answer["Account"], "arn": answer["Arn"]}
        return self._identity

    @property
    def partition(self) -> str:
        """`aws`, or that of China or of the government."""
        return self.identity["arn"].split(":")[1]

    @property
    def global_region(self) -> str:
        """The region in which services without regions answer."""
        return GLOBAL_REGION.get(self.partition, "us-east-1")


def account_of(region: str, assume_role: str | None = None, profile: str | None = None) -> Account:
    """The account that the stack's program comes into; nothing is asked before the first call."""
    return Account(region, lambda: _session(region, assume_role, profile))


def _session(region: str, assume_role: str | None, profile: str | None) -> Session:
    import botocore.session

    session = botocore.session.Session(profile=profile) if profile else botocore.session.get_session()
    if assume_role is None:
        return session
    sts = session.create_client("sts", region_name=region)
    given = sts.assume_role(RoleArn=assume_role, RoleSessionName="trainyard")["Credentials"]
    taken = botocore.session.get_session()
    taken.set_credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    return taken


def tags_in(entry: Mapping[str, Any]) -> dict[str, str]:
    """The tags of what AWS lists, however the service writes them."""
    tags = entry.get("Tags") or entry.get("TagList") or entry.get("tags") or entry.get("TagSet") or ()
    if isinstance(tags, Mapping):
        return dict(tags)
    return {each.get("Key", each.get("key")): each.get("Value", each.get("value", "")) for each in tags}


@contextmanager
def told() -> Iterator[None]:
    """Turns what botocore raises into `CannotAskError`, with what to do about it."""
    from botocore import exceptions, parsers

    try:
        yield
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError) as error:
        raise NoCredentialsError("there are no AWS credentials", LOG_IN) from error
    except exceptions.ProfileNotFound as error:
        raise NoCredentialsError(f"{error}", "name a profile of ~/.aws/config in aws.profile or AWS_PROFILE") from error
    except exceptions.ClientError as error:
        raise _refused(error) from error
    except (exceptions.TokenRetrievalError, exceptions.CredentialRetrievalError, exceptions.SSOError) as error:
        raise NoCredentialsError(f"the AWS credentials cannot be had: {error}", LOG_IN) from error
    except (exceptions.BotoCoreError, parsers.ResponseParserError) as error:  # a proxy's own page is no answer
        remedy = "see that the network reaches it; set HTTPS_PROXY where a proxy is between"
        raise CannotAskError(f"AWS did not answer: {_short(error)}", remedy) from error


def _short(error: Exception) -> str:
    """What an exception says, in one line, without the page that it may quote."""
    return " ".join(str(error).partition("b'<")[0].split())[:300]


def _refused(error: Any) -> CannotAskError:
    """What AWS answered with, in words."""
    said = error.response.get("Error", {})
    code, operation = str(said.get("Code", "an error")), error.operation_name
    message = " ".join(str(said.get("Message", "")).split())
    if message.startswith("<"):  # a page of whoever stands between
        message = ""
    if code in _EXPIRED:
        return NoCredentialsError(f"AWS does not take the credentials: {code}", LOG_IN)
    if code in _DENIED:
        return RefusedError(code, f"the identity may not call {operation}", f"allow it {operation}")
    told_more = f": {message[:300]}" if message else ""
    return RefusedError(code, f"{operation} ended with {code}{told_more}", "mend what it names, then ask again")
