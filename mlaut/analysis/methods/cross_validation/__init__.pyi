"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.analysis.methods.cross_validation.fold_tests import cv_differences as cv_differences
from mlaut.analysis.methods.cross_validation.fold_tests import cv_test as cv_test
from mlaut.analysis.methods.cross_validation.fold_tests import cv_test_datasets as cv_test_datasets
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_interval as cv_interval
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_p_values as cv_p_values
from mlaut.analysis.methods.cross_validation.repeated_cv import cv_statistic as cv_statistic
from mlaut.analysis.methods.cross_validation.repeated_cv import retrained_mean_estimates as retrained_mean_estimates
from mlaut.analysis.methods.cross_validation.statistics import CV_TESTS as CV_TESTS
