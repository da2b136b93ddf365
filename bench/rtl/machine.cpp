/* A machine around the RTL of a Rocket system: clock, reset, memory and the few registers that the programs write.
 *
 * usage: machine LATENCY MOST-CYCLES IMAGE, an image of memory from RAM on. Prints a line of numbers that the program tells, and a line of
 * what the machine counted: cycles, lines that memory was read for, lines that were written. Exits as the program says; 100: no end. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "Vrocket.h"
#include "verilated.h"

namespace {

/* Addresses that the program writes (program/on_rtl/machine.h). */
constexpr uint64_t BOOT = 0x10000000, TELL = 0x10001000, LEAVE = 0x10001008;
constexpr uint64_t RAM = 0x80000000;
constexpr size_t RAM_BYTES = 16u << 20, BOOT_BYTES = 4096;
constexpr uint64_t RESET_CYCLES = 40, REGISTER_LATENCY = 4;
constexpr int NO_END = 100, USAGE = 2;

uint64_t cycle;
int left_with = -1;

/* Memory behind a port, from `base` on; no other addresses respond. */
class Memory {
public:
	Memory(uint64_t base, size_t bytes) : base_(base), bytes_(bytes) {}

	uint8_t *at(uint64_t address, size_t bytes)
	{
		bool inside = address >= base_ && address + bytes <= base_ + bytes_.size();
		return inside ? &bytes_[address - base_] : nothing_.data();
	}

	size_t size() const { return bytes_.size(); }

private:
	uint64_t base_;
	std::vector<uint8_t> bytes_;
	std::array<uint8_t, 64> nothing_{};
};

void written_register(uint64_t address, const uint8_t *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes, sizeof(value));
	if (address == TELL)
		printf("%llu ", static_cast<unsigned long long>(value));
	else if (address == LEAVE)
		left_with = static_cast<int>(value);
}

struct Burst {
	uint32_t id, beats, beat_bytes;
	uint64_t address, due;
};

/* The far side of an AXI4 port. Reads and writes are served in order, a beat each cycle; the first
 * beat of data, and the response to a write, come `latency` cycles after the request. */
class Slave {
public:
	Slave(Memory &memory, uint64_t latency, bool registers) : memory_(memory), latency_(latency), registers_(registers) {}

	uint64_t reads = 0, writes = 0;

	bool has_data() const { return !reads_.empty() && cycle >= reads_.front().due; }
	bool wants_data() const { return !writes_.empty(); }
	bool has_answer() const { return !answers_.empty() && cycle >= answers_.front().due; }
	const Burst &data() const { return reads_.front(); }
	const Burst &answer() const { return answers_.front(); }
	const uint8_t *beat(size_t width) { return memory_.at(data().address & ~static_cast<uint64_t>(width - 1), width); }

	void read(uint32_t id, uint64_t address, uint32_t length, uint32_t size)
	{
		reads_.push_back({id, length + 1, 1u << size, address, cycle + latency_});
		reads++;
	}

	void write(uint32_t id, uint64_t address, uint32_t length, uint32_t size)
	{
		writes_.push_back({id, length + 1, 1u << size, address, 0});
		writes++;
	}

	void data_taken()
	{
		Burst &burst = reads_.front();

		burst.address += burst.beat_bytes;
		if (--burst.beats == 0)
			reads_.pop_front();
	}

	void take_data(const uint8_t *bytes, uint64_t strobe, size_t width)
	{
		Burst &burst = writes_.front();
		uint64_t first = burst.address & ~static_cast<uint64_t>(width - 1);
		uint8_t *to = memory_.at(first, width);

		if (registers_)
			written_register(burst.address, bytes + (burst.address - first));
		for (size_t i = 0; i < width && !registers_; i++)
			if (strobe >> i & 1)
				to[i] = bytes[i];
		burst.address += burst.beat_bytes;
		if (--burst.beats)
			return;
		answers_.push_back({burst.id, 0, 0, 0, cycle + latency_});
		writes_.pop_front();
	}

	void answer_taken() { answers_.pop_front(); }

private:
	Memory &memory_;
	uint64_t latency_;
	bool registers_;
	std::deque<Burst> reads_, writes_, answers_;
};

/* Both ports have the same signals under different names. DRIVE sets a port's inputs, and TAKE,
 * after an evaluation, performs the handshakes of the coming edge. */
#define DRIVE(port, slave) \
	do { \
		top.port##_aw_ready = top.port##_ar_ready = 1; \
		top.port##_w_ready = (slave).wants_data(); \
		if ((top.port##_r_valid = (slave).has_data())) { \
			top.port##_r_bits_id = (slave).data().id; \
			top.port##_r_bits_last = (slave).data().beats == 1; \
			memcpy(&top.port##_r_bits_data, (slave).beat(sizeof(top.port##_r_bits_data)), sizeof(top.port##_r_bits_data)); \
		} \
		if ((top.port##_b_valid = (slave).has_answer())) \
			top.port##_b_bits_id = (slave).answer().id; \
	} while (0)

#define TAKE(port, slave) \
	do { \
		if (top.port##_r_valid && top.port##_r_ready) \
			(slave).data_taken(); \
		if (top.port##_b_valid && top.port##_b_ready) \
			(slave).answer_taken(); \
		if (top.port##_w_valid && top.port##_w_ready) \
			(slave).take_data(reinterpret_cast<const uint8_t *>(&top.port##_w_bits_data), top.port##_w_bits_strb, \
					  sizeof(top.port##_w_bits_data)); \
		if (top.port##_ar_valid) \
			(slave).read(top.port##_ar_bits_id, top.port##_ar_bits_addr, top.port##_ar_bits_len, top.port##_ar_bits_size); \
		if (top.port##_aw_valid) \
			(slave).write(top.port##_aw_bits_id, top.port##_aw_bits_addr, top.port##_aw_bits_len, top.port##_aw_bits_size); \
	} while (0)

/* As many as the configuration has. */
template <typename Top> void reset_harts(Top &top, bool reset)
{
#define RESET_HART(n) \
	if constexpr (requires { top.resetctrl_hartIsInReset_##n; }) \
	top.resetctrl_hartIsInReset_##n = reset
	RESET_HART(0);
	RESET_HART(1);
	RESET_HART(2);
	RESET_HART(3);
	RESET_HART(4);
	RESET_HART(5);
	RESET_HART(6);
	RESET_HART(7);
#undef RESET_HART
}

/* Constant inputs: no debugger, no interrupts, no device at the DMA port. */
void tie_off(Vrocket &top)
{
	memset(&top.l2_frontend_bus_axi4_0_w_bits_data, 0, sizeof(top.l2_frontend_bus_axi4_0_w_bits_data));
	top.l2_frontend_bus_axi4_0_aw_valid = top.l2_frontend_bus_axi4_0_w_valid = top.l2_frontend_bus_axi4_0_ar_valid = 0;
	top.l2_frontend_bus_axi4_0_b_ready = top.l2_frontend_bus_axi4_0_r_ready = 1;
	top.interrupts = 0;
	top.debug_clockeddmi_dmi_req_valid = 0;
	top.debug_clockeddmi_dmi_resp_ready = 1;
	top.debug_dmactiveAck = 0;
	top.mem_axi4_0_b_bits_resp = top.mem_axi4_0_r_bits_resp = 0;
	top.mmio_axi4_0_b_bits_resp = top.mmio_axi4_0_r_bits_resp = 0;
}

void reset(Vrocket &top, bool on)
{
	top.reset = top.debug_reset = top.debug_clockeddmi_dmiReset = on;
	reset_harts(top, on);
}

void set_clock(Vrocket &top, bool high)
{
	top.clock = high;
	top.debug_clock = top.debug_clockeddmi_dmiClock = high && top.reset;
	top.eval();
}

void run(Vrocket &top, Slave &memory, Slave &registers, uint64_t most)
{
	tie_off(top);
	for (cycle = 0; cycle < most && left_with < 0; cycle++) {
		reset(top, cycle < RESET_CYCLES);
		DRIVE(mem_axi4_0, memory);
		DRIVE(mmio_axi4_0, registers);
		set_clock(top, false);
		if (!top.reset) {
			TAKE(mem_axi4_0, memory);
			TAKE(mmio_axi4_0, registers);
		}
		set_clock(top, true);
	}
	top.final();
}

bool load(Memory &memory, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	bool good = fread(memory.at(RAM, memory.size()), 1, memory.size(), file) > 0;
	fclose(file);
	return good;
}

} // namespace

int main(int argc, char **argv)
{
	/* li t0, 1; slli t0, t0, 31; jr t0 */
	const std::array<uint32_t, 3> jump_to_ram{0x00100293, 0x01f29293, 0x00028067};
	static Memory ram(RAM, RAM_BYTES), boot(BOOT, BOOT_BYTES);
	VerilatedContext context;

	if (argc != 4 || !load(ram, argv[3])) {
		fprintf(stderr, "usage: machine LATENCY MOST-CYCLES IMAGE\n");
		return USAGE;
	}
	memcpy(boot.at(BOOT, sizeof(jump_to_ram)), jump_to_ram.data(), sizeof(jump_to_ram));
	Slave memory(ram, strtoull(argv[1], nullptr, 10), false), registers(boot, REGISTER_LATENCY, true);
	Vrocket top(&context);
	run(top, memory, registers, strtoull(argv[2], nullptr, 10));
	printf("\n%llu %llu %llu\n", static_cast<unsigned long long>(cycle), static_cast<unsigned long long>(memory.reads),
	       static_cast<unsigned long long>(memory.writes));
	return left_with < 0 ? NO_END : left_with;
}
