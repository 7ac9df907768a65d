"""A real JupyterHub of the chart's version, with its real culler, told what the chart makes of our values.

There is no Configurable HTTP Proxy, which is a program of Node: a stand-in keeps the routes, and the tests speak to the
hub and to the notebook's server at their own ports, as pods do.
"""

import contextlib
import json
import os
import subprocess
import sys

import pytest

from tests.components.k8s.test_notebook_server import (
    TOKEN,
    WAIT_S,
    WITHOUT_GRAMMARS,
    answers,
    call,
    environment,
    free_port,
    until,
)
from trainyard.components.k8s.notebook_server import server_files
from trainyard.components.k8s.notebooks_values import values

pytest.importorskip("jupyterhub", reason="the extra dev has JupyterHub")
pytest.importorskip("jupyterhub_idle_culler", reason="the extra dev has its culler")

OF_A_SERVER = ("JUPYTER_CONFIG_DIR", "JUPYTER_CONFIG_PATH", "JUPYTER_RUNTIME_DIR")
CONFIG = '''
import sys
from jupyterhub.proxy import Proxy

class Routes(Proxy):
    """Keeps the routes, and leads nobody anywhere."""
    should_start = False
    routes = {}
    async def add_route(self, routespec, target, data):
        self.routes[routespec] = {"routespec": routespec, "target": target, "data": data}
    async def delete_route(self, routespec):
        self.routes.pop(routespec, None)
    async def get_all_routes(self):
        return dict(self.routes)

c = get_config()
c.JupyterHub.proxy_class = Routes
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.authenticator_class = "dummy"  # nobody logs in: the tests have a token
c.JupyterHub.ip = "127.0.0.1"
c.JupyterHub.port = PORTS[0]
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = PORTS[1]
c.JupyterHub.last_activity_interval = 1
c.Spawner.poll_interval = 1
c.Spawner.environment = {"JUPYTERHUB_ACTIVITY_INTERVAL": "1", **ENVIRONMENT}
c.Spawner.args = ["--allow-root"]
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.disable_user_config = True
c.JupyterHub.services = [
    {"name": "jupyterhub-idle-culler", "command": [sys.executable, *CULLER]},
    {"name": "test", "api_token": TOKEN},
]
c.JupyterHub.load_roles = [
    {
        "name": "jupyterhub-idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["jupyterhub-idle-culler"],
    },
    {"name": "test", "scopes": ["admin:users", "admin:servers", "access:servers"], "services": ["test"]},
]
'''


def culler(hub_port, every_s=0, **times):
    """The command line that the chart makes of our values (zero-to-jupyterhub-k8s 4.4.0, jupyterhub_config.py)."""
    sign_on = {"provider": "github", "client_id": "i", "callback_url": "http://localhost", "groups": ["acme"]}
    told = values(
        image="a@sha256:b", sign_on=sign_on, profiles=[], storage_gib=1, storage_class=None, zone="",
        node_selector={}, environment={}, sign_on_proxy=None, **times,
    )["cull"]  # fmt: skip
    assert told["enabled"] and not told["users"]
    command = ["-m", "jupyterhub_idle_culler", f"--url=http://127.0.0.1:{hub_port}/hub/api"]
    every = every_s or told["every"]
    command += [f"--timeout={told['timeout']}", f"--cull-every={every}", f"--max-age={told['maxAge']}"]
    return command + (["--remove-named-servers"] if told["removeNamedServers"] else [])


@pytest.fixture
def hub(tmp_path):
    """Starts a hub with its culler; gives the address of its API and the file that it writes to."""
    started = []

    def start(files, **times):
        public, port = free_port(), free_port()
        own = environment(tmp_path, files)
        told = {key: own[key] for key in (*OF_A_SERVER, "PYTHONPATH", "HOME")}
        head = (
            f"PORTS = {(public, port)}\nTOKEN = {TOKEN!r}\nENVIRONMENT = {told!r}\nCULLER = {culler(port, **times)!r}\n"
        )
        (tmp_path / "jupyterhub_config.py").write_text(head + CONFIG, encoding="utf-8")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "PYTHON"))}
        kept["PYTHONPATH"] = WITHOUT_GRAMMARS
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub"], cwd=tmp_path, env=kept, stdout=log, stderr=subprocess.STDOUT
            )
        started.append(process)
        base = f"http://127.0.0.1:{port}/hub/api"

        def up():
            assert process.poll() is None, (tmp_path / "log").read_text()
            return answers(f"{base}/users")

        until(up, "the hub does not answer")
        return base, tmp_path / "log"

    yield start
    for process in started:
        process.terminate()  # it takes its notebooks along
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(WAIT_S)
        process.kill()


def servers(base):
    return call(f"{base}/users/ann")["servers"]


def begin(base):
    call(f"{base}/users/ann", method="POST")
    call(f"{base}/users/ann/server", method="POST")
    until(lambda: servers(base).get("", {}).get("ready"), "the notebook does not start")


def test_the_hub_s_culler_ends_a_notebook_that_nobody_uses(hub):
    base, log = hub({}, kernel_idle_s=600, idle_s=4, longest_s=600)
    begin(base)
    until(lambda: not servers(base), "the notebook is still there")
    told = log.read_text()
    assert "Culling server ann" in told and "(inactive for" in told


def test_it_ends_one_that_is_too_old_whatever_it_does(hub):
    base, log = hub({}, kernel_idle_s=600, idle_s=300, longest_s=5, every_s=4)
    begin(base)
    until(lambda: not servers(base), "the notebook is still there")
    assert "Culling server ann" in log.read_text()


def test_the_hub_sees_that_a_notebook_has_ended_itself(hub):
    """With the files of the pod: the program runs in the hub's own kind of server too, and what ended is nobody's."""
    base, log = hub(server_files(kernel_idle_s=2, idle_s=4), kernel_idle_s=600, idle_s=600, longest_s=600)
    begin(base)
    until(lambda: not servers(base), "the notebook is still there")
    told = log.read_text()
    assert "ends_when_idle: nothing ran for" in told and "Culling server" not in told
    assert json.dumps(call(f"{base}/users/ann")["servers"]) == "{}"
