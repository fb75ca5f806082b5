"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.sharing.spaces import Floats as Floats
from mlaut.sharing.spaces import Integers as Integers
