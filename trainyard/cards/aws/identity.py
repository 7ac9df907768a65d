"""Roles and rights, keys, secrets."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, Seconds, estimate, service_model

_IAM: Final = "identity and access management is free"

CARDS: Final = (
    Card("aws:iam/group:Group", API_CALL, Free(_IAM), taggable=False, stateful=False, id="{cloud_name}"),
    Card(
        "aws:iam/instanceProfile:InstanceProfile",
        API_CALL,
        Free(_IAM),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="instance-profile{input:path|/}{cloud_name}",
        model=service_model("iam.CreateInstanceProfile", names={"name": "InstanceProfileName"}, undescribed="role"),
        automatic_name=AutomaticName("name", 128, r"[\w+=,.@-]+"),
    ),
    Card(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        API_CALL,
        Free(_IAM),
        taggable=True,
        stateful=False,
        id="{arn}",
        arn="oidc-provider/{address:url}",
    ),
    Card(
        "aws:iam/policy:Policy",
        estimate(2),
        Free(_IAM),
        taggable=True,
        stateful=False,
        id="{arn}",
        arn="policy{input:path|/}{cloud_name}",
        model=service_model(
            "iam.CreatePolicy",
            names={"name": "PolicyName", "policy": "PolicyDocument"},
            undescribed="delayAfterPolicyCreationInMs",
        ),
        automatic_name=AutomaticName("name", 128, r"[\w+=,.@-]+"),
    ),
    Card(
        "aws:iam/role:Role",
        Seconds(7, "7s in turbot/steampipe-plugin-aws#131", "2021-03-16"),
        Free(_IAM),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="role{input:path|/}{cloud_name}",
        model=service_model(
            "iam.CreateRole",
            names={"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"},
            undescribed="forceDetachPolicies inlinePolicies managedPolicyArns",
        ),
        automatic_name=AutomaticName("name", 64, r"[\w+=,.@-]+"),
    ),
    Card(
        "aws:iam/rolePolicy:RolePolicy",
        API_CALL,
        Free(_IAM),
        taggable=False,
        stateful=False,
        model=service_model(
            "iam.PutRolePolicy", names={"name": "PolicyName", "role": "RoleName", "policy": "PolicyDocument"}
        ),
        automatic_name=AutomaticName("name", 128, r"[\w+=,.@-]+"),
    ),
    Card(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        Seconds(1, "1s in DevopsArtFactory/terraform-provisioning#45", "2024-11-01"),
        Free(_IAM),
        taggable=False,
        stateful=False,
        model=service_model("iam.AttachRolePolicy", names={"role": "RoleName"}),
    ),
    Card("aws:iam/serviceLinkedRole:ServiceLinkedRole", API_CALL, Free(_IAM), taggable=True, stateful=False),
    Card("aws:iam/user:User", API_CALL, Free(_IAM), taggable=True, stateful=False, id="{cloud_name}"),
    Card(
        "aws:kms/alias:Alias",
        estimate(1),
        Free("a name of a key"),
        taggable=False,
        stateful=False,
        arn="{input:name|alias/{name}}",
        model=service_model("kms.CreateAlias", names={"name": "AliasName"}),
    ),
    Card(
        "aws:kms/grant:Grant",
        API_CALL,
        Free("a permission of a key"),
        taggable=False,
        stateful=False,
        model=service_model("kms.CreateGrant", undescribed="retireOnDelete grantCreationTokens"),
    ),
    Card(
        "aws:kms/key:Key",
        estimate(12, "the provider waits for the policy and the rotation to be seen"),
        Priced("services.key"),
        taggable=True,
        stateful=True,
        id="{uuid}",
        arn="key/{id}",
        outputs={"keyId": "{id}"},
        model=service_model(
            "kms.CreateKey", "kms.EnableKeyRotation", undescribed="deletionWindowInDays enableKeyRotation isEnabled"
        ),
    ),
    Card("aws:kms/keyPolicy:KeyPolicy", API_CALL, Free("a permission of a key"), taggable=False, stateful=False),
    Card("aws:kms/replicaKey:ReplicaKey", API_CALL, Priced("services.key"), taggable=True, stateful=True),
    Card(
        "aws:secretsmanager/secret:Secret",
        API_CALL,
        Priced("services.secret"),
        taggable=True,
        stateful=True,
        id="{arn}",
        arn="secret:{cloud_name}-{hex:.6}",
        model=service_model(
            "secretsmanager.CreateSecret",
            names={"replicas": "AddReplicaRegions"},
            undescribed=(
                "replicas.lastAccessedDate replicas.status replicas.statusMessage policy recoveryWindowInDays"
            ),
        ),
        automatic_name=AutomaticName("name", 512, r"[A-Za-z0-9/_+=.@-]+"),
        key_input="kmsKeyId",
    ),
    Card(
        "aws:secretsmanager/secretPolicy:SecretPolicy",
        API_CALL,
        Free("a permission of a secret"),
        taggable=False,
        stateful=False,
    ),
    Card(
        "aws:secretsmanager/secretVersion:SecretVersion",
        API_CALL,
        Free("billed with its secret"),
        taggable=False,
        stateful=False,
    ),
)
