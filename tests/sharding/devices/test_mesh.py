"""Meshes in words."""

import pytest

from ttxdsl.sharding.devices.mesh import Mesh, mesh_heading, mesh_titles, mesh_words


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        (Mesh((("data", 2), ("model", 4))), "data=2 x model=4"),
        (Mesh((("data", 2), ("stage", 1))), "data=2"),
        (Mesh((("data", 1),)), "one device"),
        (Mesh(()), "one device"),
        (Mesh((), (3,)), "device 3"),
        (Mesh((("x", 4),), (0, 2, 1, 3)), "x=4, devices in the order 0 2 1 3"),
    ],
)
def test_words(mesh: Mesh, words: str):
    assert mesh_words(mesh) == words


def test_headings():
    data, model = Mesh((("data", 2),)), Mesh((("model", 4),))
    assert mesh_heading(mesh_titles({})) == "no mesh"
    assert mesh_heading(mesh_titles({"mesh": data})) == "mesh data=2"
    both = mesh_heading(mesh_titles({"a": data, "b": model}))
    assert both == "meshes a: data=2; b: model=4"
    assert mesh_words(Mesh((("stage", 1),)), all_axes=True) == "stage=1"
