/* Log pages but for the locks' one: what the HIL and the harts count, and what the host must know to read it. */
#ifndef HIL_LOG_PAGES_H
#define HIL_LOG_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "nvme.h"

struct hil;
bool log_page_known(const struct hil *hil, unsigned id);
/* Fills hil->scratch with the known page that sqe asks for; returns its size. Clock frozen. */
uint32_t log_page_build(struct hil *hil, const struct nvme_sqe *sqe);

#endif
