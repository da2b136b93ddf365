"""Parallel runs, one for each core of the host. They begin in the order of their names, and may end
in any."""
# SPDX-License-Identifier: BSD-3-Clause
import collections
import os
import select

from common import runs


def jobs():
    """How many at a time."""
    return int(os.environ.get("HARTZONE_JOBS") or len(os.sched_getaffinity(0)))


class SideBySide:
    """wanted: (folder, device, workload, options); none begins before the first result is
    requested."""

    def __init__(self, wanted):
        runs.driver()  # or no run could begin
        self.jobs, self.waiting, self.running, self.ended = jobs(), collections.deque(wanted), {}, {}

    def result(self, out, extra):
        """Of the run in this folder, when it has ended. Raises StudyError if it failed or if its figures are not repeatable."""
        while out not in self.ended:
            while self.waiting and len(self.running) < self.jobs:
                folder, *what = self.waiting.popleft()
                self.running[folder] = runs.begin(folder, *what)
            self.wait_for_one()
        return runs.result_of(out, extra, self.ended.pop(out))

    def wait_for_one(self):
        by_file = {os.pidfd_open(child.pid): folder for folder, child in self.running.items()}
        try:
            poll = select.poll()
            for file in by_file:
                poll.register(file, select.POLLIN)
            for file, _ in poll.poll():
                self.ended[by_file[file]] = self.running.pop(by_file[file]).wait()
        finally:
            for file in by_file:
                os.close(file)

    def stop(self):
        """Ends those that are under way; the others never begin."""
        self.waiting.clear()
        runs.stop(self.running.values())
        self.running.clear()
