/* Inside libthread only: the owner's side of a mailbox. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAILBOX_H
#define MAILBOX_H

#include "hart_state.h"

enum { TURNS_PER_LOOK = 4 }; /* of a busy hart: a wait looks itself */

/* A list as it was taken, newest first, becomes oldest first. */
struct lt_event *lt_mail_in_order(struct lt_event *list);
/* Empty the mailbox if it has something: one shared load. */
void lt_mail_take(struct hart *h);
/* Events are waiting on the local list or are taken. */
static inline bool lt_mail_known(const struct hart *h) { return h->local_head || h->taken; }
/* Once a turn: there is mail, or it is time to look. */
static inline bool lt_mail_due(struct hart *h) { return ++h->unlooked >= TURNS_PER_LOOK || lt_mail_known(h); }

#endif
