"""Run the product on a device and a workload given as dictionaries; hand back its result.json."""
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys

import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]
INTERRUPTED = 130
PRCTL = ctypes.CDLL(None).prctl
PR_SET_PDEATHSIG = 1


class StudyError(Exception):
    """One sentence for the user."""


def load_yaml(kind, name):
    """configs/<kind>/<name>.yaml as a dictionary."""
    with open(TOP / "configs" / kind / f"{name}.yaml", encoding="utf-8") as f:
        return yaml.safe_load(f)


def merged(base, changes):
    """A copy of base with the nested keys of changes laid over it."""
    out = dict(base)
    for key, value in changes.items():
        out[key] = merged(out.get(key) or {}, value) if isinstance(value, dict) else value
    return out


def driver():
    path = pathlib.Path(os.environ.get("HARTZONE_DRIVER", TOP / "build" / "host" / "bin" / "hartzone"))
    if not path.exists():
        raise StudyError(f"{path} is missing: start studies with ./hartzone study")
    return path


def end_with_parent():
    """In the child: a study that is killed leaves no run behind."""
    PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)


def run(out, device, workload, extra=()):
    """One run under the virtual clock. Raises StudyError if it fails or if its figures are not repeatable."""
    out.mkdir(parents=True, exist_ok=True)
    for name, content in (("device", device), ("workload", workload)):
        (out / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    command = [str(driver()), "run", "--device", str(out / "device.yaml"), "--workload", str(out / "workload.yaml"),
               "--clock", "virtual", "--out", str(out), *map(str, extra)]
    with open(out / "run.log", "w", encoding="utf-8") as log:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False,
                              preexec_fn=end_with_parent).returncode
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code != 0:
        tail = (out / "run.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
        raise StudyError(f"run in {out} ended with status {code}: {' / '.join(tail)}")
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    refuse_unless_deterministic(result, out)
    return result


def refuse_unless_deterministic(result, out):
    if not result["deterministic"]:
        raise StudyError(f"run in {out} cannot be used: {result['deterministic_reason']}")


def interrupt(*_):
    raise KeyboardInterrupt


def main(study, word="study"):
    """Entry point of every study: prints one sentence instead of a trace where a StudyError, or a file, says it all."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        study()
        sys.stdout.flush()
        return
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
