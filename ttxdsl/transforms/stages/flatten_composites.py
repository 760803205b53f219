"""`flatten-or-convert-composites`: take composites apart, and remember how.

Composites of which the whole has a sharding rule become custom calls of the same name.
All others are inlined; each op says of which composite it is, for
`reoutline-composites`:

    %1 = stablehlo.tanh %0 {reoutline.group = {name = "my.tanh", …},
                            reoutline.result_pos = array<i64: 0>} : tensor<8xf32>

Composites with a user's rule stay.

Source: tt-mlir's pass of this name.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.analysis.calls.symbols import Symbols, remove_unused_private_functions
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.tenstorrent import (
    COMPOSITE_ATTRIBUTES,
    COMPOSITES,
    FROM_COMPOSITE,
)
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.stages.inline import inline_call
from ttxdsl.transforms.stages.open_composites import is_closed

GROUP = "reoutline.group"
"""Which composite an op is of: a dictionary with its `id`, `name`, `attributes` and
`version`, and the types of its `operands` and `results`."""
OPERANDS = "reoutline.arg_operand_indices"
"""Of each operand of an op, which operand of the composite it is, or -1."""
RESULTS = "reoutline.result_pos"
"""Of each result of an op, which result of the composite it is, or -1."""


def _is_one_op(op: stablehlo.CompositeOp) -> bool:
    """Whether there is a rule of the whole; that of `topk` is for rows."""
    name = op.composite_name.data
    of_rows = len(op.inputs) == 1 and len(shape_of(op.inputs[0])) == 2
    return name in COMPOSITES and (of_rows or "topk" not in name)


def _convert(op: stablehlo.CompositeOp) -> None:
    """Replace a composite by a custom call."""
    call = stablehlo.CustomCallOp.create(
        operands=op.operands,
        result_types=op.result_types,
        properties={"call_target_name": op.composite_name},
        attributes={
            **op.attributes,
            COMPOSITE_ATTRIBUTES: op.composite_attributes,
            FROM_COMPOSITE: UnitAttr(),
        },
    )
    call.location = op.location
    Rewriter.replace_op(op, call)


class _Flattener:
    """Takes the composites of a module apart, those inside others first."""

    def __init__(self, module: ModuleOp):
        self.symbols = Symbols(module)
        self.done: set[FuncOp] = set()
        self.count = 0

    def visit(self, root: FuncOp) -> None:
        """Take the composites of a function apart, and those of their bodies."""
        path = [root]
        while path:
            function = path[-1]
            composites = [] if function in self.done else self.composites(function)
            bodies = {body: op for op, body in composites if not _is_one_op(op)}
            if pending := [body for body in bodies if body not in self.done]:
                if pending[0] in path:
                    raise UnsupportedError("contains itself", bodies[pending[0]])
                path.append(pending[0])
                continue
            for op, body in composites:
                if _is_one_op(op):
                    _convert(op)
                else:
                    self.flatten(op, body)
            self.done.add(path.pop())

    def composites(
        self, function: FuncOp
    ) -> list[tuple[stablehlo.CompositeOp, FuncOp]]:
        """The composites in a function that can be taken apart, and their bodies."""
        bodies: list[tuple[stablehlo.CompositeOp, FuncOp]] = []
        for op in ops_of_type(function, stablehlo.CompositeOp):
            body = self.symbols.functions.get(op.decomposition.string_value())
            if body is not None and not body.is_declaration and not is_closed(op):
                bodies.append((op, body))
        return bodies

    def flatten(self, op: stablehlo.CompositeOp, body: FuncOp) -> None:
        """Replace a composite by its ops, each marked."""
        name = body.sym_name.data
        group = DictionaryAttr(
            {
                "id": StringAttr(f"{name}_{self.count}"),
                "name": op.composite_name,
                "attributes": op.composite_attributes,
                "version": op.version,
                "operands": ArrayAttr[Attribute](op.operand_types),
                "results": ArrayAttr[Attribute](op.result_types),
            }
        )
        self.count += 1
        places = _places(body)
        call = CallOp(name, op.operands, op.result_types)
        call.attributes.update(op.attributes)
        call.location = op.location
        Rewriter.replace_op(op, call)
        for inner, marks in zip(inline_call(call, body), places, strict=True):
            inner.attributes[GROUP] = group
            for key, mark in marks.items():
                inner.attributes.pop(key, None)
                if any(place >= 0 for place in mark):
                    inner.attributes[key] = DenseArrayBase.from_list(i64, mark)


def _places(body: FuncOp) -> list[dict[str, Sequence[int]]]:
    """Return the positions of each op's outside operands and returned results."""
    block = body.body.block
    arguments: dict[SSAValue, int] = {value: value.index for value in block.args}
    last = block.last_op
    assert last is not None
    returned: dict[object, int] = {}
    for place, value in enumerate(last.operands):
        if isinstance(value, OpResult):
            returned.setdefault(value, place)
    return [
        {
            OPERANDS: [arguments.get(value, -1) for value in op.operands],
            RESULTS: [returned.get(value, -1) for value in op.results],
        }
        for op in block.ops
        if op is not last
    ]


class FlattenCompositesPass(ModulePass):
    """Custom calls of some composites, marked ops of the others."""

    name = "flatten-or-convert-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: a composite contains itself, or there would be too many ops.
        """
        require_few_copies(op)
        flattener = _Flattener(op)
        for function in ops_of_type(op, FuncOp):
            flattener.visit(function)
        if flattener.done:
            remove_unused_private_functions(op)
