#!/usr/bin/env python3
"""Writes models/tests/data/*.safetensors: PyTorch's own numbers for the tests.

    python3 scripts/make_torch_vectors.py      (needs torch; safetensors is written by hand)

parity.safetensors     a small network written in PyTorch: forward in both modes, losses, gradients
optimizer.safetensors  AdamW, SGD and gradient clipping over fixed gradients

The files are committed; run this again only to change what is compared.
"""

import json
import struct
import zlib
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

DATA = Path(__file__).resolve().parent.parent / "models" / "tests" / "data"
DTYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64"}


def save(path, tensors, metadata):
    """Writes a file as models/src/tensor_file.rs does, checksum included."""
    tensors = {name: tensors[name].detach().contiguous() for name in sorted(tensors)}
    blobs = {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}
    crc = 0
    fields = [text.encode() for item in sorted(metadata.items()) for text in item]
    for name, tensor in tensors.items():
        shape = str(list(tensor.shape))
        fields += [name.encode(), DTYPES[tensor.dtype].encode(), shape.encode(), blobs[name]]
    for field in fields:
        crc = zlib.crc32(struct.pack("<Q", len(field)) + field, crc)
    header = {"__metadata__": {**metadata, "crc32": f"{crc:08x}"}}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + len(blobs[name])
        entry = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape)}
        header[name] = {**entry, "data_offsets": [start, end]}
    head = json.dumps(header, sort_keys=True).encode()
    head += b" " * (-len(head) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(blobs.values()))
    print(f"{path}: {path.stat().st_size} bytes")


class ConvNorm(nn.Module):
    def __init__(self, inputs, outputs, kernel, net):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(
            outputs, eps=net["batch_norm_epsilon"], momentum=net["batch_norm_momentum"]
        )

    def forward(self, x):
        return self.norm(self.conv(x))


class Block(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.first = ConvNorm(net["channels"], net["channels"], 3, net)
        self.second = ConvNorm(net["channels"], net["channels"], 3, net)

    def forward(self, x):
        return F.relu(x + self.second(F.relu(self.first(x))))


class Policy(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.mix = ConvNorm(net["channels"], net["policy_channels"], 1, net)
        self.out = nn.Linear(net["policy_channels"], net["policy_planes"])

    def forward(self, x):
        return self.out(F.relu(self.mix(x)).permute(0, 2, 3, 1)).flatten(1)


class Value(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.mix = ConvNorm(net["channels"], net["value_channels"], 1, net)
        self.hidden = nn.Linear(2 * net["value_channels"], net["value_hidden"])
        self.out = nn.Linear(net["value_hidden"], 3)

    def forward(self, x):
        x = F.relu(self.mix(x))
        pooled = torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)
        return self.out(F.relu(self.hidden(pooled)))


class Net(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.stem = ConvNorm(net["input_planes"], net["channels"], 3, net)
        self.tower = nn.ModuleList(Block(net) for _ in range(net["blocks"]))
        self.policy = Policy(net)
        self.value = Value(net)

    def forward(self, planes):
        x = F.relu(self.stem(planes.permute(0, 3, 1, 2)))
        for block in self.tower:
            x = block(x)
        return self.policy(x), self.value(x)


def variables(net):
    return {k: v for k, v in net.state_dict().items() if not k.endswith("num_batches_tracked")}


def randomise(net):
    """Weights and statistics far from their initial values."""
    with torch.no_grad():
        for name, value in variables(net).items():
            if name.endswith("running_var") or name.endswith("norm.weight"):
                value.uniform_(0.5, 2.0)
            elif value.dim() > 1:
                value.normal_(0, (2 / value[0].numel()) ** 0.5)
            else:
                value.normal_(0, 0.3)


def policy_targets(batch, actions, width):
    """Padded legal actions and target probabilities; the last row can only pass."""
    legal = torch.full((batch, width), -1)
    targets = torch.zeros(batch, width)
    for row in range(batch - 1):
        count = width - 2 * row
        legal[row, :count] = torch.randperm(actions)[:count]
        targets[row, :count] = torch.rand(count).softmax(0)
    return legal, targets


def policy_loss(logits, legal, targets):
    losses = []
    for row in range(len(logits)):
        chosen = legal[row] >= 0
        logp = logits[row][legal[row][chosen]].log_softmax(0)
        losses.append(-(targets[row][chosen] * logp).sum())
    return torch.stack(losses)


def make_parity():
    torch.manual_seed(1)
    config = {
        "input_planes": 6, "policy_planes": 5, "blocks": 2, "channels": 8,
        "policy_channels": 4, "value_channels": 3, "value_hidden": 7,
        "batch_norm_epsilon": 1e-5, "batch_norm_momentum": 0.1, "output_init_std": 0.01,
    }  # fmt: skip
    net = Net(config)
    randomise(net)
    batch = 4
    planes = torch.rand(batch, 8, 8, config["input_planes"])
    legal, targets = policy_targets(batch, 64 * config["policy_planes"], 12)
    outcomes = torch.rand(batch, 3).softmax(1)
    out = {"planes": planes, "legal": legal, "targets": targets, "outcomes": outcomes}
    out |= {f"initial/{k}": v.clone() for k, v in variables(net).items()}
    with torch.no_grad():
        out["eval/policy"], out["eval/value"] = net.eval()(planes)
    policy, value = net.train()(planes)
    losses = policy_loss(policy, legal, targets), F.cross_entropy(value, outcomes, reduction="none")
    (losses[0].mean() + losses[1].mean()).backward()
    out |= {"train/policy": policy, "train/value": value}
    out |= {"loss/policy": losses[0], "loss/value": losses[1]}
    out |= {f"after/{k}": v for k, v in variables(net).items() if "running" in k}
    out |= {f"gradient/{k}": v.grad for k, v in net.named_parameters()}
    save(DATA / "parity.safetensors", out, {"net": json.dumps(config)})


def make_optimizer():
    torch.manual_seed(2)
    steps = 6
    start = {"weight": torch.randn(3, 4), "bias": torch.randn(4)}
    gradients = [{k: torch.randn_like(v) for k, v in start.items()} for _ in range(steps)]
    rates = [0.1, 0.1, 0.05, 0.05, 0.02, 0.01]
    makers = {
        "adam_w": lambda groups: torch.optim.AdamW(groups, betas=(0.9, 0.99), eps=1e-6),
        "sgd": lambda groups: torch.optim.SGD(groups, momentum=0.9),
        "nesterov": lambda groups: torch.optim.SGD(groups, momentum=0.9, nesterov=True),
    }
    out = {f"start/{k}": v for k, v in start.items()}
    out["rates"] = torch.tensor(rates, dtype=torch.float64)
    for i, step in enumerate(gradients):
        out |= {f"gradient/{i}/{k}": v for k, v in step.items()}
    for kind, make in makers.items():
        params = {k: nn.Parameter(v.clone()) for k, v in start.items()}
        optimizer = make([
            {"params": [params["weight"]], "weight_decay": 0.1, "lr": 0.1},
            {"params": [params["bias"]], "weight_decay": 0.0, "lr": 0.1},
        ])  # fmt: skip
        norms = []
        for i, step in enumerate(gradients):
            for k, v in step.items():
                params[k].grad = v.clone()
            norms.append(nn.utils.clip_grad_norm_(params.values(), 3.5))
            for group in optimizer.param_groups:
                group["lr"] = rates[i]
            optimizer.step()
            out |= {f"{kind}/{i}/{k}": v.detach().clone() for k, v in params.items()}
        out["norms"] = torch.stack(norms)
    save(DATA / "optimizer.safetensors", out, {"clip": "3.5", "weight_decay": "0.1"})


if __name__ == "__main__":
    make_parity()
    make_optimizer()
