// Any text as a trace in any format: a record stream or one sentence with file and line, nothing else.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string_view>

#include "trace/reader.hpp"

using namespace hz::trace;

// Limits that everything behind the readers relies on.
static void check(const Record &r)
{
	const bool data = r.op == Op::read || r.op == Op::write || r.op == Op::append || r.op == Op::trim;
	if (r.offset > (1ull << 62) || r.bytes > (1ull << 30) || (data && !r.bytes))
		abort();
}

static void read_all(std::string_view text, const std::string &format, uint64_t skip_bad)
{
	try {
		Reader reader(text, "fuzz", ReaderOptions{format, 0, skip_bad});
		for (Record r; reader.next(r);)
			check(r);
		if (reader.skipped() > skip_bad)
			abort();
	} catch (const TraceError &e) {
		if (!std::string_view(e.what()).starts_with("fuzz:"))
			abort();
	}
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
	const size_t choice = data[0] % (formats().size() + 1);
	read_all(text, choice == formats().size() ? "auto" : std::string(formats()[choice].name), data[0] >> 6);
	return 0;
}
