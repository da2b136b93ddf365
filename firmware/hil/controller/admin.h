/* Admin queue: takes commands, sends them to their handlers, posts their completions. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_H
#define HIL_ADMIN_H

#include <stdbool.h>

struct hil;
/* Posts late answers and runs commands that were rung for; true if there was something. */
bool admin_run(struct hil *hil);

#endif
