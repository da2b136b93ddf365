/* Waiting for the host and waking it. */
#include "host_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
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

void vc_host_wait(struct vc_hart *h)
{
	static const struct timespec at_most = { 0, 1000000 };
	struct hz_shm_header *header = vc.shm;

	vc.host_waits++;
	if (!h->frozen)
		vc_flag_run(VC_FLAG_UNFROZEN_HOST_WAIT);
	if (header)
		syscall(SYS_futex, &header->host_bell, FUTEX_WAIT, (uint32_t)h->slot->arg0, &at_most, NULL, 0);
	else
		nanosleep(&at_most, NULL);
}

void vc_host_wake(struct vc_hart *h)
{
	uint64_t queue = h->slot->arg0;
	struct hz_queue_clock *clocks;

	if (!vc.shm || queue > HZ_MAX_IO_QUEUES)
		return;
	vc.host_wakes++;
	clocks = (void *)((char *)vc.shm + HZ_SHM_QUEUES_OFFSET);
	syscall(SYS_futex, &clocks[queue].completed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
