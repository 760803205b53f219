"""The author's scopes of ops: passes, functions and layers, off JAX's locations."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.analysis.attribution.jax_steps import STEPS, text_of
from tests.analysis.attribution.scanned_step import checkpointed
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


def test_functions_that_a_scan_calls_are_in_the_scan_and_its_layers():
    """JAX begins the name stack and the traceback anew in each of them."""
    module = parse_program(checkpointed())
    mark_authored(module)
    InlinePass().apply(make_context(), module)
    found = paths_in(module)
    assert not any("update" in path for path in found)
    logistic = [
        path_text(author_path(op.location))
        for op in module.walk()
        if op.name in ("stablehlo.logistic", "stablehlo.exponential")
    ]
    assert logistic and all(path.endswith("gated") for path in logistic)


def test_what_has_no_gradient_is_in_the_forward_pass():
    module = parse_program(checkpointed())
    mark_authored(module)
    (cosine,) = (op for op in module.walk() if op.name == "stablehlo.cosine")
    assert path_text(author_path(cosine.location)).startswith("forward")


def test_one_function_around_all_that_is_named_has_a_scope():
    assert paths("shard")["local"] > 2
    # a loop in it is no repeated call of it
    assert {path for path in paths("shards") if path} == {
        f"iteration {at}" for at in range(3)
    }


def test_layers_are_counted_in_both_passes():
    found = paths("layers")
    for phase in ("forward", "backward"):
        blocks = {path for path in found if path.startswith(f"{phase} \u203a block")}
        assert blocks == {
            f"{phase} \u203a block {at}{rest}"
            for at in range(3)
            for rest in ("", " \u203a norm")
        }
        assert found[f"{phase} \u203a block 1"] == found[f"{phase} \u203a block 2"]
    assert found["optimizer"]


def test_a_loss_is_called_once_around_its_layers():
    assert {("block", 12)} == {
        (scope.name, scope.calls)
        for op in marked("nested").walk()
        for scope in author_path(op.location)
        if scope.calls > 1
    }


def test_layers_without_gradients_of_their_own_are_counted():
    found = paths("towers")
    for phase in ("forward", "backward"):
        for inner in ("norm", "mixer", "gate"):
            counted = [
                found[f"{phase} \u203a tower {at} \u203a {inner}"] for at in range(3)
            ]
            assert min(counted) > 0, (phase, inner)
    assert found["backward \u203a tower 1 \u203a norm"] > 0
    assert not any("norm 0" in path or "gate 0" in path for path in found)


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


def test_a_function_of_a_layer_that_jax_made_is_the_layer():
    """Calls of one function, each a layer."""
    found = paths("jitted")
    for at in range(3):
        assert found[f"forward \u203a block {at} \u203a norm"] > 0


def test_iterations_of_a_loop_in_the_program_itself():
    assert {f"iteration {at}" for at in range(4)} <= set(paths("loop"))


def test_named_scopes_go_before_functions():
    found = paths("named")
    assert {"encoder \u203a first", "encoder \u203a second"} <= set(found)
    assert not any("block" in path for path in found)


def test_one_call_that_maps_over_leaves_is_one():
    assert not any("update 1" in path for path in paths("mapped"))


@pytest.mark.parametrize("name", STEPS)
def test_marking_twice_is_marking_once(name: str):
    module = parse_program(text_of(name))
    mark_authored(module)
    before = [op.location for op in module.walk()]
    mark_authored(module)
    assert all(
        op.location is old for op, old in zip(module.walk(), before, strict=True)
    )


def test_without_debug_info_nothing_is_marked():
    module = parse_program(text_of("layers", debug_info=False))
    before = [op.location for op in module.walk()]
    mark_authored(module)
    assert [op.location for op in module.walk()] == before
