"""Public test kit: virtual time, scripted models, and cases built from durations.

A session test is a script with its arithmetic in comments, and takes no wall time::

    stimulus, constants = make_stimulus([2000], [3000]), load_benchmark().session
    model = ScriptedModel([(3000, 4000)])                # speaks from 3.0 s to 4.0 s
    recording = play_local(model, stimulus, constants, "mine")

    stream = ScriptedStream(reply(3000, 1000, speed=4))  # the same second, sent in 250 ms
    recording = virtual_run(play_stream(stream, stimulus, constants, "mine", WallClock()))
"""

from __future__ import annotations

from dsb_ifeval.testing.cases import make_case, make_stimulus, speech
from dsb_ifeval.testing.loop import Hang, VirtualLoop, assert_no_tasks, virtual_run
from dsb_ifeval.testing.models import Arrival, ScriptedModel, ScriptedStream, reply

__all__ = [
    "Arrival",
    "Hang",
    "ScriptedModel",
    "ScriptedStream",
    "VirtualLoop",
    "assert_no_tasks",
    "make_case",
    "make_stimulus",
    "reply",
    "speech",
    "virtual_run",
]
