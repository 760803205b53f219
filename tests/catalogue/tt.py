"""Uses of the ops of ttir and ttnn, with what NumPy computes: one list for both dialects."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tests.interpreters.reference import run
from ttxdsl.dialects._tt.elementwise import ELEMENTWISE, Typing
from ttxdsl.dialects._tt.reduction import REDUCTIONS

_ELEMENTS = {
    "float32": "f32",
    "bfloat16": "bf16",
    "int32": "i32",
    "bool": "i1",
    "int64": "i64",
}


def kind(array):
    shape = "".join(f"{n}x" for n in array.shape)
    return f"tensor<{shape}{_ELEMENTS[str(array.dtype)]}>"


def text_of(dialect, name, inputs, outputs, attributes=""):
    """A program of one op, from arrays of the types of its operands and results."""
    types = [kind(x) for x in inputs]
    results = [kind(x) for x in outputs]
    args = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    operands = [f"%a{i}" for i in range(len(inputs))]
    lines = []
    if dialect == "ttir":
        for i, t in enumerate(results):
            lines.append(f'%e{i} = "ttir.empty"() : () -> {t}')
            operands.append(f"%e{i}")
        types = types + results
    given = f" <{{{attributes}}}>" if attributes else ""
    names = [f"%r{i}" for i in range(len(results))]
    lines.append(
        f'{", ".join(names)} = "{dialect}.{name}"({", ".join(operands)}){given} : '
        f"({', '.join(types)}) -> ({', '.join(results)})"
    )
    return f"""func.func @main({args}) -> ({", ".join(results)}) {{
      {chr(10).join(lines)}
      return {", ".join(names)} : {", ".join(results)}
    }}"""


def one_op(dialect, name, inputs, wanted, attributes="", outputs=None):
    """Run one op of `inputs`; `wanted` says the result types."""
    outputs = outputs or [wanted]
    return run(text_of(dialect, name, inputs, outputs, attributes), *inputs)


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X = floats(2, 3, 4)


class TTUse(NamedTuple):
    """An op of one dialect applied to arrays, and the array that results."""

    dialect: str
    op: str
    inputs: list[np.ndarray[Any, Any]]
    wanted: np.ndarray[Any, Any]
    properties: str = ""
    rtol: float = 1e-5

    @property
    def text(self) -> str:
        return text_of(
            self.dialect, self.op, self.inputs, [self.wanted], self.properties
        )


_erf = np.vectorize(math.erf, otypes=[np.float64])

_MEANINGS = {
    "acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "bitwise_not": np.invert, "cos": np.cos, "erf": _erf, "erfc": lambda x: 1 - _erf(x),
    "gelu": lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2, "neg": np.negative,
    "reciprocal": lambda x: 1 / x, "relu": lambda x: np.maximum(x, 0),
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)), "sin": np.sin, "atan2": np.arctan2,
    "div": np.divide, "eq": np.equal, "ge": np.greater_equal, "gt": np.greater,
    "le": np.less_equal, "lt": np.less, "ne": np.not_equal, "pow": np.power,
    "remainder": np.fmod, "logical_left_shift": np.left_shift,
    "logical_right_shift": lambda x, y: (x.view(np.uint32) >> y.view(np.uint32)).view(np.int32),
    "clamp_tensor": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}  # fmt: skip
_INTEGER = {"bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
           "logical_left_shift", "logical_right_shift"}  # fmt: skip


def _operands_of(spec):
    if spec.ttir in _INTEGER:
        x = np.array([[-9, 5, 1], [7, 2**31 - 1, -(2**31)]], np.int32)
        return [x, np.array([[1, 2, 31], [0, 4, 3]], np.int32)][: spec.arity]
    if spec.typing == Typing.LOGICAL:
        x = np.array([[True, False, True], [False, False, True]])
        return [x, x[:, ::-1].copy()][: spec.arity]
    found = [floats(2, 3, seed=i) for i in range(spec.arity)]
    if spec.ttir in ("acos", "asin"):
        found = [np.clip(x, -1, 1) for x in found]
    if spec.typing == Typing.SELECT:
        found[0] = found[0] > 0
    return found


def _elementwise() -> Iterator[TTUse]:
    for spec in ELEMENTWISE:
        if spec.typing in (Typing.CONVERT, Typing.BITCAST):
            continue
        inputs = _operands_of(spec)
        function = _MEANINGS.get(spec.ttir) or getattr(np, spec.ttir)
        with np.errstate(all="ignore"):
            wanted = np.asarray(function(*inputs))
        wanted = wanted if wanted.dtype == bool else wanted.astype(inputs[-1].dtype)
        yield TTUse("ttir", spec.ttir, inputs, wanted)
        yield TTUse("ttnn", spec.ttnn, inputs, wanted)
    x = np.array([1.7, -2.5, 0.0], np.float32)
    a, b, rows = floats(2, 1, 4), floats(1, 3, 1, seed=1), np.float32([10, 20, 30])
    mask = np.array([True, False, True])
    for dialect in ("ttir", "ttnn"):
        for wanted in (x.astype(np.int32), x != 0, x.astype(ml_dtypes.bfloat16)):
            yield TTUse(dialect, "typecast", [x], wanted)
        yield TTUse(dialect, "bitcast_convert", [x], x.view(np.int32))
        # dimensions of size 1 stretch, and those in front may be missing
        yield TTUse(dialect, "add", [a, b], a + b)
        yield TTUse(dialect, "exp", [a], np.broadcast_to(np.exp(a), (2, 3, 4)))
        yield TTUse(dialect, "add", [rows, X[0, :, :3]], X[0, :, :3] + rows)
        for chosen in (mask, mask[0]):
            where = np.where(chosen, X[0, :, :3], rows)
            yield TTUse(dialect, "where", [chosen, X[0, :, :3], rows], where)


_REDUCTION_MEANINGS = {
    "max": np.max, "min": np.min, "mean": np.mean, "prod": np.prod, "sum": np.sum,
    "reduce_and": np.all, "reduce_or": np.any,
}  # fmt: skip


def _reductions() -> Iterator[TTUse]:
    for entry in REDUCTIONS:
        x = X > 0 if entry.ttir.startswith("reduce") else X
        for keep in (True, False):
            for dims in ((1,), (0, 2), None):
                wanted = _REDUCTION_MEANINGS[entry.ttir](x, axis=dims, keepdims=keep)
                wanted = np.asarray(wanted).astype(x.dtype)
                said = f"keep_dim = {str(keep).lower()}"
                if dims is not None:
                    said += f", dim_arg = [{', '.join(f'{d} : i32' for d in dims)}]"
                yield TTUse("ttir", entry.ttir, [x], wanted, said)
                if entry.in_ttnn and entry.ttir != "prod":  # which has another form
                    yield TTUse("ttnn", entry.ttir, [x], wanted, said)
    product, best = X.prod(axis=1, keepdims=True), X.argmax(axis=1).astype(np.int32)
    yield TTUse("ttnn", "prod", [X], product, "dim_arg = 1 : si64, keep_dim = true")
    yield TTUse("ttnn", "argmax", [X], best, "dim = 1 : si32, keep_dim = false")
    yield TTUse("ttir", "argmax", [X], best, "dim_arg = [1 : i32], keep_dim = false")


_MOVES = [
    ("reshape", [X], X.reshape(4, 6), "shape = [4 : i32, 6 : i32]"),
    ("permute", [X], X.transpose(2, 0, 1), "permutation = array<i64: 2, 0, 1>"),
    ("concat", [X, X[:, :1]], np.concatenate([X, X[:, :1]], 1), "dim = 1 : si32"),
    ("slice_static", [X], X[0:2, 1:3, 0:4:2], "begins = [0 : i32, 1 : i32, 0 : i32], "
     "ends = [2 : i32, 3 : i32, 4 : i32], step = [1 : i32, 1 : i32, 2 : i32]"),
    ("slice_dynamic", [X, np.array([0, 1, 2], np.int32), np.array([2, 2, 4], np.int32)],
     X[0:2, 1:2, 2:4], ""),
    ("cumsum", [X], X.cumsum(axis=1), "dim = 1 : i64"),
    ("cumprod", [X], X.cumprod(axis=2), "dim = 2 : i64"),
    ("gather", [X, np.array([[[0], [2], [1], [3]]] * 2, np.int32)[:, :3]],
     np.take_along_axis(X, np.array([[[0], [2], [1]]] * 2), 2), "dim = 2 : i32"),
    ("embedding", [np.array([[1, 0], [5, -2]], np.int32), X[0]], X[0][[[1, 0], [2, 0]]], ""),
    ("matmul", [X, X.transpose(0, 2, 1)[:, :, :2].copy()], X @ X.transpose(0, 2, 1)[:, :, :2],
     "transpose_a = false, transpose_b = false"),
    ("matmul", [X, X], X @ X.transpose(0, 2, 1), "transpose_a = false, transpose_b = true"),
    ("matmul", [X, X], X.transpose(0, 2, 1) @ X, "transpose_a = true, transpose_b = false"),
]  # fmt: skip
_TTIR_ONLY = [
    ("broadcast", [X[:, :1]], np.repeat(X[:, :1], 5, 1),
     "broadcast_dimensions = array<i64: 1, 5, 1>"),
    ("reverse", [X], X[::-1, :, ::-1], "dimensions = array<i64: 0, 2>"),
    ("pad", [X[0]], np.pad(X[0], [(1, 2), (0, 3)], constant_values=2.5),
     "padding = array<i32: 1, 2, 0, 3>, value = 2.5 : f32"),
    ("dot_general", [X, X], np.einsum("abc,adc->abd", X, X),
     "batch_dims_lhs = array<i64: 0>, batch_dims_rhs = array<i64: 0>, "
     "contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 2>"),
]  # fmt: skip


def _moves() -> Iterator[TTUse]:
    for name, inputs, wanted, said in _MOVES:
        yield TTUse("ttir", name, inputs, wanted, said)
        if name in ("cumsum", "cumprod", "gather"):
            said = (
                said.replace("i64", "si32").replace("i32", "si32").replace("ssi", "si")
            )
        yield TTUse("ttnn", name, inputs, wanted, said)
    for name, inputs, wanted, said in _TTIR_ONLY:
        yield TTUse("ttir", name, inputs, np.ascontiguousarray(wanted), said)
    for dialect in ("ttir", "ttnn"):
        yield TTUse(dialect, "reshape", [X[:1, :1, :1]], X[0, 0, 0], "shape = []")
    said = "repeat_dims = #ttnn.shape<1x2x3>"
    yield TTUse("ttnn", "repeat", [X], np.tile(X, (1, 2, 3)), said)


USES = [*_elementwise(), *_reductions(), *_moves()]
