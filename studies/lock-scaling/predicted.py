"""Prediction of a line of points by the model of a ticket lock (studies/common/ticket.py). Its
times are the counters of the line's single worker, and the hand-over cost of the cost model; the
points of more workers contribute only the shares of their locks."""
# SPDX-License-Identifier: BSD-3-Clause
import scaling
from common import ticket
from common.report import mean


def used(result, name):
    """For a class of locks, over all workers: hold time, and time of a worker between holds, idle
    or not, except spinning."""
    taken = [lock["acquisitions"] for lock in result["locks"] if lock["class"] == name and lock["acquisitions"]]
    held = sum(lock["hold_ns"] for lock in result["locks"] if lock["class"] == name)
    without_spin = sum(h["elapsed_ns"] - h["spin_ns"] for h in result["harts"] if "worker" in h["role"])
    commands = sum(result["totals"][way]["ops"] for way in ("read", "write"))
    return {"per_command": sum(taken) / commands, "hold_ns": held / sum(taken), "between_ns": (without_spin - held) / sum(taken),
            "shares": [n / sum(taken) for n in taken]}


def handover(result):
    """Of a ticket lock, under the run's cost model, in ns: the line goes to its writer and to the
    next reader; earlier readers keep the line busy, unless reads overlap."""
    costs = result["vclock"]["parameters"]
    transfer = costs["far" if costs["cluster"] else "remote"]
    busy = transfer + costs["local"] if costs["busy"] == "access" else costs["occupancy"]
    each = busy if costs["reads"] == "queue" else 0
    return {"least_ns": (2 * transfer + costs["wake"]) * 1e3 / costs["mhz"], "each_ns": each * 1e3 / costs["mhz"]}


def of_run(result):
    """Input of the model."""
    classes = sorted({lock["class"] for lock in result["locks"] if lock["acquisitions"]})
    return {"classes": {name: used(result, name) for name in classes}, "handover": handover(result)}


def worst(line):
    """(share, class, workers): the class of locks with most of the workers' time, and where; None:
    they wait for none."""
    spun = [(share, use[len("spin "):], workers) for workers, p in line for use, share in p["time"].items() if use.startswith("spin ") and share]
    return max(spun, default=None)


def times(run, name):
    """Of one worker, in the model's form."""
    one, costs = run["classes"][name], run["handover"]
    return one["between_ns"], one["hold_ns"], ticket.Handover(costs["least_ns"], costs["each_ns"])


def at(first, workers, p, name):
    """One point: measured and by the model, each against one worker."""
    alone, here = ([run["classes"][name] for run in point["locks_by_seed"]] for point in (first, p))
    found = [ticket.speedup(workers, *times(run, name), of_seed["shares"]) for run, of_seed in zip(first["locks_by_seed"], here)]
    more, per_command = p["kiops"] / first["kiops"], mean(of_seed["per_command"] for of_seed in here)
    return {"workers": workers, "locks": len(here[0]["shares"]), "measured": more, "per_command": per_command,
            "acquisitions": more * per_command / mean(one["per_command"] for one in alone), "model": mean(found),
            "model_seeds": [min(found), max(found)]}


def missing(line):
    """The reason why this line has no model; None: it has one."""
    if line[0][0] != 1:
        return "no model of a ticket lock, which one worker's times are needed for"
    if worst(line) is None:
        return "no worker waits for a lock, so there is none for the model of a ticket lock"
    name = worst(line)[1]
    if not all(name in run["classes"] for _, p in line for run in p["locks_by_seed"]):
        return f"no model of a ticket lock, since class {name}, which takes most of the workers' time, is not used by each number of workers"
    return None


def model(line):
    """Of a line's points; without a model, the reason."""
    reason = missing(line)
    if reason:
        return {"reason": reason}
    first, (share, name, workers) = line[0][1], worst(line)
    alone, costs = [run["classes"][name] for run in first["locks_by_seed"]], first["locks_by_seed"][0]["handover"]
    return {"class": name, "most_spin": share, "most_spin_workers": workers,
            "hold_ns": mean(one["hold_ns"] for one in alone), "between_ns": mean(one["between_ns"] for one in alone),
            "handover_ns": costs["least_ns"], "handover_each_ns": costs["each_ns"], "points": [at(first, n, p, name) for n, p in line]}


def models(measured):
    """Line of two worker counts or more → prediction."""
    return {line: model(points) for line, points in scaling.lines(measured).items() if len(points) > 1}


def kiops(measured):
    """Key of a point → predicted throughput, if there is a model."""
    out = {}
    for line, found in models(measured).items():
        for point in found.get("points", ()):
            one = measured[line.key(1)]["kiops"]
            out[line.key(point["workers"])] = one * point["model"]
    return out


def sentence(name, found):
    if "reason" in found:
        return f"{name}: {found['reason']}."
    last, best = found["points"][-1], max(found["points"], key=lambda point: point["model"])
    peak = f", most at {best['workers']}, {best['model']:.2f} times" if best is not last else ""
    said = (f"by the model of a ticket lock, {last['workers']} workers that meet at nothing but class {found['class']} reach {last['model']:.2f} times "
            f"the throughput of 1{peak}; measured {last['measured']:.2f}, and {last['acquisitions']:.2f} times the acquisitions")
    return (f"{name}: locks of class {found['class']} take {100 * found['most_spin']:.1f} % of the workers' time with {found['most_spin_workers']} "
            f"workers; {said}.")


def sentences(measured):
    return [sentence(f"{line.name}, costs {line.costs}", found) for line, found in models(measured).items()]
