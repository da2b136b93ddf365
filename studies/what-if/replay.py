"""Does the jobs of a recording again, under other locks: when the last of them completes."""
# SPDX-License-Identifier: BSD-3-Clause
import collections
import heapq

import rules
from recording import BEGUN, COMPLETE, COMPLETED, GIVE, PASS, PASSED, STARTED, TAKE, WORK


class Hart:
    def __init__(self, number, jobs):
        self.number, self.bit, self.clock, self.spare = number, 1 << number, 0, None
        self.jobs, self.ready = jobs, [] # ready: (from when on, place among the jobs)
        self.held = {}                   # lock → how often
        self.due = None                  # number of the event with which it goes on
        self.sleeps = False              # for want of a job


class Replay:
    """parameters: as the virtual clock reports them. mapped(lock): which lock stands for it. hold: factor of the work in sections. kept:
    factor of the time that programs and erases keep reads from beginning: the same number of them, in more time, meets fewer reads."""

    def __init__(self, recording, parameters, kind, mapped=lambda lock: lock, hold=1.0, kept=1.0):
        self.recording, self.mapped, self.hold = recording, mapped, hold
        self.kind, self.costs = rules.KINDS[kind], rules.Costs(parameters, self.resume)
        self.locks, self.events, self.count, self.ended = {}, [], 0, 0
        self.completed, self.kept = collections.Counter(), kept
        self.served, self.dies = collections.Counter(), collections.Counter() # until when
        self.followers = {}     # what happens → (job, cycles later)
        self.waits = {}         # job → for how many things, and when it may begin by those that have happened
        self.harts = {number: Hart(number, jobs) for number, jobs in recording.jobs.items()}

    def run(self):
        """Cycles from the first fetch to the last completion."""
        runs = {}
        for number, h in self.harts.items():
            runs[number] = self.life(h)
            for job in h.jobs:
                self.plan(job)
        self.happens((STARTED,), 0)
        for h in self.harts.values():
            self.schedule(h, 0)
        while self.events:
            when, number, event, do = heapq.heappop(self.events)
            if do:
                do(when)
                continue
            h = self.harts[number]
            if h.due == event:
                h.due, h.clock = None, max(h.clock, when)
                self.go_on(h, runs[number])
        if sum(self.completed.values()) < self.recording.completions:
            raise RuntimeError(f"only {sum(self.completed.values())} of {self.recording.completions} commands complete in the replay")
        return self.ended

    def go_on(self, h, run):
        """Until another hart has the smaller clock, or it waits."""
        while next(run) is not rules.WAIT:
            if self.events and (h.clock, h.number) > self.events[0][:2]:
                self.schedule(h, h.clock)
                return

    def schedule(self, h, when):
        self.count += 1
        h.due = self.count
        heapq.heappush(self.events, (when, h.number, h.due, None))

    def resume(self, h):
        self.schedule(h, h.clock)

    # When jobs may begin
    def plan(self, job):
        """What has no cause follows the job before it."""
        after = job.after or [((PASSED, (job.hart, job.place - 1)) if job.place else (STARTED,), 0, None)]
        self.waits[job] = [len(after), 0]
        for what, cycles, read in after:
            self.followers.setdefault(what, []).append((job, cycles, read))

    def happens(self, what, now):
        for job, cycles, read in self.followers.pop(what, ()):
            if read:
                self.at(now, read[0], lambda now, job=job, cycles=cycles, read=read: self.ask(now, job, cycles, *read))
            else:
                self.has_happened(job, now + cycles)

    def has_happened(self, job, when):
        waits = self.waits[job]
        waits[0] -= 1
        waits[1] = max(waits[1], when)
        if not waits[0]:
            self.may_begin(self.harts[job.hart], job, waits[1])

    # Flash: a hart that serves dies does one thing after the other, and so does a die
    def at(self, when, number, do):
        self.count += 1
        heapq.heappush(self.events, (when, number, self.count, do))

    def serve(self, tsu, now):
        self.served[tsu] = max(now, self.served[tsu]) + self.recording.tsu_work[tsu] / 2
        return self.served[tsu]

    def ask(self, now, job, cycles, tsu, die, takes, kept):
        self.dies[die] = max(self.dies[die], self.serve(tsu, now) + kept * self.kept) + takes
        self.at(self.dies[die], tsu, lambda now: self.has_happened(job, self.serve(tsu, now) + cycles))

    def may_begin(self, h, job, when):
        heapq.heappush(h.ready, (when, job.place))
        if h.sleeps:
            self.schedule(h, max(h.clock, h.ready[0][0]))

    # What a hart does
    def life(self, h):
        while True:
            while not h.ready or h.ready[0][0] > h.clock:
                h.sleeps = True
                if h.ready:
                    self.schedule(h, h.ready[0][0])
                yield rules.WAIT
                h.sleeps = False
            job = h.jobs[heapq.heappop(h.ready)[1]]
            self.happens((BEGUN, job), h.clock)
            yield from self.do(h, job.steps)
            self.happens((PASSED, (h.number, job.place)), h.clock)
            yield

    def do(self, h, steps):
        for what, *about in steps:
            if what == WORK:
                h.clock += round(about[0] * self.hold) if h.held else about[0]
            elif what == TAKE:
                yield from self.take(h, self.mapped(about[0]), about[1])
            elif what == GIVE:
                yield from self.give(h, self.mapped(about[0]))
            elif what == PASS:
                self.happens((PASSED, about[0]), h.clock)
            elif what == COMPLETE:
                queue, links = about
                self.happens((COMPLETED, queue, self.completed[queue]), h.clock + links)
                self.completed[queue] += 1
                self.ended = max(self.ended, h.clock + links)

    def take(self, h, lock, inside):
        waited = False
        if lock not in h.held:
            if lock not in self.locks:
                self.locks[lock] = self.kind(self.costs)
            waited = yield from self.locks[lock].take(h)
        h.clock += self.recording.inside if waited or inside is None else inside
        h.held[lock] = h.held.get(lock, 0) + 1

    def give(self, h, lock):
        h.held[lock] -= 1
        if not h.held[lock]:
            del h.held[lock]
            yield from self.locks[lock].give(h)
