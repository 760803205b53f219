"""Random loops whose carry its axes do not divide, of steps that keep its size."""

from random import Random

MESHES = (
    ('<["d"=8]>', '{"d"}'),
    ('<["a"=2, "b"=4]>', '{"a", "b"}'),
    ('<["a"=2, "b"=4]>', '{"b"}'),
    ('<["a"=3, "b"=2]>', '{"a"}'),
)


class _Body:
    """Lines of a loop's body, and the values of the carry's size in it."""

    def __init__(self, random: Random, rows: int):
        self.random, self.rows = random, rows
        self.type = f"tensor<{rows}x4xf32>"
        self.lines: list[str] = []
        self.values = ["%x"]

    def pick(self) -> str:
        return self.random.choice(self.values[-4:])

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def part(self, value: str, low: int, high: int) -> tuple[str, str]:
        part = f"tensor<{high - low}x4xf32>"
        cut = f"stablehlo.slice {value} [{low}:{high}, 0:4] : ({self.type}) -> {part}"
        return self.line(cut), part

    def shift(self) -> str:
        by = self.random.randint(1, 3)
        low, high = self.random.choice([(0, by), (by, 0)])
        cut, part = self.part(self.pick(), high, self.rows - low)
        return self.line(
            f"stablehlo.pad {cut}, %zero, low = [{low}, 0], high = [{high}, 0],"
            f" interior = [0, 0] : ({part}, tensor<f32>) -> {self.type}"
        )

    def roll(self) -> str:
        value, at = self.pick(), self.random.randint(1, self.rows - 1)
        first, one = self.part(value, at, self.rows)
        second, other = self.part(value, 0, at)
        return self.line(
            f"stablehlo.concatenate {first}, {second}, dim = 0"
            f" : ({one}, {other}) -> {self.type}"
        )

    def update(self) -> str:
        size = self.random.randint(1, self.rows - 2)
        cut, part = self.part(self.pick(), 1, 1 + size)
        at = self.random.choice(["%first", "%second"])
        return self.line(
            f"stablehlo.dynamic_update_slice {self.pick()}, {cut}, {at}, %first"
            f" : ({self.type}, {part}, tensor<i32>, tensor<i32>) -> {self.type}"
        )

    def reverse(self) -> str:
        return self.line(f"stablehlo.reverse {self.pick()}, dims = [0] : {self.type}")

    def combine(self) -> str:
        op = self.random.choice(["add", "maximum", "subtract"])
        return self.line(f"stablehlo.{op} {self.pick()}, {self.pick()} : {self.type}")

    def window(self) -> str:
        op, start = self.random.choice([("add", "%zero"), ("maximum", "%least")])
        low = self.random.randint(0, 2)
        return self.line(
            f'"stablehlo.reduce_window"({self.pick()}, {start}) <{{window_dimensions ='
            f" array<i64: 3, 1>, padding = dense<[[{low}, {2 - low}], [0, 0]]> :"
            " tensor<2x2xi64>}> ({\n    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
            f"      %r = stablehlo.{op} %p, %q : tensor<f32>\n"
            "      stablehlo.return %r : tensor<f32>\n"
            f"    }}) : ({self.type}, tensor<f32>) -> {self.type}"
        )

    def level(self) -> str:
        value = self.pick()
        sums = self.line(
            f"stablehlo.reduce({value} init: %zero) applies stablehlo.add across"
            f" dimensions = [0] : ({self.type}, tensor<f32>) -> tensor<4xf32>"
        )
        wide = self.line(
            f"stablehlo.broadcast_in_dim {sums}, dims = [1]"
            f" : (tensor<4xf32>) -> {self.type}"
        )
        return self.line(f"stablehlo.subtract {value}, {wide} : {self.type}")


def random_iteration(seed: int) -> str:
    """A loop of three iterations over a carry of 9 to 50 rows."""
    random = Random(seed)
    mesh, axes = random.choice(MESHES)
    body = _Body(random, random.choice([9, 10, 13, 14, 22, 50]))
    steps = [body.shift, body.roll, body.update, body.reverse]
    steps += [body.combine, body.combine, body.window, body.level]
    for _ in range(random.randint(2, 7)):
        body.values.append(random.choice(steps)())
    lines = "\n".join(body.lines)
    split = f"sdy.sharding = #sdy.sharding<@mesh, [{axes}, {{}}]>"
    return f"""sdy.mesh @mesh = {mesh}
func.func @main(%x0: {body.type} {{{split}}}) -> ({body.type} {{{split}}}) {{
  %first = stablehlo.constant dense<0> : tensor<i32>
  %second = stablehlo.constant dense<1> : tensor<i32>
  %times = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0:2 = stablehlo.while(%i = %first, %x = %x0) : tensor<i32>, {body.type}
  cond {{
    %c = stablehlo.compare LT, %i, %times, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
{lines}
    %next = stablehlo.add %i, %second : tensor<i32>
    stablehlo.return %next, {body.values[-1]} : tensor<i32>, {body.type}
  }}
  return %0#1 : {body.type}
}}
"""
