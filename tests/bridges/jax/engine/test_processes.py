"""Two processes with four devices each, which find each other by `jax.distributed`."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.differential.oracle import XLA_FLAGS

ROOT = Path(__file__).parents[4]
LIMIT = 180
"""Seconds until a process that waits for the other is ended."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


def test_two_processes_of_four_devices():
    settings = {
        "XLA_FLAGS": f"{XLA_FLAGS} --xla_force_host_platform_device_count=4",
        "JAX_PLATFORMS": "cpu",
    }
    port = str(free_port())
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.bridges.jax.engine.processes",
                str(process),
                port,
            ],
            cwd=ROOT,
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for process in range(2)
    ]
    try:
        told = [worker.communicate(timeout=LIMIT) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    for worker, (out, err) in zip(workers, told, strict=True):
        assert worker.returncode == 0, err
        found = json.loads(next(line for line in out.splitlines() if line[:1] == "{"))
        assert found == {"devices": 8, "parts": 4, "whole": False, "ok": True}
