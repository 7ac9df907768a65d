"""What a notebook's own server is told: to end kernels that do nothing, and itself, though a tab of it is open.

JupyterHub's culler and Jupyter's own `shutdown_no_activity_timeout` count requests, and an open tab makes some for ever
(it lists files, kernels and terminals). So kernels are culled though somebody is connected to them, and a program of
our own in the server, which goes by what kernels and terminals did, ends the server: with it goes the pod, and the GPU.
"""

import json
from collections.abc import Mapping
from importlib.resources import files

PROGRAM = "ends_when_idle"
FOLDER = "/etc/jupyter/trainyard"
"""Where the program lies in a notebook's pod, on Python's path."""
RUNTIME_FOLDER = "/tmp/kernels"  # noqa: S108 (made by the server for its user alone, in a pod of one person's)
"""Where kernels' sockets are. Short: the path of a socket is at most 107 characters, and a home may be a long one."""
CONFIGURATION = "/etc/jupyter/jupyter_server_config.json"
"""Where the server reads what it is told, after a file of this name in Python that an image may have. Not the folder
`jupyter_server_config.d` beside it: of its files the server takes which extensions there are, and nothing else (seen
with Jupyter Server 2.21.1, 2026-11-26)."""
CULL_INTERVAL_S = 120
"""How often kernels and terminals are looked at, seconds, at most."""
CHECK_INTERVAL_S = 60
"""How often the server asks itself whether it is idle, seconds, at most."""


def server_configuration(*, kernel_idle_s: int, idle_s: int) -> dict[str, object]:
    """The configuration of Jupyter Server: after how many seconds a kernel or a terminal that does nothing ends, and
    the server itself; and that its kernels have no ports."""
    every = max(1, min(CULL_INTERVAL_S, kernel_idle_s // 4))
    return {
        "MappingKernelManager": {
            "cull_idle_timeout": kernel_idle_s,
            "cull_interval": every,
            "cull_connected": True,
            "cull_busy": False,
        },
        # Else a kernel listens at localhost for whoever comes, and a forwarded port of the pod leads there.
        "KernelManager": {"transport": "ipc"},
        "TerminalManager": {"cull_inactive_timeout": kernel_idle_s, "cull_interval": every},
        "EndsWhenIdle": {"after_s": idle_s, "every_s": max(1, min(CHECK_INTERVAL_S, idle_s // 4))},
        "ServerApp": {"jpserver_extensions": {PROGRAM: True}},
    }


def server_files(*, kernel_idle_s: int, idle_s: int) -> Mapping[str, tuple[str, str]]:
    """What a notebook's pod mounts, by a short name: the path and the text of each file."""
    told = server_configuration(kernel_idle_s=kernel_idle_s, idle_s=idle_s)
    program = files(__name__).joinpath(f"{PROGRAM}.py").read_text(encoding="utf-8")
    return {
        "server": (CONFIGURATION, json.dumps(told, indent=1, sort_keys=True)),
        "program": (f"{FOLDER}/{PROGRAM}.py", program),
    }
