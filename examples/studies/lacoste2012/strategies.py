"""The two strategies with a Gaussian kernel again, on features of mean 0 and standard deviation 1.

The appendix scales features for the network alone. What these find says what that does. The
support vector machine is tried on up to 1,000 training rows.
"""

from sklearn.pipeline import make_pipeline

from mlaut.estimators import Preprocessor, as_strategies
from mlaut.estimators.catalogue.lacoste_estimators import UnitDistance


def scaled(strategy, **parameters):
    """Scale the features before the kernel does, and say so in the name."""
    steps = make_pipeline(Preprocessor(normalize_features=True), UnitDistance())
    name = f"{strategy.name}_scaled"
    return strategy.set_params(name=name, preprocessing=steps, **parameters)


machine, window = as_strategies(["Lacoste_SVM", "Lacoste_Parzen"])
strategies = [scaled(machine, size_limit={"rows": 1000}), scaled(window)]
