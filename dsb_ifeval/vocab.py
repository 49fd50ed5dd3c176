"""The benchmark's vocabulary, spelled as in the paper.

Nothing in the library compares bare strings for these notions: files hold the
``value`` of an enum member, code holds the member.
"""

from __future__ import annotations

from enum import Enum


class Action(str, Enum):
    """The nine floor-management actions (Appendix B.1, Table 13)."""

    LISTEN = "LISTEN"
    BACKCHANNEL = "BACKCHANNEL"
    NO_BACKCHANNEL = "NO_BACKCHANNEL"
    INTERRUPT = "INTERRUPT"
    TAKE_TURN = "TAKE_TURN"
    READBACK = "READBACK"
    YIELD = "YIELD"
    CONTINUE = "CONTINUE"
    ACCEPT_OVERLAP = "ACCEPT_OVERLAP"


class Level(str, Enum):
    """The six conditionings of one user conversation (Section 3.1, Appendix B.4)."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4a = "L4a"
    L4b = "L4b"


class VadLabel(str, Enum):
    """What the model did with the trigger window, as speech activity (Appendix C.4)."""

    SILENT = "silent"
    BACKCHANNEL = "backchannel"
    FLOOR_TAKE = "floor_take"


class TurnMode(str, Enum):
    """How turn 2 is delivered (Section 3.3): after the model yields, or during its speech."""

    TAKE_TURN = "take_turn"
    BARGE_IN = "barge_in"


class SegmentKind(str, Enum):
    """A segment of a user turn is synthesised speech or exact digital silence (G.2)."""

    SPEECH = "speech"
    SILENCE = "silence"


class ConflictOutcome(str, Enum):
    """The judge's raw label for L4 cases (Appendix D.5); ``hedged`` is shown as Balanced."""

    DIRECTIVE_WINS = "directive-wins"
    PERSONA_WINS = "persona-wins"
    HEDGED = "hedged"
    INCOHERENT = "incoherent"


class Transcript(str, Enum):
    """What a system tells about the text of its own speech (C.5, F.3)."""

    TIMED = "timed"
    """Text deltas arrive with the speech; readback uses those from turn 2 on."""
    WHOLE = "whole"
    """One text for the session without times; readback uses all of it."""
    NONE = "none"
    """No text; readback cases stay unscored."""
