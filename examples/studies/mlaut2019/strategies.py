"""Strategies of the MLaut study (Kazakov and Király 2019, section 5.4).

All default classifiers, and the 18 networks trained as the study did, for one epoch; the names of
these end in ``_paper``, since ``trained.toml`` runs the same networks as one would train them.
"""

from mlaut.estimators import instantiate_default_estimators

networks = [
    network
    for network in instantiate_default_estimators(["Neural_Networks"], protocol="paper")
    if "Classification" in network.tasks
]
strategies = [
    *instantiate_default_estimators(["Classification"]),
    *(network.set_params(name=f"{network.name}_paper") for network in networks),
]
for strategy in strategies:
    if "12-layer" in strategy.name:  # 82 million weights: a second and more a batch of 32 rows
        strategy.set_params(size_limit={"rows": 400})
