"""Logs of load balancers: the bucket's own policy lets them be written where they go.

A balancer that is told to write logs writes a test file first, and is refused where it may not. Source: Elastic Load
Balancing, "Enable access logs for your Application Load Balancer" and "... Network Load Balancer" (paths, policies of
buckets), 2026-11. Who writes is another account by region, a service, or the account's own deliveries: judged is where.
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.policy_documents import statements, texts_of
from trainyard.recorded.read import UnreadableInput
from trainyard.recorded.types import BUCKET, BUCKET_POLICY, LOAD_BALANCER
from trainyard.rehearsal.context import View
from trainyard.rehearsal.refusals.rules import Rules

_LOGS: Final = ("accessLogs", "connectionLogs", "healthCheckLogs")
_ACCOUNT: Final = re.compile(r"AWSLogs/\d{12}(?=/)")


def logged(view: View) -> None:
    """Each kind of log, in a bucket of the stack's with a policy of the stack's."""
    if view.is_unknown("loadBalancerType"):
        return
    for kind in _LOGS:
        name, prefix = view.text(f"{kind}.bucket"), view.text(f"{kind}.prefix") or ""
        bucket = next((one for one in view.stack.of_type(BUCKET) if name and one.text("bucket") == name), None)
        if bucket is None or bucket.resource.read or view.flag(f"{kind}.enabled") is not True:
            continue
        if view.is_unknown(f"{kind}.prefix"):
            continue
        policies = [one for one in view.stack.of_type(BUCKET_POLICY) if one.text("bucket") in (None, name)]
        allowed = _allowed(policies)
        if allowed is None:
            continue
        folder = f"{prefix.strip('/')}/" if prefix else ""
        written = f"{name}/{folder}AWSLogs/ACCOUNT/elasticloadbalancing/x"
        if not policies and view.text("loadBalancerType") == "network":
            continue  # deliveries of the account's may bring the policy themselves
        if not any(_meets(pattern, written) for pattern in allowed):
            view.error(
                "lb-logs", f"{kind}.prefix" if prefix else f"{kind}.bucket",
                f"{name} has no policy that lets logs be written below {folder}AWSLogs/: the balancer is refused",
                allowed="a statement of s3:PutObject for that path",
            )  # fmt: skip


def _allowed(policies: list[View]) -> list[str] | None:
    """Where anybody may write, by some policies; None where they are not known."""
    found: list[str] = []
    for policy in policies:
        try:
            every = statements(policy.resource.inputs, "policy")
        except UnreadableInput:
            return None
        for one in every:
            actions = [text.lower() for text in texts_of(one.get("Action"))]
            if one.get("Effect") != "Allow":
                continue
            if "NotAction" in one or "NotResource" in one:
                return None
            if any(_like(action, "s3:putobject") for action in actions):
                found += texts_of(one.get("Resource"))
    return found


def _meets(pattern: str, written: str) -> bool:
    return _like(_ACCOUNT.sub("AWSLogs/ACCOUNT", pattern).rpartition(":::")[2] if pattern != "*" else "*", written)


def _like(pattern: str, text: str) -> bool:
    """Whether a pattern of IAM's matches; a variable in it matches anything."""
    words = re.sub(r"\$\{[^}]*\}", "*", pattern)
    return re.fullmatch(re.escape(words).replace(r"\*", ".*").replace(r"\?", "."), text, re.DOTALL) is not None


RULES: Final[Rules] = {logged: (LOAD_BALANCER,)}
