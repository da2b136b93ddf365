// Measurements of a device's flash: patterns of operations, and their expected times.
// SPDX-License-Identifier: BSD-3-Clause
#include "device_plan.hpp"

#include <algorithm>
#include <numeric>

#include "device_fields.h"
#include "geometry.h"

namespace nandbench {
namespace {

enum { SLC_PROGRAMS, SLC_READS, PROGRAMS, READS, BLOCKS = 8 }; // blocks of a plane
constexpr uint32_t rounds = 16, waiting_programs = 8, waiting_reads = 64;

// Times of operations, in ns.
struct Times {
	const hz_device_config &cfg;
	const uint32_t page = cfg.page_bytes / HZ_SECTOR_BYTES, unit = cfg.program_pages * page;
	const uint64_t command = cfg.command_ns;

	uint64_t transfer(uint32_t sectors) const
	{
		const uint64_t speed = cfg.channel_bytes_per_s;
		return speed ? (static_cast<uint64_t>(sectors) * HZ_SECTOR_BYTES * HZ_BILLION + speed / 2) / speed : 0;
	}
	uint32_t passes() const { return std::max(cfg.program_passes, 1u); }
	bool one_shot() const { return cfg.program_pages > 1; }
	uint64_t read(uint32_t page_type = 0) const { return cfg.normal.read_ns[page_type]; }
	// Of the i-th program unit of a block.
	uint64_t cells(uint32_t i, uint32_t pass = 0) const { return cfg.normal.program_ns[one_shot() ? pass : i % cfg.cell]; }
	uint64_t program(uint32_t i) const
	{
		uint64_t ns = 0;
		for (uint32_t pass = 0; pass < passes(); pass++)
			ns += command + transfer(unit) + cells(i, pass);
		return ns;
	}
	// All programs of a block take the same.
	bool even() const
	{
		return one_shot() || std::equal(cfg.normal.program_ns + 1, cfg.normal.program_ns + cfg.cell, cfg.normal.program_ns);
	}
};

// --- rows of operations submitted at once ---

// n reads in a row on a die.
uint64_t read_row(const Times &t, uint32_t n)
{
	const uint64_t data = t.transfer(t.page);
	if (!t.cfg.cache_read)
		return n * (t.command + t.read() + data);
	return t.command + t.read() + (n - 1) * (t.cfg.cache_busy_ns + t.command + std::max(t.read(), data)) + data;
}

// The next program's data are transferred while the cells work on the last pass of this one.
uint64_t program_row(const Times &t, uint32_t n)
{
	const uint64_t load = t.command + t.transfer(t.unit);
	uint64_t ns = 0;
	for (uint32_t i = 0; i < n; i++) {
		ns += t.program(i);
		if (i && t.cfg.cache_program)
			ns -= load - t.cfg.cache_busy_ns - (load - std::min(load, t.cells(i - 1, t.passes() - 1)));
	}
	return ns;
}

struct Cycle {
	uint64_t command, data, cells; // of a die: bus, bus, not the bus
	uint64_t bus() const { return command + data; }
};

// n dies of a channel with `count` programs each: the dies take turns on the bus, once before the
// cells work.
uint64_t programs_of(const Cycle &c, uint32_t n, uint32_t count)
{
	const uint64_t alone = c.bus() + c.cells;
	if (n * c.bus() <= alone)
		return (n - 1) * c.bus() + count * alone;
	return count * n * c.bus() + c.cells;
}

// Reads: the command before, the data after. A saturated channel rests only until the first data
// arrive, and in the last round, without commands.
uint64_t reads_of(const Cycle &c, uint32_t n, uint32_t count)
{
	const uint64_t alone = c.bus() + c.cells;
	if (n * c.bus() <= alone)
		return (n - 1) * c.bus() + count * alone;
	const uint64_t begin = std::max(c.command + c.cells, n * c.command), last_round = (count - 1) * n;
	uint64_t end = begin + last_round * c.bus();
	for (uint32_t die = 0; die < n; die++) {
		const uint64_t sensed = begin + (last_round - n + die + 1) * c.bus() + c.cells;
		end = std::max(end, sensed) + c.data;
	}
	return end;
}

// --- the plan ---

class Plan {
public:
	explicit Plan(const hz_device_config &cfg) : cfg_(cfg), t_{cfg}, dies_(cfg.chips_per_channel * cfg.dies_per_chip) {}

	std::vector<Row> rows()
	{
		single_operations();
		rows_of_dies();
		channels();
		planes();
		scheduling();
		loops();
		return std::move(rows_);
	}

private:
	hz_flashbench_group group(hz_flashbench_op op, uint32_t channels, uint32_t dies, uint32_t planes, uint32_t count) const
	{
		hz_flashbench_group g{};
		g.op = op, g.channels = channels, g.dies = dies, g.planes = planes, g.count = count;
		g.block = op == HZ_FLASHBENCH_READ ? READS : PROGRAMS;
		g.sectors = op == HZ_FLASHBENCH_READ ? t_.page : op == HZ_FLASHBENCH_PROGRAM ? t_.unit : 0;
		g.step = op == HZ_FLASHBENCH_PROGRAM ? t_.unit : 0;
		return g;
	}
	uint64_t bus_of(const hz_flashbench_group &g) const
	{
		const uint32_t passes = g.op == HZ_FLASHBENCH_PROGRAM && g.block == PROGRAMS ? t_.passes() : 1;
		return static_cast<uint64_t>(g.channels) * g.dies * g.planes * g.count * passes * (t_.command + t_.transfer(g.sectors));
	}
	Row &add(std::string name, const hz_flashbench_group &first, std::optional<uint64_t> formula_ns)
	{
		Row &row = rows_.emplace_back();
		row.name = std::move(name);
		row.pattern.fresh = first.op == HZ_FLASHBENCH_PROGRAM;
		row.pattern.group[0] = first;
		row.formula_ns = formula_ns;
		row.bus_ns = bus_of(first);
		row.prepare_bus_ns = row.pattern.fresh ? static_cast<uint64_t>(first.channels) * first.dies * first.planes * t_.command : 0;
		return row;
	}
	Row &add_second(Row &row, const hz_flashbench_group &second, Figure figure)
	{
		row.pattern.group[1] = second;
		row.figure = figure;
		row.bus_ns += bus_of(second);
		return row;
	}

	void single_operations();
	void slc_operations();
	void rows_of_dies();
	void rows_on(const std::string &where, uint32_t channels, uint32_t dies, uint32_t planes);
	void channels();
	void planes();
	void scheduling();
	void read_into(const char *name, const hz_flashbench_group &under_way, uint64_t begins_ns, uint64_t cells_ns);
	void program_before_reads();
	void loops();

	const hz_device_config &cfg_;
	Times t_;
	uint32_t dies_;
	std::vector<Row> rows_;
};

const char *type_name(uint32_t cell, uint32_t type)
{
	static const char *const names[] = {"LSB", "CSB", "MSB", "TSB"};
	return cell == HZ_CELL_MLC && type == 1 ? "MSB" : names[type];
}

std::string size_of(uint32_t sectors) { return std::to_string(sectors * HZ_SECTOR_BYTES / 1024) + " KiB"; }

void Plan::single_operations()
{
	const uint64_t page = t_.transfer(t_.page);
	for (uint32_t type = 0; type < cfg_.cell; type++) {
		hz_flashbench_group g = group(HZ_FLASHBENCH_READ, 1, 1, 1, 1);
		g.first = type * t_.page;
		add(std::string("read, ") + type_name(cfg_.cell, type) + " page", g, t_.command + t_.read(type) + page);
	}
	if (t_.page > 1) {
		hz_flashbench_group g = group(HZ_FLASHBENCH_READ, 1, 1, 1, 1);
		g.sectors = 1;
		add("read, 4 KiB", g, t_.command + t_.read() + t_.transfer(1));
	}
	for (uint32_t i = 0; i < (t_.one_shot() ? 1 : cfg_.cell); i++) {
		hz_flashbench_group g = group(HZ_FLASHBENCH_PROGRAM, 1, 1, 1, 1);
		g.first = i * t_.unit;
		Row &row = add("program, " + (t_.one_shot() ? size_of(t_.unit) : std::string(type_name(cfg_.cell, i)) + " page"), g,
			       t_.program(i));
		if (i)
			row.pattern.fresh = row.prepare_bus_ns = 0; // behind the one before
	}
	add("erase", group(HZ_FLASHBENCH_ERASE, 1, 1, 1, 1), t_.command + cfg_.normal.erase_ns);
	if (cfg_.slc_blocks_per_plane)
		slc_operations();
}

void Plan::slc_operations()
{
	hz_flashbench_group read = group(HZ_FLASHBENCH_READ, 1, 1, 1, 1), program = group(HZ_FLASHBENCH_PROGRAM, 1, 1, 1, 1),
			    erase = group(HZ_FLASHBENCH_ERASE, 1, 1, 1, 1);
	read.block = SLC_READS, program.block = erase.block = SLC_PROGRAMS;
	program.sectors = cfg_.slc_program_sectors;
	add("SLC read, page", read, t_.command + cfg_.slc.read_ns[0] + t_.transfer(t_.page));
	add("SLC program, " + size_of(program.sectors), program, t_.command + t_.transfer(program.sectors) + cfg_.slc.program_ns[0]);
	add("SLC erase", erase, t_.command + cfg_.slc.erase_ns);
}

// The same on several channels takes the same time: each has its own bus and its own dies.
void Plan::rows_on(const std::string &where, uint32_t channels, uint32_t dies, uint32_t planes)
{
	const uint64_t n = planes;
	const Cycle read{n * t_.command, n * t_.transfer(t_.page), t_.read()};
	const Cycle program{0, n * (t_.command + t_.transfer(t_.unit)), t_.cells(0)};
	const bool alone = dies == 1 && planes == 1;
	// When several planes' data have gone, another die's are on the bus before the next command is.
	const bool in_turn = !cfg_.cache_read && !cfg_.interleave_sectors && (dies == 1 || planes == 1) &&
			     dies * read.bus() != read.bus() + read.cells; // then two want the bus at the same moment
	Row &reads = add(std::to_string(rounds) + " reads each, " + where, group(HZ_FLASHBENCH_READ, channels, dies, planes, rounds),
			 alone ? read_row(t_, rounds) : std::max(reads_of(read, 1, 1), dies * rounds * read.bus()));
	if (!alone && in_turn)
		reads.formula_ns = reads_of(read, dies, rounds);
	reads.exact = alone || in_turn;
	const bool plain = !cfg_.cache_program && !cfg_.interleave_sectors && t_.passes() == 1 && t_.even();
	Row &programs = add(std::to_string(rounds) + " programs each, " + where,
			    group(HZ_FLASHBENCH_PROGRAM, channels, dies, planes, rounds),
			    alone ? program_row(t_, rounds) : dies * rounds * program.bus());
	if (!alone && plain)
		programs.formula_ns = programs_of(program, dies, rounds);
	programs.exact = alone || plain;
}

void Plan::rows_of_dies()
{
	rows_on("one die", 1, 1, 1);
	for (uint32_t n = 2; n < dies_; n *= 2)
		rows_on(std::to_string(n) + " dies of a channel", 1, n, 1);
	if (dies_ > 1)
		rows_on("all " + std::to_string(dies_) + " dies of a channel", 1, dies_, 1);
}

void Plan::channels()
{
	if (cfg_.channels == 1)
		return;
	rows_on("a die of each of " + std::to_string(cfg_.channels) + " channels", cfg_.channels, 1, 1);
	if (dies_ > 1)
		rows_on("all " + std::to_string(cfg_.channels * dies_) + " dies", cfg_.channels, dies_, 1);
}

void Plan::planes()
{
	const uint64_t n = cfg_.planes_per_die;
	if (n == 1)
		return;
	const std::string where = ", " + std::to_string(n) + " planes of a die";
	uint64_t program = 0;
	for (uint32_t pass = 0; pass < t_.passes(); pass++)
		program += n * (t_.command + t_.transfer(t_.unit)) + t_.cells(0, pass);
	add("read" + where, group(HZ_FLASHBENCH_READ, 1, 1, cfg_.planes_per_die, 1), n * (t_.command + t_.transfer(t_.page)) + t_.read());
	add("program" + where, group(HZ_FLASHBENCH_PROGRAM, 1, 1, cfg_.planes_per_die, 1), program);
	add("erase" + where, group(HZ_FLASHBENCH_ERASE, 1, 1, cfg_.planes_per_die, 1), n * t_.command + cfg_.normal.erase_ns);
	rows_on("all planes of all dies", cfg_.channels, dies_, cfg_.planes_per_die);
}

// A read that arrives in the middle of another operation's cell time.
void Plan::read_into(const char *name, const hz_flashbench_group &under_way, uint64_t begins_ns, uint64_t cells_ns)
{
	const uint64_t half = cells_ns / 2, read = t_.command + t_.read() + t_.transfer(t_.page);
	const bool suspends = cfg_.suspend_ns && !is_fifo(cfg_) && cfg_.read_age_limit_ns > begins_ns + half &&
			      cfg_.suspend_ns < cells_ns - half;
	hz_flashbench_group g = group(HZ_FLASHBENCH_READ, 1, 1, 1, 1);
	g.after_ns = begins_ns + half;
	add_second(add(name, under_way, (suspends ? cfg_.suspend_ns : cells_ns - half) + read), g, Figure::second);
}

// The program is there first; reads pass it until it has waited for the limit.
void Plan::program_before_reads()
{
	const uint64_t read = t_.command + t_.read() + t_.transfer(t_.page);
	const uint64_t before = is_fifo(cfg_) ? 0 : std::min<uint64_t>(waiting_reads, cfg_.read_age_limit_ns / read + 1);
	Row &row = add("a program before 64 reads", group(HZ_FLASHBENCH_PROGRAM, 1, 1, 1, 1), before * read + t_.program(0));
	add_second(row, group(HZ_FLASHBENCH_READ, 1, 1, 1, waiting_reads), Figure::first);
	if (cfg_.cache_read && before == waiting_reads)
		row.formula_ns = read_row(t_, waiting_reads) + t_.program(0);
	else if (before && (cfg_.cache_read || cfg_.schedule == HZ_SCHED_FAIR))
		row.formula_ns = std::nullopt;
}

void Plan::scheduling()
{
	const uint64_t read = t_.command + t_.read() + t_.transfer(t_.page);
	add_second(add("a read behind 8 programs", group(HZ_FLASHBENCH_PROGRAM, 1, 1, 1, waiting_programs),
		       (is_fifo(cfg_) ? program_row(t_, waiting_programs) : 0) + read),
		   group(HZ_FLASHBENCH_READ, 1, 1, 1, 1), Figure::second);
	program_before_reads();
	if (t_.passes() == 1)
		read_into("a read into a program", group(HZ_FLASHBENCH_PROGRAM, 1, 1, 1, 1), t_.command + t_.transfer(t_.unit),
			  t_.cells(0));
	read_into("a read into an erase", group(HZ_FLASHBENCH_ERASE, 1, 1, 1, 1), t_.command, cfg_.normal.erase_ns);
}

// Each plane's next operation is submitted when its last one has completed: the harts' time is in
// between.
void Plan::loops()
{
	const hz_flashbench_group one = group(HZ_FLASHBENCH_READ, 1, 1, 1, rounds),
				  reads = group(HZ_FLASHBENCH_READ, cfg_.channels, dies_, 1, rounds);
	const uint64_t bus = t_.command + t_.transfer(t_.page);
	add("16 reads, one after another, one die", one, rounds * (bus + t_.read())).pattern.loop = 1;
	Row &alone = add("16 reads each, one after another, all dies", reads,
			 std::max<uint64_t>(rounds * (bus + t_.read()), rounds * dies_ * bus));
	alone.pattern.loop = 1, alone.exact = false;
	Row &mixed = add("the same during programs, mean of a read", group(HZ_FLASHBENCH_PROGRAM, cfg_.channels, dies_, 1, rounds),
			 std::nullopt);
	mixed.pattern.loop = 1;
	add_second(mixed, group(HZ_FLASHBENCH_READ, cfg_.channels, dies_, 1, waiting_reads), Figure::second_mean);
}

// Pages for 16 program units, and for 16 of SLC.
uint32_t pages_needed(const hz_device_config &cfg)
{
	const uint32_t page = cfg.page_bytes / HZ_SECTOR_BYTES, slc_pages = (cfg.slc_program_sectors + page - 1) / page;
	return rounds * std::lcm(static_cast<uint32_t>(cfg.cell), cfg.program_pages) * slc_pages;
}

} // namespace

bool is_fifo(const hz_device_config &cfg)
{
	return cfg.schedule == HZ_SCHED_FIFO || (cfg.schedule == HZ_SCHED_PRIORITY && !cfg.read_age_limit_ns);
}

hz_device_config flash_of(const hz_device_config &device)
{
	hz_device_config cfg;
	hz_device_least(&cfg);
	cfg.seed = 1, cfg.flush_unit_planes = 1, cfg.write_buffers = 2, cfg.worker_count = 1, cfg.inflight_requests = 16, cfg.copies = 2;
	cfg.spare_superblocks = 1;
	cfg.channels = device.channels, cfg.chips_per_channel = device.chips_per_channel, cfg.dies_per_chip = device.dies_per_chip;
	cfg.planes_per_die = device.planes_per_die, cfg.page_bytes = device.page_bytes, cfg.cell = device.cell;
	cfg.program_pages = device.program_pages, cfg.slc_program_sectors = device.slc_program_sectors;
	cfg.blocks_per_plane = BLOCKS, cfg.slc_blocks_per_plane = device.slc_blocks_per_plane ? PROGRAMS : 0;
	cfg.plane_scheme = HZ_SCHEME_PDWC, cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	cfg.slc = device.slc, cfg.normal = device.normal;
	cfg.slc.endurance = cfg.normal.endurance = 0;
	cfg.channel_bytes_per_s = device.channel_bytes_per_s, cfg.command_ns = device.command_ns;
	cfg.suspend_ns = device.suspend_ns, cfg.read_age_limit_ns = device.read_age_limit_ns, cfg.schedule = device.schedule;
	cfg.cache_read = device.cache_read, cfg.cache_program = device.cache_program, cfg.cache_busy_ns = device.cache_busy_ns;
	cfg.interleave_sectors = device.interleave_sectors, cfg.program_passes = device.program_passes;
	cfg.pages_per_block = pages_needed(cfg);
	cfg.clock = device.clock;
	cfg.tsu_count = device.tsu_count, cfg.harts = 1 + device.tsu_count;
	for (uint32_t i = 0; i < cfg.tsu_count; i++)
		cfg.tsu_hart[i] = 1 + i;
	return cfg;
}

std::vector<Row> plan(const hz_device_config &flash) { return Plan(flash).rows(); }

uint64_t figure_ns(const Row &row, const hz_flashbench_pattern &measured)
{
	const hz_flashbench_group &second = measured.group[1];
	switch (row.figure) {
	case Figure::first: return measured.group[0].most_ns;
	case Figure::second: return second.most_ns;
	case Figure::second_mean: return second.done ? second.together_ns / second.done : 0;
	default: return std::max(measured.group[0].end_ns, second.end_ns);
	}
}

} // namespace nandbench
