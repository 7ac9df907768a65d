"""The ways in, with programs that stand in for pulumi, aws and kubectl and write down what they are asked."""

from __future__ import annotations

import base64
import json
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.shared import ROOT
from trainyard.cli import way_in
from trainyard.cli.main import app
from trainyard.conventions.aws import tunnel_port

CLUSTER = "acme-demo"
ENDPOINT = "https://ABC.gr7.us-east-1.eks.amazonaws.com"
ACTIVE = {"cluster": {"status": "ACTIVE", "endpoint": ENDPOINT, "certificateAuthority": {"data": "Q0E="}}}
MAKING = {"cluster": {"status": "CREATING"}}
PORT = tunnel_port(CLUSTER)

PROGRAM = """#!{python} -IS
import json, pathlib, sys
here = pathlib.Path(__file__)
with open({log!r}, "a") as log:
    log.write(json.dumps([here.name, *sys.argv[1:]]) + "\\n")
answers = json.loads(here.with_suffix(".answers").read_text())
for words, found in answers.items():
    if set(words.split()) <= set(sys.argv):
        one = found.pop(0) if len(found) > 1 else found[0]
        here.with_suffix(".answers").write_text(json.dumps(answers))
        sys.stdout.write(one.get("out", "")), sys.stderr.write(one.get("err", ""))
        sys.exit(one.get("rc", 0))
sys.exit("no answer to " + " ".join(sys.argv[1:]))
"""


class Desk:
    """A machine with nothing on its path but the programs that a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.log = folder / "bin", folder / "log"
        self.bin.mkdir()
        self.log.touch()

    def put(self, name: str, **answers: object) -> None:
        """A program that answers in turn, by words of its command line (`get_secret` is both words)."""
        file = self.bin / name
        file.write_text(PROGRAM.format(python=sys.executable, log=str(self.log)))
        file.chmod(0o755)
        listed = {
            words.replace("__", "-").replace("_", " "): each if isinstance(each, list) else [each]
            for words, each in answers.items()
        }
        file.with_suffix(".answers").write_text(json.dumps(listed))

    @property
    def asked(self) -> list[list[str]]:
        """Every command line, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def out(document: object) -> dict[str, str]:
    return {"out": document if isinstance(document, str) else json.dumps(document)}


@pytest.fixture
def desk(tmp_path, monkeypatch):
    made = Desk(tmp_path)
    monkeypatch.setenv("PATH", str(made.bin))
    return made


def trainyard(*arguments: str):
    return CliRunner().invoke(app, [*arguments, "--project", str(ROOT)])


def test_pulumi_is_asked_for_the_kubeconfig(desk, tmp_path):
    desk.put("pulumi", stack_output=out("{}\n"))
    file = tmp_path / "config"
    assert trainyard("kubeconfig", "demo", "-o", str(file)).exit_code == 0
    assert file.read_text() == "{}\n"
    assert desk.asked == [["pulumi", "stack", "output", "kubeconfig", "--stack", "demo", "--show-secrets"]]


def test_what_pulumi_says_when_it_fails_is_passed_on(desk):
    desk.put(
        "pulumi", stack_output={"err": "error: current stack does not have output property 'kubeconfig'", "rc": 255}
    )
    done = trainyard("kubeconfig", "demo")
    assert done.exit_code == 2
    assert "does not have output property" in done.stderr
    assert not done.stdout


def test_without_pulumi_aws_describes_the_cluster(desk, rehearsed):
    desk.put("aws", eks_describe__cluster=out(ACTIVE))
    done = trainyard("kubeconfig", "demo")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    (server,) = [entry["cluster"] for entry in found["clusters"]]
    assert server["server"] == f"https://127.0.0.1:{PORT}"
    assert server["tls-server-name"] == "ABC.gr7.us-east-1.eks.amazonaws.com"
    (provider,) = [one for one in rehearsed("demo").known.resources if one.name == "kubernetes-walls"]
    of_program = json.loads(provider.inputs["kubeconfig"])
    assert found["users"] == of_program["users"]
    assert of_program["clusters"][0]["cluster"]["server"] == server["server"], "the program goes through the tunnel too"


def test_without_a_bastion_it_leads_to_the_cluster_itself(desk):
    desk.put("aws", eks_describe__cluster=out(ACTIVE))
    (entry,) = json.loads(trainyard("kubeconfig", "large-aws").stdout)["clusters"]
    assert entry["cluster"]["server"] == ENDPOINT
    assert "tls-server-name" not in entry["cluster"]


def test_with_neither_program_it_says_so(desk):
    done = trainyard("kubeconfig", "demo")
    assert done.exit_code == 2
    assert "neither pulumi" in done.stderr and "nor aws" in done.stderr


def test_a_cluster_that_is_not_there_yet_is_told(desk):
    desk.put("aws", eks_describe__cluster={"err": "ResourceNotFoundException: No cluster found", "rc": 254})
    done = trainyard("kubeconfig", "demo")
    assert (done.exit_code, "no active cluster acme-demo" in done.stderr) == (2, True)


def test_a_tunnel_waits_for_bastion_and_cluster_and_comes_back(desk, monkeypatch):
    desk.put(
        "aws",
        ec2_describe__instances=[out([]), out(["i-0a"])],
        eks_describe__cluster=[
            {"err": "ResourceNotFoundException", "rc": 254},
            out(MAKING),
            out(ACTIVE),
        ],
        ssm_start__session={"err": "idle", "rc": 1},
    )
    desk.put("session-manager-plugin")
    pauses = iter(range(5))
    # Its own pauses alone: a program that is waited for is waited for in pauses, too.
    paused = SimpleNamespace(sleep=lambda _: next(pauses, None) is None and _interrupt())
    monkeypatch.setattr(way_in, "time", paused)
    done = trainyard("tunnel", "demo")
    assert done.exit_code == 130
    sessions = [asked for asked in desk.asked if "start-session" in asked]
    assert len(sessions) == 3, "a session that ended is opened again, until Ctrl-C"
    session = sessions[0]
    assert session[session.index("--target") + 1] == "i-0a"
    assert session[session.index("--document-name") + 1] == "AWS-StartPortForwardingSessionToRemoteHost"
    assert json.loads(session[session.index("--parameters") + 1]) == {
        "host": ["ABC.gr7.us-east-1.eks.amazonaws.com"],
        "portNumber": ["443"],
        "localPortNumber": [str(PORT)],
    }
    looked = next(asked for asked in desk.asked if "describe-instances" in asked)
    assert "Name=tag:Name,Values=acme-demo-bastion" in looked
    assert done.stderr.count("waiting for instance") == 1


def _interrupt():
    raise KeyboardInterrupt


def test_the_bastion_that_is_looked_for_is_the_one_that_is_made(rehearsed):
    (machine,) = [one for one in rehearsed("demo").resources if one.type == "aws:ec2/instance:Instance"]
    assert machine.inputs["tags"]["Name"] == "acme-demo-bastion"


@pytest.mark.parametrize(
    ("stack", "programs", "said"),
    [
        ("large-aws", ("aws", "session-manager-plugin"), "has no bastion"),
        ("demo", ("session-manager-plugin",), "aws is not on the path"),
        ("demo", ("aws",), "session-manager-plugin is not on the path"),
    ],
)
def test_what_a_tunnel_lacks_is_told(desk, stack, programs, said):
    for program in programs:
        desk.put(program)
    done = trainyard("tunnel", stack)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert desk.asked == []


def secret(**values: str) -> dict[str, str]:
    return out({"data": {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}})


@pytest.fixture
def tracked(desk):
    """A desk from which the tracking server of demo is reached."""
    desk.put("pulumi", stack_output=out("{}"))
    own = {
        "MLFLOW_TRACKING_USERNAME": "language",
        "MLFLOW_TRACKING_PASSWORD": "of-the-team",
        "MLFLOW_TRACKING_SERVER_CERT_PATH": "/run/secrets/mlflow/ca.crt",
        "ca.crt": "AUTHORITY",
    }
    people = {"language.ada": "of-ada", "vision.grace": "of-grace"}
    desk.put(
        "kubectl",
        **{
            "get_secret_mlflow__credentials": secret(**own),
            "get_secret_mlflow__people": secret(**people),
            "port__forward": {},
        },
    )
    return desk


def test_mlflow_is_opened_with_a_persons_login(tracked, tmp_path):
    env = tmp_path / "mlflow.env"
    done = trainyard("open", "mlflow", "demo", "--team", "language", "--person", "ada", "--env", str(env))
    assert done.exit_code == 0, done.stderr
    assert "of-ada" not in done.output and "language+ada" in done.output
    assert "export MLFLOW_TRACKING_PASSWORD=of-ada" in env.read_text()
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert (tmp_path / "mlflow.env.ca.crt").read_text() == "AUTHORITY"
    *_, forwarded = tracked.asked
    assert forwarded[-5:] == ["port-forward", "--namespace", "mlflow", "service/mlflow", "5000:5000"]
    config = forwarded[forwarded.index("--kubeconfig") + 1]
    assert not Path(config).exists(), "it is kept for as long as the port is forwarded"


def test_a_teams_login_is_read_in_its_own_namespace(tracked):
    done = trainyard("open", "mlflow", "demo", "--team", "vision", "--show-password")
    assert "of-the-team" in done.output
    looked = next(asked for asked in tracked.asked if "mlflow-credentials" in asked)
    assert looked[looked.index("--namespace") + 1] == "team-vision"
    assert not [asked for asked in tracked.asked if "mlflow-people" in asked]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mlflow", "demo"), "--show-password shows it"),
        (("mlflow", "demo", "--show-password", "--team", "nobody"), "has no team 'nobody'"),
        (("mlflow", "demo", "--show-password", "--team", "vision", "--person", "ada"), "there is grace"),
        (("grafana", "demo", "--show-password"), "what can is mlflow"),
    ],
)
def test_what_is_wrong_is_told(tracked, arguments, said):
    done = trainyard("open", *arguments)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert "of-ada" not in done.output


def test_kubectl_that_may_not_read_a_login_says_so(tracked):
    tracked.put("kubectl", get_secret={"err": "Error from server (Forbidden): secrets is forbidden", "rc": 1})
    done = trainyard("open", "mlflow", "demo", "--show-password")
    assert (done.exit_code, "Forbidden" in done.stderr) == (2, True)
