// A scripted device under the real HIL: every request is recorded and answered after a time that a test chooses.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

extern "C" {
#include "hil/ports/ports.h"
#include "nand_image.h"
}

struct Submitted {
	uint64_t at_ns;
	unsigned worker;
	uint8_t op, flags;
	uint32_t sectors;
	uint64_t lba;
	uint32_t number = 0; // of the namespace
	bool operator==(const Submitted &) const = default;
};

struct Answer {
	uint64_t service_ns = 1000; // from submission to the worker's answer
	uint64_t ready_ns = 0;      // further, until the data has crossed the link
	uint16_t status = 0;
	uint64_t result = 0;
	bool under_way = false; // a controller reset must wait for it, as for a flash read
};

struct Service;

inline std::map<uint32_t, namespace_record> attached()
{
	std::map<uint32_t, namespace_record> all;
	for (uint32_t i = 0; i < HZ_MAX_NAMESPACES; i++)
		all[i] = {0, HZ_NAMESPACE_ATTACHED, 0};
	return all;
}

struct ScriptedFtl {
	std::vector<lt_thread> workers;
	std::vector<Submitted> log;
	std::function<Answer(const ftl_request &)> script = [](const ftl_request &) { return Answer{}; };
	std::function<void()> on_submit = [] {};
	uint64_t hil_cost_ns = 0;                             // charged to the HIL's hart for each submission
	std::map<uint32_t, hz_log_ftl> reports;               // of a namespace, by number
	uint64_t in_place = 0;                                // sectors
	std::map<uint32_t, uint32_t> noted;                   // types of events, by handle
	std::vector<ftl_placement_event> placement_events[2]; // the controller's, the host's
	ftl_request *last = nullptr;
	power_history history{};
	ftl_damage damage{};
	std::map<uint32_t, std::set<uint64_t>> changed; // zones of a namespace, by first LBA
	std::map<uint32_t, namespace_record> records = attached();
	hz_nand_controller controller{};
	ftl_watch *watch = nullptr;
	ftl_health health{100, 0};
	int shut_down = -1; // the HIL's last call about it
	std::vector<Service *> serving;
	uint64_t over = 0; // the last cancelled life of the controller
};

controller_ops scripted_ops(ScriptedFtl &f);
// The FTL notifies its watch of a change; or changes a zone, and notifies.
void tell_watch(ScriptedFtl &f);
void change_zone(ScriptedFtl &f, uint64_t start, uint32_t number = 0);
