"""Studies whose quick form study_test.py runs and holds to what it must show; nobody else in the suite needs to run it again."""
# SPDX-License-Identifier: BSD-3-Clause
NAMES = frozenset({
    "conzone-contention", "conzone-f2fs", "conzone-fig6a", "conzone-fig6b", "conzone-fig7", "conzone-fig8", "conzone-l2p-log", "conzone-readings",
    "conzone-sensitivity", "conzone-slc-gc", "conzone-zone-size", "mcmq-table1", "zms-multizone", "zms-random-read", "zms-random-write",
    "zms-sync-update", "zufs-fig4", "zufs-fig7", "zufs-fig8", "zufs-fig9-10",
})
_run = set()


def note(name):
    """study_test.py runs it."""
    assert name in NAMES, f"{name} belongs into tests/studies/quick_forms.py"
    _run.add(name)


def missing():
    return NAMES - _run
