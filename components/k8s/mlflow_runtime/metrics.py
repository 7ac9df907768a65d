"""Serves the metrics of the MLflow server's processes on a port of its own.

    metrics.py PORT DIRECTORY

With accounts switched on, the server's own /metrics asks for a login (from 3.17 on an administrator's). The server's
processes write what they measure into files below DIRECTORY (`--expose-prometheus`); this program adds them up and
answers any path with the Prometheus text format. Who may reach the port is the network policy's business.
"""

import importlib
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any


def main(argv: list[str]) -> int:
    """Serves until it is told to stop."""
    if len(argv) != 2 or not argv[0].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    prometheus: Any = importlib.import_module("prometheus_client")  # of the image, not of Trainyard
    multiprocess: Any = importlib.import_module("prometheus_client.multiprocess")
    port, directory = int(argv[0]), Path(argv[1])
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    # The first process of a container ignores SIGTERM unless it has a handler.
    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    directory.mkdir(parents=True, exist_ok=True)
    registry = prometheus.CollectorRegistry()
    multiprocess.MultiProcessCollector(registry, path=str(directory))
    server, thread = prometheus.start_http_server(port, registry=registry)
    print(f"metrics: port {port}, from {directory}", file=sys.stderr, flush=True)
    stop.wait()
    server.shutdown()
    thread.join()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
