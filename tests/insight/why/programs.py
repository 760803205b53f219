"""Programs whose sharding or collective has one known cause each."""

from ttxdsl.insight.why.explain import Explainer
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4]>\n'


def given(value: str, sharding: str) -> str:
    """An argument or result with an annotation."""
    return f"{value} {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"


def function(arguments: str, results: str, body: str) -> str:
    """A program on the mesh of 2 x 4 devices."""
    return f"{MESH}func.func public @main({arguments}) -> ({results}) {{\n{body}\n}}\n"


def added(x: str, y: str, shape: str = "8x16") -> str:
    """A sum of two arguments of these shardings."""
    kind = f"tensor<{shape}xf32>"
    return function(
        f"{given(f'%x: {kind}', x)}, {given(f'%y: {kind}', y)}",
        kind,
        f"  %sum = stablehlo.add %x, %y : {kind}\n  return %sum : {kind}",
    )


def multiplied(x: str, w: str) -> str:
    """A product of two arguments of these shardings."""
    x_type, w_type, type_ = (f"tensor<{n}xf32>" for n in ("8x16", "16x32", "8x32"))
    return function(
        f"{given(f'%x: {x_type}', x)}, {given(f'%w: {w_type}', w)}",
        type_,
        f"  %out = stablehlo.dot %x, %w : ({x_type}, {w_type}) -> {type_}\n"
        f"  return %out : {type_}",
    )


CONFLICTING = added('[{"a"}, {}]', '[{"b"}, {}]')

TRANSPOSED = added('[{"a", "b"}, {}]', '[{"b", "a"}, {}]')

LARGEST_POSITION = function(
    given("%x: tensor<8x16xf32>", '[{}, {"a"}]'),
    "tensor<8xi32>",
    """  %positions = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %out:2 = stablehlo.reduce(%x init: %least), (%positions init: %zero)
      across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<8xf32>, tensor<8xi32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
        %gt = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %value = stablehlo.select %gt, %a, %b : tensor<i1>, tensor<f32>
        %position = stablehlo.select %gt, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %value, %position : tensor<f32>, tensor<i32>
      }
  return %out#1 : tensor<8xi32>""",
)

RAGGED = function(
    f"""{given("%x: tensor<8x16xf32>", '[{}, {"a"}]')},
    {given("%w: tensor<3x16x4xf32>", '[{}, {"a"}, {}]')}, %sizes: tensor<3xi32>""",
    "tensor<8x4xf32>",
    """  %out = "chlo.ragged_dot"(%x, %w, %sizes) <{
      ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
      : (tensor<8x16xf32>, tensor<3x16x4xf32>, tensor<3xi32>) -> tensor<8x4xf32>
  return %out : tensor<8x4xf32>""",
)

MISSING = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]') + ", %w: tensor<16x32xf32>",
    "tensor<8x32xf32>",
    """  %out = stablehlo.dot %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %out : tensor<8x32xf32>""",
)

UNEVEN = function(
    given("%x: tensor<8x16xf32>", '[{"b"}, {}]'),
    "tensor<6x16xf32>",
    """  %part = stablehlo.slice %x [0:6, 0:16] : (tensor<8x16xf32>) -> tensor<6x16xf32>
  %twice = stablehlo.add %part, %part : tensor<6x16xf32>
  return %twice : tensor<6x16xf32>""",
)

NO_RULE = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %same = stablehlo.custom_call @mystery(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %same : tensor<8x16xf32>""",
)

SHARED_CONSTANT = function(
    given("%x: tensor<8x8xf32>", '[{"a"}, {}]')
    + ", "
    + given("%y: tensor<8x8xf32>", '[{}, {"a"}]'),
    "tensor<8x8xf32>, tensor<8x8xf32>",
    """  %c = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %first = stablehlo.add %x, %c : tensor<8x8xf32>
  %second = stablehlo.add %y, %c : tensor<8x8xf32>
  return %first, %second : tensor<8x8xf32>, tensor<8x8xf32>""",
).replace('"b"=4]>', '"b"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>')
"""Devices in another order look up where they are, so that nobody numbers for others."""

RESHAPE = function(
    given("%x: tensor<2x8xf32>", '[{}, {"b"}]'),
    "tensor<16xf32>",
    """  %flat = stablehlo.reshape %x : (tensor<2x8xf32>) -> tensor<16xf32>
  return %flat : tensor<16xf32>""",
)

PRIORITY = multiplied('[{"a"}p1, {?}]', '[{?}, {"a"}p0]')

LARGER = multiplied('[{"a"}, {}]', '[{}, {"a"}]')

CLOSED = added('[{"a"}, {}]', "[{}, {}]")

CLOSED_RESULT = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    given("tensor<8x16xf32>", "[{}, {}]"),
    """  %twice = stablehlo.add %x, %x : tensor<8x16xf32>
  return %twice : tensor<8x16xf32>""",
)

CONTRACTED = multiplied('[{}, {"b"}]', '[{"b"}, {}]')

BORDER = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %neg = stablehlo.negate %x : tensor<8x16xf32>
  %mapped = sdy.manual_computation(%neg) in_shardings=[<@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{}, {"a"}]>] manual_axes={"a"} (%local: tensor<8x8xf32>) {
    %inner = stablehlo.exponential %local : tensor<8x8xf32>
    sdy.return %inner : tensor<8x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %mapped : tensor<8x16xf32>""",
)

BORDER_OF_ARGUMENT = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %mapped = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{}, {"a"}]>] manual_axes={"a"} (%local: tensor<8x8xf32>) {
    %inner = stablehlo.exponential %local : tensor<8x8xf32>
    sdy.return %inner : tensor<8x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %mapped : tensor<8x16xf32>""",
)

ORDER = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]')
    + ", "
    + given("%y: tensor<8x16xf32>", '[{}, {"a"}]'),
    "tensor<8x16xf32>",
    """  %first = stablehlo.negate %x : tensor<8x16xf32>
  %second = stablehlo.negate %first : tensor<8x16xf32>
  %sum = stablehlo.add %second, %y : tensor<8x16xf32>
  %third = stablehlo.negate %y : tensor<8x16xf32>
  %both = stablehlo.add %sum, %third : tensor<8x16xf32>
  return %both : tensor<8x16xf32>""",
)

TABLE = function(
    given("%table: tensor<64x16xf32>", '[{"b"}, {}]') + ", %ids: tensor<8x1xi32>",
    "tensor<8x16xf32>",
    """  %rows = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<64x16xf32>, tensor<8x1xi32>) -> tensor<8x16xf32>
  return %rows : tensor<8x16xf32>""",
)

SORT = function(
    given("%x: tensor<16xf32>", '[{"b"}]'),
    "tensor<16xf32>",
    """  %sorted = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %less = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return %sorted : tensor<16xf32>""",
)

CONSTRAINT = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %neg = stablehlo.negate %x : tensor<8x16xf32>
  %moved = sdy.sharding_constraint %neg <@mesh, [{}, {"a"}]> : tensor<8x16xf32>
  %exp = stablehlo.exponential %moved : tensor<8x16xf32>
  %sum = stablehlo.add %exp, %neg : tensor<8x16xf32>
  return %sum : tensor<8x16xf32>""",
)

CONSTRAINED_ARGUMENT = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %whole = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<8x16xf32>
  %exp = stablehlo.exponential %whole : tensor<8x16xf32>
  return %exp : tensor<8x16xf32>""",
)

WRITTEN = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %neg = stablehlo.negate %x : tensor<8x16xf32>
  %mapped = sdy.manual_computation(%neg) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"a"} (%local: tensor<4x16xf32>) {
    %all = "stablehlo.all_gather"(%local) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<4x16xf32>) -> tensor<8x16xf32>
    sdy.return %all : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %mapped : tensor<8x16xf32>""",
)

RESHARDED = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    given("tensor<8x16xf32>", "[{}, {}]") + ", tensor<8x16xf32>",
    """  %neg = stablehlo.negate %x : tensor<8x16xf32>
  %moved = sdy.reshard %neg <@mesh, [{}, {"a"}]> : tensor<8x16xf32>
  %inner = stablehlo.exponential %moved : tensor<8x16xf32>
  return %moved, %inner : tensor<8x16xf32>, tensor<8x16xf32>""",
)
"""A reshard that somebody wrote, of whose result stage 8 makes one more."""

INLINED = (
    function(
        given("%x: tensor<8x16xf32>", '[{"a"}, {}]')
        + ", "
        + given("%y: tensor<8x16xf32>", '[{}, {"a"}]'),
        "tensor<8x16xf32>, tensor<8x16xf32>",
        """  %first = call @f(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %second = call @f(%y) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %first, %second : tensor<8x16xf32>, tensor<8x16xf32>""",
    )
    + """func.func private @f(%v: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %v : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""
)

LOOP = function(
    given("%x: tensor<8x16xf32>", '[{"a"}, {}]'),
    "tensor<8x16xf32>",
    """  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last:2 = stablehlo.while(%i = %zero, %acc = %x) : tensor<i32>, tensor<8x16xf32>
    cond {
      %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %exp = stablehlo.exponential %acc : tensor<8x16xf32>
      stablehlo.return %next, %exp : tensor<i32>, tensor<8x16xf32>
    }
  %out = stablehlo.negate %last#1 : tensor<8x16xf32>
  return %out : tensor<8x16xf32>""",
)

REPLICATED = added('[{"a"}, {}]', '[{?}, {?}], replicated={"a"}')

PREFIX = added('[{"a", "b"}, {}]', '[{"a"}, {"b"}]', "16x4")

THREE = function(
    ", ".join(given(f"%{name}: tensor<8x16xf32>", '[{"a"}, {}]') for name in "pqx"),
    "tensor<16xf32>",
    """  %first = stablehlo.add %p, %q : tensor<8x16xf32>
  %all = stablehlo.add %first, %x : tensor<8x16xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%all init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %sum : tensor<16xf32>""",
)
"""The axis would come from each of three arguments."""

BOTH_SPLIT = function(
    given("%x: tensor<8x64xf32>", '[{}, {"b"}]')
    + ", "
    + given("%w: tensor<64x16xf32>", '[{"b"}, {}]'),
    given("tensor<8x16xf32>", "[{}, {}]"),
    """  %out = stablehlo.dot %x, %w : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  return %out : tensor<8x16xf32>""",
)
"""The sum goes away only if neither of what is contracted is split."""

WIDE_LAYERS = function(
    given("%x: tensor<8x16xf32>", "[{}, {}]")
    + ", "
    + given("%up: tensor<16x64xf32>", '[{}, {"b"}]')
    + ", "
    + given("%down: tensor<64x16xf32>", '[{"b"}, {}]'),
    given("tensor<8x16xf32>", "[{}, {}]"),
    """  %hidden = stablehlo.dot %x, %up : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  %out = stablehlo.dot %hidden, %down : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  return %out : tensor<8x16xf32>""",
)
"""What is summed is smaller than what could be gathered."""

ALL = {
    name.lower(): value
    for name, value in list(globals().items())
    if name.isupper() and isinstance(value, str) and name not in ("MESH",)
}


def ask(text: str, propagation: str | None = None, tries: int = 0) -> Explainer:
    """Return who answers questions about a program."""
    module = parse_program(text, "p.mlir")
    return Explainer(
        module,
        text,
        source="p.mlir",
        pipeline=TTStableHLOPipelinePass(propagation=propagation),
        tries=tries,
    )
