"""All mutants in one build: each function that has some becomes a choice among its body and its bodies with one change.

The environment of a test chooses: HZ_MUTANT is the mutant's number. So a thousand mutants cost one compilation, and several run side by
side. HZ_MUTANT_SEEN names a file of a byte for each mutant, which tells whether a test came to its function at all. """
# SPDX-License-Identifier: BSD-3-Clause
import re

# Included by each source, and linked into each program.
HEADER = """#pragma once
#ifdef __cplusplus
extern "C" {
#endif
extern int hz_mutant;
extern char *hz_mutant_seen;
#ifdef __cplusplus
}
#endif
#define HZ_MUTANT(n) (hz_mutant_seen[n] = 1, __builtin_expect(hz_mutant == (n), 0))
"""
SOURCE = """#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char nowhere[%(count)d];
int hz_mutant = -1;
char *hz_mutant_seen = nowhere;

__attribute__((constructor)) static void choose(void)
{
	const char *number = getenv("HZ_MUTANT"), *seen = getenv("HZ_MUTANT_SEEN");
	int file = seen ? open(seen, O_RDWR) : -1;

	if (number)
		hz_mutant = atoi(number);
	if (file < 0)
		return;
	hz_mutant_seen = mmap(NULL, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
}
"""
# Linked into each C++ program: if it is one of GoogleTest, it tells which case comes to which mutants. What is marked before a case begins,
# or behind the last one, belongs to the suite. A death test's child never tells. Others have no GoogleTest: see WEAK.
CASES = """#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace {
FILE *out;

class Listener : public testing::EmptyTestEventListener {
	static void tell(const char *kind, const char *suite, const char *name, long ms)
	{
		std::fprintf(out, "%%s %%s%%s%%s %%ld", kind, suite, *name ? "." : "", name, ms);
		for (int n = 0; n < %(count)d; n++)
			if (hz_mutant_seen[n])
				std::fprintf(out, " %%d", n);
		std::fputs("\\n", out);
		std::fflush(out);
		std::memset(hz_mutant_seen, 0, %(count)d);
	}

	void OnTestStart(const testing::TestInfo &info) override { tell("suite", info.test_suite_name(), "", 0); }
	void OnTestEnd(const testing::TestInfo &info) override
	{
		tell("case", info.test_suite_name(), info.name(), (long)info.result()->elapsed_time());
	}
	void OnTestSuiteEnd(const testing::TestSuite &suite) override { tell("suite", suite.name(), "", 0); }
};

__attribute__((constructor)) void listen()
{
	testing::UnitTest *(*volatile there)() = testing::UnitTest::GetInstance;
	const char *name = std::getenv("HZ_MUTANT_CASES");

	if (name && there && (out = std::fopen(name, "a")))
		there()->listeners().Append(new Listener);
}
} // namespace
"""
WEAK = ["objcopy", "-W", "_ZN7testing8UnitTest11GetInstanceEv", "-W", "_ZN7testing8UnitTest9listenersEv",
        "-W", "_ZN7testing18TestEventListeners6AppendEPNS_17TestEventListenerE"]


def mutated(text, mutant):
    """The whole file with the one change."""
    return text[:mutant.at] + mutant.new + text[mutant.at + len(mutant.old):]


def planted(text, mutants):
    """The file with a choice in each function, and for each mutant's number its first and last line in it. mutants: number → mutant."""
    out, lines, end = [], {}, 0
    of_body = {}
    for number, mutant in mutants.items():
        of_body.setdefault(mutant.body, []).append((number, mutant))
    for (start, stop), here in sorted(of_body.items()):
        out.append(text[end:start] + "{\n")
        for number, mutant in here:
            changed = mutated(text, mutant)[start:stop + len(mutant.new) - len(mutant.old)]
            first = sum(piece.count("\n") for piece in out) + 1
            out.append(f"if (HZ_MUTANT({number}))\n{changed}\nelse\n")
            lines[number] = (first, first + out[-1].count("\n") - 2)
        out.append(text[start:stop] + "\n}")
        end = stop
    return "".join(out) + text[end:], lines


def blamed(log, lines):
    """Numbers of the mutants in whose lines a compiler found an error. lines: file → number → first and last line."""
    found = set()
    for name, line in re.findall(r"^\S*?/source/(\S+?):(\d+):\d+: (?:fatal )?error", log, re.M):
        found |= {number for number, (first, last) in lines.get(name, {}).items() if first <= int(line) <= last}
    return found
