/* Fatal errors: one sentence to the console and to the host's header, then power-off with an error code. lt_fail ends here too. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_FAIL_H
#define PLATFORM_FAIL_H

#include "lt/arch.h"
#include "shm.h"

/* From here on failures are reported to the host in header->error and header->boot_state. */
void fail_attach(struct hz_shm_header *header);
/* Any hart; the first one wins, later ones stop in place. Formats as text_format. */
_Noreturn void fail_with(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a fault of the NAND image: the host distinguishes it from a failure of the firmware. */
_Noreturn void fail_image(const char *text);

#endif
