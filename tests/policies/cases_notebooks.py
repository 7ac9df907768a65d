"""Truth tables of notebooks."""

import json

from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, VIOLATED, made, table
from trainyard.recorded.model import UNKNOWN

RELEASE = "kubernetes:helm.sh/v3:Release"
GITHUB = {"JupyterHub": {"authenticator_class": "github"}, "GitHubOAuthenticator": {"allowed_organizations": ["acme"]}}
INSIDE = {"service": {"type": "ClusterIP"}}
CULLED = {"cull_idle_timeout": 1800, "cull_connected": True}


def hub(hub=None, proxy=None, cull=None, files=None, chart="jupyterhub"):
    values = {
        "hub": {"config": GITHUB} if hub is None else hub,
        "proxy": INSIDE if proxy is None else proxy,
        "cull": {"timeout": 2700} if cull is None else cull,
        "singleuser": {"extraFiles": told(CULLED) if files is None else files},
    }
    return made(RELEASE, "hub", {"chart": chart, "values": values})


def told(kernels, text=True):
    data = {"MappingKernelManager": kernels}
    return {"jupyter": {"stringData": json.dumps(data)} if text else {"data": data}}


def by_files(values):
    inputs = {"chart": "jupyterhub", "values": values, "valueYamlFiles": [{"path": "hub.yaml"}]}
    return made(RELEASE, "hub", inputs)


CASES = [
    *table(
        "notebooks-let-anybody-in",
        ("an identity provider", OK, [hub()]),
        ("from a mirror", OK, [hub(chart="oci://registry.example.com/jupyterhub")]),
        ("the chart as it comes", VIOLATED, [hub({})]),
        ("by the class's whole name", VIOLATED, [hub({"config": {"JupyterHub": {
            "authenticator_class": "jupyterhub.auth.DummyAuthenticator"}}})]),
        ("whoever chooses a password first", VIOLATED, [hub({"config": {"JupyterHub": {
            "authenticator_class": "native"}}})]),
        ("everybody at GitHub", VIOLATED, [hub({"config": {**GITHUB, "GitHubOAuthenticator": {"allow_all": True}}})]),
        ("told by files", OK, [by_files({})]),
        ("configured in Python", OK, [hub({"extraConfig": {"auth": "c.JupyterHub.authenticator_class = ..."}})]),
        ("no hub", NOT_APPLICABLE, [hub(chart="kueue")]),
        ("unknown", UNDECIDED, [hub({"config": UNKNOWN})]),
    ),
    *table(
        "notebooks-open-to-the-outside",
        ("inside", OK, [hub()]),
        ("the chart as it comes", VIOLATED, [hub(proxy={})]),
        ("told by files", OK, [by_files({})]),
        ("on every node", VIOLATED, [hub(proxy={"service": {"type": "NodePort"}})]),
        ("outside, encrypted", OK, [hub(proxy={"https": {"enabled": True}})]),
        ("no hub", NOT_APPLICABLE, [hub(chart="kueue")]),
        ("unknown", UNDECIDED, [hub(proxy={"service": {"type": UNKNOWN}})]),
    ),
    *table(
        "notebooks-keep-their-gpus",
        ("both end", OK, [hub()]),
        ("told as data", OK, [hub(files=told(CULLED, text=False))]),
        ("nothing culls", VIOLATED, [hub(cull={"enabled": False})]),
        ("told by files", OK, [by_files({"cull": {"enabled": False}})]),
        ("an hour in words", OK, [hub(cull={"timeout": "1h"})]),
        ("whatever the chart says", OK, [hub(cull={"timeout": None})]),
        ("three hours as a text", VIOLATED, [hub(cull={"timeout": "10800"})]),
        ("kernels stay for no number", VIOLATED, [hub(files=told({**CULLED, "cull_idle_timeout": None}))]),
        ("kernels stay half an hour in words", OK, [hub(files=told({**CULLED, "cull_idle_timeout": "30m"}))]),
        ("after three hours", VIOLATED, [hub(cull={"timeout": 10_800})]),
        ("the chart's hour", OK, [hub(cull={})]),
        ("kernels stay", VIOLATED, [hub(files={})]),
        ("kernels stay under a tab", VIOLATED, [hub(files=told({"cull_idle_timeout": 1800}))]),
        ("kernels stay three hours", VIOLATED, [hub(files=told({**CULLED, "cull_idle_timeout": 10_800}))]),
        ("a file that is no configuration", VIOLATED, [hub(files={"motd": {"stringData": "welcome"}})]),
        ("configured in Python", OK, [hub({"extraConfig": {"a": "c.Spawner.args = []"}}, files={})]),
        ("no hub", NOT_APPLICABLE, [hub(chart="kueue")]),
        ("unknown", UNDECIDED, [hub(cull={"timeout": UNKNOWN})]),
    ),
]  # fmt: skip
