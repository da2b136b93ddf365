/* Shared words, time and hart identity on pthreads. Atomic builtins, so that ThreadSanitizer sees every ordering. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_PORT_ARCH_H
#define LT_PORT_ARCH_H

#include <sanitizer/asan_interface.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vclock_abi.h"

typedef struct lt_word {
	uint64_t value;
} lt_word;

#ifdef __cplusplus
extern "C" {
#endif

/* 0 until a hart thread or the single-threaded runner says otherwise, like the boot hart. */
extern __thread unsigned lt_host_hart;
extern __thread unsigned lt_host_frozen; /* depth of clock_freeze */

uint64_t clock_now_ns(void);
void clock_charge_ns(uint64_t ns);
static inline void lt_note_waiting(unsigned lock_class, uint32_t index, uint64_t since_ns)
{
	(void)lock_class;
	(void)index;
	(void)since_ns;
}
static inline void lt_note_not_waiting(void) {}
static inline void lt_tell_lock(enum hz_vc_lock_event event, unsigned lock_class, uint32_t index, const void *site)
{
	(void)event;
	(void)lock_class;
	(void)index;
	(void)site;
}
static inline void lt_tell_look(void) {}
static inline void lt_tell_looked(void) {}
static inline void lt_tell_had(unsigned logical_lock) { (void)logical_lock; }
static inline void lt_tell_request(enum hz_hypercall event, const void *request)
{
	(void)event;
	(void)request;
}
static inline void lt_tell_flash_read(const void *request, uint64_t begin_ns, uint64_t cells_end_ns, uint64_t end_ns)
{
	(void)request;
	(void)begin_ns;
	(void)cells_end_ns;
	(void)end_ns;
}
static inline void lt_tell_links(const void *request, uint64_t until_ns)
{
	(void)request;
	(void)until_ns;
}
static inline void lt_tell_span(uint64_t what, uint64_t begin_ns, uint64_t end_ns)
{
	(void)what;
	(void)begin_ns;
	(void)end_ns;
}
static inline void lt_guard(void *start, size_t bytes, size_t apart)
{
	ASAN_UNPOISON_MEMORY_REGION(start, bytes);
	ASAN_POISON_MEMORY_REGION((uint8_t *)start + bytes, apart);
}
static inline void lt_spoil(void *start, size_t bytes) { __builtin_memset(start, 0xa5, bytes < 1 << 20 ? bytes : 1 << 20); }
bool lt_wait_while(const lt_word *w, uint64_t value, uint64_t deadline_ns);
uint64_t lt_wait_take(lt_word *w, uint64_t deadline_ns);
uint64_t lt_spin_while(const lt_word *w, uint64_t value);
void lt_relax(void);
void lt_kick(unsigned hart);

/* Before each access to a shared word another hart may be let go (host_clock.h, lt_host_interleave). */
extern bool lt_host_interleaves;
void lt_interleave_point(void);
static inline void lt_shared_access(void)
{
	if (__builtin_expect(lt_host_interleaves, 0))
		lt_interleave_point();
}

static inline uint64_t lt_load(const lt_word *w)
{
	lt_shared_access();
	return __atomic_load_n(&w->value, __ATOMIC_ACQUIRE);
}

static inline void lt_store(lt_word *w, uint64_t v)
{
	lt_shared_access();
	__atomic_store_n(&w->value, v, __ATOMIC_RELEASE);
}

static inline uint64_t lt_load_last(const lt_word *w) { return lt_load(w); } /* every read before it is an acquire */

static inline uint32_t lt_load32(const uint32_t *w)
{
	lt_shared_access();
	return __atomic_load_n(w, __ATOMIC_ACQUIRE);
}

static inline void lt_store32(uint32_t *w, uint32_t v)
{
	lt_shared_access();
	__atomic_store_n(w, v, __ATOMIC_RELEASE);
}

static inline uint32_t lt_glance(const uint32_t *w) { return lt_load32(w); }
static inline void lt_put(uint32_t *w, uint32_t v) { lt_store32(w, v); }

#define LT_RMW(name, builtin) \
	static inline uint64_t name(lt_word *w, uint64_t v) \
	{ \
		lt_shared_access(); \
		return builtin(&w->value, v, __ATOMIC_ACQ_REL); \
	}
LT_RMW(lt_swap, __atomic_exchange_n)
LT_RMW(lt_add, __atomic_fetch_add)
LT_RMW(lt_or, __atomic_fetch_or)
LT_RMW(lt_and, __atomic_fetch_and)
#undef LT_RMW

static inline uint64_t lt_peek(const lt_word *w) { return __atomic_load_n(&w->value, __ATOMIC_RELAXED); }
static inline void lt_preset(lt_word *w, uint64_t v) { __atomic_store_n(&w->value, v, __ATOMIC_RELAXED); }

static inline uint64_t lt_cas_seen(lt_word *w, uint64_t old, uint64_t new_)
{
	lt_shared_access();
	__atomic_compare_exchange_n(&w->value, &old, new_, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return old;
}

static inline bool lt_cas(lt_word *w, uint64_t old, uint64_t new_) { return lt_cas_seen(w, old, new_) == old; }

static inline unsigned lt_hart_id(void) { return lt_host_hart; }
static inline bool clock_is_virtual(void) { return false; }
static inline void clock_freeze(void) { lt_host_frozen++; }
static inline uint64_t clock_frozen_ns(void)
{
	if (!lt_host_frozen)
		lt_fail("clock_frozen_ns outside clock_freeze");
	return clock_now_ns();
}

static inline void clock_thaw(void)
{
	if (lt_host_frozen-- == 0)
		lt_fail("clock_thaw without clock_freeze");
}

static inline void clock_stay(void) {}

void lt_may_wait(const char *what);

#ifdef __cplusplus
}
#endif
#endif
