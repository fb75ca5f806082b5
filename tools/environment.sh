#!/bin/sh
# Make a virtual environment: tools/environment.sh FOLDER [PYTHON]
# Debian and Ubuntu ship Python without venv; where that is so, and this may be done, it is installed.
set -eu
folder=$1
python=${2:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "MLaut needs Python 3.11 or newer; $("$python" --version) is here. Name another: make PYTHON=python3.12" >&2
    exit 1
}
"$python" -c 'import venv, ensurepip' 2>/dev/null || {
    version=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    root=$([ "$(id -u)" = 0 ] || echo sudo)
    echo "Python has no venv here: installing Debian's package $version"
    { $root apt-get update -qq && $root apt-get install -y -qq "$version"; } || {
        echo "That failed. Install it by hand: apt-get install $version" >&2
        exit 1
    }
}
"$python" -m venv "$folder"
