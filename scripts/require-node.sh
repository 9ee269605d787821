#!/bin/sh
# Says in one sentence what is missing before anything else runs: Lapse needs Node.js 20.19 or later.
advice="Install a current one from https://nodejs.org and run make again."

if ! command -v node >/dev/null 2>&1; then
  echo "lapse: Node.js 20.19 or later is needed, and there is no node on the PATH. $advice" >&2
  exit 1
fi

version=$(node --version | sed 's/^v//')
major=${version%%.*}
rest=${version#*.}
minor=${rest%%.*}
if [ "$major" -lt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -lt 19 ]; }; then
  echo "lapse: Node.js 20.19 or later is needed, and this is $version. $advice" >&2
  exit 1
fi

if ! command -v npm >/dev/null 2>&1; then
  echo "lapse: npm, which comes with Node.js, is not on the PATH. $advice" >&2
  exit 1
fi
