"""Mutants of who may do what: RBAC, access to the cluster, roles of pods, trust."""

from __future__ import annotations

from tests.policies.mutants import Mutant, edit, put
from tests.policies.rights_changes import (
    BINDING,
    access,
    account,
    bound,
    replaced,
    rule,
    statement,
    team_rule,
    trust,
)

RIGHTS = (
    Mutant(
        "team-rights-beyond-its-list",
        "reads the secrets of its namespace",
        change=team_rule(rule("get list", "secrets")),
    ),
    Mutant(
        "binding-across-teams",
        "another team in the namespace",
        change=edit(BINDING, "teams-vision-members", put("subjects", 0, "name", value="team:language")),
    ),
    Mutant(
        "binding-to-everybody",
        "whoever signs in may look around",
        change=bound({"kind": "Group", "name": "system:authenticated"}, to="view"),
    ),
    Mutant(
        "team-administers-cluster",
        "one of the team edits its namespace by EKS",
        change=access("AmazonEKSEditPolicy", type="namespace", namespaces=["team-vision"]),
    ),
    Mutant(
        "rights-that-lead-to-more",
        "the tracking server reads every secret",
        change=bound(account("mlflow", "mlflow"), rule("get list", "secrets")),
    ),
    Mutant(
        "team-role-beyond-its-prefix",
        "the prefix lost its slash",
        change=replaced("team-vision-role-policy", "/teams/vision/*", "/teams/vision*"),
    ),
    Mutant(
        "privilege-on-any-resource",
        "the tracking server sends commands to machines",
        change=statement("mlflow-role-policy", {"Action": "ssm:SendCommand"}),
    ),
    Mutant(
        "trust-without-conditions",
        "any pod of the cluster",
        change=trust(
            "team-vision-role",
            lambda found: found["Condition"]["StringEquals"].pop("aws:RequestTag/kubernetes-namespace"),
        ),
    ),
    Mutant(
        "trust-without-conditions",
        "flow logs of anybody",
        change=trust("network-flow-logs", lambda found: found.pop("Condition")),
    ),
)
