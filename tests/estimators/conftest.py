"""One thread for the libraries below scikit-learn, as in the tests of shared work."""

from ..sharing.conftest import _one_thread  # noqa: F401
