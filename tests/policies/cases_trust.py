"""Truth tables of who is let in: resource policies, other accounts, and the walls of a team's namespace."""

import json

from tests.policies.truth import (
    NOT_APPLICABLE,
    OK,
    UNDECIDED,
    UNKNOWN,
    VIOLATED,
    kubernetes,
    made,
    table,
    team,
    unknown,
)

OWN, OTHER = "111122223333", "444455556666"
BUDGET = made("aws:budgets/budget:Budget", "budget", {"accountId": OWN})


def document(*statements):
    return json.dumps(
        {"Statement": [{"Effect": "Allow", "Action": "kms:*", "Resource": "*", **one} for one in statements]}
    )


def key(*statements):
    return made("aws:kms/key:Key", "key", {"policy": document(*statements)})


def policy_of(type_, *statements):
    return made(type_, "policy", {"policy": document(*statements)})


def bucket_policy(*statements):
    return policy_of("aws:s3/bucketPolicy:BucketPolicy", *({"Action": "s3:*", **one} for one in statements))


def role(*statements):
    return made(
        "aws:iam/role:Role",
        "role",
        {"assumeRolePolicy": document(*({"Action": "sts:AssumeRole", **one} for one in statements))},
    )


def everybody(**condition):
    return {"Principal": "*", **({"Condition": condition} if condition else {})}


def account(id_, **more):
    return {"Principal": {"AWS": f"arn:aws:iam::{id_}:root"}, **more}


def walls(namespace="team-a", **spec):
    sound = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    return kubernetes("networking.k8s.io/v1:NetworkPolicy", "allow", namespace, spec={**sound, **spec})


ORGANISATION = {"StringEquals": {"aws:PrincipalOrgID": "o-abc123"}}
ROLE_OF_OTHER = {"AWS": f"arn:aws:iam::{OTHER}:role/auditor"}
HTTPS = [{"port": 443, "protocol": "TCP"}]
ANYWHERE = {"ipBlock": {"cidr": "0.0.0.0/0"}}

CASES = [
    *table(
        "resource-open-to-everybody",
        ("the account", OK, key(account(OWN))),
        ("a service", OK, key({"Principal": {"Service": "logs.us-east-1.amazonaws.com"}})),
        ("a star", VIOLATED, key(everybody())),
        ("a star of AWS", VIOLATED, key({"Principal": {"AWS": "*"}})),
        ("a star in a list", VIOLATED, key({"Principal": {"AWS": [f"arn:aws:iam::{OWN}:root", "*"]}})),
        ("a star of federation", VIOLATED, key({"Principal": {"Federated": "*"}})),
        ("all but one", VIOLATED, key({"NotPrincipal": {"AWS": f"arn:aws:iam::{OWN}:root"}})),
        ("denied to everybody", OK, key({"Effect": "Deny", "Principal": "*"})),
        ("denied to all but one", OK, key({"Effect": "Deny", "NotPrincipal": {"AWS": f"arn:aws:iam::{OWN}:root"}})),
        ("the organisation", OK, key(everybody(**ORGANISATION))),
        ("the organisation, in other letters", OK, key(everybody(StringEquals={"aws:principalorgid": "o-abc123"}))),
        ("callers of the account", OK, key(everybody(StringEquals={"kms:CallerAccount": OWN}))),
        (
            "through a service alone",
            VIOLATED,
            key(everybody(StringEquals={"kms:ViaService": "s3.us-east-1.amazonaws.com"})),
        ),
        ("over TLS alone", VIOLATED, key(everybody(Bool={"aws:SecureTransport": "true"}))),
        ("all but the organisation", VIOLATED, key(everybody(StringNotEquals={"aws:PrincipalOrgID": "o-abc123"}))),
        ("the organisation, if any", VIOLATED, key(everybody(StringEqualsIfExists={"aws:PrincipalOrgID": "o-abc123"}))),
        ("any organisation", VIOLATED, key(everybody(StringLike={"aws:PrincipalOrgID": "*"}))),
        ("a role of any account", VIOLATED, key(everybody(ArnLike={"aws:PrincipalArn": "arn:aws:iam::*:role/x"}))),
        ("any address", VIOLATED, key(everybody(IpAddress={"aws:SourceIp": ["0.0.0.0/0"]}))),
        ("an office", OK, key(everybody(IpAddress={"aws:SourceIp": ["203.0.113.0/24"]}))),
        ("one of two statements", VIOLATED, key(account(OWN), everybody())),
        ("a policy apart", VIOLATED, policy_of("aws:kms/keyPolicy:KeyPolicy", everybody())),
        ("a replica", VIOLATED, policy_of("aws:kms/replicaKey:ReplicaKey", everybody())),
        ("a topic", VIOLATED, policy_of("aws:sns/topicPolicy:TopicPolicy", everybody())),
        ("a secret", VIOLATED, policy_of("aws:secretsmanager/secretPolicy:SecretPolicy", everybody())),
        ("a repository", VIOLATED, policy_of("aws:ecr/repositoryPolicy:RepositoryPolicy", everybody())),
        (
            "a file system, whoever is in the network",
            OK,
            policy_of(
                "aws:efs/fileSystemPolicy:FileSystemPolicy",
                everybody(Bool={"elasticfilesystem:AccessedViaMountTarget": "true"}),
            ),
        ),
        ("a role", VIOLATED, role(everybody())),
        ("a role of nodes", OK, role({"Principal": {"Service": "ec2.amazonaws.com"}})),
        ("no policy", OK, made("aws:kms/key:Key", "key", {})),
        ("unknown", UNDECIDED, made("aws:kms/key:Key", "key", {"policy": UNKNOWN})),
    ),
    *table(
        "other-account-in-charge",
        ("the own account", OK, [BUDGET, bucket_policy(account(OWN))]),
        ("another has all", VIOLATED, [BUDGET, bucket_policy(account(OTHER))]),
        ("another by its number", VIOLATED, [BUDGET, bucket_policy({"Principal": {"AWS": OTHER}})]),
        ("one of two", VIOLATED, [BUDGET, bucket_policy({"Principal": {"AWS": [OWN, OTHER]}})]),
        ("a role of another has all", VIOLATED, [BUDGET, bucket_policy({"Principal": ROLE_OF_OTHER})]),
        (
            "a role of another deletes",
            VIOLATED,
            [BUDGET, bucket_policy({"Principal": ROLE_OF_OTHER, "Action": "s3:Delete*"})],
        ),
        (
            "a role of another changes the policy",
            VIOLATED,
            [BUDGET, bucket_policy({"Principal": ROLE_OF_OTHER, "Action": ["s3:GetObject", "s3:PutBucketPolicy"]})],
        ),
        (
            "a role of another reads",
            OK,
            [BUDGET, bucket_policy({"Principal": ROLE_OF_OTHER, "Action": ["s3:GetObject", "s3:ListBucket"]})],
        ),
        ("a whole account reads", VIOLATED, [BUDGET, bucket_policy(account(OTHER, Action="s3:GetObject"))]),
        (
            "a whole account of the organisation reads",
            OK,
            [BUDGET, bucket_policy(account(OTHER, Action="s3:GetObject", Condition=ORGANISATION))],
        ),
        (
            "another as a whole, over TLS",
            VIOLATED,
            [
                BUDGET,
                bucket_policy(
                    account(OTHER, Action="s3:GetObject", Condition={"Bool": {"aws:SecureTransport": "true"}})
                ),
            ],
        ),
        (
            "another as a whole, with its id",
            OK,
            [
                BUDGET,
                role(account(OTHER, Action="sts:AssumeRole", Condition={"StringEquals": {"sts:ExternalId": "x"}})),
            ],
        ),
        (
            "people of another account, who say who they are",
            OK,
            [
                BUDGET,
                role(
                    account(
                        OTHER,
                        Action=["sts:AssumeRole", "sts:SetSourceIdentity"],
                        Condition={"ArnLike": {"aws:PrincipalArn": [f"arn:aws:iam::{OTHER}:role/lead"]}},
                    )
                ),
            ],
        ),
        (
            "whoever is of another account, who say who they are",
            VIOLATED,
            [BUDGET, role(account(OTHER, Action=["sts:AssumeRole", "sts:SetSourceIdentity"]))],
        ),
        ("another is denied", OK, [BUDGET, bucket_policy(account(OTHER, Effect="Deny"))]),
        (
            "all but some actions",
            VIOLATED,
            [BUDGET, bucket_policy({"Principal": ROLE_OF_OTHER, "NotAction": ["s3:Put*"], "Action": []})],
        ),
        ("a key", VIOLATED, [BUDGET, key(account(OTHER))]),
        (
            "a key, decrypting",
            OK,
            [BUDGET, key({"Principal": ROLE_OF_OTHER, "Action": ["kms:Decrypt", "kms:DescribeKey"]})],
        ),
        ("a role for a whole account", VIOLATED, [BUDGET, role(account(OTHER))]),
        (
            "a role with an external id",
            OK,
            [BUDGET, role(account(OTHER, Condition={"StringEquals": {"sts:ExternalId": "x"}}))],
        ),
        (
            "a grant",
            VIOLATED,
            [BUDGET, made("aws:kms/grant:Grant", "g", {"granteePrincipal": f"arn:aws:iam::{OTHER}:role/x"})],
        ),
        (
            "a grant at home",
            OK,
            [BUDGET, made("aws:kms/grant:Grant", "g", {"granteePrincipal": f"arn:aws:iam::{OWN}:role/x"})],
        ),
        ("a second account of ours", OK, [BUDGET, bucket_policy(account(OTHER))], {}, {"accountIds": [OTHER]}),
        ("nobody knows whose", NOT_APPLICABLE, bucket_policy(account(OTHER))),
        ("unknown", UNDECIDED, [BUDGET, unknown(bucket_policy(), "policy")]),
    ),
    *table(
        "team-namespace-open",
        ("within the team", OK, [team("a"), walls(ingress=[{"from": [{"podSelector": {}}]}])]),
        (
            "from one namespace",
            OK,
            [team("a"), walls(ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"a": "b"}}}]}])],
        ),
        ("everything", VIOLATED, [team("a"), walls(ingress=[{}])]),
        ("everybody, on a port", VIOLATED, [team("a"), walls(ingress=[{"ports": HTTPS}])]),
        ("from nobody named", VIOLATED, [team("a"), walls(ingress=[{"from": []}])]),
        ("from every namespace", VIOLATED, [team("a"), walls(ingress=[{"from": [{"namespaceSelector": {}}]}])]),
        (
            "from pods of every namespace",
            VIOLATED,
            [team("a"), walls(ingress=[{"from": [{"namespaceSelector": {}, "podSelector": {}}]}])],
        ),
        (
            "from every namespace by name",
            VIOLATED,
            [
                team("a"),
                walls(
                    ingress=[
                        {
                            "from": [
                                {
                                    "namespaceSelector": {
                                        "matchExpressions": [
                                            {"key": "kubernetes.io/metadata.name", "operator": "Exists"}
                                        ]
                                    }
                                }
                            ]
                        }
                    ]
                ),
            ],
        ),
        (
            "from every namespace but one",
            VIOLATED,
            [
                team("a"),
                walls(
                    ingress=[
                        {
                            "from": [
                                {
                                    "namespaceSelector": {
                                        "matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["y"]}]
                                    }
                                }
                            ]
                        }
                    ]
                ),
            ],
        ),
        ("from the internet", VIOLATED, [team("a"), walls(ingress=[{"from": [ANYWHERE]}])]),
        ("from half of it", VIOLATED, [team("a"), walls(ingress=[{"from": [{"ipBlock": {"cidr": "128.0.0.0/1"}}]}])]),
        ("from an office", OK, [team("a"), walls(ingress=[{"from": [{"ipBlock": {"cidr": "203.0.113.0/24"}}]}])]),
        ("one of two peers", VIOLATED, [team("a"), walls(ingress=[{"from": [{"podSelector": {}}, ANYWHERE]}])]),
        ("everything out", VIOLATED, [team("a"), walls(egress=[{}])]),
        ("everything out to anywhere", VIOLATED, [team("a"), walls(egress=[{"to": [ANYWHERE]}])]),
        ("HTTPS out to anywhere", OK, [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": HTTPS}])]),
        (
            "every TCP port to anywhere",
            VIOLATED,
            [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": [{"protocol": "TCP"}]}])],
        ),
        (
            "nearly every port to anywhere",
            VIOLATED,
            [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": [*HTTPS, {"port": 1, "endPort": 65535}]}])],
        ),
        (
            "a few ports to anywhere",
            OK,
            [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": [{"port": 8443, "endPort": 8450}]}])],
        ),
        ("a named port to anywhere", OK, [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": [{"port": "https"}]}])]),
        (
            "an unknown port to anywhere",
            UNDECIDED,
            [team("a"), walls(egress=[{"to": [ANYWHERE], "ports": [{"port": UNKNOWN}]}])],
        ),
        ("in another namespace", OK, [team("a"), walls("tools", ingress=[{}])]),
        ("a default deny", OK, [team("a"), walls()]),
        ("unknown", UNDECIDED, [team("a"), walls(ingress=UNKNOWN)]),
    ),
]
