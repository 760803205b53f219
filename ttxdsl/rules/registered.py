"""Sharding rules as users write them: text, matched with an op's shapes.

`([..., i, k], [k, j])->([..., i, j]) reduction={k}` is Shardy's text with two freedoms.
Sizes may be left out where the shapes tell them, and `...` stands for any number of
dimensions, as many and of the same sizes in every tensor that has it. A dimension `*`
belongs to no other. Factors are numbered in alphabetical order, those of `...` first.
"""

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import NamedTuple

from ttxdsl.rules.builder import Shape, Shapes
from ttxdsl.sharding.factors import OpShardingRule

EXAMPLE = "([i, k], [k, j])->([i, j]) reduction={k}"

_TENSOR = r"\[[^\[\]]*\]"
_TENSORS = rf"\(\s*((?:{_TENSOR}(?:\s*,\s*{_TENSOR})*)?)\s*\)"
_TEXT = re.compile(
    rf"\s*{_TENSORS}\s*->\s*{_TENSORS}\s*(?:\{{(?P<sizes>[^{{}}]*)\}}\s*)?"
    r"(?P<groups>(?:[a-z_]+\s*=\s*\{[^{}]*\}\s*)*)"
)
_GROUP = re.compile(r"([a-z_]+)\s*=\s*\{([^{}]*)\}")
_SYMBOL = re.compile(r"([a-z])(?:_(\d+))?")

Symbol = tuple[str, int]
"""A factor's letter and number, `("z", 1)` for `z_1`; `("", n)` for one of `...`."""

_REST = "..."


class _Tensor(NamedTuple):
    """One tensor of the rule's text: its dimensions, and the position of `...`."""

    dims: tuple[tuple[Symbol, ...], ...]
    rest_at: int | None

    def expand(self, rest: int) -> tuple[tuple[Symbol, ...], ...]:
        """Return all dimensions, with `rest` of them for `...`."""
        if self.rest_at is None:
            return self.dims
        rest_dims = tuple((("", index),) for index in range(rest))
        return (*self.dims[: self.rest_at], *rest_dims, *self.dims[self.rest_at :])


class _Dim(NamedTuple):
    """A dimension of an op's tensor, with the factors that make it up."""

    place: str
    size: int
    factors: tuple[Symbol, ...]


class RuleText(NamedTuple):
    """The parsed text of a rule that fits ops of many shapes."""

    text: str
    operands: tuple[_Tensor, ...]
    results: tuple[_Tensor, ...]
    sizes: tuple[tuple[Symbol, int], ...]
    reduction: tuple[Symbol, ...] = ()
    need_replication: tuple[Symbol, ...] = ()
    permutation: tuple[Symbol, ...] = ()
    blocked_propagation: tuple[Symbol, ...] = ()

    @staticmethod
    def parse(text: str) -> "RuleText":
        """Read a rule.

        Raises:
            ValueError: naming the part that is wrong.
        """
        match = _TEXT.fullmatch(text)
        if match is None:
            raise ValueError(f"malformed sharding rule {text!r}, expected {EXAMPLE!r}")
        operands, results = (_tensors(match[part]) for part in (1, 2))
        used = {
            symbol
            for tensor in (*operands, *results)
            for dim in tensor.dims
            for symbol in dim
        }
        groups: dict[str, tuple[Symbol, ...]] = {}
        for label, symbols in _GROUP.findall(match["groups"]):
            if label not in _LABELS or label in groups:
                raise ValueError(f"unexpected {label!r}, expected each once: {_LABELS}")
            groups[label] = tuple(
                _known(_symbol(symbol), used) for symbol in _split(symbols)
            )
        return RuleText(text, operands, results, _sizes(match["sizes"], used), **groups)

    def match(self, shapes: Shapes) -> OpShardingRule:
        """Return the rule for an op of these shapes.

        The factors of a dimension multiply to its size. Only where one of them is a
        permutation, needs replication or is blocked may sizes differ, as between a
        tensor and a slice of it; such a factor has its size in the first tensor.

        Raises:
            ValueError: naming the dimension and the factor sizes that disagree.
        """
        operands = _fit("operand", self.operands, shapes.operands)
        results = _fit("result", self.results, shapes.results)
        dims = [dim for tensor in (*operands, *results) for dim in tensor]
        sizes = self._solve(dims)
        mapped = [[_kept(dim.factors, sizes) for dim in t] for t in operands + results]
        used = {symbol for tensor in mapped for dim in tensor for symbol in dim}
        order = {symbol: index for index, symbol in enumerate(sorted(used))}
        factor_sizes = [sizes[symbol] for symbol in order]

        def own_factor() -> int:
            factor_sizes.append(1)
            return len(factor_sizes) - 1

        mappings = tuple(
            tuple(tuple(order[s] for s in dim) or (own_factor(),) for dim in tensor)
            for tensor in mapped
        )

        def group(symbols: Sequence[Symbol]) -> tuple[int, ...]:
            return tuple(sorted(order[symbol] for symbol in symbols if symbol in order))

        rule = OpShardingRule(
            factor_sizes=tuple(factor_sizes),
            operands=mappings[: len(operands)],
            results=mappings[len(operands) :],
            reduction=group(self.reduction),
            need_replication=group(self.need_replication),
            permutation=group(self.permutation),
            blocked=group(self.blocked_propagation),
        )
        rule.check(shapes.operands, shapes.results)
        return rule

    def _solve(self, dims: Sequence[_Dim]) -> dict[Symbol, int]:
        """Return the size of every factor, from the text and from the dimensions."""
        sizes = dict(self.sizes)
        origins = dict.fromkeys(sizes, "the rule")
        unsolved = list(dims)
        progress = True
        while progress:
            progress = False
            waiting: list[_Dim] = []
            for dim in unsolved:
                unknown = [symbol for symbol in dim.factors if symbol not in sizes]
                if len(unknown) > 1:
                    waiting.append(dim)
                    continue
                known = prod(sizes[s] for s in dim.factors if s in sizes)
                if unknown and known and dim.size % known == 0:
                    sizes[unknown[0]] = dim.size // known
                    origins[unknown[0]] = dim.place
                    progress = True
                elif unknown or not self._fits(dim, known):
                    raise ValueError(
                        f"{dim.place} has size {dim.size}, but its factors are "
                        + ", ".join(
                            f"{_text(symbol)}={sizes[symbol]} (from {origins[symbol]})"
                            for symbol in dim.factors
                            if symbol in sizes
                        )
                    )
            unsolved = waiting
        for dim in unsolved:
            for symbol in dim.factors:
                if symbol not in sizes:
                    raise ValueError(
                        f"nothing tells the size of factor {_text(symbol)} in "
                        f"{dim.place}; add sizes to the rule, as {{{_text(symbol)}=2}}"
                    )
        return sizes

    def _fits(self, dim: _Dim, size: int) -> bool:
        if size == dim.size or not dim.factors:
            return True
        elastic = self.need_replication + self.permutation + self.blocked_propagation
        return any(symbol in elastic for symbol in dim.factors)


_LABELS = ("reduction", "need_replication", "permutation", "blocked_propagation")


def _split(text: str | None) -> Iterator[str]:
    if text and text.strip():
        yield from (part.strip() for part in text.split(","))


def _text(symbol: Symbol) -> str:
    letter, number = symbol
    if not letter:
        return f"'...'[{number}]"
    return f"{letter}_{number}" if number else letter


def _symbol(text: str) -> Symbol:
    match = _SYMBOL.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a factor such as i or z_1, got {text!r}")
    return match[1], int(match[2] or 0)


def _known(symbol: Symbol, used: set[Symbol]) -> Symbol:
    if symbol not in used:
        raise ValueError(f"factor {_text(symbol)} is in no operand and no result")
    return symbol


def _sizes(text: str | None, used: set[Symbol]) -> tuple[tuple[Symbol, int], ...]:
    sizes: dict[Symbol, int] = {}
    for entry in _split(text):
        symbol, _, size = (part.strip() for part in entry.partition("="))
        if not size.isdecimal():
            raise ValueError(f"expected a size such as i=8, got {entry!r}")
        sizes[_known(_symbol(symbol), used)] = int(size)
    return tuple(sizes.items())


def _tensors(text: str) -> tuple[_Tensor, ...]:
    return tuple(_tensor(dims) for dims in re.findall(r"\[([^\[\]]*)\]", text))


def _tensor(text: str) -> _Tensor:
    dims = list(_split(text))
    rest_at = dims.index(_REST) if _REST in dims else None
    if rest_at is not None:
        del dims[rest_at]
    if _REST in dims:
        raise ValueError(f"'...' stands twice in [{text}]")
    return _Tensor(tuple(_dim(dim) for dim in dims), rest_at)


def _dim(text: str) -> tuple[Symbol, ...]:
    if text == "*":
        return ()
    symbols = tuple(_symbol(match[0]) for match in _SYMBOL.finditer(text))
    if not symbols or sum(len(_text(symbol)) for symbol in symbols) != len(text):
        raise ValueError(f"expected factors such as i or ij, got {text!r}")
    return symbols


def _fit(
    kind: str, tensors: Sequence[_Tensor], shapes: Sequence[Shape]
) -> list[list[_Dim]]:
    """Match the text's tensors to the op's."""
    if len(tensors) != len(shapes):
        raise ValueError(
            f"it has {len(shapes)} {kind}s, but the rule is for {len(tensors)}"
        )
    fitted: list[list[_Dim]] = []
    for index, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        name = f"{kind} {index}"
        rest = len(shape) - len(tensor.dims)
        if rest < 0 or (rest and tensor.rest_at is None):
            least = "at least " if tensor.rest_at is not None else ""
            raise ValueError(
                f"{name} has rank {len(shape)}, but the rule gives it "
                f"{least}{len(tensor.dims)} dimensions"
            )
        fitted.append(
            [
                _Dim(f"{name} dimension {dim}", size, factors)
                for dim, (size, factors) in enumerate(
                    zip(shape, tensor.expand(rest), strict=True)
                )
            ]
        )
    return fitted


def _kept(dim: Sequence[Symbol], sizes: dict[Symbol, int]) -> tuple[Symbol, ...]:
    """Return the factors of a dimension: of several, not those of size 1."""
    telling = tuple(symbol for symbol in dim if sizes[symbol] != 1)
    return telling or tuple(dim[:1])
