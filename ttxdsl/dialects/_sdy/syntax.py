"""Text of the sdy attributes, read from a parser and written as strings.

Texts are *stripped*, that is without `#sdy.name`; they equal what the C++ dialect
prints. Axes, meshes, shardings and rules write themselves (`str`); the functions here
write what is made of them. Shardings repeat on thousands of ops, so one distinct
spelling of a sharding is read once (see `_recall`) and written once.

Source: Shardy's `parsers.cc`, `printers.cc` and the assembly formats of `attrs.td`.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from typing import TypeVar, cast

from xdsl.ir import Data
from xdsl.parser import AttrParser

from ttxdsl.dialects._sdy.values import (
    AxisPropagation,
    EdgeNodeType,
    EdgeValueRef,
    PropagationStep,
)
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import (
    DimMapping,
    OpShardingRule,
    TensorMapping,
    factor_symbol,
    parse_dim_mapping as factors_of_text,
)
from ttxdsl.sharding.reshard.collectives import AllToAllParam
from ttxdsl.sharding.spec import DimSharding, ReductionKind, TensorSharding
from ttxdsl.sharding.text import quoted

_T = TypeVar("_T")
_Parse = Callable[[AttrParser], _T]

_TOO_LARGE = 1 << 63


def _comma_separated(parser: AttrParser, parse: Callable[[], _T]) -> tuple[_T, ...]:
    """At least one element."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.NONE, parse))


def _in_squares(parser: AttrParser, parse: Callable[[], _T]) -> tuple[_T, ...]:
    """`[` elements `]`, possibly none."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse))


def parse_number(parser: AttrParser) -> int:
    """Return an integer of 64 bits; neither `true` nor `false`, unlike xDSL's."""
    start = parser.pos
    number = parser.parse_integer(allow_boolean=False)
    if not -_TOO_LARGE <= number < _TOO_LARGE:
        parser.raise_error(f"{number} does not fit in 64 bits", start, parser.pos)
    return number


def _named(name: str) -> Callable[[_Parse[_T]], _Parse[_T]]:
    """Let a parser of an attribute's stripped text also take the whole attribute.

    MLIR reads either wherever it prints the stripped one: `#sdy.mesh<…>`,
    `#sdy<axis_ref"x">`, an alias.
    """

    def of(parse: _Parse[_T]) -> _Parse[_T]:
        @wraps(parse)
        def parse_either(parser: AttrParser) -> _T:
            if parser.lexer.input.at(parser.pos) != "#":
                return parse(parser)
            start = parser.pos
            attribute = parser.parse_attribute()
            if attribute.name != f"sdy.{name}":
                parser.raise_error(f"expected a #sdy.{name}", start, parser.pos)
            return cast(Data[_T], attribute).data

        return parse_either

    return of


# Each spelling is read once


_STRING = r'"(?:[^"\\]|\\.)*"'
_SHARDING_SPELLING = re.compile(rf'<[^<>"#]*(?:{_STRING}[^<>"#]*)*>')
_SHARDINGS_SPELLING = re.compile(
    rf"<\s*\[\s*{_SHARDING_SPELLING.pattern}"
    rf"(?:\s*,\s*{_SHARDING_SPELLING.pattern})*\s*\]\s*>"
)
_MOST_SPELLINGS = 4096

_sharding_of_spelling: dict[str, TensorSharding] = {}
_shardings_of_spelling: dict[str, tuple[TensorSharding, ...]] = {}


def _recall(
    parser: AttrParser,
    spelling: re.Pattern[str],
    known: dict[str, _T],
    parse_body: Callable[[], _T],
) -> _T:
    """Parse `<` body `>`, or look it up when the same characters were read before.

    Sound because a span that starts and ends with whole tokens, and has no alias, always
    reads the same: a spelling is remembered only when the parser ended exactly where the pattern did.
    """
    match = spelling.match(parser.lexer.input.content, parser.pos)
    if match is None:
        parser.parse_punctuation("<")
        value = parse_body()
        parser.parse_punctuation(">")
        return value
    text, last = match.group(), match.end() - 1
    value = known.get(text)
    if value is not None:
        parser.lexer.pos = last
        parser.parse_punctuation("<")
        parser.parse_punctuation(">")
        return value
    parser.parse_punctuation("<")
    value = parse_body()
    if parser.pos == last:
        if len(known) >= _MOST_SPELLINGS:
            known.clear()
        known[text] = value
    parser.parse_punctuation(">")
    return value


# Axes


@_named("axis_ref")
def parse_axis_ref(parser: AttrParser) -> AxisRef:
    """`"x"` or `"x":(1)2`."""
    name = parser.parse_str_literal()
    if parser.parse_optional_punctuation(":") is None:
        return AxisRef(name)
    pre_size, size = parse_sub_axis(parser)
    return AxisRef(name, pre_size, size)


@_named("sub_axis_info")
def parse_sub_axis(parser: AttrParser) -> tuple[int, int]:
    """Pre-size and size, `(1)2`."""
    with parser.in_parens():
        pre_size = parse_number(parser)
    return pre_size, parse_number(parser)


@_named("axis_ref_list")
def parse_axis_refs(parser: AttrParser) -> tuple[AxisRef, ...]:
    """`{"x", "y":(1)2}`, possibly empty."""
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.BRACES, lambda: parse_axis_ref(parser)
        )
    )


def axis_refs_text(axes: Iterable[AxisRef]) -> str:
    """`{"x", "y":(1)2}`."""
    return f"{{{', '.join(map(str, axes))}}}"


@_named("list_of_axis_ref_lists")
def parse_axis_ref_lists(parser: AttrParser) -> tuple[tuple[AxisRef, ...], ...]:
    """`[{"x"}, {}]`, one list a dimension."""
    return _in_squares(parser, lambda: parse_axis_refs(parser))


def axis_ref_lists_text(lists: Iterable[Iterable[AxisRef]]) -> str:
    """`[{"x"}, {}]`."""
    return f"[{', '.join(map(axis_refs_text, lists))}]"


@_named("manual_axes")
def parse_manual_axes(parser: AttrParser) -> tuple[str, ...]:
    """`{"x", "y"}`, possibly empty."""
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.BRACES, parser.parse_str_literal
        )
    )


def manual_axes_text(axes: Iterable[str]) -> str:
    """`{"x", "y"}`."""
    return f"{{{', '.join(map(quoted, axes))}}}"


# Meshes


@_named("mesh_axis")
def parse_mesh_axis(parser: AttrParser) -> tuple[str, int]:
    """`"x"=2`."""
    name = parser.parse_str_literal()
    parser.parse_punctuation("=")
    return name, parse_number(parser)


def mesh_axis_text(axis: tuple[str, int]) -> str:
    """`"x"=2`."""
    return f"{quoted(axis[0])}={axis[1]}"


_PLAIN_NUMBERS = re.compile(
    r"\[\s*([0-9]{1,18}(?:\s*,\s*[0-9]{1,18})*+)\s*\]", re.ASCII
)


def _plain_numbers(parser: AttrParser) -> tuple[int, ...]:
    """Parse `[3, 0, 2]` by one regular expression; return () for any other text.

    The device list of a large mesh has a million numbers: no tokens are made for them.
    """
    text = parser.lexer.input.content
    match = _PLAIN_NUMBERS.match(text, parser._current_token.span.start)  # pyright: ignore[reportPrivateUsage]
    if match is None:
        return ()
    parser._resume_from(match.end())  # pyright: ignore[reportPrivateUsage]
    return tuple(map(int, match.group(1).split(",")))


@_named("mesh")
def parse_mesh(parser: AttrParser) -> Mesh:
    """`<["x"=2, "y"=4]>` or `<[...], device_ids=[...]>`.

    Device ids that only count up from 0 say nothing and are dropped, as in C++.
    """
    with parser.in_angle_brackets():
        axes = _in_squares(parser, lambda: parse_mesh_axis(parser))
        device_ids: tuple[int, ...] = ()
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("device_ids")
            parser.parse_punctuation("=")
            device_ids = _plain_numbers(parser)
            if not device_ids:
                with parser.in_square_brackets():
                    device_ids = _comma_separated(parser, lambda: parse_number(parser))
    mesh = Mesh(axes, device_ids)
    counts_up = axes and device_ids == tuple(range(len(device_ids)))
    if counts_up and len(device_ids) == mesh.total_size:
        return mesh.without_device_ids()
    return mesh


def parse_mesh_or_ref(parser: AttrParser) -> str | Mesh:
    """`@name` or `mesh<["x"=2]>`."""
    if parser.parse_optional_keyword("mesh") is not None:
        return parse_mesh(parser)
    return parser.parse_symbol_name().data


# Shardings


_PRIORITY = re.compile(r"p(0|[1-9][0-9]*)", re.ASCII)


@_named("dimension_sharding")
def parse_dim_sharding(parser: AttrParser) -> DimSharding:
    """`{"x", "y":(1)2}`, open `{"x", ?}`, with priority `{"x"}p1`."""
    parser.parse_punctuation("{")
    axes: list[AxisRef] = []
    closed = True
    while parser.parse_optional_punctuation("}") is None:
        if axes:
            parser.parse_punctuation(",")
        if parser.parse_optional_punctuation("?") is not None:
            closed = False
            parser.parse_punctuation("}")
            break
        axes.append(parse_axis_ref(parser))
    start = parser.pos
    keyword = parser.parse_optional_identifier()
    if keyword is None:
        return DimSharding(tuple(axes), closed)
    match = _PRIORITY.fullmatch(keyword)
    if match is None or int(match.group(1)) >= _TOO_LARGE:
        parser.raise_error(
            "a dimension's priority is 'p' and a number below 2^63 without leading zeros, "
            f"got '{keyword}'",
            start,
            start + len(keyword),
        )
    return DimSharding(tuple(axes), closed, int(match.group(1)))


def parse_optional_reduction(parser: AttrParser) -> ReductionKind | None:
    """Parse `sum`, `max` or `min`; None for any other token."""
    for kind in ReductionKind:
        if parser.parse_optional_keyword(kind.value) is not None:
            return kind
    return None


def _parse_sharding_body(parser: AttrParser) -> TensorSharding:
    mesh = parse_mesh_or_ref(parser)
    parser.parse_punctuation(",")
    dims = _in_squares(parser, lambda: parse_dim_sharding(parser))
    axes: dict[str, tuple[AxisRef, ...]] = {}
    reduction = None
    while parser.parse_optional_punctuation(",") is not None:
        left = [name for name in ("replicated", "unreduced") if name not in axes]
        name = parser.parse_keyword_in(left)
        if name == "replicated":
            parser.parse_punctuation("=")
        elif parser.parse_optional_punctuation("=") is not None:
            reduction = parse_optional_reduction(parser)
        with parser.in_braces():
            axes[name] = _comma_separated(parser, lambda: parse_axis_ref(parser))
    sharding = TensorSharding(mesh, dims, axes.get("replicated", ()))
    return sharding.with_unreduced(axes.get("unreduced", ()), reduction)


@_named("sharding")
def parse_sharding(parser: AttrParser) -> TensorSharding:
    """`<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>`."""
    return _recall(
        parser,
        _SHARDING_SPELLING,
        _sharding_of_spelling,
        lambda: _parse_sharding_body(parser),
    )


@lru_cache(maxsize=_MOST_SPELLINGS)
def sharding_text(sharding: TensorSharding) -> str:
    """`<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>`."""
    return str(sharding)


def shardings_text(shardings: Iterable[TensorSharding]) -> str:
    """`[<@mesh, [{"x"}]>, <@mesh, [{}]>]`."""
    return f"[{', '.join(map(sharding_text, shardings))}]"


def parse_shardings(parser: AttrParser) -> tuple[TensorSharding, ...]:
    """`[<@mesh, [{"x"}]>, <@mesh, [{}]>]`."""
    return _in_squares(parser, lambda: parse_sharding(parser))


def parse_shardings_per_value(parser: AttrParser) -> tuple[TensorSharding, ...]:
    """`<[<@mesh, [{"x"}]>]>`."""
    return _recall(
        parser,
        _SHARDINGS_SPELLING,
        _shardings_of_spelling,
        lambda: parse_shardings(parser),
    )


# Sharding rules


_FACTOR_GROUPS = ("reduction", "need_replication", "permutation", "blocked_propagation")


def _factors(parser: AttrParser, word: str, start: int) -> DimMapping:
    try:
        return factors_of_text(word)
    except ValueError as error:
        parser.raise_error(str(error), start, start + len(word))


def _parse_factor(parser: AttrParser) -> int:
    start = parser.pos
    word = parser.parse_identifier(" for a factor")
    factors = _factors(parser, word, start)
    if len(factors) != 1:
        parser.raise_error(
            f"expected a single factor symbol, got '{word}'", start, start + len(word)
        )
    return factors[0]


@_named("dim_mapping")
def parse_dim_mapping(parser: AttrParser) -> DimMapping:
    """`i`, `ij`; the null mapping is `*` or nothing."""
    start = parser.pos
    word = parser.parse_optional_identifier()
    if word is None:
        parser.parse_optional_punctuation("*")
        return ()
    return _factors(parser, word, start)


def dim_mapping_text(mapping: DimMapping) -> str:
    """`ij`; `*` for the null mapping."""
    return "".join(map(factor_symbol, mapping)) or "*"


@_named("tensor_mapping")
def parse_tensor_mapping(parser: AttrParser) -> TensorMapping:
    """`[i, jk]`."""
    return _in_squares(parser, lambda: parse_dim_mapping(parser))


def tensor_mapping_text(mapping: TensorMapping) -> str:
    """`[i, jk]`."""
    return f"[{', '.join(map(dim_mapping_text, mapping))}]"


def _parse_factor_sizes(parser: AttrParser) -> tuple[int, ...]:
    sizes: list[int] = []

    def parse_size() -> None:
        start = parser.pos
        index = _parse_factor(parser)
        if index != len(sizes):
            parser.raise_error(
                "factor sizes are listed in order without gaps: expected "
                f"'{factor_symbol(len(sizes))}', got '{factor_symbol(index)}'",
                start,
                parser.pos,
            )
        parser.parse_punctuation("=")
        sizes.append(parse_number(parser))

    parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, parse_size)
    return tuple(sizes)


def _parse_factor_group(parser: AttrParser, name: str) -> tuple[int, ...]:
    if parser.parse_optional_keyword(name) is None:
        return ()
    parser.parse_punctuation("=")
    factors = parser.parse_optional_comma_separated_list(
        parser.Delimiter.BRACES, lambda: _parse_factor(parser)
    )
    return tuple(factors or ())


def parse_rule(parser: AttrParser) -> OpShardingRule:
    """`<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}, custom>`."""

    def parse_mappings() -> tuple[TensorMapping, ...]:
        with parser.in_parens():
            return _comma_separated(parser, lambda: parse_tensor_mapping(parser))

    with parser.in_angle_brackets():
        operands = parse_mappings()
        parser.parse_punctuation("->")
        results = parse_mappings()
        sizes = _parse_factor_sizes(parser)
        groups = [_parse_factor_group(parser, name) for name in _FACTOR_GROUPS]
        is_custom = parser.parse_optional_punctuation(",") is not None
        if is_custom:
            parser.parse_keyword("custom")
    return OpShardingRule(sizes, operands, results, *groups, is_custom=is_custom)


# All-to-all parameters


@_named("all_to_all_param")
def parse_all_to_all_param(parser: AttrParser) -> AllToAllParam:
    """`{"x"}: 0->2`."""
    with parser.in_braces():
        axes = _comma_separated(parser, lambda: parse_axis_ref(parser))
    parser.parse_punctuation(":")
    src_dim = parse_number(parser)
    parser.parse_punctuation("->")
    return AllToAllParam(axes, src_dim, parse_number(parser))


def all_to_all_param_text(param: AllToAllParam) -> str:
    """`{"x"}: 0->2`."""
    return f"{axis_refs_text(param.axes)}: {param.src_dim}->{param.tgt_dim}"


@_named("all_to_all_param_list")
def parse_all_to_all_params(parser: AttrParser) -> tuple[AllToAllParam, ...]:
    """`[{"x"}: 0->2, {"y"}: 1->3]`."""
    return _in_squares(parser, lambda: parse_all_to_all_param(parser))


def all_to_all_params_text(params: Iterable[AllToAllParam]) -> str:
    """`[{"x"}: 0->2, {"y"}: 1->3]`."""
    return f"[{', '.join(map(all_to_all_param_text, params))}]"


# Propagation edges


@_named("edge_value_ref")
def parse_edge_value(parser: AttrParser) -> EdgeValueRef:
    """`operand-0`, `result-1`."""
    kind = parser.parse_str_enum(EdgeNodeType)
    parser.parse_punctuation("-")
    return EdgeValueRef(kind, parse_number(parser))


def edge_value_text(value: EdgeValueRef) -> str:
    """`operand-0`, `result-1`."""
    return f"{value.type.value}-{value.index}"


@_named("axis_to_propagation_details")
def parse_axis_propagation(parser: AttrParser) -> AxisPropagation:
    """`{"x" = operand-0 -> [result-0]}`."""
    with parser.in_braces():
        axis = parse_axis_ref(parser)
        parser.parse_punctuation("=")
        source = parse_edge_value(parser)
        parser.parse_punctuation("->")
        with parser.in_square_brackets():
            targets = _comma_separated(parser, lambda: parse_edge_value(parser))
    return AxisPropagation(axis, source, targets)


def axis_propagation_text(entry: AxisPropagation) -> str:
    """`{"x" = operand-0 -> [result-0]}`."""
    targets = ", ".join(map(edge_value_text, entry.targets))
    source = edge_value_text(entry.source)
    return f"{{{entry.axis} = {source} -> [{targets}]}}"


@_named("propagation_one_step")
def parse_propagation_step(parser: AttrParser) -> PropagationStep:
    """`{step-0 = [{"x" = operand-0 -> [result-0]}]}`."""
    with parser.in_braces():
        parser.parse_keyword("step")
        parser.parse_punctuation("-")
        index = parse_number(parser)
        parser.parse_punctuation("=")
        with parser.in_square_brackets():
            entries = _comma_separated(parser, lambda: parse_axis_propagation(parser))
    return PropagationStep(index, entries)


def propagation_step_text(step: PropagationStep) -> str:
    """`{step-0 = [{"x" = operand-0 -> [result-0]}]}`."""
    entries = ", ".join(map(axis_propagation_text, step.entries))
    return f"{{step-{step.index} = [{entries}]}}"


def parse_propagation_edges(parser: AttrParser) -> tuple[PropagationStep, ...]:
    """`<[{step-0 = [...]}, {step-1 = [...]}]>`."""
    with parser.in_angle_brackets(), parser.in_square_brackets():
        return _comma_separated(parser, lambda: parse_propagation_step(parser))


def propagation_edges_text(steps: Iterable[PropagationStep]) -> str:
    """`<[{step-0 = [...]}, {step-1 = [...]}]>`."""
    return f"<[{', '.join(map(propagation_step_text, steps))}]>"
