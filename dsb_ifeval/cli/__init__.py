"""The ``dsb-ifeval`` command. Heavy modules are imported by the commands that need them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dsb_ifeval._version import __version__
from dsb_ifeval.cli import commands
from dsb_ifeval.errors import DsbError

_DESCRIPTION = """\
DuplexSpeechBench-IFEval: play spoken conversations to a voice agent and score what it does
with the conversational floor.

  dsb-ifeval systems                     what can be run here
  dsb-ifeval run cascade                 record and score (resumes where it stopped)
  dsb-ifeval show runs/cascade           the score again, from disk
  dsb-ifeval show runs/cascade R2-C1-i1-L2    one case taken apart
  dsb-ifeval score runs/cascade          score again, without running anything
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; builds without importing anything heavy."""
    parser = argparse.ArgumentParser(
        prog="dsb-ifeval",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dsb-ifeval {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in commands.ALL:
        add(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 on success, 1 when cases failed to run, 2 on an error to act on."""
    args = build_parser().parse_args(argv)
    return guarded(lambda: int(args.handler(args) or 0))


def guarded(work: commands.Work) -> int:
    """Run ``work``; print faults the user can act on as one message, without a traceback."""
    try:
        status = work()
        sys.stdout.flush()
        return status
    except DsbError as error:
        print(f"dsb-ifeval: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("dsb-ifeval: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `dsb-ifeval show ... | head`
        sys.stderr.close()
        return 0
    except OSError as error:  # standard output on a full disk, and the like
        print(f"dsb-ifeval: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
