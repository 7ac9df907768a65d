"""A small catalogue of its own, and a price API of Google on this machine."""

import csv
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

import pytest

from trainyard.refresh.tables import catalog_folder

SERVICES = {"nat-gateway", "transfer.internet-out", "ebs.gp3.throughput", "eks.control-plane.extended"}
KEPT = {
    "aws_instances.csv": ("type", {"p4d.24xlarge", "g6.xlarge"}),
    "aws_cpu_instances.csv": ("type", {"m7i.xlarge"}),
    "aws_services.csv": ("key", SERVICES),
    "managed_prices.csv": ("type", {"p4d.24xlarge", "g6.xlarge"}),
    "spot.csv": ("match", {"p4d.24xlarge", "g6"}),
    "commitments.csv": ("match", {"*"}),
    "blocks.csv": ("match", {"p4de.24xlarge", "a3-highgpu-8g"}),
    "gcp_instances.csv": ("type", {"g2-standard-4", "a3-highgpu-8g", "a2-highgpu-1g"}),
    "gcp_cpu_instances.csv": ("type", {"e2-standard-4", "e2-medium"}),
    "gcp_region_prices.csv": ("type", {"g2-standard-8"}),
}


@pytest.fixture
def folder(tmp_path):
    """The catalogue's tables with a few of their rows."""
    for name, (column, values) in KEPT.items():
        rows = list(csv.DictReader((catalog_folder() / name).read_text().splitlines()))
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in rows if row[column] in values)
        (tmp_path / name).write_text(buffer.getvalue())
    return tmp_path


@pytest.fixture
def google():
    """Google's price list: `pages` are the answers in order, `requests` what was asked."""

    class Server(ThreadingHTTPServer):
        pages: list
        requests: list

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            query = parse_qs(urlparse(self.path).query)
            self.server.requests.append((urlparse(self.path).path, query, dict(self.headers)))
            status, body = self.server.pages[len(self.server.requests) - 1]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *arguments):
            pass

    server = Server(("127.0.0.1", 0), Handler)
    server.pages, server.requests = [], []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{server.server_port}"
    yield server
    server.shutdown()
    server.server_close()
