"""Where the public names are defined: for type checkers, and for `mlaut.lazy`."""

from mlaut.bundles.extending import extend_bundle as extend_bundle
from mlaut.bundles.extending import verify_bundle as verify_bundle
from mlaut.bundles.manifest import Bundle as Bundle
from mlaut.bundles.opening import open_bundle as open_bundle
from mlaut.bundles.publishing import publish_study as publish_study
