"""Programs with every collective of `shard_map`, on eight devices of the CPU.

Run by a Python with JAX 0.12 it writes their StableHLO into `jax_0_12`, in which mesh
axes say the groups of collectives; JAX 0.10, which the tests run, lists devices:

    JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=8 \
        python tests/bridges/jax/shard_map_programs.py
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

FOLDER = Path(__file__).parent / "jax_0_12"
SHAPE = 16, 32


@dataclass(frozen=True)
class Program:
    """A function of arrays of f32, mapped over the axes of a mesh."""

    body: Callable[..., Any]
    ins: Sequence[Any]
    outs: Any
    sizes: tuple[int, ...] = (2, 4)
    order: Sequence[int] = range(8)
    manual: frozenset[str] = frozenset()

    @property
    def mesh(self) -> Mesh:
        devices = np.array(jax.devices()[:8])[list(self.order)]
        return Mesh(devices.reshape(self.sizes), tuple("xyz"[: len(self.sizes)]))

    @property
    def function(self) -> Callable[..., Any]:
        options: dict[str, Any] = {"mesh": self.mesh, "check_vma": False}
        if self.manual:
            options["axis_names"] = set(self.manual)
        return jax.jit(
            jax.shard_map(
                self.body, in_specs=tuple(self.ins), out_specs=self.outs, **options
            )
        )

    def arguments(self) -> list[Any]:
        rng = np.random.default_rng(0)
        shapes = [SHAPE, SHAPE[::-1]][: len(self.ins)]
        return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]

    def text(self) -> str:
        """Its StableHLO, arguments sharded as the body takes them."""
        given = [
            jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=NamedSharding(self.mesh, s))
            for a, s in zip(self.arguments(), self.ins, strict=True)
        ]
        return self.function.lower(*given).as_text()


X, Y, XY, YX = P("x", None), P("x", "y"), ("x", "y"), ("y", "x")


def one(body: Callable[..., Any], outs: Any, ins: Any = Y, **options: Any) -> Program:
    return Program(body, (ins,), outs, **options)


def _ring(a: Any) -> Any:
    return lax.ppermute(a, "y", [(i, (i + 1) % 4) for i in range(4)])


def _nested(a: Any) -> Any:
    inner = jax.shard_map(
        lambda b: lax.psum(b, "y"),
        in_specs=P(None, "y"),
        out_specs=P(),
        axis_names={"y"},
        check_vma=False,
    )
    return inner(lax.psum(a, "x"))


def _gradient(a: Any, b: Any) -> Any:
    return jax.grad(lambda c: lax.pmean(jnp.sin(c @ b).sum(), XY))(a)


def _loop(a: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, b: b + lax.pmean(b, "x"), a)


PROGRAMS: dict[str, Program] = {
    "psum": one(lambda a: lax.psum(a, "y"), X),
    "psum_of_both": one(lambda a: lax.psum(a, XY), P()),
    "psum_of_two_of_three": one(
        lambda a: lax.psum(a, ("x", "z")), P("y"), P(("x", "y"), "z"), sizes=(2, 2, 2)
    ),
    "psum_on_other_devices": one(
        lambda a: lax.psum(a, "x"), P(None, "y"), order=(3, 1, 7, 5, 0, 2, 6, 4)
    ),
    "pmax": one(lambda a: lax.pmax(a, "x"), P(None, "y")),
    "pmin_of_groups": one(
        lambda a: lax.pmin(a, "y", axis_index_groups=[[0, 1], [2, 3]]), Y
    ),
    "all_gather": one(lambda a: lax.all_gather(a, "y", axis=1, tiled=True), X),
    "all_gather_minor_first": one(
        lambda a: lax.all_gather(a, YX, axis=0, tiled=True), P(), P(YX, None)
    ),
    "psum_scatter": one(
        lambda a: lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True), Y, X
    ),
    "psum_scatter_of_both": one(
        lambda a: lax.psum_scatter(a, XY, scatter_dimension=0, tiled=True), P(XY), P()
    ),
    "all_to_all": one(
        lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True), P(XY, None), Y
    ),
    "ppermute": one(_ring, Y),
    "matmul": Program(lambda a, b: lax.psum(a @ b, "y"), (Y, P("y", None)), X),
    "gradient": Program(_gradient, (X, P()), X),
    "some_axes": one(
        lambda a: jnp.tanh(lax.psum(a, "y")), P(), P(None, "y"), manual=frozenset("y")
    ),
    "nested": one(_nested, P(), P("x", None), manual=frozenset("x")),
    "loop": one(_loop, Y),
}


def _main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, program in PROGRAMS.items():
        (FOLDER / f"{name}.mlir").write_text(program.text())


if __name__ == "__main__":
    _main()
