"""The user-side scripts of ``conversations/``, read and checked against the benchmark.

One YAML file per role, and ``matched.yaml`` for the conversations that several roles share
(G.5): each of those becomes one script per role, all with the same ``audio_key``, hence one
waveform. Every mistake in every file is reported at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dsb_ifeval.benchmark.checks import Problems, Reader, read_yaml
from dsb_ifeval.benchmark.model import Benchmark, Probe, Slot
from dsb_ifeval.errors import SpecError
from dsb_ifeval.vocab import SegmentKind

CONVERSATIONS = Path(__file__).resolve().parent / "conversations"

MATCHED = "MATCHED"
"""Stands where a conversation id has its role, in ids of the matched set."""

_ID = re.compile(r"(?P<role>[A-Z0-9]+)-(?P<probe>[A-Z0-9]+(?:_[A-Z])?)-i(?P<instance>[1-9])")


@dataclass(frozen=True, slots=True)
class Script:
    """What the user says in one conversation.

    Attributes:
        id: ``R1-C1-i1``.
        probe: short probe id.
        audio_key: the id, or the shared id of the matched set.
        turn1: context, as displayed.
        turn2: text of each speech slot.
        appended: text of the speech slots that a variant with its own audio appends (H.4).
        readback: the field that holds a readback target which is not simply dictated (R6_B).
        error: what is wrong in the scripted derivation, for readers (R5_A).
        source: file and key path, for messages.
    """

    id: str
    role: str
    probe: str
    instance: int
    audio_key: str
    generator: str
    situation: str
    speaker: str
    turn1: str
    turn2: Mapping[str, str]
    appended: Mapping[str, str]
    readback: str
    error: str
    source: str


def load_scripts(benchmark: Benchmark, folder: Path = CONVERSATIONS) -> tuple[Script, ...]:
    """All scripts of a folder, sorted by role, probe and instance.

    Raises:
        SpecError: any mistake in any file; holds all of them.
    """
    problems = Problems()
    paths = _find_files(folder, problems)
    if not paths:
        problems.add(str(folder), "no YAML file here, expected one per role and matched.yaml")
    scripts: dict[str, Script] = {}
    for path in paths:
        reader = read_yaml(path, problems, f"{folder.name}/{path.name}")
        for script in _read_file(reader, benchmark):
            first = scripts.setdefault(script.id, script)
            if first is not script:
                problems.add(script.source, f"id {script.id} is already used by {first.source}")
    problems.raise_if_any()
    return tuple(sorted(scripts.values(), key=lambda script: _order(script, benchmark)))


def _find_files(folder: Path, problems: Problems) -> list[Path]:
    """The files to read; others are reported, since a conversation in them would be missed.

    Notes for readers (``.md``) and hidden files are neither.
    """
    visible = [path for path in sorted(folder.glob("*")) if not path.name.startswith(".")]
    for path in visible:
        if path.suffix not in (".yaml", ".md"):
            what = "is not read, expected only files that end in .yaml (or .md, for notes)"
            problems.add(f"{folder.name}/{path.name}", what)
    return [path for path in visible if path.suffix == ".yaml"]


def select(scripts: Sequence[Script], only: Sequence[str]) -> tuple[Script, ...]:
    """Scripts whose id or audio key is, or continues, one of the given beginnings.

    ``R1-C1`` selects R1-C1-i1, R1-C1-i2 ... but not R1-C10-i1.

    Raises:
        SpecError: a beginning that selects nothing.
    """
    wanted = [beginning.strip() for beginning in only if beginning.strip()]
    names = {name for script in scripts for name in (script.id, script.audio_key)}
    unknown = [word for word in wanted if not any(_continues(name, word) for name in names)]
    if unknown or not wanted:
        shown = ", ".join(repr(word) for word in unknown) or "nothing"
        raise SpecError([f"--only: got {shown}, expected ids such as R1, R2-C1, R3-R3_A-i2"])
    return tuple(
        script
        for script in scripts
        if any(_continues(n, w) for n in (script.id, script.audio_key) for w in wanted)
    )


def _continues(name: str, beginning: str) -> bool:
    return name == beginning or name.startswith(f"{beginning}-")


def _order(script: Script, benchmark: Benchmark) -> tuple[int, str, int]:
    return benchmark.roles[script.role].index, script.probe, script.instance


def _read_file(reader: Reader, benchmark: Benchmark) -> list[Script]:
    if reader.quiet:
        return []
    role = reader.one_of("role", benchmark.roles) if "role" in reader else MATCHED
    scripts: list[Script] = []
    for child in reader.children("conversations"):
        script = _read_conversation(child, benchmark, role)
        if script and role == MATCHED:
            scripts.extend(
                replace(script, id=f"{shared}-{script.probe}-i{script.instance}", role=shared)
                for shared in benchmark.matched.roles
            )
        elif script:
            scripts.append(script)
    reader.done()
    return scripts


def _read_conversation(reader: Reader, benchmark: Benchmark, role: str) -> Script | None:
    identity = reader.text("id")
    cell = _read_id(reader, identity, benchmark, role)
    if cell is None:
        return None
    probe, instance = cell
    target = reader.text(probe.readback_field) if probe.readback_field else ""
    turn2 = _read_slots(reader.child("turn2"), probe.slots)
    appended: dict[str, str] = {}
    for variant in probe.variants:
        extra = reader.child(variant.level.value.lower())
        appended.update(_read_slots(extra, variant.extra_slots))
    script = Script(
        id=identity,
        role=role,
        probe=probe.short_id,
        instance=instance,
        audio_key=identity,
        generator=reader.text("generator"),
        situation=reader.text("situation"),
        speaker=reader.text("speaker"),
        turn1=_tidy(reader.text("turn1")),
        turn2=turn2,
        appended=appended,
        readback=_tidy(target),
        error=_tidy(reader.optional_text("error") or ""),
        source=f"{reader.file}: {reader.path}",
    )
    reader.done()
    return script


def _read_id(
    reader: Reader, identity: str, benchmark: Benchmark, role: str
) -> tuple[Probe, int] | None:
    """Probe and instance of an id that fits its file; None when it does not."""
    if not identity:
        return None
    match = _ID.fullmatch(identity)
    if not match or match["role"] != role:
        reader.fail("id", f"got {identity!r}, expected like '{role}-C1-i1'")
        return None
    matched = benchmark.matched
    known = matched.probes if role == MATCHED else tuple(benchmark.roles[role].actions)
    if match["probe"] not in known:
        reader.fail("id", f"got probe {match['probe']!r}, expected one of {', '.join(known)}")
        return None
    instance = int(match["instance"])
    instances = matched.instances if role == MATCHED else benchmark.instances
    if instance not in instances:
        reader.fail("id", f"got instance {instance}, expected one of {_listed(instances)}")
        return None
    shared = (
        role in matched.roles and match["probe"] in matched.probes and instance in matched.instances
    )
    if shared:
        name = f"{MATCHED}-{match['probe']}-i{instance}"
        reader.fail("id", f"{identity} is in the matched set: write it as {name} in matched.yaml")
        return None
    return benchmark.probes[match["probe"]], instance


def _read_slots(reader: Reader, slots: tuple[Slot, ...]) -> dict[str, str]:
    """Text of the speech slots that are written; what must be there is a matter of ``gates``."""
    texts: dict[str, str] = {}
    for slot in slots:
        if slot.kind is SegmentKind.SPEECH:
            text = reader.optional_text(slot.name)
            if text:
                texts[slot.name] = _tidy(text)
        elif slot.name in reader:
            reader.allow(slot.name)
            seconds = slot.duration_ms / 1000
            reader.fail(slot.name, f"is a silence of {seconds:g} s, made by the builder: remove it")
    reader.done()
    return texts


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(str(number) for number in numbers)
