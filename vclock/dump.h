/* The dump of a deadlock: for every hart where it waits, for which address and lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_DUMP_H
#define VC_DUMP_H

void vc_dump_harts(const char *title);

#endif
