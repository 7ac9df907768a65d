"""Truth tables of what is on record, who looks for attacks, and who is an administrator."""

import json

from tests.policies.cases_platform import UAE, US, provider
from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, UNKNOWN, VIOLATED, bucket, made, table, unknown
from trainyard.conventions.state import BACKEND, READ, SECRETS_PROVIDER
from trainyard.recorded.types import (
    ACCESS_POLICY_ASSOCIATION,
    BUCKET_LOGGING,
    BUCKET_OBJECT_LOCK,
    BUCKET_POLICY,
    DETECTOR,
    DETECTOR_FEATURE,
    EKS_CLUSTER,
    EVENT_RULE,
    EVENT_TARGET,
    ROLE,
    TRAIL,
)

DATA, ARTIFACTS, FILES = bucket(), bucket("artifacts"), bucket("files")
EVERYTHING = {"fieldSelectors": [{"field": "eventCategory", "equals": ["Management"]}]}


def objects(*begins, **more):
    fields = [
        {"field": "eventCategory", "equals": ["Data"]},
        {"field": "resources.type", "equals": ["AWS::S3::Object"]},
    ]
    fields += [{"field": "resources.ARN", "startsWiths": list(begins)}] if begins else []
    return {"fieldSelectors": [*fields, *({"field": key, "equals": value} for key, value in more.items())]}


OF_DATA = objects("arn:aws:s3:::data-1234567/")


def trail(*selectors, **inputs):
    made_of = {"advancedEventSelectors": [DATA], "s3BucketName": [FILES]}
    sound = {
        "advancedEventSelectors": list(selectors),
        "isMultiRegionTrail": True,
        "enableLogFileValidation": True,
        "kmsKeyId": "k",
    }
    return made(TRAIL, "trail", {**sound, **inputs}, uses=made_of)


def basic(**selector):
    resources = [{"type": "AWS::S3::Object", "values": ["arn:aws:s3:::data-1234567/"]}]
    return trail(eventSelectors=[{"dataResources": resources, **selector}])


def lock(mode="GOVERNANCE", **kept):
    rule = {"defaultRetention": {"mode": mode, **kept}}
    return made(BUCKET_OBJECT_LOCK, "lock", {"rule": rule}, uses={"bucket": [FILES]})


LOGGED = made(BUCKET_LOGGING, "logging", {}, uses={"bucket": [DATA], "targetBucket": [FILES]})
KEEP = {
    "Effect": "Deny",
    "Principal": {"AWS": "*"},
    "Action": ["s3:DeleteObject", "s3:DeleteObjectVersion"],
    "Resource": "arn:aws:s3:::files-1234567/*",
}


def policy(statement):
    document = statement if statement is UNKNOWN else json.dumps({"Statement": [statement]})
    return made(BUCKET_POLICY, "policy", {"policy": document}, uses={"bucket": [FILES]})


GUARD = made(DETECTOR, "detector", {"enable": True})
CLUSTER = made(EKS_CLUSTER, "cluster", {})


def feature(name, status="ENABLED", of=GUARD):
    return made(DETECTOR_FEATURE, name, {"name": name, "status": status}, uses={"detectorId": [of]})


WATCHED = [GUARD, feature("S3_DATA_EVENTS"), feature("EKS_AUDIT_LOGS")]


def said(**audit):
    return {"audit": audit}


USER = "arn:aws:iam::123456789012:user/on-call"
MFA = {"Bool": {"aws:MultiFactorAuthPresent": "true"}}


def role(condition=None, **principal):
    statement = {"Effect": "Allow", "Principal": principal or {"AWS": [USER]}, "Action": "sts:AssumeRole"}
    document = {"Statement": [{**statement, **({"Condition": condition} if condition else {})}]}
    return made(ROLE, "break-glass", {"assumeRolePolicy": json.dumps(document)})


def alarm(of, state="ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS", event="AssumeRole"):
    pattern = json.dumps({"detail": {"eventName": [event]}})
    return made(EVENT_RULE, "alarm", {"eventPattern": pattern, "state": state}, uses={"eventPattern": [of]})


def told(rule):
    return made(EVENT_TARGET, "target", {"arn": "arn:aws:sns:us-east-1:123456789012:alerts"}, uses={"rule": [rule]})


ASKS = role(MFA)


def eks(mode="API", **access):
    return made(EKS_CLUSTER, "cluster", {"accessConfig": {"authenticationMode": mode, **access}})


def administers(of, name="AmazonEKSClusterAdminPolicy"):
    arn = f"arn:aws:eks::aws:cluster-access-policy/{name}"
    return made(ACCESS_POLICY_ASSOCIATION, "admin", {"policyArn": arn}, uses={"clusterName": [of]})


NAMED = eks(bootstrapClusterCreatorAdminPermissions=False)

AT_HOME = provider("me-central-1")
IN_UAE = "s3://state?region=me-central-1&awssdk=v2"
KEY_ARN = "arn:aws:kms:me-central-1:123456789012:key/11111111-2222-3333-4444-555555555555"


def kept(backend, secrets_provider=""):
    return {READ: "true", BACKEND: backend, SECRETS_PROVIDER: secrets_provider}


CASES = [
    *table(
        "objects-without-trail",
        ("all", OK, [DATA, FILES, trail(EVERYTHING, OF_DATA)]),
        ("no trail", VIOLATED, DATA),
        ("no bucket, no trail", OK, []),
        ("the organisation's", NOT_APPLICABLE, DATA, said(trail={"by": "organization", "reason": "the landing zone"})),
        ("none, and why", NOT_APPLICABLE, DATA, said(trail={"by": "none", "reason": "a sandbox of a week"})),
        ("said to be the stack's", VIOLATED, DATA, said(trail={"by": "stack"})),
        ("elsewhere", NOT_APPLICABLE, DATA, {}, {"elsewhere": True}),
        ("switched off", VIOLATED, [DATA, FILES, trail(EVERYTHING, OF_DATA, enableLogging=False)]),
        ("one region", VIOLATED, [DATA, FILES, trail(EVERYTHING, OF_DATA, isMultiRegionTrail=False)]),
        ("no management events", VIOLATED, [DATA, FILES, trail(OF_DATA)]),
        (
            "without the uses of keys",
            VIOLATED,
            [
                DATA,
                FILES,
                trail(
                    {
                        "fieldSelectors": [
                            *EVERYTHING["fieldSelectors"],
                            {"field": "eventSource", "notEquals": ["kms.amazonaws.com"]},
                        ]
                    },
                    OF_DATA,
                ),
            ],
        ),
        ("one tier missing", VIOLATED, [DATA, ARTIFACTS, FILES, trail(EVERYTHING, OF_DATA)]),
        ("every bucket of the account", OK, [DATA, ARTIFACTS, FILES, trail(EVERYTHING, objects())]),
        ("a beginning of many", OK, [DATA, FILES, trail(EVERYTHING, objects("arn:aws:s3:::data"))]),
        ("a prefix of a bucket", VIOLATED, [DATA, FILES, trail(EVERYTHING, objects("arn:aws:s3:::data-1234567/x/"))]),
        (
            "reads only",
            VIOLATED,
            [DATA, FILES, trail(EVERYTHING, objects("arn:aws:s3:::data-1234567/", readOnly=["true"]))],
        ),
        ("of another trail's own files", OK, [DATA, FILES, LOGGED, trail(EVERYTHING, OF_DATA)]),
        ("basic selectors", OK, [DATA, FILES, basic()]),
        ("basic, writes only", VIOLATED, [DATA, FILES, basic(readWriteType="WriteOnly")]),
        ("basic, without keys", VIOLATED, [DATA, FILES, basic(excludeManagementEventSources=["kms.amazonaws.com"])]),
        ("unknown, made of the bucket", OK, [DATA, FILES, trail(EVERYTHING, objects(UNKNOWN))]),
        ("unknown, made of another", VIOLATED, [DATA, ARTIFACTS, FILES, trail(EVERYTHING, objects(UNKNOWN))]),
        ("selectors unknown", UNDECIDED, [DATA, FILES, unknown(trail(), "advancedEventSelectors")]),
    ),
    *table(
        "record-can-be-changed",
        ("sound", OK, [trail(), FILES, lock(days=90)]),
        ("for ever", OK, [trail(), FILES, lock("COMPLIANCE", years=7)]),
        ("a bucket of somebody else", OK, [trail()]),
        ("no validation", VIOLATED, [trail(enableLogFileValidation=False), FILES, lock(days=90)]),
        ("no key", VIOLATED, [trail(kmsKeyId=None), FILES, lock(days=90)]),
        ("no lock", VIOLATED, [trail(), FILES]),
        ("a day", VIOLATED, [trail(), FILES, lock(days=1)]),
        ("a day is enough", OK, [trail(), FILES, lock(days=1)], {}, {"minLockDays": 1}),
        ("a lock of no mode", VIOLATED, [trail(), FILES, lock(None, days=90)]),
        ("unknown", UNDECIDED, [trail(), FILES, unknown(lock(days=90), "rule")]),
    ),
    *table(
        "access-logs-can-be-deleted",
        ("kept", OK, [DATA, FILES, LOGGED, policy(KEEP)]),
        ("no policy", VIOLATED, [DATA, FILES, LOGGED]),
        ("one version", VIOLATED, [DATA, FILES, LOGGED, policy({**KEEP, "Action": "s3:DeleteObject"})]),
        ("by a wildcard", OK, [DATA, FILES, LOGGED, policy({**KEEP, "Action": "s3:DeleteObject*"})]),
        ("of some", VIOLATED, [DATA, FILES, LOGGED, policy({**KEEP, "Principal": {"AWS": USER}})]),
        ("at times", VIOLATED, [DATA, FILES, LOGGED, policy({**KEEP, "Condition": MFA})]),
        ("allowed", VIOLATED, [DATA, FILES, LOGGED, policy({**KEEP, "Effect": "Allow"})]),
        ("no logs", OK, [DATA, FILES]),
        ("about to go", OK, [DATA, bucket("files", protect=False), LOGGED]),
        ("unknown", UNDECIDED, [DATA, FILES, LOGGED, policy(UNKNOWN)]),
    ),
    *table(
        "no-threat-detection",
        ("watched", OK, [DATA, CLUSTER, *WATCHED]),
        ("no detector", VIOLATED, [DATA]),
        ("off", VIOLATED, [DATA, made(DETECTOR, "detector", {"enable": False})]),
        ("without objects", VIOLATED, [DATA, GUARD, feature("S3_DATA_EVENTS", "DISABLED")]),
        ("without clusters", VIOLATED, [DATA, CLUSTER, GUARD, feature("S3_DATA_EVENTS")]),
        ("there is no cluster", OK, [DATA, GUARD, feature("S3_DATA_EVENTS")]),
        ("the account's", NOT_APPLICABLE, DATA, said(threatDetection={"by": "account", "reason": "security account"})),
        ("nothing to watch", NOT_APPLICABLE, []),
        ("elsewhere", NOT_APPLICABLE, DATA, {}, {"elsewhere": True}),
        ("unknown", UNDECIDED, [DATA, GUARD, feature("S3_DATA_EVENTS", UNKNOWN)]),
    ),
    *table(
        "people-take-role-unnoticed",
        ("told", OK, [ASKS, alarm(ASKS), told(alarm(ASKS))]),
        ("no second factor", VIOLATED, [role(), alarm(role()), told(alarm(role()))]),
        (
            "a second factor if there is one",
            VIOLATED,
            [
                role({"BoolIfExists": {"aws:MultiFactorAuthPresent": "true"}}),
                alarm(ASKS),
                told(alarm(ASKS)),
            ],
        ),
        ("no alarm", VIOLATED, [ASKS]),
        ("an alarm on another role", VIOLATED, [ASKS, alarm(made(ROLE, "other", {})), told(alarm(ASKS))]),
        ("an alarm on something else", VIOLATED, [ASKS, alarm(ASKS, event="StopLogging"), told(alarm(ASKS))]),
        ("an alarm that never rings", VIOLATED, [ASKS, alarm(ASKS, "ENABLED"), told(alarm(ASKS))]),
        ("an alarm that is off", VIOLATED, [ASKS, alarm(ASKS, "DISABLED"), told(alarm(ASKS))]),
        ("an alarm that nobody hears", VIOLATED, [ASKS, alarm(ASKS)]),
        ("a role of a service", OK, role(Service="ec2.amazonaws.com")),
        ("a role of a pipeline", OK, role(AWS="arn:aws:iam::123456789012:role/deploy")),
        ("unknown", UNDECIDED, unknown(ASKS, "assumeRolePolicy")),
    ),
    *table(
        "cluster-creator-is-admin",
        ("named", OK, [NAMED, administers(NAMED)]),
        ("its creator", VIOLATED, [eks(bootstrapClusterCreatorAdminPermissions=True), administers(eks())]),
        ("its creator, as nothing is said", VIOLATED, [eks(), administers(eks())]),
        (
            "both kinds of list",
            OK,
            [eks("API_AND_CONFIG_MAP", bootstrapClusterCreatorAdminPermissions=False), administers(NAMED)],
        ),
        ("the config map alone", VIOLATED, [eks("CONFIG_MAP", bootstrapClusterCreatorAdminPermissions=False)]),
        ("nothing said at all", VIOLATED, made(EKS_CLUSTER, "cluster", {})),
        ("nobody", VIOLATED, NAMED),
        ("a reader", VIOLATED, [NAMED, administers(NAMED, "AmazonEKSViewPolicy")]),
        ("unknown", UNDECIDED, unknown(NAMED, "accessConfig")),
    ),
    *table(
        "state-outside-residency",
        ("no regime", NOT_APPLICABLE, AT_HOME, {}, {}, kept("")),
        ("an engine does not tell", NOT_APPLICABLE, AT_HOME, UAE),
        ("an engine does not tell, the settings do", OK, AT_HOME, {**UAE, "stateBackend": IN_UAE}),
        ("Pulumi Cloud by default", VIOLATED, AT_HOME, UAE, {}, kept("")),
        ("Pulumi Cloud by name", VIOLATED, AT_HOME, UAE, {}, kept("https://api.pulumi.com")),
        ("Pulumi Cloud is in the United States", OK, AT_HOME, US, {}, kept("")),
        ("a bucket inside", OK, AT_HOME, UAE, {}, kept(IN_UAE)),
        ("a bucket outside", VIOLATED, AT_HOME, UAE, {}, kept("s3://state?region=us-east-1")),
        ("a bucket without a region", VIOLATED, AT_HOME, UAE, {}, kept("s3://state")),
        ("a bucket elsewhere", VIOLATED, AT_HOME, UAE, {}, kept(f"{IN_UAE}&endpoint=s3.example.com")),
        ("Google's", VIOLATED, AT_HOME, UAE, {}, kept("gs://state")),
        ("Google's, inside", OK, AT_HOME, {**UAE, "stateRegion": "me-central-1"}, {}, kept("gs://state")),
        ("Google's, outside", VIOLATED, AT_HOME, {**UAE, "stateRegion": "us-central1"}, {}, kept("gs://state")),
        ("a disk, whatever is said", VIOLATED, AT_HOME, {**UAE, "stateRegion": "me-central-1"}, {}, kept("file://~")),
        (
            "a URL says another",
            VIOLATED,
            AT_HOME,
            {**UAE, "stateRegion": "me-central-1"},
            {},
            kept("s3://state?region=us-east-1"),
        ),
        ("Google's, known", OK, AT_HOME, UAE, {"accepted": ["gs://state"]}, kept("gs://state")),
        ("Azure's", VIOLATED, AT_HOME, UAE, {}, kept("azblob://state?storage_account=acme")),
        (
            "Azure's, known",
            OK,
            AT_HOME,
            UAE,
            {"accepted": ["azblob://state*"]},
            kept("azblob://state?storage_account=a"),
        ),
        ("no URL", VIOLATED, AT_HOME, UAE, {}, kept("s3://[state")),
        ("a disk", VIOLATED, AT_HOME, UAE, {}, kept("file://~")),
        ("a host of one's own", VIOLATED, AT_HOME, UAE, {}, kept("https://pulumi.acme.example")),
        (
            "said twice, one outside",
            VIOLATED,
            AT_HOME,
            {**UAE, "stateBackend": IN_UAE},
            {},
            kept("s3://x?region=eu-west-1"),
        ),
        ("a passphrase", OK, AT_HOME, UAE, {}, kept(IN_UAE, "passphrase")),
        ("a key inside", OK, AT_HOME, UAE, {}, kept(IN_UAE, "awskms://alias/state?region=me-central-1")),
        ("a key outside", VIOLATED, AT_HOME, UAE, {}, kept(IN_UAE, "awskms://alias/state?region=us-east-1")),
        ("a key by its ARN", OK, AT_HOME, UAE, {}, kept(IN_UAE, f"awskms:///{KEY_ARN}")),
        ("a key without a region", VIOLATED, AT_HOME, UAE, {}, kept(IN_UAE, "awskms://alias/state")),
        (
            "Google's key",
            VIOLATED,
            AT_HOME,
            UAE,
            {},
            kept(IN_UAE, "gcpkms://projects/p/locations/us/keyRings/r/cryptoKeys/k"),
        ),
        ("Azure's key", VIOLATED, AT_HOME, UAE, {}, kept(IN_UAE, "azurekeyvault://acme.vault.azure.net/keys/state")),
        ("a vault, known", OK, AT_HOME, UAE, {"accepted": ["hashivault://*"]}, kept(IN_UAE, "hashivault://state")),
        ("provider unknown", OK, unknown(AT_HOME, "region"), UAE, {}, kept(IN_UAE)),
    ),
]
