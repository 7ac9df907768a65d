"""An account of AWS as the end of a stack needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainyard.account import aws
from trainyard.account.aws import Account, CannotAskError
from trainyard.account.marks import MARKS
from trainyard.plan.parts import Plan
from trainyard.recorded.types import EKS_CLUSTER, SAGEMAKER_DOMAIN
from trainyard.teardown.aws.lift import stop_apps, unprotect, write_back
from trainyard.teardown.aws.log_groups import sweep_log_groups
from trainyard.teardown.aws.sweep import sweep_groups, sweep_interfaces
from trainyard.teardown.cloud import Say
from trainyard.teardown.kinds import Group
from trainyard.teardown.state import State


def account_of_plan(plan: Plan[Any]) -> Account:
    """The account that a stack on AWS stands in, as who runs this."""
    login = plan.ground.login
    return aws.account_of(plan.ground.region, login.assume_role, login.profile)


@dataclass(frozen=True, slots=True)
class AwsEnd:
    """See `Cloud`."""

    account: Account

    def check(self) -> None:
        """Raises NoCredentialsError."""
        self.account.identity  # noqa: B018  (asks)

    def before(self, state: State, keep: Sequence[Group], say: Say) -> None:
        """Stops people's apps; has file systems write to their buckets."""
        stop_apps(state, self.account, say, keep_homes="homes" in keep)
        if "data" in keep:
            write_back(state, self.account, say)

    def unprotect(self, state: State, _: Sequence[Group], say: Say) -> None:
        """Databases and clusters; a database that stays writes its snapshot as it is deleted."""
        unprotect(state, self.account, say)

    def sweep(self, state: State, say: Say) -> int:
        """Network interfaces of the clusters' CNI, and security groups of SageMaker's."""
        clusters = [str(each["id"]) for each in state.of(EKS_CLUSTER)]
        domains = [str(each["id"]) for each in state.of(SAGEMAKER_DOMAIN)]
        return sweep_interfaces(clusters, self.account, say) + sweep_groups(domains, self.account, say)

    def afterwards(self, stood: Sequence[State], since: datetime, say: Say) -> int:
        """Log groups that services make again."""
        try:
            return sweep_log_groups(stood, since, MARKS, self.account, say)
        except CannotAskError as error:
            say(f"log groups that services make again were not looked for: {error}; {error.remedy}")
            return 0
