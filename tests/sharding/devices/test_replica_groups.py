from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, Strategy, expand_groups

MESH = Mesh((("x", 2), ("y", 4)))


def processes(groups: Groups, strategy: Strategy) -> list[list[tuple[int, int]]]:
    """(replica, partition) of four replicas of two partitions."""
    found = expand_groups(groups, strategy, 8, 2)
    return [[divmod(process, 2) for process in group] for group in found]


def test_strategies_follow_the_specification():
    assert processes(((0, 1), (2, 3)), "cross_replica") == [
        [(0, 0), (1, 0)],
        [(0, 1), (1, 1)],
        [(2, 0), (3, 0)],
        [(2, 1), (3, 1)],
    ]
    assert processes(((0, 1),), "cross_partition") == [
        [(r, 0), (r, 1)] for r in range(4)
    ]
    assert processes(((0, 1), (2, 3)), "cross_replica_and_partition") == [
        [(0, 0), (1, 0), (0, 1), (1, 1)],
        [(2, 0), (3, 0), (2, 1), (3, 1)],
    ]
    assert processes(((0, 1, 2, 3), (4, 5, 6, 7)), "flattened_ids") == [
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        [(2, 0), (2, 1), (3, 0), (3, 1)],
    ]
