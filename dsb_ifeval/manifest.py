"""The manifest row: a case's form on disk (Table 28), without its audio.

Seconds with three decimals on disk, as in the paper; integer milliseconds in memory.
``case_to_row`` and ``case_from_row`` are inverse to each other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dsb_ifeval.cases import Case, Verifier
from dsb_ifeval.conversation import Segment, Turn, Word
from dsb_ifeval.errors import DatasetError
from dsb_ifeval.intervals import Interval, seconds_to_ms
from dsb_ifeval.vocab import Action, ConflictOutcome, Level, SegmentKind, TurnMode

Row = dict[str, Any]

WINDOW_REFERENCE = "turn2_onset"
"""Trigger windows count from the recorded onset of turn 2; for a barge-in that is w0 itself."""


def case_to_row(case: Case) -> Row:
    """A plain, JSON-able row in the column order of the published dataset."""
    return {
        "case_id": case.case_id,
        "conversation_id": case.conversation_id,
        "audio_key": case.audio_key,
        "role": case.role,
        "probe": case.probe_full,
        "probe_short": case.probe,
        "instance": case.instance,
        "level": case.level.value,
        "probe_action": case.probe_action.value,
        "expected_action": case.expected_action.value,
        "system_prompt": case.system_prompt,
        "verifier": {"name": case.verifier.name, "params": dict(case.verifier.params)},
        "trigger_window": {
            "start_s": _seconds(case.window.start_ms),
            "end_s": _seconds(case.window.end_ms),
            "reference": WINDOW_REFERENCE,
        },
        "readback_target": case.readback,
        "conflict_target": case.conflict.value if case.conflict else "",
        "turns": [_turn_to_row(1, case.turn1), _turn_to_row(2, case.turn2)],
        "ground_truth_timestamps": [
            {
                "slot": segment.slot,
                "onset_s": _seconds(segment.span.start_ms),
                "offset_s": _seconds(segment.span.end_ms),
            }
            for segment in case.turn2.segments
        ],
        "provenance": dict(case.provenance),
    }


def case_from_row(row: Mapping[str, Any]) -> Case:
    """A case from a manifest row.

    Raises:
        DatasetError: a field is missing or not of the vocabulary; names case and field.
    """
    case_id = row.get("case_id", "(row without case_id)")
    try:
        return _case_from_row(row)
    except KeyError as error:
        raise DatasetError(f"case {case_id}: manifest has no field {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise DatasetError(f"case {case_id}: bad manifest value: {error}") from error


def manifest_hash(cases: Iterable[Case]) -> str:
    """Identity of a dataset: prompts, events, thresholds and sample hashes, in file order."""
    digest = hashlib.sha256()
    for case in cases:
        row = json.dumps(case_to_row(case), sort_keys=True, ensure_ascii=False)
        digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def _case_from_row(row: Mapping[str, Any]) -> Case:
    turn1, turn2 = (_turn_from_row(turn) for turn in row["turns"])
    window = row["trigger_window"]
    return Case(
        case_id=row["case_id"],
        conversation_id=row["conversation_id"],
        audio_key=row["audio_key"],
        role=row["role"],
        probe=row["probe_short"],
        probe_full=row["probe"],
        instance=int(row["instance"]),
        level=Level(row["level"]),
        probe_action=Action(row["probe_action"]),
        expected_action=Action(row["expected_action"]),
        system_prompt=row["system_prompt"],
        verifier=Verifier(row["verifier"]["name"], dict(row["verifier"]["params"])),
        window=Interval(seconds_to_ms(window["start_s"]), seconds_to_ms(window["end_s"])),
        readback=row["readback_target"],
        conflict=ConflictOutcome(row["conflict_target"]) if row["conflict_target"] else None,
        turn1=turn1,
        turn2=turn2,
        provenance=dict(row["provenance"]),
    )


def _turn_to_row(number: int, turn: Turn) -> Row:
    barge_in = turn.barge_in_after_ms
    return {
        "turn": number,
        "mode": turn.mode.value,
        "barge_in_after_s": None if barge_in is None else _seconds(barge_in),
        "samples": turn.samples,
        "sha256": turn.sha256,
        "segments": [
            {
                "slot": segment.slot,
                "kind": segment.kind.value,
                "text": segment.text,
                "duration_s": _seconds(segment.span.duration_ms),
                "start_s": _seconds(segment.span.start_ms),
                "end_s": _seconds(segment.span.end_ms),
                "words": [
                    {
                        "word": word.text,
                        "start": _seconds(word.span.start_ms),
                        "end": _seconds(word.span.end_ms),
                    }
                    for word in segment.words
                ],
            }
            for segment in turn.segments
        ],
    }


def _turn_from_row(row: Mapping[str, Any]) -> Turn:
    barge_in = row["barge_in_after_s"]
    return Turn(
        mode=TurnMode(row["mode"]),
        segments=tuple(
            Segment(
                slot=segment["slot"],
                kind=SegmentKind(segment["kind"]),
                text=segment["text"],
                span=Interval(seconds_to_ms(segment["start_s"]), seconds_to_ms(segment["end_s"])),
                words=tuple(
                    Word(
                        word["word"],
                        Interval(seconds_to_ms(word["start"]), seconds_to_ms(word["end"])),
                    )
                    for word in segment["words"]
                ),
            )
            for segment in row["segments"]
        ),
        samples=int(row["samples"]),
        sha256=row["sha256"],
        barge_in_after_ms=None if barge_in is None else seconds_to_ms(barge_in),
    )


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000
