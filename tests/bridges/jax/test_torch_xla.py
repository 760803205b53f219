"""Programs as torch-xla exports them: torch's numbers, on the mesh that they were for."""

from pathlib import Path

import numpy as np
import pytest

import ttxdsl

FOLDER = Path(__file__).parent / "torch_xla"
MESHES = {
    "mlp_other_order": '<["_axis_0"=2, "_axis_1"=4], device_ids=[0, 2, 4, 6, 7, 5, 3, 1]>'
}
PLAIN = '<["_axis_0"=2, "_axis_1"=4]>'


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda p: p.stem)
def test_numbers(path: Path):
    given = np.load(path.with_suffix(".npz"))
    arguments = [given[name] for name in given if name.startswith("argument")]
    wanted = [given[name] for name in given if name.startswith("result")]
    program = ttxdsl.load(path)
    one_device = program.simulate(*arguments)
    partitioned = program.partition()
    mesh = MESHES.get(path.stem, PLAIN)
    assert f"sdy.mesh @mesh = {mesh}" in partitioned.text
    assert partitioned.collectives()
    for found in (
        one_device,
        partitioned.simulate(*arguments),
        partitioned.lower("ttnn").simulate(*arguments),
    ):
        for got, value in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-3, atol=1e-4)
