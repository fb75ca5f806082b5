#!/bin/sh
# Health check of the image: health.sh [FILE], where FILE has the arguments of the container's command
# (default: those of process 1). A run is healthy while it makes progress or when its study is finished;
# any other command, for example a report, is healthy as long as the container lives.
set -eu
study=$(tr '\0' '\n' < "${1:-/proc/1/cmdline}" | awk '/^run$/ { run = 1 } run && /\.toml$/ { print; exit }')
[ -z "$study" ] || exec mlaut status --alive "$study"
