"""The commands that documents and help texts print, found by their form."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
# What is printed twice runs where it comes first; a study's own README knows best what its command should give.
PATTERNS = ["studies/*/README.md", "studies/README.md", "studies/RESULTS.md", "bench/*/README.md", "traces/README.md", "docs/*.md", "docs/*/*.md",
            "CONTRIBUTING.md", "README.md"]
PROGRAMS = ("./", "scripts/", "cc ", "cmake", "ninja", "ctest", "python3", "git ", "sudo", "apt", "pip", "bash", "sh ", "export ", "cd ")
# A word in capital letters stands for the reader's own; in a block, which is there to be copied, it may not.
STANDS_FOR = {"DIR": "results", "FILE": "traces/git.hzt.xz", "NAME": "git", "COMMAND": "sh", "SEED": "7", "...": "-c 'echo text > file'"}
PLACEHOLDER = re.compile(r"(?<![\w.-])(?:[A-Z]{3,}|\.\.\.|…)(?![\w.-])")


def documents():
    return [path.relative_to(TOP) for pattern in PATTERNS for path in sorted(TOP.glob(pattern))]


def is_command(text):
    return text.startswith(PROGRAMS)


def in_blocks(text):
    """Lines of code blocks, fenced or indented, that are commands."""
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and is_command(line.strip()):
            yield line.strip()


def in_sentences(text):
    """Code in running text that is a command with words of its own; a path alone is a name."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for span in re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", prose):
        span = " ".join(span.split())  # it may go on in the next line
        if is_command(span) and (" " in span or span.startswith("./hartzone")):
            yield span


def in_help(text):
    """Examples of a help text: lines that begin with a command; what stands behind two spaces explains it."""
    for line in text.splitlines():
        line = line.strip().removeprefix("Example: ")
        if line.startswith(("./hartzone ", "scripts/")):
            yield re.split(r"\s{2,}", line)[0]


def filled(command):
    """The command with sample values filled in; KeyError names an unknown placeholder."""
    return PLACEHOLDER.sub(lambda m: STANDS_FOR["..." if m[0] == "…" else m[0]], command)


def bare(command):
    """Without the comment behind it."""
    return command.partition("  #")[0].rstrip()


def commands(document):
    """Commands that this document prints and no earlier one does, in order."""
    earlier = set()
    for other in documents():
        text = (TOP / other).read_text(encoding="utf-8")
        found = dict.fromkeys(map(bare, [*in_blocks(text), *map(filled, in_sentences(text))]))
        if str(other) == str(document):
            return [command for command in found if command not in earlier]
        earlier.update(found)
    raise ValueError(f"{document} is no document of this project")


def all_commands():
    return {command for document in documents() for command in commands(document)}
