"""The contest's format is read."""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np

BENCHMARK = Path(__file__).parents[4] / "benchmarks" / "doctor" / "iopddl.py"


def module() -> Any:
    spec = importlib.util.spec_from_file_location("iopddl_benchmark", BENCHMARK)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_a_problem_is_read(tmp_path: Path):
    data = {
        "problem": {
            "name": "example",
            "nodes": {
                "intervals": [[0, 2], [1, 3]],
                "costs": [[1, 5], [2, 4]],
                "usages": [[10, 3], [10, 10]],
            },
            "edges": {"nodes": [[0, 1]], "costs": [[7, 0, 1, 2]]},
            "usage_limit": 15,
        }
    }
    path = tmp_path / "example.json.gz"
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    problem = module().read_problem(path)
    assert problem.limit == 15
    assert problem.cost(np.array([1, 0])) == 5 + 2 + 1
    assert problem.usage(np.array([1, 0])).tolist() == [3, 13, 10]
    assert not problem.is_feasible(np.array([0, 0]))  # takes 20 at time 1
