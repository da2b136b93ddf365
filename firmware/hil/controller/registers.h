/* Controller registers that hold a value (base spec 3.1.3). CAP and VS are constants. */
#ifndef HIL_REGISTERS_H
#define HIL_REGISTERS_H

#include <stdint.h>

struct registers {
	uint32_t cc, csts, aqa;
	uint32_t masked;        /* INTMS/INTMC: bit = vector, 0 … 31 */
	uint64_t asq, acq;
};

#endif
