#!/usr/bin/env bash
# Runs the tests in .venv (made and installed when needed). Arguments go to pytest:
#   bash scripts/test.sh                     everything
#   bash scripts/test.sh -m 'not speech and not slow'     unit tests alone, under a minute
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
ensure_environment 'score,run,cascade,cascade-llm,builder,bench,dev'
# two processes, whole files each, so that fixtures shared by a file are made once
exec "$PYTHON" -m pytest --numprocesses 2 --dist loadfile "$@"
