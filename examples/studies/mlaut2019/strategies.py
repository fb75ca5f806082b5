"""Strategies of the MLaut study (Kazakov and Király 2019, section 5.4).

The study's classifiers and histogram boosting, by name, so that a later default strategy does not
join; and its 18 networks trained as the study did, for one epoch. The names of the networks end in
``_paper``, since ``trained.toml`` runs the same networks as one would train them.
"""

from mlaut.estimators import instantiate_default_estimators

CLASSIFIERS = [
    "BaselineClassifier",
    "GaussianNaiveBayes",
    "BernoulliNaiveBayes",
    "LogisticRegression",
    "PassiveAggressiveClassifier",
    "K_Neighbours",
    "SVC",
    "DecisionTreeClassifier",
    "RandomForestClassifier",
    "BaggingClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",  # not in the study of 2019
]

networks = [
    network
    for network in instantiate_default_estimators(["Neural_Networks"], protocol="paper")
    if "Classification" in network.tasks
]
strategies = [
    *instantiate_default_estimators(CLASSIFIERS),
    *(network.set_params(name=f"{network.name}_paper") for network in networks),
]
for strategy in strategies:
    if "12-layer" in strategy.name:  # 82 million weights: a second and more a batch of 32 rows
        strategy.set_params(size_limit={"rows": 700})
