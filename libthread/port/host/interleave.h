/* Inside the host port: the runner interleaves harts at any access to a shared word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include "lt/arch.h"

void lt_interleave_run(uint64_t limit_ns);                 /* until no hart has anything to do before limit_ns */
void lt_interleave_spin(const lt_word *w, uint64_t value); /* others go on until *w has another value */
void lt_interleave_relax(void);                            /* every other hart goes first */

#endif
