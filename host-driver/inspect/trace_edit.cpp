/* Cutting a trace, and stretching its times and addresses. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/trace_edit.hpp"

namespace hz::inspect {
namespace {

constexpr double most_offset = 0x1p62;

} // namespace

void EditedTrace::scale(trace::Record &r) const
{
	const uint64_t since = r.time_ns > first_ns_ ? r.time_ns - first_ns_ : 0;
	if (edit_.time_scale != 1) {
		const double scaled = double(first_ns_) + double(since) * edit_.time_scale;
		if (scaled >= 0x1p64)
			throw EditError("the scaled time lies beyond 2^64 ns: use a smaller --time");
		r.time_ns = first_ns_ + uint64_t(double(since) * edit_.time_scale);
	}
	if (edit_.address_scale == 1)
		return;
	if (r.zoned)
		throw EditError("an address in a zone cannot be scaled: scale times only");
	const double chunk = double(r.offset / TraceEdit::chunk_bytes) * edit_.address_scale;
	if (chunk * double(TraceEdit::chunk_bytes) >= most_offset)
		throw EditError("the scaled address lies beyond 2^62 bytes: use a smaller --addresses");
	r.offset = uint64_t(chunk) * TraceEdit::chunk_bytes + r.offset % TraceEdit::chunk_bytes;
}

bool EditedTrace::next(trace::Record &r)
{
	while (matching_ < edit_.skip || matching_ - edit_.skip < edit_.records) {
		if (!in_.next(r))
			return false;
		if (!begun_)
			first_ns_ = r.time_ns;
		begun_ = true;
		const uint64_t since = r.time_ns > first_ns_ ? r.time_ns - first_ns_ : 0;
		if (since < edit_.from_ns || since >= edit_.to_ns || matching_++ < edit_.skip)
			continue;
		scale(r);
		return true;
	}
	return false;
}

} // namespace hz::inspect
