"""An institute's folding on AWS: Slurm on machines of its own, EFA in a placement group, Lustre, homes, accounting."""

import base64
import json

import pulumi
import pulumi_aws as aws

ACCOUNT, REGION, ZONE = "456789012345", "eu-west-1", "eu-west-1a"
AMI = "ami-0a1b2c3d4e5f60718"
Opts = pulumi.ResourceOptions


def allow(actions, resources, **condition):
    statement = {"Effect": "Allow", "Action": actions, "Resource": resources}
    return {**statement, "Condition": condition} if condition else statement


def doc(*statements):
    return pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": list(statements)})


def assumed_by(service):
    return json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}],
        }
    )


# Network: one zone for the machines, a second for what wants two.
vpc = aws.ec2.Vpc("hpc", cidr_block="172.20.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
igw = aws.ec2.InternetGateway("hpc", vpc_id=vpc.id)
login_subnet = aws.ec2.Subnet("login", vpc_id=vpc.id, cidr_block="172.20.0.0/24", availability_zone=ZONE)
compute_subnet = aws.ec2.Subnet("compute", vpc_id=vpc.id, cidr_block="172.20.32.0/19", availability_zone=ZONE)
spare_subnet = aws.ec2.Subnet("spare", vpc_id=vpc.id, cidr_block="172.20.64.0/24", availability_zone="eu-west-1b")
to_internet = aws.ec2.RouteTable("login", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": igw.id}])
aws.ec2.RouteTableAssociation("login", subnet_id=login_subnet.id, route_table_id=to_internet.id)
address = aws.ec2.Eip("nat", domain="vpc")
nat = aws.ec2.NatGateway("hpc", subnet_id=login_subnet.id, allocation_id=address.id, opts=Opts(depends_on=[igw]))
to_nat = aws.ec2.RouteTable("compute", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "nat_gateway_id": nat.id}])
aws.ec2.RouteTableAssociation("compute", subnet_id=compute_subnet.id, route_table_id=to_nat.id)
aws.ec2.RouteTableAssociation("spare", subnet_id=spare_subnet.id, route_table_id=to_nat.id)
aws.ec2.VpcEndpoint(
    "s3", vpc_id=vpc.id, service_name=f"com.amazonaws.{REGION}.s3", route_table_ids=[to_nat.id, to_internet.id]
)

# Groups: members of the cluster talk to each other without limits, as EFA asks.
members = aws.ec2.SecurityGroup("members", vpc_id=vpc.id, description="Slurm nodes")
aws.vpc.SecurityGroupIngressRule(
    "members-in", security_group_id=members.id, ip_protocol="-1", referenced_security_group_id=members.id
)
aws.vpc.SecurityGroupEgressRule(
    "members-out", security_group_id=members.id, ip_protocol="-1", referenced_security_group_id=members.id
)
aws.vpc.SecurityGroupEgressRule("world-out", security_group_id=members.id, ip_protocol="-1", cidr_ipv4="0.0.0.0/0")
aws.vpc.SecurityGroupIngressRule(
    "ssh-in",
    security_group_id=members.id,
    ip_protocol="tcp",
    from_port=22,
    to_port=22,
    cidr_ipv4="198.51.100.0/24",
    description="Through the balancer, which keeps the address of who calls",
)
aws.vpc.SecurityGroupIngressRule(
    "ssh-check",
    security_group_id=members.id,
    ip_protocol="tcp",
    from_port=22,
    to_port=22,
    cidr_ipv4="172.20.0.0/24",
    description="Health checks of the balancer",
)
lustre_sg = aws.ec2.SecurityGroup(
    "lustre",
    vpc_id=vpc.id,
    description="Lustre",
    ingress=[
        {"protocol": "tcp", "from_port": 988, "to_port": 988, "security_groups": [members.id]},
        {"protocol": "tcp", "from_port": 1018, "to_port": 1023, "security_groups": [members.id]},
        {"protocol": "tcp", "from_port": 988, "to_port": 988, "self": True},
        {"protocol": "tcp", "from_port": 1018, "to_port": 1023, "self": True},
    ],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
home_sg = aws.ec2.SecurityGroup(
    "home",
    vpc_id=vpc.id,
    description="Homes by NFS",
    ingress=[{"protocol": "tcp", "from_port": 2049, "to_port": 2049, "security_groups": [members.id]}],
)
accounts_sg = aws.ec2.SecurityGroup(
    "accounts",
    vpc_id=vpc.id,
    description="MariaDB of slurmdbd",
    ingress=[{"protocol": "tcp", "from_port": 3306, "to_port": 3306, "security_groups": [members.id]}],
)

# Storage
LUSTRE_ROLES = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/*"
key = aws.kms.Key(
    "hpc",
    description="Data of folding",
    enable_key_rotation=True,
    deletion_window_in_days=30,
    policy=json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "Account",
                    "Effect": "Allow",
                    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                    "Action": "kms:*",
                    "Resource": "*",
                },
                {
                    "Sid": "LustreOnS3",
                    "Effect": "Allow",
                    "Principal": {"AWS": "*"},
                    "Action": ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey*", "kms:DescribeKey"],
                    "Resource": "*",
                    "Condition": {"ArnLike": {"aws:PrincipalArn": LUSTRE_ROLES}},
                },
            ],
        }
    ),
)
aws.kms.Alias("hpc", name="alias/folding", target_key_id=key.key_id)
corpus = aws.s3.Bucket("corpus", bucket="institute-folding-corpus")
aws.s3.BucketServerSideEncryptionConfiguration(
    "corpus",
    bucket=corpus.id,
    rules=[
        {
            "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn},
            "bucket_key_enabled": True,
        }
    ],
)
aws.s3.BucketPublicAccessBlock(
    "corpus",
    bucket=corpus.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
aws.s3.BucketPolicy(
    "corpus",
    bucket=corpus.id,
    policy=corpus.arn.apply(
        lambda arn: json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Sid": "TlsOnly",
                        "Effect": "Deny",
                        "Principal": "*",
                        "Action": "s3:*",
                        "Resource": [arn, f"{arn}/*"],
                        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                    }
                ],
            }
        )
    ),
)
scratch = aws.fsx.LustreFileSystem(
    "scratch",
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    storage_capacity=4800,
    per_unit_storage_throughput=250,
    file_system_type_version="2.15",
    data_compression_type="LZ4",
    subnet_ids=compute_subnet.id,
    security_group_ids=[lustre_sg.id],
    kms_key_id=key.arn,
    automatic_backup_retention_days=0,
)
aws.fsx.DataRepositoryAssociation(
    "corpus",
    file_system_id=scratch.id,
    file_system_path="/corpus",
    data_repository_path=corpus.bucket.apply(lambda name: f"s3://{name}/sequences/"),
    batch_import_meta_data_on_create=True,
    s3={
        "auto_import_policy": {"events": ["NEW", "CHANGED", "DELETED"]},
        "auto_export_policy": {"events": ["NEW", "CHANGED", "DELETED"]},
    },
)
home = aws.efs.FileSystem(
    "home",
    encrypted=True,
    kms_key_id=key.arn,
    throughput_mode="elastic",
    lifecycle_policies=[{"transition_to_ia": "AFTER_30_DAYS"}],
    tags={"Name": "folding-home", "backup": "daily"},
)
home_target = aws.efs.MountTarget(
    "home", file_system_id=home.id, subnet_id=compute_subnet.id, security_groups=[home_sg.id]
)

# Accounting
accounts_subnets = aws.rds.SubnetGroup(
    "accounts", name="folding-accounts", subnet_ids=[compute_subnet.id, spare_subnet.id]
)
accounts_parameters = aws.rds.ParameterGroup(
    "accounts",
    name="folding-accounts",
    family="mariadb10.11",
    parameters=[{"name": "innodb_lock_wait_timeout", "value": "900"}],
)
accounts = aws.rds.Instance(
    "accounts",
    identifier="folding-accounts",
    engine="mariadb",
    engine_version="10.11",
    instance_class="db.t4g.medium",
    allocated_storage=50,
    max_allocated_storage=200,
    storage_type="gp3",
    storage_encrypted=True,
    kms_key_id=key.arn,
    db_name="slurm_acct_db",
    username="slurm",
    manage_master_user_password=True,
    db_subnet_group_name=accounts_subnets.name,
    parameter_group_name=accounts_parameters.name,
    vpc_security_group_ids=[accounts_sg.id],
    backup_retention_period=14,
    backup_window="01:00-02:00",
    maintenance_window="Sun:03:00-Sun:04:00",
    deletion_protection=True,
    skip_final_snapshot=False,
    final_snapshot_identifier="folding-accounts-final",
)
munge = aws.secretsmanager.Secret("munge", name="folding/munge", kms_key_id=key.arn, recovery_window_in_days=7)

# Names within
inside = aws.route53.Zone("inside", name="folding.internal", vpcs=[{"vpc_id": vpc.id}])

# Rights
agent = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
ssm = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
roles, profiles = {}, {}
for kind in ("head", "node"):
    roles[kind] = aws.iam.Role(kind, name=f"folding-{kind}", assume_role_policy=assumed_by("ec2.amazonaws.com"))
    for label, managed in (("agent", agent), ("ssm", ssm)):
        aws.iam.RolePolicyAttachment(f"{kind}-{label}", role=roles[kind].name, policy_arn=managed)
    profiles[kind] = aws.iam.InstanceProfile(kind, name=f"folding-{kind}", role=roles[kind].name)
reads_munge = [
    allow(["secretsmanager:GetSecretValue"], munge.arn),
    allow(["kms:Decrypt"], key.arn),
]
logs = aws.cloudwatch.LogGroup("slurm", name="/folding/slurm", retention_in_days=60)
drains = aws.sqs.Queue("drains", name="folding-drains", visibility_timeout_seconds=120, message_retention_seconds=3600)
GROUP = f"arn:aws:autoscaling:{REGION}:{ACCOUNT}:autoScalingGroup:*:autoScalingGroupName/folding-gpu"
aws.iam.RolePolicy(
    "head",
    role=roles["head"].id,
    policy=doc(
        *reads_munge,
        allow(["autoscaling:SetDesiredCapacity", "autoscaling:CompleteLifecycleAction"], GROUP),
        allow(["autoscaling:DescribeAutoScalingGroups", "ec2:DescribeInstances"], "*"),
        allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], drains.arn),
        allow(["route53:ChangeResourceRecordSets"], inside.arn),
    ),
)
aws.iam.RolePolicy(
    "node",
    role=roles["node"].id,
    policy=doc(
        *reads_munge,
        allow(["kms:GenerateDataKey"], key.arn),
        allow(["s3:ListBucket"], corpus.arn),
        allow(["s3:GetObject"], corpus.arn.apply(lambda arn: f"{arn}/*")),
        allow(["s3:PutObject"], corpus.arn.apply(lambda arn: f"{arn}/results/*")),
    ),
)


def boot(kind):
    """What a machine does at its first start."""
    lines = pulumi.Output.concat(
        "#!/bin/bash\nset -euo pipefail\n",
        "mkdir -p /home /scratch\n",
        "mount -t nfs4 -o nfsvers=4.1,hard,timeo=600 ",
        home.dns_name,
        ":/ /home\n",
        "mount -t lustre -o relatime,flock ",
        scratch.dns_name,
        "@tcp:/",
        scratch.mount_name,
        " /scratch\n",
        "aws secretsmanager get-secret-value --region ",
        REGION,
        " --secret-id ",
        munge.name,
        " --query SecretBinary --output text | base64 -d > /etc/munge/munge.key\n",
        "chown munge: /etc/munge/munge.key && chmod 400 /etc/munge/munge.key\n",
        "systemctl enable --now munge\n",
        {
            "head": "systemctl enable --now slurmdbd slurmctld\n",
            "gpu": "slurmd -Z --conf-server head.folding.internal:6817\n",
            "login": "echo SACKD_OPTIONS=--conf-server=head.folding.internal:6817 > /etc/default/sackd\n"
            "systemctl enable --now sackd\n",
        }[kind],
    )
    return lines.apply(lambda text: base64.b64encode(text.encode()).decode())


# The head
head = aws.ec2.Instance(
    "head",
    ami=AMI,
    instance_type="m7i.xlarge",
    subnet_id=compute_subnet.id,
    vpc_security_group_ids=[members.id],
    iam_instance_profile=profiles["head"].name,
    user_data_base64=boot("head"),
    disable_api_termination=True,
    metadata_options={"http_tokens": "required", "http_endpoint": "enabled"},
    root_block_device={"volume_size": 60, "volume_type": "gp3", "encrypted": True},
    tags={"Name": "folding-head"},
    opts=Opts(depends_on=[home_target], ignore_changes=["ami"]),
)
state = aws.ebs.Volume(
    "state",
    availability_zone=ZONE,
    size=100,
    type="gp3",
    encrypted=True,
    kms_key_id=key.arn,
    tags={"Name": "folding-state", "snapshots": "daily"},
)
aws.ec2.VolumeAttachment("state", device_name="/dev/sdf", instance_id=head.id, volume_id=state.id)
aws.route53.Record(
    "head", zone_id=inside.zone_id, name="head.folding.internal", type="A", ttl=60, records=[head.private_ip]
)
aws.route53.Record(
    "accounts",
    zone_id=inside.zone_id,
    name="accounts.folding.internal",
    type="CNAME",
    ttl=60,
    records=[accounts.address],
)

# The GPUs
together = aws.ec2.PlacementGroup("gpu", name="folding-gpu", strategy="cluster")
gpu = aws.ec2.LaunchTemplate(
    "gpu",
    name="folding-gpu",
    image_id=AMI,
    instance_type="p4d.24xlarge",
    iam_instance_profile={"arn": profiles["node"].arn},
    user_data=boot("gpu"),
    placement={"group_name": together.name},
    network_interfaces=[
        {
            "device_index": 0 if card == 0 else 1,
            "network_card_index": card,
            "interface_type": "efa",
            "security_groups": [members.id],
            "delete_on_termination": "true",
        }
        for card in range(4)
    ],
    block_device_mappings=[
        {"device_name": "/dev/sda1", "ebs": {"volume_size": 200, "volume_type": "gp3", "encrypted": "true"}}
    ],
    metadata_options={"http_tokens": "required", "http_endpoint": "enabled"},
    tag_specifications=[{"resource_type": "instance", "tags": {"Name": "folding-gpu"}}],
)
gpus = aws.autoscaling.Group(
    "gpu",
    name="folding-gpu",
    min_size=0,
    max_size=16,
    desired_capacity=0,
    vpc_zone_identifiers=[compute_subnet.id],
    launch_template={"id": gpu.id, "version": gpu.latest_version.apply(str)},
    health_check_type="EC2",
    health_check_grace_period=600,
    suspended_processes=["AZRebalance"],
    opts=Opts(ignore_changes=["desiredCapacity"], depends_on=[home_target]),
)
aws.autoscaling.LifecycleHook(
    "drain",
    name="drain",
    autoscaling_group_name=gpus.name,
    lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING",
    heartbeat_timeout=1800,
    default_result="CONTINUE",
)
aws.autoscaling.Schedule(
    "weekend",
    scheduled_action_name="weekend",
    autoscaling_group_name=gpus.name,
    recurrence="0 20 * * 5",
    time_zone="Europe/Berlin",
    min_size=0,
    max_size=16,
    desired_capacity=0,
)
ending = aws.cloudwatch.EventRule(
    "ending",
    name="folding-ending",
    event_pattern=json.dumps(
        {
            "source": ["aws.autoscaling"],
            "detail-type": ["EC2 Instance-terminate Lifecycle Action"],
            "detail": {"AutoScalingGroupName": ["folding-gpu"], "LifecycleHookName": ["drain"]},
        }
    ),
)
aws.cloudwatch.EventTarget("ending", rule=ending.name, arn=drains.arn)
aws.sqs.QueuePolicy(
    "drains",
    queue_url=drains.url,
    policy=doc(
        {
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": drains.arn,
            "Condition": {"ArnEquals": {"aws:SourceArn": ending.arn}},
        }
    ),
)

# Where one logs in
login = aws.ec2.LaunchTemplate(
    "login",
    name="folding-login",
    image_id=AMI,
    instance_type="m7i.large",
    iam_instance_profile={"arn": profiles["node"].arn},
    vpc_security_group_ids=[members.id],
    user_data=boot("login"),
    metadata_options={"http_tokens": "required"},
)
balancer = aws.lb.LoadBalancer(
    "login",
    name="folding-login",
    load_balancer_type="network",
    subnets=[login_subnet.id],
)
shells = aws.lb.TargetGroup(
    "login",
    name="folding-ssh",
    vpc_id=vpc.id,
    target_type="instance",
    protocol="TCP",
    port=22,
    preserve_client_ip="true",
    stickiness={"type": "source_ip", "enabled": True},
    health_check={"protocol": "TCP", "port": "22", "interval": 30},
)
aws.lb.Listener(
    "login",
    load_balancer_arn=balancer.arn,
    protocol="TCP",
    port=22,
    default_actions=[{"type": "forward", "target_group_arn": shells.arn}],
)
aws.autoscaling.Group(
    "login",
    name="folding-login",
    min_size=1,
    max_size=2,
    desired_capacity=2,
    vpc_zone_identifiers=[compute_subnet.id],
    launch_template={"id": login.id, "version": "$Latest"},
    target_group_arns=[shells.arn],
    health_check_type="ELB",
    health_check_grace_period=300,
    opts=Opts(depends_on=[home_target]),
)
world = aws.route53.Zone("world", name="folding.institute.example")
aws.route53.Record(
    "login",
    zone_id=world.zone_id,
    name="login.folding.institute.example",
    type="A",
    aliases=[{"name": balancer.dns_name, "zone_id": balancer.zone_id, "evaluate_target_health": False}],
)

# Backups
snapshots_role = aws.iam.Role("snapshots", name="folding-snapshots", assume_role_policy=assumed_by("dlm.amazonaws.com"))
aws.iam.RolePolicyAttachment(
    "snapshots",
    role=snapshots_role.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AWSDataLifecycleManagerServiceRole",
)
aws.dlm.LifecyclePolicy(
    "state",
    description="State of slurmctld",
    execution_role_arn=snapshots_role.arn,
    state="ENABLED",
    policy_details={
        "resource_types": ["VOLUME"],
        "target_tags": {"snapshots": "daily"},
        "schedules": [
            {
                "name": "daily",
                "create_rule": {"interval": 24, "interval_unit": "HOURS", "times": "02:30"},
                "retain_rule": {"count": 7},
                "copy_tags": True,
            }
        ],
    },
)
backup_role = aws.iam.Role("backup", name="folding-backup", assume_role_policy=assumed_by("backup.amazonaws.com"))
aws.iam.RolePolicyAttachment(
    "backup",
    role=backup_role.name,
    policy_arn="arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup",
)
vault = aws.backup.Vault("home", name="folding-home", kms_key_arn=key.arn)
plan = aws.backup.Plan(
    "home",
    name="folding-home",
    rules=[
        {
            "rule_name": "daily",
            "target_vault_name": vault.name,
            "schedule": "cron(0 1 * * ? *)",
            "start_window": 60,
            "completion_window": 480,
            "lifecycle": {"cold_storage_after": 30, "delete_after": 180},
        }
    ],
)
aws.backup.Selection(
    "home",
    name="home",
    plan_id=plan.id,
    iam_role_arn=backup_role.arn,
    selection_tags=[{"type": "STRINGEQUALS", "key": "backup", "value": "daily"}],
)

# Watching
told = aws.sns.Topic("told", name="folding-told")
aws.sns.TopicSubscription("told", topic=told.arn, protocol="email", endpoint="hpc@institute.example")
aws.cloudwatch.MetricAlarm(
    "head-recover",
    name="folding-head-recover",
    namespace="AWS/EC2",
    metric_name="StatusCheckFailed_System",
    dimensions={"InstanceId": head.id},
    statistic="Minimum",
    period=60,
    evaluation_periods=2,
    threshold=0,
    comparison_operator="GreaterThanThreshold",
    alarm_actions=[f"arn:aws:automate:{REGION}:ec2:recover", told.arn],
)
aws.cloudwatch.MetricAlarm(
    "scratch-full",
    name="folding-scratch-full",
    namespace="AWS/FSx",
    metric_name="FreeDataStorageCapacity",
    dimensions={"FileSystemId": scratch.id},
    statistic="Sum",
    period=300,
    evaluation_periods=3,
    threshold=480 * 1024**3,
    comparison_operator="LessThanThreshold",
    alarm_actions=[told.arn],
)
aws.cloudwatch.MetricAlarm(
    "accounts-full",
    name="folding-accounts-full",
    namespace="AWS/RDS",
    metric_name="FreeStorageSpace",
    dimensions={"DBInstanceIdentifier": accounts.identifier},
    statistic="Minimum",
    period=300,
    evaluation_periods=1,
    threshold=5 * 1024**3,
    comparison_operator="LessThanThreshold",
    alarm_actions=[told.arn],
)
aws.cloudwatch.LogMetricFilter(
    "node-down",
    name="folding-node-down",
    log_group_name=logs.name,
    pattern='"not responding, setting DOWN"',
    metric_transformation={"name": "NodeDown", "namespace": "Folding", "value": "1", "default_value": "0"},
)
aws.cloudwatch.MetricAlarm(
    "node-down",
    name="folding-node-down",
    namespace="Folding",
    metric_name="NodeDown",
    statistic="Sum",
    period=300,
    evaluation_periods=1,
    threshold=0,
    comparison_operator="GreaterThanThreshold",
    treat_missing_data="notBreaching",
    alarm_actions=[told.arn],
)
aws.cloudwatch.MetricAlarm(
    "login-gone",
    name="folding-login-gone",
    namespace="AWS/NetworkELB",
    metric_name="HealthyHostCount",
    dimensions={"LoadBalancer": balancer.arn_suffix, "TargetGroup": shells.arn_suffix},
    statistic="Minimum",
    period=60,
    evaluation_periods=5,
    threshold=1,
    comparison_operator="LessThanThreshold",
    treat_missing_data="breaching",
    alarm_actions=[told.arn],
)
pulumi.export("login", "login.folding.institute.example")
