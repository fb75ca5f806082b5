"""Families of scikit-learn's estimators, and pipelines, whose candidates share work."""

from mlaut_sharing.boosting import Boosted
from mlaut_sharing.ensembles import Ensembles
from mlaut_sharing.forests import Bags, Forests
from mlaut_sharing.interface import Sharer
from mlaut_sharing.kernels import GaussianMachines
from mlaut_sharing.linear import LarsPaths, Lassos, Passives, Ridges
from mlaut_sharing.neighbours import Neighbours
from mlaut_sharing.pipelines import Pipelines
from mlaut_sharing.trees import Trees

FAMILIES: tuple[Sharer, ...] = (
    Neighbours(),
    GaussianMachines(),
    Trees(),
    Forests(),
    Bags(),
    Boosted(),
    Ensembles(),
    Ridges(),
    Lassos(),
    LarsPaths(),
    Passives(),
    Pipelines(),
)
