"""One multilevel model of strategies, datasets and folds."""

from mlaut.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "imputation": ("multiple_imputation",),
        "model": ("Multilevel", "multilevel_model"),
    },
)
