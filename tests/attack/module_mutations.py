"""Random changes to a program as ops: operands, order, attributes, shardings, the mesh.

    changed = mutate_module(rng, module)

Many leave the program valid, so that its numbers can be held against one device.
"""

import random
from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tests.attack.value_mutations import mutate_value
from tests.differential.partitioning import with_even_borders
from tests.differential.random_writer import Options, random_mesh, random_sharding
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import PropagationDirection
from ttxdsl.rules import sharding_rule
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

_ALL_SHARDINGS = Options(priorities=True, unreduced=True)
_NAMES = frozenset(("function_type", "sym_name", "callee", "operandSegmentSizes"))
"""Properties that are changed in the text, if at all: most changes make no program."""

T = TypeVar("T")
ModuleMutation = Callable[[random.Random, ModuleOp], None]


class NothingToChangeError(Exception):
    """The program has nothing of the kind."""


def _choose(rng: random.Random, options: list[T]) -> T:
    if not options:
        raise NothingToChangeError
    return rng.choice(options)


def _inner_ops(module: ModuleOp) -> list[Operation]:
    """The ops of functions and their regions."""
    return [op for op in module.walk() if not isinstance(op, ModuleOp | FuncOp)]


def _plain_ops(module: ModuleOp) -> list[Operation]:
    """Those that are no terminator."""
    return [op for op in _inner_ops(module) if not op.has_trait(IsTerminator)]


def _visible(op: Operation) -> list[SSAValue]:
    """What the op may use of its own block."""
    block = op.parent
    if block is None:
        return []
    found: list[SSAValue] = list(block.args)
    for one in block.ops:
        if one is op:
            break
        found.extend(one.results)
    return found


def _meshes(module: ModuleOp) -> dict[str, Mesh]:
    found = {
        name: mesh
        for name, mesh in sdy.mesh_table(module).items()
        if mesh.axes and mesh.total_size <= 64
    }
    if not found:
        raise NothingToChangeError
    return found


def _some_sharding(
    rng: random.Random, module: ModuleOp, type_: Attribute
) -> TensorSharding:
    if not isinstance(type_, TensorType):
        raise NothingToChangeError
    name, mesh = rng.choice(sorted(_meshes(module).items()))
    return random_sharding(
        rng, mesh, type_.get_num_dims(), _ALL_SHARDINGS, mesh_name=name
    )


# Data flow


def other_operand(rng: random.Random, module: ModuleOp) -> None:
    """An op takes another value of the same type, now and then one that comes later."""
    op = _choose(rng, [op for op in _inner_ops(module) if op.operands])
    at = rng.randrange(len(op.operands))
    type_ = op.operands[at].type
    values = _visible(op)
    if rng.random() < 0.05 and op.parent is not None:
        values = [result for one in op.parent.ops for result in one.results]
    others = [v for v in values if v.type == type_ and v is not op.operands[at]]
    op.operands[at] = _choose(rng, others)


def skip_op(rng: random.Random, module: ModuleOp) -> None:
    """Who uses a result uses an operand of the op, or what is before it, in its place."""
    op = _choose(rng, [op for op in _plain_ops(module) if op.results])
    result = rng.choice(op.results)
    result.replace_all_uses_with(
        _choose(rng, [v for v in _visible(op) if v.type == result.type])
    )
    if not any(result.uses for result in op.results):
        op.detach()
        op.erase()


def duplicate_op(rng: random.Random, module: ModuleOp) -> None:
    """An op twice; some who used the first use the second."""
    op = _choose(rng, [op for op in _plain_ops(module) if op.parent])
    clone = op.clone()
    assert op.parent is not None
    op.parent.insert_op_after(clone, op)
    for old, new in zip(op.results, clone.results, strict=True):
        old.replace_uses_with_if(new, lambda use: rng.random() < 0.5)


def move_op(rng: random.Random, module: ModuleOp) -> None:
    """An op to another place of its block; now and then where it may not be."""
    op = _choose(rng, [op for op in _plain_ops(module) if op.parent])
    block = op.parent
    assert block is not None
    ops = list(block.ops)
    at = ops.index(op)
    needed = {id(operand.owner) for one in op.walk() for operand in one.operands}
    used = {id(_in_block(use.operation, block)) for r in op.results for use in r.uses}
    low = max((i + 1 for i, one in enumerate(ops) if id(one) in needed), default=0)
    high = min(
        (i for i, one in enumerate(ops) if id(one) in used), default=len(ops) - 1
    )
    if rng.random() < 0.05:
        low, high = 0, len(ops) - 1
    places = [place for place in range(low, high) if place not in (at, at + 1)]
    target = ops[_choose(rng, places)]
    op.detach()
    block.insert_op_before(op, target)


def _in_block(op: Operation, block: Block) -> Operation | None:
    """The op of a block that an op is, or is in."""
    found: Operation | None = op
    while found is not None and found.parent is not block:
        found = found.parent_op()
    return found


def other_results(rng: random.Random, module: ModuleOp) -> None:
    """A function returns another value, of any type."""
    ends = [op for op in module.walk() if isinstance(op, ReturnOp) and op.operands]
    end = _choose(rng, ends)
    function = end.parent_op()
    values = [v for v in _visible(end) if isinstance(v.type, TensorType)]
    at = rng.randrange(len(end.operands))
    end.operands[at] = _choose(rng, values)
    assert isinstance(function, FuncOp)
    type_ = function.function_type
    if type_.outputs.data[at] == end.operands[at].type:
        return
    outputs = [operand.type for operand in end.operands]
    function.function_type = FunctionType.from_lists(list(type_.inputs), outputs)
    sdy.set_func_result_sharding(function, at, None)


def outline(rng: random.Random, module: ModuleOp) -> None:
    """An op becomes a function of its own, and a call of it."""
    fitting = [
        op
        for op in _plain_ops(module)
        if op.results and not op.regions and not isinstance(op, CallOp)
    ]
    op = _choose(rng, fitting)
    types = [operand.type for operand in op.operands]
    results = [result.type for result in op.results]
    body = Block(arg_types=types)
    clone = op.clone()
    for at, argument in enumerate(body.args):
        clone.operands[at] = argument
    body.add_ops((clone, ReturnOp(*clone.results)))
    name = f"outlined_{rng.randrange(10**6)}"
    function = FuncOp(name, (types, results), Region(body), "private")
    module.body.block.add_op(function)
    call = CallOp(name, list(op.operands), results)
    assert op.parent is not None
    op.parent.insert_op_before(call, op)
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


# Attributes


def change_attribute(rng: random.Random, module: ModuleOp) -> None:
    """A property or attribute of an op."""
    op = _choose(
        rng,
        [
            op
            for op in module.walk()
            if op.attributes or any(name not in _NAMES for name in op.properties)
        ],
    )
    holders = [(op.attributes, name) for name in op.attributes]
    holders += [(op.properties, name) for name in op.properties if name not in _NAMES]
    holder, name = _choose(rng, holders)
    holder[name] = mutate_value(rng, holder[name])


def take_attribute(rng: random.Random, module: ModuleOp) -> None:
    """An op loses an attribute, or gets that of another op."""
    ops = [op for op in _inner_ops(module) if op.attributes]
    op = _choose(rng, ops)
    name = rng.choice(sorted(op.attributes))
    if rng.random() < 0.5:
        del op.attributes[name]
    else:
        rng.choice(_inner_ops(module)).attributes[name] = op.attributes[name]


def write_rule(rng: random.Random, module: ModuleOp) -> None:
    """An op says its sharding rule, perhaps another one."""
    op = _choose(rng, [op for op in _plain_ops(module) if op.results])
    rule = sharding_rule(op)
    if rule is None:
        raise NothingToChangeError
    if rng.random() < 0.7:
        rule = mutate_value(rng, rule)
    op.attributes[sdy.SHARDING_RULE] = sdy.OpShardingRuleAttr(rule)


# Shardings


def change_sharding(rng: random.Random, module: ModuleOp) -> None:
    """One of the shardings that are written: a part of it, or all."""
    written: list[TensorSharding] = []

    def note(sharding: TensorSharding) -> TensorSharding:
        written.append(sharding)
        return sharding

    sdy.transform_shardings(module, note)
    old = _choose(rng, written)
    if rng.random() < 0.5:
        new = mutate_value(rng, old)
    else:
        name, mesh = rng.choice(sorted(_meshes(module).items()))
        new = random_sharding(rng, mesh, old.rank, _ALL_SHARDINGS, mesh_name=name)
    sdy.transform_shardings(module, lambda one: new if one is old else one)


def shard_border(rng: random.Random, module: ModuleOp) -> None:
    """An argument or a result of a function gets a sharding, or loses it."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    function = _choose(rng, functions)
    type_ = function.function_type
    arguments = rng.random() < 0.7
    types = list(type_.inputs if arguments else type_.outputs)
    at = _choose(rng, list(range(len(types))))
    new = _some_sharding(rng, module, types[at]) if rng.random() < 0.85 else None
    change = (
        sdy.set_func_argument_sharding if arguments else sdy.set_func_result_sharding
    )
    change(function, at, new)


def shard_result(rng: random.Random, module: ModuleOp) -> None:
    """A result of an op gets a sharding."""
    op = _choose(rng, [op for op in _plain_ops(module) if op.results])
    result = rng.choice(op.results)
    sdy.set_sharding(result, _some_sharding(rng, module, result.type))


def insert_sdy(rng: random.Random, module: ModuleOp) -> None:
    """A constraint, reshard, barrier or member of a group after an op."""
    before = _choose(rng, [op for op in _inner_ops(module) if op.parent])
    value = _choose(
        rng, [v for v in _visible(before) if isinstance(v.type, TensorType)]
    )
    sharding = _some_sharding(rng, module, value.type)
    made: Operation
    match rng.randrange(5):
        case 0 | 1:
            made = sdy.ShardingConstraintOp(value, sharding)
        case 2:
            made = sdy.ReshardOp(value, sharding)
        case 3:
            direction = rng.choice(list(PropagationDirection))
            made = sdy.PropagationBarrierOp(value, direction)
        case _:
            made = sdy.ShardingGroupOp(value, rng.randrange(3))
    assert before.parent is not None
    before.parent.insert_op_before(made, before)
    if made.results and rng.random() < 0.8:
        value.replace_uses_with_if(
            made.results[0],
            lambda use: use.operation is not made and use.operation in _after(made),
        )


def _after(op: Operation) -> set[Operation]:
    """The ops that come after one, in its block and within them."""
    found: set[Operation] = set()
    following = op.next_op
    while following is not None:
        found.update(following.walk())
        following = following.next_op
    return found


def change_mesh(rng: random.Random, module: ModuleOp) -> None:
    """The sizes of a mesh's axes, their order, the order of devices; or a leaf of it.

    A program without a mesh gets one.
    """
    meshes = [op for op in module.ops if isinstance(op, sdy.MeshOp)]
    if not meshes:
        first = module.body.block.first_op
        made = sdy.MeshOp("mesh", sdy.MeshAttr(random_mesh(rng, 16)))
        assert first is not None
        return module.body.block.insert_op_before(made, first)
    op = rng.choice(meshes)
    mesh = op.mesh.data
    axes = list(mesh.axes)
    match rng.randrange(5):
        case 0 if axes:
            at = rng.randrange(len(axes))
            axes[at] = axes[at][0], rng.choice((1, 2, 3, 4, 8))
            mesh = Mesh(tuple(axes))
        case 1:
            rng.shuffle(axes)
            mesh = Mesh(tuple(axes), mesh.device_ids)
        case 2 if mesh.total_size <= 64:
            count = mesh.total_size
            mesh = Mesh(mesh.axes, tuple(rng.sample(range(count), count)))
        case 3:
            sizes = random_mesh(rng, 16).axis_sizes
            names = [*mesh.axis_names, "more", "most", "last"]
            mesh = Mesh(tuple(zip(names, (*sizes, 1, 1, 1), strict=False)))
        case _:
            mesh = mutate_value(rng, mesh)
    op.mesh = sdy.MeshAttr(mesh)
    return None


MODULE_MUTATIONS: tuple[tuple[int, ModuleMutation], ...] = (
    (5, other_operand),
    (3, skip_op),
    (3, duplicate_op),
    (3, move_op),
    (3, other_results),
    (2, outline),
    (7, change_attribute),
    (2, take_attribute),
    (3, write_rule),
    (6, change_sharding),
    (5, shard_border),
    (4, shard_result),
    (5, insert_sdy),
    (3, change_mesh),
)
"""Each with how likely it is."""


def mutate_module(
    rng: random.Random, module: ModuleOp, tries: int = 6
) -> tuple[ModuleOp, str]:
    """The module with one change, and what the change is called.

    Three of four times a change is looked for that the verifiers accept.
    """
    weights, mutations = zip(*MODULE_MUTATIONS, strict=True)
    valid = rng.random() < 0.75
    for _ in range(tries):
        mutation = rng.choices(mutations, weights)[0]
        changed = module.clone()
        try:
            mutation(rng, changed)
            if valid:
                if rng.random() < 0.9:
                    with_even_borders(changed)
                changed.verify()
        except Exception:
            continue  # attributes refuse most values
        return changed, mutation.__name__
    return module, "nothing"
