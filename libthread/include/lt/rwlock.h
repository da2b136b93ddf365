/* Fair reader-writer spin lock: requests are served in the order they came; readers that follow each other share.
 *
 * Same rules as lt/lock.h: not across an event's end or lt_hart_wait. Not recursive, no upgrade: a
 * reader that asks again behind a waiting writer would wait for itself. Waiting counts as spin time of the lock's
 * class; no further statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_RWLOCK_H
#define LT_RWLOCK_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lt_rwlock {
	LT_OWN_LINE lt_word next;          /* ticket to draw */
	LT_OWN_LINE lt_word read_serving;  /* a reader with this ticket may enter */
	LT_OWN_LINE lt_word write_serving; /* a writer with this ticket may enter: tickets of holders that have left */
	LT_OWN_LINE uint8_t lock_class;
};

void lt_rwlock_init(struct lt_rwlock *lock, unsigned lock_class);
void lt_rwlock_read(struct lt_rwlock *lock);
void lt_rwlock_read_end(struct lt_rwlock *lock);
void lt_rwlock_write(struct lt_rwlock *lock);
void lt_rwlock_write_end(struct lt_rwlock *lock);

#ifdef __cplusplus
}
#endif
#endif
