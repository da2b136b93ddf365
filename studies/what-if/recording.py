"""A recording of the virtual clock (docs/virtual-clock.md, "Recordings") as jobs of harts, which follow each other.

A job is what a hart does from taking over a request, or from idling, until it does so again: work, locks taken and given back, requests
passed on. It begins when its hart is free and all that it follows has happened, some cycles later: a request has been passed on to it; the
host could send it, since another one has completed; the flash has ended what was begun while its hart did an earlier job. How many cycles
is what was recorded where the hart was idle until then; else what is usual."""
# SPDX-License-Identifier: BSD-3-Clause
import bisect
import collections
import statistics

WORK, TAKE, GIVE, PASS, COMPLETE = range(5) # steps of a job: (WORK, cycles), (TAKE, lock, work before it is noted), (GIVE, lock), (PASS, number),
# (COMPLETE, queue, cycles later)
# What a job follows: (PASSED, number), (COMPLETED, queue, how many), (BEGUN, job), (STARTED,): the recording
PASSED, COMPLETED, BEGUN, STARTED = range(4)
USUAL_INSIDE = 45 # instructions from the access that ends a wait to the note of it, where a recording has no wait


class Job:
    __slots__ = ("hart", "place", "steps", "begun", "idle", "kind", "after")

    def __init__(self, hart, place, begun, idle, kind):
        self.hart, self.place, self.steps, self.begun, self.idle, self.kind, self.after = hart, place, [], begun, idle, kind, []


class Hart:
    """While its events are read."""

    def __init__(self):
        self.last, self.letter = None, "" # its last event: clock, stalled, waited; and which it was
        self.held, self.job, self.idle = [], None, False
        self.since = 0      # work that is not yet in a job
        self.gives = None   # the lock that its next access gives back
        self.release_cost = 0
        self.request = None


class Queue:
    """Of submissions: it is known by the first hart that works at its commands after their fetch."""

    def __init__(self):
        self.fetches, self.completions = [], [] # jobs, clocks
        self.most = 0                           # commands between the two


class Request:
    def __init__(self):
        self.passed, self.clock, self.letter, self.flash, self.fetch, self.queue = None, 0, "", 0, None, None
        self.crossed = 0 # when its data have crossed the link


class Recording:
    def __init__(self, file, local, remote):
        self.local, self.remote = local, remote
        self.jobs, self.harts, self.requests = collections.defaultdict(list), collections.defaultdict(Hart), collections.defaultdict(Request)
        self.queues = collections.defaultdict(Queue)
        self.owners, self.waiters, self.passes = {}, collections.Counter(), 0
        self.insides = []                               # of those who waited
        self.way_cycles = collections.defaultdict(list) # kind → of jobs whose hart was idle before
        self.ways, self.flash = [], []                  # (job, kind, what, own, took); (end, begin)
        self.spans, self.tsus = {}, {}                  # end → (hart that serves the die, die, how long); hart → what it worked
        self.programs = {}                              # and erases: die → [(begin, end)]
        with open(file, encoding="ascii") as lines:
            for line in lines:
                letter, *numbers = line.split()
                self.event(letter, *map(int, numbers))
        self.first = min(q.fetches[0].begun for q in self.queues.values())
        self.last = max(q.completions[-1] for q in self.queues.values())
        self.completions = sum(len(q.completions) for q in self.queues.values())
        self.follow()

    @property
    def cycles(self):
        return self.last - self.first

    # One event: what its hart has done since its last one, and what it does now.
    def event(self, letter, hart, clock, stalled, waited, what, more=0, die=0, op=0):
        if letter == "p":
            self.note_flash(hart, clock - waited, what, more, die, op)
            return
        h = self.harts[hart]
        before = h.last or (clock, stalled, waited)
        self.pass_time(h, hart, letter, clock, *(now - then for now, then in zip((clock, stalled, waited), before)), what)
        getattr(self, "on_" + letter)(h, hart, clock, what, more)
        h.last, h.letter = (clock, stalled, waited), letter

    def note_flash(self, tsu, worked, begin, end, die, op):
        """A die has done something; the hart that tells serves the dies."""
        self.flash.append((end, begin))
        if op == 0:
            self.spans[end] = (tsu, die, begin)
        else:
            self.programs.setdefault(die, []).append((begin, end))
        self.tsus.setdefault(tsu, []).append(worked)

    def pass_time(self, h, hart, letter, clock, passed, stalled, waited, what):
        if letter == "W":
            return # how long a wait takes is for the replay to say
        usual = h.release_cost if h.letter == "o" else 0
        if letter == "A" or letter in "GS" and h.letter != "W":
            usual += self.local if self.owners.get(what) == hart else self.remote
        h.since += passed - waited - stalled + max(0, stalled - usual)
        h.idle = waited > 0 or h.idle and h.letter == "x"
        if h.held or h.gives or h.job and letter in "frx":
            return
        if not h.job or waited > 0:
            self.begin(h, hart, clock, None)

    def begin(self, h, hart, clock, kind):
        h.job = Job(hart, len(self.jobs[hart]), clock, h.idle, kind)
        self.jobs[hart].append(h.job)

    def do(self, h, *step):
        if h.since:
            h.job.steps.append((WORK, h.since))
            h.since = 0
        h.job.steps.append(step)

    def take_over(self, h, hart, clock, kind):
        """What its hart has done before belongs to the job before, unless it was idle."""
        if not h.idle:
            h.job.steps.append((WORK, h.since))
            h.since = 0
        self.begin(h, hart, clock, kind)

    def on_A(self, h, hart, clock, lock, _):
        self.waiters[lock] += 1

    def on_W(self, h, hart, clock, lock, _):
        self.waiters[lock] -= 1

    def on_G(self, h, hart, clock, lock, inside):
        """Its last access got the lock; what it did since is done with it. Who has waited has more to do."""
        waited = h.letter == "W"
        h.since = max(0, h.since - inside)
        self.do(h, TAKE, lock, None if waited else inside)
        if waited:
            self.insides.append(inside)
        h.held.append(lock)
        self.owners[lock] = hart

    on_S = on_G

    def on_R(self, h, hart, clock, lock, _):
        if lock in h.held:
            h.held.remove(lock)
            h.gives = lock
        h.release_cost = self.remote if self.waiters[lock] else self.local

    def on_o(self, h, *_):
        """The access that gives a lock back."""
        if h.gives:
            self.do(h, GIVE, h.gives)
        h.gives = None

    def on_f(self, h, hart, clock, address, _):
        h.request = self.requests[address] = Request()
        self.take_over(h, hart, clock, "host")
        h.request.fetch = h.job

    def on_r(self, h, hart, clock, address, _):
        r = h.request = self.requests[address]
        if r.fetch and not r.queue:
            r.queue = self.queues[hart]
            r.queue.fetches.append(r.fetch)
            r.queue.most = max(r.queue.most, len(r.queue.fetches) - len(r.queue.completions))
        if r.passed is not None and not h.held:
            self.take_over(h, hart, clock, r.letter + ("x" if r.flash else ""))
            self.follows(h.job, (PASSED, r.passed), (r.clock, r.flash) if r.flash in self.spans else 0, clock - r.clock)
        r.letter, r.flash = "", 0

    def follows(self, job, what, own, took):
        """own: 0, or what it waits for: a read that was asked for then and ended then."""
        self.ways.append((job, what, own, took))
        if job.idle:
            self.way_cycles[job.kind].append(took)

    def pass_on(self, h, clock, address, letter):
        r = self.requests[address]
        self.passes += 1
        r.passed, r.clock, r.letter = self.passes, clock, letter
        self.do(h, PASS, self.passes)

    def on_l(self, h, hart, clock, address, _):
        """A request that was done, or resumed, before its hart told that it left went on then."""
        if self.requests[address].letter not in ("d", "E"):
            self.pass_on(h, clock, address, "l")

    def on_k(self, h, hart, clock, address, until):
        self.requests[address].crossed = until

    def on_d(self, h, hart, clock, address, _):
        self.pass_on(h, clock, address, "d")

    def on_E(self, h, hart, clock, address, _):
        self.pass_on(h, clock, address, "E")

    def on_x(self, h, hart, clock, address, until):
        self.requests[address].flash = until

    def on_e(self, *_):
        pass

    def on_c(self, h, hart, clock, *_):
        queue = h.request.queue
        if queue:
            links = max(0, h.request.crossed - clock)
            queue.completions.append(clock + links)
            self.do(h, COMPLETE, queue, links)

    # All is read
    def follow(self):
        self.inside = statistics.median(self.insides) if self.insides else USUAL_INSIDE
        for busy in self.programs.values():
            busy.sort()
        self.tsu_work = {tsu: (worked[-1] - worked[0]) / max(1, len(worked) - 1) for tsu, worked in self.tsus.items()} # for a thing that dies do
        usual = {kind: statistics.median(took) for kind, took in self.way_cycles.items()}
        for job, what, own, took in self.ways:
            if own:
                job.after.append((what, usual.get("l", 0), self.read_of(*own)))
            else:
                job.after.append((what, took if job.idle else min(took, usual.get(job.kind, took)), None))
        for queue in self.queues.values():
            self.follow_host(queue)
        self.flash.sort()
        for jobs in self.jobs.values():
            self.follow_flash(jobs)

    def read_of(self, asked, end):
        """(hart that serves the die, die, cycles that it takes, cycles for which programs and erases kept it from beginning)"""
        tsu, die, begin = self.spans[end]
        kept, since = 0, asked
        for first, last in self.programs.get(die, ()):
            if last > since and first < begin:
                kept += min(last, begin) - max(first, since)
                since = last
        return tsu, die, end - begin, kept

    def follow_host(self, queue):
        """The host sends a command when there is room, because another one has completed, and when it has sent the one before."""
        room = [queue.completions[i - queue.most] if i >= queue.most else self.first for i in range(len(queue.fetches))]
        sent = [self.first, *(job.begun for job in queue.fetches)]
        least = [job.begun - free for job, free in zip(queue.fetches, room) if job.idle]
        least = min((took for took in least if took > 0), default=0)
        late = [job.begun - max(free + least, before) for job, free, before in zip(queue.fetches, room, sent)]
        usual = statistics.median([t for t, job in zip(late, queue.fetches) if job.idle] or [0])
        for i, job in enumerate(queue.fetches):
            thinks = max(0, late[i] if job.idle else min(late[i], usual))
            if i >= queue.most:
                job.after.append(((COMPLETED, queue, i - queue.most), least + thinks * (room[i] + least >= sent[i]), None))
            job.after.append(((BEGUN, queue.fetches[i - 1]) if i else (STARTED,), thinks * (i < queue.most or room[i] + least < sent[i]), None))

    def follow_flash(self, jobs):
        """What a hart does of itself after it was idle follows the flash, which began what has ended last while the hart did an earlier job."""
        begins = [job.begun for job in jobs]
        for job in jobs:
            ended = bisect.bisect(self.flash, (job.begun, job.begun)) - 1
            if job.kind or not job.idle or ended < 0 or job.place == 0:
                continue
            earlier = min(bisect.bisect(begins, self.flash[ended][1]) - 1, job.place - 1)
            if earlier >= 0:
                job.after.append(((BEGUN, jobs[earlier]), job.begun - jobs[earlier].begun, None))
