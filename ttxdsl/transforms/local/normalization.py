"""Batch normalizations."""

from ttxdsl.dialects import stablehlo
from ttxdsl.transforms.local.by_factors import by_factors
from ttxdsl.transforms.local.localizer import Table

LOCALIZERS: Table = {
    stablehlo.BatchNormInferenceOp: by_factors,
    stablehlo.BatchNormTrainingOp: by_factors,
    stablehlo.BatchNormGradOp: by_factors,
}
