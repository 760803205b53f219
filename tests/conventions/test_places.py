"""What a new op needs, shown by adding one to a copy of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from shutil import copytree

import ttxdsl

ROOT = Path(ttxdsl.__file__).parent

ELEMENTWISE = {
    "dialects/stablehlo/elementwise.py": (
        "@irdl_op_definition\nclass SineOp(",
        '@irdl_op_definition\nclass ReluOp(_FloatUnaryOp):\n    """max(x, 0)."""\n\n'
        '    name = "stablehlo.relu"\n    traits = traits_def(RoundsOnce())\n\n\n',
    ),
    "interpreters/kernels.py": (
        '    "rsqrt": widened(',
        '    "relu": widened(lambda x: np.maximum(x, 0)),\n',
    ),
    "conversion/lower_elementwise.py": (
        '    "stablehlo.rsqrt": "rsqrt",',
        '    "stablehlo.relu": "relu",\n',
    ),
}
"""For each file the line that the new op's lines stand before, and these."""

PROGRAM = """
import numpy as np
import ttxdsl
from ttxdsl.checking.trials import exact_results

program = ttxdsl.load('''
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<8x4xf32>
      {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<8x4xf32> {
    %r = stablehlo.relu %a : tensor<8x4xf32>
    return %r : tensor<8x4xf32>
  }''')
assert exact_results(next(iter(program.module.body.block.ops)).next_op) == (True,)
device = program.partition()
x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)
assert not device.collectives()
assert "ttnn.relu" in device.lower("ttnn").text
for form in (program, device, device.lower("ttir"), device.lower("ttnn")):
    assert (form.simulate(x)[0] == np.maximum(x, 0)).all()
print(ttxdsl.__file__)
"""


def test_a_new_elementwise_op_takes_three_files(tmp_path: Path):
    """Declared, computed and lowered, it is parsed, propagated, split and exact."""
    copy = copytree(ROOT, tmp_path / "ttxdsl")
    for name, (before, lines) in ELEMENTWISE.items():
        text = (copy / name).read_text()
        assert text.count(before) == 1
        (copy / name).write_text(text.replace(before, lines + before))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).parent == copy
    assert len(ELEMENTWISE) == 3
