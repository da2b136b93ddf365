/* A workload as its YAML file describes it (docs/reference/config.md names every key). */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "config/yaml_fields.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hz::wl {

enum class Mapping : uint32_t { direct, log };
enum class Pattern : uint32_t { sequential, random };
enum class Distribution : uint32_t { uniform, zipf };
enum class Think : uint32_t { constant, exponential };
enum class Timing : uint32_t { closed, open };
enum class Split : uint32_t { automatic, address, stream };
/* Of a thread's records: that of the trace; or each stream is a program with one command at a time,
 * which waits for others where a record says `after`, and within a zone. */
enum class Order : uint32_t { trace, streams };
enum class Fit : uint32_t { wrap, refuse };
enum class Area : uint32_t { sequential, conventional };
enum class Priority : uint32_t { urgent, high, medium, low }; /* as enum nvme_queue_priority */

inline constexpr uint32_t any_zone = UINT32_MAX;

struct BlockSize {
	uint64_t sectors;
	uint64_t weight;
};

/* One host thread = one queue pair. Sizes in 4 KiB sectors. */
struct ThreadSpec {
	Pattern read_pattern = Pattern::random, write_pattern = Pattern::sequential;
	double read_ratio = 0.5, trim_ratio = 0.0; /* of the commands; the others write */
	std::vector<BlockSize> blocks{{4, 1}};
	Distribution distribution = Distribution::uniform;
	double zipf_theta = 0.99;
	uint64_t record = 0; /* bytes of a log's record, which each write appends; 0 = a write is a block */
	uint32_t queue_depth = 8;
	Think think = Think::constant;
	uint64_t think_ns = 0;
	Area area = Area::sequential;   /* which of a device's zones; block namespaces have no areas */
	uint32_t zones = 0;             /* 0 = an equal share of the device */
	uint32_t first_zone = any_zone; /* device number of the first of them; needs zones */
	uint32_t zone_step = 1;         /* distance of their numbers, with first_zone */
	uint32_t open_zones = 1;        /* zones written side by side (mapping direct) */
	uint32_t zone_depth = 0;        /* writes in flight per zone; 0 = no limit */
	bool reset_when_full = true;
	bool append = false;
	bool zrwa = false;                         /* zones have a random write area while they are written */
	bool fua = false;                          /* writes are durable when they complete */
	double durable_ratio = 0.0;                /* share of writes with protection from a power cut */
	uint32_t placement = 0;                    /* identifier of its writes (flexible data placement); 0: none is named */
	uint32_t flush_every = 0;                  /* writes between flushes; 0 = never */
	uint64_t total_ops = 0, total_sectors = 0; /* the first one reached ends the thread; 0 = no such limit */
	double span = 1.0;                         /* used part of the thread's space; zones: reads only */
	uint64_t span_sectors = 0;                 /* the same as a size; 0 = not given */
	double prefill = 0.0;                      /* share of the address space written before the measurement */
	Priority priority = Priority::medium;      /* of its queue; counts with Workload::arbitration */
};

struct TraceSpec {
	std::string file;
	std::string format = "auto";
	uint64_t time_unit_ns = 0; /* 0 = the format's usual one, or detected from the lines */
	uint64_t skip_bad = 0;     /* broken lines to pass over */
	Timing timing = Timing::closed;
	double time_scale = 1.0; /* open: device time per trace time */
	uint32_t threads = 4, queue_depth = 8;
	Split split = Split::automatic;
	Fit fit = Fit::wrap;
	bool preload = true;  /* before the measurement, write sectors that the trace reads before it writes them */
	uint64_t max_ops = 0; /* records to replay; 0 = all */
	uint32_t repeat = 1;
	Order order = Order::trace;
	double think_scale = 1.0; /* order streams: device time per think of a record */
	bool durable = true;      /* ask the device for the durability that records ask for */
	std::string block_key;    /* a given key without meaning for a direct replay on zones; or empty */
};

/* IOTailor between the workload and its queues. Sizes in sectors. */
struct TailorSpec {
	uint64_t unit = 0;           /* 0: the device's superpage */
	uint64_t memory = 0;         /* of the host, for each thread; 0: eight units */
	uint64_t hold_ns = 10000000; /* how long a write is held at most */
};

/* Enough that neither the device nor the host thread waits for the other. Queues always reserve
 * room for them. */
inline constexpr uint32_t most_ahead = 32;

/* Weighted round robin with urgent class: commands that the queues of a priority send before it is the next one's turn, and commands
 * of one queue in a row (2^burst, 7: all it has). Urgent queues come first. */
struct ArbitrationSpec {
	uint32_t high = 1, medium = 1, low = 1; /* 1 to 256 */
	uint32_t burst = 0;
};

struct Workload {
	std::string name = "unnamed", file; /* file: where it was read from, for messages */
	Mapping mapping = Mapping::direct;
	bool mapping_given = false; /* else choose_mapping decides */
	uint64_t seed = 1;
	bool verify = true;
	bool accept_unreadable = false;         /* sectors that the device cannot read are a figure, and no failure of the run */
	uint32_t ahead = most_ahead;            /* commands that a thread places before they arrive, if it can: costs no device time */
	bool shared = false;                    /* all threads share the whole block namespace; each prepares its part */
	std::vector<uint32_t> namespaces = {1}; /* NSIDs: thread i works on the i-th, modulo their number */
	bool keep_prepared =
		false; /* the device is shut down when it is prepared, and kept: runs with the same preparation begin with it */
	uint32_t turnaround_ns = 4000;
	double over_provisioning = 0.20; /* share of a thread's zones reserved by the log mapping */
	uint32_t gc_low_zones = 2;       /* log mapping collects while fewer zones are free */
	std::vector<ThreadSpec> threads; /* empty for a trace */
	std::optional<TraceSpec> trace;
	std::optional<TailorSpec> tailor;
	std::optional<ArbitrationSpec> arbitration; /* none: round robin over all queues */

	size_t thread_count() const { return trace ? trace->threads : threads.size(); }
	/* Seed of a run's data in a namespace; differs for each. */
	uint64_t seed_of(uint32_t nsid) const { return seed + nsid - 1; }
};

/* Throw conf::ConfigError. A relative trace file is searched in the workload file's folder, then in
 * the current directory. */
Workload load_workload(const std::string &path);
Workload parse_workload(const std::string &text, const std::string &name);

/* The same with every n-th thread only, from `first` on: the part of one of n namespaces. */
Workload part_of(const Workload &workload, size_t first, size_t n);

nlohmann::json workload_to_json(const Workload &workload);

/* Whether something may be written before the measurement. */
bool prepares(const Workload &workload);
/* The same preparation without the measurement: equal for workloads that differ in the measurement
 * only. */
Workload preparation_of(const Workload &workload);

/* Default mapping of a trace: log on zones, direct on a block namespace. */
void choose_mapping(Workload &workload, bool zoned);

/* Smaller run of the same kind: totals and trace records divided by `divisor` (at least one operation stays). */
void shrink(Workload &workload, uint64_t divisor);

} // namespace hz::wl
