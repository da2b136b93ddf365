"""Which processes still run."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib


def naming(word):
    """Those with this word in their command line."""
    def has(pid):
        try:
            return str(word).encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and has(pid)]
