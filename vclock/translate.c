/* Instrumentation: every block is cut into segments that end with a synchronisation instruction.
 * One inline addition at the start of a segment counts its instructions, so at the callback the
 * counter includes exactly the earlier instructions and the instruction itself. A plain access that
 * must fetch its line takes the instructions behind it out of the counter meanwhile. A block left early
 * (trap, MMIO replay) is overcounted: MMIO belongs inside a freeze, or use count=insn. Code marked
 * HZ_FROZEN is not counted: it runs only with a frozen clock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "translate.h"

#include <stdio.h>

#include "profile/account.h"
#include "guest/cpu.h"
#include "guest/symbol.h"
#include "wait.h"
#include "hypercall.h"
#include "cost/cache.h"
#include "cost/line.h"
#include "race/race.h"
#include "schedule/token.h"

#define RESET_VECTOR 0x1000u /* reset vector of QEMU's virt machine: every hart's first block, the only gated one */

static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 retired, beyond, behind_loop, of_stage[VC_STAGES];

static uint64_t frozen_begin, frozen_end; /* addresses of HZ_FROZEN code; both 0: unknown */

static bool is_frozen_code(uint64_t pc) { return pc >= frozen_begin && pc < frozen_end; }

void vc_counters_create(void)
{
	frozen_begin = vc_symbol_value("frozen_begin");
	frozen_end = vc_symbol_value("frozen_end");
	board = qemu_plugin_scoreboard_new(64 + sizeof(struct vc_stage_counts)); /* one cache line for the clock's counters, then the
										  * account's */
	retired = (qemu_plugin_u64){ board, 0 };
	beyond = (qemu_plugin_u64){ board, sizeof(uint64_t) };
	behind_loop = (qemu_plugin_u64){ board, 2 * sizeof(uint64_t) };
	for (unsigned s = 0; s < VC_STAGES; s++)
		of_stage[s] = (qemu_plugin_u64){ board, 64 + s * sizeof(uint64_t) };
	for (unsigned i = 0; i < vc.harts; i++) {
		vc.hart[i].retired = qemu_plugin_scoreboard_find(board, i);
		vc_account_open(i, (struct vc_stage_counts *)(vc.hart[i].retired + 64 / sizeof(uint64_t)));
	}
}

/* The callback's pointer carries the pc, the kind, the aq and rl bits of an atomic and its release
 * flag: no allocation per site. */
enum { SITE_RL = 0x40, SITE_AQ = 0x80, SITE_RELEASE = 0x100, SITE_KIND = 0x3f, SITE_PC_SHIFT = 9 };

static void *site(uint64_t pc, enum vc_kind kind, uint32_t word)
{
	uint64_t bits = kind == VC_PLAIN ? 0 : word >> 25 & 3;

	return (void *)(uintptr_t)(pc << SITE_PC_SHIFT | (kind == VC_AMO && vc_class_releases(word) ? SITE_RELEASE : 0) | bits << 6 | kind);
}

static uint64_t site_pc(const void *udata) { return (uintptr_t)udata >> SITE_PC_SHIFT; }

static enum vc_kind site_kind(const void *udata) { return (enum vc_kind)((uintptr_t)udata & SITE_KIND); }

static void before(unsigned int vcpu, void *udata)
{
	vc.hart[vcpu].wait_pc = site_pc(udata);
	vc_before(&vc.hart[vcpu], site_kind(udata));
}

/* The hypercalls around frozen code, half of all: without the choices of vc_before. */

static struct vc_hart *comes_to(unsigned int vcpu, void *udata)
{
	struct vc_hart *h = &vc.hart[vcpu];

	h->wait_pc = site_pc(udata);
	h->in_wfi = false;
	return h;
}

static void freezes(unsigned int vcpu, void *udata) { vc_freeze(comes_to(vcpu, udata)); }
static void thaws(unsigned int vcpu, void *udata) { vc_thaw(comes_to(vcpu, udata)); }
static void asks_time(unsigned int vcpu, void *udata) { vc_show_now(comes_to(vcpu, udata)); }

static qemu_plugin_vcpu_udata_cb_t callback_of(enum vc_kind kind)
{
	if (!vc_hypercall_is_simple(kind))
		return before;
	return kind == VC_FREEZE ? freezes : kind == VC_THAW ? thaws : asks_time;
}

static void check_atomic(struct vc_hart *h, enum vc_kind kind, const void *udata, uint64_t address, unsigned bytes)
{
	uintptr_t bits = (uintptr_t)udata;

	vc_race_access(h, site_pc(udata), address, bytes, VC_RACE_ATOMIC | (kind == VC_LR ? VC_RACE_LOAD : VC_RACE_STORE));
	if (kind != VC_SC)
		vc_race_read_from(h, address, bits & SITE_AQ);
	if (kind != VC_LR)
		vc_race_write_to(h, address, bits & SITE_RL);
}

static void accessed(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *udata)
{
	struct vc_hart *h = &vc.hart[vcpu];
	enum vc_kind kind = site_kind(udata);
	unsigned bytes = 1u << qemu_plugin_mem_size_shift(info);
	bool made = kind != VC_SC || vc_pair_close(h);

	if (kind == VC_LR)
		vc_pair_open(h, address, bytes);
	if (!vc_holds(h) || vc.ended)
		return;
	if (h->frozen)
		vc_frozen_access(h, kind, address);
	if (!made)
		return;
	if (vc.options.race_check)
		check_atomic(h, kind, udata, address, bytes);
	if (kind == VC_LR)
		vc_line_load_reserved(h, address);
	else
		vc_line_write(h, address, (uintptr_t)udata & SITE_RELEASE);
}

static void touched(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *udata)
{
	struct vc_hart *h = &vc.hart[vcpu];
	struct qemu_plugin_hwaddr *where;

	if (!vc_holds(h) || vc.ended || (h->glances && !qemu_plugin_mem_is_store(info)))
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || !qemu_plugin_hwaddr_is_io(where))
		vc_race_access(h, site_pc(udata), address, 1u << qemu_plugin_mem_size_shift(info),
			       qemu_plugin_mem_is_store(info) ? VC_RACE_STORE : VC_RACE_LOAD);
}

/* The cost depends on the operands. */
static void divides(unsigned int vcpu, void *udata)
{
	uint32_t word = (uint32_t)(uintptr_t)udata;
	uint64_t dividend = vc_register(vcpu, word >> 15 & 31), divisor = vc_register(vcpu, word >> 20 & 31);

	vc_account_work(&vc.hart[vcpu], (enum vc_stage)((uintptr_t)udata >> 32),
			vc_class_longer(word, dividend, divisor) * vc.options.cost.div_bit);
}

static uint32_t word_of(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;

	qemu_plugin_insn_data(insn, &word, sizeof(word));
	return word;
}

/* A hart has fallen through a branch backward. */
static void left_loop(unsigned int vcpu, void *udata)
{
	vc_account_work(&vc.hart[vcpu], (enum vc_stage)(uintptr_t)udata, vc.options.cost.loop_exit);
}

/* A branch ends its block. It records the address of the next instruction; the next block compares
 * it with its own. */
static void watch_loops(struct qemu_plugin_tb *tb, size_t n)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0), *last = qemu_plugin_tb_get_insn(tb, n - 1);
	uint64_t behind = qemu_plugin_insn_vaddr(last) + ((word_of(last) & 3) == 3 ? 4 : 2);

	qemu_plugin_register_vcpu_insn_exec_cond_cb(first, left_loop, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_COND_EQ, behind_loop,
						    qemu_plugin_tb_vaddr(tb), (void *)(uintptr_t)vc_stage_of(qemu_plugin_tb_vaddr(tb)));
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(first, QEMU_PLUGIN_INLINE_STORE_U64, behind_loop, 0);
	if (vc_class_loops(word_of(last)))
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(last, QEMU_PLUGIN_INLINE_STORE_U64, behind_loop, behind);
}

/* What the counters have of a segment behind one of its instructions. */
struct rest {
	uint64_t instructions, cycles;
};

/* The callback's pointer carries the pc and the rest of the segment. */
enum { REST_CYCLES_SHIFT = 32, REST_SHIFT = 54, REST_MOST_CYCLES = (1 << (REST_SHIFT - REST_CYCLES_SHIFT)) - 1 };

static void *plain_site(uint64_t pc, struct rest rest)
{
	return (void *)(uintptr_t)(rest.instructions << REST_SHIFT | rest.cycles << REST_CYCLES_SHIFT | pc);
}

/* At the access the clock is exact. */
static void miss(struct vc_hart *h, qemu_plugin_meminfo_t info, uint64_t address, uintptr_t site, bool write)
{
	uint64_t instructions = site >> REST_SHIFT, cycles = site >> REST_CYCLES_SHIFT & REST_MOST_CYCLES;

	h->retired[0] -= instructions;
	h->retired[1] -= cycles;
	vc_data_access(h, (uint32_t)site, address, 1u << qemu_plugin_mem_size_shift(info), write);
	h->retired[0] += instructions;
	h->retired[1] += cycles;
}

/* Most accesses hit and end here. */
static inline void moved(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, const void *udata, bool write)
{
	enum { LINE = 1 << VC_LINE_SHIFT, LARGEST = 8 };
	struct vc_hart *h = &vc.hart[vcpu];
	struct vc_copies *copies = vc_cache_in_ram(address);

	if (h->frozen || !vc_holds(h) || vc.ended)
		return;
	if (copies && address % LINE <= LINE - LARGEST && vc_cache_hit(h, copies, write))
		copies->dirty |= write;
	else
		miss(h, info, address, (uintptr_t)udata, write);
}

static void loaded(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *udata)
{
	moved(vcpu, info, address, udata, false);
}
static void stored(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *udata)
{
	moved(vcpu, info, address, udata, true);
}

static enum vc_kind atomic_kind(uint32_t word)
{
	switch (word >> 27) {
	case 2: return VC_LR;
	case 3: return VC_SC;
	default: return VC_AMO;
	}
}

enum vc_kind vc_hypercall_kind(uint32_t imm)
{
	static const uint8_t kinds[] = { VC_SYNC,      VC_NOW,  VC_WAIT,   VC_WAKE, VC_FREEZE, VC_THAW,  VC_HOST_WAIT, VC_CHARGE,
					 VC_HOST_WAKE, VC_TAKE, VC_WINDOW, VC_COPY, VC_FILL,   VC_LANES, VC_LOCK,      VC_SPAN };

	if (imm >= HZ_VC_SYNC && imm - HZ_VC_SYNC < sizeof(kinds))
		return (enum vc_kind)kinds[imm - HZ_VC_SYNC];
	if (imm == HZ_VC_STAY)
		return vc.options.data == HZ_DATA_ORDERED ? VC_STAY : VC_PLAIN;
	if (imm == HZ_VC_LOOK || imm == HZ_VC_LOOKED)
		return !vc.options.race_check ? VC_PLAIN : imm == HZ_VC_LOOK ? VC_LOOK : VC_LOOKED;
	if (imm == HZ_VC_NATIVE)
		return VC_NATIVE;
	if (imm >= HZ_VC_HAD && imm - HZ_VC_HAD < HZ_VC_LOGICAL_LOCKS)
		return vc.options.locks ? VC_HAD : VC_PLAIN;
	return imm == HZ_VC_END ? VC_END : VC_PLAIN;
}

static enum vc_kind decode(uint32_t word)
{
	if ((word & 3) != 3) /* compressed: no hypercall */
		return VC_PLAIN;
	if ((word & 0x7f) == 0x2f)
		return atomic_kind(word);
	if ((word & 0x7fff) == 0x2013 && word >> 20 >= HZ_VC_FETCHED && word >> 20 <= HZ_VC_ENDS_WRITE) /* SLTI x0, rs1, imm */
		return vc.options.locks ? VC_REQUEST : VC_PLAIN;
	if ((word & 0xfffff) == 0x02013) /* SLTI x0, x0, imm */
		return vc_hypercall_kind(word >> 20);
	switch (word) {
	case 0x00d00073: return VC_WRS_NTO;
	case 0x01d00073: return VC_WRS_STO;
	case 0x0100000f: return VC_PAUSE;
	case 0x10500073: return VC_WFI_INSN;
	}
	return vc.options.race_check && (word & 0x707f) == 0x000f ? VC_FENCE : VC_PLAIN;
}

static bool needs_registers(enum vc_kind kind)
{
	return kind == VC_SC || kind == VC_REQUEST || (vc.options.turns && (kind == VC_AMO || kind == VC_LR));
}

static void must_be_frozen(unsigned int vcpu, void *udata)
{
	struct vc_hart *h = &vc.hart[vcpu];
	char title[400], place[160];

	if (h->frozen || !vc_holds(h) || vc.phase != VC_RUNNING || vc.ended)
		return;
	snprintf(title, sizeof(title), "UNFROZEN: hart %u runs %s, which is marked HZ_FROZEN, while its clock goes on", vcpu,
		 vc_symbol((uintptr_t)udata, place, sizeof(place)));
	vc_give_up("unfrozen", title);
}

/* Runs that are not for speed check the marks. */
static void check_frozen(struct qemu_plugin_tb *tb)
{
	uint64_t pc = qemu_plugin_tb_vaddr(tb);

	if (is_frozen_code(pc) && (vc.options.race_check || vc.options.profile || vc.options.count_each))
		qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, 0), must_be_frozen, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)pc);
}

static void instrument(struct qemu_plugin_insn *insn, enum vc_kind kind, uint32_t word)
{
	void *where = site(qemu_plugin_insn_vaddr(insn), kind, word);

	if (kind != VC_PLAIN)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, callback_of(kind),
						       needs_registers(kind) ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS, where);
	if (kind == VC_AMO || kind == VC_LR || kind == VC_SC)
		qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS,
						 kind == VC_LR ? QEMU_PLUGIN_MEM_R : QEMU_PLUGIN_MEM_W, where);
	if (kind == VC_PLAIN && vc.options.cost.div_bit && vc_class_of(word) == VC_DIV)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, divides, QEMU_PLUGIN_CB_R_REGS,
						       (void *)((uintptr_t)vc_stage_of(qemu_plugin_insn_vaddr(insn)) << 32 | word));
	if (kind == VC_PLAIN && vc.options.race_check)
		qemu_plugin_register_vcpu_mem_cb(insn, touched, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, where);
}

/* cost: cycles beyond those of every instruction. */
static void count(struct qemu_plugin_insn *insn, uint64_t instructions, uint64_t cost)
{
	qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64, retired, instructions);
	if (cost)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64, beyond, cost);
	if (vc.options.locks)
		qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, QEMU_PLUGIN_INLINE_ADD_U64,
								    of_stage[vc_stage_of(qemu_plugin_insn_vaddr(insn))],
								    instructions * vc.options.cost.insn + cost);
}

static uint64_t cost_of(const struct qemu_plugin_tb *tb, size_t from, size_t to)
{
	uint64_t cost = 0;

	for (size_t i = from; i < to; i++)
		cost += vc_class_cost(word_of(qemu_plugin_tb_get_insn(tb, i)));
	return cost;
}

/* The last instruction of the segment that begins at `from`. A segment ends early if the cycles behind its first instruction do not fit
 * into a plain access's site. */
static size_t segment_end(const struct qemu_plugin_tb *tb, size_t n, size_t from)
{
	uint64_t cycles = 0;

	while (from + 1 < n && decode(word_of(qemu_plugin_tb_get_insn(tb, from))) == VC_PLAIN) {
		cycles += vc_class_cost(word_of(qemu_plugin_tb_get_insn(tb, from + 1)));
		if (cycles > REST_MOST_CYCLES)
			break;
		from++;
	}
	return from;
}

static void count_segment(const struct qemu_plugin_tb *tb, size_t from, size_t last)
{
	struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, from);

	if (!vc.options.count_each && !is_frozen_code(qemu_plugin_tb_vaddr(tb)))
		count(first, last + 1 - from, cost_of(tb, from, last + 1));
	if (vc.options.profile)
		vc_profile_segment(first, last + 1 - from);
}

static void watch_data(const struct qemu_plugin_tb *tb, size_t i, size_t last)
{
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
	struct rest rest = { 0 };

	if (!vc.options.count_each)
		rest = (struct rest){ .instructions = last - i, .cycles = cost_of(tb, i + 1, last + 1) };
	qemu_plugin_register_vcpu_mem_cb(insn, loaded, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
					 plain_site(qemu_plugin_insn_vaddr(insn), rest));
	qemu_plugin_register_vcpu_mem_cb(insn, stored, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
					 plain_site(qemu_plugin_insn_vaddr(insn), rest));
}

static void translate_segment(const struct qemu_plugin_tb *tb, size_t from, size_t last)
{
	bool watch = vc.options.data && !is_frozen_code(qemu_plugin_tb_vaddr(tb));

	for (size_t i = from; i <= last; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = word_of(insn);
		enum vc_kind kind = decode(word);

		if (vc.options.count_each)
			count(insn, 1, vc_class_cost(word));
		instrument(insn, kind, word);
		if (watch && kind == VC_PLAIN)
			watch_data(tb, i, last);
	}
}

/* A segment is counted first: a callback sees its own instruction counted. */
void vc_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (qemu_plugin_tb_vaddr(tb) == RESET_VECTOR)
		instrument(qemu_plugin_tb_get_insn(tb, 0), VC_GATE, 0);
	if (qemu_plugin_tb_vaddr(tb) < HZ_RAM_BASE)
		return; /* QEMU's boot ROM, before time begins */
	check_frozen(tb);
	if (vc.options.cost.loop_exit)
		watch_loops(tb, n);
	for (size_t from = 0, last; from < n; from = last + 1) {
		last = segment_end(tb, n, from);
		count_segment(tb, from, last);
		translate_segment(tb, from, last);
	}
}
