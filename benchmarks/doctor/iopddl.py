"""The doctor's solver alone on the ASPLOS 2025 contest (google/iopddl).

    python benchmarks/doctor/iopddl.py path/to/iopddl/benchmarks --scores iopddl_final_results.csv

Reads `*.json` and `*.json.gz`; the scores of the teams are in ti2-group/iopddl_experiments.
"""

import argparse
import csv
import gzip
import json
import time
from pathlib import Path

from ttxdsl.insight.doctor.solving.problem import Problem
from ttxdsl.insight.doctor.solving.solve import solve

INFEASIBLE = 1e14
"""Scores from here on are penalties."""


def read_problem(path: Path) -> Problem:
    """Return the problem of a contest's file."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    data = json.loads(content)["problem"]
    nodes, edges = data["nodes"], data["edges"]
    return Problem.of(
        nodes["costs"],
        nodes["usages"],
        [(begin, end) for begin, end in nodes["intervals"]],
        list(zip(edges["nodes"], edges["costs"], strict=True)),
        data.get("usage_limit"),
    )


def best_scores(path: Path) -> dict[str, float]:
    """Return the best score of each instance."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {
        name: min(float(row[name]) for row in rows if row.get(name))
        for name in rows[0]
        if len(name) == 1
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    best = best_scores(options.scores) if options.scores else {}
    print("| instance | nodes | edges | ours | best known | ratio | seconds |")
    print("|---|---|---|---|---|---|---|")
    feasible = near = count = 0
    for path in sorted(options.folder.glob("*.json*")):
        name = path.name.partition(".")[0].rpartition("-")[2]
        if options.only and name not in options.only:
            continue
        start = time.monotonic()
        problem = read_problem(path)
        left = options.seconds - (time.monotonic() - start)
        solution = solve(problem, max(1.0, left))
        known = best.get(name)
        ratio = solution.cost / known if known else float("nan")
        count += 1
        feasible += solution.is_feasible
        near += solution.is_feasible and ratio <= 1.3
        cost = f"{solution.cost:,.0f}" if solution.is_feasible else "infeasible"
        print(
            f"| {name} | {len(problem.costs):,} | {len(problem.edges):,} | {cost} |"
            f" {known or 0:,.0f} | {ratio:.2f} | {time.monotonic() - start:.0f} |",
            flush=True,
        )
    print(f"\n{feasible} of {count} feasible, {near} within 1.3 of the best known")


if __name__ == "__main__":
    main()
