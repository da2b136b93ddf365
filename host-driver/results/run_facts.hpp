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

/* The device's figures are of the measurement. */
struct RunFacts : DeviceFigures {
	hz_device_config device{};
	nlohmann::json workload; /* echo */
	nlohmann::json software; /* what ran: software.hpp */
	bool virtual_clock = true;
	bool attached = false; /* to a device of another process: its figures include what others did, and some facts are its owner's */
	uint64_t seed = 0;
	uint64_t elapsed_ns = 0; /* first arrival allowed → last completion */
	uint64_t mount_ns = 0;
	hz_mount_report mount{};
	uint64_t image_starts = 0;           /* of the device on the image that outlives the run, this one included; 0: there is none */
	uint64_t kept_zones = 0;             /* that hold data of earlier runs or of others and were left alone */
	std::vector<QueueAccount> queues;    /* of the measurement */
	std::vector<QueueAccount> prepared;  /* of the preparation */
	std::string prepared_key;            /* of a prepared device that is kept, or empty … */
	std::string prepared_story;          /* … and where it came from */
	std::vector<QueueAccount> read_back; /* of the verification after the measurement */
	std::vector<nlohmann::json> mapping; /* per thread: cost of the mapping, or null */
	nlohmann::json iotailor;             /* what IOTailor did, or null */
	nlohmann::json trace;                /* what is known of the replayed trace, or null */
	nlohmann::json as_recorded;          /* of a recording: how far the device did the same, or null */
	std::string interrupted;             /* "measurement" or "verification", whatever the user cut short; or empty */
	std::string plugin_report;           /* JSON text of the virtual clock plugin, or empty */
	std::string timeline;                /* spans of the plugin (vclock/profile/timeline.h), or empty */
	double wall_s = 0, replay_wall_s = 0;
};

/* As in hil+tsu, of HZ_ROLE_… */
std::string roles_text(uint32_t roles);

/* 16 digits over the queues in order, then the log pages C0h…C3h: docs/reference/results.md says byte by byte what goes in. */
std::string digest_of(const RunFacts &facts);

/* Sentences about broken accounting identities and wrong data; empty: the run stands. */
std::vector<std::string> violations(const RunFacts &facts);

/* Sentences about what a reader of the figures should know: parts of a trace that were skipped, folded or late, threads without work, a
 * run that was cut short. Of a finished result. */
std::vector<std::string> warnings(const nlohmann::json &result);

/* What the race check of the virtual clock found, a sentence each; empty too if it was off. */
std::vector<std::string> races_of(const RunFacts &facts);

/* The result file (docs/reference/results.md, docs/result.schema.json). */
nlohmann::json result_json(const RunFacts &facts);

/* The entries "deterministic", "deterministic_reason" and, of a run that did not end by itself, "digest": of the order in which the harts
 * took turns, by what the virtual clock's plugin reported. */
nlohmann::json verdict_of(const std::string &plugin_report);

/* The table for people. */
std::string result_table(const nlohmann::json &result);

/* Host name-free description of where the run took place: CPU model, cores, kernel. */
nlohmann::json host_info();

/* Writes `text` to `path` through a temporary file, so that no half file is ever seen. Throws std::runtime_error. */
void write_whole(const std::string &text, const std::string &path);

/* The same with a result. */
void write_result(const nlohmann::json &result, const std::string &path);

} // namespace hz::res
