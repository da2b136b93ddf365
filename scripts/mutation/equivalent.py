"""Lists of mutants, each with a reason: those that change nothing a test could see, which are counted apart, and known survivors."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re

LIST = pathlib.Path(__file__).parent / "equivalent.txt"
SURVIVORS = pathlib.Path(__file__).parent / "survivors.txt"


def line_of(text, mutant):
    """The mutant's line, with what is changed in it between « and »."""
    at = mutant.at + len(mutant.old) - len(mutant.old.lstrip())
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", mutant.at + len(mutant.old))
    return re.sub(r"\s+", " ", f"{text[start:at]}«{mutant.old.strip()}»{text[mutant.at + len(mutant.old):end]}").strip()


def entries(listed):
    """(file, line, reason) of each."""
    for block in re.split(r"\n\n+", re.sub(r"^#.*\n?", "", listed, flags=re.M).strip()):
        head, *reason = block.split("\n\t")
        file, _, line = head.partition(": ")
        if block:
            yield file, line.strip(), " ".join(reason)


def among(mutants, listed, text_of):
    """Those of the mutants that are listed, and a sentence for each entry that fits none. mutants: all of some modules.
    text_of: a file's text, None if there is none."""
    at = {}
    for mutant in mutants:
        at.setdefault((mutant.file, line_of(text_of(mutant.file), mutant)), []).append(mutant)
    found, wrong = set(), []
    files = {mutant.file for mutant in mutants}
    for file, line, reason in entries(listed):
        these = at.get((file, line), [])
        if not reason:
            wrong.append(f"{file}: {line}: gives no reason")
        elif text_of(file) is None:
            wrong.append(f"{file}: there is no such file")
        elif file in files and not these:
            wrong.append(f"{file}: {line}: no mutant is so")
        found.update(these)
    return found, wrong
