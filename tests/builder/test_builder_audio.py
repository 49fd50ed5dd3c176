"""Word times, clips and assembled turns."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dataset_builder.assemble import Silence, Speech, assemble
from dataset_builder.clips import Clip, make_clip
from dataset_builder.engines.base import TimedWord, Utterance
from dataset_builder.engines.phonemes import Phoneme
from dataset_builder.engines.timing import word_times
from dataset_builder.errors import SynthesisError
from dataset_builder.verbalise import Spoken, verbalise
from dsb_ifeval.intervals import Interval
from dsb_ifeval.vocab import TurnMode

from .conftest import ToneEngine

pytestmark = pytest.mark.unit

RATE = 24_000


def _phonemes(text: str) -> list[Phoneme]:
    """One symbol per character: letters and marks of words, spaces between them."""
    phonemes, word = [], 0
    for symbol in text:
        if symbol == " ":
            word += 1
        phonemes.append(Phoneme(symbol, 1, None if symbol == " " else word))
    return phonemes


def _sound(*spans_s: tuple[float, float], length_s: float) -> np.ndarray:
    samples = np.zeros(round(length_s * RATE), np.float32)
    for start, end in spans_s:
        samples[round(start * RATE) : round(end * RATE)] = 0.2
    return samples


def test_space_frames_belong_to_the_next_word() -> None:
    """25 ms frames: boundary 4, a 2, b 2, space 1, c 4, boundary 3::

    frames   0....4  a.b.  sp  c....  ...
    seconds  0    0.1  0.2 0.225  0.325
    """
    samples = _sound((0.1, 0.325), length_s=0.4)
    times = word_times(_phonemes("ab c"), [4, 2, 2, 1, 4, 3], samples, 0.0)
    assert np.allclose(times, [(0.1, 0.2), (0.2, 0.33)], atol=0.006)


def test_edges_at_a_pause_follow_the_sound() -> None:
    """The comma's frames are silent: "a" stops and "b" starts where the sound does."""
    samples = _sound((0.10, 0.28), (0.52, 0.70), length_s=0.8)
    times = word_times(_phonemes("a, b"), [4, 8, 8, 2, 6, 4], samples, 0.0)
    assert np.allclose(times, [(0.10, 0.28), (0.52, 0.70)], atol=0.011)


def test_times_stay_inside_the_waveform_and_in_order() -> None:
    samples = _sound((0.0, 0.2), length_s=0.2)
    times = word_times(_phonemes("a b c"), [0, 2, 1, 2, 1, 2, 0], samples, 0.1)
    flat = [edge for time in times for edge in time]
    assert flat[0] >= 0
    assert max(flat) <= 0.2
    assert all(start <= end for start, end in times)


def test_clip_is_trimmed_padded_and_faded() -> None:
    samples = _sound((0.30, 1.00), length_s=1.5)
    clip = make_clip(Utterance(samples, (TimedWord("hello", 0.30, 1.00),)))
    assert len(clip.pcm) == round(0.76 * RATE)  # 0.70 s of sound and 30 ms on either side
    assert clip.pcm.dtype == np.int16
    assert clip.pcm[0] == 0
    assert clip.pcm[-1] == 0
    assert clip.pcm[RATE // 2] == round(0.2 * 32767)
    assert np.isclose(clip.words[0].start_s, 0.03)
    assert np.isclose(clip.words[0].end_s, 0.73)


def test_fades_last_five_milliseconds() -> None:
    samples = np.full(RATE, 0.5, np.float32)
    pcm = make_clip(Utterance(samples, (TimedWord("a", 0, 1),))).pcm
    assert np.all(np.diff(pcm[:120].astype(int)) >= 0)
    assert pcm[120] == pcm[-121] == round(0.5 * 32767)


def test_silence_is_no_clip() -> None:
    quiet = np.full(RATE, 0.001, np.float32)  # -60 dBFS
    with pytest.raises(SynthesisError, match="no audible sound in 'hush'"):
        make_clip(Utterance(quiet, (TimedWord("hush", 0, 1),)))


def _clip(length: int, *words: TimedWord) -> Clip:
    return Clip(np.arange(1, length + 1, dtype=np.int16), words)


def test_turn_has_exact_silences_and_known_events() -> None:
    first = _clip(2400, TimedWord("a", 0.01, 0.05))
    second = _clip(4801, TimedWord("b", 0.0, 0.1))
    built = assemble(
        [
            Speech("s1", (Spoken("a", "a"),), first),
            Silence("s2", 1500),
            Speech("s3", (Spoken("b", "b"),), second),
        ],
        TurnMode.BARGE_IN,
        3000,
    )
    turn = built.turn
    assert [segment.span for segment in turn.segments] == [
        Interval(0, 100),
        Interval(100, 1600),
        Interval(1600, 1800),
    ]
    assert not built.pcm[2400 : 2400 + 36_000].any()
    assert turn.samples == len(built.pcm) == 2400 + 36_000 + 4801
    assert turn.sha256 == hashlib.sha256(built.pcm.astype("<i2").tobytes()).hexdigest()
    assert (turn.mode, turn.barge_in_after_ms) == (TurnMode.BARGE_IN, 3000)
    assert turn.segment("s3").words[0].span == Interval(1600, 1700)
    assert turn.text == "a b"


def test_words_keep_their_display_form() -> None:
    """ "911" is said as three words; the display word lasts from the first to the last."""
    words = verbalise("Call 911 now.")
    engine = ToneEngine()
    clip = make_clip(engine.synthesize(" ".join(word.spoken for word in words), "alto"))
    (segment,) = assemble([Speech("s1", words, clip)]).turn.segments
    assert [word.text for word in segment.words] == ["Call", "911", "now."]
    assert segment.words[1].span == Interval(30 + 270, 30 + 270 * 3 + 250)
    assert segment.text == "Call 911 now."
