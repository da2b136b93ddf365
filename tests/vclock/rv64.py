"""RV64IMAC with Zba and Zbb as Python: basic blocks of an ELF, taken from objdump's text, become Python functions.

A block is straight code up to a branch or a synchronising instruction. Its function changes registers and memory, adds
its number of instructions to hart.n, what their classes cost to hart.offset, and returns the next pc. Where plain accesses may be
sync points, a block ends at each. Nothing here knows about order or QEMU."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import re
import subprocess

MASK = (1 << 64) - 1
OBJDUMP = "riscv64-unknown-elf-objdump"
SYNC_WORDS = {0x00D00073: "wrs.nto", 0x01D00073: "wrs.sto", 0x0100000F: "pause"}
ATOMIC = re.compile(r"(lr|sc|amo\w+)\.([wd])")
BRANCHES = {"beq": "a==b", "bne": "a!=b", "bltu": "a<b", "bgeu": "a>=b", "blt": "S(a)<S(b)", "bge": "S(a)>=S(b)"}
ALU = {  # result of two operands a, b (64-bit unsigned); masked afterwards
    "add": "a+b", "sub": "a-b", "and": "a&b", "or": "a|b", "xor": "a^b", "sll": "a<<(b&63)", "srl": "a>>(b&63)",
    "sra": "S(a)>>(b&63)", "slt": "int(S(a)<S(b))", "sltu": "int(a<b)", "mul": "a*b", "mulhu": "a*b>>64",
    "div": "Q(S(a),S(b))", "rem": "R(S(a),S(b))", "divw": "W(Q(W(a),W(b)))", "remw": "W(R(W(a),W(b)))",
    "divuw": "W(Q(a&0xffffffff,b&0xffffffff))", "remuw": "W(R(a&0xffffffff,b&0xffffffff))",
    "divu": "a//b if b else -1", "remu": "a%b if b else a", "addw": "W(a+b)", "subw": "W(a-b)", "mulw": "W(a*b)",
    "sllw": "W(a<<(b&31))", "srlw": "W((a&0xffffffff)>>(b&31))", "sraw": "W(a)>>(b&31)",
    "add.uw": "(a&0xffffffff)+b", "slli.uw": "(a&0xffffffff)<<b",
    "sh1add": "(a<<1)+b", "sh2add": "(a<<2)+b", "sh3add": "(a<<3)+b",
    "sh1add.uw": "((a&0xffffffff)<<1)+b", "sh2add.uw": "((a&0xffffffff)<<2)+b", "sh3add.uw": "((a&0xffffffff)<<3)+b",
    "andn": "a&~b", "orn": "a|~b", "xnor": "~(a^b)", "minu": "a if a<b else b", "maxu": "b if a<b else a",
    "min": "a if S(a)<S(b) else b", "max": "b if S(a)<S(b) else a",
}
UNARY = {
    "zext.h": "a&0xffff", "sext.h": "(a&0x7fff)-(a&0x8000)", "sext.b": "(a&0x7f)-(a&0x80)",
    "clz": "64-a.bit_length()", "ctz": "(a&-a).bit_length()-1 if a else 64", "cpop": "a.bit_count()",
}
LOADS = {"ld": 8, "lw": -4, "lwu": 4, "lh": -2, "lhu": 2, "lb": -1, "lbu": 1}
STORES = {"sd": 8, "sw": 4, "sh": 2, "sb": 1}
MEMORY = {**LOADS, **STORES}
RAM = 0x80000000
# The usual case of the usual accesses, of words in RAM, without a call; m8, m4 and s4 are its 8-byte words, its 4-byte words and these with
# their sign.
AT_ONCE = {8: "m8[{a}-{ram}>>3]", 4: "m4[{a}-{ram}>>2]", -4: "s4[{a}-{ram}>>2]&{mask}"}


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def word(v):
    return (v & 0xFFFFFFFF) - (1 << 32) if v & 0x80000000 else v & 0xFFFFFFFF


def quotient(a, b):
    """Rounded towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def remainder(a, b):
    return a - quotient(a, b) * b if b else a


def longer(a, b):
    """By how many bits."""
    return max(0, abs(a).bit_length() - abs(b).bit_length())


class Insn:
    def __init__(self, pc, raw, size, name, operands):
        self.pc, self.raw, self.size, self.name, self.operands = pc, raw, size, name, operands
        self.next = pc + size
        self.atomic = ATOMIC.match(name)

    @functools.cached_property
    def plain(self):
        """It loads or stores."""
        return expand(self)[0] in MEMORY


@functools.cache
def disassemble(elf):
    """pc -> Insn for the whole image; not to be changed."""
    command = [OBJDUMP, "-d", "-M", "no-aliases,numeric", elf]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    insns = {}
    for line in text.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\s+([0-9a-f]+)\s+(\S+)\s*(.*)", line)
        if not m:
            continue
        raw = int(m[2], 16)
        operands = [o.strip() for o in re.sub(r"<.*|#.*", "", m[4]).strip().split(",") if o.strip()]
        insns[int(m[1], 16)] = Insn(int(m[1], 16), raw, len(m[2]) // 2, SYNC_WORDS.get(raw, m[3]), operands)
    return insns


def reg(name):
    return int(name[1:])


def place(operand):
    """'8(x2)' -> (8, 2)"""
    m = re.match(r"(-?\w*)\(x(\d+)\)", operand)
    return int(m[1] or "0", 0), int(m[2])


def expand(i):
    """Compressed instructions as the base instructions they stand for: (name, operands)."""
    n, o = i.name, i.operands
    if not n.startswith("c."):
        return n, o
    n = n[2:]
    if n in ("mv", "li", "lui"):
        return {"mv": ("add", [o[0], "x0", o[-1]]), "li": ("addi", [o[0], "x0", o[-1]]), "lui": ("lui", o)}[n]
    if n in ("beqz", "bnez"):
        return n[:3], [o[0], "x0", o[1]]
    if n in ("j", "jr", "jalr"):
        return ("jal", ["x0", o[-1]]) if n == "j" else ("jalr", ["x0" if n == "jr" else "x1", f"0({o[-1]})"])
    if n in ("addi16sp", "addi4spn"):
        return "addi", o if len(o) == 3 else [o[0], o[0], o[1]]
    if n in ("ldsp", "lwsp", "sdsp", "swsp"):
        return n[:2], o
    if n in ("nop", "unimp"):
        return "addi", ["x0", "x0", "0"]
    return n, o if "(" in o[-1] or len(o) == 3 else [o[0], *o]


def upper(text):
    v = int(text, 0) & 0xFFFFF
    return word(v << 12)


def loaded(address, size):
    if size not in AT_ONCE:
        return f"load({address},{size})"
    what = AT_ONCE[size].format(a="a", ram=RAM, mask=MASK)
    return f"{what} if at_once and (a:={address})>={RAM} and not a&{abs(size) - 1} else load({address},{size})"


def stored(address, size, value):
    if size not in AT_ONCE:
        return f"store({address},{size},{value})"
    where = AT_ONCE[size].format(a="a", ram=RAM, mask=MASK)
    return (f"if at_once and (a:={address})>={RAM} and not a&{size - 1}: {where}={value}&{(1 << 8 * size) - 1}\n"
            f" else: store({address},{size},{value})")


def statement(i):
    """Python source of one plain instruction, and the expression of the next pc if it ends the block."""
    n, o = expand(i)
    base = n[:-1] if n.endswith("i") else n[:-2] + "w" if n.endswith("iw") else None
    if n == "sltiu":
        base = "sltu"
    if n in BRANCHES:
        test = re.sub(r"\b([ab])\b", lambda m: f"x[{reg(o[0 if m[1] == 'a' else 1])}]", BRANCHES[n])
        return "", f"{int(o[2], 16)} if {test} else {i.next}"
    if n == "jal":
        d, target = (reg(o[0]), o[1]) if len(o) == 2 else (1, o[0])
        return (f"x[{d}]={i.next}" if d else ""), str(int(target, 16))
    if n == "jalr":
        offset, s = place(o[-1])
        d = reg(o[0])
        return f"t=(x[{s}]+{offset})&{MASK - 1}" + (f";x[{d}]={i.next}" if d else ""), "t"
    if n in LOADS:
        offset, s = place(o[1])
        return (f"x[{reg(o[0])}]=" if reg(o[0]) else "") + loaded(f"x[{s}]+{offset}", LOADS[n]), None
    if n in STORES:
        offset, s = place(o[1])
        return stored(f"x[{s}]+{offset}", STORES[n], f"x[{reg(o[0])}]"), None
    if n in ("fence", "fence.i", "fence.tso"):
        return "", None
    if n.startswith("csr"):
        return (f"x[{reg(o[0])}]=csr(h,{o[1]!r})" if reg(o[0]) else ""), None
    d = reg(o[0])
    if n in ("lui", "auipc"):
        value = upper(o[1]) + (i.pc if n == "auipc" else 0)
        return (f"x[{d}]={value & MASK}" if d else ""), None
    if n in UNARY:
        source = re.sub(r"\ba\b", f"x[{reg(o[1])}]", UNARY[n])
        return (f"x[{d}]=({source})&{MASK}" if d else ""), None
    if n in ALU or base in ALU:
        b = f"x[{reg(o[2])}]" if o[2].startswith("x") else str(int(o[2], 0) & MASK)
        source = re.sub(r"\b([ab])\b", lambda m: f"x[{reg(o[1])}]" if m[1] == "a" else b, ALU[n if n in ALU else base])
        return (f"x[{d}]=({source})&{MASK}" if d else ""), None
    raise NotImplementedError(f"{i.pc:#x}: {i.name} {i.operands}")


def is_sync(i):
    """Instructions the model handles itself: atomics, waits, hypercalls."""
    return (i.atomic is not None or i.raw in SYNC_WORDS or i.name == "wfi" or
            (i.size == 4 and i.raw & 0xFFFFF == 0x02013))


def class_of(name):
    """Of a base instruction: the key of its cost."""
    if name in LOADS:
        return "load"
    if name in STORES:
        return "store"
    if name in BRANCHES or name in ("jal", "jalr"):
        return "branch"
    return name[:3] if name.startswith(("mul", "div", "csr")) else "div" if name.startswith("rem") else None


class Program:
    """Blocks of one image as compiled Python, made when first reached. beyond: (class, cycles that its instructions add to hart.offset) …;
    div_bit and loop_exit among them. ordered: plain accesses end blocks."""

    def __init__(self, elf, beyond, ordered):
        self.insns, self.beyond, self.ordered = disassemble(elf), dict(beyond), ordered
        self.blocks = {}

    def countdown(self, start):
        """The two-instruction loop ADDI x,x,-1; BNEZ x: its turns in one step."""
        first, second = self.insns[start], self.insns.get(self.insns[start].next)
        if second is None or is_sync(first) or is_sync(second):
            return None
        (n1, o1), (n2, o2) = expand(first), expand(second)
        if n1 == "addi" and o1[0] == o1[1] and o1[2] == "-1" and n2 == "bne" and o2[:2] == [o1[0], "x0"] and \
                int(o2[2], 16) == start:
            r = reg(o1[0])
            return [f"h.n+=2*(x[{r}] or 1<<64)", f"h.offset+={self.beyond.get('loop_exit', 0)}", f"h.offset+={self.cost(second)}*(x[{r}] or 1<<64)", f"x[{r}]=0", f"return {second.next}"]
        return None

    def cost(self, i):
        return self.beyond.get(class_of(expand(i)[0]), 0)

    def ends(self, i):
        return is_sync(i) or self.ordered and i.plain

    def division(self, i):
        """Its addition to hart.offset for its operands, if any."""
        name, operands = expand(i)
        if class_of(name) != "div" or not self.beyond.get("div_bit"):
            return []
        half, is_signed = name.endswith("w"), "u" not in name
        form = ("W({})" if is_signed else "({}&0xffffffff)") if half else "S({})" if is_signed else "{}"
        return [f"h.offset+={self.beyond['div_bit']}*longer({','.join(form.format(f'x[{reg(o)}]') for o in operands[1:])})"]

    def leave(self, i, target):
        """End of a block whose last instruction goes to target: an untaken conditional branch
        backward costs more."""
        name, operands = expand(i)
        if name not in BRANCHES or int(operands[-1], 16) >= i.pc or not self.beyond.get("loop_exit"):
            return [f"return {target}"]
        return [f"t={target}", f"h.offset+={self.beyond['loop_exit']}*(t=={i.next})", "return t"]

    def block(self, start):
        """The definition of the function of the block at start, or the Insn if it is a
        synchronising one."""
        if start not in self.blocks:
            i = self.insns[start]
            self.blocks[start] = i if self.ends(i) else compile("def f(h,x):\n " + "\n ".join(self.lines(start)), f"{start:#x}", "exec")
        return self.blocks[start]

    def lines(self, start):
        i = self.insns[start]
        lines, target, count, beyond = self.countdown(start) or [], None, 0, 0
        while not lines or count:
            if self.ends(i):
                target = str(i.pc)
                break
            lines += self.division(i)
            text, target = statement(i)
            lines += text.split(";") if text else []
            count += 1
            beyond += self.cost(i)
            if target:
                break
            i = self.insns[i.next]
        if count:
            lines += [f"h.n+={count}", *([f"h.offset+={beyond}"] if beyond else []), *self.leave(i, target)]
        return lines


program = functools.cache(Program)


class Code:
    """A program on one machine; calls the machine's load, store and csr."""

    def __init__(self, elf, views, at_once, load, store, csr, beyond, ordered):
        """views: its RAM by the size of words, those of -4 with their sign. at_once: accesses to them need no load and store. beyond: class →
        cycles, and ordered, as in Program."""
        self.program = program(elf, tuple(sorted(beyond.items())), ordered)
        self.names = {"load": load, "store": store, "csr": csr, "S": signed, "W": word, "Q": quotient, "R": remainder, "longer": longer, "at_once": at_once, "m8": views[8], "m4": views[4],
                      "s4": views[-4]}
        self.blocks, self.insns = {}, {}

    def make(self, start):
        """The code at start becomes a function of blocks, or one of insns, which are synchronising.
        """
        found = self.program.block(start)
        if isinstance(found, Insn):
            self.insns[start] = found
        else:
            space = dict(self.names)
            exec(found, space)
            self.blocks[start] = space["f"]
