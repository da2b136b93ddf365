"""Instructions by function: the virtual clock's profile of a run, an ELF image's symbols and lines."""
# SPDX-License-Identifier: BSD-3-Clause
import collections
import struct
import subprocess

ADDR2LINE = "riscv64-unknown-elf-addr2line"
PT_LOAD = 1


class Image:
    """Code of an RV64 ELF file by address."""

    def __init__(self, path):
        self.path = str(path)
        with open(path, "rb") as f:
            self.bytes = f.read()
        at, size, count = struct.unpack_from("<Q14xHH", self.bytes, 32)
        headers = (struct.unpack_from("<IIQQQQ", self.bytes, at + i * size) for i in range(count))
        self.parts = [(vaddr, vaddr + length, offset) for kind, _, offset, vaddr, _, length in headers if kind == PT_LOAD]

    def length(self, pc):
        """Bytes of the instruction at pc: compressed ones have two."""
        for begin, end, offset in self.parts:
            if begin <= pc < end:
                return 4 if self.bytes[offset + pc - begin] & 3 == 3 else 2
        raise ValueError(f"there is no code at {pc:#x} in {self.path}")


def read(path, image):
    """The profile file → {(hart, pc): times}, instruction by instruction."""
    counts = collections.Counter()
    with open(path, encoding="ascii") as f:
        for line in f:
            hart, pc, instructions, runs = (int(word, 0) for word in line.split())
            for _ in range(instructions):
                counts[hart, pc] += runs
                pc += image.length(pc)
    return counts


def frames(image, addresses):
    """pc → [(function, file)], innermost first: an inlined function comes before its caller."""
    command = [ADDR2LINE, "-a", "-f", "-i", "-e", image.path]
    run = subprocess.run(command, input="\n".join(map(hex, addresses)), capture_output=True, text=True, check=True)
    out, lines = {}, run.stdout.splitlines()
    for line in lines:
        if line.startswith("0x") and ":" not in line:
            found = out[int(line, 16)] = []
            name = None
        elif name is None:
            name = line
        else:
            found.append((name, line.rsplit(":", 1)[0]))
            name = None
    return out


def source_of(chain):
    """The .c file at work: inline functions of headers count for their caller."""
    return next((file for _, file in chain if file.endswith((".c", ".S"))), chain[-1][1])
