"""The model that the checks train: small, deterministic, and with data that is a function of (seed, step, rank).

Nothing about a step depends on what a process did before, so a resumed run must reproduce the losses of an
uninterrupted one bit for bit.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn


def make_model(
    seed: int, width: int, depth: int, dtype: torch.dtype = torch.float32, device: torch.device | None = None
) -> nn.Module:
    """`depth` blocks of a residual network of `width`; the same weights for the same seed on every device."""
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(approximate="tanh")]
    model = nn.Sequential(*layers, nn.Linear(width, 1)).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                parameter.copy_(noise / parameter.shape[1] ** 0.5)
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.bias.zero_()
    return model.to(device) if device is not None else model


def make_optimizer(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW: state that must survive a resume as well as the weights."""
    return torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)


def batch(
    seed: int, step: int, rank: int, size: int, width: int, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (size, width) and targets (size, 1) on the CPU, a function of (seed, step, rank) only."""
    digest = hashlib.sha256(f"{seed}/{step}/{rank}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
    inputs = torch.randn((size, width), generator=generator, dtype=torch.float64)
    targets = inputs[:, :8].sum(dim=1, keepdim=True).sin()
    return inputs.to(dtype), targets.to(dtype)


def train_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, inputs: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """One step of mean squared error; the loss of this rank's batch, detached."""
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    return loss.detach()


def state(model: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> dict[str, Any]:
    """What a checkpoint holds: tensors of the model and the optimizer by name, and the step."""
    flat: dict[str, Any] = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    names = [name for name, _ in model.named_parameters()]
    for index, slot in optimizer.state_dict()["state"].items():
        for key, value in slot.items():
            flat[f"optimizer.{names[index]}.{key}"] = value
    flat["step"] = torch.tensor(step, dtype=torch.int64)
    return flat


def load_state(model: nn.Module, optimizer: torch.optim.Optimizer, flat: dict[str, Any], momenta: bool = True) -> int:
    """Puts a state back; the step it was taken after. `momenta` False leaves the optimizer new (a seeded fault)."""
    model.load_state_dict({k.removeprefix("model."): v for k, v in flat.items() if k.startswith("model.")})
    if momenta:
        document = optimizer.state_dict()
        document["state"] = {
            index: {
                key.rsplit(".", 1)[1]: value
                for key, value in flat.items()
                if key.startswith(f"optimizer.{name}.") and key.count(".") == name.count(".") + 2
            }
            for index, (name, _) in enumerate(model.named_parameters())
        }
        optimizer.load_state_dict(document)
    return int(flat["step"])


def fill_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Gives a new optimizer its state tensors without moving the weights, so that a checkpoint can be loaded in."""
    kept = [parameter.detach().clone() for parameter in model.parameters()]
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        for parameter, old in zip(model.parameters(), kept, strict=True):
            parameter.copy_(old)


def checksum(tensor: torch.Tensor) -> int:
    """A 56-bit checksum of the tensor's exact bytes."""
    raw = tensor.detach().cpu().contiguous().view(-1).view(torch.uint8)
    return int.from_bytes(hashlib.sha256(raw.numpy().tobytes()).digest()[:7], "big")


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    """Deterministic kernels inside; cuBLAS needs CUBLAS_WORKSPACE_CONFIG as well, which the wrapper sets."""
    before, benchmark = torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.backends.cudnn.benchmark = benchmark
