"""Command line of a study: --out, --quick, --seeds, --resume and the study's own options. Every
value is checked before anything runs."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import os
import pathlib

from common.software import own_firmware

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
MOST_SEED = 2 ** 32 - 1
ANY_TIME = {"out", "resume", "update", "engine", "engine_options", "no_pictures"} # options without an effect on the
                                                                                  # measurement


class Formatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, except for flags that are off and options without a value."""

    def _get_help_string(self, action):
        return action.help if action.default in (False, None) else super()._get_help_string(action)


def parser(name, text, example, word="study"):
    """example: options of a sample call for newcomers."""
    p = argparse.ArgumentParser(prog=f"./hartzone {word} {name}", description=text, allow_abbrev=False, formatter_class=Formatter,
                                epilog=f"Example: ./hartzone {word} {name} {example}")
    add_path(p, "--out", pathlib.Path("results") / (name if word == "study" else f"{word}-{name}"), "FOLDER",
             "folder for the measurements and each run's result.json")
    return p


def study_parser(name, text, example, random=True):
    """random: something is drawn in its runs."""
    p = parser(name, text, example)
    add_quick(p)
    p.set_defaults(seeds=[1])
    if random:
        add_numbers(p, "--seeds", 1, MOST_SEED, "1", "comma-separated seeds; figures are means over them")
    p.add_argument("--resume", action="store_true",
                   help="keep the runs that an earlier call left in --out, if the device, the workload and the programs are the same")
    p.add_argument("--no-pictures", action="store_true",
                   help="leave out the plot and report.html, whose drawing takes as long as a few runs: figures only")
    p.add_argument("--engine", choices=("local", "snakemake"), default="local", metavar="local|snakemake",
                   help="who makes the runs: this program, or snakemake, which a cluster's scheduler may serve; each makes as many at a time "
                        "as the host has cores, or HARTZONE_JOBS says, but for a profile of --engine-options (docs/guide/cluster.md)")
    p.add_argument("--engine-options", metavar="WORDS",
                   help="more options for snakemake, such as '--profile slurm'; with --engine-options=--dry-run it says which runs it would make, and "
                        "makes none")
    return p


def add_update(p):
    """For studies with figures in README files."""
    p.add_argument("--update", action="store_true",
                   help="make the figures this study's record (measured.json) and write them into the README files; default grid only")


def named(p, words):
    """Keys of the options present in the words."""
    unset = object()
    args = p.parse_args(words, argparse.Namespace(**dict.fromkeys(vars(p.parse_args([])), unset)))
    return {key for key, value in vars(args).items() if value is not unset}


def parsed(p, words=None):
    """Parses the command line, or these words."""
    args = p.parse_args(words)
    args.named = named(p, words)
    grid = sorted(args.named - ANY_TIME)
    if getattr(args, "engine", "local") == "local" and getattr(args, "engine_options", None) is not None:
        p.error("--engine-options are for --engine snakemake")
    if getattr(args, "update", False) and grid:
        p.error(f"--update records the default grid: leave out --{grid[0].replace('_', '-')}")
    return args


def quickly(args, **smaller):
    """The quick form has these values, where the command line names none."""
    for key, value in smaller.items():
        if args.quick and key not in args.named:
            setattr(args, key, value)
    return args


def add_quick(p):
    p.add_argument("--quick", action="store_true",
                   help="the smallest form that still shows the effect, but for what other options say; the test suite runs it")


def per_cent(text):
    """'2%' or '2' → 0.02"""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0.01 <= value <= 50:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0.01% to 50%")
    return value / 100


def add_until(p):
    """Early stop of a point's seeds (sweep.Until); until_is_sound checks what these options have to do with others."""
    p.add_argument("--until", type=per_cent, metavar="PERCENT",
                   help="go on with more seeds than --seeds (without it 1,2,3), point by point, until the 95%% interval of throughput reaches no "
                        "farther to each side than this part of it, such as 2%%; all points take the same seeds in the same order")
    add_number(p, "--most-seeds", 3, 100, 10, "seeds of a point after which --until gives up")


def until_is_sound(p, args):
    if not args.until:
        if "most_seeds" in args.named:
            p.error("--most-seeds says when --until gives up: name that, too")
        return
    if "seeds" not in args.named and len(args.seeds) < 2:
        args.seeds = [1, 2, 3]
    if len(set(args.seeds)) < 2:
        p.error("--until takes two seeds or more to begin with, such as --seeds 1,2,3: one has no interval")
    if len(args.seeds) > args.most_seeds:
        p.error(f"--most-seeds {args.most_seeds} are fewer than --seeds names")
    if args.engine != "local":
        p.error("--until decides after each run whether another follows, which --engine snakemake does not: leave one out")


def add_seed(p):
    add_number(p, "--seed", 1, MOST_SEED, 1, "seed of everything random")


def number(low, high):
    """A checker for one whole number."""
    def check(text):
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {low} to {high}")
        return int(text)
    return check


def add_number(p, name, low, high, default, text):
    p.add_argument(name, type=number(low, high), default=str(default), metavar=f"{low}..{high}", help=text)


def add_numbers(p, name, low, high, default, text):
    """'1,2,4' → [1, 2, 4]"""
    check = number(low, high)
    p.add_argument(name, type=lambda words: [check(word) for word in words.split(",")], default=default,
                   metavar=f"{low}..{high},...", help=text)


def add_names(p, name, choices, default, text):
    """'a,b' → ['a', 'b'], each one of choices."""
    def check(words):
        for word in words.split(","):
            if word not in choices:
                raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(choices)}")
        return words.split(",")
    p.add_argument(name, type=check, default=default, metavar="NAME,...", help=f"{text}: {', '.join(choices)}")


def config_file(folder, word):
    """The file of that name in configs/<folder>, else the file itself; None: neither exists."""
    own = os.environ.get("HARTZONE_WITH")  # ./hartzone build --with
    files = (CONFIGS / folder / f"{word}.yaml", pathlib.Path(word), *([pathlib.Path(own) / folder / f"{word}.yaml"] if own else []))
    return next((path for path in files if path.is_file()), None)


def add_config(p, name, folder, default, text):
    """As in the program's commands: a file, or the name of one in configs/<folder>. The word itself
    is kept."""
    def check(word):
        if config_file(folder, word):
            return word
        known = ", ".join(sorted(path.stem for path in (CONFIGS / folder).glob("*.yaml")))
        raise argparse.ArgumentTypeError(f"there is no file {word}, and configs/{folder} has only {known}")
    p.add_argument(name, type=check, default=default, metavar="FILE|NAME", help=f"{text}: a YAML file, or the name of one in configs/{folder}")


def firmware_image(word):
    """Of a folder with an FTL of its own, the image that ./hartzone build --with makes of it beside ours; else the file itself. Raises
    ValueError with a sentence."""
    path = pathlib.Path(word)
    image = own_firmware().with_name(f"{path.absolute().name}.elf") if path.is_dir() else path
    if path.is_dir() and not (image.is_file() and (path / "ftl").is_dir()):
        raise ValueError(f"the folder {word} has no image {image}: ./hartzone build --with {word} makes one of the C files in its folder ftl")
    if not image.is_file():
        raise ValueError(f"there is no file {word}: ./hartzone build makes one")
    return image.absolute()


def add_firmware(p, text):
    def check(word):
        try:
            return firmware_image(word)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    p.add_argument("--firmware", type=check, metavar="FILE|FOLDER", help=text)


def add_path(p, name, default, metavar, text):
    def check(words):
        if not words:
            raise argparse.ArgumentTypeError("it is empty: leave it out, or name a path")
        return pathlib.Path(words)
    p.add_argument(name, type=check, default=default, metavar=metavar, help=text)
