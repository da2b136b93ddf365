/* Mapping the files behind the guest's memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm.h"

/* At least *bytes of a file from its beginning; all of it: *bytes becomes its size. */
static void *map(const char *path, uint64_t *bytes)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat status;
	void *where = MAP_FAILED;

	if (fd >= 0 && !fstat(fd, &status)) {
		errno = EFBIG;
		if ((uint64_t)status.st_size >= *bytes)
			where = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		*bytes = (uint64_t)status.st_size;
	}
	if (where == MAP_FAILED)
		vc_say("cannot map %s: %s", path, errno == EFBIG ? "the file is too small" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return where == MAP_FAILED ? NULL : where;
}

bool vc_map_files(void)
{
	struct hz_vc_slot *slots;

	vc.ram_bytes = HZ_VC_SLOTS_ADDR - HZ_RAM_BASE + 4096;
	vc.ram = map(vc.options.ram, &vc.ram_bytes);
	if (!vc.ram)
		return false;
	slots = (void *)((char *)vc.ram + (HZ_VC_SLOTS_ADDR - HZ_RAM_BASE));
	for (unsigned i = 0; i < vc.harts; i++)
		vc.hart[i].slot = &slots[i];
	if (!vc.options.shm)
		return true;
	vc.shm_bytes = HZ_SHM_HEAP_OFFSET;
	vc.shm = map(vc.options.shm, &vc.shm_bytes);
	return vc.shm != NULL;
}

void *vc_guest(uint64_t address, unsigned bytes)
{
	uint64_t offset = address - HZ_RAM_BASE;

	return address >= HZ_RAM_BASE && offset + bytes <= vc.ram_bytes ? (char *)vc.ram + offset : NULL;
}
