"""Whole stack files, judged as `trainyard check` judges them: what their settings must say, and must not."""

import pytest

from tests.shared import ROOT
from trainyard.plan.aws.parts import KEY_CLASSES
from trainyard.review.review import review

DEMO = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text("utf-8")
TEARDOWN = """  trainyard:protect: false
  trainyard:policyExceptions:
    - policy: stateful-resource-unprotected
      resource: "*"
      reason: the project ends, its data has moved
      owner: ml-platform@acme.example
      expires: 2999-12-31
"""


def violated(tmp_path, text):
    """Policy and message of what a stack file violates."""
    file = tmp_path / "Pulumi.tried.yaml"
    file.write_text(text, "utf-8")
    judged = review(ROOT, file)
    assert judged.policies is not None, [str(finding) for finding in judged.rehearsal.errors]
    return {(found.policy, found.message) for found in judged.policies.violations}


def policies(tmp_path, text):
    return {policy for policy, _ in violated(tmp_path, text)}


def test_alerts_that_nobody_hears_are_a_violation(tmp_path):
    line = "  trainyard:alertEmails: [ml-platform@acme.example]\n"
    assert line in DEMO
    assert policies(tmp_path, DEMO.replace(line, "")) == {"budget-without-alerts"}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("aws:secretKey: wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY00", "aws:secretKey is"),
        ("aws:accessKey: " + "AKIA" + "IOSFODNN7EXAMPLE", "aws:accessKey is an access key of AWS"),
        (
            'gcp:credentials: \'{"type": "service_account", "private_key": "abcdefghijklmnopqrst"}\'',
            "gcp:credentials is",
        ),
        ("other:apiToken: abc", "other:apiToken is a secret by its name"),
    ],
)
def test_a_key_in_the_stack_file_is_a_violation_that_does_not_tell_it(tmp_path, line, kind):
    [(policy, message)] = violated(tmp_path, f"{DEMO}  {line}\n")
    assert policy == "key-in-the-stack-file"
    assert message.startswith(kind)
    assert line.split(": ", 1)[1] not in message


def test_each_key_is_told_also_one_whose_name_goes_on_where_another_ends(tmp_path):
    found = violated(tmp_path, f"{DEMO}  other:token: abc\n  other:tokenPassword: def\n")
    assert {message.partition(" is ")[0] for _, message in found} == {"other:token", "other:tokenPassword"}


def test_an_encrypted_key_and_what_is_no_key_pass(tmp_path):
    lines = "  aws:secretKey: {secure: AAABAKZ4}\n  aws:skipCredentialsValidation: true\n  gcp:project: acme\n"
    assert policies(tmp_path, DEMO + lines) == set()


def test_a_teardown_that_is_written_down_passes_and_one_that_is_not_does_not(tmp_path):
    assert policies(tmp_path, DEMO + TEARDOWN) == set()
    assert policies(tmp_path, DEMO + "  trainyard:protect: false\n") == {"stateful-resource-unprotected"}
    over = TEARDOWN.replace("2999", "2020")
    assert policies(tmp_path, DEMO + over) == {"stateful-resource-unprotected", "exception-expired"}


def test_keys_stay_where_their_data_stay(tmp_path):
    file = tmp_path / "Pulumi.tried.yaml"
    file.write_text(DEMO, "utf-8")
    rehearsal = review(ROOT, file).rehearsal
    keys = rehearsal.known.of_type("aws:kms/key:Key")
    assert len(keys) == len(KEY_CLASSES) + 1  # the trail's own
    assert all(key.retain_on_delete for key in keys)
