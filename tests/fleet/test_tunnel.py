"""The way to a private cluster while Pulumi runs: open before it begins, closed whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tests.fleet.fleets import clients, project, pulumi, settings
from trainyard.cli import fleet_judging
from trainyard.cli.main import app
from trainyard.cli.on_cluster import on_cluster
from trainyard.fleet import keeper, tunnel
from trainyard.fleet.pulumi import Pulumi
from trainyard.fleet.tunnel import Way, ways_of
from trainyard.fleet.upgrade import ways_to
from trainyard.plan.resolve import resolve_stack

ROLE = "arn:aws:iam::123456789012:role/deploy"
WAIT_SECONDS = 60.0

AWS = """#!{python}
import json, os, pathlib, socket, sys
folder = pathlib.Path({folder!r})
with open(folder / "asked", "a") as asked:
    asked.write(json.dumps([sys.argv[1:], os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_PROFILE")]) + "\\n")
for file in folder.glob("refuse-*"):
    if file.name.removeprefix("refuse-") in sys.argv:
        sys.exit("An error occurred (AccessDenied): " + file.read_text())
if "assume-role" in sys.argv:
    print(json.dumps({{"Credentials": {{"AccessKeyId": "KEY", "SecretAccessKey": "S", "SessionToken": "T"}}}}))
elif "describe-instances" in sys.argv:
    print(json.dumps(["i-0a"] if (folder / "bastion").exists() else []))
elif "describe-cluster" in sys.argv:
    print(json.dumps({{"cluster": {{"status": "ACTIVE", "endpoint": "https://ABC.eks.amazonaws.com"}}}}))
elif "start-session" in sys.argv:
    wanted = json.loads(sys.argv[sys.argv.index("--parameters") + 1])
    server = socket.create_server(("127.0.0.1", int(wanted["localPortNumber"][0])))
    (folder / "session").write_text(str(os.getpid()))
    while True:
        server.accept()[0].close()
"""


class Cloud:
    """An account with a bastion, where somebody wants one; its session listens on the way's own port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bastion").touch()
        (folder / "aws").write_text(AWS.format(python=sys.executable, folder=str(folder)))
        (folder / "session-manager-plugin").write_text("#!/bin/sh\n")
        for name in ("aws", "session-manager-plugin"):
            (folder / name).chmod(0o755)

    @property
    def asked(self) -> list[tuple[list[str], str | None, str | None]]:
        """Command line, key and profile of each question."""
        path = self.folder / "asked"
        return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def session(self) -> int:
        """Process of the last session."""
        return int((self.folder / "session").read_text())


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    folder = tmp_path / "cloud"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    yield Cloud(folder)
    if (folder / "session").exists():  # a test that failed
        left = int((folder / "session").read_text())
        if there(left):
            os.kill(left, signal.SIGKILL)


def there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def agency(tmp_path: Path) -> Path:
    own = settings("acme", apiAccess={"mode": "bastion"}, aws={"assumeRole": ROLE})
    return project(tmp_path / "agency", {"acme": own})


PROBE = """#!{python}
import pathlib, socket, sys, time
folder = pathlib.Path({folder!r})
(folder / "pulumi").write_text("begun")
time.sleep({seconds})
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=5).close()
    print("reached")
except OSError as error:
    print("closed:", error)
    sys.exit(1)
"""


def probe(folder: Path, port: int, seconds: float = 0.0) -> list[str]:
    """A command that reaches the local end of the tunnel, or fails."""
    path = folder / "probe"
    path.write_text(PROBE.format(python=sys.executable, folder=str(folder), port=port, seconds=seconds))
    path.chmod(0o755)
    return [str(path)]


def free_way(way: Way) -> Way:
    """The way by a port of this machine that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return replace(way, port=server.getsockname()[1])


@pytest.fixture
def way(agency: Path) -> Way:
    (client,) = clients(agency)
    (found,) = ways_to(client)
    return free_way(found)


def keep(folder: Path, command: list[str], way: Way) -> int:
    with keeper.alone_in(folder) as lock:
        return keeper.kept(folder, "up-1", command, os.environ, lock, ways=[way])


def test_a_stack_s_ways_are_those_of_its_bastion_as_its_program_comes_in(agency: Path) -> None:
    (client,) = clients(agency)
    (found,) = ways_to(client)
    assert (found.bastion, found.role, found.region) == ("acme-acme-bastion", ROLE, "us-east-1")
    assert ways_of(resolve_stack(agency, client.file).plan) == (found,)


@pytest.mark.parametrize(
    "more",
    [{}, {"cloud": "gcp", "region": "us-central1", "gcp": {"project": "acme-1", "projectNumber": "123456789012"}}],
)
def test_where_no_bastion_leads_nothing_is_opened(tmp_path: Path, more: dict[str, object]) -> None:
    own = settings("acme", **more)
    if more:
        del own["apiAccess"]
    (client,) = clients(project(tmp_path, {"acme": own}))
    assert resolve_stack(tmp_path, client.file).plan.clusters
    assert ways_to(client) == ()


def test_it_is_open_before_the_command_begins_and_closed_after_it(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    assert keep(tmp_path, probe(tmp_path, way.port), way) == 0, (tmp_path / "up-1.tunnel.log").read_text()
    assert (tmp_path / "up-1.log").read_text() == "reached\n"
    assert not there(cloud.session)
    asked = {" ".join(words[:2]): (key, words) for words, key, _ in cloud.asked}
    assert asked["sts assume-role"][1][3] == ROLE
    assert asked["ssm start-session"][0] == asked["eks describe-cluster"][0] == "KEY", "as the role, not as who calls"


def test_a_profile_is_that_of_every_question(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    assert keep(tmp_path, probe(tmp_path, way.port), replace(way, role=None, profile="acme")) == 0
    assert {profile for _, _, profile in cloud.asked} == {"acme"}


def test_a_command_that_fails_closes_it(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    assert keep(tmp_path, ["false"], way) == 1
    assert not there(cloud.session)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_keeper_that_is_killed_leaves_no_session(
    cloud: Cloud, tmp_path: Path, way: Way, sign: signal.Signals
) -> None:
    """Not even where it is killed without a chance to tidy up, as where memory runs out."""
    command = probe(tmp_path, way.port, seconds=300)
    whole = [sys.executable, "-m", "trainyard.fleet.keeper", str(tmp_path), "up-1", keeper._text([way]), *command]
    process = subprocess.Popen(whole, start_new_session=True)
    until((tmp_path / "pulumi").exists)
    assert there(cloud.session)
    process.send_signal(sign)
    process.wait(timeout=WAIT_SECONDS)
    until(lambda: not there(cloud.session))
    os.killpg(process.pid, signal.SIGKILL)  # the command itself, which nobody waits for any more


def test_a_ctrl_c_leaves_it_open_until_the_command_has_ended(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    """`pulumi up` ends what it does after a Ctrl-C, and reaches the cluster meanwhile."""
    command = ["sh", "-c", f"trap '' INT; exec {probe(tmp_path, way.port, seconds=1)[0]}"]
    whole = [sys.executable, "-m", "trainyard.fleet.keeper", str(tmp_path), "up-1", keeper._text([way]), *command]
    process = subprocess.Popen(whole, start_new_session=True)
    until((tmp_path / "pulumi").exists)
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=WAIT_SECONDS)
    assert (tmp_path / "up-1.log").read_text() == "reached\n"
    assert not there(cloud.session)


@pytest.mark.parametrize("what", ["assume-role", "describe-instances", "describe-cluster"])
def test_who_may_not_ask_is_told_and_nothing_is_begun(cloud: Cloud, tmp_path: Path, way: Way, what: str) -> None:
    (cloud.folder / f"refuse-{what}").write_text("not you")
    assert keep(tmp_path, probe(tmp_path, way.port), way) == keeper.NO_WAY
    said = (tmp_path / "up-1.log").read_text()
    assert "nothing was begun" in said and what in said and "not you" in said
    assert not (tmp_path / "pulumi").exists()


def test_who_may_not_start_a_session_is_told(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    (cloud.folder / "refuse-start-session").write_text("not you")
    assert keep(tmp_path, probe(tmp_path, way.port), way) == keeper.NO_WAY
    assert "no session through i-0a opens" in (tmp_path / "up-1.log").read_text()
    assert "not you" in (tmp_path / "up-1.tunnel.log").read_text()


def test_a_bastion_that_is_not_there_yet_is_looked_for_while_the_command_makes_it(
    cloud: Cloud, tmp_path: Path, way: Way
) -> None:
    (cloud.folder / "bastion").unlink()
    script = (
        f"touch {cloud.folder}/bastion; for _ in $(seq 600); do [ -e {cloud.folder}/session ] && exec {{}}; sleep 0.1;"
        " done; exit 9"
    ).format(probe(tmp_path, way.port)[0])
    assert keep(tmp_path, ["sh", "-c", script], way) == 0
    assert "is not there yet" in (tmp_path / "up-1.tunnel.log").read_text()
    assert not there(cloud.session)


def test_a_tunnel_of_one_s_own_is_taken_and_left(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    with socket.create_server(("127.0.0.1", way.port)):
        assert keep(tmp_path, probe(tmp_path, way.port), way) == 0
        assert tunnel.reaches("127.0.0.1", way.port)
    assert not (cloud.folder / "session").exists()


def test_an_answer_that_nobody_can_read_is_told_and_not_waited_for(cloud: Cloud, tmp_path: Path, way: Way) -> None:
    (cloud.folder / "aws").write_text("#!/bin/sh\necho []\n")
    assert keep(tmp_path, probe(tmp_path, way.port), way) == keeper.NO_WAY
    assert "gave no answer that can be read" in (tmp_path / "up-1.log").read_text()


def test_upgrade_and_drift_go_through_it(
    cloud: Cloud, agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_judging, "judged", lambda *_: {})  # what its verdict is, other tests ask
    program = pulumi(tmp_path)
    for verb in (["drift"], ["upgrade", "--wave", "rest"]):
        done = CliRunner().invoke(app, ["fleet", *verb, "--pulumi", str(program), "--project", str(agency)])
        assert done.exit_code == 0, done.output
    sessions = [words for words, _, _ in cloud.asked if words[:2] == ["ssm", "start-session"]]
    assert len(sessions) == 2, "one a run of Pulumi"
    assert not there(cloud.session)


def test_whatever_asks_the_cluster_of_one_stack_goes_through_it(cloud: Cloud, agency: Path, tmp_path: Path) -> None:
    """`trainyard upgrade`, `drain` and `destroy`: Pulumi's runs, and `kubectl` between them."""
    (client,) = clients(agency)
    one = Pulumi(str(pulumi(tmp_path)), client, tmp_path)
    with keeper.alone_in(tmp_path) as lock:
        one.run("up-1", ["up", "--yes"], lock)
        one.run("import-1", ["stack", "import", "--file", str(agency / "Pulumi.yaml")], lock)
    sessions = [words for words, _, _ in cloud.asked if words[:2] == ["ssm", "start-session"]]
    assert len(sessions) == 1, "an import of a state asks no cluster"
    (cloud.folder / "kubectl").write_text("#!/bin/sh\nexit 0\n")
    (cloud.folder / "kubectl").chmod(0o755)
    (way,) = ways_to(client)
    with on_cluster(one, "a test asks it") as kubectl:
        assert not tunnel.reaches("127.0.0.1", way.port), "opened when it is needed first"
        kubectl()
        assert tunnel.reaches("127.0.0.1", way.port)
    assert not there(cloud.session)


def test_a_cluster_without_a_way_in_ends_the_command_with_why(cloud: Cloud, agency: Path, tmp_path: Path) -> None:
    (cloud.folder / "refuse-assume-role").write_text("not you")
    (cloud.folder / "kubectl").touch(mode=0o755)
    (client,) = clients(agency)
    with pytest.raises(typer.Exit) as ended, on_cluster(Pulumi("pulumi", client, tmp_path), "a test") as kubectl:
        kubectl()
    assert ended.value.exit_code == 3


def test_a_program_that_a_client_s_cluster_takes_is_missed_before_anything_begins(
    agency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = pulumi(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for verb in ("drift", "upgrade"):
        wave = ["--wave", "rest"] if verb == "upgrade" else []
        done = CliRunner().invoke(app, ["fleet", verb, *wave, "--pulumi", str(program), "--project", str(agency)])
        assert done.exit_code == 2
        assert "not on the path: aws (" in done.output and "session-manager-plugin (" in done.output
        assert not (tmp_path / "calls").exists()
