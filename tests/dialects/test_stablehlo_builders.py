"""Ops built from Python: types are inferred, and what is built verifies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects import chlo
from ttxdsl.dialects import stablehlo as hlo

F46, F4 = TensorType(f32, (4, 6)), TensorType(f32, (4,))
S, SI, SB = TensorType(f32, ()), TensorType(i32, ()), TensorType(i1, ())


def value(value_type: Attribute) -> SSAValue:
    return test.TestOp(result_types=[value_type]).results[0]


def ends(*values: SSAValue) -> hlo.ReturnOp:
    return hlo.ReturnOp(values)


def region(*types: Attribute, result: int | None = 0) -> Region:
    block = Block(arg_types=types)
    block.add_op(ends() if result is None else ends(block.args[result]))
    return Region(block)


def returning(given: SSAValue) -> Region:
    return Region(Block([ends(given)]))


X, V, A, N, P = value(F46), value(F4), value(S), value(SI), value(SB)

BUILT: dict[str, tuple[Callable[[], Operation], str]] = {
    "unary": (lambda: hlo.ExpOp(X), "exponential %1 : tensor<4x6xf32>"),
    "finite": (lambda: hlo.IsFiniteOp(V), "(tensor<4xf32>) -> tensor<4xi1>"),
    "binary": (lambda: hlo.AddOp(X, X), "add %1, %1 : tensor<4x6xf32>"),
    "complex": (lambda: hlo.ComplexOp(V, V), ": tensor<4xcomplex<f32>>"),
    "compare": (
        lambda: hlo.CompareOp(
            V, V, hlo.ComparisonDirection.LT, hlo.ComparisonType.FLOAT
        ),
        "compare LT, %1, %1, FLOAT",
    ),
    "select": (lambda: hlo.SelectOp(P, X, X), "tensor<i1>, tensor<4x6xf32>"),
    "clamp": (lambda: hlo.ClampOp(A, X, A), "-> tensor<4x6xf32>"),
    "constant": (
        lambda: hlo.ConstantOp(
            DenseIntOrFPElementsAttr.from_list(TensorType(i32, (2,)), [1, 2])
        ),
        "%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>",
    ),
    "iota": (lambda: hlo.IotaOp(1, F46), "iota dim = 1"),
    "broadcast_in_dim": (
        lambda: hlo.BroadcastInDimOp(V, [0], F46),
        "dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>",
    ),
    "broadcast": (lambda: hlo.BroadcastOp(V, [2]), "-> tensor<2x4xf32>"),
    "reshape": (lambda: hlo.ReshapeOp(X, TensorType(f32, (24,))), "-> tensor<24xf32>"),
    "transpose": (lambda: hlo.TransposeOp(X, (1, 0)), "-> tensor<6x4xf32>"),
    "reverse": (lambda: hlo.ReverseOp(X, [1]), "dims = [1] : tensor<4x6xf32>"),
    "slice": (
        lambda: hlo.SliceOp(X, [0, 1], [4, 6], [2, 1]),
        "[0:4:2, 1:6] : (tensor<4x6xf32>) -> tensor<2x5xf32>",
    ),
    "dynamic_slice": (
        lambda: hlo.DynamicSliceOp(X, [N, N], [2, 3]),
        "sizes = [2, 3]",
    ),
    "dynamic_update_slice": (
        lambda: hlo.DynamicUpdateSliceOp(X, X, [N, N]),
        "-> tensor<4x6xf32>",
    ),
    "concatenate": (lambda: hlo.ConcatenateOp([X, X], 1), "-> tensor<4x12xf32>"),
    "pad": (
        lambda: hlo.PadOp(X, A, [1, 0], [0, -1], [0, 1]),
        "-> tensor<5x10xf32>",
    ),
    "dot_general": (
        lambda: hlo.DotGeneralOp(
            X,
            X,
            hlo.DotDimensionNumbersAttr.of((), (), (1,), (1,)),
            TensorType(f32, (4, 4)),
        ),
        "contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT]",
    ),
    "reduce": (
        lambda: hlo.ReduceOp([X], [A], [1], hlo.MaxOp),
        "applies stablehlo.maximum across dimensions = [1]",
    ),
    "sort": (
        lambda: hlo.SortOp([X], region(S, S), 1),
        "stablehlo.sort",
    ),
    "case": (
        lambda: hlo.CaseOp(N, [returning(V), returning(V)], [F4]),
        "stablehlo.case",
    ),
    "if": (lambda: hlo.IfOp(P, returning(V), returning(V), [F4]), "stablehlo.if"),
    "while": (
        lambda: hlo.WhileOp([P], region(SB), region(SB)),
        "stablehlo.while(%iterArg = %1) : tensor<i1>",
    ),
    "barrier": (lambda: hlo.OptimizationBarrierOp([X, V]), "tensor<4xf32>"),
    "all_gather": (
        lambda: hlo.AllGatherOp([X], 1, [[0, 1]], [TensorType(f32, (4, 12))]),
        "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
    ),
    "all_reduce": (
        lambda: hlo.AllReduceOp(
            [X],
            [[0, 1], [2]],
            hlo.AddOp,
            hlo.ChannelHandleAttr.of(1, 1),
            use_global_device_ids=True,
        ),
        "dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>, use_global_device_ids",
    ),
    "reduce_scatter": (
        lambda: hlo.ReduceScatterOp(X, 1, [[0, 1]], hlo.AddOp, TensorType(f32, (4, 3))),
        "scatter_dimension = 1 : i64",
    ),
    "all_to_all": (
        lambda: hlo.AllToAllOp([X], 0, 1, 2, [[0, 1]]),
        "-> tensor<2x12xf32>",
    ),
    "collective_permute": (
        lambda: hlo.CollectivePermuteOp(X, [(0, 1), (1, 0)]),
        "dense<[[0, 1], [1, 0]]>",
    ),
    "collective_broadcast": (
        lambda: hlo.CollectiveBroadcastOp([X], [[0, 1]]),
        "collective_broadcast",
    ),
    "partition_id": (lambda: hlo.PartitionIdOp(), ": tensor<ui32>"),
    "custom_call": (
        lambda: hlo.CustomCallOp("target", [X], [F46]),
        "custom_call @target(%1) : (tensor<4x6xf32>)",
    ),
    "tuple": (lambda: hlo.TupleOp([X, V]), "tuple<tensor<4x6xf32>, tensor<4xf32>>"),
    "reduce_precision": (lambda: hlo.ReducePrecisionOp(X, 5, 10), "format = e5m10"),
    "get_dimension_size": (lambda: hlo.GetDimensionSizeOp(X, 1), "-> tensor<i32>"),
    "top_k": (
        lambda: chlo.TopKOp(X, 2),
        "-> (tensor<4x2xf32>, tensor<4x2xi32>)",
    ),
    "chlo unary": (lambda: chlo.SquareOp(X), "tensor<4x6xf32> -> tensor<4x6xf32>"),
    "chlo predicate": (lambda: chlo.IsInfOp(V), "-> tensor<4xi1>"),
}


@pytest.mark.parametrize("name", BUILT)
def test_what_is_built_verifies_and_prints(name: str):
    make, expected = BUILT[name]
    if name == "sort":
        with pytest.raises(VerifyException, match="C5"):
            make().verify()
        return
    op = make()
    op.verify()
    assert expected in str(op)


def test_properties_are_in_the_order_in_which_mlir_prints_them():
    for make, _ in BUILT.values():
        names = list(make().properties)
        assert names == sorted(names)


def test_attributes_are_read_as_numbers():
    dot = hlo.DotDimensionNumbersAttr.of([0], [1], [2], [3])
    assert (dot.lhs_batching_dimensions, dot.rhs_contracting_dimensions) == ((0,), (3,))
    gather = hlo.GatherDimensionNumbersAttr.of(offset_dims=[1], index_vector_dim=2)
    assert (gather.offset_dims, gather.index_vector_dim) == ((1,), 2)
    assert gather.collapsed_slice_dims == ()
    permute = hlo.CollectivePermuteOp(X, [(0, 1), (1, 0)])
    assert permute.pairs == ((0, 1), (1, 0))
    assert hlo.padding_pairs(None, 2) == ((0, 0), (0, 0))
    assert hlo.window_values(None, 2) == (1, 1)


def test_the_one_op_of_a_computation():
    body = hlo.reducer_of(hlo.AddOp, F46)
    op = hlo.single_op_of(body)
    assert isinstance(op, hlo.AddOp)
    assert op.lhs.type == S
    swapped = Block(arg_types=(S, S))
    total = hlo.AddOp(swapped.args[1], swapped.args[0])
    swapped.add_ops((total, ends(total.result)))
    assert hlo.single_op_of(Region(swapped)) is None
    assert hlo.single_op_of(region(S, S)) is None


def test_kinds_of_elements():
    unsigned = IntegerType(8, Signedness.UNSIGNED)
    assert hlo.element_kind(i1) is hlo.Kind.PRED
    assert hlo.element_kind(i64) is hlo.Kind.SINT
    assert hlo.element_kind(unsigned) is hlo.Kind.UINT
    assert hlo.element_kind(f32) is hlo.Kind.FLOAT
    assert not hlo.element_kind(IntegerType(7))
    assert not hlo.element_kind(IntegerType(8, Signedness.SIGNED))


def test_a_constant_knows_its_value():
    module = ModuleOp([])
    constant = hlo.ConstantOp(DenseIntOrFPElementsAttr.from_list(F4, [1.0]))
    module.body.block.add_op(constant)
    assert constant.output.name_hint == "cst"
    assert "dense<1.000000e+00>" in str(constant)
