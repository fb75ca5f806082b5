"""The two strategies with a Gaussian kernel again, on features of mean 0 and standard deviation 1.

The appendix scales features for the network alone. What these find says what that does.
"""

from sklearn.pipeline import make_pipeline

from mlaut.estimators import Preprocessor, as_strategies
from mlaut.estimators.lacoste_estimators import UnitDistance


def scaled(strategy):
    """Scale the features before the kernel does, and say so in the name."""
    steps = make_pipeline(Preprocessor(normalize_features=True), UnitDistance())
    return strategy.set_params(name=f"{strategy.name}_scaled", preprocessing=steps)


strategies = [scaled(kernel) for kernel in as_strategies(["Lacoste_SVM", "Lacoste_Parzen"])]
