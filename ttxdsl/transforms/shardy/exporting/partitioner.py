"""The passes from a program with reshards to that of one device, as far as is asked for.

Source: Shardy's `addPartitionerPipeline`, which jaxlib has after 0.10.
"""

from dataclasses import dataclass

from xdsl.passes import ModulePass

from ttxdsl.dialects import sdy
from ttxdsl.errors import CompileError
from ttxdsl.transforms.shardy.canonicalize import LabelledCanonicalizePass
from ttxdsl.transforms.shardy.exporting.sdy_convert_global_to_local import (
    ConvertGlobalToLocalPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_and_mesh import (
    DropShardingAndMeshPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_optimize_collectives import (
    SdyOptimizeCollectivesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_pad_for_divisibility import (
    PadForDivisibilityPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_reshard_to_collectives import (
    ReshardToCollectivesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_resolve_permutation_factors import (
    ResolvePermutationFactorsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_resolve_single_device_sharding import (
    ResolveSingleDeviceShardingPass,
)

UNSPECIFIED = "unspecified"
"""The stage before all others."""

ALL_STAGES = "convert-global-to-local"
"""The last one."""


@dataclass(frozen=True)
class Partitioner:
    """What its passes are told; the options of the passes of these names."""

    enable_halo_exchange: bool = True
    replica_count: int = 1
    partition_count: int = 1
    rng_bit_generator_unsafe: bool = True

    def stages(self) -> dict[str, list[ModulePass]]:
        """The passes of each stage, in order."""
        return {
            UNSPECIFIED: [],
            "resolve-permutation-factors": [
                ResolvePermutationFactorsPass(
                    enable_halo_exchange=self.enable_halo_exchange,
                    replica_count=self.replica_count,
                    partition_count=self.partition_count,
                    rng_bit_generator_unsafe=self.rng_bit_generator_unsafe,
                    newest=True,
                )
            ],
            "reshard-to-collectives": [ReshardToCollectivesPass()],
            "optimize-collectives": [
                SdyOptimizeCollectivesPass(),
                LabelledCanonicalizePass(sdy.COLLECTIVE_LABEL),
            ],
            "pad-for-divisibility": [PadForDivisibilityPass(newest=True)],
            "resolve-single-device-sharding": [
                ResolveSingleDeviceShardingPass(
                    self.replica_count, self.partition_count
                )
            ],
            ALL_STAGES: [
                ConvertGlobalToLocalPass(
                    enable_rgv3=True,
                    replica_count=self.replica_count,
                    partition_count=self.partition_count,
                    newest=True,
                ),
                DropShardingAndMeshPass(),
            ],
        }

    def passes(self, last: str, *, after: str = UNSPECIFIED) -> list[ModulePass]:
        """The passes behind one stage, up to and with those of another.

        Raises:
            CompileError: there is no stage of that name.
        """
        stages = self.stages()
        names = [*stages]
        for name in (last, after):
            if name not in stages:
                raise CompileError(
                    f"no partitioner-stage '{name}'; there are {', '.join(names)}"
                )
        chosen = names[names.index(after) + 1 : names.index(last) + 1]
        return [one for name in chosen for one in stages[name]]
