"""Studies whose quick form is printed only in their help: study_test.py runs it; no other test
needs to."""
# SPDX-License-Identifier: BSD-3-Clause
NAMES = frozenset({
    "conzone-fig6a", "conzone-fig6b", "conzone-fig7", "conzone-fig8", "conzone-readings", "conzone-sensitivity", "mcmq-table1", "zms-multizone", "zufs-fig8",
})
_run = set()


def command(name):
    """As it is printed."""
    return f"./hartzone study {name} --quick"


def note(name):
    """study_test.py runs it."""
    assert name in NAMES, f"{name} belongs into tests/studies/quick_forms.py"
    _run.add(name)


def missing():
    return NAMES - _run
