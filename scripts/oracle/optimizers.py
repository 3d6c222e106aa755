"""Optimizers for the recorded references: PyTorch's own, and LARS, which PyTorch has not."""
import numpy as np
import torch
from torch import nn

import formula


class Lars(torch.optim.Optimizer):
    """You et al. 2017, arXiv:1708.03888, algorithm 1, word for word. Groups with `adapt` False keep the global rate."""

    def __init__(self, groups, lr, momentum=0.9, trust=0.001):
        super().__init__(groups, dict(lr=lr, momentum=momentum, trust=trust, weight_decay=0.0, adapt=True))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                gradient, decay, rate = weight.grad, group["weight_decay"], group["lr"]
                if group["adapt"]:
                    length = torch.linalg.vector_norm(weight)
                    rate = rate * group["trust"] * length / (torch.linalg.vector_norm(gradient) + decay * length)
                state = self.state[weight]
                velocity = state.setdefault("momentum_buffer", torch.zeros_like(weight))
                velocity.mul_(group["momentum"]).add_(rate * (gradient + decay * weight))
                weight.sub_(velocity)


def groups_of(parameters, weight_decay, decay_all=False):
    """Weights first, then batch norm and biases, which are what has one dimension."""
    weights = [p for p in parameters if p.dim() > 1]
    others = [p for p in parameters if p.dim() == 1]
    return weights, others, weight_decay if decay_all else 0.0


def make(kind, parameters, lr, weight_decay, decay_all=False, foreach=None, **more):
    weights, others, rest = groups_of(list(parameters), weight_decay, decay_all)
    groups = [{"params": weights, "weight_decay": weight_decay}, {"params": others, "weight_decay": rest}]
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=lr, momentum=0.9, foreach=foreach, **more)
    if kind == "adam":
        return torch.optim.Adam(groups, lr=lr, foreach=foreach, **more)
    if kind == "adamw":
        return torch.optim.AdamW(groups, lr=lr, foreach=foreach, **more)
    groups[1]["adapt"] = False
    return Lars(groups, lr=lr, **more)


# What native/tests/optim/oracle_test.cpp replays: name, kind, learning rate, weight decay, decay of vectors too, others.
RUNS = [
    ("sgd", "sgd", 0.1, 1e-4, False, {}),
    ("sgd_decaying_all", "sgd", 0.1, 5e-3, True, {}),
    ("lars", "lars", 2.0, 1e-4, False, {}),
    ("lars_trusting", "lars", 0.5, 5e-3, True, {"trust": 0.02}),
    ("adam", "adam", 0.001, 1e-4, False, {}),
    ("adam_others", "adam", 0.02, 5e-3, True, {"betas": (0.8, 0.95), "eps": 1e-3}),
    ("adamw", "adamw", 0.001, 0.05, False, {}),
    ("adamw_others", "adamw", 0.02, 0.5, True, {"betas": (0.8, 0.95), "eps": 1e-3}),
]
TENSORS = {"conv1.weight": (6, 4, 3, 3), "bn1.weight": (6,), "bn1.bias": (6,), "fc.weight": (5, 24), "fc.bias": (5,)}
STEPS = 5


def replay(kind, lr, weight_decay, decay_all, more, dtype, foreach):
    """Weights after STEPS updates by gradients of the formula, whose learning rate falls by a fifth each."""
    weights = {name: nn.Parameter(torch.from_numpy(formula.parameter(name, shape)).to(dtype)) for name, shape in TENSORS.items()}
    optimizer = make(kind, weights.values(), lr, weight_decay, decay_all, foreach, **more)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = float(np.float32(lr * (STEPS - step) / STEPS))
        for name, weight in weights.items():
            weight.grad = torch.from_numpy(formula.unit(f"{name}.{step}", TENSORS[name]) * np.float32(0.25)).to(dtype)
        optimizer.step()
    return {name: weight.detach().double().numpy().ravel() for name, weight in weights.items()}


def record(path):
    with path.open("w") as out:
        print(f"steps {STEPS} torch {torch.__version__}", file=out)
        for label, kind, lr, weight_decay, decay_all, more in RUNS:
            exact = replay(kind, lr, weight_decay, decay_all, more, torch.float64, False)
            singles = [replay(kind, lr, weight_decay, decay_all, more, torch.float32, each) for each in (False, True)]
            for name, value in exact.items():
                distance = max(float(np.linalg.norm(single[name] - value)) for single in singles)
                print(label, name, value.size, f"{distance:.9e}", *(f"{number:.11e}" for number in value), file=out)
    print(f"{path}: {path.stat().st_size} bytes")
