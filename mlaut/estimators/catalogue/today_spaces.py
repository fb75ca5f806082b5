"""Published search spaces of the learners of the collection ``"Today"``.

``estimator__`` before a parameter means the learner inside `EarlyStopping`. A parameter that the
publication fixes for all candidates has a list of one value; without a search, the learner's
default is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlaut.sharing.spaces import Floats, Integers

TABARENA = (
    "Erickson, Purucker, Tschalzev, Holzmüller, Desai, Salinas and Hutter (2025), TabArena: A "
    "Living Benchmark for Machine Learning on Tabular Data, NeurIPS Datasets and Benchmarks"
)
AUTO_SKLEARN = (
    "Feurer, Eggensperger, Falkner, Lindauer and Hutter (2022), Auto-Sklearn 2.0: Hands-free "
    "AutoML via Meta-Learning, Journal of Machine Learning Research 23(261)"
)

_RATE = Floats(5e-3, 0.1, log=True)


@dataclass(frozen=True)
class PublishedSpace:
    """Search space with its publication.

    Attributes
    ----------
    search_space, source
        As in `Properties`.
    """

    search_space: Mapping[str, Any]
    source: str = TABARENA


def _of_learner(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return a space of the learner inside `EarlyStopping`."""
    return {f"estimator__{name}": values for name, values in space.items()}


SPACES = {
    "XGBoost": PublishedSpace(
        _of_learner(
            {
                "learning_rate": _RATE,
                "max_depth": Integers(4, 10, log=True),
                "min_child_weight": Floats(1e-3, 5.0, log=True),
                "subsample": Floats(0.6, 1.0),
                "colsample_bylevel": Floats(0.6, 1.0),
                "colsample_bynode": Floats(0.6, 1.0),
                "reg_alpha": Floats(1e-4, 5.0),
                "reg_lambda": Floats(1e-4, 5.0),
                "grow_policy": ["depthwise", "lossguide"],
                "max_cat_to_onehot": Integers(8, 100, log=True),
                "max_leaves": Integers(8, 1024, log=True),
            }
        )
    ),
    "LightGBM": PublishedSpace(
        _of_learner(
            {
                "learning_rate": _RATE,
                "colsample_bytree": Floats(0.4, 1.0),
                "subsample": Floats(0.7, 1.0),
                "num_leaves": Integers(2, 200, log=True),
                "min_child_samples": Integers(1, 64, log=True),
                "extra_trees": [False, True],
                "min_data_per_group": Integers(2, 100, log=True),
                "cat_l2": Floats(5e-3, 2.0, log=True),
                "cat_smooth": Floats(1e-3, 100.0, log=True),
                "max_cat_to_onehot": Integers(8, 100, log=True),
                "reg_alpha": Floats(1e-4, 1.0),
                "reg_lambda": Floats(1e-4, 2.0),
            }
        )
    ),
    "CatBoost": PublishedSpace(
        _of_learner(
            {
                "learning_rate": _RATE,
                "bootstrap_type": ["Bernoulli"],
                "subsample": Floats(0.7, 1.0),
                "grow_policy": ["SymmetricTree", "Depthwise"],
                "depth": Integers(4, 8),
                "colsample_bylevel": Floats(0.85, 1.0),
                "l2_leaf_reg": Floats(1e-4, 5.0, log=True),
                "leaf_estimation_iterations": Integers(1, 20, log=True),
                "one_hot_max_size": Integers(8, 100, log=True),
                "model_size_reg": Floats(0.1, 1.5, log=True),
                "max_ctr_complexity": Integers(2, 5),
                "boosting_type": ["Plain"],
                "max_bin": [254],
            }
        )
    ),
    "ExplainableBoosting": PublishedSpace(
        {
            "max_leaves": [2, 3],
            "smoothing_rounds": Integers(0, 1000),
            "learning_rate": Floats(0.0025, 0.2, log=True),
            "interactions": [
                0,
                *(
                    f"{n:g}x"
                    for n in (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, *range(5, 11), 15, 20, 25)
                ),
            ],
            "interaction_smoothing_rounds": Integers(0, 200),
            "min_hessian": Floats(1e-10, 1e-2, log=True),
            "min_samples_leaf": Integers(2, 20),
            "gain_scale": Floats(0.5, 5.0, log=True),
            "min_cat_samples": Integers(5, 20),
            "cat_smooth": Floats(5.0, 100.0, log=True),
            "missing": ["separate", "low", "high", "gain"],
        }
    ),
    # TabArena also draws embeddings of numbers and epochs together, and averages 8 networks.
    "RealMLP": PublishedSpace(
        {
            "n_hidden_layers": [2, 3, 4],
            "hidden_sizes": ["rectangular"],
            "hidden_width": [256, 384, 512],
            "p_drop": Floats(0.0, 0.5),
            "act": ["mish"],
            "plr_sigma": Floats(1e-2, 50.0, log=True),
            "sq_mom": [1 - 5 * 10 ** (-3 + k / 10) for k in range(11)],
            "plr_lr_factor": Floats(5e-2, 0.3, log=True),
            "scale_lr_factor": Floats(2.0, 10.0, log=True),
            "first_layer_lr_factor": Floats(0.3, 1.5, log=True),
            "ls_eps_sched": ["coslog4"],
            "ls_eps": Floats(5e-3, 0.1, log=True),
            "p_drop_sched": ["flat_cos"],
            "lr": Floats(2e-2, 0.3, log=True),
            "wd": Floats(1e-3, 5e-2, log=True),
            "use_ls": [False, True],
            "embedding_size": [4, 8, 16],
        }
    ),
    # TabArena also draws weights and transformations of the table.
    "TabPFN": PublishedSpace(
        {"softmax_temperature": [0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5]}
    ),
    "HistGradientBoosting": PublishedSpace(
        {
            "learning_rate": Floats(0.01, 1.0, log=True),
            "min_samples_leaf": Integers(1, 200, log=True),
            "max_leaf_nodes": Integers(3, 2047, log=True),
            "l2_regularization": Floats(1e-10, 1.0, log=True),
        },
        AUTO_SKLEARN,
    ),
    # TabArena also draws bootstrap=False, where max_samples is left out.
    "RandomForest": PublishedSpace(
        {
            "max_features": Floats(0.4, 1.0),
            "max_samples": Floats(0.5, 1.0),
            "min_samples_split": Integers(2, 4, log=True),
            "min_impurity_decrease": Floats(1e-5, 1e-3, log=True),
        }
    ),
    "ExtraTrees": PublishedSpace(
        {
            "max_features": ["sqrt", 0.5, 0.75, 1.0],
            "min_samples_split": Integers(2, 32, log=True),
            # half of the draws are 0, as in TabArena
            "min_impurity_decrease": [0.0, 0.0, 0.0, 0.0, 0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3],
        }
    ),
}
"""Space of each learner, by the first part of its strategies' names."""
