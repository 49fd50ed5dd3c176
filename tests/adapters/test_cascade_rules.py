"""The rules of the cascade that need no speech: prompt to timing, prompt and words to reply."""

import os
import subprocess
import sys

import pytest

from dsb_ifeval.adapters.cascade_manner import manner_of
from dsb_ifeval.adapters.cascade_rules import Rules, details, sentences, spell_digits

ENDPOINT_MS, LATENCY_MS = 800, 300
HEARD = "Hello there. I live at 4471 Alder Court. It is near the park."


@pytest.mark.parametrize(
    ("prompt", "endpoint_ms"),
    [
        ("", 800),
        ("You are a helpful assistant.", 800),
        # 1000 - 300 latency - 200 for the VAD
        ("Do not leave gaps longer than a second.", 500),
        ("Never leave a pause longer than about 1 second.", 500),
        # 1500 - 500 is longer than the 800 that are configured
        ("Don’t leave gaps longer than a second and a half.", 800),
        ("Hold off for at least six seconds.", 6000),
        ("Remain silent through gaps of ten seconds or more, and do not fill them.", 10_000),
        ("Keep replies under eight seconds and do not leave gaps longer than a second.", 500),
        ("If they stop, hold off — they are not done.", 3000),
        ("Your voice returns to stillness.", 3000),
        ("Answer at once.", 500),
        ("Nothing here is urgent.", 800),
        ("You do not need to hold off for them.", 800),
        # the last sentence that says something counts
        ("Take the floor immediately. Hold off for at least six seconds.", 6000),
        ("Hold off. Answer right away.", 500),
    ],
)
def test_endpoint_follows_the_words_of_the_prompt(prompt, endpoint_ms):
    assert manner_of(prompt, ENDPOINT_MS, LATENCY_MS).endpoint_ms == endpoint_ms


def test_quick_words_never_make_a_quick_agent_slower():
    assert manner_of("Answer fast.", 300, 0).endpoint_ms == 300


def test_patient_prompts_slow_the_voice():
    assert manner_of("Sessions are unhurried.", 800, 300).speed < 1.0
    assert manner_of("", 800, 300).speed == 1.0


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("", "Okay. You said, It is near the park. Please go on."),
        (
            "State any address back.",
            "I have, I live at four four seven one Alder Court. Is that right?",
        ),
        ("You are a tutor.", "You said, It is near the park. What makes you sure of that step?"),
        ("Remain silent while they talk.", "Take your time."),
    ],
)
def test_reply_depends_on_prompt(prompt, reply):
    assert Rules().answer(prompt, (), HEARD) == reply


def test_ambiguous_orders_are_asked_about_only_when_vague():
    prompt = "If an item is ambiguous, resolve it. State the full order back."
    assert "Which one" in Rules().answer(prompt, (), "I want the medium one.")
    assert Rules().answer(prompt, (), "I want two colas.").startswith("I have, I want two colas.")


def test_questions_get_an_answer_not_an_acknowledgement():
    assert Rules().answer("", (), "Is it open?").startswith("You asked, Is it open?")
    assert Rules().answer("Remain silent.", (), "May I move?") == "Yes, if you like."


def test_read_back_without_details_repeats_the_last_sentence():
    assert Rules().answer("Confirm it.", (), "So. It hurts.") == "I have, It hurts. Is that right?"


def test_details_are_clauses_with_numbers_or_names():
    assert details(HEARD) == ["I live at 4471 Alder Court"]
    assert details("I think I hurt it.") == []
    assert details("I took fifteen of them. Then I slept.") == ["I took fifteen of them"]


def test_long_numbers_are_spelled_and_short_ones_are_not():
    assert spell_digits("555-0147") == "five five five, zero one four seven"
    assert spell_digits("12.50 and 25 and 9/11 and $1,200") == "12.50 and 25 and 9/11 and $1,200"


def test_sentences_of_nothing_is_one_empty_sentence():
    assert sentences("") == [""]


def test_importing_the_module_loads_no_model_package():
    code = (
        "import sys, dsb_ifeval.adapters.cascade, dsb_ifeval.adapters.cascade_llm\n"
        "heavy = {'torch', 'faster_whisper', 'ctranslate2', 'hibari', 'xllamacpp', 'onnxruntime'}\n"
        "print(*heavy & set(sys.modules))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run(
        [sys.executable, "-c", code], check=True, env=env, capture_output=True, text=True
    )
    assert made.stdout.strip() == ""
