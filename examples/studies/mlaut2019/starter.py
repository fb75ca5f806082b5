"""The nine classifiers of the paper's Table 8, and where keras is installed its networks."""

import warnings
from importlib.util import find_spec

from mlaut.errors import UnusableWarning
from mlaut.estimators import instantiate_default_estimators

NINE = [
    "BaselineClassifier",
    "GaussianNaiveBayes",
    "BernoulliNaiveBayes",
    "PassiveAggressiveClassifier",
    "K_Neighbours",
    "SVC",
    "RandomForestClassifier",
    "BaggingClassifier",
    "GradientBoostingClassifier",
]

strategies = instantiate_default_estimators(NINE)
if find_spec("keras"):
    strategies += [
        network
        for network in instantiate_default_estimators(["Neural_Networks"], protocol="paper")
        if "Classification" in network.tasks
    ]
else:
    warnings.warn(
        "left out: the 18 networks, since keras is not installed here; after pip install "
        "'mlaut[keras]', the same command adds them",
        UnusableWarning,
        stacklevel=1,
    )
