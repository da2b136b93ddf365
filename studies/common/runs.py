"""Run the product on a device and a workload given as dictionaries; hand back its result.json."""
# SPDX-License-Identifier: BSD-3-Clause
import ctypes
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import yaml

try: # libyaml: a sixth of the time
    from yaml import CSafeDumper as SafeDumper, CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeDumper, SafeLoader

from common.arguments import config_file

TOP = pathlib.Path(__file__).resolve().parents[2]
INTERRUPTED = 130
END_S = 20 # clean-up time of an interrupted run
PRCTL = ctypes.CDLL(None).prctl
PR_SET_PDEATHSIG = 1


class StudyError(Exception):
    """One sentence for the user."""


class Loader(SafeLoader):
    """Words and numbers as the program reads them: `on`, a date and `<<` are words, and 010 is ten. A key that is given twice is refused, as
    there."""
    yaml_implicit_resolvers = {first: [one for one in found if one[0] == "tag:yaml.org,2002:null"]
                               for first, found in SafeLoader.yaml_implicit_resolvers.items()}

    def construct_mapping(self, node, deep=False):
        names = [name.value for name, _ in node.value]
        for at, (name, _) in enumerate(node.value):
            if name.value in names[:at]:
                raise yaml.constructor.ConstructorError(None, None, f"'{name.value}' is given twice", name.start_mark)
        return super().construct_mapping(node, deep)

    def construct_object(self, node, deep=False):
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError): # a tag that the value does not fit, such as !!int of a word
            raise yaml.constructor.ConstructorError(None, None, f"'{node.value}' is no {node.tag.rpartition(':')[2]}", node.start_mark) from None


Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("(true|false)$"), "tf")
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("-?[0-9]+(_[0-9]+)*$"), "-0123456789")
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$"), "-.0123456789")
Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))


def read_yaml(path):
    """The sections of a file. Raises a sentence with the file's name."""
    try:
        content = yaml.load(path.read_bytes(), Loader)
    except yaml.reader.ReaderError as error:
        raise StudyError(f"{path}: this is no text in UTF-8: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        raise StudyError(f"{path}:{error.problem_mark.line + 1 if error.problem_mark else 1}: {error.problem}") from None
    if not isinstance(content, dict):
        raise StudyError(f"{path}: the file has no keys: write `key: value` lines")
    return content


def section_of(content, name, path):
    """Empty if it is not there."""
    found = content.get(name) or {}
    if not isinstance(found, dict):
        raise StudyError(f"{path}: {name}: expected 'key: value' lines below it")
    return found


def load_yaml(kind, name):
    """The file of that name, or configs/<kind>/<name>.yaml, as a dictionary. Memory limits of a
    device are dropped: a study changes it, and with it its memory."""
    path = config_file(kind, name)
    content = read_yaml(path)
    if kind == "devices":
        for limit in ("sram", "dram"):
            section_of(content, "memory", path).pop(limit, None)
    return with_its_trace(content, path)


def with_its_trace(content, path):
    """A trace next to the file keeps its place, since the run's own workload.yaml lies in another folder."""
    file = section_of(content, "trace", path).get("file")
    beside = path.parent / str(file) if file else None
    return merged(content, {"trace": {"file": str(beside.resolve())}}) if beside and beside.is_file() else content


def merged(base, changes):
    """A copy of base with the nested keys of changes laid over it."""
    out = dict(base)
    for key, value in changes.items():
        out[key] = merged(out.get(key) or {}, value) if isinstance(value, dict) else value
    return out


TURNAROUND_NS = 4000 # of a workload that names none, as docs/reference/config.md has it
UNITS = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}


def nanoseconds(value):
    """Of a duration in a file: a number of nanoseconds, or one with a unit behind it."""
    number, unit = re.fullmatch(r"([0-9.]+) *(ns|us|ms|s)?", str(value)).groups()
    return round(float(number) * UNITS[unit or "ns"])


def seeded(workload, seed):
    """The workload with this seed. A replayed trace draws nothing, and each seed would give the same run: there a seed is a host that takes so
    many nanoseconds more between a completion and what follows, by which the runs part (after Alameldeen and Wood, "Variability in
    architectural simulations of multi-threaded workloads", HPCA 2003)."""
    if "trace" not in workload:
        return {**workload, "seed": seed}
    return {**workload, "seed": seed, "turnaround": nanoseconds(workload.get("turnaround", TURNAROUND_NS)) + seed}


def driver():
    path = pathlib.Path(os.environ.get("HARTZONE_DRIVER", TOP / "build" / "host" / "bin" / "hartzone"))
    if not path.exists():
        raise StudyError(f"{path} is missing: start studies with ./hartzone study")
    return path


def end_with_parent():
    """In the child: a study that is killed leaves no run behind."""
    PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)


def plugin_options(*words):
    """Arguments of a run with these options of the virtual clock."""
    return ["--vclock", ",".join(words)] if words else []


def other_command(extra):
    """A run's options may begin with another command, with all its options; the workload is then a
    text for people and --resume."""
    return extra[0] if extra and extra[0] in ("files", "sqlite", "run") else None


def other_result(extra):
    """The file with the other command's result, if it is not result.json."""
    command = other_command(extra)
    return None if command in (None, "run") else f"{command}.json"


def arguments(out, extra=()):
    command = other_command(extra)
    if command:
        return [command, "--device", str(out / "device.yaml"), "--clock", "virtual", "--out", str(out), *map(str, extra[1:])]
    return ["run", "--device", str(out / "device.yaml"), "--workload", str(out / "workload.yaml"), "--clock", "virtual", "--out", str(out),
            *map(str, extra)]


def shell_command(out, extra=()):
    """For a shell: ends with result.json in the folder."""
    line, file = shlex.join([str(driver().resolve()), *arguments(out, extra)]), other_result(extra)
    return line + (f" && cp {shlex.quote(str(out / file))} {shlex.quote(str(out))}/result.json" if file else "")


def repeat_command(out, extra=()):
    """The command line that repeats this run."""
    return shlex.join(["./hartzone", *arguments(out, extra)])


def texts(device, workload):
    """file name → content"""
    return {f"{name}.yaml": yaml.dump(content, Dumper=SafeDumper, sort_keys=False) for name, content in (("device", device), ("workload", workload))}


def last_words(log):
    """The program's error message, else its last lines."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    said = [line.removeprefix("hartzone: ") for line in lines if line.startswith("hartzone: ")]
    return " / ".join(said or lines[-3:])


def begin(out, device, workload, extra=()):
    """One run under the virtual clock, started in its own process."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in texts(device, workload).items():
        (out / name).write_text(content, encoding="utf-8")
    with open(out / "run.log", "w", encoding="utf-8") as log:
        return subprocess.Popen([str(driver()), *arguments(out, extra)], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                preexec_fn=end_with_parent)


def stop(children):
    """When this study is interrupted its runs have their time to clean up."""
    for child in children:
        child.terminate()
    end = time.monotonic() + END_S
    for child in children:
        try:
            child.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()


def result_of(out, extra, code):
    """Result of a run that ended with this code. Raises StudyError if it failed or if its figures
    are not repeatable."""
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code != 0:
        raise StudyError(f"run in {out} ended with status {code}: {last_words(out / 'run.log')}")
    if other_result(extra):
        shutil.copy(out / other_result(extra), out / "result.json")
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    refuse_unless_deterministic(result, out)
    return result


def run(out, device, workload, extra=()):
    """One run under the virtual clock, from begin to end."""
    child = begin(out, device, workload, extra)
    try:
        code = child.wait()
    except KeyboardInterrupt:
        stop([child])
        raise
    return result_of(out, extra, code)


def earlier(out, device, workload):
    """An earlier call's result in this folder, if it is of the same device and workload and usable;
    else None."""
    try:
        if any((out / name).read_text(encoding="utf-8") != content for name, content in texts(device, workload).items()):
            return None
        result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("deterministic") else None


def refuse_unless_deterministic(result, out):
    if not result["deterministic"]:
        raise StudyError(f"run in {out} cannot be used: {result['deterministic_reason']}")


def interrupt(*_):
    raise KeyboardInterrupt


def main(study, word="study"):
    """Entry point of every study: prints one sentence instead of a traceback for a StudyError or a
    file error."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        code = study()
        sys.stdout.flush()
        sys.exit(code)
    except StudyError as error:
        print(f"hartzone {word}: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(f"hartzone {word}: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more when it ends
        sys.exit(1)
    except KeyboardInterrupt:
        print(f"hartzone {word}: interrupted, everything is cleaned up", file=sys.stderr)
        sys.exit(INTERRUPTED)
