"""Run a system under ``accelerate``: one process, or one per GPU or core.

::

    accelerate launch runners/run.py cascade --levels L0 L1 L2 L3
    accelerate launch --multi_gpu --num_processes 2 runners/run.py cascade

Takes the arguments of ``dsb-ifeval run`` and gives the same run folder, whatever the number
of processes. A waveform's cases stay in one process; a killed run is resumed by the same
command.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from contextlib import ExitStack
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dsb_ifeval.cli import guarded
from dsb_ifeval.cli.commands import print_score, recorded_text
from dsb_ifeval.cli.run_arguments import add_run_arguments, run_options

if TYPE_CHECKING:
    from dsb_ifeval.dataset import Dataset
    from dsb_ifeval.runner import RunOptions

# Processes finish at different times; none may give up waiting for a slow one.
_PATIENCE = timedelta(days=7)


def main() -> int:
    """Parse, run this process's share, score on the main process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_run_arguments(parser)
    args = parser.parse_args()
    threading.Thread(target=_end_with_the_launcher, daemon=True).start()
    return guarded(lambda: run(args))


def run(args: argparse.Namespace) -> int:
    """One process's part of the run."""
    from dsb_ifeval.dataset import Dataset
    from dsb_ifeval.runner import prepare

    state = _state()
    options = run_options(args)
    dataset = Dataset(options.dataset)
    with ExitStack() as stack:
        with state.main_process_first():
            if state.is_main_process:
                stack.enter_context(options.folder.claimed())
                prepare(options, dataset)
        return _play(args, options, dataset, state)


def _play(args: argparse.Namespace, options: RunOptions, dataset: Dataset, state: Any) -> int:
    from accelerate.utils import gather_object

    from dsb_ifeval.runner import record, together

    own = record(options, dataset, state.process_index, state.num_processes)
    parts = gather_object([own])  # also waits for everyone
    recorded = together(parts)
    if state.is_main_process:
        print(recorded_text(recorded, options.folder.path), flush=True)
        if not args.no_score:
            print_score(options.folder.path, args.jobs, options.progress)
    state.destroy_process_group()
    return 1 if recorded.failed else 0


def _end_with_the_launcher() -> None:
    """A worker whose launcher was killed would keep the run folder, or wait for the others."""
    launcher = os.getppid()
    while os.getppid() == launcher:
        time.sleep(0.5)
    os._exit(1)


def _state() -> Any:
    import torch
    from accelerate import PartialState

    from dsb_ifeval.errors import RunError

    # On a machine without GPUs the process group must be told to use the CPU, or every
    # process believes to be the only one and plays everything.
    state = PartialState(cpu=not torch.cuda.is_available(), timeout=_PATIENCE)
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if state.num_processes != expected:
        raise RunError(
            f"accelerate started {expected} processes but sees {state.num_processes}; "
            "launch with --multi_gpu --num_processes N (also on CPUs)"
        )
    return state


if __name__ == "__main__":
    sys.exit(main())
