/* Cutting a trace, and stretching its times and addresses: record by record, in constant memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "trace/record.hpp"

#include <cstdint>
#include <stdexcept>

namespace hz::inspect {

struct TraceEdit {
	uint64_t from_ns = 0, to_ns = UINT64_MAX;        /* keeps records in this interval since the first record; to_ns is excluded */
	uint64_t skip = 0, records = UINT64_MAX;         /* of the records kept by time: skips the first `skip`, keeps the next `records` */
	double time_scale = 1, address_scale = 1;        /* times count from the first record of the trace; addresses from 0 */
	static constexpr uint64_t chunk_bytes = 1 << 20; /* addresses are scaled by whole chunks; contents of a chunk stay adjacent */
};

/* The error in the last record, without file and line. */
struct EditError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/* A trace as an edit leaves it. */
class EditedTrace : public trace::RecordStream {
public:
	EditedTrace(trace::RecordStream &in, const TraceEdit &edit) : in_(in), edit_(edit) {}
	/* Throws EditError: an address in a zone cannot be scaled, and none may grow beyond 2^62, no time beyond 2^64 ns. */
	bool next(trace::Record &record) override;

private:
	void scale(trace::Record &record) const;

	trace::RecordStream &in_;
	TraceEdit edit_;
	bool begun_ = false;
	uint64_t first_ns_ = 0, matching_ = 0;
};

} // namespace hz::inspect
