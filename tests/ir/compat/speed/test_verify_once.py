"""An op's signature is verified once, and nothing that is wrong is let through by it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, f32, i32
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException

from tests.catalogue.tt import USES as TT_USES
from tests.catalogue.uses import USES
from ttxdsl.api import load
from ttxdsl.ir.compat.speed import verify_once
from ttxdsl.ir.compat.speed.verify_once import VerifiedOnce
from ttxdsl.loading.program import make_context, parse_program

EXAMPLES = Path(__file__).parents[4] / "examples"

TWO_LAYERS = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


REDUCE = """
func.func @f(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def adds(module: ModuleOp) -> list[Operation]:
    return [op for op in module.walk() if op.name == "stablehlo.add"]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of ops whose own rules are checked, in order."""
    names: list[str] = []
    verify = Operation.verify

    def record(op: Operation, verify_nested_ops: bool = True) -> None:
        names.append(op.name)
        verify(op, verify_nested_ops)

    monkeypatch.setattr(Operation, "verify", record)
    monkeypatch.setattr(verify_once, "_right", {})
    monkeypatch.setattr(verify_once, "_right_by_value", set[tuple[Any, ...]]())
    return names


def test_another_type_is_another_signature(checked: list[str]):
    module = parse_program(TWO_LAYERS)
    parse_program(TWO_LAYERS.replace("f32", "i32"))
    assert checked.count("stablehlo.add") == 2
    first, _ = adds(module)
    first.results[0]._type = i32  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(VerifyException):
        module.verify()


def test_what_is_wrong_is_refused_each_time(checked: list[str]):
    module = parse_program(TWO_LAYERS)
    first, second = adds(module)
    second.properties["note"] = f32
    for _ in range(2):
        with pytest.raises(VerifyException, match="'note' is not defined"):
            module.verify()
    del second.properties["note"]
    module.verify()
    end = second.next_op
    assert end is not None and first.parent is not None
    end.detach()
    with pytest.raises(VerifyException, match="is not a terminator"):
        module.verify()


def test_an_erased_operand_is_refused():
    module = parse_program(TWO_LAYERS)
    first, _ = adds(module)
    first.results[0].erase(safe_erase=False)
    with pytest.raises(ValueError, match="Erased"):
        module.verify()


def test_a_terminator_in_the_middle_is_refused():
    module = parse_program(REDUCE)
    (end,) = (op for op in module.walk() if op.name == "stablehlo.return")
    block = end.parent
    assert block is not None
    end.detach()
    first = block.first_op
    assert first is not None
    block.insert_op_before(end, first)
    with pytest.raises(VerifyException):
        module.verify()


def test_ops_in_regions_are_still_checked():
    module = parse_program(REDUCE)
    (add,) = adds(module)
    add.properties["note"] = f32
    with pytest.raises(VerifyException, match="'note' is not defined"):
        module.verify()


def test_a_rule_that_reads_a_constant_is_checked_each_time():
    text = """
    func.func @f(%x: tensor<4xf32>) -> tensor<2x2xf32> {{
      %s = stablehlo.constant dense<[{}, 2]> : tensor<2xi64>
      %0 = stablehlo.dynamic_reshape %x, %s
        : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }}
    """
    parse_program(text.format(2))
    with pytest.raises(Exception, match="C4"):
        parse_program(text.format(3))


GATHER = """
module attributes {{ttcore.meshes = #ttcore.meshes<[<"mesh" = {}>]>}} {{
  func.func @f(%x: tensor<4x8xf32, #ttcore.tensor_mesh<"mesh">>) {{
    %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x2>}}>
      : () -> !ttnn.device
    %0 = "ttnn.all_gather"(%x, %d) <{{all_gather_dim = 1 : si32,
      cluster_axis = 1 : ui32, num_links = 1 : ui32}}>
      : (tensor<4x8xf32, #ttcore.tensor_mesh<"mesh">>, !ttnn.device)
      -> tensor<4x16xf32, #ttcore.tensor_mesh<"mesh">>
    return
  }}
}}
"""


def test_a_rule_that_reads_the_module_is_checked_in_each_module():
    parse_program(GATHER.format("1x2"))
    with pytest.raises(Exception, match="4 devices on the axis"):
        parse_program(GATHER.format("1x4"))


AROUND: dict[type, tuple[str, ...]] = {
    OpResult: ("owner",),
    BlockArgument: ("owner",),
    SSAValue: ("uses",),
    Block: ("ops", "first_op", "walk", "parent_op"),
    Region: ("walk",),
    Operation: ("walk", "parent_op", "parent_block", "parent_region", "prev_op"),
    SymbolTable: ("lookup_symbol",),
}
"""Accessors that lead from an op to what its signature does not say."""


def watch(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, seen: Callable[[], None]
) -> None:
    original: Any = owner.__dict__.get(name) or getattr(owner, name)
    if isinstance(original, property):
        get: Any = original.fget

        def read(self: Any) -> Any:
            seen()
            return get(self)

        monkeypatch.setattr(owner, name, property(read))
        return
    function = original.__func__ if isinstance(original, staticmethod) else original

    def call(*arguments: Any, **options: Any) -> Any:
        seen()
        return function(*arguments, **options)

    wrapped: Any = staticmethod(call) if isinstance(original, staticmethod) else call
    monkeypatch.setattr(owner, name, wrapped)


def is_kept(op: VerifiedOnce) -> bool:
    """Whether signatures of this class of ops are ever remembered."""
    return verify_once._ends_blocks(type(op)) is not None  # pyright: ignore[reportPrivateUsage]


def test_rules_that_look_around_say_so(monkeypatch: pytest.MonkeyPatch):
    """What `verify_` reads of every op in the tables is its signature, or announced."""
    context = make_context()
    modules = [parse_program(use.text(), context=context) for use in USES.values()]
    modules += [parse_program(use.text, context=context) for use in TT_USES]
    example = load(EXAMPLES / "mlp_data_tensor_parallel.mlir")
    modules += [example.lower("ttir").module, example.lower("ttnn").module]
    verifying: list[Operation] = []
    culprits: set[str] = set()

    def seen() -> None:
        if verifying and not verify_once._running.looked_around:  # pyright: ignore[reportPrivateUsage]
            culprits.add(verifying[-1].name)

    for owner, names in AROUND.items():
        for name in names:
            watch(monkeypatch, owner, name, seen)
    checked = 0
    for module in modules:
        for op in module.walk():
            if not isinstance(op, VerifiedOnce) or not is_kept(op):
                continue
            verify_once._running.looked_around = False  # pyright: ignore[reportPrivateUsage]
            verifying.append(op)
            type(op).verify_(op)
            verifying.pop()
            checked += 1
    assert checked > 200
    assert not culprits
