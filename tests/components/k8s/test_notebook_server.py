"""A real Jupyter Server and a real JupyterHub with what the component gives them: idle work ends under an open tab.

The times are seconds where a deployment has minutes, by the same arguments. Nothing is asserted about how fast anything
is: what has to end is waited for, and what has to stay is looked at after the other has gone.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from trainyard.components.k8s.notebook_server import server_configuration, server_files
from trainyard.components.k8s.notebook_server.ends_when_idle import idle_s, seen

pytest.importorskip("jupyter_server", reason="the extra dev has Jupyter Server")
pytest.importorskip("ipykernel", reason="the extra dev has a kernel")

TOKEN = "t" * 32
WAIT_S = 300
WITHOUT_GRAMMARS = str(Path(__file__).with_name("without_grammars"))
"""Put on the path of servers: see there."""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def until(asked, what):
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if asked():
            return
        time.sleep(0.2)
    pytest.fail(f"after {WAIT_S} s: {what}")


def call(url, token=TOKEN, method="GET", body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def answers(url, token=TOKEN):
    try:
        call(url, token)
    except (OSError, urllib.error.HTTPError):
        return False
    return True


def gone(base, kernel):
    try:
        return kernel not in [one["id"] for one in call(f"{base}/api/kernels")]
    except OSError:
        return False


def environment(folder, files):
    """What a notebook's pod has: the files at their places below a folder, on the paths that the servers read."""
    for place, text in files.values():
        path = folder / "root" / place.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "PYTHON"))}
    return {
        **kept,
        "HOME": str(folder),
        "JUPYTER_CONFIG_DIR": str(folder / "own"),
        "JUPYTER_CONFIG_PATH": str(folder / "root/etc/jupyter"),
        # Short, as in a pod: the path of a socket is at most 107 characters.
        "JUPYTER_RUNTIME_DIR": tempfile.mkdtemp(prefix="kernels-", dir="/tmp"),
        "PYTHONPATH": os.pathsep.join([str(folder / "root/etc/jupyter/trainyard"), WITHOUT_GRAMMARS]),
    }


class Tab:
    """What an open tab does: it stays connected to a kernel, and lists files and kernels again and again."""

    def __init__(self, base, kernel):
        self.stopped = threading.Event()
        self.connected = threading.Event()
        self.messages = []
        self._base, self._kernel = base, kernel
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._listen, self._poll)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        import asyncio

        from tornado.httpclient import HTTPRequest
        from tornado.websocket import websocket_connect

        async def connected():
            url = f"{self._base.replace('http', 'ws', 1)}/api/kernels/{self._kernel}/channels"
            socket_ = await websocket_connect(HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"}))
            self.connected.set()
            while not self.stopped.is_set():
                message = await socket_.read_message()
                if message is None:
                    return
                self.messages.append(message)

        asyncio.run(connected())

    def _poll(self):
        while not self.stopped.wait(0.3):
            answers(f"{self._base}/api/contents")
            answers(f"{self._base}/api/kernels")

    def close(self):
        self.stopped.set()


@pytest.fixture
def serve(tmp_path):
    """Starts Jupyter Server with these files; gives its address and process."""
    started = []

    def start(files, name="a"):
        folder, port = tmp_path / name, free_port()
        folder.mkdir()
        command = [sys.executable, "-m", "jupyter_server", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        command += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}", "--no-browser"]
        command += ["--allow-root"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                command, env=environment(folder, files), stdout=log, stderr=subprocess.STDOUT, cwd=folder
            )
        started.append(process)
        base = f"http://127.0.0.1:{port}"

        def up():
            assert process.poll() is None, (folder / "log").read_text()
            return answers(f"{base}/api/kernels")

        until(up, "the server does not answer")
        return base, process, folder / "log"

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_an_open_tab_holds_neither_kernel_nor_server(serve):
    base, process, log = serve(server_files(kernel_idle_s=3, idle_s=8))
    kernel = call(f"{base}/api/kernels", method="POST")["id"]
    tab = Tab(base, kernel)
    assert tab.connected.wait(WAIT_S)
    until(lambda: process.poll() is not None or gone(base, kernel), "the kernel is still there")
    until(lambda: process.poll() is not None, "the server is still there")
    tab.close()
    assert process.returncode == 0, "ended by itself: a pod whose program fails is started again"
    told = log.read_text()
    assert f"Culling 'idle' kernel 'python3' ({kernel})" in told
    assert "ends_when_idle: nothing ran for" in told


def test_a_kernel_has_no_port_that_a_forwarded_one_leads_to(serve):
    base, process, _ = serve(server_files(kernel_idle_s=60, idle_s=60))
    kernel = call(f"{base}/api/kernels", method="POST")["id"]
    run_in(base, kernel, "40 + 2")  # returns when the kernel has said that it computes
    place = Path(f"/proc/{process.pid}/environ").read_text().partition("JUPYTER_RUNTIME_DIR=")[2].partition("\0")[0]
    told = json.loads((Path(place) / f"kernel-{kernel}.json").read_text())
    assert told["transport"] == "ipc", "no address of TCP"


def test_without_our_program_the_open_tab_keeps_the_server(serve):
    """What Jupyter Server has of its own counts requests: this is why there is a program beside it."""
    place, text = server_files(kernel_idle_s=3, idle_s=8)["server"]
    own = json.loads(text)
    del own["ServerApp"], own["EndsWhenIdle"]
    own["ServerApp"] = {"shutdown_no_activity_timeout": 1}
    base, process, _ = serve({"server": (place, json.dumps(own))})
    other, ours, _ = serve(server_files(kernel_idle_s=3, idle_s=8), "b")
    tabs = [Tab(each, call(f"{each}/api/kernels", method="POST")["id"]) for each in (base, other)]
    until(lambda: ours.poll() is not None, "the server with our program is still there")
    time.sleep(2)
    assert process.poll() is None
    for tab in tabs:
        tab.close()


def test_a_kernel_that_computes_in_silence_keeps_its_server(serve):
    base, process, _ = serve(server_files(kernel_idle_s=2, idle_s=3))
    kernel = call(f"{base}/api/kernels", method="POST")["id"]
    run_in(base, kernel, "import time\nfor _ in range(40):\n    time.sleep(0.25)")
    until(lambda: states(base) == ["busy"], "the kernel does not begin")
    other, idle, _ = serve(server_files(kernel_idle_s=2, idle_s=3), "b")
    assert answers(f"{other}/api/kernels")
    until(lambda: idle.poll() is not None, "the idle server is still there")
    if states(base) == ["busy"]:  # it has ended meanwhile only where the machine was very slow
        assert process.poll() is None
    until(lambda: process.poll() is not None, "it ends when the work has")


def states(base):
    try:
        return [kernel["execution_state"] for kernel in call(f"{base}/api/kernels")]
    except OSError:
        return []


def run_in(base, kernel, code):
    import asyncio

    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    async def sent():
        url = f"{base.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
        socket_ = await websocket_connect(HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"}))
        header = {"msg_id": "1", "msg_type": "execute_request", "username": "", "session": "s", "version": "5.3"}
        content = {"code": code, "silent": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        await socket_.write_message(json.dumps(message))
        while True:
            answer = json.loads(await socket_.read_message())
            if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "busy":
                return

    loop = asyncio.new_event_loop()  # `run` would leave the thread without one, and the SDK asks for it in other tests
    try:
        loop.run_until_complete(sent())
    finally:
        loop.close()


class TestDecision:
    NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)

    def ago(self, seconds):
        return self.NOW - timedelta(seconds=seconds)

    def test_it_counts_from_the_last_that_was_done(self):
        assert idle_s(self.NOW, self.ago(900), [self.ago(700), self.ago(300)], ["idle"]) == 300

    def test_a_server_that_nobody_used_counts_from_its_start(self):
        assert idle_s(self.NOW, self.ago(900), [], []) == 900

    def test_what_computes_is_not_idle(self):
        assert idle_s(self.NOW, self.ago(900), [self.ago(700)], ["idle", "busy"]) == 0

    def test_terminals_that_have_ended_count_until_others_do(self):
        class Server:
            class kernel_manager:  # noqa: N801
                last_kernel_activity = None

                @staticmethod
                def list_kernels():
                    return []

            class web_app:  # noqa: N801
                settings: dict = {}  # noqa: RUF012

        terminals = [{"last_activity": "2026-11-26T11:58:00.000000Z"}]
        Server.web_app.settings["terminal_manager"] = type("T", (), {"list": staticmethod(lambda: terminals)})
        last: list = []
        assert seen(Server, last) == ([self.ago(120)], [])
        terminals.clear()
        assert seen(Server, last) == ([self.ago(120)], [])


def test_the_configuration_is_what_the_chart_ships():
    told = server_configuration(kernel_idle_s=1800, idle_s=2700)
    assert told["MappingKernelManager"] == {
        "cull_idle_timeout": 1800, "cull_interval": 120, "cull_connected": True, "cull_busy": False,
    }  # fmt: skip
    assert told["TerminalManager"] == {"cull_inactive_timeout": 1800, "cull_interval": 120}
    assert told["EndsWhenIdle"] == {"after_s": 2700, "every_s": 60}
