"""Machines: presets, files, and which link a collective goes over."""

from dataclasses import replace

import pytest

from ttxdsl.costs.chips import CHIPS
from ttxdsl.costs.links import Link, Shape
from ttxdsl.costs.machines import PRESETS, Level, Machine, machine_of
from ttxdsl.costs.ring import Ring

NEAR, FAR, NAMED = Link(1e-6, 100e9, Shape.ALL), Link(1e-5, 10e9), Link(1e-6, 5e9)
MACHINE = Machine(
    link=NEAR,
    levels=(Level(4, FAR),),
    axes=(("slow", NAMED),),
    product_passes=(("i8", 0.5), ("f64", 18.0)),
)


@pytest.mark.parametrize("machine", [*PRESETS.values(), MACHINE], ids=str)
def test_a_file_has_all_of_it(machine: Machine):
    assert machine_of(machine.to_json()) == machine


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", '{"wheels": 4}', '{"link": {"shape": "star"}}', '{"link": 3}'),
        *('{"op_seconds": NaN}', '{"operations_per_second": "5"}', '{"axes": 5}'),
        '{"levels": [{"devices": 0, "link": {}}]}',
        '{"levels": [{"devices": 1e999, "link": {}}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_machine(text: str):
    with pytest.raises(ValueError):
        machine_of(text)


def test_the_link_of_a_collective():
    assert MACHINE.link_of(("x",), ((0, 1), (2, 3))) == NEAR
    assert MACHINE.link_of(("x",), ((0, 4), (1, 5))) == FAR
    assert MACHINE.link_of(None, ((0, 3), (2, 5))) == FAR
    assert MACHINE.link_of(("slow",), ((0, 1),)) == NAMED
    assert MACHINE.link_of(("slow", "x"), ((0, 1),)) == NAMED, "the slowest of them"
    fast = replace(MACHINE, axes=(("fast", NEAR),))
    assert fast.link_of(("fast", "x"), ((0, 4),)) == FAR


def test_a_chip_has_links_along_axes_too():
    """They say what no slice does: which axis of a mesh is the slow network."""
    chip = replace(CHIPS["v5p"], axes=(("data", NAMED),))
    whole, halves = chip.machine(8), CHIPS["v5p"].machine(8)
    groups = ((0, 4), (1, 5), (2, 6), (3, 7))

    def seconds(machine: Machine, *axes: str) -> float:
        return machine.collective_seconds(Ring.ALL_REDUCE, 1 << 30, 2, axes, groups)

    assert seconds(whole, "fsdp") == seconds(halves, "fsdp")
    assert seconds(whole, "data") == NAMED.seconds_of_bytes(Ring.ALL_REDUCE, 1 << 30, 2)
    assert seconds(whole, "data", "fsdp") == seconds(whole, "data")
    assert seconds(whole, "data") > seconds(halves, "data")


def test_products_take_the_passes_of_their_slowest_numbers():
    times = {
        numbers: MACHINE.seconds(1 << 40, 0, numbers=numbers)
        / MACHINE.seconds(1 << 40, 0)
        for numbers in ((), ("bf16", "i8"), ("i8", "i8"), ("i8", "f64"))
    }
    assert list(times.values()) == [1, 1, 0.5, 18]


def test_small_messages_go_by_the_tree():
    """Between all in 3 rounds, in a ring 7 links far; large ones in a ring in 14."""
    latency = {shape: Link(1.0, 1e9, shape) for shape in Shape}
    for shape, rounds in ((Shape.ALL, 3), (Shape.RING, 7), (Shape.LINE, 7)):
        found = latency[shape].seconds(Ring.ALL_REDUCE, 8, 8)
        assert found == pytest.approx(rounds, abs=1e-6)
    large = Link(1e-6, 1e9).seconds(Ring.ALL_REDUCE, 1 << 30, 8)
    assert large == pytest.approx(14e-6 + 2 * 7 / 8 * (1 << 30) / 1e9)


def test_a_line_has_one_link_in_its_middle():
    held = 1 << 30
    times = [
        Link(0, 1e9, shape).seconds(Ring.ALL_TO_ALL, held, 16)
        for shape in (Shape.ALL, Shape.RING, Shape.LINE)
    ]
    assert times == pytest.approx([held * n / 1e9 for n in (15 / 16, 2, 4)])


@pytest.mark.parametrize("kind", Ring)
@pytest.mark.parametrize("shape", Shape)
def test_more_bytes_never_take_less(kind: Ring, shape: Shape):
    link = Link(1e-6, 1e9, shape, setup=1e-6)
    for n in (2, 3, 4, 7, 8, 32):
        times = [link.seconds(kind, held, n) for held in (1, 64, 4096, 1 << 20)]
        assert times == sorted(times)


def test_impossible_machines():
    with pytest.raises(ValueError, match="more than 0 a second"):
        Machine(memory_bytes_per_second=0.0)
    with pytest.raises(ValueError, match="nothing takes less than 0"):
        Machine(op_seconds=-1.0)


def test_a_group_goes_along_the_dimensions_that_have_as_many_devices():
    """Of 4 x 4 x 8 chips, 32 are in two dimensions, whatever the third does."""
    machine = CHIPS["v5p"].machine(128)

    def seconds(group: int) -> float:
        return machine.collective_seconds(Ring.ALL_GATHER, 1 << 30, group)

    link = CHIPS["v5p"].link
    for group, dimensions in ((4, 1), (32, 2), (128, 3)):
        speed = dimensions * 2 * link.bytes_per_second
        together = replace(link, bytes_per_second=speed)
        expected = together.seconds_of_bytes(Ring.ALL_GATHER, 1 << 30, group)
        assert seconds(group) == expected, group


def test_the_two_devices_of_a_chip_have_a_link_of_their_own():
    machine = CHIPS["7x"].machine(8)
    assert CHIPS["7x"].compiler is CHIPS["v6e"].compiler

    def seconds(pair: tuple[int, int]) -> float:
        return machine.collective_seconds(Ring.ALL_GATHER, 1 << 30, 2, groups=[pair])

    assert seconds((2, 3)) < seconds((1, 2)) / 5
    # among whom nobody says: no pair is assumed
    unsaid = machine.collective_seconds(Ring.ALL_GATHER, 1 << 30, 2)
    assert unsaid == seconds((1, 2))


def test_kernels_reach_less_than_products():
    machine = CHIPS["v6e"].machine(4)
    product, kernel = (
        machine.seconds(10**12, 0, is_kernel=flag) for flag in (False, True)
    )
    assert product == pytest.approx(kernel * CHIPS["v6e"].kernel_efficiency)


@pytest.mark.parametrize("overlap", [-0.1, 1.1, float("nan")])
def test_computing_hides_no_more_than_all(overlap: float):
    with pytest.raises(ValueError, match="hides"):
        Machine(overlap=overlap)
