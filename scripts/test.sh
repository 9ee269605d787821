#!/bin/sh
# Runs the tests whose path matches the arguments (none: all). The end-to-end tests come last and alone: their
# retention days last seconds, and a busy machine would let a table expire between two of their commands.
set -eu
export NODE_OPTIONS="--experimental-vm-modules --disable-warning=ExperimentalWarning"
status=0
npx jest "$@" --passWithNoTests --maxWorkers 2 --selectProjects unit service || status=1
npx jest "$@" --passWithNoTests --runInBand --selectProjects e2e || status=1
exit $status
