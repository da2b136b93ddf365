"""Freezes of the firmware: each ends at one THAW, whatever branches are taken inside.

Inside a freeze the firmware looks at the host, so a branch may go either way by chance. A compiler that gave each outcome its own copy of
the THAW and of code behind it would let device time depend on the host; clock_thaw is made so that none does."""
# SPDX-License-Identifier: BSD-3-Clause
import bisect
import os
import shutil
import subprocess
import tempfile
import unittest

import rv64
from suite import FIRMWARE, main

HERE = os.path.dirname(os.path.abspath(__file__))
GCC = "riscv64-unknown-elf-gcc"
IMAGE = os.path.join(FIRMWARE, "firmware/main/firmware.elf")
FREEZE, THAW = 0x10402013, 0x10502013
# Their branches depend on the device's own state, equal in every run: flash contents, kind of
# clock.
DEVICE_DECIDES = ("media_", "nand_format_", "lt_hart_times_publish", "lt_hart_run", "lt_decide_thawed") # the last thaws and goes back into a freeze
NO_WAY_BACK = ("device_stop", "fail_with", "fail_image")
NO_RETURN = ("lt_fail",) # a call of these is the end of a way
TRAPS = ("c.ebreak", "c.unimp", "ebreak", "unimp")
RETURN, ENDLESS = "a return", "more and more freezes"
DEEPEST = 8 # freezes inside each other


def successors(i, no_return=()):
    """Places where a hart may be after the instruction; a call comes back, but from these places."""
    if i.name in TRAPS:
        return []
    name, operands = rv64.expand(i)
    if name == "jal" and int(operands[-1], 16) in no_return:
        return []
    if name in rv64.BRANCHES:
        return [i.next, int(operands[-1], 16)]
    if name == "jal" and operands[0] == "x0":
        return [int(operands[-1], 16)]
    if name == "jalr" and operands[0] == "x0":
        return [RETURN]
    return [i.next]


def ends(insns, freeze, no_return=()):
    """Every place at which the freeze that begins at `freeze` may end."""
    found, seen, rest = set(), set(), [(insns[freeze].next, 1)]
    while rest:
        place = rest.pop()
        if place in seen:
            continue
        seen.add(place)
        pc, depth = place
        if pc == RETURN or pc not in insns:
            found.add(pc)
            continue
        depth += {FREEZE: 1, THAW: -1}.get(insns[pc].raw, 0)
        if depth == 0:
            found.add(pc)
        elif depth > DEEPEST:
            found.add(ENDLESS)
        else:
            rest += [(to, depth) for to in successors(insns[pc], no_return)]
    return found


def unfrozen(insns, functions):
    """Every place that a hart may come to with its clock going, from the beginnings of functions on."""
    seen, rest = set(), [(pc, 0) for pc in functions]
    while rest:
        place = rest.pop()
        if place in seen or place[0] not in insns:
            continue
        seen.add(place)
        pc, depth = place
        depth = max(0, depth + {FREEZE: 1, THAW: -1}.get(insns[pc].raw, 0))
        if depth <= DEEPEST:
            rest += [(to, depth) for to in successors(insns[pc])]
    return {pc for pc, depth in seen if depth == 0}


def enters(insns, functions, marked):
    """Places that jump or call into the addresses `marked` with the clock going."""
    places = unfrozen(insns, [pc for pc in functions if pc not in marked])
    targets = {pc: int(insns[pc].operands[-1], 16) for pc in places - set(marked)
               if insns[pc].name not in TRAPS and rv64.expand(insns[pc])[0] in (*rv64.BRANCHES, "jal")}
    return sorted(pc for pc, to in targets.items() if to in marked)


def functions(elf):
    """Sorted (address, name) of the image's code."""
    text = subprocess.run(["riscv64-unknown-elf-nm", elf], capture_output=True, text=True, check=True).stdout
    return sorted((int(line[0], 16), line[2]) for line in map(str.split, text.splitlines()) if len(line) == 3 and line[1] in "tT")


class Freezes(unittest.TestCase):
    def test_each_freeze_of_the_firmware_ends_at_one_place(self):
        if not os.path.exists(IMAGE):
            self.skipTest("the firmware is not built")
        insns, names = rv64.disassemble(IMAGE), functions(IMAGE)
        no_return = [pc for pc, name in names if name in NO_RETURN]
        checked, wrong = 0, []
        for pc, insn in insns.items():
            name = names[bisect.bisect(names, (pc, "~")) - 1][1]
            if insn.raw != FREEZE or name.startswith(DEVICE_DECIDES + NO_WAY_BACK):
                continue
            checked += 1
            places = ends(insns, pc, no_return)
            if len(places) != 1 or places & {RETURN, ENDLESS}:
                wrong.append(f"at {pc:#x} in {name}: ends at {[p if isinstance(p, str) else hex(p) for p in places]}")
        self.assertEqual(wrong, [])
        self.assertGreater(checked, 30)

    def test_code_for_a_frozen_clock_is_entered_frozen(self):
        """Of HZ_FROZEN code no instruction is counted. Calls through pointers are checked by each run with race-check=on."""
        if not os.path.exists(IMAGE):
            self.skipTest("the firmware is not built")
        insns, names = rv64.disassemble(IMAGE), functions(IMAGE)
        at = {name: pc for pc, name in names}
        marked = range(at["frozen_begin"], at["frozen_end"])
        self.assertGreater(len(marked), 4096)
        found = [names[bisect.bisect(names, (pc, "~")) - 1][1] for pc in enters(insns, [pc for pc, name in names if name[0] != "$"], marked)]
        self.assertEqual(found, [])

    def test_an_entry_with_the_clock_going_is_found(self):
        def code(*lines):
            return {pc: rv64.Insn(pc, raw, 4, name, operands) for pc, (raw, name, *operands) in zip(range(0, 100, 4), lines)}

        freeze, thaw, call, ret = (FREEZE, "slti"), (THAW, "slti"), (0, "jal", "x1", "40"), (0, "jalr", "x0", "0(x1)")
        marked = range(64, 80)
        self.assertEqual(enters(code(freeze, call, thaw, ret), [0], marked), [])
        self.assertEqual(enters(code(freeze, call, thaw, call, ret), [0], marked), [12])
        self.assertEqual(enters(code(freeze, freeze, thaw, call, thaw, call, ret), [0], marked), [20])
        self.assertEqual(enters(code((0, "beq", "x5", "x0", "8"), freeze, call, thaw, ret), [0], marked), [8])

    def compiled(self, *command):
        """Ends of each freeze of probe/ways.c."""
        with tempfile.TemporaryDirectory(prefix="hz-ways-") as folder:
            elf = os.path.join(folder, "ways.o")
            subprocess.run([*command, "-mabi=lp64", "-mcmodel=medany", "-mno-relax", "-ffreestanding", "-I", os.path.join(HERE, "../../libthread/port/riscv"),
                            "-I", os.path.join(HERE, "../../protocol"), "-c", os.path.join(HERE, "probe/ways.c"), "-o", elf], check=True)
            insns = rv64.disassemble(elf)
        return [ends(insns, pc) for pc, insn in insns.items() if insn.raw == FREEZE]

    def test_no_compiler_finds_two_ways_out(self):
        """A thaw without its guard ends in two or three places with each of these."""
        headers = os.path.join(os.path.dirname(subprocess.run([GCC, "-print-libgcc-file-name"], capture_output=True, text=True, check=True).stdout), "include")
        compilers = [[GCC, "-march=rv64imac_zba_zbb_zicsr_zifencei", "-mno-save-restore"]]
        if shutil.which("clang"):
            compilers.append(["clang", "--target=riscv64-unknown-elf", "-march=rv64imac", "-isystem", headers])
        for compiler in compilers:
            for level in ("-O1", "-O2", "-O3", "-Os", "-O3 -ftracer -funroll-loops -fsplit-paths" if compiler[0] == GCC else "-O3 -funroll-loops"):
                with self.subTest(compiler=compiler[0], level=level):
                    found = self.compiled(*compiler, *level.split())
                    self.assertEqual([len(one) for one in found], [1] * 4)
                    self.assertFalse(set().union(*found) & {RETURN, ENDLESS})

    def test_two_ways_out_are_found(self):
        def code(*lines):
            return {pc: rv64.Insn(pc, raw, 4, name, operands) for pc, (raw, name, *operands) in zip(range(0, 100, 4), lines)}

        freeze, thaw, plain = (FREEZE, "slti"), (THAW, "slti"), (0, "addi", "x5", "x5", "1")
        branch, ret = (0, "beq", "x5", "x0", "10"), (0, "jalr", "x0", "0(x1)")
        self.assertEqual(ends(code(freeze, branch, plain, plain, thaw, ret), 0), {16})
        self.assertEqual(ends(code(freeze, branch, thaw, ret, thaw, plain, ret), 0), {8, 16})
        self.assertEqual(ends(code(freeze, freeze, thaw, plain, thaw, ret), 0), {16})
        self.assertEqual(ends(code(freeze, branch, ret, plain, thaw, ret), 0), {RETURN, 16})
        call = (0, "jal", "x1", "28")
        self.assertEqual(ends(code(freeze, branch, call, plain, thaw, ret), 0), {16})
        self.assertEqual(ends(code(freeze, branch, call, ret, thaw, ret), 0, [0x28]), {16})
        self.assertEqual(ends(code(freeze, branch, call, ret, thaw, ret), 0), {RETURN, 16})
        self.assertEqual(ends(code(freeze, (0, "jal", "x0", "0")), 0), {ENDLESS})


if __name__ == "__main__":
    main()
