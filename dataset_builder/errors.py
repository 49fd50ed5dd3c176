"""Errors of the builder; all are ``DsbError`` and end up as one clear message."""

from __future__ import annotations

from dsb_ifeval.errors import DsbError


class SynthesisError(DsbError):
    """A segment cannot be spoken as written; names the text and the engine."""


class BuildError(DsbError):
    """The build cannot go on: rejected scripts, an unwritable folder, a full disk."""
