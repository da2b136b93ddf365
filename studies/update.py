#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""./hartzone study --update: runs every study whose figures README files show, and writes their tables anew. Runs that an earlier call
made with the same programs are kept."""
import sys

from common import frame, readme, runs


def update():
    failed = 0
    for name in readme.shown_studies("rows") + readme.shown_studies("tables"):
        print(f"study {name}", file=sys.stderr)
        code = frame.run(readme.module(name), ["--update", "--resume"])
        if code == runs.INTERRUPTED:
            return code
        failed = failed or code
    return failed


if __name__ == "__main__":
    runs.main(update)
