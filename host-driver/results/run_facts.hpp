/* Everything that a finished run knows, before it becomes JSON. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"
#include "mount_report.h"
#include "results/account.hpp"
#include "results/device_figures.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace hz::res {

/* A count of the result. */
inline uint64_t count(const nlohmann::json &value) { return value.get<uint64_t>(); }

/* The device's figures cover the measurement only. */
struct RunFacts : DeviceFigures {
	hz_device_config device{};
	nlohmann::json workload; /* echo */
	nlohmann::json software; /* programs of the run: software.hpp */
	bool virtual_clock = true;
	bool attached = false; /* to a device of another process: its figures include other users, and some facts are known to its owner
			        * only */
	uint64_t seed = 0;
	uint64_t elapsed_ns = 0; /* first arrival allowed → last completion */
	uint64_t mount_ns = 0;
	hz_mount_report mount{};
	uint64_t image_starts = 0;           /* of the device on the image that outlives the run, this one included; 0: there is none */
	uint64_t kept_zones = 0;             /* with data of earlier runs or of others, left alone */
	std::vector<QueueAccount> queues;    /* of the measurement */
	std::vector<QueueAccount> prepared;  /* of the preparation */
	std::string prepared_key;            /* of a prepared device that is kept, or empty … */
	std::string prepared_story;          /* … and where it came from */
	std::vector<QueueAccount> read_back; /* of the verification after the measurement */
	std::vector<nlohmann::json> mapping; /* per thread: cost of the mapping, or null */
	nlohmann::json iotailor;             /* IOTailor's figures, or null */
	nlohmann::json trace;                /* survey of the replayed trace, or null */
	nlohmann::json as_recorded;          /* of a recording: comparison with it, or null */
	std::string interrupted;             /* "measurement" or "verification": the phase cut short by the user; or empty */
	std::string plugin_report;           /* JSON text of the virtual clock plugin, or empty */
	std::string timeline;                /* spans of the plugin (vclock/profile/timeline.h), or empty */
	double wall_s = 0, replay_wall_s = 0;
};

/* As in hil+tsu, of HZ_ROLE_… */
std::string roles_text(uint32_t roles);

/* 16 digits over the queues in order, then the log pages C0h…C3h: docs/reference/results.md says byte by byte what goes in. */
std::string digest_of(const RunFacts &facts);

/* Object `energy` of the result; null under the real clock, whose time is the host's. */
nlohmann::json energy_json(const RunFacts &facts);

/* Sentences about broken accounting identities and wrong data; empty: the run is valid. */
std::vector<std::string> violations(const RunFacts &facts);

/* Sentences about limitations of the figures: parts of a trace that were skipped, folded or late,
 * threads without work, a run that was cut short. For a finished result. */
std::vector<std::string> warnings(const nlohmann::json &result);

/* Findings of the virtual clock's race check, a sentence each; also empty if it was off. */
std::vector<std::string> races_of(const RunFacts &facts);

/* The result file (docs/reference/results.md, docs/result.schema.json). */
nlohmann::json result_json(const RunFacts &facts);

/* The entries "deterministic", "deterministic_reason" and, for a run that did not end by itself,
 * "digest": of the order of the harts, from the report of the virtual clock's plugin. */
nlohmann::json verdict_of(const std::string &plugin_report);

/* The table for people. */
std::string result_table(const nlohmann::json &result);

/* Description of the host without its name: CPU model, cores, kernel. */
nlohmann::json host_info();

/* Writes `text` to `path` through a temporary file, so that no half file is ever seen. Throws std::runtime_error. */
void write_whole(const std::string &text, const std::string &path);

/* The same with a result. */
void write_result(const nlohmann::json &result, const std::string &path);

} // namespace hz::res
