/* Integer registers, found by the names that QEMU's description of the CPU gives them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "registers.h"

#include <string.h>

#include "qemu_api.h"

static const char *const names[32] = {
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
	"a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};
static struct qemu_plugin_register *handles[VC_MAX_HARTS][32];
static GByteArray *found[VC_MAX_HARTS]; /* for what QEMU tells of one, which it appends */

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
