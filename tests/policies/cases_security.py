"""Truth tables of encryption, exposure and the network."""

import json

from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, bucket, kubernetes, made, node_group, table, unknown
from trainyard.recorded.types import ACCOUNT_PUBLIC_ACCESS

KEY = made("aws:kms/key:Key", "key", {"enableKeyRotation": True, "deletionWindowInDays": 30}, protect=True)


REPLICA = made("aws:kms/replicaKey:ReplicaKey", "away", {"primaryKeyArn": UNKNOWN}, uses={"primaryKeyArn": [KEY]})
ALIAS = made("aws:kms/alias:Alias", "called", {"name": "alias/data"}, uses={"targetKeyId": [KEY]})
NO_KEYS = made("aws:kms/alias:Alias", "elsewhere", {"name": "alias/x", "targetKeyId": "arn:k"})


def topic(**more):
    return made("aws:sns/topic:Topic", "alerts", more.pop("inputs", {"kmsMasterKeyId": UNKNOWN}), **more)


def encryption(of, *keys):
    type_ = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    default = {"sseAlgorithm": "aws:kms" if keys else "AES256", "kmsMasterKeyId": UNKNOWN if keys else None}
    rules = [{"applyServerSideEncryptionByDefault": default}]
    return made(type_, f"{of.name}-encryption", {"rules": rules}, uses={"bucket": [of], "rules": keys})


def template(**inputs):
    return made("aws:ec2/launchTemplate:LaunchTemplate", "template", inputs, uses={"blockDeviceMappings": [KEY]})


def launched_by(**group):
    """A group of machines of a template."""
    return lambda of: made("aws:autoscaling/group:Group", "scaled", group, uses={"launchTemplate": [of]})


def two_hops(group):
    launched = template(
        metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": 2}, userData="IyEvYmluL3No"
    )
    return [launched, group(launched)]


def disk(encrypted):
    ebs = {"encrypted": encrypted, "kmsKeyId": UNKNOWN}
    return template(blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": ebs}])


def on(of, type_, **inputs):
    return made(type_, f"{of.name}-{type_.rsplit(':', 1)[1]}", inputs, uses={"bucket": [of]})


def bucket_policy(of, *statements):
    return on(of, "aws:s3/bucketPolicy:BucketPolicy", policy=json.dumps({"Statement": statements}))


DENY_HTTP = {
    "Effect": "Deny",
    "Principal": {"AWS": "*"},
    "Action": "s3:*",
    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
}
LOGS = bucket("logs")
LOGGING = made(
    "aws:s3/bucketLogging:BucketLogging", "data-logging", {}, uses={"bucket": [bucket()], "targetBucket": [LOGS]}
)
BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
PARAMETERS = made(
    "aws:rds/parameterGroup:ParameterGroup", "parameters", {"parameters": [{"name": "rds.force_ssl", "value": "1"}]}
)


def database(*groups, **inputs):
    uses = {"parameterGroupName": groups, "kmsKeyId": [KEY]}
    return made("aws:rds/instance:Instance", "db", {"storageEncrypted": True, **inputs}, uses=uses)


FORCED = database(PARAMETERS, identifier="db", replicateSourceDb="")


def replica(source, **inputs):
    return made("aws:rds/instance:Instance", "copy", {"replicateSourceDb": source, **inputs})


def cloud_sql(**address):
    return made("gcp:sql/databaseInstance:DatabaseInstance", "db", {"settings": {"ipConfiguration": address}})


def firewall(*sources, **inputs):
    allows = [{"protocol": "tcp", "ports": ["443"]}]
    return made("gcp:compute/firewall:Firewall", "in", {"sourceRanges": list(sources), "allows": allows, **inputs})


def blocks(of, **changes):
    return on(of, "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", **(dict.fromkeys(BLOCKS, True) | changes))


def of_account(**changes):
    """What blocks public access in the whole account."""
    return made(ACCOUNT_PUBLIC_ACCESS, "account", dict.fromkeys(BLOCKS, True) | changes)


def cluster(**network):
    network = {"endpointPrivateAccess": True, "endpointPublicAccess": False, **network}
    return made("aws:eks/cluster:Cluster", "cluster", {"vpcConfig": network})


def rule(direction="Ingress", **inputs):
    return made(f"aws:vpc/securityGroup{direction}Rule:SecurityGroup{direction}Rule", "rule", inputs)


def service(**more):
    return kubernetes("core/v1:Service", "mlflow", "mlflow", **more)


GKE = "gcp:container/cluster:Cluster"
PRIVATE_NODES = {"enablePrivateNodes": True}
BY_NAME = {"controlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enabled": False}}}


def gke(**inputs):
    closed = {"privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": True}}
    return made(GKE, "c", {**closed, **inputs})


def networks(*cidrs):
    return {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": cidr} for cidr in cidrs]}}


GCS = "gcp:storage/bucket:Bucket"
INTERNAL = {"service.beta.kubernetes.io/aws-load-balancer-scheme": "internal"}
PUBLIC = "0.0.0.0/0"

CASES = [
    *table(
        "storage-without-environment-key",
        ("made of the key", OK, [KEY, topic(uses={"kmsMasterKeyId": [KEY]})]),
        ("by the key's name", OK, [KEY, ALIAS, topic(uses={"kmsMasterKeyId": [ALIAS]})]),
        (
            "by the name of another key",
            VIOLATED,
            [KEY, NO_KEYS, topic(inputs={"kmsMasterKeyId": "alias/x"}, uses={"kmsMasterKeyId": [NO_KEYS]})],
        ),
        ("a key's replica", OK, [KEY, REPLICA, bucket(), encryption(bucket(), REPLICA)]),
        ("no key", VIOLATED, [KEY, topic(inputs={})]),
        ("a replica, by its source's", OK, [KEY, replica("db")]),
        (
            "a replica in another region",
            VIOLATED,
            [KEY, replica("arn:aws:rds:us-west-2:1:db:db", storageEncrypted=True)],
        ),
        ("a replica by the cloud's key", VIOLATED, [KEY, replica("db", kmsKeyId="alias/aws/rds")]),
        ("the cloud's key", VIOLATED, [KEY, topic(inputs={"kmsMasterKeyId": "alias/aws/sns"})]),
        ("a named foreign key", OK, topic(inputs={"kmsMasterKeyId": "arn:k"}), {}, {"keyArns": ["arn:k"]}),
        ("unknown, of the key", OK, [KEY, topic(uses={"kmsMasterKeyId": [KEY]})]),
        ("unknown, of nothing here", UNDECIDED, [KEY, topic()]),
        ("bucket", OK, [KEY, bucket(), encryption(bucket(), KEY)]),
        ("bucket without", VIOLATED, [KEY, bucket()]),
        ("bucket with the service's key", VIOLATED, [KEY, bucket(), encryption(bucket())]),
        ("bucket of access logs", OK, [KEY, bucket(), encryption(bucket(), KEY), LOGS, encryption(LOGS), LOGGING]),
        ("disk", OK, [KEY, disk("true")]),
        ("disk in the clear", VIOLATED, [KEY, disk("false")]),
        ("database in the clear", VIOLATED, [KEY, database(storageEncrypted=False)]),
        ("GCS", OK, made(GCS, "b", {"encryption": {"defaultKmsKeyName": "k"}})),
        ("GCS without", VIOLATED, made(GCS, "b", {})),
        ("GKE", OK, made(GKE, "c", {"databaseEncryption": {"state": "ENCRYPTED"}})),
        ("GKE without", VIOLATED, made(GKE, "c", {})),
    ),
    *table(
        "key-without-rotation",
        ("sound", OK, KEY),
        ("never rotates", VIOLATED, made(KEY.type, "key", {"enableKeyRotation": False})),
        ("gone in a week", VIOLATED, made(KEY.type, "key", {"enableKeyRotation": True, "deletionWindowInDays": 7})),
        ("AWS decides", OK, made(KEY.type, "key", {"enableKeyRotation": True})),
        ("unknown", UNDECIDED, unknown(KEY, "enableKeyRotation")),
    ),
    *table(
        "bucket-accepts-plain-http",
        ("denied", OK, [bucket(), bucket_policy(bucket(), DENY_HTTP)]),
        (
            "denied, in a list",
            OK,
            [
                bucket(),
                bucket_policy(bucket(), {**DENY_HTTP, "Condition": {"Bool": {"aws:SecureTransport": ["false"]}}}),
            ],
        ),
        (
            "denied with TLS alone",
            VIOLATED,
            [bucket(), bucket_policy(bucket(), {**DENY_HTTP, "Condition": {"Bool": {"aws:SecureTransport": "true"}}})],
        ),
        ("no policy", VIOLATED, bucket()),
        ("denied to one role", VIOLATED, [bucket(), bucket_policy(bucket(), {**DENY_HTTP, "Principal": {"AWS": "r"}})]),
        ("only reads denied", VIOLATED, [bucket(), bucket_policy(bucket(), {**DENY_HTTP, "Action": "s3:GetObject"})]),
        ("allowed", VIOLATED, [bucket(), bucket_policy(bucket(), {**DENY_HTTP, "Effect": "Allow"})]),
        ("unknown", UNDECIDED, [bucket(), unknown(bucket_policy(bucket()), "policy")]),
    ),
    *table(
        "database-accepts-plain-connections",
        ("forced", OK, [database(PARAMETERS), PARAMETERS]),
        ("Cloud SQL, TLS", OK, cloud_sql(sslMode="ENCRYPTED_ONLY")),
        ("Cloud SQL, both", VIOLATED, cloud_sql(sslMode="ALLOW_UNENCRYPTED_AND_ENCRYPTED")),
        ("no group", VIOLATED, database()),
        ("a replica of what forces it", OK, [FORCED, PARAMETERS, replica("db")]),
        ("a replica with its own group", VIOLATED, [FORCED, PARAMETERS, replica("db", parameterGroupName="default")]),
        ("a replica in another region", VIOLATED, [FORCED, PARAMETERS, replica("arn:aws:rds:us-west-2:1:db:db")]),
        ("not set", VIOLATED, [database(PARAMETERS), made(PARAMETERS.type, "parameters", {"parameters": []})]),
        ("unknown", UNDECIDED, [database(PARAMETERS), unknown(PARAMETERS, "parameters")]),
    ),
    *table(
        "public-bucket",
        ("blocked", OK, [bucket(), blocks(bucket())]),
        ("not blocked", VIOLATED, bucket()),
        ("three of four", VIOLATED, [bucket(), blocks(bucket(), blockPublicPolicy=False)]),
        ("blocked in the whole account", OK, [bucket(), of_account()]),
        ("three of four in the account", VIOLATED, [bucket(), of_account(ignorePublicAcls=False)]),
        (
            "everybody",
            VIOLATED,
            [
                bucket(),
                blocks(bucket()),
                bucket_policy(bucket(), {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}),
            ],
        ),
        ("deny to everybody", OK, [bucket(), blocks(bucket()), bucket_policy(bucket(), DENY_HTTP)]),
        (
            "everybody, by the bucket's own policy",
            VIOLATED,
            [
                bucket(policy=json.dumps({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*"}})),
                blocks(bucket()),
            ],
        ),
        (
            "all but one",
            VIOLATED,
            [bucket(), blocks(bucket()), bucket_policy(bucket(), {"Effect": "Allow", "NotPrincipal": {"AWS": "arn"}})],
        ),
        ("unknown", UNDECIDED, [bucket(), blocks(bucket(), blockPublicAcls=UNKNOWN)]),
        ("GCS", OK, made(GCS, "b", {"publicAccessPrevention": "enforced"})),
        ("GCS inherited", VIOLATED, made(GCS, "b", {"publicAccessPrevention": "inherited"})),
    ),
    *table(
        "public-database",
        ("private", OK, database(publiclyAccessible=False)),
        ("not said", OK, database()),
        ("public", VIOLATED, database(publiclyAccessible=True)),
        ("unknown", UNDECIDED, database(publiclyAccessible=UNKNOWN)),
        ("Cloud SQL, private", OK, cloud_sql(ipv4Enabled=False)),
        ("Cloud SQL, not said", VIOLATED, cloud_sql()),
    ),
    *table(
        "public-cluster-endpoint",
        ("private", OK, cluster()),
        (
            "public by default",
            VIOLATED,
            made("aws:eks/cluster:Cluster", "c", {"vpcConfig": {"endpointPrivateAccess": True}}),
        ),
        ("open", VIOLATED, cluster(endpointPublicAccess=True, publicAccessCidrs=[PUBLIC])),
        ("named networks", OK, cluster(endpointPublicAccess=True, publicAccessCidrs=["203.0.113.0/24"])),
        (
            "named networks refused",
            VIOLATED,
            cluster(endpointPublicAccess=True, publicAccessCidrs=["203.0.113.0/24"]),
            {},
            {"namedNetworks": False},
        ),
        ("no private one", VIOLATED, cluster(endpointPrivateAccess=False)),
        ("unknown", UNDECIDED, cluster(endpointPublicAccess=UNKNOWN)),
        ("GKE", OK, gke()),
        ("GKE public nodes", VIOLATED, gke(privateClusterConfig={"enablePrivateEndpoint": True})),
        ("GKE, address open to everybody", VIOLATED, gke(privateClusterConfig=PRIVATE_NODES)),
        ("GKE, by its name alone", OK, gke(privateClusterConfig=PRIVATE_NODES, **BY_NAME)),
        ("GKE, by address for nobody", OK, gke(privateClusterConfig=PRIVATE_NODES, masterAuthorizedNetworksConfig={})),
        ("GKE, for an office", OK, gke(privateClusterConfig=PRIVATE_NODES, **networks("198.51.100.0/24"))),
        ("GKE, for the internet", VIOLATED, gke(privateClusterConfig=PRIVATE_NODES, **networks("0.0.0.0/0"))),
        (
            "GKE, for everybody's machines",
            VIOLATED,
            gke(
                privateClusterConfig=PRIVATE_NODES, masterAuthorizedNetworksConfig={"gcpPublicCidrsAccessEnabled": True}
            ),
        ),
        (
            "GKE, for an office where none may",
            VIOLATED,
            gke(privateClusterConfig=PRIVATE_NODES, **networks("198.51.100.0/24")),
            {},
            {"namedNetworks": False},
        ),
    ),
    *table(
        "public-load-balancer",
        ("cluster only", OK, service(spec={"type": "ClusterIP"})),
        ("public", VIOLATED, service(spec={"type": "LoadBalancer"})),
        ("internal", OK, service(spec={"type": "LoadBalancer"}, annotations=INTERNAL)),
        ("ingress", VIOLATED, kubernetes("networking.k8s.io/v1:Ingress", "mlflow", "mlflow", spec={})),
        ("chart", VIOLATED, kubernetes("helm.sh/v3:Release", "r", values={"service": {"type": "LoadBalancer"}})),
        (
            "internal chart",
            OK,
            kubernetes(
                "helm.sh/v3:Release", "r", values={"service": {"type": "LoadBalancer", "annotations": INTERNAL}}
            ),
        ),
        ("chart with unknowns", OK, kubernetes("helm.sh/v3:Release", "r", values={"service": {"type": UNKNOWN}})),
        ("balancer", VIOLATED, made("aws:lb/loadBalancer:LoadBalancer", "lb", {})),
        ("internal balancer", OK, made("aws:lb/loadBalancer:LoadBalancer", "lb", {"internal": True})),
        ("unknown", UNDECIDED, service(spec={"type": UNKNOWN})),
    ),
    *table(
        "security-group-open-to-internet",
        ("firewall, inside", OK, firewall("10.0.0.0/8")),
        ("firewall, anyone", VIOLATED, firewall("10.0.0.0/8", PUBLIC)),
        ("firewall, half of it", VIOLATED, firewall("128.0.0.0/1")),
        ("firewall, nobody", OK, firewall(PUBLIC, allows=[], denies=[{"protocol": "all"}])),
        ("inside", OK, rule(cidrIpv4="10.0.0.0/16", fromPort=443, toPort=443, ipProtocol="tcp")),
        ("anyone", VIOLATED, rule(cidrIpv4=PUBLIC, fromPort=443, toPort=443, ipProtocol="tcp")),
        ("anyone over IPv6", VIOLATED, rule(cidrIpv6="::/0", ipProtocol="-1")),
        ("everything out", VIOLATED, rule("Egress", cidrIpv4=PUBLIC, ipProtocol="-1")),
        ("HTTPS out", OK, rule("Egress", cidrIpv4=PUBLIC, ipProtocol="tcp", fromPort=443, toPort=443)),
        ("inline", VIOLATED, made("aws:ec2/securityGroup:SecurityGroup", "g", {"ingress": [{"cidrBlocks": [PUBLIC]}]})),
        ("a group", OK, rule(referencedSecurityGroupId=UNKNOWN, ipProtocol="-1")),
        ("unknown", UNDECIDED, rule(cidrIpv4=UNKNOWN, ipProtocol="tcp")),
    ),
    *table(
        "node-with-public-address",
        ("private", OK, made("aws:ec2/subnet:Subnet", "s", {"mapPublicIpOnLaunch": False})),
        ("subnet", VIOLATED, made("aws:ec2/subnet:Subnet", "s", {"mapPublicIpOnLaunch": True})),
        ("interface", VIOLATED, template(networkInterfaces=[{"associatePublicIpAddress": "true"}])),
        ("SSH", VIOLATED, node_group(remoteAccess={"ec2SshKey": "k"})),
        ("unknown", UNDECIDED, made("aws:ec2/subnet:Subnet", "s", {"mapPublicIpOnLaunch": UNKNOWN})),
    ),
    *table(
        "instance-metadata-v1",
        ("tokens", OK, template(metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": 1})),
        ("optional", VIOLATED, template(metadataOptions={"httpTokens": "optional"})),
        ("nothing said", VIOLATED, template()),
        ("two hops", VIOLATED, template(metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": 2})),
        ("two hops, on machines that serve pages", OK, two_hops(launched_by())),
        ("two hops, on machines of ECS", VIOLATED, two_hops(launched_by(tags=[{"key": "AmazonECSManaged"}]))),
        (
            "two hops, on nodes of a group of their own",
            VIOLATED,
            two_hops(launched_by(tags=[{"key": "kubernetes.io/cluster/a"}])),
        ),
        ("off", OK, template(metadataOptions={"httpEndpoint": "disabled"})),
        ("unknown", UNDECIDED, template(metadataOptions=UNKNOWN)),
    ),
]
