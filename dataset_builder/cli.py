"""Command line of the builder. Only the standard library until a command runs."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dsb_ifeval.errors import DsbError

from . import RELEASED_ENGINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsb_ifeval.benchmark.model import Benchmark

    from .scripts import Script

_DESCRIPTION = """\
Build the DSB-IFEval dataset from the scripts in dataset_builder/conversations.

  check    read every script and apply the structural gates; no audio, under a second
  build    speak the scripts, assemble the turns and write the dataset folder
  engines  list the speech engines, and what is missing to use them

A first build, in under a minute, with the fast single-voice engine:

  python -m dataset_builder build --engine hibari --out dsb-ifeval

The published dataset uses the 27 voices of kokoro, at about 3.5 times real time on two cores:

  python -m dataset_builder build --engine kokoro --out dsb-ifeval

Then, from the folder's parent: datasets.load_dataset("dsb-ifeval").
"""
_BUILD = """\
Speaks every segment that the cache does not hold, assembles turns with exact silences, expands
them into cases and replaces the dataset folder at the end, so that a killed build leaves the
old dataset as it was. Run it again to go on: finished segments are kept.

  python -m dataset_builder build --engine hibari --only R1,R2-C2 --out /tmp/few/dsb-ifeval

Segments that miss their target duration by more than the tolerance reject the build; rewrite
them, or use --keep-off-target for a dataset to experiment with.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status (0 done, 2 a fault the user can act on)."""
    arguments = _parser().parse_args(argv)
    warnings.showwarning = _show_warning
    try:
        _COMMANDS[arguments.command](arguments)
    except DsbError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m dataset_builder", description=_DESCRIPTION, formatter_class=raw
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="apply the gates to the scripts")
    build = commands.add_parser(
        "build", help="build the dataset folder", description=_BUILD, formatter_class=raw
    )
    for command in (check, build):
        command.add_argument(
            "--only",
            metavar="IDS",
            help="conversation ids or their beginnings, comma-separated: R1,R2-C1,R3-R3_A-i2",
        )
        command.add_argument(
            "--conversations", type=Path, metavar="DIR", help="scripts (default: the project's)"
        )
    build.add_argument(
        "--engine", default=RELEASED_ENGINE, help="hibari (fast, one voice) or kokoro (default)"
    )
    build.add_argument(
        "--out",
        type=Path,
        default=Path("dsb-ifeval"),
        metavar="DIR",
        help="dataset folder to write or replace (default: %(default)s)",
    )
    build.add_argument(
        "--jobs", type=_positive, metavar="N", help="speech processes (default: engine and cores)"
    )
    build.add_argument(
        "--cache",
        type=Path,
        default=Path(".cache/dsb-ifeval/segments"),
        metavar="DIR",
        help="segment cache (default: %(default)s); converted models go beside it",
    )
    build.add_argument(
        "--keep-off-target",
        action="store_true",
        help="write the dataset although segments miss their target duration",
    )
    commands.add_parser("engines", help="list the speech engines")
    return parser


def _check(arguments: argparse.Namespace) -> None:
    benchmark, scripts = _load(arguments)
    streams = {script.audio_key for script in scripts}
    print(f"{len(scripts)} conversations ({len(streams)} texts) pass the structural gates")
    grid = len(benchmark.instances) * sum(len(role.actions) for role in benchmark.roles.values())
    if not arguments.only and len(scripts) < grid:
        print(f"the full grid has {grid}: {grid - len(scripts)} are not written yet")


def _build(arguments: argparse.Namespace) -> None:
    from . import build, report
    from .engines import create_engine
    from .gates import check_durations
    from .packages import WRITER, require
    from .progress import SegmentBar

    require("writing the dataset", WRITER)
    models = arguments.cache.parent / "models"
    engine = create_engine(arguments.engine, models)
    benchmark, scripts = _load(arguments)
    build.check_out(arguments.out)
    with SegmentBar() as bar:
        spoken = build.speak(
            benchmark, engine, scripts, arguments.cache, models, arguments.jobs, bar.update
        )
    off_target = check_durations(benchmark, scripts, spoken.duration_ms)
    if off_target:
        _reject(f"{len(off_target)} segment(s) miss their target:", off_target, arguments)
    built = build.write(benchmark, spoken, arguments.out)
    print(report.duration_table(benchmark, built.conversations))
    print(report.target_line(benchmark, built.conversations, arguments.engine == RELEASED_ENGINE))
    written = built.written
    print(
        f"{arguments.out}: {written.cases} cases, {written.audio_keys} audio keys, "
        f"{written.shards} shard(s), {written.bytes / 1e6:.1f} MB; "
        f"{spoken.synthesized} segment(s) spoken by {engine.name}, the rest from the cache"
    )
    print(f"manifest sha256 {written.manifest_sha256}")


def _engines(arguments: argparse.Namespace) -> None:
    from .engines import ENGINES
    from .packages import missing_packages

    for name, entry in ENGINES.items():
        missing = missing_packages(entry.requires)
        state = f"missing: {', '.join(missing)}" if missing else "ready"
        print(f"{name:8} {entry.label}\n{'':8} {state}")


_COMMANDS = {"check": _check, "build": _build, "engines": _engines}


def _load(arguments: argparse.Namespace) -> tuple[Benchmark, tuple[Script, ...]]:
    """Benchmark and selected scripts, after the structural gates."""
    from dsb_ifeval.benchmark import load_benchmark

    from .gates import check_scripts
    from .scripts import CONVERSATIONS, load_scripts, select

    benchmark = load_benchmark()
    scripts = load_scripts(benchmark, arguments.conversations or CONVERSATIONS)
    if arguments.only:
        scripts = select(scripts, arguments.only.split(","))
    rejections = check_scripts(benchmark, scripts)
    if rejections:
        _reject(f"{len(rejections)} rejection(s) by the structural gates:", rejections)
    return benchmark, scripts


def _reject(
    head: str, rejections: Sequence[object], arguments: argparse.Namespace | None = None
) -> None:
    """Stop with the rejections, or only print them where the user said to go on."""
    from .errors import BuildError

    message = "\n  ".join([head, *(str(rejection) for rejection in rejections)])
    if arguments is None:
        raise BuildError(message)
    if not arguments.keep_off_target:
        raise BuildError(f"{message}\nno dataset was written; --keep-off-target writes it anyway")
    print(f"warning: {message}", file=sys.stderr)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {message}", file=sys.stderr)
