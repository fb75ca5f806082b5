"""Where the public names are defined, for type checkers; written by tools/stubs.py."""

from mlaut.analysis.placing.few_datasets import Placing as Placing
from mlaut.analysis.placing.few_datasets import choose_datasets as choose_datasets
from mlaut.analysis.placing.published_places import beside_published as beside_published
from mlaut.analysis.placing.published_places import place as place
from mlaut.analysis.placing.published_places import reproduction as reproduction
