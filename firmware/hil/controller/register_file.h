/* Controller registers that hold a value (base spec 3.1.3). CAP and VS are constants. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_REGISTER_FILE_H
#define HIL_REGISTER_FILE_H

#include <stdint.h>

struct register_file {
	uint32_t cc, csts, aqa;
	uint64_t asq, acq;
};

#endif
