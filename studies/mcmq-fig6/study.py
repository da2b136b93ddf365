#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MCMQ, figure 6: what MQSim leaves out. Each flow against one alone, without costs of locks, without the firmware's time, without shared flash."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, mcmq, plot, report, verdict  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "mcmq-fig6"
FLOWS = [1, 2, 4]
LIKE_MQSIM = "no firmware, unshared flash"
MODELS = {"all of it": (), "free locks": (mcmq.FREE,), "no firmware": (mcmq.NO_FIRMWARE,), "unshared flash": (mcmq.UNSHARED,),
          "free locks, unshared flash": (mcmq.UNSHARED, mcmq.FREE), LIKE_MQSIM: (mcmq.UNSHARED, mcmq.NO_FIRMWARE)}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--flows", 1, 40, ",".join(map(str, FLOWS)), "flows, and as many FTL threads")
    arguments.add_number(p, "--ops", 200, 10000, 3000, "requests of each flow")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, flows=[args.flows[0], args.flows[-1]], ops=500)


def points(args):
    def one(model, flows, seed):
        return folder_of(model, flows, seed), mcmq.device(flows, *MODELS[model]), mcmq.flows(NAME, seed, flows, args.ops)
    return [Point({"model": model, "flows": flows}, f"{model}, {flows} flows", [one(model, flows, seed) for seed in args.seeds])
            for model in MODELS for flows in args.flows]


check = mcmq.check
summarize = mcmq.summarize


def normalized(measured, model, flows, first):
    """Throughput of a flow relative to that of one alone."""
    p, alone = measured.get((model, flows)), measured.get((model, first))
    return p and alone and p["kiops"] / alone["kiops"]


def figures(args, measured):
    out = []
    for model in MODELS:
        out.append(report.figure(f"throughput alone, {model}", measured.value((model, args.flows[0]), "kiops"), "KIOPS"))
        for flows in args.flows[1:]:
            p = measured.get((model, flows))
            out += [report.figure(f"a flow of {flows} against one alone, {model}", normalized(measured, model, flows, args.flows[0]), "", 1.0),
                    report.figure(f"dies busy, {flows} flows, {model}", p and 100 * p["die_busy"], "%"),
                    report.figure(f"time spinning, {flows} flows, {model}", p and 100 * p["spin"], "%")]
    return out


def rows(figure):
    """MQSim has neither the firmware's time nor, as the paper says, contention in the flash: the last model is what compares with it."""
    flat = all(abs(figure(f"a flow of {flows} against one alone, {LIKE_MQSIM}") - 1) < verdict.NEAR for flows in FLOWS[1:])
    for model in MODELS:
        def of(what, form, flows, model=model):
            return ", ".join(form.format(figure(f"{what.format(n)}, {model}")) for n in flows)
        there = FLOWS[-1:]
        yield (f"{model}: a flow of {' and of '.join(map(str, FLOWS[1:]))} against one alone", "1, 1 (MQSim)" if model == LIKE_MQSIM else "",
               f"{of('a flow of {} against one alone', '{:.2f}', FLOWS[1:])} (alone {figure(f'throughput alone, {model}'):.0f} KIOPS; "
               f"of {there[0]}: dies busy {of('dies busy, {} flows', '{:.0f}', there)} %, spinning {of('time spinning, {} flows', '{:.0f}', there)} %)",
               (verdict.VERDICTS[0] if flat else verdict.VERDICTS[2]) if model == LIKE_MQSIM else "")


def directions(figure):
    most = FLOWS[-1]

    def flow(model):
        return figure(f"a flow of {most} against one alone, {model}")

    def together(model):
        return figure(f"throughput alone, {model}") * flow(model)

    def change(model, other):
        return abs(together(other) / together(model) - 1)
    yield "without firmware and shared flash it is flat, as MQSim's", abs(flow("no firmware, unshared flash") - 1) < 0.05
    yield "with the firmware it is not", flow("unshared flash") < 0.8
    yield "of that, what locks and lines cost is a part", flow("unshared flash") < flow("free locks, unshared flash") < 0.9
    yield "with MCMQ's flash it falls without any firmware, since dies are shared", flow("no firmware") < 0.7
    yield "… they are busy", figure(f"dies busy, {most} flows, no firmware") > 80
    yield "… so that free locks change less than a tenth of what they change on unshared flash", \
        change("all of it", "free locks") < 0.1 * change("unshared flash", "free locks, unshared flash")


def show(measured):
    header, found = mcmq.table(measured)
    report.table(["model", "flows", *header], found)


def draw(measured):
    fig, (ax,) = plot.figure(1, height=4.2)
    counts = sorted({flows for _, flows in measured})
    for model in MODELS:
        ax.plot(counts, plot.numbers(normalized(measured, model, n, counts[0]) for n in counts), marker="o", label=model)
    ax.plot(counts, [1.0] * len(counts), linestyle=":", color="black", label="MQSim (paper)")
    ax.set(xlabel="flows", ylabel="throughput of a flow, alone = 1", title="Figure 6", ylim=(0, 1.1))
    ax.legend(frameon=False, fontsize=8)
    return fig


def facts(args):
    return {"device": mcmq.device(args.flows[-1]), "unshared": mcmq.UNSHARED, "no_firmware": mcmq.NO_FIRMWARE, "ops": args.ops}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
