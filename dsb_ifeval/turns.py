"""The turn manager: what the user side does next (Appendix F.2, benchmark section 7).

Sans-I/O. Every 20 ms it is told the time and what the model is doing, and answers what the
user sends for the coming 20 ms. It knows no audio, no clock and no provider, so hosted,
local and simulated sessions follow one schedule.

::

    take-turn   TURN1 -> wait for the model's turn to end -> TURN2 -> tail -> final wait -> trailing
    barge-in    TURN1 -> wait for onset -> delay          -> TURN2 -> tail -> final wait -> trailing
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from dsb_ifeval.benchmark.model import SessionConstants
from dsb_ifeval.vocab import TurnMode


class Play(Enum):
    """What the user side sends in the coming chunk."""

    TURN1 = auto()
    TURN2 = auto()
    SILENCE = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """The user's side of one case; durations in ms.

    Attributes:
        barge_in_after_ms: only for ``TurnMode.BARGE_IN``.
        window_end_ms: end of the trigger window after turn-2 onset; recorded to the end.
    """

    mode: TurnMode
    turn1_ms: int
    turn2_ms: int
    window_end_ms: int
    barge_in_after_ms: int = 0


@dataclass(frozen=True, slots=True)
class ModelState:
    """The model's side at one instant, as heard on the session clock.

    Attributes:
        active: the speech tracker says it is speaking now.
        last_onset_ms: start of its latest speech, None before any.
        last_offset_ms: end of its latest finished speech, None before any.
        busy: a provider announced a response that has not been completed.
        done_ms: for providers with completion events, the later of the last completion and
            the end of the audio placed so far; None for all others.
    """

    active: bool = False
    last_onset_ms: int | None = None
    last_offset_ms: int | None = None
    busy: bool = False
    done_ms: int | None = None

    @property
    def speaking(self) -> bool:
        """It holds the floor: audibly, or with a reply under way."""
        return self.active or self.busy

    def quiet_since_ms(self) -> int:
        """When the model's latest turn ended; only meaningful when it is not speaking."""
        return max(self.last_offset_ms or 0, self.done_ms or 0)


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """What happened, for the record (session clock, ms).

    Attributes:
        model_onset_ms: barge-in cases: the onset the injection was timed from.
        trigger_valid: False when a barge-in was delivered to a model that never spoke.
        turn1_yielded: False when turn 2 started over a model that would not stop.
    """

    turn2_onset_ms: int
    end_ms: int
    model_onset_ms: int | None
    trigger_valid: bool
    turn1_yielded: bool


class TurnManager:
    """Drives the user side of one session through bounded waits."""

    def __init__(self, plan: TurnPlan, constants: SessionConstants) -> None:
        self._plan = plan
        self._constants = constants
        self._turn2_onset: int | None = None
        self._model_onset: int | None = None
        self._replied = False
        self._spoke_last = False
        self._trigger_valid = True
        self._yielded = True
        self._end: int | None = None

    def step(self, now_ms: int, model: ModelState) -> Play:
        """What to send for ``[now_ms, now_ms + chunk)``."""
        if now_ms < self._plan.turn1_ms:
            return Play.TURN1
        if self._turn2_onset is None and self._turn2_due(now_ms, model):
            self._turn2_onset = now_ms
        if self._turn2_onset is None:
            return Play.SILENCE
        if now_ms < self._turn2_onset + self._plan.turn2_ms:
            return Play.TURN2
        if self._end is None:
            self._end = self._closing_time(now_ms, model)
        if self._end is not None and now_ms >= self._end:
            self._end = now_ms
            return Play.END
        return Play.SILENCE

    def facts(self) -> TurnFacts:
        """The schedule as it was played; only after :data:`Play.END`."""
        if self._turn2_onset is None or self._end is None:
            raise RuntimeError("the session has not ended")
        return TurnFacts(
            turn2_onset_ms=self._turn2_onset,
            end_ms=self._end,
            model_onset_ms=self._model_onset,
            trigger_valid=self._trigger_valid,
            turn1_yielded=self._yielded,
        )

    def _turn2_due(self, now_ms: int, model: ModelState) -> bool:
        if self._plan.mode is TurnMode.BARGE_IN:
            return self._barge_in_due(now_ms, model)
        return self._turn_taken(now_ms, model)

    def _turn_taken(self, now_ms: int, model: ModelState) -> bool:
        constants, waited = self._constants, now_ms - self._plan.turn1_ms
        since_turn1 = model.quiet_since_ms() > self._plan.turn1_ms
        self._replied = self._replied or model.busy or since_turn1
        if not self._replied and not model.active:
            return waited >= constants.take_turn_onset_wait_ms
        if not model.speaking and now_ms - model.quiet_since_ms() >= constants.settle_ms:
            return True
        if waited >= constants.take_turn_max_ms:
            self._yielded = False
            return True
        return False

    def _barge_in_due(self, now_ms: int, model: ModelState) -> bool:
        if self._model_onset is None and model.active:
            onset = model.last_onset_ms if model.last_onset_ms is not None else now_ms
            self._model_onset = max(onset, self._plan.turn1_ms)
        elif not model.active and (model.last_offset_ms or 0) <= self._plan.turn1_ms:
            self._model_onset = None  # a pause known late: it was over when turn 1 ended
        if self._model_onset is not None:
            return now_ms >= self._model_onset + self._plan.barge_in_after_ms
        if now_ms - self._plan.turn1_ms >= self._constants.barge_in_onset_wait_ms:
            self._trigger_valid = False
            return True
        return False

    def _closing_time(self, now_ms: int, model: ModelState) -> int | None:
        """When the recording ends, once that is known; None while the model may go on."""
        assert self._turn2_onset is not None
        constants = self._constants
        turn2_end = self._turn2_onset + self._plan.turn2_ms
        self._spoke_last = self._spoke_last or model.busy or model.quiet_since_ms() > turn2_end
        wait_start = turn2_end + constants.tail_ms
        waited = now_ms - wait_start
        if waited < 0:
            return None
        if not self._spoke_last and not model.active:
            over = waited >= constants.final_onset_wait_ms
        elif model.speaking:
            over = waited >= constants.final_max_ms
        else:
            over = (
                now_ms - model.quiet_since_ms() >= constants.final_quiet_ms
                or waited >= constants.final_max_ms
            )
        if not over:
            return None
        return max(now_ms + constants.trailing_ms, self._turn2_onset + self._plan.window_end_ms)
