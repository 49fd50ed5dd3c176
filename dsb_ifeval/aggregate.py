"""IAS over groups of verdicts, always with N, unscored cases and an interval (Section 4)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from dsb_ifeval.cases import Case
from dsb_ifeval.errors import MissingExtra
from dsb_ifeval.verifiers import Outcome, Verdict

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Ias:
    """A pass rate that can be checked by hand.

    Attributes:
        passed: cases that passed.
        scored: N, the denominator.
        unscored: planned cases without a verdict; not in the denominator.
    """

    passed: int
    scored: int
    unscored: int

    @property
    def rate(self) -> float | None:
        """Passed / scored, None when nothing was scored."""
        return self.passed / self.scored if self.scored else None

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """Wilson score interval of the rate, None when nothing was scored.

        Raises:
            MissingExtra: scipy is not installed.
        """
        if not self.scored:
            return None
        try:
            from scipy.stats import binomtest
        except ImportError as error:
            raise MissingExtra(
                "intervals need scipy; install: pip install 'dsb-ifeval[score]' "
                "(recordings and verdicts are written, nothing is lost)"
            ) from error
        found = binomtest(self.passed, self.scored).proportion_ci(confidence, method="wilson")
        return float(found.low), float(found.high)


def ias(verdicts: Iterable[Verdict]) -> Ias:
    """Count outcomes.

    >>> ias([Verdict("a", Outcome.PASS), Verdict("b", Outcome.UNSCORED)])
    Ias(passed=1, scored=1, unscored=1)
    """
    outcomes = [verdict.outcome for verdict in verdicts]
    passed, failed = outcomes.count(Outcome.PASS), outcomes.count(Outcome.FAIL)
    return Ias(passed, passed + failed, len(outcomes) - passed - failed)


def grouped(
    cases: Sequence[Case], verdicts: Sequence[Verdict], key: Callable[[Case], Key]
) -> Mapping[Key, Ias]:
    """IAS per group of cases, in the order in which groups first appear.

    Raises:
        ValueError: the verdicts are not those of the cases, in the same order.
    """
    groups: dict[Key, list[Verdict]] = {}
    for case, verdict in zip(cases, verdicts, strict=True):
        if case.case_id != verdict.case_id:
            raise ValueError(f"verdict of {verdict.case_id} stands beside case {case.case_id}")
        groups.setdefault(key(case), []).append(verdict)
    return {group: ias(members) for group, members in groups.items()}
