"""Every mistake that the rehearsal promises to catch, seeded into a small program."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.rehearsal.conftest import Run
from trainyard.problems import SettingsError
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.rehearsal.engine.other_stacks import outputs_in

NODES = 'Nodes("gpu", lambda name, opts: group(name, opts, {change}), pulumi.ResourceOptions(providers=[aws]))'

MISTAKES = {
    "misspelt nested key in a dict": (
        NODES.format(change='scaling_config={"min_size": 0, "max_size": 1, "desired_sized": 0}'),
        "unknown-key",
        ("gpu:", "aws:eks/nodeGroup:NodeGroup gpu-train", "scalingConfig.desired_sized", "did you mean desired_size?"),
    ),
    "misspelt nested key in a dict, in camel case": (
        NODES.format(change='scaling_config={"minSize": 0, "maxSize": 1, "desiredSized": 0}'),
        "unknown-key",
        ("scalingConfig.desiredSized", "did you mean desiredSize?"),
    ),
    "misspelt key of an args class": (
        NODES.format(change="scaling_config=eks.NodeGroupScalingConfigArgs(min_size=0, max_size=1, desired_sized=0)"),
        "unknown-key",
        ("gpu", "desired_sized", "NodeGroupScalingConfigArgs has no such argument", "did you mean desired_size?"),
    ),
    "misspelt key in a list of blocks": (
        NODES.format(change='taints=[{"key": "gpu", "effects": "NO_SCHEDULE", "effect": "NO_SCHEDULE"}]'),
        "unknown-key",
        ("taints[0].effects", "did you mean effect?"),
    ),
    "misspelt key of an accelerator, which the SDK lets by": (
        """
        import pulumi_gcp.container as container
        accelerators = [{"type": "nvidia-l4", "count": 1, "driver_version": "LATEST"}]
        taints = [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]
        container.NodePool("pool", cluster="c", node_config={"guest_accelerators": accelerators, "taints": taints})
        """,
        "unknown-key",
        ("gcp:container/nodePool:NodePool pool", "nodeConfig.guestAccelerators[0].driver_version"),
    ),
    "misspelt key four levels down": (
        """
        core.Pod("pod", spec={"containers": [{"name": "a", "readiness_probe": {"http_gett": {"port": 80}}}]},
                 opts=pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{}")))
        """,
        "unknown-key",
        ("spec.containers[0].readinessProbe.http_gett", "did you mean http_get?"),
    ),
    "misspelt key of a provider's block": (
        'Provider("other", region="us-east-1", default_tags={"tag": {"a": "b"}})',
        "unknown-key",
        ("pulumi:providers:aws other", "defaultTags.tag", "did you mean tags?"),
    ),
    "misspelt argument": (
        NODES.format(change='capacity_typ="SPOT"'),
        "unknown-key",
        ("gpu:", "aws:eks/nodeGroup:NodeGroup gpu-train", "capacity_typ", "did you mean capacity_type?"),
    ),
    "Python's spelling in a dictionary of a provider, which is handed on as it is": (
        'Provider("p", region="us-east-1", assume_roles=[{"role_arn": "arn:aws:iam::123456789012:role/r"}])',
        "unknown-key",
        ("assumeRoles[0].role_arn", "did you mean roleArn?"),
    ),
    "missing argument": (
        'Nodes("gpu", lambda name, opts: eks.NodeGroup(f"{name}-train", cluster_name="c", opts=opts))',
        "missing-key",
        ("gpu:", "aws:eks/nodeGroup:NodeGroup gpu-train", "node_role_arn"),
    ),
    "missing nested key": (
        NODES.format(change='scaling_config={"min_size": 0, "max_size": 1}'),
        "missing-key",
        ("scalingConfig.desiredSize", "is required"),
    ),
    "text for a number": (
        NODES.format(change='scaling_config={"min_size": "zero", "max_size": 1, "desired_size": 0}'),
        "wrong-type",
        ("scalingConfig.minSize", '"zero" is no whole number'),
    ),
    "a fraction for a whole number": (
        NODES.format(change="disk_size=20.5"),
        "wrong-type",
        ("diskSize", "20.5"),
    ),
    "a list for a block": (
        NODES.format(change='update_config=[{"max_unavailable": 1}]'),
        "wrong-type",
        ("update_config", "a list is given where an object is due"),
    ),
    "text for a list, nested": (
        """
        ec2.LaunchTemplate("t", tag_specifications=[{"resource_type": "instance"}],
                           network_interfaces=[{"security_groups": "sg-1"}], opts=on_aws)
        """,
        "wrong-type",
        ("networkInterfaces[0].securityGroups", "must be a list of text"),
    ),
    "a list where text is due": (
        'import pulumi_aws.fsx as fsx\nfsx.LustreFileSystem("l", subnet_ids=["subnet-1"], opts=on_aws)',
        "wrong-type",
        ("aws:fsx/lustreFileSystem:LustreFileSystem l", "subnet_ids", "a list is given where text is due"),
    ),
    "a list where text is due, in what another resource and an output take": (
        """
        import pulumi_aws.fsx as fsx
        made = fsx.LustreFileSystem("l", subnet_ids=["subnet-1"], opts=on_aws)
        role = iam.Role("r", assume_role_policy="{}", description=made.dns_name, opts=on_aws)
        pulumi.export("role", role.arn)
        """,
        "wrong-type",
        ("aws:fsx/lustreFileSystem:LustreFileSystem l", "subnet_ids", "a list is given where text is due"),
    ),
    "a number as text, for an API server": (
        """
        core.Pod("pod", spec={"containers": [{"name": "a", "ports": [{"container_port": "80"}]}]},
                 opts=pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{}")))
        """,
        "wrong-type",
        ("spec.containers[0].ports[0].containerPort",),
    ),
    "two children with one URN": (
        """
        def make(name, opts):
            return ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=opts)
        Nodes("one", make, pulumi.ResourceOptions(providers=[aws]))
        Nodes("two", make, pulumi.ResourceOptions(providers=[aws]))
        """,
        "duplicate-urn",
        ("urn:pulumi:test::mini::mini:index:Nodes$aws:ec2/vpc:Vpc::vpc", "one, two"),
    ),
    "one alias claimed twice": (
        """
        for name in ("a", "b"):
            ec2.Vpc(name, opts=pulumi.ResourceOptions(provider=aws, aliases=[pulumi.Alias(name="old")]))
        """,
        "alias-twice",
        ("urn:pulumi:test::mini::aws:ec2/vpc:Vpc::old",),
    ),
    "the alias is another resource": (
        """
        ec2.Vpc("old", opts=on_aws)
        ec2.Vpc("new", opts=pulumi.ResourceOptions(provider=aws, aliases=[pulumi.Alias(name="old")]))
        """,
        "alias-twice",
        ("another resource",),
    ),
    "a malformed alias": (
        'ec2.Vpc("a", opts=pulumi.ResourceOptions(provider=aws, aliases=["old-name"]))',
        "malformed-alias",
        ('"old-name" is no URN',),
    ),
    "a malformed timeout": (
        """
        ec2.Vpc("a", opts=pulumi.ResourceOptions(
            provider=aws, custom_timeouts=pulumi.CustomTimeouts(create="60minutes")))
        """,
        "malformed-timeout",
        ("custom_timeouts.create", "60minutes", "30m"),
    ),
    "register_outputs twice": (
        'Nodes("gpu", lambda name, opts: None).register_outputs({})',
        "outputs-twice",
        ("mini:index:Nodes gpu",),
    ),
    "no provider": ('ec2.Vpc("a")', "default-provider", ("aws:ec2/vpc:Vpc a", "no explicit provider for aws")),
    "a provider of another package": (
        'ec2.Vpc("a", opts=pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{}")))',
        "default-provider",
        ("it was handed one for kubernetes",),
    ),
    "a providers map with a wrong key": (
        'Nodes("gpu", lambda name, opts: None, pulumi.ResourceOptions(providers={"wrong": aws}))',
        "wrong-provider",
        ('"wrong"', "provider of aws"),
    ),
    "ignore_changes in snake case": (
        NODES.format(change="").replace(
            "opts, )",
            'ignoring(opts, "scaling_config.desired_size"))',
        ),
        "option-path",
        ("scaling_config.desired_size", "did you mean scalingConfig?"),
    ),
    "ignore_changes with a wrong nested name": (
        NODES.format(change="").replace(
            "opts, )",
            'ignoring(opts, "scalingConfig.desired_size"))',
        ),
        "option-path",
        ("scalingConfig.desired_size", "did you mean desiredSize?"),
    ),
    "a malformed replace_on_changes": (
        'ec2.Vpc("a", opts=pulumi.ResourceOptions(provider=aws, replace_on_changes=["tags["]))',
        "option-path",
        ("replace_on_changes", "malformed"),
    ),
    "additional_secret_outputs that is none": (
        'ec2.Vpc("a", opts=pulumi.ResourceOptions(provider=aws, additional_secret_outputs=["secretArn"]))',
        "option-path",
        ("additional_secret_outputs", "secretArn"),
    ),
    "a resource made in an apply of an unknown": (
        'ec2.Vpc("a", opts=on_aws).id.apply(lambda _: ec2.Vpc("b", opts=on_aws))',
        "one-run-only",
        ("aws:ec2/vpc:Vpc b", "exists only when outputs are known"),
    ),
    "a resource for previews only": (
        'if pulumi.runtime.is_dry_run():\n    ec2.Vpc("b", opts=on_aws)',
        "one-run-only",
        ("exists only at a preview",),
    ),
    "an Output in an f-string": (
        'vpc = ec2.Vpc("a", opts=on_aws)\nec2.Vpc("b", tags={"of": f"{vpc.id}"}, opts=on_aws)',
        "output-in-text",
        ("f-string", "stacks/__main__.py:"),
    ),
    "an exception in an apply of an unknown": (
        'ec2.Vpc("a", opts=on_aws).id.apply(lambda id: 1 / 0)',
        "program-error",
        ("ZeroDivisionError", "stacks/__main__.py:"),
    ),
    "an attribute that a resource lacks": (
        """
        def make(name, opts):
            return ec2.Vpc(f"{name}-vpc", opts=opts).vpc_idd
        Nodes("gpu", make, pulumi.ResourceOptions(providers=[aws]))
        """,
        "program-error",
        ("gpu:", "vpc_idd"),
    ),
    "an error that the program logs": ('pulumi.log.error("no capacity left")', "logged", ("no capacity left",)),
    "a program that ends itself": ("import sys\nsys.exit(3)", "program-error", ("exit code 3",)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_caught(run: Run, mistake: str) -> None:
    program, rule, texts = MISTAKES[mistake]
    errors = run(program).errors
    matching = [str(error) for error in errors if error.rule == rule]
    assert matching, [(error.rule, str(error)) for error in errors]
    assert any(all(text in found for text in texts) for found in matching), matching
    assert {error.rule for error in errors} == {rule}, "one mistake, one kind of finding"


def test_what_has_no_account_needs_no_provider(run: Run) -> None:
    found = run(
        """
        import pulumi_random as random
        import pulumi_tls as tls
        random.RandomPassword("word", length=20)
        tls.PrivateKey("key", algorithm="ED25519")
        """
    )
    assert "default-provider" not in {finding.rule for finding in found.findings}


@pytest.mark.parametrize(
    ("program", "config", "refused"),
    [
        ("import pulumi_aws.ec2 as more\nmore.Vpc('a')", "config: {aws:region: eu-west-1}", False),
        ("ec2.Vpc('a', opts=on_aws)\nec2.Vpc('b')", "config: {aws:region: eu-west-1}", False),
        ("ec2.Vpc('a', opts=on_aws)\nec2.Vpc('b')", "", True),
        ("ec2.Vpc('a')", 'config: {aws:region: eu-west-1, "pulumi:disable-default-providers": ["*"]}', True),
        ("ec2.Vpc('a')", 'config: {aws:region: eu-west-1, "pulumi:disable-default-providers": ["aws"]}', True),
        ("ec2.Vpc('a')", 'config: {aws:region: eu-west-1, "pulumi:disable-default-providers": ["gcp"]}', False),
        ("core.Namespace('a')", "", False),
        ("eks.Cluster('c', role_arn='arn:aws:iam::123456789012:role/c', vpc_config={'subnet_ids': ['subnet-1']},"
         " opts=on_aws)\ncore.Namespace('a')", "", True),
    ],
)  # fmt: skip
def test_the_default_provider_is_refused_only_where_it_is_not_meant(
    run: Run, program: str, config: str, refused: bool
) -> None:
    found = run(program, config=config)
    assert ("default-provider" in {finding.rule for finding in found.findings}) == refused


def test_a_number_as_text_is_a_warning(run: Run) -> None:
    rehearsal = run(NODES.format(change='disk_size="100"'))
    assert rehearsal.errors == ()
    assert [(found.rule, found.path, found.level) for found in rehearsal.findings] == [
        ("converted-type", "diskSize", "warning")
    ]


def test_every_mistake_at_once(run: Run) -> None:
    rehearsal = run(
        NODES.format(change='scaling_config={"min_size": 0, "max_size": "many", "desired": 0}, taints=[{"key": 1}]')
    )
    assert {(found.rule, found.path) for found in rehearsal.findings} == {
        ("unknown-key", "scalingConfig.desired"),
        ("wrong-type", "scalingConfig.maxSize"),
        ("converted-type", "taints[0].key"),
        ("missing-key", "taints[0].effect"),
    }


SECRETS = "config:\n  mini:token:\n    secure: v1:AAAA:BBBB\n"


@pytest.mark.parametrize(
    ("program", "path"),
    [
        ('core.ConfigMap("c", data={"token": config.require("token")}, opts=on_k)', "data.token"),
        (
            'core.ConfigMap("c", data={"t": pulumi.Output.unsecret(config.require_secret("token"))}, opts=on_k)',
            "data.t",
        ),
        ('core.ConfigMap("c", data={"url": "https://x:" + config.require("token") + "@y"}, opts=on_k)', "data.url"),
        ('pulumi.export("token", config.require("token"))', "token"),
    ],
)
def test_a_secret_in_the_clear(run: Run, program: str, path: str) -> None:
    setup = """
    config = pulumi.Config()
    on_k = pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{}"))
    """
    rehearsal = run("\n".join(line.strip() for line in setup.splitlines()) + f"\n{program}\n", config=SECRETS)
    assert {(found.rule, found.path) for found in rehearsal.errors} == {("plain-secret", path)}


def test_a_synthesised_password_in_the_clear(run: Run) -> None:
    rehearsal = run(
        """
        import pulumi_random as random
        password = random.RandomPassword("p", length=16, opts=pulumi.ResourceOptions(provider=random.Provider("r")))
        ec2.Vpc("a", tags={"password": pulumi.Output.unsecret(password.result)}, opts=on_aws)
        """
    )
    assert {(found.rule, found.path) for found in rehearsal.errors} == {
        ("plain-secret", "tags.password"),
        ("plain-secret", "tagsAll.password"),
    }


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("import time\ntime.sleep(60)", "time.sleep(60)"),
        ("import asyncio\npulumi.export('never', asyncio.Future())", "never comes"),
    ],
)
def test_a_hang_is_bounded(run: Run, program: str, text: str) -> None:
    started = time.monotonic()
    errors = run(program, timeout_seconds=0.5).errors
    assert time.monotonic() - started < 20
    assert [error.rule for error in errors] == ["hang"]
    assert text in errors[0].message


@pytest.mark.parametrize("asked", ['get_output("vpcId")', 'require_output("vpcId")', 'outputs["vpcId"]'])
def test_what_a_stack_hands_on_that_nobody_told_is_not_known(run: Run, asked: str) -> None:
    rehearsal = run(
        f"""
        network = pulumi.StackReference("acme/network/prod")
        ec2.Subnet("a", vpc_id=network.{asked}, cidr_block="10.0.0.0/24", opts=on_aws)
        """
    )
    assert [(found.rule, found.level, found.name) for found in rehearsal.findings] == [
        ("stack-unchecked", "warning", "acme/network/prod")
    ]
    assert rehearsal.known is not None
    (subnet,) = rehearsal.known.of_type("aws:ec2/subnet:Subnet")
    assert subnet.inputs["vpcId"] is UNKNOWN


REFERENCE = """
    network = pulumi.StackReference("acme/network/prod")
    ec2.Subnet("a", vpc_id=network.require_output("vpcId"), cidr_block=network.get_output("cidr"), opts=on_aws)
    network.require_output("parts").apply(lambda parts: parts["zone"])
"""


def test_a_stack_reference_to_nothing(run: Run) -> None:
    found = run('pulumi.StackReference("acme/prod")', stack_outputs={"acme/dev": {}}, only_these_stacks=True).errors
    assert [error.rule for error in found] == ["missing-stack"]


def test_a_stack_reference_where_nobody_says_which_stacks_there_are(run: Run) -> None:
    found = run(REFERENCE)
    assert [(finding.level, finding.rule) for finding in found.findings] == [("warning", "stack-unchecked")]
    (subnet,) = (one for one in found.known.resources if one.name == "a")
    assert subnet.inputs["vpcId"] is UNKNOWN


@pytest.mark.parametrize(
    ("asked", "told", "known"),
    [
        ("acme/network/prod", "acme/network/prod", True),
        ("organization/network/prod", "acme/network/prod", True),
        ("acme/network/prod", "network/prod", True),
        ("acme/network/prod", "organization/network/prod", True),
        ("acme/network/prod", "globex/network/prod", False),
        ("acme/network/prod", "network/dev", False),
        ("acme/network/prod", "prod", False),
    ],
)
def test_a_stack_reference_goes_by_project_and_stack(run: Run, asked: str, told: str, known: bool) -> None:
    rehearsal = run(
        f"""
        network = pulumi.StackReference("{asked}")
        ec2.Subnet("a", vpc_id=network.require_output("vpcId"), cidr_block="10.0.0.0/24", opts=on_aws)
        """,
        stack_outputs={told: {"vpcId": "vpc-0123456789abcdef0"}},
    )
    (subnet,) = rehearsal.known.of_type("aws:ec2/subnet:Subnet")
    assert subnet.inputs["vpcId"] == ("vpc-0123456789abcdef0" if known else UNKNOWN)
    assert [found.rule for found in rehearsal.findings] == ([] if known else ["stack-unchecked"])


def test_what_other_stacks_hand_on_is_judged(run: Run) -> None:
    rehearsal = run(
        """
        network = pulumi.StackReference("acme/network/prod")
        ec2.Subnet("a", vpc_id="vpc-0123456789abcdef0", cidr_block=network.require_output("range"), opts=on_aws)
        """,
        stack_outputs={"acme/network/prod": {"range": ["10.0.0.0/24"]}},
    )
    assert [found.path for found in rehearsal.errors] == ["cidr_block"]


def test_a_secret_of_another_stack_stays_one(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "network.json"
    file.write_text('{"password": "[secret]", "vpcId": "vpc-1"}')
    told = outputs_in(file, "--stack-outputs")
    rehearsal = run(
        """
        network = pulumi.StackReference("acme/network/prod")
        for name in ("password", "vpcId"):
            pulumi.export(name, network.require_output(name))
        """,
        stack_outputs={"acme/network/prod": told},
    )
    assert rehearsal.findings == ()
    assert isinstance(rehearsal.outputs["password"], Secret) and rehearsal.outputs["vpcId"] == "vpc-1"
    assert rehearsal.outputs["password"].value is UNKNOWN


@pytest.mark.parametrize("text", ["[1]", "no", '{"version": 3, "deployment": {"resources": []}}'])
def test_a_file_that_holds_no_outputs_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "network.json"
    file.write_text(text)
    with pytest.raises(SettingsError):
        outputs_in(file, "--stack-outputs")


def test_a_stack_reference_to_a_known_stack(run: Run) -> None:
    rehearsal = run(
        'pulumi.export("vpc", pulumi.StackReference("acme/network/prod").get_output("vpcId"))',
        stack_outputs={"acme/network/prod": {"vpcId": "vpc-1"}},
    )
    assert rehearsal.findings == ()
    assert rehearsal.outputs["vpc"] == "vpc-1"


@pytest.mark.parametrize(
    ("made", "told"), [("yaml.ConfigGroup('all', yaml=[MANIFEST]", []), ("apart('all'", ["one-run-only"])]
)
def test_manifests_that_a_provider_reads_are_not_in_a_preview(run: Run, made: str, told: list[str]) -> None:
    """Pulumi's own way: a preview does not ask a provider whose cluster is to be made."""
    program = f"""
        import pulumi_kubernetes.yaml as yaml

        MANIFEST = "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: b}}, data: {{day: 2026-01-01}}}}"


        def apart(name, opts):
            cluster.endpoint.apply(lambda _: core.ConfigMap(name, metadata={{"name": "a"}}, opts=opts))


        role = "arn:aws:iam::123456789012:role/cluster"
        cluster = eks.Cluster("c", role_arn=role, vpc_config={{"subnet_ids": ["subnet-1", "subnet-2"]}}, opts=on_aws)
        provider = kubernetes.Provider("k", kubeconfig=cluster.endpoint)
        {made}, opts=pulumi.ResourceOptions(provider=provider))
    """
    found = run(program)
    assert [error.rule for error in found.errors] == told
    assert any(one.type == "kubernetes:core/v1:ConfigMap" for one in found.known.resources)


@pytest.mark.parametrize(("field", "told"), [("status", []), ("spec", ["program-error"])])
def test_what_a_controller_fills_in_is_not_looked_into(run: Run, field: str, told: list[str]) -> None:
    """A program reads the address of a balancer in this way; what a program gave itself is known."""
    found = run(
        f"""
        on_k = pulumi.ResourceOptions(provider=kubernetes.Provider("k", kubeconfig="{{}}"))
        front = core.Service("front", spec={{"type": "LoadBalancer", "ports": [{{"port": 80}}]}}, opts=on_k)
        pulumi.export("at", front.{field}.apply(lambda made: made.load_balancer.ingress[0].ip))
        """
    )
    assert [error.rule for error in found.errors if error.rule == "program-error"] == told
