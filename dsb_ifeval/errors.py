"""Every exception the library raises on purpose.

::

    DsbError
     +-- SpecError            a YAML file of the benchmark or a conversation is wrong
     +-- DatasetError         a dataset folder is missing, empty or inconsistent
     +-- RecordingError       a recording cannot be scored (the case stays unscored)
     +-- FileError            a file cannot be read or written (permission, full disk)
     +-- RunError             a run folder cannot be read, written or resumed
     +-- MissingExtra         an optional package is needed; names the line that installs it
     +-- AdapterUnavailable   an unknown system, or one whose packages are missing
     +-- SessionFailed        a session broke; the case stays unscored with this reason

Messages name the file, key or case, what was found, what was expected and what
to do. The command line prints them without a traceback and exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterable


class DsbError(Exception):
    """Base class: a fault the user can act on."""


class SpecError(DsbError):
    """One or more mistakes in YAML files, reported together.

    Attributes:
        problems: one line per mistake, ``file: key.path: got ..., expected ...``.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        head = f"{len(self.problems)} mistake(s):"
        super().__init__("\n  ".join([head, *self.problems]))


class DatasetError(DsbError):
    """The dataset folder cannot be used."""


class RecordingError(DsbError):
    """A recording is missing, unreadable, or not what its record says."""


class FileError(DsbError):
    """A file cannot be read or written."""


class RunError(DsbError):
    """A run folder cannot be used."""


class MissingExtra(DsbError):
    """A package outside the recording ring is missing."""


class AdapterUnavailable(DsbError):
    """A system cannot be started here."""


class SessionFailed(DsbError):
    """A session ended without a usable recording."""
