"""Which mutants there are: changed operators, constants and conditions, and statements left out, inside of functions."""
# SPDX-License-Identifier: BSD-3-Clause
import bisect
import dataclasses
import re

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "++": "--",
         "--": "++", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<": ">>", ">>": "<<", "true": "false", "false": "true"}
TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*|\s+)
                     |(?P<word>[A-Za-z_]\w*)|(?P<number>(?:0[xX])?\d\w*)
                     |(?P<sign>->\*?|\+\+|--|<<=|>>=|<=>|[-+*/%&|^<>=!]=|&&|\|\||<<|>>|::|.)""", re.X | re.S | re.M)
STATEMENT = re.compile(r"^\t+(?!return\b|break\b|continue\b|goto\b|case\b|default\b|else\b|if\b|for\b|while\b|do\b)"
                       r"(?:[\w.>()\[\]*-]+ (?:[-+*/|&^]|<<|>>)?= [^;]*|[\w:.>\[\]-]+\([^;]*\)|[\w.>\[\]-]+(?:\+\+|--));$", re.M)


@dataclasses.dataclass(frozen=True)
class Mutant:
    module: str
    file: str        # below the checkout
    at: int          # characters from its beginning
    old: str
    new: str
    line: int
    body: tuple = () # characters from its beginning: where the function's braces open, and behind where they close

    def text(self):
        return f"{self.file}:{self.line}: " + (f"without `{self.old.strip()}`" if self.new == ";" else f"`{self.old}` became `{self.new}`")


def tokens(text):
    """(kind, word, place, word before, depth): depth counts the braces of function bodies; 0 is outside of them."""
    depth, body, before = 0, [], ""
    for match in TOKEN.finditer(text):
        kind, word = match.lastgroup, match[0]
        if kind == "skip":
            continue
        if word == "{":
            inside = bool(depth) or before in (")", "const", "override", "noexcept")
            body.append(inside)
            depth += inside
        elif word == "}" and body:
            depth -= body.pop()
        yield kind, word, match.start(), before, depth
        before = word


def changed(kind, word, before):
    """What may stand instead; None: leave it alone."""
    if kind == "number":
        return str(int(word) + 1) if word.isdigit() and before not in ("[", "case") else None
    if word == "!":
        return " "
    unary = word in ("+", "-") and not (re.match(r"[\w)\]]", before[-1:]) and before != "return")
    return None if unary else SWAPS.get(word)


def bodies(text):
    """Of each function: where its braces open, and behind where they close; in order."""
    found, start, depth_before = [], 0, 0
    for _, word, at, _, depth in tokens(text):
        if depth and not depth_before:
            start = at
        elif not depth and depth_before:
            found.append((start, at + len(word)))
        depth_before = depth
    return found


def mutants_of(module, name, text):
    line_of = lambda at: text.count("\n", 0, at) + 1
    functions = bodies(text)

    def found(at, old, new):
        body = functions[bisect.bisect(functions, (at, len(text))) - 1]
        return Mutant(module, name, at, old, new, line_of(at), body)

    inside = set()
    for kind, word, at, before, depth in tokens(text):
        if not depth:
            continue
        inside.add(line_of(at))
        new = changed(kind, word, before)
        if new is not None:
            yield found(at, word, new)
    for match in STATEMENT.finditer(text):
        if line_of(match.start()) in inside:
            yield found(match.start(), match[0], ";")
