/* Source: provides the commands of a replay thread: generators of zoned operations and mappings of
 * block operations. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace hz::wl {

/* The workload needs something that the device lacks; what() is one sentence. */
struct WorkloadError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

enum class Op : uint8_t { read, write, append, flush, reset, reset_all, finish, open, close, deallocate, open_zrwa, commit };

/* Cause of a command: the workload, or the mapping's own housekeeping. */
enum class Cause : uint8_t { user, gc };

inline constexpr uint64_t unknown_version = UINT64_MAX;

/* Identity of the data of one sector; version 0 = never written, reads as zeros; unknown_version: not to be checked. */
struct Stamp {
	uint64_t key = 0;
	uint64_t version = 0;
	bool operator==(const Stamp &) const = default;
};

struct Request {
	Op op = Op::read;
	Cause cause = Cause::user;
	uint64_t lba = 0;           /* zone commands and append: zone start; commit: the last sector that is committed */
	uint32_t sectors = 0;       /* read, write, append, deallocate */
	bool fua = false;           /* write: durable when it completes */
	bool after_flushes = false; /* write, append: its source held it back until the flushes before it had completed */
	bool durable = false;       /* write, append: requests protection from a power cut */
	bool again = false;         /* write: to sectors of a sequential zone that were written since its reset, among others */
	bool in_place = false;      /* write: before the write pointer of a sequential zone */
	uint16_t placement = 0;     /* write: its placement identifier; 0: it names none */
	uint64_t think_ns = 0;      /* the thread pauses this long before it submits */
	uint64_t not_before_ns = 0; /* earliest arrival, counted from the start of the phase */
	uint64_t tag = 0;           /* the source's own */
	std::vector<Stamp> stamps;  /* write, append: data to write; read: expected data, or newer (newest_version). One per sector */
};

enum class Step {
	issue,   /* the request is filled in */
	blocked, /* nothing until another of this source's commands completes */
	done,    /* nothing more in this phase */
};

/* A sector last written by the workload. */
struct LiveSector {
	uint64_t lba = 0;
	Stamp stamp;
};

/* A pure state machine: the result of next() depends only on the seed and on the order and content
 * of complete() and arrives() calls. Used by one thread. At least one command is outstanding
 * whenever next() returns blocked. */
class Source {
public:
	virtual ~Source() = default;
	/* Device time since the phase began, as the thread has come to know it; before next() and complete(). */
	virtual void at(uint64_t ns) { (void)ns; }
	virtual Step next(Request &request) = 0;
	/* Whether, in this phase, next() may be called for commands before they arrive: none has an
	 * arrival time (not_before_ns). */
	virtual bool plans_ahead() const { return false; }
	/* For a source that plans ahead: whether the result of next() now, unless blocked, is the
	 * same as at the command's arrival, if no command fails. If not, it is called at the
	 * arrival. */
	virtual bool foresees() { return true; }
	/* Called for every issued request, in order, at its arrival: after complete() of all
	 * earlier completions. held: blocked had delayed it. */
	virtual void arrives(Request &request, bool held) { (void)request, (void)held; }
	/* Called for every issued request, in completion order. status 0 is success; result: the
	 * LBA of an append. */
	virtual void complete(const Request &request, uint16_t status, uint64_t result) = 0;
	/* Before a read is completed: the newest version that it may return for sector `index`. The
	 * stamp's own, unless writes of the sector were under way at the same time. */
	virtual uint64_t newest_version(const Request &request, uint32_t index) { return request.stamps[index].version; }
	/* The newest version of that sector that was a deallocation (zeros), if the read may return
	 * it; else 0. */
	virtual uint64_t newest_zeros(const Request &request, uint32_t index) { return (void)request, (void)index, 0; }
	/* Whether the workload provokes this status deliberately, so that it is no failure. */
	virtual bool provokes(uint16_t status) const { return (void)status, false; }
	/* A run has two phases: preparation (prefill, preload), then measurement. Called between them with nothing outstanding. */
	virtual void begin_measurement() = 0;
	/* Progress of the phase in parts of 1e6. */
	virtual uint32_t progress_ppm() const = 0;
	/* Every sector with known content, with nothing outstanding; ascending within a zone. */
	virtual std::vector<LiveSector> live() = 0;
	/* Cost of the mapping, for result.json; null if it has none. */
	virtual nlohmann::json cost() const { return nullptr; }
};

/* The zones that a thread owns: first_zone, first_zone + step, … Sizes in sectors. */
struct ZoneShare {
	uint32_t first_zone = 0, zones = 0, step = 1;
	uint64_t zone_size = 0, zone_capacity = 0;
	uint32_t max_transfer = 128, max_append = 128;
	uint32_t zrwa_sectors = 0, zrwa_granularity = 0; /* of a random write area; units of its commits */
	bool durable_writes = false;                     /* the device honours Request::durable */

	uint64_t start_of(uint32_t zone) const { return uint64_t(zone) * zone_size; }
};

} // namespace hz::wl
