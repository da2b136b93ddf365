/* A machine with only the order of its harts real. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "order_rig.h"

#include <signal.h>
#include <string.h>

#include "profile/account.h"
#include "cost/cache.h"
#include "schedule/carrier.h"
#include "schedule/watchdog.h"
#include "guest/symbol.h"
#include "cost/line.h"
#include "guest/memory.h"
#include "race/race.h"
#include "schedule/token.h"
#include "wait.h"

static uint64_t retired[VC_MAX_HARTS][2], ram[16];
static struct hz_vc_slot slots[VC_MAX_HARTS];
static int switched_to;

static void nothing(void) {}

void rig_start(unsigned harts)
{
	static const struct vc_token_hooks hooks = {nothing, nothing};

	signal(SIGTERM, SIG_IGN); /* QEMU's notification of a failed run */
	memset(&vc, 0, sizeof(vc));
	memset(retired, 0, sizeof(retired));
	vc.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	vc.holder = vc.last = -1;
	vc.options.pin = VC_PIN_OFF;
	vc.options.mhz = 1000;
	vc.options.cost.insn = 1;
	vc.harts = harts;
	for (unsigned i = 0; i < harts; i++) {
		vc.hart[i].index = i;
		vc.hart[i].retired = retired[i];
		vc.hart[i].slot = &slots[i];
		vc.key[i] = VC_NEVER;
	}
	switched_to = -1;
	vc_token_start(&hooks);
}

void rig_work(unsigned hart, uint64_t cycles) { retired[hart][0] += cycles; }
void rig_gate(unsigned hart) { vc_gate(&vc.hart[hart]); }
void rig_order(unsigned hart) { vc_order_wait(&vc.hart[hart], VC_AMO); }
void rig_park(unsigned hart) { vc_park(&vc.hart[hart], VC_NEVER, VC_WAIT); }
void rig_freeze(unsigned hart) { vc_freeze(&vc.hart[hart]); }
void rig_thaw(unsigned hart) { vc_thaw(&vc.hart[hart]); }

void rig_idle(unsigned hart, bool in_wfi)
{
	vc.hart[hart].in_wfi = in_wfi;
	vc_hart_idle(&vc.hart[hart]);
}

void rig_look(unsigned hart, uint64_t times)
{
	while (times--)
		vc_frozen_access(&vc.hart[hart], VC_AMO, RIG_WORD);
}

void rig_wait(unsigned hart)
{
	slots[hart].arg0 = UINT64_MAX;
	vc_wait_for_wake(&vc.hart[hart]);
}

void rig_wake(unsigned hart, unsigned other)
{
	slots[hart].arg0 = other;
	vc_wake(&vc.hart[hart]);
}

uint64_t rig_take(unsigned hart)
{
	slots[hart].arg0 = UINT64_MAX;
	slots[hart].arg1 = RIG_WORD;
	vc_take(&vc.hart[hart]);
	return slots[hart].arg1;
}

void rig_put(uint64_t value)
{
	vc.ram = ram;
	vc.ram_bytes = sizeof(ram);
	ram[(RIG_WORD - HZ_RAM_BASE) / sizeof(*ram)] = value;
}

int rig_holder(void) { return vc.holder; }
bool rig_is_ready(unsigned hart) { return vc.hart[hart].state == VC_READY; }
bool rig_drained(unsigned hart) { return vc.hart[hart].drained; }
bool rig_all_sleep(void) { return vc_all_sleep(); }
bool rig_ended(void) { return vc.ended; }
uint64_t rig_hand_overs(void) { return vc.hand_overs; }
uint64_t rig_wakes(void) { return vc.wakes; }
uint64_t rig_flag(int flag) { return vc.flags[flag == RIG_STOPPED ? VC_FLAG_STOPPED : VC_FLAG_RESET]; }
int rig_switched_to(void) { return switched_to; }

void rig_check_races(bool on) { vc.options.race_check = on; }
unsigned rig_races(void) { return vc_race_count(); }
void rig_race_acquire(unsigned hart, uint64_t address) { vc_race_read_from(&vc.hart[hart], address, true); }

void rig_race_access(unsigned hart, uint64_t pc, uint64_t address, unsigned bytes, bool store)
{
	vc_race_access(&vc.hart[hart], pc, address, bytes, store ? VC_RACE_STORE : VC_RACE_LOAD);
}

void rig_caches(unsigned ways)
{
	vc.ram_bytes = 1 << 20;
	vc.options.cache_ways = ways;
	vc.options.cache_bytes = ways << VC_LINE_SHIFT;
	vc_cache_create();
}

void rig_fetch(unsigned hart, uint64_t address) { vc_cache_fetch(&vc.hart[hart], address, vc_cache_copies(address), false); }
uint64_t *rig_holders(uint64_t address) { return &vc_cache_copies(address)->holders; }

bool rig_map_ram(const char *path)
{
	vc.options.ram = path;
	return vc_map_files();
}

uint64_t rig_host_wakes(void *shared, uint64_t queue)
{
	vc.shm = shared;
	slots[0].arg0 = queue;
	vc_host_wake(&vc.hart[0]);
	return vc.host_wakes;
}

unsigned rig_lock_classes(void)
{
	unsigned count = 0;
#define HZ_LOCK_CLASS(...) count++;
#include "lock_classes.def"
	return count;
}

const char *rig_lock_class(uint64_t number) { return vc_lock_class_name(number); }

/* --- stubs --- */

void vc_carrier_enter(struct vc_hart *h) { (void)h; }
void vc_carrier_let_go(struct vc_hart *h) { (void)h; }

void vc_carrier_switch(struct vc_hart *h, struct vc_hart *next)
{
	(void)h;
	switched_to = next ? (int)next->index : -1;
}

void vc_dump_harts(const char *title) { (void)title; }
void vc_account_freeze(const struct vc_hart *h) { (void)h; }
void vc_account_thaw(const struct vc_hart *h) { (void)h; }
void vc_line_write(struct vc_hart *h, uint64_t address, bool release) { (void)h, (void)address, (void)release; }
void vc_line_count_park(const struct vc_hart *h) { (void)h; }
void vc_pair_drop(struct vc_hart *h) { (void)h; }
void vc_line_load_reserved(struct vc_hart *h, uint64_t address) { (void)h, (void)address; }
