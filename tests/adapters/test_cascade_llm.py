"""SmolLM2 as the cascade's mind: what it is told, and that it remembers nothing by itself."""

from functools import cache

import pytest

from dsb_ifeval.adapters import SYSTEMS, load_system, missing_packages
from dsb_ifeval.adapters.cascade_llm import SmallModel, messages, speakable
from dsb_ifeval.adapters.cascade_models import package_file
from dsb_ifeval.errors import AdapterUnavailable

speech = [
    pytest.mark.speech,
    pytest.mark.skipif(
        bool(missing_packages(SYSTEMS["cascade-llm"])), reason="needs cascade-llm extra"
    ),
]


def with_speech(test):
    for mark in speech:
        test = mark(test)
    return test


@cache
def model():
    return SmallModel()


NURSE = "You are a triage nurse. Confirm any medication by stating it back."
A = (NURSE, (), "He takes metoprolol, twenty five milligrams.")
B = ("You are a meditation instructor.", (("Hello.", "Welcome."),), "Should I close my eyes?")


def test_messages_are_prompt_dialogue_and_the_new_words():
    listed = messages("Be kind.", [("Hi.", "Hello."), ("I am", "")], "sad.")
    # a reply that was cut before its first frame is not part of the dialogue
    assert [m["content"] for m in listed] == ["Be kind.", "Hi.", "Hello.", "I am", "sad."]


def test_messages_keep_the_newest_words_of_a_long_dialogue():
    # exchanges of 50 + 50 words: three are 300 words, a fourth would be more
    dialogue = [(f"{index} " * 50, "yes " * 50) for index in range(9)]
    listed = messages("", dialogue, "c")
    assert len(listed) == 2 * 3 + 1
    assert listed[0]["content"].startswith("6 ")


def test_speakable_keeps_whole_sentences_of_a_cut_answer():
    assert speakable("One. Two. Thr", cut=True) == "One. Two."
    assert speakable("One. Two. Thr", cut=False) == "One. Two. Thr"
    assert speakable("no end in sight", cut=True) == "no end in sight"
    assert speakable(" a\n\n b ", cut=False) == "a b"


@with_speech
def test_answer_alone_equals_answer_after_another():
    alone = model().answer(*A)
    assert alone
    assert model().answer(*B) != alone
    assert model().answer(*A) == alone == SmallModel().answer(*A)


@with_speech
def test_answer_depends_on_prompt_and_dialogue():
    words = A[2]
    answers = {
        model().answer(NURSE, (), words),
        model().answer("You are an improv partner on stage.", (), words),
        model().answer(NURSE, (("My name is Tom.", "Hello Tom."),), words),
    }
    assert len(answers) == 3


@with_speech
def test_system_loads_by_name():
    assert "SmolLM2" in load_system("cascade-llm").settings["mind"]["model"]


def test_missing_and_changed_model_files_are_named(tmp_path, monkeypatch):
    with pytest.raises(AdapterUnavailable, match="no_such_package_xyz is not installed"):
        package_file("no_such_package_xyz", "model.bin", "00")
    package = tmp_path / "fake_model_pkg"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (package / "model.bin").write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(AdapterUnavailable, match="expected 00"):
        package_file("fake_model_pkg", "model.bin", "00")
    with pytest.raises(AdapterUnavailable, match="reinstall"):
        package_file("fake_model_pkg", "other.bin", "00")
