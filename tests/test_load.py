"""The loader against files with mistakes: each line names file, key path, value and rule."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from dsb_ifeval.benchmark.checks import Problems, read_yaml
from dsb_ifeval.benchmark.load import FILES, load_benchmark
from dsb_ifeval.errors import SpecError
from dsb_ifeval.paths import spec_dir


class Spec:
    """A copy of ``spec/`` to make mistakes in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "spec"
        shutil.copytree(spec_dir(), self.folder)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / f"{name}.yaml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def problems(self) -> list[str]:
        with pytest.raises(SpecError) as caught:
            load_benchmark(self.folder)
        return [line.replace(str(self.folder), "spec") for line in caught.value.problems]


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    return Spec(tmp_path)


def test_a_copy_loads_like_the_original(spec: Spec) -> None:
    assert load_benchmark(spec.folder) == load_benchmark()


def test_the_default_folder_is_read_once() -> None:
    assert load_benchmark() is load_benchmark()


def test_many_mistakes_are_reported_at_once(spec: Spec) -> None:
    spec.edit("roles", "TAKE_TURN: {max_wait_s: 1.5}", "TAKE_TURN: {max_wait_s: '1,5'}")
    spec.edit("roles", "    R4_B: TAKE_TURN", "    R4_B: TAKE_TRUN")
    spec.edit("roles", "    R7_B: LISTEN", "    R7_B: YIELD")
    spec.edit("probes", "end: s5.off + 10", "end: s9.off + 10")
    spec.edit("probes", "duration_s: 11.0", "duration_s: -11.0")
    spec.edit("actions", "contradiction_target: no_overlap", "contradiction_target: no_overlpa")
    spec.edit("session", "chunk_ms: 20", "chunk_ms: 20.5")
    spec.edit("scoring", "  threshold: 0.5\n", "")
    spec.edit("benchmark", 'version: "1"', "version: 1")
    spec.edit("systems", "persona_conditioning: true", "persona_conditioning: yes")
    assert spec.problems() == [
        "spec/scoring.yaml: vad.threshold: missing, expected a number from 0 to 1",
        "spec/benchmark.yaml: version: got 1, expected text",
        "spec/roles.yaml: R3.thresholds.TAKE_TURN.max_wait_s: got '1,5', expected seconds > 0",
        "spec/roles.yaml: R4.actions.R4_B: got 'TAKE_TRUN', expected one of LISTEN, BACKCHANNEL, "
        "NO_BACKCHANNEL, INTERRUPT, TAKE_TURN, READBACK, YIELD, CONTINUE, ACCEPT_OVERLAP",
        "spec/probes.yaml: C2.windows.TAKE_TURN.end: got 's9.off + 10', expected a slot of this "
        "probe: s1, s2, s3, s4, s5",
        "spec/probes.yaml: R4_A.slots[1].duration_s: got -11.0, expected seconds > 0",
        "spec/session.yaml: chunk_ms: got 20.5, expected whole milliseconds >= 1",
        "spec/systems.yaml: gpt-realtime.persona_conditioning: got 'yes', expected true or false",
        "spec/roles.yaml: R7.actions.R7_B: got 'YIELD', for which probe R7_B has no window, "
        "expected one of LISTEN",
        "spec/actions.yaml: ACCEPT_OVERLAP.contradiction_target: got 'no_overlpa', which is no "
        "target of instructions.yaml; did you mean 'no_overlap'?",
    ]


def test_the_message_of_the_error_holds_every_line(spec: Spec) -> None:
    spec.edit("session", "tail_s: 0.5", "tail_s: 0")
    spec.edit("session", "settle_s: 0.6", "settle_s: true")
    with pytest.raises(SpecError) as caught:
        load_benchmark(spec.folder)
    first, *lines = str(caught.value).splitlines()
    assert first == "2 mistake(s):"
    assert [line.split(": ", 1)[1] for line in lines] == [
        "settle_s: got true, expected seconds > 0",
        "tail_s: got 0, expected seconds > 0",
    ]


MISTAKES = [
    (
        "roles",
        "  directive: >-",
        "  directvie: >-",
        [
            "spec/roles.yaml: R1.directive: missing, expected text",
            "spec/roles.yaml: R1.directvie: unknown key; did you mean 'directive'?",
        ],
    ),
    (
        "roles",
        "{max_wait_s: 2.0}",
        "{max_latency_ms: 2000}",
        [
            "spec/roles.yaml: R1.thresholds.TAKE_TURN.max_latency_ms: unknown key; did you mean "
            "'max_wait_s'?"
        ],
    ),
    (
        "roles",
        "    INTERRUPT: {max_latency_ms: 1500}",
        "    INTERUPT: {max_latency_ms: 1500}",
        ["spec/roles.yaml: R1.thresholds.INTERUPT: unknown key; did you mean 'INTERRUPT'?"],
    ),
    (
        "roles",
        "    C4: BACKCHANNEL\n",
        "",
        ["spec/roles.yaml: R1.actions.C4: missing, expected the action of this cell"],
    ),
    (
        "roles",
        "    R1_B: INTERRUPT",
        "    R1_B: INTERRUPT\n    R2_A: LISTEN\n    C9: LISTEN",
        [
            "spec/roles.yaml: R1.actions.R2_A: a probe of another role; did you mean 'R1_A'?",
            "spec/roles.yaml: R1.actions.C9: unknown probe; known: C1, C2, C3, C4, R1_A, R1_B",
        ],
    ),
    (
        "roles",
        "  index: 2",
        "  index: 1",
        [
            "spec/roles.yaml: R1.index: got 1, used by several roles, expected a different one "
            "for each",
            "spec/roles.yaml: R2.index: got 1, used by several roles, expected a different one "
            "for each",
        ],
    ),
    (
        "probes",
        "  id: R3_A_address_self_correct",
        "  id: C1",
        [
            "spec/probes.yaml: C1.id: got 'C1', used by several probes, expected a different one "
            "for each",
            "spec/probes.yaml: R3_A.id: got 'C1', used by several probes, expected a different "
            "one for each",
        ],
    ),
    (
        "probes",
        "name: s2, kind: silence",
        "name: s1, kind: silence",
        ["spec/probes.yaml: C1.slots[1].name: got 's1', expected 's2' (slots in order)"],
    ),
    (
        "probes",
        "LISTEN: {start: s2.on, end: s2.off}",
        "LISTEN: {start: s2.off, end: s2.on}",
        ["spec/probes.yaml: C1.windows.LISTEN.end: got 's2.on', expected a point after start"],
    ),
    (
        "probes",
        "start: s2.on,",
        "start: s2 on,",
        [
            "spec/probes.yaml: C1.windows.LISTEN.start: got 's2 on', expected like 's2.on', "
            "'s5.off' or 's5.off + 10'"
        ],
    ),
    (
        "probes",
        "readback: [s1, s3, s5]",
        "readback: [s1, s2, s5]",
        ["spec/probes.yaml: C2.readback: got 's2', expected a speech slot: s1, s2, s3, s4, s5"],
    ),
    (
        "probes",
        "  barge_in_after_s: 3.0\n",
        "",
        ["spec/probes.yaml: C3.barge_in_after_s: missing, expected seconds > 0"],
    ),
    (
        "probes",
        "mode: take_turn",
        "mode: take_turn\n  barge_in_after_s: 3.0",
        ["spec/probes.yaml: C1.barge_in_after_s: not for mode take_turn, expected it to be absent"],
    ),
    (
        "probes",
        "  readback_field: revised_order\n",
        "",
        [
            "spec/probes.yaml: R6_B.readback: missing, expected slots to read back (or "
            "readback_field)"
        ],
    ),
    (
        "probes",
        "purpose: speech}\n  windows:\n    LISTEN: {start: s1.off, end: s1.off + 10}\n",
        "purpose: speech}\n  windows: {}\n",
        [
            "spec/probes.yaml: R7_B.windows: got none, expected one for each action that a cell "
            "expects here"
        ],
    ),
    (
        "probes",
        "LISTEN: {start: s1.off, end: s1.off + 10}",
        "CONTINUE: {start: s1.off, end: s1.off + 10}",
        [
            "spec/roles.yaml: R7.actions.R7_B: got 'LISTEN', for which probe R7_B has no window, "
            "expected one of CONTINUE"
        ],
    ),
    (
        "probes",
        "target_s: 7.5",
        "target_s: 600.5",
        ["spec/probes.yaml: C1.slots[0].target_s: got 600.5, expected at most 600 seconds"],
    ),
    (
        "probes",
        "duration_s: 2.5",
        f"duration_s: 1{'0' * 400}",
        [
            f"spec/probes.yaml: C1.slots[1].duration_s: got 1{'0' * 56}..., expected at most 600 "
            "seconds"
        ],
    ),
    (
        "probes",
        "TAKE_TURN: {start: s5.off, end: s5.off + 10}",
        "TAKE_TURN: {start: s5.off, end: s5.off + 1000}",
        [
            "spec/probes.yaml: C2.windows.TAKE_TURN.end: got 's5.off + 1000', expected at most "
            "600 seconds"
        ],
    ),
    (
        "probes",
        "  role: R8\n",
        "",
        ["spec/probes.yaml: R8_A.role: missing, expected 'R8', the only role that uses it"],
    ),
    (
        "probes",
        "    - {name: s1, kind: speech, target_s: 7.0, purpose: speech}\n",
        "    - s1\n",
        ["spec/probes.yaml: R2_B.slots[0]: got 's1', expected a mapping"],
    ),
    (
        "actions",
        "verifier: bc_count",
        "verifier: bc_cuont",
        [
            "spec/actions.yaml: BACKCHANNEL.verifier: got 'bc_cuont', expected one of "
            "action_at_trigger, bc_count, silence_tolerance, readback, yield_latency, "
            "overlap_duration"
        ],
    ),
    (
        "actions",
        "min_coverage: 0.90",
        "min_coverage: 90",
        ["spec/actions.yaml: READBACK.params.min_coverage: got 90, expected a number from 0 to 1"],
    ),
    (
        "actions",
        "CONTINUE:\n",
        "CONTINEU:\n",
        [
            "spec/actions.yaml: CONTINUE: missing, expected a mapping",
            "spec/actions.yaml: CONTINEU: unknown key; did you mean 'CONTINUE'?",
        ],
    ),
    (
        "instructions",
        '    - "Additionally: if I pause, even for a moment, that’s your cue to start talking."\n',
        "",
        ["spec/instructions.yaml: contradictions.fill_silence: got 4 lines, expected 5"],
    ),
    (
        "instructions",
        "Additionally: no mm-hm",
        "No mm-hm",
        [
            "spec/instructions.yaml: contradictions.no_backchannel[0]: got 'No mm-hm, no uh-huh,"
            "'..., expected a line that begins with 'Additionally: '"
        ],
    ),
    (
        "instructions",
        "    R2_B: ",
        "    R1_B: ",
        [
            "spec/instructions.yaml: safety.R2.R1_B: got 'R1_B', which is no cell of R2"
            "; did you mean 'R2_B'?"
        ],
    ),
    (
        "benchmark",
        "probes: [C1, C4]",
        "probes: [C1, R1_A]",
        [
            "spec/benchmark.yaml: matched.probes: got 'R1_A', which is no shared probe"
            "; known: C1, C2, C3, C4"
        ],
    ),
    (
        "benchmark",
        "L0: [1]",
        "L0: [6]",
        ["spec/benchmark.yaml: grid.L0: got 6, expected one of instances: 1, 2, 3, 4, 5"],
    ),
    (
        "benchmark",
        "L0: [1]",
        "L0: []",
        ["spec/benchmark.yaml: grid.L0: got an empty list, expected a list with something in it"],
    ),
    (
        "scoring",
        'token_pattern: "[a-z’\']+"',
        'token_pattern: "[a-z"',
        [
            "spec/scoring.yaml: leakage.token_pattern: got '[a-z', expected a regular expression "
            "(unterminated character set at position 0)"
        ],
    ),
    (
        "judge",
        "TURN 1 (context): {turn1}",
        "TURN 1 (context): {turn_1}",
        ["spec/judge.yaml: fields.turn1: found 0 times in user_template, expected once"],
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "expected"), MISTAKES)
def test_one_mistake(spec: Spec, name: str, old: str, new: str, expected: list[str]) -> None:
    spec.edit(name, old, new)
    assert spec.problems() == expected


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_one_problem(spec: Spec, name: str) -> None:
    (spec.folder / f"{name}.yaml").unlink()
    assert spec.problems() == [f"spec/{name}.yaml: no such file, expected a YAML file here"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: [1, 2\n", "line 3, column 1: not YAML: did not find expected ',' or ']'"),
        ("- a\n- b\n", "got a list, expected a mapping"),
        ("", "got nothing, expected a mapping"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: not YAML: but found another document"),
    ],
)
def test_a_broken_file_is_one_problem(spec: Spec, name: str, text: str, expected: str) -> None:
    (spec.folder / f"{name}.yaml").write_text(text)
    assert spec.problems() == [f"spec/{name}.yaml: {expected}"]


def test_a_missing_folder_names_every_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_benchmark(tmp_path / "nowhere")
    assert len(caught.value.problems) == len(FILES)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("name: café".encode("latin-1"))
    problems = Problems()
    assert read_yaml(path, problems, "a.yaml").quiet
    assert problems.lines == ("a.yaml: byte 9 is not UTF-8, expected UTF-8 text",)


def test_a_role_written_twice_names_the_line(spec: Spec) -> None:
    spec.edit("roles", "R4:\n", "R3:\n")
    lines = (spec.folder / "roles.yaml").read_text(encoding="utf-8").splitlines()
    second = [number for number, line in enumerate(lines, start=1) if line == "R3:"][1]
    assert spec.problems()[0] == (
        f"spec/roles.yaml: line {second}: key 'R3' was already used in this mapping"
    )


def test_a_role_without_actions_is_a_mistake(tmp_path: Path) -> None:

    folder = Path(shutil.copytree(Path(__file__).parents[1] / "spec", tmp_path / "spec"))
    roles = yaml.safe_load((folder / "roles.yaml").read_text(encoding="utf-8"))
    roles["R4"]["actions"] = {}
    (folder / "roles.yaml").write_text(yaml.safe_dump(roles, allow_unicode=True))
    with pytest.raises(SpecError, match=r"R4\.actions: got nothing"):
        load_benchmark(folder)
