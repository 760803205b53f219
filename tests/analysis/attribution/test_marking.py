"""The author's scopes of ops: passes, functions and layers, off JAX's locations."""

from collections import Counter
from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.analysis.attribution.jax_steps import STEPS, text_of
from ttxdsl.analysis.attribution.authored import author_path, layer_of, path_text
from ttxdsl.analysis.attribution.marking import mark_authored
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.inline import InlinePass


@cache
def marked(name: str) -> ModuleOp:
    """A program with its marks, calls inlined."""
    module = parse_program(text_of(name))
    mark_authored(module)
    InlinePass().apply(make_context(), module)
    return module


def paths(name: str) -> Counter[str]:
    """How many ops each path has."""
    return paths_in(marked(name))


def paths_in(module: ModuleOp) -> Counter[str]:
    return Counter(path_text(author_path(op.location)) for op in module.walk())


def test_one_function_around_all_that_is_named_has_a_scope():
    assert paths("shard")["local"] > 2
    # a loop in it is no repeated call of it
    assert {path for path in paths("shards") if path} == {
        f"iteration {at}" for at in range(3)
    }


def test_the_pass_of_what_is_on_shards_is_that_of_its_shard_map():
    found = paths("manual")
    first = {path.partition(" \u203a ")[0] for path in found if path}
    assert first <= {"forward", "backward", "optimizer"}
    for phase in ("forward", "backward"):
        for at in range(3):
            assert any(
                path.startswith(phase) and f"block {at}" in path for path in found
            ), (phase, at)


def test_a_backward_layer_has_the_number_of_its_forward_layer():
    """The first that the backward pass meets is the last of the forward pass."""
    layers = [
        layer
        for op in marked("layers").walk()
        if (path := author_path(op.location)) and path[0].name == "backward"
        if (layer := layer_of(path))
    ]
    assert list(dict.fromkeys(layers)) == ["block 2", "block 1", "block 0"]


def test_what_is_computed_again_is_apart():
    found = paths("checkpoints")
    assert any("block 0 \u203a recomputed" in path for path in found)
    assert any(path.endswith("block 0 \u203a norm") for path in found)
    assert not any("text_of" in path for path in found)


@pytest.mark.parametrize("name", STEPS)
def test_marking_twice_is_marking_once(name: str):
    module = parse_program(text_of(name))
    mark_authored(module)
    before = [op.location for op in module.walk()]
    mark_authored(module)
    assert all(
        op.location is old for op, old in zip(module.walk(), before, strict=True)
    )
