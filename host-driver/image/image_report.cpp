// The report of an image check, as text and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
#include "image/image_report.hpp"

#include <cstdio>
#include <map>

#include "config/device_json.hpp"

namespace hz {

namespace {

// "name            value"
std::string line(const std::string &name, const std::string &value)
{
	return name + std::string(name.size() < 16 ? 16 - name.size() : 1, ' ') + value + "\n";
}

std::string count(uint64_t number, const std::string &noun) { return std::to_string(number) + " " + noun + (number == 1 ? "" : "s"); }

std::string mib(uint64_t bytes)
{
	char text[32];
	std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / 1048576);
	return text;
}

std::string power_text(const ImageReport &report)
{
	char hours[48];
	std::snprintf(hours, sizeof(hours), "%.6f s of device time", static_cast<double>(report.powered_ns) / 1e9);
	return count(report.power_cycles, "start") + ", " + std::to_string(report.unsafe_shutdowns) + " of them after a power cut, " +
	       hours;
}

std::string flash_text(const FlashReport &flash)
{
	return count(flash.programmed, "sector") + " programmed: " + std::to_string(flash.readable) + " readable, " +
	       std::to_string(flash.lost) + " lost, " + std::to_string(flash.unknown) + " torn or without a record";
}

std::string states_text(const ImageReport &report)
{
	std::map<std::string, unsigned> states;
	for (const ZoneReport &zone : report.zones)
		states[zone.state]++;
	std::string text;
	for (const auto &[state, number] : states)
		text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + state;
	return text;
}

std::string zone_name(const ZoneReport &zone, bool several)
{
	return (several ? "ns " + std::to_string(zone.nsid) + " zone " : "zone ") + std::to_string(zone.number);
}

std::string zone_text(const ZoneReport &zone)
{
	std::string text = zone.state + ", " + count(zone.written, "sector") + " from LBA " + std::to_string(zone.start);
	if (zone.rebuilt)
		text += ", " + std::to_string(zone.rebuilt) + " rebuilt from parity";
	if (!zone.lost)
		return text;
	text += ", " + std::to_string(zone.lost) + " cannot be read";
	for (size_t i = 0; i < zone.lost_lbas.size(); i++)
		text += (i ? ", " : ": LBA ") + std::to_string(zone.lost_lbas[i]);
	return text + (zone.lost > zone.lost_lbas.size() && !zone.lost_lbas.empty() ? ", …" : "");
}

nlohmann::json zone_json(const ZoneReport &zone)
{
	return {{"nsid", zone.nsid},
		{"number", zone.number},
		{"state", zone.state},
		{"start_lba", zone.start},
		{"written_sectors", zone.written},
		{"lost_sectors", zone.lost},
		{"rebuilt_sectors", zone.rebuilt},
		{"lost_lbas", zone.lost_lbas}};
}

const char *verdict_name(Verdict verdict)
{
	return verdict == Verdict::sound ? "sound" : verdict == Verdict::damaged ? "damaged" : "no image";
}

} // namespace

std::string text_of(const ImageReport &report, const std::string &file)
{
	std::string text = line("image", file + ", " + mib(report.bytes));
	if (report.device) {
		text += line("device", report.device->name);
		text += line("power", power_text(report));
		text += line("left", report.clean ? "clean, after an orderly shutdown"
						  : "running: the power was cut, or a start was not shut down");
		text += line("repairs", report.repaired
						? count(report.repaired, "damaged copy") + "; the next start repairs from the other copies"
						: "none needed");
		text += line("flash", flash_text(report.flash));
		text += line("zones", states_text(report));
		for (const ZoneReport &zone : report.zones)
			if (zone.written)
				text += line(zone_name(zone, report.device->namespaces > 1), zone_text(zone));
	}
	return text + report.why + "\n";
}

nlohmann::json json_of(const ImageReport &report)
{
	nlohmann::json json = {{"schema", "hartzone-image-1"},
			       {"verdict", verdict_name(report.verdict)},
			       {"why", report.why},
			       {"new", report.is_new},
			       {"bytes", report.bytes}};
	if (!report.device)
		return json;
	json["device"] = conf::device_to_json(*report.device);
	json["power"] = {{"starts", report.power_cycles},
			 {"after_power_cuts", report.unsafe_shutdowns},
			 {"powered_ns", report.powered_ns},
			 {"clean", report.clean}};
	json["mounted"] = report.mounted;
	json["copies_to_repair"] = report.repaired;
	json["flash"] = {{"programmed_sectors", report.flash.programmed},
			 {"readable_sectors", report.flash.readable},
			 {"lost_sectors", report.flash.lost},
			 {"unknown_sectors", report.flash.unknown}};
	json["lost_sectors"] = report.lost_sectors;
	json["rebuilt_sectors"] = report.rebuilt_sectors;
	json["unknown_sectors"] = report.unknown_sectors;
	json["damaged_records"] = report.damaged_records;
	json["zones"] = nlohmann::json::array();
	for (const ZoneReport &zone : report.zones)
		json["zones"].push_back(zone_json(zone));
	return json;
}

} // namespace hz
