"""The commands: each adds its arguments and has one handler."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dsb_ifeval.cli.run_arguments import add_jobs, add_run_arguments, run_options

if TYPE_CHECKING:
    from dsb_ifeval.runner import Recorded
    from dsb_ifeval.score import Score

Work: TypeAlias = Callable[[], int]
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(
    subparsers: Subparsers, name: str, handler: Callable[[argparse.Namespace], Any], text: str
) -> argparse.ArgumentParser:
    summary, _, more = text.partition("\n")
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary}\n{more}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(handler=handler)
    return parser


def add_run(subparsers: Subparsers) -> None:
    """``dsb-ifeval run``."""
    text = """record a system on the cases and score it

Only what is missing is played: stop it at any moment and start it again. Local systems run
as fast as they compute; several processes: `accelerate launch runners/run.py SYSTEM`."""
    add_run_arguments(_command(subparsers, "run", run, text))


def add_score(subparsers: Subparsers) -> None:
    """``dsb-ifeval score``."""
    text = """score a run folder again, from what is on disk

Needs neither the system nor the dataset. Cases that cannot be measured are listed with the
reason; they count neither as passed nor as failed."""
    parser = _command(subparsers, "score", score, text)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder, e.g. runs/cascade")
    add_jobs(parser)


def add_show(subparsers: Subparsers) -> None:
    """``dsb-ifeval show``."""
    text = """show a scored run, or take single cases apart

Give case ids (R2-C1-i1-L2) to see what was measured, against which limit, and why."""
    parser = _command(subparsers, "show", show, text)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder, e.g. runs/cascade")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="case ids to take apart")


def add_systems(subparsers: Subparsers) -> None:
    """``dsb-ifeval systems``."""
    text = """list the systems that can be run by name, and what they still need"""
    _command(subparsers, "systems", systems, text)


def add_spec(subparsers: Subparsers) -> None:
    """``dsb-ifeval spec``."""
    text = """check the benchmark's YAML files and show what they define

Every mistake is listed with file, key and rule. Includes the persona-leakage gates."""
    parser = _command(subparsers, "spec", spec, text)
    parser.add_argument(
        "--folder", type=Path, metavar="DIR", help="another spec folder (default: the built-in)"
    )


ALL = (add_run, add_score, add_show, add_systems, add_spec)


def run(args: argparse.Namespace) -> int:
    """Record, then score."""
    from dsb_ifeval.dataset import Dataset
    from dsb_ifeval.runner import prepare, record

    options = run_options(args)
    dataset = Dataset(options.dataset)
    with options.folder.claimed():
        prepare(options, dataset)
        recorded = record(options, dataset)
        print(recorded_text(recorded, options.folder.path))
    if not args.no_score:
        print_score(options.folder.path, args.jobs, options.progress)
    return 1 if recorded.failed else 0


def score(args: argparse.Namespace) -> int:
    """Score again."""
    print_score(args.run, args.jobs)
    return 0


def show(args: argparse.Namespace) -> int:
    """Print tables, or single cases."""
    from dsb_ifeval.errors import RunError
    from dsb_ifeval.report import case_text, run_table
    from dsb_ifeval.score import load_score

    loaded = load_score(args.run)
    if not args.cases:
        print(run_table(_name(args.run), loaded))
        return 0
    verdicts = {verdict.case_id: verdict for verdict in loaded.verdicts}
    measured = {measurement.case_id: measurement for measurement in loaded.measurements}
    cases = {case.case_id: case for case in loaded.cases}
    for case_id in args.cases:
        if case_id not in cases:
            raise RunError(f"{args.run}: no case {case_id!r} in this run")
        print(case_text(cases[case_id], verdicts[case_id], measured.get(case_id)), end="\n\n")
    return 0


def systems(args: argparse.Namespace) -> int:
    """Print the table of systems."""
    from dsb_ifeval.adapters import SYSTEMS, missing_packages

    for entry in SYSTEMS.values():
        missing = missing_packages(entry)
        state = f"needs: {entry.install}" if missing else "ready"
        print(f"{entry.name:12} {entry.summary}\n{'':12} {state}")
    return 0


def spec(args: argparse.Namespace) -> int:
    """Load and check the specification."""
    from dsb_ifeval.benchmark import check_personas, load_benchmark

    benchmark = load_benchmark(args.folder)
    print(
        f"spec {benchmark.version}: {len(benchmark.roles)} roles, {len(benchmark.probes)} probes, "
        f"{len(benchmark.actions)} actions, {len(benchmark.systems)} systems; no mistakes"
    )
    print("persona leakage (B.6): overlap with the directive, persona words, shared words")
    problems = 0
    for result in check_personas(benchmark):
        shared = ", ".join(result.overlap.shared) or "(none)"
        print(f"  {result.role_id}  {result.overlap.jaccard:.3f}  {result.persona_words}  {shared}")
        for problem in result.problems:
            print(f"      fails: {problem}")
        problems += len(result.problems)
    return 1 if problems else 0


def recorded_text(recorded: Recorded, folder: Path) -> str:
    """What a recording step did, in one line."""
    if not recorded.played:
        return f"nothing left to record in {folder}"
    speed = recorded.audio_s / recorded.wall_s if recorded.wall_s else float("inf")
    failed = f", {recorded.failed} failed" if recorded.failed else ""
    workers = f" by {recorded.processes} processes" if recorded.processes > 1 else ""
    return (
        f"recorded {recorded.played} sessions{failed}{workers}: {recorded.audio_s:.0f} s of audio "
        f"in {recorded.wall_s:.1f} s ({speed:.0f}x real time) -> {folder}"
    )


def print_score(folder: Path, jobs: int, progress: bool = True) -> Score:
    """Score a run folder and print its tables."""
    from dsb_ifeval.report import run_table
    from dsb_ifeval.score import score_run

    scored = score_run(folder, jobs, progress)
    print(run_table(_name(folder), scored))
    print(f"\nrun folder: {folder}")
    return scored


def _name(folder: Path) -> str:
    from dsb_ifeval.runfolder import RunFolder

    return str(RunFolder(folder).info()["system"])
