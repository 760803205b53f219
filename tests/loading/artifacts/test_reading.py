"""Programs that are bytes: bytecode, portable artifacts, what jax.export writes.

What is valid is read in this process, where it costs no start of Python; a few programs
go the whole way.
"""

import sys
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest
from jax._src.interpreters import mlir
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.loading.artifacts import reading
from ttxdsl.loading.artifacts.worker import NotReadable, exported_text, program_text


def array(shape: tuple[Any, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    return jax.ShapeDtypeStruct(
        shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes))
    )


@jax.jit
def product(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


@cache
def exported() -> jax.export.Exported:
    return jax.export.export(product)(array((8, 4), "a", "b"), array((4, 6), "b", None))


@cache
def symbolic() -> jax.export.Exported:
    b, n = jax.export.symbolic_shape("b, n", constraints=["b >= 2"])
    both = jax.export.export(product, platforms=("tpu", "cpu"))
    return both(array((2 * b, 4 * n), "a", "b"), array((4 * n, 6), "b", None))


def bytecode() -> bytes:
    """A program that MLIR wrote, whose function has another name than main."""
    with mlir.make_ir_context():
        module = mlir.ir.Module.parse(
            "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {"
            " %0 = stablehlo.add %x, %x : tensor<2xf32>"
            " return %0 : tensor<2xf32> }"
        )
        return mlir.module_to_bytecode(module)


def test_a_portable_artifact_in_a_process():
    data = exported().mlir_module_serialized
    program = ttxdsl.load(data)
    assert program.source == "<bytes>"
    assert program.text == ttxdsl.load(exported().mlir_module()).text
    (collective,) = program.partition(optimize=False).collectives()
    assert (collective.kind, collective.axes_text) == ("all_reduce", "b")
    assert "test_reading.py" in collective.position


def test_bytecode():
    (found,) = ttxdsl.load(program_text(bytecode(), {})).simulate([1, 2])
    assert found.tolist() == [2, 4]


@pytest.mark.parametrize("shardy", [True, False])
def test_shardings_arrive(shardy: bool):
    """In whatever attribute the exporter has put them."""
    x = array((8, 4), "a", None)
    with jax.enable_x64(False):
        jax.config.update("jax_use_shardy_partitioner", shardy)
        try:
            f = jax.jit(lambda x: (x, x + 1), out_shardings=(None, x.sharding))
            made = jax.export.export(f)(x)
        finally:
            jax.config.update("jax_use_shardy_partitioner", True)
    text = exported_text(made, {})
    line = next(line for line in text.splitlines() if "@main" in line)
    assert line.count("sdy.sharding = " if shardy else "mhlo.sharding = ") == 2


def named(x: jax.Array, w: jax.Array, sizes: jax.Array) -> Any:
    values, indices = jax.lax.top_k(jnp.sinh(x), 2)
    return values, indices, jax.lax.ragged_dot(jax.lax.erf(x), w, sizes)


def test_ops_that_a_portable_artifact_writes_as_composites():
    """What JAX lowers to CHLO stays that: its decomposition would send more."""
    sizes = jax.ShapeDtypeStruct((4,), jnp.int32)
    given = (array((8, 4), "a", None), array((4, 4, 6), "b", None, None), sizes)
    text = jax.jit(named).trace(*given).lower(lowering_platforms=("tpu",)).as_text()
    export = jax.export.export(jax.jit(named), platforms=["tpu"])(*given)
    artifact = exported_text(export, {})
    assert artifact.count("stablehlo.composite") == 4
    native, carried = (ttxdsl.load(form).partition() for form in (text, artifact))
    assert carried.text.count("chlo.") == native.text.count("chlo.")
    assert ".impl" not in carried.text
    sent = [
        [(c.kind, c.axes_text, c.bytes_per_device) for c in program.collectives()]
        for program in (native, carried)
    ]
    assert sent[0] == sent[1]
    x, w, _ = native.random_inputs()
    inputs = (x, w, np.asarray([1, 3, 0, 4], np.int32))
    for found, wanted in zip(
        carried.simulate(*inputs), jax.jit(named)(*inputs), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_shardings_that_are_not_there_are_an_error():
    """A sharding of an `Exported` that its module does not have is not lost."""
    made = exported()
    bare = jax.export.export(product)(
        *(jax.ShapeDtypeStruct(one.shape, one.dtype) for one in made.in_avals)
    )
    for name in ("_has_named_shardings", "_in_named_shardings", "nr_devices"):
        object.__setattr__(bare, name, getattr(made, name))
    with pytest.raises(NotReadable, match=r"argument 0 .*P\('a', 'b'\).* not say so"):
        exported_text(bare, {})


def test_several_platforms_are_the_one_of_the_cpu():
    """The argument that says the platform is no argument of the program."""

    def scaled(x: jax.Array) -> jax.Array:
        return jax.lax.platform_dependent(
            x, cpu=lambda x: 2 * x, tpu=lambda x: 3 * x, cuda=lambda x: 5 * x
        )

    for platforms, factor in ((("tpu", "cpu"), 2), (("cuda", "tpu"), 5)):
        export = jax.export.export(jax.jit(scaled), platforms=platforms)
        made = export(jax.ShapeDtypeStruct((3,), jnp.float32))
        program = ttxdsl.load(exported_text(made, {}))
        (x,) = program.random_inputs()
        np.testing.assert_array_equal(program.simulate(x)[0], factor * x)


def test_sizes_of_symbolic_dimensions():
    program = ttxdsl.load(exported_text(symbolic(), {"b": 3, "n": 2}))
    x, w = program.random_inputs()
    assert (x.shape, w.shape) == ((6, 8), (8, 6))
    device = program.partition()
    assert [one.kind for one in device.collectives()] == ["all_reduce"]
    np.testing.assert_allclose(device.simulate(x, w)[0], x @ w, rtol=1e-4)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({}, "symbolic dimensions without a size: b, n"),
        ({"n": 1}, "symbolic dimensions without a size: b$"),
        ({"b": 2, "n": 1, "m": 1}, "no dimension m, but b, n"),
        ({"b": 1, "n": 1}, "the sizes do not fit it: .* constraint b >= 2"),
    ],
)
def test_wrong_sizes(sizes: dict[str, int], message: str):
    with pytest.raises(NotReadable, match=message):
        exported_text(symbolic(), sizes)


def test_sizes_for_what_has_no_symbols():
    with pytest.raises(NotReadable, match="no symbolic dimensions"):
        program_text(bytecode(), {"b": 2})
    with pytest.raises(NotReadable, match="no dimension b, but none"):
        exported_text(exported(), {"b": 2})
    with pytest.raises(ttxdsl.CompileError, match="it is text"):
        ttxdsl.load("module {}", shapes={"b": 2})


def test_what_jax_export_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The whole way: a file, its kind found out, a process, sizes from the command."""
    pytest.importorskip("flatbuffers")
    file = tmp_path / "product.bin"
    file.write_bytes(symbolic().serialize())
    assert main(["show", str(file), "--shapes", "b=4,n=2", "--arg", "0"]) == 0
    assert "tensor<8x8xf32>" in capsys.readouterr().out
    assert main(["show", str(file)]) == 1
    err = capsys.readouterr().err
    assert "symbolic dimensions without a size: b, n" in err
    assert "--shapes b=8,n=8" in err
    with pytest.raises(NotReadable, match=r"jax\.export does not know it"):
        program_text(file.read_bytes()[:100], {})


def test_damaged_bytes_are_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "damaged.mlirbc"
    file.write_bytes(exported().mlir_module_serialized[:300])
    assert main(["compile", str(file)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: cannot read '{file}': jaxlib {jaxlib.__version__}")
    assert "does not read this bytecode of StableHLO_v1." in err
    assert err.count("\n") == 1


def test_a_reader_that_aborts(monkeypatch: pytest.MonkeyPatch):
    """jaxlib does on some damaged bytes, other ones in each release."""
    monkeypatch.setattr(reading, "_WORKER", "tests.loading.worker_answers:abort")
    with pytest.raises(ttxdsl.CompileError, match="'<bytes>': jaxlib fails on it"):
        ttxdsl.load(bytecode())


def test_without_jax(monkeypatch: pytest.MonkeyPatch):
    data = bytecode()
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ttxdsl.CompileError, match="jax, which reads it") as caught:
        ttxdsl.load(data)
    assert caught.value.hint == "pip install 'ttxdsl[jax]'"
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    with pytest.raises(ttxdsl.CompileError, match="jax, flatbuffers, which reads"):
        ttxdsl.load(b"\x3c\0\0\0 what jax.export writes")


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"  ", "text is empty"), (b"\xff\xfem\0", "not UTF-8"), (b"abc", "abc\n")],
)
def test_other_bytes_are_no_program(data: bytes, message: str):
    with pytest.raises(ttxdsl.CompileError, match=message):
        ttxdsl.load(data)
