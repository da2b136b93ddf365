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

/* Guest address of a file, once the firmware has announced it. */
static struct {
	uint64_t guest, bytes; /* bytes 0: not announced */
	char *host;
} window[HZ_VC_FILES];
static uint64_t file_bytes[HZ_VC_FILES];

/* Map at least *bytes of a file from its beginning; *bytes becomes the mapped size (the whole
 * file). */
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

static bool map_file(enum hz_vc_file file, const char *path, uint64_t least)
{
	file_bytes[file] = least;
	window[file].host = path ? map(path, &file_bytes[file]) : NULL;
	return !path || window[file].host;
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
	if (!map_file(HZ_VC_SHM, vc.options.shm, HZ_SHM_HEAP_OFFSET) || !map_file(HZ_VC_NAND, vc.options.nand, 1))
		return false;
	vc.shm = window[HZ_VC_SHM].host;
	return true;
}

void vc_guest_window(uint64_t file, uint64_t guest, uint64_t bytes)
{
	if (file >= HZ_VC_FILES || !window[file].host)
		return;
	window[file].guest = guest;
	window[file].bytes = bytes < file_bytes[file] ? bytes : file_bytes[file];
}

static void *within(void *host, uint64_t host_bytes, uint64_t offset, uint64_t bytes)
{
	return offset < host_bytes && bytes <= host_bytes - offset ? (char *)host + offset : NULL;
}

void *vc_guest(uint64_t address, unsigned bytes) { return within(vc.ram, vc.ram_bytes, address - HZ_RAM_BASE, bytes); }

void *vc_guest_bulk(uint64_t address, uint64_t bytes)
{
	void *found = within(vc.ram, vc.ram_bytes, address - HZ_RAM_BASE, bytes);

	for (unsigned i = 0; i < HZ_VC_FILES && !found; i++)
		found = within(window[i].host, window[i].bytes, address - window[i].guest, bytes);
	return found;
}

uint32_t vc_guest_instruction(uint64_t pc)
{
	const void *code = vc_guest(pc, 4);
	uint32_t insn = 0;

	if (code)
		memcpy(&insn, code, sizeof(insn));
	return insn;
}
