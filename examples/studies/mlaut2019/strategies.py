"""Strategies of the MLaut study (Kazakov and Király 2019, section 5.4).

All default classifiers, and each of the 18 networks twice: trained as the study did, for one epoch
(its name ends in ``_paper``), and as one would, with early stopping.
"""

from mlaut.estimators import instantiate_default_estimators


def networks(protocol):
    """Give the listed networks with a protocol, for classification."""
    listed = instantiate_default_estimators(["Neural_Networks"], protocol=protocol)
    return [network for network in listed if "Classification" in network.tasks]


strategies = [
    *instantiate_default_estimators(["Classification"]),
    *(network.set_params(name=f"{network.name}_paper") for network in networks("paper")),
    *networks("default"),
]
