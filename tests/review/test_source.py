"""Lines of settings in a stack's file, and of the code that made a resource."""

import pytest

from tests.shared import ROOT
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.engine.recorder import Constructed
from trainyard.review.source import Place, StackFile, made_at, settings_named
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of

TEXT = """# a comment
encryptionsalt: v1:x
config:
  trainyard:region: us-east-1
  trainyard:teams:
    - { name: vision, members: 5 }
    - name: language
      members: 4
  trainyard:gpuPools:
    train:
      spot: { maxNodes: 2 }
      onDemand:
        maxNodes: 4
  trainyard:awsAccountId: "123456789012"
  trainyrd:residency: eu
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "Pulumi.shop.yaml"

    def of(text=TEXT):
        path.write_text(text, encoding="utf-8")
        return StackFile(path)

    return of


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("region", 4),
        ("teams[1].members", 8),
        ("teams[0].name", 6),
        ("teams[7].name", 5),
        ("gpuPools.train.spot.maxNodes", 11),
        ("gpuPools.train.spot.minNodes", 11),
        ("gpuPools.dev", 9),
        ("aws.accountId", 14),
        ("trainyrd:residency", 15),
        ("alertEmails", None),
        ("", None),
    ],
)
def test_a_key_has_the_line_of_itself_or_of_what_it_would_stand_in(file, key, line):
    assert file().line_of(key) == line
    assert file().config_line == 3


def test_the_entry_that_a_message_names_is_the_one_that_decides(file):
    setting = ("gpuPools.<pool>.*.maxNodes", "region")
    text = TEXT.replace("    train:\n", "    train-dev: { spot: { maxNodes: 1 } }\n    train:\n")
    assert file(text).deciding_line(setting, "gpu-nodes pool train-dev: too many") == 10
    assert file(text).deciding_line(setting, "pool train may have 40 GPUs") == 12
    assert file(text).deciding_line(("alertEmails", "region"), "") == 4
    assert file(text).deciding_line(("alertEmails",), "") is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("config:\n  trainyard:region: [us-east-1\n", 3),
        ("config:\n  a: 1\n  a: 2\n", 3),
        ("a: &x [1]\n" + "".join(f"k{index}: {{a: *x, b: *x}}\n" for index in range(3)), None),
        ("- a list\n", None),
        ("", None),
        ("[" * 300_000, None),  # ended the process
        ("config: \x00\n", None),
    ],
)
def test_a_file_that_is_no_configuration_has_at_most_the_line_where_reading_ended(file, text, line):
    assert file(text).line_of("region") == line


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert StackFile(tmp_path / "Pulumi.none.yaml").line_of("region") is None


def test_what_remediations_name_are_settings():
    named = {policy.name: settings_named(policy.remediation_steps or "") for policy in POLICIES}
    assert {name.split(".")[0] for names in named.values() for name in names} <= fields_of(Settings).keys()
    assert sum(map(bool, named.values())) >= 20
    assert named["gpu-count-over-profile"] == ("gpuPools.<pool>.*.maxNodes",)
    assert named["stateful-resource-unprotected"][0] == "protect"
    assert named["pool-without-smoke-job"] == ("smoke.enabled", "smoke.capacities")


def test_a_word_of_plain_english_is_no_setting():
    assert settings_named("Use the storage tiers as they are, and name the network that is meant.") == ()


def test_code_of_the_project_has_a_line_and_other_code_none():
    own = Constructed("aws:x", "a", "", str(ROOT / "trainyard" / "components" / "aws" / "network.py"), 12)
    assert made_at(own, ROOT) == Place("components/aws/network.py", 12), "as the repository has it, not the link"
    assert made_at(Constructed("aws:x", "a", "", "/usr/lib/python3/x.py", 1), ROOT) is None
    assert made_at(Constructed("aws:x", "a", ""), ROOT) is None
    file = str(ROOT / "components" / "aws" / "network.py")
    assert made_at(Constructed("aws:x", "a", "", file, 3), ROOT / "components") == Place("aws/network.py", 3)
    assert made_at(Constructed("aws:x", "a", "", file, 3), ROOT / "stacks") is None


def test_the_rehearsal_knows_where_a_resource_was_made(rehearsed):
    made = {(one.type, one.name): one for one in rehearsed("demo").known.constructed}
    vpc = made_at(made["aws:ec2/vpc:Vpc", "network-vpc"], ROOT)
    assert vpc is not None and vpc.file == "components/aws/network.py"
    line = (ROOT / vpc.file).read_text(encoding="utf-8").splitlines()[vpc.line - 1]
    assert "Vpc(" in line
