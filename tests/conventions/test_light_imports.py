"""What reads, partitions and plans does without NumPy, so that it runs in a browser."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "transformer_block.mlir"

ASK = """
import sys
for name in ("numpy", "ml_dtypes", "threadpoolctl", "_multiprocessing"):
    sys.modules[name] = None
import ttxdsl
program = ttxdsl.load(sys.argv[1])
local = program.partition()
assert local.collectives()
assert "rich" not in sys.modules, "tables are drawn when somebody looks"
assert "all_reduce" in str(program.why())
assert "fits" in str(program.plan("v5e"))
program.report(sys.argv[2])
"""


def test_answers_do_without_numpy(tmp_path: Path):
    page = tmp_path / "report.html"
    command = [sys.executable, "-c", ASK, str(EXAMPLE), str(page)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    assert page.stat().st_size
