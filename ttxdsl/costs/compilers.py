"""Compilers of device programs: what each fuses, and how it lays out and places buffers.

The model of a device's memory (`ttxdsl.analysis.usage.memory`) is one; what one compiler has
of its own is described here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler's rules for the values that become buffers, and for their sizes.

    Attributes:
        tile: rows and columns that buffers are padded to; None: they are dense.
        orders_arguments: whether an argument's dimensions are stored in the order that takes
            fewest tiles, and what is made of it keeps that order: a transpose moves nothing.
        products_take_in: whether a product makes elementwise operands on the way.
        products_finish: whether elementwise ops behind a product are part of it.
        stores_shared: bits of the widest element with which an operand of several products
            that reads two buffers as large as it is stored, rather than made in each.
        windows: sizes of groups whose collective is one loop with the product before or
            behind it; with larger ones a reduce_scatter is an all_reduce and a slice.
        converts_before_loops: whether what a loop only slices and converts to a smaller
            type is converted before it.
        places_in_order: whether buffers get their place in the order of the program, which
            leaves gaps; otherwise the largest get theirs first, which leaves hardly any.
        gathers_again_beyond: how much longer than from a reader the way to the end of a block
            may be from another reader of the same gather (`ttxdsl.analysis.usage.buffers.order`).
        core_bytes: of memory on the core in which kernels leave values for others: bytes that are not
            moved (`ttxdsl.analysis.usage.moved.traffic`), and no part of the peak if they are there from
            where they are made to their last reader.
        makes_in_memory: whether what products, kernels written by hand, gathers, scatters, sorts and
            collectives make is never there.
        calls_libraries: whether products are calls of libraries, which want operands in an order of
            theirs, and kernels start as soon as they can (`ttxdsl.analysis.libraries`).
        stores_probabilities: whether a softmax's result is stored for several products.
        sequences_beside_sum: of how many sequences at most the gradient of logits, a quotient of
            exponentials, is stored by the loop that sums their loss, for the products behind it.
        longest_made_row: elements of the longest row whose softmax is one kernel with a product
            of operands that it makes itself, as rotary embeddings are.
        longest_masked_row: elements of the longest row of scores that a softmax masks itself, of
            several sequences; what it needs for longer ones is stored in their shape. 0: any.
        read_while_sent: bytes that a device reads from its memory while it sends one.
        read_among_few: the same of at most 16 devices, if it is another.
        flops_while_sent: what a product computes at least for each byte that a device has of what is
            gathered for it, or scattered of it, to be one loop with that.
        sums_beside_products: whether a head's gradient that an all_reduce sums is made ahead of
            that of the head's input, whose product hides the sum.
        gradients_last: whether gradients that are scattered in windows run behind all layers.
        scatters_rows: whether a product that is scattered in windows has the dimension that is
            scattered along rows, and is transposed behind its last window if it is stored otherwise.
        updates_rows: whether an embedding that is the head, too, is copied row by row at the start, and its
            moments with it, for their update; else they are copied for that alone.
        peels_iterations: whether the last iteration of a loop and the first of its gradients' are no part of
            their loops.
        four_in_rows: whether a mesh of four devices has them in rows of two, which is no ring.
    """

    name: str
    tile: tuple[int, int] | None = None
    orders_arguments: bool = False
    products_take_in: bool = False
    products_finish: bool = False
    stores_shared: int = 64
    windows: range = range(0)
    converts_before_loops: bool = False
    places_in_order: bool = False
    gathers_again_beyond: int | None = None
    core_bytes: int = 0
    makes_in_memory: bool = False
    calls_libraries: bool = False
    stores_probabilities: bool = True
    sequences_beside_sum: int = 0
    longest_made_row: int = 0
    longest_masked_row: int = 0
    read_while_sent: float = 0
    read_among_few: float = 0
    flops_while_sent: float = 0
    sums_beside_products: bool = False
    gradients_last: bool = False
    scatters_rows: bool = False
    updates_rows: bool = False
    peels_iterations: bool = False
    four_in_rows: bool = False

    def on(self, devices: int, slices: int = 1) -> "Compiler":
        """Return the compiler for a mesh of a number of devices, in slices.

        libtpu 0.0.52 makes no windows on two slices, though 16 of each are a group (Qwen 3 1.7B
        and 4B): its collectives are ops. Few devices have their own `read_while_sent`.
        """
        windows = self.windows
        if slices > 1:
            start = windows.start
            return replace(
                self, windows=range(start, start), peels_iterations=bool(windows)
            )
        if devices == 4 and self.four_in_rows:
            windows = range(5, windows.stop)
        read = self.read_among_few if devices <= _FEW else 0
        return replace(
            self, windows=windows, read_while_sent=read or self.read_while_sent
        )


_WINDOWS = range(4, 33)
"""At most `max_windowed_einsum_iteration` of XLA's partitioner. libtpu 0.0.52 makes none of two,
and of four where devices in a row have a link (of a 2x2 of v5e in the order of `topology.devices`
it makes none)."""

_FEW = 16
"""Devices at most for which `read_among_few` holds: 2x2x2 and 2x2x4 of v5p."""

_FAR = 119
"""Between the 115 of readers that share a gather and the 123 of readers that do not."""

TPU = Compiler(
    "libtpu",
    tile=(8, 128),
    orders_arguments=True,
    products_take_in=True,
    products_finish=True,
    stores_shared=0,
    windows=_WINDOWS,
    converts_before_loops=True,
    places_in_order=True,
    gathers_again_beyond=_FAR,
    core_bytes=96 << 20,
    longest_made_row=1024,
    read_while_sent=65,
    flops_while_sent=4224,
    sums_beside_products=True,
    updates_rows=True,
)
"""libtpu for v5e, as its buffer assignments show it.

`flops_while_sent` is between what products of 8192 x 8192 have that are no loops and those that are,
among 8, 16 and 32 chips, in bf16 and f32, gathered and scattered: 4,096 and 4,352 on v5e and v5p,
9,728 and 9,984 on v6e.

libtpu has 112 MiB of the core for values on v5e, up to 96 on v6e and 48 on v5p (31 dumps of drawn
steps); copies ahead of kernels take a part. Bytes and peaks have the least error with 96, 80 and 24.
"""

TPU_MEGACORE = replace(
    TPU,
    stores_shared=16,
    sequences_beside_sum=1 << 30,
    core_bytes=24 << 20,
    makes_in_memory=True,
    read_while_sent=42,
    read_among_few=70,
    sums_beside_products=False,
    updates_rows=False,
    gradients_last=True,
    four_in_rows=True,
)
"""libtpu for v5p and, but for its core, v4, whose chips are two cores that work as one.

Each core computes half of a product, and what they make is in memory: in 72 programs none of 6,724
results of products, 1,342 of gathers and scatters and 529 of kernels and sorts is on the core, and 15% of
collectives' are; of what elementwise ops and reductions make, 40% is.

`jax.make_mesh` has 2x2x1 of them row by row (of v5e and v6e around the ring), and libtpu 0.0.52 then
makes no windows of a product of any size: its collective is one op.

Of 8 and 16 chips what hides a head's last message has 73 bytes to read for each that is sent (Qwen 2.5
14B; 177 and more of two others), and not 50 to 68 (Qwen 3 8B, Llama 3.1 8B, OLMo 3 7B); of 32 and 64, and
beside a tensor axis, 48 do.

Products of f32 take their operands as bf16, so that stored ones would be read at twice the
bytes: the scores' gradients of Gemma 2 27B are made in both products.
"""

TPU_V4 = replace(TPU_MEGACORE, core_bytes=96 << 20, makes_in_memory=False)
"""libtpu for v4, whose values are in a memory of 128 MiB beside the core (CMEM) in seven of seven
dumps."""

TPU_V6E = replace(
    TPU_MEGACORE,
    core_bytes=80 << 20,
    makes_in_memory=False,
    stores_probabilities=False,
    sequences_beside_sum=1,
    longest_made_row=4096,
    longest_masked_row=2560,
    read_while_sent=28,
    read_among_few=0,
    flops_while_sent=9856,
    scatters_rows=True,
    four_in_rows=False,
)
"""libtpu for v6e: buffers as on v5p, with v5e's memory on the core.

For 7x, too: eight steps of MaxText are 0.89 to 1.01 of libtpu 0.0.52's peak by these rules; by
v5e's, with which six of them were planned, 0.77 to 1.00.

Queries and keys that are rotated on the way are in one kernel with the softmax of 2,048 f32 (four
of four), which on v5e and v5p read stored scores (five of five; not of 1,024: two of two).

Probabilities are made of f32 exponentials in each product (all five layers whose buffers were read;
on v5p all four store them).
"""

XLA_GPU = Compiler("XLA for GPUs", products_finish=True)
"""cuBLAS reads its operands from memory, and finishes products with what follows."""

XLA_CPU = Compiler("XLA for CPUs", calls_libraries=True)
"""XLA for CPUs as `jax.jit` has it (jaxlib 0.10.2): products are calls of libraries."""

TT_MLIR = Compiler("tt-mlir", tile=(32, 32))
"""Ops of ttnn work on buffers of tiles."""

COMPILERS: Mapping[str, Compiler] = {
    "TPU": TPU,
    "TPU_MEGACORE": TPU_MEGACORE,
    "TPU_V4": TPU_V4,
    "TPU_V6E": TPU_V6E,
    "XLA_GPU": XLA_GPU,
    "XLA_CPU": XLA_CPU,
    "TT_MLIR": TT_MLIR,
}
"""The compilers that a chip's file may name."""
