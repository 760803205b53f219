"""Write the programs of this folder: what torch-xla 2.9 makes of sharded modules.

    python -m venv v && v/bin/pip install torch==2.9.0 torch_xla==2.9.0 numpy
    PJRT_DEVICE=CPU CPU_NUM_DEVICES=8 v/bin/python tests/bridges/jax/torch_xla/make.py

Each `NAME.mlir` has a `NAME.npz` with its arguments, in its order, and what torch itself
computes of them on the CPU. Arguments have different shapes, by which they are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr
from torch.nn import functional

FOLDER = Path(__file__).parent
MESH = xs.Mesh(np.arange(8), (2, 4), ("x", "y"))
TURNED = xs.Mesh(np.array([0, 2, 4, 6, 7, 5, 3, 1]), (2, 4), ("x", "y"))

Tensor = torch.Tensor
Mark = Callable[[Tensor, tuple[str | None, ...]], Tensor]


def mlp(mark: Mark, x: Tensor, w1: Tensor, w2: Tensor) -> list[Tensor]:
    mark(x, ("x", None)), mark(w1, (None, "y")), mark(w2, ("y", None))
    h = mark(functional.gelu(x @ w1), ("x", "y"))
    y = mark(h @ w2, ("x", None))
    return [y, (y * y).mean()]


def attention(mark: Mark, x: Tensor, qkv: Tensor, out: Tensor) -> list[Tensor]:
    mark(x, ("x", None, None)), mark(qkv, (None, "y")), mark(out, ("y", None))
    batch, length, width = x.shape
    q, k, v = (
        part.reshape(batch, length, 4, -1).transpose(1, 2)
        for part in (x @ qkv).split(width, dim=-1)
    )
    scores = torch.softmax(q @ k.transpose(2, 3), dim=-1)
    mark(scores, ("x", "y", None, None))
    heads = (scores @ v).transpose(1, 2).reshape(batch, length, width)
    return [functional.layer_norm(heads @ out + x, (width,))]


def convolution(mark: Mark, x: Tensor, w: Tensor, b: Tensor) -> list[Tensor]:
    mark(x, ("x", None, "y", None)), mark(w, (None, None, None, None))
    return [functional.max_pool2d(functional.conv2d(x, w, b, padding=1).relu(), 2)]


def choices(mark: Mark, x: Tensor, table: Tensor) -> list[Tensor]:
    mark(x, ("x", None)), mark(table, ("y", None))
    values, places = torch.topk(x, 3)
    return [values, functional.embedding(places, table), torch.asinh(x).cumsum(1)]


PROGRAMS: dict[str, tuple[Callable[..., list[Tensor]], xs.Mesh, list[tuple[int, ...]]]]
PROGRAMS = {
    "mlp": (mlp, MESH, [(8, 16), (16, 32), (32, 16)]),
    "mlp_other_order": (mlp, TURNED, [(8, 16), (16, 32), (32, 16)]),
    "attention": (attention, MESH, [(4, 6, 16), (16, 48), (16, 16)]),
    "convolution": (convolution, MESH, [(4, 3, 16, 8), (5, 3, 3, 3), (5,)]),
    "choices": (choices, MESH, [(8, 12), (12, 4)]),
}


def main() -> None:
    xr.use_spmd()
    random = np.random.default_rng(0)
    for name, (function, mesh, shapes) in PROGRAMS.items():
        given = {s: random.standard_normal(s).astype(np.float32) for s in shapes}
        plain = [torch.from_numpy(array) for array in given.values()]
        wanted = function(lambda value, _: value, *plain)

        def mark(value: Tensor, axes: tuple[str | None, ...], over=mesh) -> Tensor:
            xs.mark_sharding(value, over, axes)
            return value

        tensors = [value.to(torch_xla.device()) for value in plain]
        text = xm.get_stablehlo(function(mark, *tensors))
        (FOLDER / f"{name}.mlir").write_text(text)
        main_line = next(line for line in text.splitlines() if "@main" in line)
        types = re.findall(r"%arg\d+: tensor<([\dx]*)f32>", main_line.split(") ->")[0])
        order = [tuple(int(n) for n in type.split("x") if n) for type in types]
        np.savez(
            FOLDER / f"{name}.npz",
            **{f"argument_{i}": given[shape] for i, shape in enumerate(order)},
            **{f"result_{i}": value.numpy() for i, value in enumerate(wanted)},
        )


if __name__ == "__main__":
    main()
