"""Sharding rules of tt-mlir's custom calls.

Each is said once, for how shardings travel and for how devices share the call out. They
differ where tt-mlir relies on more than a program says, or on what no device can do by
itself:

- A cache that devices with other users write to would not be the same on each of them:
  users travel, and what is written is gathered.
- The best of what is split (`topk`, `argmax`) is not the best of each part.
- A score that depends on where a query stands needs all of them.

Query heads of which several share a head of keys are split by groups, then by the heads
of each, so that more devices than heads of keys can share them out: tt-mlir has them in
one factor, whose size is not that of the keys. Masks and sinks that are not the same for all users or heads follow those; in tt-mlir
most stay whole, which no longer fits what is split.

Source: tt-mlir's registration of custom sharding rules.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from xdsl.dialects.builtin import IntegerAttr

from ttxdsl.dialects.calls.tenstorrent import (
    Target,
    flag,
    normalized_rank,
    options,
    roles,
)
from ttxdsl.dialects.stablehlo import CustomCallOp
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Dims, Factor, FactorType, Shape

_Rule = Callable[[CustomCallOp, bool], Iterable[Factor] | None]
"""From a call, and whether it is how shardings travel, to its factors."""


class _Call:
    """A call with operands that are known by name."""

    def __init__(self, op: CustomCallOp, places: Mapping[str, int]):
        self.places = places
        self.operands = tuple(shape_of(input) for input in op.inputs)
        self.results = tuple(shape_of(output) for output in op.outputs)

    def shape(self, name: str) -> Shape:
        """Return the shape of an operand, `()` if it is not there."""
        return self.operands[self.places[name]] if name in self.places else ()

    def factor(self, size: int, result: Dims, /, **dims: int | None) -> Factor:
        """A factor in dimensions of those operands that are there, and of results."""
        return self._factor(size, result, dims, FactorType.PASS_THROUGH)

    def summed(self, size: int, /, **dims: int | None) -> Factor:
        """Return a factor whose shards make partial sums of the result."""
        return self._factor(size, None, dims, FactorType.REDUCTION)

    def whole(self, size: int, result: Dims, /, **dims: int | None) -> Factor:
        """Return a factor that is needed whole."""
        return self._factor(size, result, dims, FactorType.NEED_REPLICATION)

    def opaque(self, size: int, result: Dims, /, **dims: int | None) -> Factor:
        """Return a factor that is needed whole and that no sharding travels along."""
        return self._factor(size, result, dims, FactorType.NEED_REPLICATION, True)

    def _factor(
        self,
        size: int,
        result: Dims,
        dims: Mapping[str, int | None],
        kind: FactorType,
        blocked: bool = False,
    ) -> Factor:
        operands: list[int | None] = [None] * len(self.operands)
        for name, dim in dims.items():
            if name in self.places:
                operands[self.places[name]] = dim
        return Factor(size, tuple(operands), result, kind, blocked)

    def following(self, size: int, **dims: int) -> dict[str, int]:
        """The dimensions of this size, which others that are repeated have not."""
        return {
            name: dim
            for name, dim in dims.items()
            if dim < len(self.shape(name)) and self.shape(name)[dim] == size > 1
        }

    def heads(
        self,
        sizes: tuple[int, int],
        query: Mapping[str, int],
        keys: Mapping[str, int],
        result: int,
    ) -> Iterator[Factor]:
        """Yield the heads of queries, each a number of them for one of the keys."""
        of_queries, of_keys = sizes
        if of_keys == 1:
            keys = {}  # all share it
        if of_keys in (1, of_queries):
            yield self.factor(of_queries, result, **query, **keys)
        else:
            yield self.factor(of_keys, result, **query, **keys)
            yield self.factor(of_queries // of_keys, result, **query)


def _known(
    rule: Callable[[_Call, CustomCallOp, bool], Iterable[Factor] | None],
) -> _Rule:
    """Decorate a rule: it gets the operands by role, and applies only if all are there."""

    def sharding_rule(op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
        places = roles(op)
        return None if places is None else rule(_Call(op, places), op, travels)

    return sharding_rule


@_known
def attention(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[b, h, s, d]`, `[b, g, s, d]`, `[b, g, s, d] -> [b, h, s, d]`; one head without h."""
    query, key = call.shape("query"), call.shape("key")
    fits = (query,) == call.results and key == call.shape("value")
    if len(query) == 3:
        if not fits or query != key or len(call.operands) != 3:
            return None
        return (
            call.factor(query[0], 0, query=0, key=0, value=0),
            call.whole(query[1], 1, query=1, key=1, value=1),
            call.whole(query[2], 2, query=2, key=2, value=2),
        )
    if not fits or len(query) != 4 or len(key) != 4 or not key[1]:
        return None
    if (query[0], *query[2:]) != (key[0], *key[2:]) or query[1] % key[1]:
        return None
    users = call.following(query[0], attention_mask=0)
    heads = call.following(query[1], attention_mask=1, attention_sink=1)
    return (
        call.factor(query[0], 0, query=0, key=0, value=0, **users),
        *call.heads(
            (query[1], key[1]),
            {"query": 1, **heads},
            {"key": 1, "value": 1},
            1,
        ),
        call.whole(query[2], 2, query=2, key=2, value=2),
        call.whole(query[3], 3, query=3, key=3, value=3),
    )


@_known
def paged_decode(
    call: _Call, op: CustomCallOp, travels: bool
) -> Iterable[Factor] | None:
    """`[1, u, h, d]`, `[n, g, p, d]`, `[n, g, p, d]`, `[u, m] -> [1, u, h, d]`.

    Pages are any of the cache's, which all devices have.
    """
    query, key, value = (call.shape(name) for name in ("query", "key", "value"))
    if (query,) != call.results or not len(query) == len(key) == len(value) == 4:
        return None
    if not key[1] or query[2] % key[1]:
        return None
    users = call.following(query[1], attention_mask=0)
    heads = call.following(query[2], attention_mask=2, attention_sink=0)
    return (
        *call.heads(
            (query[2], key[1]),
            {"query": 2, **heads},
            {"key": 1, "value": 1},
            2,
        ),
        call.factor(query[1], 1, query=1, page_table=0, cur_pos_tensor=0, **users),
    )


@_known
def chunked(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[u, h, c, d]`, `[n, g, p, d]`, `[n, g, p, d]`, `[u, m]`, `[1] -> [u, h, c, d]`."""
    query, key, value = (call.shape(name) for name in ("query", "key", "value"))
    if (query,) != call.results or not len(query) == len(key) == len(value) == 4:
        return None
    if not key[1] or query[1] % key[1]:
        return None
    return (
        *call.heads((query[1], key[1]), {"query": 1}, {"key": 1, "value": 1}, 1),
        call.factor(query[0], 0, query=0, page_table=0),
    )


@_known
def latent_decode(
    call: _Call, op: CustomCallOp, travels: bool
) -> Iterable[Factor] | None:
    """`[1, u, h, d]`, `[n, 1, p, d]`, `[u, m] -> [1, u, h, v]`: all heads share a cache."""
    query = call.shape("query")
    if len(query) != 4 or [shape[1:3] for shape in call.results] != [query[1:3]]:
        return None
    if call.shape("key")[1:2] != (1,):
        return None
    users = call.following(query[1], attention_mask=0)
    heads = call.following(query[2], attention_mask=1, attention_sink=0)
    return (
        call.factor(query[2], 2, query=2, **heads),
        call.factor(query[1], 1, query=1, page_table=0, cur_pos_tensor=0, **users),
    )


@_known
def latent_prefill(
    call: _Call, op: CustomCallOp, travels: bool
) -> Iterable[Factor] | None:
    """`[b, h, s, d]`, `[b, g, s, d]`, `[b, g, s, v] -> [b, h, s, v]`."""
    query, key = call.shape("query"), call.shape("key")
    if not len(query) == len(key) == 4 or len(call.results) != 1:
        return None
    batch, of_queries, length, width = query
    result = call.results[0]
    if (key[0], *key[2:]) != (batch, length, width) or not key[1]:
        return None
    if result[:3] != query[:3] or of_queries % key[1]:
        return None
    if "value" in call.places and call.shape("value") != (*key[:3], result[3]):
        return None
    mask = call.shape("attention_mask")
    if mask and (mask[0] not in (1, batch) or mask[1:] != (1, length, length)):
        return None
    users = call.following(batch, attention_mask=0)
    return (
        call.factor(batch, 0, query=0, key=0, value=0, **users),
        *call.heads((of_queries, key[1]), {"query": 1}, {"key": 1, "value": 1}, 1),
        call.whole(length, 2, query=2, key=2, value=2, attention_mask=2),
        call.whole(width, None, query=3, key=3),
        call.whole(result[3], 3, value=3),
        *([call.whole(length, None, attention_mask=3)] if mask else []),
    )


@_known
def update_cache(
    call: _Call, op: CustomCallOp, travels: bool
) -> Iterable[Factor] | None:
    """`[n, h, p, d]`, `[1, u, h, d]`, `[u]`, `[u, m] -> [n, h, p, d]`.

    The input may have more heads than the cache, to fill a tile: then those of one
    device are not those of its part of the cache.
    """
    cache, new = call.shape("cache"), call.shape("input")
    if (cache,) != call.results or not len(cache) == len(new) == 4:
        return None
    return _written(call, travels, (cache[1], new[2]), 2, (new[1], 1))


@_known
def fill_cache(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[n, h, p, d]`, `[b, h, s, d]`, `[u, m]`, `[b] -> [n, h, p, d]`."""
    cache, new = call.shape("cache"), call.shape("input")
    if (cache,) != call.results or not len(cache) == len(new) == 4:
        return None
    return _written(call, travels, (cache[1], new[1]), 1, (new[0], 0))


def _written(
    call: _Call,
    travels: bool,
    heads: tuple[int, int],
    head_dim: int,
    users: tuple[int, int],
) -> Iterator[Factor]:
    """Yield the factors of a write to a cache: heads, and users if shardings travel."""
    if travels or heads[0] == heads[1]:
        yield call.factor(heads[0], 1, cache=1, input=head_dim)
    if travels:
        size, dim = users
        yield call.factor(
            size, None, input=dim, update_index=0, page_table=0, batch_idx=0
        )


@_known
def sparse_matmul(
    call: _Call, op: CustomCallOp, travels: bool
) -> Iterable[Factor] | None:
    """A product with each expert's matrix, `[1, e, k, n]`, where the mask is not 0.

    `[a, b, m, k] -> [a, b, 1, e, m, n]` if only the matrices are sparse, else
    `[a, e, m, k] -> [a, e, m, n]`.
    """
    a_sparse, b_sparse = (
        flag(op, "is_input_a_sparse"),
        flag(op, "is_input_b_sparse", True),
    )
    matrices, mask = call.shape("b"), call.shape("sparsity")
    if len(matrices) != 4 or not mask or not (a_sparse or b_sparse):
        return None
    _, experts, depth, columns = matrices
    if mask[-1] != experts or len(call.results) != 1:
        return None
    rank = 4 if a_sparse else 6
    if len(call.shape("a")) != 4 or len(call.results[0]) != rank:
        return None
    last = len(mask) - 1
    return (
        call.factor(
            experts, 1 if a_sparse else 3, a=1 if a_sparse else None, b=1, sparsity=last
        ),
        *(
            call.opaque(mask[dim], None, sparsity=dim)
            for dim in range(last)
            if mask[dim] > 1
        ),
        call.summed(depth, a=3, b=2),
        call.factor(columns, rank - 1, b=3),
    )


def _all_of_rank_4(call: _Call, results: int) -> bool:
    shapes_ = (*call.operands, *call.results)
    return len(call.results) == results and all(len(shape) == 4 for shape in shapes_)


@_known
def dispatch(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """Tokens to the devices of their experts: the call itself communicates.

    `[b, s, 1, h]`, `[b, s, 1, k]`, `[1, 1, e, d] -> [1, bd, s, h]`, `[1, bd, s, k]`.
    """
    if not _all_of_rank_4(call, 2):
        return None
    batch, length, _, width = call.shape("input")
    _, _, experts, devices = call.shape("mapping")
    return (
        call.opaque(batch, None, input=0, indices=0),
        call.opaque(length, (2, 2), input=1, indices=1),
        call.opaque(width, (3, None), input=3),
        call.opaque(call.shape("indices")[3], (None, 3), indices=3),
        call.opaque(experts, None, mapping=2),
        call.opaque(devices, None, mapping=3),
    )


@_known
def combine(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """Return the factors of a call that sends experts' results back to their tokens.

    `[e, bd, s, h]`, `[1, bd, s, k]`, `[1, 1, e, d] -> [k, b, s, h]`: each device brings
    its own experts, and nothing is left to add.
    """
    if not _all_of_rank_4(call, 1):
        return None
    experts, tokens, length, width = call.shape("input")
    _, _, of_all, devices = call.shape("mapping")
    return (
        call.factor(experts, None, input=0),
        call.opaque(of_all, None, mapping=2),
        call.opaque(width, 3, input=3),
        call.opaque(call.shape("metadata")[3], 0, metadata=3),
        call.opaque(length, 2, input=2, metadata=2),
        call.opaque(tokens, 1, input=1, metadata=1),
        call.opaque(devices, None, mapping=3),
    )


@_known
def remap(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """Return the factors of a call that maps a device's tokens to its own experts.

    `[d, b, s, e]`, `[1, 1, e, d]`, `[d, b, s, k] -> [1, b, s, e]`, `[1, 1, r, e]`.
    """
    if not _all_of_rank_4(call, 2):
        return None
    devices, batch, length, experts = call.shape("topk")
    return (
        call.opaque(devices, None, topk=0, metadata=0),
        call.opaque(batch, (1, None), topk=1, metadata=1),
        call.opaque(length, (2, None), topk=2, metadata=2),
        call.opaque(experts, None, topk=3, mapping=2),
        call.factor(experts, (3, 3)),
        call.opaque(call.shape("metadata")[3], None, metadata=3),
    )


@_known
def indexer(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[b, h, s, d]`, `[b, 1, t, d]`, `[b, h, s, 1] -> [b, 1, s, t]`, heads summed.

    A query is masked by where it stands, counted from the first of the call.
    """
    query, key = call.shape("query"), call.shape("key")
    if not len(query) == len(key) == 4:
        return None
    batch, heads, length, width = query
    if key != (batch, 1, key[2], width) or call.results != (
        (batch, 1, length, key[2]),
    ):
        return None
    if call.shape("weights") != (batch, heads, length, 1):
        return None
    return (
        call.factor(batch, 0, query=0, key=0, weights=0),
        call.summed(heads, query=1, weights=1),
        *([call.factor(length, 2, query=2, weights=2)] if travels else []),
        call.whole(key[2], 3, key=2),
        call.whole(width, None, query=3, key=3),
    )


@_known
def sampling(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[b, c]`, `[b, c]`, `[b]`, `[b]`, `[b] -> [b]`: one of the candidates of each row."""
    values = call.shape("values")
    rows = values[:1]
    if len(values) != 2 or call.shape("indices") != values or call.results != (rows,):
        return None
    if any(shape != rows for shape in call.operands[2:]):
        return None
    return (
        call.factor(values[0], 0, values=0, indices=0, k=0, p=0, temp=0),
        call.whole(values[1], None, values=1, indices=1),
    )


@_known
def rms_norm(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """Over the last dimensions, which weight and bias have."""
    shape, over = call.shape("input"), normalized_rank(op)
    if over is None or over > len(shape) or call.results != (shape,):
        return None
    first = len(shape) - over
    return tuple(
        call.factor(size, dim, input=dim)
        if dim < first
        else call.whole(size, dim, input=dim, weight=dim - first, bias=dim - first)
        for dim, size in enumerate(shape)
    )


@_known
def best(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[b, n] -> [b, k]`, or `[b]`: of each row some, perhaps their numbers.

    tt-mlir takes the best of all parts in the call.
    """
    shape = call.shape("input")
    if len(shape) != 2 or any(result[:1] != shape[:1] for result in call.results):
        return None
    after = 1 if len(call.results[0]) == 2 else None
    rows = call.factor(shape[0], 0, input=0)
    if not travels:
        return (rows,)
    across = call.factor(shape[1], None, input=1)
    if after is None:
        return (rows, across)
    return (rows, across, call.whole(call.results[0][1], after))


@_known
def gather(call: _Call, op: CustomCallOp, travels: bool) -> Iterable[Factor] | None:
    """`[…, n, …]`, `[…, m, …] -> […, m, …]`, picked along one dimension."""
    source, index = call.shape("input"), call.shape("index")
    attribute = options(op).get("dim")
    if not isinstance(attribute, IntegerAttr) or call.results != (index,):
        return None
    rank, along = len(source), int(attribute.value.data)
    if len(index) != rank or not -rank <= along < rank:
        return None
    along %= rank
    return (
        *(
            call.factor(size, dim, input=dim, index=dim)
            for dim, size in enumerate(source)
            # of more than is asked for, each device would have others
            if dim != along and (travels or size == index[dim])
        ),
        call.whole(source[along], None, input=along),
        call.factor(index[along], along, index=along),
    )


_RULES: Mapping[str, _Rule] = {
    Target.ATTENTION: attention,
    Target.ATTENTION_COMPOSITE: attention,
    Target.PAGED_DECODE: paged_decode,
    Target.CHUNKED: chunked,
    Target.LATENT_DECODE: latent_decode,
    Target.LATENT_PREFILL: latent_prefill,
    Target.UPDATE_CACHE: update_cache,
    Target.FILL_CACHE: fill_cache,
    Target.SPARSE_MATMUL: sparse_matmul,
    Target.DISPATCH: dispatch,
    Target.COMBINE: combine,
    Target.REMAP: remap,
    Target.INDEXER: indexer,
    Target.SAMPLING: sampling,
    Target.RMS_NORM: rms_norm,
    Target.TOP_K: best,
    Target.TOP_K_VALUES: best,
    Target.TOP_K_INDICES: best,
    Target.ARGMAX: best,
    Target.GATHER: gather,
    Target.GATHER_DIM: gather,
}


def _side(
    rule: _Rule, travels: bool
) -> Callable[[CustomCallOp], Iterable[Factor] | None]:
    return lambda op: rule(op, travels)


TARGETS = {
    name: (_side(rule, True), _side(rule, False)) for name, rule in _RULES.items()
}
"""Of each call the factors along which shardings travel, and those along which devices
share it out."""
