#!/usr/bin/env bash
# From a fresh clone to a score: installs into .venv, builds the conversations with the
# embedded fast voice, plays them to the embedded agent, scores. No key, no GPU, no model hub.
# Run it again at any time: what is there is kept, only what is missing is made.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
began=$SECONDS

ensure_environment 'score,run,cascade,builder'
installed=$SECONDS

echo "== building the conversations (fast voice)"
"$PYTHON" -m dataset_builder build --engine hibari --out dsb-ifeval
built=$SECONDS

echo "== playing them to the embedded agent, L0 to L3"
# The agent runs on the CPU, one process per core; --multi_gpu is accelerate's word for several
# processes, also without GPUs.
CUDA_VISIBLE_DEVICES='' "$VENV/bin/accelerate" launch --multi_gpu --num_processes 2 \
  --num_machines 1 --mixed_precision no --dynamo_backend no \
  runners/run.py cascade --dataset dsb-ifeval --out runs/quickstart --levels L0 L1 L2 L3

echo
echo "install $((installed - began)) s, dataset $((built - installed)) s," \
  "run and score $((SECONDS - built)) s, all $((SECONDS - began)) s"
echo "one case taken apart:   $VENV/bin/dsb-ifeval show runs/quickstart R2-C1-i1-L2"
