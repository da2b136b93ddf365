/* Fair reader-writer lock on tickets (after the fair lock of Mellor-Crummey and Scott, PPoPP 1991, without its queue). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/rwlock.h"

#include "account.h"

void lt_rwlock_init(struct lt_rwlock *lock, unsigned lock_class)
{
	lt_preset(&lock->next, 0);
	lt_preset(&lock->read_serving, 0);
	lt_preset(&lock->write_serving, 0);
	lock->lock_class = (uint8_t)lock_class;
}

static void wait_for(const lt_word *serving, uint64_t seen, uint64_t ticket, unsigned lock_class)
{
	uint64_t from_ns;

	clock_freeze();
	from_ns = clock_now_ns();
	clock_thaw();
	while (seen != ticket)
		seen = lt_spin_while(serving, seen);
	clock_freeze();
	account_spin(lt_hart_id(), lock_class, clock_now_ns() - from_ns);
	clock_thaw();
}

static uint64_t draw_and_wait(struct lt_rwlock *lock, const lt_word *serving)
{
	uint64_t ticket = lt_add(&lock->next, 1);
	uint64_t seen = lt_load(serving);

	lt_may_wait("a reader-writer lock");
	if (seen != ticket)
		wait_for(serving, seen, ticket, lock->lock_class);
	return ticket;
}

/* The next ticket may enter at once if it is a reader's. */
void lt_rwlock_read(struct lt_rwlock *lock)
{
	uint64_t ticket = draw_and_wait(lock, &lock->read_serving);

	lt_store(&lock->read_serving, ticket + 1);
}

/* Readers leave in any order; a writer waits until as many have left as came before it. */
void lt_rwlock_read_end(struct lt_rwlock *lock) { lt_add(&lock->write_serving, 1); }

void lt_rwlock_write(struct lt_rwlock *lock) { draw_and_wait(lock, &lock->write_serving); }

/* Readers that the first addition lets in may leave before the second: no store may take theirs back. */
void lt_rwlock_write_end(struct lt_rwlock *lock)
{
	lt_add(&lock->read_serving, 1);
	lt_add(&lock->write_serving, 1);
}
