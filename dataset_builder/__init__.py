"""Builds the DSB-IFEval dataset: scripts -> speech -> assembled turns -> Parquet folder.

Run ``python -m dataset_builder --help``. The scripts are in ``conversations/``; nothing in
the library or the runners imports this package.
"""

RELEASED_ENGINE = "kokoro"
"""The speech engine of the published dataset, and the default."""
