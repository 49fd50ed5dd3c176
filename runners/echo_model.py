"""A complete system in one file: it repeats what it heard, 1 s after the user went quiet.

Run it with ``dsb-ifeval run runners/echo_model.py:Echo``; delete what it does and put yours there.
"""

import numpy as np


class Echo:
    """Hears and speaks 80 ms at a time; while the user speaks it listens and says nothing."""

    rate_hz = 24_000
    frame_samples = 1_920
    WAIT_MS = 1_000
    LOUD = 0.01  # RMS, full scale 1.0

    def reset(self, prompt):
        """Called before every case. A real model would apply the system prompt here."""
        self.memory = []
        self.quiet_ms = 0

    def step(self, frame):
        """Hear float32 (1920,) and return what sounds next: float32 or int16 audio, or None."""
        if np.sqrt(np.mean(frame**2)) > self.LOUD:
            self.memory.append(frame)
            self.quiet_ms = 0
            return None
        self.quiet_ms += 80
        if self.quiet_ms < self.WAIT_MS or not self.memory:
            return None
        return self.memory.pop(0)
