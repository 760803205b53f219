"""Meshes of very many devices or axes, and tensors of very many dimensions."""

from collections.abc import Sequence

from tests.attack.bombs.registry import TYPE, add, bomb, one_op, program


def on_mesh(mesh: str, sharding: str = '[{"x"}, {}]', type_: str = TYPE) -> str:
    argument = f"%a: {type_} {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
    return program(
        [
            f"%r = stablehlo.add %a, %a : {type_}",
            f"%t = stablehlo.tanh %r : {type_}",
            f"return %t : {type_}",
        ],
        argument,
        type_,
        f"sdy.mesh @mesh = <{mesh}>",
    )


def axes(sizes: Sequence[int]) -> str:
    named = ", ".join(
        f'"{"x" if at == 0 else f"x{at}"}"={n}' for at, n in enumerate(sizes)
    )
    return f"[{named}]"


for _name, _sizes in {
    "a mesh of 2^20 devices": [2**20],
    "a mesh of 2^21 devices": [2**21],
    "a mesh of 10^9 devices": [10**9],
    "a mesh of 10^18 devices": [10**18],
    "a mesh of more devices than int64 counts": [2**40, 2**40, 2**40],
    "a mesh of 2^62 devices on two axes": [2**31, 2**31],
    "a mesh of 64 axes of size 1": [1] * 64,
    "a mesh of 1,000 axes of size 1": [1] * 1000,
    "a mesh of 20 axes of size 2": [2] * 20,
    "a mesh of 40 axes of size 2": [2] * 40,
    "a mesh of 63 axes of size 1 and one of size 8": [8] + [1] * 63,
}.items():
    add(_name, on_mesh(axes(_sizes)))
    add(_name + ", unused", on_mesh(axes(_sizes), "[{}, {}]"))

add(
    "a mesh of 2^20 devices, split by all",
    on_mesh('["x"=1048576]', type_="tensor<1048576x8xf32>"),
)
add(
    "a mesh of 2^20 devices, a sum over all",
    program(
        [
            "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
            " : (tensor<8x1048576xf32>, tensor<1048576x8xf32>) -> tensor<8x8xf32>",
            "return %r : tensor<8x8xf32>",
        ],
        '%a: tensor<8x1048576xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},'
        ' %b: tensor<1048576x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}',
        TYPE,
        'sdy.mesh @mesh = <["x"=1048576]>',
    ),
    cheap=False,
)
add(
    "a mesh that is written inside a sharding",
    program(
        [f"return %a : {TYPE}"],
        f"%a: {TYPE} {{sdy.sharding ="
        ' #sdy.sharding<mesh<["x"=1000000000000]>, [{"x"}, {}]>}',
    ),
)
add("a device of a huge number", on_mesh("[], device_ids=[1000000000000]", "[{}, {}]"))
add("a sub-axis of 10^9", on_mesh('["x"=1000000000]', '[{"x":(1)500000000}, {}]'))
add(
    "a shape of tt that is huge",
    'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 100000x100000>]>} {\n'
    + program([f"return %a : {TYPE}"])
    + "}",
)


@bomb("device_ids of 2^20", cheap=False)
def _device_ids() -> str:
    ids = ", ".join(map(str, reversed(range(2**20))))
    return on_mesh(f'["x"=1048576], device_ids=[{ids}]', "[{}, {}]")


@bomb("device_ids of 2^21", cheap=False)
def _too_many_device_ids() -> str:
    ids = ", ".join(map(str, reversed(range(2**21))))
    return on_mesh(f'["x"=2097152], device_ids=[{ids}]', "[{}, {}]")


@bomb("10^4 meshes", cheap=False)
def _meshes() -> str:
    meshes = "\n".join(f'sdy.mesh @m{i} = <["x"=2, "y"=4]>' for i in range(10_000))
    return meshes + on_mesh('["x"=2, "y"=4]')


# Ranks


def _rank(rank: int, size: int = 1) -> str:
    return f"tensor<{f'{size}x' * rank}f32>"


for _n in (64, 65, 200, 5_000):
    add(
        f"a tensor of rank {_n}",
        one_op(f"stablehlo.tanh %a : {_rank(_n)}", f"%a: {_rank(_n)}", _rank(_n)),
    )
add(
    "a tensor of rank 60 on a mesh of eight axes",
    on_mesh(axes([2] + [1] * 7), f"[{', '.join(['{}'] * 60)}]", _rank(60, 1)),
)
add(
    "a tensor of rank 62, split",
    on_mesh(axes([2, 2, 2]), f'[{{"x"}}, {", ".join(["{}"] * 61)}]', _rank(62, 2)),
)
add(
    "a product of rank 70 of two of rank 36",
    one_op(
        "stablehlo.dot_general %a, %a, contracting_dims = [0] x [0]"
        f" : ({_rank(36)}, {_rank(36)}) -> {_rank(70)}",
        f"%a: {_rank(36)}",
        _rank(70),
    ),
)
add(
    "a broadcast to rank 100",
    one_op(
        f"stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> {_rank(100)}",
        "%a: tensor<f32>",
        _rank(100),
    ),
)
add(
    "a batch of 10,000 dimensions",
    one_op(
        "stablehlo.dot_general %a, %a,"
        f" batching_dims = {list(range(10_000))} x {list(range(10_000))},"
        " contracting_dims = [] x []"
        f" : ({_rank(10_000)}, {_rank(10_000)}) -> {_rank(10_000)}",
        f"%a: {_rank(10_000)}",
        _rank(10_000),
    ),
    cheap=False,
)
