"""The arguments of a run, shared by ``dsb-ifeval run`` and ``runners/run.py``."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsb_ifeval.runner import RunOptions


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """What to run, on which cases, and where to."""
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        help="a name from `dsb-ifeval systems`, or your own: path/to/file.py:ClassName",
    )
    parser.add_argument(
        "--dataset",
        type=Path,
        default=Path("dsb-ifeval"),
        metavar="DIR",
        help="dataset folder (default: %(default)s)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: runs/SYSTEM)")
    cases = parser.add_argument_group("which cases (default: all)")
    cases.add_argument("--levels", nargs="+", metavar="L", help="L0 L1 L2 L3 L4a L4b")
    cases.add_argument("--roles", nargs="+", metavar="R", help="R1 ... R8")
    cases.add_argument("--probes", nargs="+", metavar="P", help="C1 ... C4, R1_A, ...")
    cases.add_argument("--instances", nargs="+", type=int, metavar="N", help="1 ... 5")
    cases.add_argument("--limit", type=int, metavar="N", help="at most N of them, in order")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="keyword argument of the system, JSON or text; may be repeated (--option seed=1)",
    )
    parser.add_argument("--no-progress", action="store_true", help="no progress bar")
    parser.add_argument(
        "--no-score", action="store_true", help="only record; score later with `dsb-ifeval score`"
    )
    add_jobs(parser)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """How many processes score."""
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes for scoring (default: %(default)s)",
    )


def run_options(args: argparse.Namespace) -> RunOptions:
    """Parsed arguments as run options.

    Raises:
        RunError: an ``--option`` without a name.
    """
    from dsb_ifeval.plan import Selection
    from dsb_ifeval.runner import RunOptions

    selection = Selection(
        levels=_split(args.levels),
        roles=_split(args.roles),
        probes=_split(args.probes),
        instances=tuple(args.instances or ()),
        limit=args.limit,
    )
    return RunOptions(
        system=args.system,
        dataset=args.dataset,
        out=args.out,
        options=dict(_option(text) for text in args.option),
        selection=selection,
        progress=not args.no_progress,
    )


def _split(values: Sequence[str] | None) -> tuple[str, ...]:
    """Accept ``L1 L2`` and ``L1,L2``."""
    return tuple(part for value in values or () for part in value.split(",") if part)


def _option(text: str) -> tuple[str, Any]:
    from dsb_ifeval.errors import RunError

    name, sign, value = text.partition("=")
    if not sign or not name:
        raise RunError(f"--option {text!r}: expected NAME=VALUE, e.g. seed=1")
    try:
        return name, json.loads(value, parse_constant=_no_number)
    except ValueError:
        return name, value


def _no_number(constant: str) -> None:
    from dsb_ifeval.errors import RunError

    raise RunError(f"--option: {constant} is not a number that a run folder can keep")
