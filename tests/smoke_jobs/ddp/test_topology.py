import dataclasses
import json
from pathlib import Path

import pytest

from trainyard.smoke_jobs.ddp.options import Options, UsageError
from trainyard.smoke_jobs.ddp.topology import Topology, detect

NOWHERE = Path("/nonexistent/resourceconfig.json")


def test_one_node_needs_nothing() -> None:
    assert detect(Options(), {}, NOWHERE) == Topology(1, 0, "", ())


def test_indexed_job() -> None:
    options = dataclasses.replace(Options(), nodes=2, head="smoke-0.smoke")
    assert detect(options, {"JOB_COMPLETION_INDEX": "1"}, NOWHERE) == Topology(2, 1, "smoke-0.smoke", ())


def test_kubeflow_trainer() -> None:
    env = {"PET_NNODES": "2:4", "PET_NODE_RANK": "3", "PET_MASTER_ADDR": "job-node-0-0.job"}
    assert detect(Options(), env, NOWHERE) == Topology(4, 3, "job-node-0-0.job", ())


def test_slurm_takes_the_head_from_the_batch_script() -> None:
    env = {"SLURM_NNODES": "4", "SLURM_NODEID": "2"}
    assert detect(dataclasses.replace(Options(), head="n1"), env, NOWHERE).node_rank == 2
    with pytest.raises(UsageError, match="set head"):
        detect(Options(), env, NOWHERE)


def test_sagemaker_sorts_hosts_by_number(tmp_path: Path) -> None:
    hosts = ["algo-10", "algo-2", "algo-1"]
    found = detect(Options(), {"SM_HOSTS": json.dumps(hosts), "SM_CURRENT_HOST": "algo-10"}, NOWHERE)
    assert found == Topology(3, 2, "algo-1", ("algo-1", "algo-2", "algo-10"), named=True)
    path = tmp_path / "resourceconfig.json"
    path.write_text(json.dumps({"hosts": hosts, "current_host": "algo-2", "network_interface_name": "eth0"}))
    found = detect(Options(), {}, path)
    assert (found.node_rank, found.interface) == (1, "eth0")


def test_vertex_counts_pools_in_order() -> None:
    spec = {
        "cluster": {"workerpool0": ["a-0:2222"], "workerpool1": ["b-0:2222", "b-1:2222"]},
        "task": {"type": "workerpool1", "index": 1},
    }
    found = detect(Options(), {"CLUSTER_SPEC": json.dumps(spec)}, NOWHERE)
    assert found == Topology(3, 2, "a-0", ("a-0", "b-0", "b-1"), named=True)


def test_options_win_and_disagreement_is_an_error() -> None:
    options = dataclasses.replace(Options(), nodes=2, node_rank=0, head="h", expected_hosts=("h",))
    with pytest.raises(UsageError, match="names 1 hosts, the job has 2 nodes"):
        detect(options, {"JOB_COMPLETION_INDEX": "1"}, NOWHERE)
