// The run command: replay a workload or trace and report what the device did.
#include "cli/run.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/machine_flags.hpp"
#include "config/quantity.hpp"
#include "session/error.hpp"

namespace hz::cli {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t quick_divisor = 8, quick_trace_records = 2000;

struct RunFlags {
	MachineFlags machine;
	std::string workload, trace, format, mapping, out, power_cut, clock_jitter;
	unsigned threads = 0, queue_depth = 0;
	uint64_t max_ops = 0;
	double time_scale = 0;
	bool timestamps = false, quick = false, no_verify = false, race_check = false;

	void add_to(CLI::App &command);
	wl::Workload load() const;
	MachineOptions machine_options() const;

private:
	void apply_trace(wl::Workload &w) const;
	void apply_threads(wl::Workload &w) const;
};

void RunFlags::add_to(CLI::App &command)
{
	machine.add_to(command);
	command.add_option("--workload", workload, "Workload: a YAML file, or the name of one in configs/workloads (default: default)");
	command.add_option("--trace", trace, "Trace file to replay instead, plain or compressed by xz, gzip or zstd");
	command.add_option("--format", format, "Trace format (default: auto): native, fio2, fio3, mqsim, msr, alibaba, tencent, spc, vscsi");
	command.add_option("--mapping", mapping, "log: block operations on a log of zones; direct: zoned operations as they are")
		->check(CLI::IsMember({"log", "direct"}));
	command.add_flag("--timestamps", timestamps, "Replay by the trace's timestamps instead of as fast as possible");
	command.add_option("--time-scale", time_scale, "Device time per trace time, with --timestamps")->check(CLI::Range(1e-6, 1e6));
	command.add_option("--threads", threads, "Host threads, one queue pair each")->check(CLI::Range(1u, 64u));
	command.add_option("--queue-depth", queue_depth, "Commands under way per thread")->check(CLI::Range(1u, 1023u));
	command.add_option("--max-ops", max_ops, "Replay only so many records of the trace");
	command.add_flag("--no-verify", no_verify, "Do not fill and check the data");
	command.add_flag("--quick", quick, "A smaller replay, for a first look");
	command.add_option("--power-cut-at", power_cut,
			   "Cut the device's power in this flash operation (a number), or at this device time (5ms); use with --image")
		->check([](const std::string &text) {
			const bool legal = conf::parse_count(text).value_or(0) || conf::parse_duration_ns(text).value_or(0);
			return legal ? std::string() : "--power-cut-at takes an operation number or a device time such as 5ms, not " + text;
		});
	command.add_flag("--race-check", race_check, "Report unsynchronised accesses of two harts to the same word, and fail if there are any");
	command.add_option("--clock-jitter", clock_jitter,
			   "Perturb the schedule: SEED or SEED:PERMILLE delays each hart at random by 100 (PERMILLE) thousandths of its own "
			   "time on average. Another seed, another interleaving; the same seed, the same run. For tests, not for figures")
		->check([](const std::string &text) {
			const size_t colon = text.find(':');
			const uint64_t permille = colon == std::string::npos ? 1 : conf::parse_count(text.substr(colon + 1)).value_or(0);
			const bool legal = conf::parse_count(text.substr(0, colon)).value_or(0) && permille && permille <= 10000;
			return legal ? std::string() : "takes a seed of at least 1, alone or with 1 to 10000 thousandths as in 7:500, not " + text;
		});
	command.add_option("--out", out, "Directory for result.json");
	command.footer("Examples:\n"
		       "  ./hartzone run --out results\n"
		       "  ./hartzone run --workload mixed --workers 2 --seed 7\n"
		       "  ./hartzone run --trace web.trace.gz --format mqsim --timestamps --time-scale 0.1");
}

void RunFlags::apply_trace(wl::Workload &w) const
{
	if (!trace.empty()) {
		if (!w.trace)
			w.trace.emplace();
		w.trace->file = trace;
		w.trace->format = "auto";
		w.threads.clear();
		w.name = fs::path(trace).filename().string();
		w.file = trace;
		w.mapping = wl::Mapping::log;
		w.mapping_given = false;
	}
	if (!w.trace)
		return;
	if (!format.empty())
		w.trace->format = format;
	if (timestamps)
		w.trace->timing = wl::Timing::open;
	if (time_scale > 0)
		w.trace->time_scale = time_scale;
	if (max_ops)
		w.trace->max_ops = max_ops;
	if (quick && !max_ops)
		w.trace->max_ops = w.trace->max_ops ? std::min(w.trace->max_ops, quick_trace_records) : quick_trace_records;
}

void RunFlags::apply_threads(wl::Workload &w) const
{
	if (threads && w.trace)
		w.trace->threads = threads;
	if (threads && !w.trace)
		w.threads.resize(threads, w.threads.front());
	if (queue_depth && w.trace)
		w.trace->queue_depth = queue_depth;
	for (wl::ThreadSpec &t : w.threads)
		t.queue_depth = queue_depth ? queue_depth : t.queue_depth;
}

wl::Workload RunFlags::load() const
{
	wl::Workload w = wl::load_workload(find_config(workload.empty() ? "default" : workload, "configs/workloads"));
	if (quick)
		wl::shrink(w, quick_divisor);
	apply_trace(w);
	apply_threads(w);
	if (!mapping.empty()) {
		w.mapping = mapping == "log" ? wl::Mapping::log : wl::Mapping::direct;
		w.mapping_given = true;
	}
	if (machine.seed)
		w.seed = machine.seed;
	if (no_verify)
		w.verify = false;
	return w;
}

MachineOptions RunFlags::machine_options() const
{
	MachineOptions o = machine.options();
	o.power_cut_op = conf::parse_count(power_cut).value_or(0);
	const auto tell_plugin = [&o](const char *flag, const std::string &word) {
		if (!o.virtual_clock)
			throw Error(std::string(flag) + " needs --clock virtual: it is the virtual clock's plugin that does it");
		o.plugin_options += (o.plugin_options.empty() ? "" : ",") + word;
	};
	if (race_check)
		tell_plugin("--race-check", "race-check=on");
	if (!clock_jitter.empty())
		tell_plugin("--clock-jitter", "jitter=" + clock_jitter);
	if (!o.power_cut_op)
		o.power_cut_ns = conf::parse_duration_ns(power_cut).value_or(0);
	return o;
}

// Found before the run ended in another way than by itself: the further lines of what was told.
void report_races_before(const std::string &words)
{
	const size_t at = words.find("\nrace: ");
	if (at != std::string::npos)
		throw Error("the race check found unsynchronised accesses of two harts:" + words.substr(at));
}

// The outcome that the user asked for, so no failure; the next boot on the image recovers.
void report_power_cut(const MachineOptions &machine, const std::string &out)
{
	nlohmann::json at;
	if (machine.power_cut_op)
		at["operation"] = machine.power_cut_op;
	else
		at["device_ns"] = machine.power_cut_ns;
	if (!out.empty())
		res::write_result({{"schema", "hartzone-result-1"}, {"power_cut", at}}, out + "/result.json");
	std::printf("the power was cut at %s, as asked; %s\n",
		    machine.power_cut_op ? ("flash operation " + std::to_string(machine.power_cut_op)).c_str()
					 : (std::to_string(machine.power_cut_ns) + " ns of device time").c_str(),
		    machine.nand_image.empty() ? "the temporary image is gone, --image keeps one"
					       : ("the next run with --image " + machine.nand_image.string() + " recovers").c_str());
}

// A failed run leaves a result file too, so that nobody takes an older one for its outcome.
void write_failure(const std::string &out, const std::string &why)
{
	if (!out.empty())
		res::write_result({{"schema", "hartzone-result-1"}, {"error", why}}, out + "/result.json");
}

void report(const res::RunFacts &facts, const std::string &out)
{
	const nlohmann::json result = res::result_json(facts);
	if (!out.empty())
		res::write_result(result, out + "/result.json");
	std::fputs(res::result_table(result).c_str(), stdout);
	if (!result["violations"].empty())
		throw Error("the run broke " + std::to_string(result["violations"].size()) + " of its own rules: " +
			    result["violations"][0].get<std::string>());
	if (const uint64_t failed = result["failed_commands"]["count"].get<uint64_t>())
		throw Error(std::to_string(failed) + " commands failed, the first: " + result["failed_commands"]["first"].get<std::string>());
}

void report_races(const res::RunFacts &facts)
{
	const std::vector<std::string> races = res::races_of(facts);
	for (const std::string &race : races)
		std::printf("race: %s\n", race.c_str());
	if (!races.empty())
		throw Error("the race check found " + std::to_string(races.size()) + " unsynchronised accesses of two harts");
	std::printf("the race check found nothing\n");
}

void run(RunFlags flags)
{
	if (flags.machine.device.empty())
		flags.machine.device = "default";
	const wl::Workload workload = flags.load();
	const MachineOptions machine = flags.machine_options();
	if (!flags.out.empty())
		fs::create_directories(flags.out);
	std::printf("%s on %s: %zu threads, %u workers\n", workload.name.c_str(), machine.config.name, workload.thread_count(),
		    machine.config.worker_count);
	std::fflush(stdout);
	res::RunFacts facts;
	try {
		facts = run_workload(machine, workload, workload.name);
	} catch (const PowerCut &cut) {
		report_power_cut(machine, flags.out);
		return report_races_before(cut.what());
	} catch (const std::exception &e) {
		write_failure(flags.out, e.what());
		throw;
	}
	report(facts, flags.out);
	if (!facts.interrupted.empty())
		throw Interrupted("interrupted; the result so far is " + (flags.out.empty() ? "above" : "in " + flags.out + "/result.json"));
	if (flags.race_check)
		report_races(facts);
	if (!flags.power_cut.empty())
		std::printf("the run ended before the power cut at %s\n", flags.power_cut.c_str());
}

} // namespace

void add_run(CLI::App &app)
{
	auto flags = std::make_shared<RunFlags>();
	CLI::App *command = app.add_subcommand("run", "Replay a workload or trace and write what the device did");
	flags->add_to(*command);
	command->callback([flags] { run(*flags); });
}

} // namespace hz::cli
