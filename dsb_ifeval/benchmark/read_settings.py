"""``spec/session.yaml``, ``scoring.yaml``, ``judge.yaml``, ``systems.yaml``, ``benchmark.yaml``."""

from __future__ import annotations

import re

from dsb_ifeval.benchmark.checks import Reader
from dsb_ifeval.benchmark.model import (
    AudioSettings,
    JudgeSpec,
    Leakage,
    Matched,
    SessionConstants,
    SystemSpec,
    VadSettings,
)
from dsb_ifeval.vocab import Level

_JUDGE_FIELDS = (
    "role_name",
    "role_id",
    "persona",
    "content_rule",
    "turn1",
    "turn2",
    "transcript",
    "l4_block",
)
_L4_FIELDS = ("{contradiction}", "{l4_expected}")


def read_session(top: Reader) -> SessionConstants:
    """Turn timing (F.1-F.2)."""
    session = SessionConstants(
        chunk_ms=top.duration_ms("chunk_ms"),
        take_turn_onset_wait_ms=top.duration_ms("take_turn_onset_wait_s"),
        settle_ms=top.duration_ms("settle_s"),
        take_turn_max_ms=top.duration_ms("take_turn_max_s"),
        barge_in_onset_wait_ms=top.duration_ms("barge_in_onset_wait_s"),
        tail_ms=top.duration_ms("tail_s"),
        final_onset_wait_ms=top.duration_ms("final_onset_wait_s"),
        final_quiet_ms=top.duration_ms("final_quiet_s"),
        final_max_ms=top.duration_ms("final_max_s"),
        trailing_ms=top.duration_ms("trailing_s"),
    )
    top.done()
    return session


def read_scoring(top: Reader) -> tuple[VadSettings, AudioSettings, Leakage]:
    """Speech activity (C.2), audio construction (Table 29) and leakage gates (B.6)."""
    parts = (
        _read_vad(top.child("vad")),
        _read_audio(top.child("audio")),
        _read_leakage(top.child("leakage")),
    )
    top.done()
    return parts


def read_judge(top: Reader) -> JudgeSpec:
    """The PAS and conflict judge (D.2-D.3)."""
    fields = top.child("fields")
    judge = JudgeSpec(
        model=top.text("model"),
        temperature=top.number("temperature", minimum=0),
        max_tokens=top.integer("max_tokens", minimum=1),
        attempts=top.integer("attempts", minimum=1),
        backoff_s=top.numbers("backoff_s"),
        timeout_s=top.number("timeout_s", above=0),
        concurrency=top.integer("concurrency", minimum=1),
        system_prompt=top.text("system_prompt"),
        user_template=top.text("user_template"),
        fields={name: fields.text(name) for name in _JUDGE_FIELDS},
        no_speech=top.text("no_speech"),
        l4_block=top.text("l4_block"),
    )
    fields.done()
    top.done()
    _check_judge(top, judge)
    return judge


def read_systems(top: Reader) -> dict[str, SystemSpec]:
    """The evaluated systems by id, in file order (Tables 19 and 24-26)."""
    return {system_id: _read_system(system_id, reader) for system_id, reader in top.items()}


def read_grid(reader: Reader) -> dict[Level, tuple[int, ...]]:
    """Instances of each level (G.4)."""
    grid = {level: reader.integers(level.value, minimum=1) for level in Level}
    reader.done()
    return grid


def read_matched(reader: Reader) -> Matched:
    """The matched-audio set (G.5)."""
    matched = Matched(
        probes=reader.strings("probes"),
        instances=reader.integers("instances", minimum=1),
        roles=reader.strings("roles"),
    )
    reader.done()
    return matched


def _read_vad(reader: Reader) -> VadSettings:
    vad = VadSettings(
        rate_hz=reader.integer("rate_hz", minimum=1),
        threshold=reader.number("threshold", minimum=0, maximum=1),
        min_speech_ms=reader.duration_ms("min_speech_ms"),
        min_silence_ms=reader.duration_ms("min_silence_ms"),
        speech_pad_ms=reader.integer("speech_pad_ms", minimum=0),
        merge_gap_ms=reader.integer("merge_gap_ms", minimum=0),
    )
    reader.done()
    return vad


def _read_audio(reader: Reader) -> AudioSettings:
    audio = AudioSettings(
        rate_hz=reader.integer("rate_hz", minimum=1),
        turn1_target_ms=reader.duration_ms("turn1_target_s"),
        segment_tolerance=reader.number("segment_tolerance", minimum=0, maximum=1),
        mean_duration_ms=reader.duration_ms("mean_duration_s"),
        mean_tolerance_ms=reader.duration_ms("mean_tolerance_s"),
    )
    reader.done()
    return audio


def _read_leakage(reader: Reader) -> Leakage:
    leakage = Leakage(
        blocklist=reader.strings("blocklist"),
        stopwords=reader.strings("stopwords"),
        token_pattern=reader.text("token_pattern"),
        max_overlap=reader.number("max_overlap", above=0, maximum=1),
        min_words=reader.integer("min_words", minimum=1),
        max_words=reader.integer("max_words", minimum=1),
    )
    reader.done()
    try:
        re.compile(leakage.token_pattern)
    except re.error as error:
        found = f"got {leakage.token_pattern!r}"
        reader.fail("token_pattern", f"{found}, expected a regular expression ({error})")
    if leakage.min_words > leakage.max_words > 0:
        reader.fail("min_words", f"got {leakage.min_words}, expected at most max_words")
    return leakage


def _check_judge(top: Reader, judge: JudgeSpec) -> None:
    for name, fragment in judge.fields.items():
        count = judge.user_template.count(fragment) if fragment else 1
        if judge.user_template and count != 1:
            top.fail(f"fields.{name}", f"found {count} times in user_template, expected once")
    for fragment in _L4_FIELDS:
        if judge.l4_block and fragment not in judge.l4_block:
            top.fail("l4_block", f"no {fragment}, expected it in the text")
    if judge.backoff_s and judge.attempts and len(judge.backoff_s) != judge.attempts - 1:
        found = f"got {len(judge.backoff_s)} waits"
        top.fail("backoff_s", f"{found}, expected one before each attempt after the first")


def _read_system(system_id: str, reader: Reader) -> SystemSpec:
    system = SystemSpec(
        id=system_id,
        name=reader.text("name"),
        access=reader.text("access"),
        checkpoint=reader.text("checkpoint"),
        hardware=reader.text("hardware"),
        prompt_interface=reader.text("prompt_interface"),
        execution_mode=reader.text("execution_mode"),
        mechanism=reader.text("mechanism"),
        concurrent_audio=reader.text("concurrent_audio"),
        floor_control=reader.text("floor_control"),
        persona_conditioning=reader.flag("persona_conditioning"),
        input_rate=reader.text("input_rate"),
        turn_detection=reader.text("turn_detection"),
        decoding=reader.text("decoding"),
        settings=reader.text("settings"),
        notes=reader.text("notes"),
    )
    reader.done()
    return system
