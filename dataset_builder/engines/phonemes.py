"""Words to phonemes, keeping which phoneme belongs to which word.

Both engines share one alphabet (Kokoro's, as in misaki) and one grapheme-to-phoneme
converter, the one inside ``hibari-tts`` (no espeak, no torch). Its own text normalisation is
switched off: it would read "no." as "number", and it would break the one-to-one map from
words to times. ``verbalise`` has spelled everything out before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ..errors import SynthesisError

PAUSES = frozenset(";:,.!?—…")
"""Symbols at which the voice may fall silent."""

_MUTE = PAUSES | frozenset('"()“” ')


@dataclass(frozen=True, slots=True)
class Phoneme:
    """One symbol the model sees: an id, the word it belongs to (None for a space)."""

    symbol: str
    id: int
    word: int | None

    @property
    def is_speech(self) -> bool:
        return self.symbol not in _MUTE


@cache
def vocabulary() -> Mapping[str, int]:
    """Symbol ids shared by hibari and Kokoro."""
    text = resources.files("hibari").joinpath("assets/vocab.json").read_text("utf-8")
    table: Mapping[str, int] = json.loads(text)
    return table


def phonemize(words: list[str], british: bool = False) -> list[Phoneme]:
    """Phonemes of spoken words, with a space symbol between words.

    Raises:
        SynthesisError: a word has no pronunciation (nothing in it can be spoken).
    """
    sounds = _sounds(words, british)
    ids = vocabulary()
    phonemes: list[Phoneme] = []
    for index, (word, sound) in enumerate(zip(words, sounds, strict=True)):
        if index:
            phonemes.append(Phoneme(" ", ids[" "], None))
        own = [Phoneme(symbol, ids[symbol], index) for symbol in sound if symbol in ids]
        if not any(phoneme.is_speech for phoneme in own):
            raise SynthesisError(
                f"cannot pronounce {word!r} in {' '.join(words)!r}: write it as it is spoken"
            )
        phonemes.extend(own)
    return phonemes


def _sounds(words: list[str], british: bool) -> list[str]:
    """The phoneme string of each word; the whole sentence is read at once for its context."""
    converter = _converter(british)
    text = " ".join(words).replace("’", "'")
    sounds, current = [], ""
    for token in converter.phonemize_tokens(converter.tokenize(text)):
        current += token.phonemes or ""
        if token.whitespace:
            sounds.append(current.strip())
            current = ""
    sounds.append(current.strip())
    if len(sounds) != len(words):
        raise SynthesisError(f"{len(words)} words became {len(sounds)} groups of sounds: {text!r}")
    return sounds


@cache
def _converter(british: bool) -> Any:
    from hibari.g2p import G2P

    return G2P(british=british)
