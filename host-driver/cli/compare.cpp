// The compare command: two results side by side, and the differences in their settings.
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "session/machine/error.hpp"
#include "version.hpp"

namespace hz::cli {

namespace {

using nlohmann::json;

constexpr const char *setting_roots[] = {"device", "workload", "trace", "workers", "clock", "seed", "image_starts", "software"};
constexpr const char *kinds[] = {"read", "write", "flush", "zone", "gc_read", "gc_write", "trim"};
constexpr const char *figures_of_kind[] = {
	"ops", "iops", "mib_s", "latency_ns/mean", "latency_ns/p50", "latency_ns/p99", "latency_ns/p999", "latency_ns/max"};

std::string in_words(const json &value) { return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump(); }

// Of a run that has none: why, as the file says it; empty: no file of a run.
std::string reason_without_figures(const json &file)
{
	const json schema = file.is_object() ? file.value("schema", json()) : json();
	if (!schema.is_string() || !schema.get<std::string>().starts_with("hartzone-result-"))
		return "";
	if (schema != result_schema)
		return "its schema is " + schema.get<std::string>() + ", and this program compares " + result_schema;
	if (file.contains("error"))
		return "the run failed: " + in_words(file["error"]);
	return file.contains("power_cut") ? "the run ended in a power cut" : "";
}

json result_of(const std::string &path)
{
	std::filesystem::path file = path;
	if (std::filesystem::is_directory(file))
		file /= "result.json";
	std::ifstream in(file);
	if (!in)
		throw Error(file.string() + " cannot be read: name a folder that ./hartzone run --out has written, or its result.json");
	const json result = json::parse(in, nullptr, false);
	if (const std::string reason = reason_without_figures(result); !reason.empty())
		throw Error(file.string() + " cannot be compared: " + reason);
	if (!result.is_object() || !result.contains("schema") || !result.contains("totals"))
		throw Error(file.string() + " is no result of ./hartzone run");
	return result;
}

// Path → the two values, for settings that differ; null: not set.
json changes_between(const json &a, const json &b)
{
	json out = json::object();
	for (const char *name : setting_roots) {
		const json one = json{{name, a.value(name, json())}}.flatten(), other = json{{name, b.value(name, json())}}.flatten();
		json both = one;
		both.update(other);
		for (const auto &[path, value] : both.items())
			if (one.value(path, json()) != other.value(path, json()))
				out[path.substr(1)] = {one.value(path, json()), other.value(path, json())};
	}
	return out;
}

void add_figure(json &out, const std::string &path, const json &a, const json &b)
{
	const json::json_pointer at("/" + path);
	const json one = a.value(at, json()), other = b.value(at, json());
	if (!one.is_number() && !other.is_number())
		return;
	json figure = {{"name", path}, {"a", one}, {"b", other}, {"change", nullptr}};
	if (one.is_number() && other.is_number() && one.get<double>() != 0)
		figure["change"] = other.get<double>() / one.get<double>() - 1;
	out.push_back(figure);
}

bool has_commands(const json &result, const std::string &kind)
{
	return result.value(json::json_pointer("/totals/" + kind + "/ops"), 0u) > 0;
}

json compared(const json &a, const json &b)
{
	json figures = json::array();
	add_figure(figures, "elapsed_ns", a, b);
	add_figure(figures, "waf", a, b);
	add_figure(figures, "energy/mj_per_gib", a, b);
	add_figure(figures, "energy/mean_mw", a, b);
	for (const std::string kind : kinds)
		if (has_commands(a, kind) || has_commands(b, kind))
			for (const std::string figure : figures_of_kind)
				add_figure(figures, "totals/" + kind + "/" + figure, a, b);
	return {{"changed", changes_between(a, b)},
		{"same_digest", a.value("digest", json()) == b.value("digest", json())},
		{"figures", figures}};
}

std::string number(const json &value)
{
	char text[40];
	if (!value.is_number())
		return "-";
	snprintf(text, sizeof(text), value.is_number_float() ? "%.2f" : "%.0f", value.get<double>());
	return text;
}

void print(const json &c)
{
	std::printf(c["changed"].empty() ? "nothing was changed\n" : "changed:\n");
	for (const auto &[path, values] : c["changed"].items())
		std::printf("  %-40s %s -> %s\n", path.c_str(), in_words(values[0]).c_str(), in_words(values[1]).c_str());
	std::printf("\n%-32s %16s %16s %9s\n", "", "A", "B", "change");
	for (const json &f : c["figures"]) {
		char change[24] = "";
		if (!f["change"].is_null())
			snprintf(change, sizeof(change), "%+.1f %%", 100 * f["change"].get<double>());
		const std::string name = f["name"].get<std::string>();
		std::printf("%-32s %16s %16s %9s\n", name.substr(name.starts_with("totals/") ? 7 : 0).c_str(), number(f["a"]).c_str(),
			    number(f["b"]).c_str(), change);
	}
	std::printf("\n%s\n", c["same_digest"] ? "same digest: the device answered the same" : "the digests differ");
}

struct CompareFlags {
	std::string a, b;
	bool json = false;
};

} // namespace

void add_compare(CLI::App &app)
{
	auto flags = std::make_shared<CompareFlags>();
	CLI::App *command = app.add_subcommand("compare", "Show two results side by side, and the settings that differ");
	command->add_option("A", flags->a, "Folder of --out, or its result.json")->required()->type_name("");
	command->add_option("B", flags->b, "The folder or result.json to compare it with")->required()->type_name("");
	add_flag(*command, "--json", flags->json, "Print JSON instead of a table");
	command->footer(
		"Changed settings come first: of device, workload, trace, image and software. Then the figures of A and B, and how much more B has.\n"
		"Examples:\n"
		"  ./hartzone run --quick --out results/a\n"
		"  ./hartzone run --quick --queue-depth 2 --out results/b\n"
		"  ./hartzone compare results/a results/b");
	command->callback([flags] {
		const json c = compared(result_of(flags->a), result_of(flags->b));
		if (flags->json)
			std::printf("%s\n", c.dump(2).c_str());
		else
			print(c);
	});
}

} // namespace hz::cli
