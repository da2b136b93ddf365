/* The parts of the virtual clock that order harts, without QEMU: state that C++ cannot read. Harts
 * count cycles as instructed, no stacks are switched, and all RAM is one word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_ORDER_RIG_H
#define TEST_ORDER_RIG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RIG_WORD = 0x80000040 }; /* address of the word in RAM */
enum { RIG_STOPPED, RIG_RESET };

/* A new machine, no hart of which has begun. */
void rig_start(unsigned harts);
void rig_work(unsigned hart, uint64_t cycles);
void rig_gate(unsigned hart);
void rig_order(unsigned hart);
void rig_park(unsigned hart);
void rig_idle(unsigned hart, bool in_wfi);
void rig_freeze(unsigned hart);
void rig_thaw(unsigned hart);
/* While frozen, polls the word `times` times. */
void rig_look(unsigned hart, uint64_t times);
void rig_wait(unsigned hart);
void rig_wake(unsigned hart, unsigned other);
uint64_t rig_take(unsigned hart);
void rig_put(uint64_t value);

int rig_holder(void);
bool rig_is_ready(unsigned hart);
bool rig_drained(unsigned hart);
bool rig_all_sleep(void);
bool rig_ended(void);
uint64_t rig_hand_overs(void);
uint64_t rig_wakes(void);
uint64_t rig_flag(int flag);
/* To which hart the token was handed last, -1: to none. */
int rig_switched_to(void);

void rig_check_races(bool on);
void rig_race_access(unsigned hart, uint64_t pc, uint64_t address, unsigned bytes, bool store);
void rig_race_acquire(unsigned hart, uint64_t address);
unsigned rig_races(void);

/* Caches with this number of ways, and one set. */
void rig_caches(unsigned ways);
void rig_fetch(unsigned hart, uint64_t address);
uint64_t *rig_holders(uint64_t address);

bool rig_map_ram(const char *path);
uint64_t rig_host_wakes(void *shared, uint64_t queue);
unsigned rig_lock_classes(void);
const char *rig_lock_class(uint64_t number);

#ifdef __cplusplus
}
#endif
#endif
