"""What `docs/how-to/restore-a-checkpoint.md` tells people to run restores what was saved."""

import re

import pytest

from tests.shared import ROOT

torch = pytest.importorskip("torch")
import torch.distributed.checkpoint as dcp  # noqa: E402

PAGE = ROOT / "docs/how-to/restore-a-checkpoint.md"
PYTHON = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.M | re.S)


def trained():
    torch.manual_seed(1)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.rand(4, 8)).sum().backward()
    optimizer.step()
    return model, optimizer


def test_the_page_says_how_each_kind_is_loaded(tmp_path):
    model, optimizer = trained()
    (tmp_path / "run-7").mkdir()
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 41}, tmp_path / "run-7" / "last.pt"
    )
    where = tmp_path / "run-8" / "step-2000"
    dcp.save({"model": model.state_dict(), "step": torch.tensor(2000)}, checkpoint_id=where, no_dist=True)
    assert len(PYTHON) == 2
    for block, first_step in zip(PYTHON, (42, 2001), strict=True):
        fresh = torch.nn.Linear(8, 8)
        known = {"torch": torch, "model": fresh, "optimizer": torch.optim.AdamW(fresh.parameters())}
        exec(block.replace("/checkpoints", str(tmp_path)), known)
        assert known["first_step"] == first_step
        for name, tensor in model.state_dict().items():
            assert torch.equal(tensor, fresh.state_dict()[name])


def test_the_job_that_it_names_is_there(rehearsed):
    jobs = [
        each.inputs["metadata"] for each in rehearsed("demo").resources if each.type == "kubernetes:batch/v1:CronJob"
    ]
    [namespace, job] = re.search(r"kubectl -n (\S+) create job --from=cronjob/(\S+) ", PAGE.read_text()).groups()
    assert any((each["namespace"], each["name"]) == (namespace, job) for each in jobs)
