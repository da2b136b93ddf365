/* Instruction classes of RV64GC, and integer registers by QEMU's names. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu.h"

#include <string.h>

#include "base/qemu_api.h"
#include "base/state.h"

/* RV64GC by class. */

/* The unprivileged specification's chapter "RV32/64G Instruction Set Listings": opcode, funct3, funct7. */
static enum vc_class class_of_full(uint32_t word)
{
	uint32_t funct3 = word >> 12 & 7;

	switch (word & 0x7f) {
	case 0x03:
	case 0x07: return VC_LOAD;
	case 0x23:
	case 0x27: return VC_STORE;
	case 0x63:
	case 0x67:
	case 0x6f: return VC_BRANCH;
	case 0x73: return funct3 ? VC_CSR : VC_NO_CLASS;
	case 0x33:
	case 0x3b:
		if (word >> 25 != 1)
			return VC_NO_CLASS;
		return funct3 < 4 ? VC_MUL : VC_DIV;
	default: return VC_NO_CLASS;
	}
}

/* C.JR and C.JALR; C.MV, C.ADD and C.EBREAK share their funct3. */
static bool jumps_to_register(uint32_t word) { return (word >> 7 & 31) && !(word >> 2 & 31); }

static enum vc_class class_of_compressed(uint32_t word)
{
	uint32_t quadrant = word & 3, funct3 = word >> 13 & 7;

	if (quadrant == 1)
		return funct3 >= 5 ? VC_BRANCH : VC_NO_CLASS;
	if (funct3 == 4)
		return quadrant == 2 && jumps_to_register(word) ? VC_BRANCH : VC_NO_CLASS;
	if (funct3 > 4)
		return VC_STORE;
	return funct3 ? VC_LOAD : VC_NO_CLASS;
}

enum vc_class vc_class_of(uint32_t word) { return (word & 3) == 3 ? class_of_full(word) : class_of_compressed(word); }

uint64_t vc_class_cost(uint32_t word)
{
	const struct vc_costs *cost = &vc.options.cost;

	switch (vc_class_of(word)) {
	case VC_LOAD: return cost->load;
	case VC_STORE: return cost->store;
	case VC_MUL: return cost->mul;
	case VC_DIV: return cost->div;
	case VC_BRANCH: return cost->branch;
	case VC_CSR: return cost->csr;
	default: return 0;
	}
}

static unsigned length(uint64_t value) { return value ? 64 - (unsigned)__builtin_clzll(value) : 0; }

/* Magnitude of an operand as the division uses it: opcode 0x3b uses the lower half. */
static uint64_t magnitude(uint32_t word, uint64_t operand)
{
	bool is_signed = !(word >> 12 & 1), half = (word & 0x7f) == 0x3b;
	int64_t value = half ? (int32_t)operand : (int64_t)operand;

	if (is_signed && value < 0)
		return -(uint64_t)value;
	return half && !is_signed ? (uint32_t)operand : (uint64_t)value;
}

unsigned vc_class_longer(uint32_t word, uint64_t dividend, uint64_t divisor)
{
	unsigned of_dividend = length(magnitude(word, dividend)), of_divisor = length(magnitude(word, divisor));

	return of_dividend > of_divisor ? of_dividend - of_divisor : 0;
}

/* The sign of its offset is bit 31 of B, bit 12 of CB. */
bool vc_class_loops(uint32_t word)
{
	if ((word & 3) == 3)
		return (word & 0x7f) == 0x63 && word >> 31;
	return (word & 3) == 1 && (word >> 13 & 7) >= 6 && (word >> 12 & 1);
}

bool vc_class_releases(uint32_t word) { return (word & 0x7f) == 0x2f && word >> 28 != 1 && (word >> 25 & 3) == 1 && !(word >> 7 & 31); }

/* Integer registers, found by name in QEMU's description of the CPU. */

static const char *const names[32] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
	"a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static struct qemu_plugin_register *handles[VC_MAX_HARTS][32];
static GByteArray *found[VC_MAX_HARTS]; /* buffer for the register values that QEMU appends */

static struct qemu_plugin_register *find(const GArray *all, const char *name)
{
	const qemu_plugin_reg_descriptor *list = (const void *)all->data;

	for (unsigned i = 0; i < all->len; i++)
		if (!strcmp(list[i].name, name))
			return list[i].handle;
	return NULL;
}

bool vc_registers_find(unsigned hart)
{
	GArray *all = qemu_plugin_get_registers();
	const char *missing = NULL;

	found[hart] = g_byte_array_new();
	for (unsigned i = 0; i < 32; i++) {
		handles[hart][i] = find(all, names[i]);
		missing = handles[hart][i] ? missing : names[i];
	}
	g_array_free(all, 1);
	if (missing)
		vc_say("this QEMU does not show register %s of hart %u", missing, hart);
	return !missing;
}

uint64_t vc_register(unsigned hart, unsigned number)
{
	GByteArray *bytes = found[hart];
	uint64_t value = 0;

	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handles[hart][number], bytes) == sizeof(value))
		memcpy(&value, bytes->data, sizeof(value));
	return value;
}
