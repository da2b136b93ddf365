/* Device self-test (base spec 5.9, 8.6): one at a time, in the background.
 *
 * Segment 1 is the controller's: no critical warning of the SMART log. Segment 2 is the media of the chosen namespaces: an extended test
 * reads all of their sectors, a short one 16 pieces of each. The test and its results are in the image: a reset or a loss of power ends a short
 * test and interrupts an extended one, which goes on when the controller is enabled. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_SELF_TEST_H
#define HIL_CONTROLLER_SELF_TEST_H

#include "hil/controller/admin.h"
#include "nand_image.h"
#include "port/ftl_port.h"

struct hil;
struct self_test {
	bool busy;                      /* a verify is in the device … */
	bool stale;                     /* … for a test that has ended */
	uint64_t singles;               /* a piece failed: up to here sector by sector */
	struct hz_nand_self_test state; /* as in the image */
	struct ftl_request req;
};

admin_handler admin_self_test;
/* The controller was enabled; clock frozen. */
void self_test_resume(struct hil *hil);
/* It resets, or shuts down: no further piece is read until it is enabled; self_test.busy says that one is still in the device, and
 * life_step is called after it. */
void self_test_interrupt(struct hil *hil);
/* The data of a namespace go away: a test of it ends so. */
void self_test_drop(struct hil *hil, uint32_t number, enum nvme_self_test_end end);
/* Fill the log page. */
uint32_t self_test_page(struct hil *hil, struct nvme_self_test_log *log);

#endif
