"""What a C or C++ source file includes, defines, declares and uses. No compiler: a scanner of tokens and braces, made for sources
that a formatter keeps tidy. It knows no types, so a use is a name: of a call, or of a function or object as a value."""
# SPDX-License-Identifier: BSD-3-Clause
import bisect
import dataclasses
import re

TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|\\\n|\s+)
                     |(?P<raw>R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)")
                     |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
                     |(?P<word>[A-Za-z_]\w*)
                     |(?P<number>\.?\d(?:[eEpP][+-]|[\w.']\b|[\w.])*)
                     |(?P<sign>->|::|.)""", re.X | re.S)
DIRECTIVE = re.compile(r"^[ \t]*\#(?:/\*.*?\*/|\\\n|[^\n])*", re.M | re.S)
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
DEFINE = re.compile(r"\s*#\s*define\s+\w+(\([^)]*\))?(.*)", re.S)
LABEL = re.compile(r"^([A-Za-z_]\w*):", re.M)
KEYWORDS = set("""alignas auto bool break case char const constexpr continue default do double else enum extern float for goto if inline int
    long noexcept register restrict return short signed sizeof static struct switch typedef union unsigned using void volatile while
    decltype static_assert _Static_assert _Alignas _Noreturn __attribute__ __asm__ asm operator template typename""".split())
BEFORE_AN_EXPRESSION = {"return", "else", "case", "do", "sizeof", "throw", "co_return"}
TAGS = {"struct", "union", "enum", "class", "goto"}
OPEN = {"(": ")", "{": "}", "[": "]"}


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    word: str
    line: int


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int
    hidden: bool    # static, or in an anonymous namespace, or a method
    inline: bool


@dataclasses.dataclass
class Source:
    path: str
    lines: int = 0
    includes: list = dataclasses.field(default_factory=list)    # (name, line)
    functions: list = dataclasses.field(default_factory=list)   # definitions
    declared: dict = dataclasses.field(default_factory=dict)    # functions and objects that others can see: name → line
    objects: dict = dataclasses.field(default_factory=dict)     # definitions of objects that others can see: name → line
    uses: dict = dataclasses.field(default_factory=dict)        # name → line of its first use

    def own(self):
        return {f.name for f in self.functions} | set(self.objects)


def scan(path, text):
    """path determines the language: .c and .h are C, .S is assembler, everything else C++."""
    source = Source(path, text.count("\n"))
    if path.endswith(".def"):
        return source  # a table for macros: its expansion belongs to the including file
    if path.endswith(".S"):
        source.objects = {m[1]: text.count("\n", 0, m.start()) + 1 for m in LABEL.finditer(text)}
        return source
    starts = [0] + [m.end() for m in re.finditer("\n", text)]

    def tokens(part, at):
        for match in TOKEN.finditer(part):
            kind = match.lastgroup if match.lastgroup != "mark" else "text"
            if kind != "skip":
                yield Token(kind, '""' if kind in ("raw", "text") else match[0], bisect.bisect(starts, at + match.start()))

    def directive(match):
        line = bisect.bisect(starts, match.start())
        if found := INCLUDE.match(match[0]):
            source.includes.append((found[1], line))
        elif found := DEFINE.match(match[0]):
            _uses(source, list(tokens(found[2], match.start() + found.start(2))), set())
        return re.sub(r"[^\n]", " ", match[0])

    plain = DIRECTIVE.sub(directive, re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S))
    _file(source, list(tokens(plain, 0)), not path.endswith((".c", ".h")))
    return source


def _closing(tokens, at):
    """Where the bracket ends that opens there."""
    depth, opens = 0, tokens[at].word
    for i in range(at, len(tokens)):
        depth += (tokens[i].word == opens) - (tokens[i].word == OPEN[opens])
        if not depth:
            return i
    return len(tokens) - 1


def _without_attributes(statement):
    """Nor the labels of a class."""
    out, i = [], 0
    while i < len(statement):
        word = statement[i].word
        if word in ("__attribute__", "alignas", "_Alignas") and i + 1 < len(statement) and statement[i + 1].word == "(":
            i = _closing(statement, i + 1) + 1
        elif word == "[" and statement[i + 1:i + 2] and statement[i + 1].word == "[":
            i = _closing(statement, i) + 1
        elif word in ("public", "private", "protected") and not out:
            i += 2
        else:
            out.append(statement[i])
            i += 1
    return out


def _declarator(statement):
    """(place of a function's name, place of its parenthesis), or None if no function is declared
    here."""
    angle = 0
    i = 0
    while i < len(statement):
        word = statement[i].word
        if word == "operator":
            while i < len(statement) and (statement[i].word != "(" or statement[i + 1].word == ")" and statement[i - 1].word == "operator"):
                i += 1
            return (i - 1, i) if i < len(statement) else None
        if word == "=" and not angle:
            return None
        if word == "<" and i and statement[i - 1].kind == "word":
            angle += 1
        elif word == ">" and angle:
            angle -= 1
        elif word == "(":
            before = statement[i - 1] if i else None
            if not angle and before and before.kind == "word" and before.word not in KEYWORDS and i > 1:
                return i - 1, i
            i = _closing(statement, i)
        i += 1
    return None


def _locals(parameters, body):
    """Names of parameters and local variables: the word after a type, and after a comma that
    follows it."""
    names = {t.word for t, after in zip(parameters, parameters[1:]) if t.kind == "word" and after.word in (",", ")", "[")}
    for i, token in enumerate(body):
        if token.kind == "word" and i and _follows_a_type(body, i):
            names.add(token.word)
            names.update(_further_names(body, i))
    return names


def _follows_a_type(body, i):
    at = i - 1
    while at and body[at].word in ("*", "&"):
        at -= 1
    before = body[at]
    if before.kind != "word" or before.word in BEFORE_AN_EXPRESSION:
        return False
    return at == i - 1 or not at or body[at - 1].word in ";{}(," or body[at - 1].kind == "word"


def _further_names(body, i):
    depth = 0
    for at in range(i + 1, len(body) - 2):
        word = body[at].word
        depth += (word in OPEN) - (word in OPEN.values())
        if depth < 0 or word == ";":
            return
        if word == "," and not depth:
            yield body[at + 1 if body[at + 1].kind == "word" else at + 2].word


def _uses(source, tokens, local):
    for i, token in enumerate(tokens):
        if token.kind != "word" or token.word in KEYWORDS or token.word in local:
            continue
        before = tokens[i - 1].word if i else ""
        if before not in (".", "->") and before not in TAGS:
            source.uses.setdefault(token.word, token.line)


def _file(source, tokens, plus):
    scopes = []      # of the open braces that hide nothing: "", "class" or "hidden"
    statement = []
    i = 0
    while i < len(tokens):
        word = tokens[i].word
        if word in ("(", "["):
            end = _closing(tokens, i)
            statement += tokens[i:end + 1]
            i = end + 1
            continue
        if word == "{":
            i = _brace(source, tokens, i, statement, scopes, plus)
            continue
        if word == ";":
            _declaration(source, _without_attributes(statement), scopes, plus)
            statement.clear()
        elif word == "}":
            if scopes:
                scopes.pop()
            statement.clear()
        else:
            statement.append(tokens[i])
        i += 1


def _brace(source, tokens, at, statement, scopes, plus):
    """Handles a brace of file scope; returns where to continue."""
    plain = _without_attributes(statement)
    words = [t.word for t in plain]
    end = _closing(tokens, at)
    if words[:1] in (["extern"], ["namespace"], ["inline"]) and (words[1:2] == ['""'] or "namespace" in words):
        scopes.append("hidden" if words == ["namespace"] else "")
        statement.clear()
        return at + 1
    found = _declarator(plain)
    if not found:
        if plus and {"class", "struct", "union"} & set(words) and "=" not in words:
            scopes.append("class")
            statement.clear()
            return at + 1
        if "=" in words or plus:
            _uses(source, tokens[at:end], set())
        statement.append(Token("sign", "{}", tokens[at].line))
        return end + 1
    name, paren = found
    after = _closing(plain, paren) + 1
    if ":" in words[after:] and tokens[at - 1].kind == "word":  # a member that a constructor initializes
        _uses(source, tokens[at:end], set())
        statement.append(Token("sign", "{}", tokens[at].line))
        return end + 1
    hidden = "static" in words[:name] or bool({"class", "hidden"} & set(scopes)) or words[name - 1] == "::"
    inline = bool({"inline", "constexpr", "template"} & set(words[:name]))
    source.functions.append(Function(words[name], plain[name].line, tokens[end].line - plain[0].line + 1, hidden, inline))
    body = tokens[at:end]
    _uses(source, plain[after:] + body, _locals(plain[paren:after], body))
    statement.clear()
    return end + 1


def _declaration(source, statement, scopes, plus):
    words = [t.word for t in statement]
    if not words or words[0] in ("typedef", "using", "template", "friend", "namespace") or {"class", "hidden"} & set(scopes):
        return
    found = _declarator(statement)
    if found:
        if "static" not in words and not (plus and "=" in words):
            source.declared.setdefault(words[found[0]], statement[found[0]].line)
        return
    end = next((i for i, word in enumerate(words) if word in ("=", "[")), len(words))
    _uses(source, statement[end:], set())
    if plus or "static" in words or "(" in words or end < 2 or words[0] in TAGS and end < 3:
        return
    # A header declares: an object with extern, or a function by the name of its type.
    seen = source.declared if "extern" in words or source.path.endswith(".h") else source.objects
    for token, after in zip(statement, words[1:end] + [","]):
        if after == "," and token.kind == "word" and token.word not in KEYWORDS:
            seen[token.word] = token.line
