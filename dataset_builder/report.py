"""What a build says about itself: durations by role, and how far they are from the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import mean

from dsb_ifeval.benchmark.model import Benchmark
from dsb_ifeval.conversation import Conversation


def duration_table(benchmark: Benchmark, conversations: Sequence[Conversation]) -> str:
    """Mean durations in seconds per role and over all conversations.

    Cells of the matched set count in each of their roles, as in G.3's mean.
    """
    lines = ["role                          n   turn 1   turn 2   sum (mean seconds)"]
    for role in benchmark.roles.values():
        own = [item for item in conversations if item.role == role.id]
        if own:
            lines.append(f"{role.id} {role.name:24} {_row(own)}")
    lines.append(f"{'all':27} {_row(conversations)}")
    return "\n".join(lines)


def target_line(
    benchmark: Benchmark, conversations: Sequence[Conversation], released_voices: bool
) -> str:
    """Whether the mean duration of a conversation is the benchmark's.

    Args:
        released_voices: spoken by the engine of the published dataset, whose mean it is.
    """
    audio = benchmark.audio
    actual = mean(_total(item) for item in conversations)
    target, tolerance = audio.mean_duration_ms / 1000, audio.mean_tolerance_ms / 1000
    verdict = "within" if abs(actual - target) <= tolerance else "OUTSIDE"
    mean_of = f"mean of {len(conversations)} conversation(s) {actual:.2f} s"
    if not released_voices:
        return f"{mean_of} (the published {target:g} s is that of the released voices)"
    return f"{mean_of}, target {target:g} s: {verdict} the tolerance of {tolerance:g} s"


def _row(conversations: Iterable[Conversation]) -> str:
    items = list(conversations)
    turn1 = mean(item.turn1.duration_ms for item in items) / 1000
    turn2 = mean(item.turn2.duration_ms for item in items) / 1000
    return f"{len(items):3} {turn1:8.2f} {turn2:8.2f} {turn1 + turn2:8.2f}"


def _total(conversation: Conversation) -> float:
    return (conversation.turn1.duration_ms + conversation.turn2.duration_ms) / 1000
