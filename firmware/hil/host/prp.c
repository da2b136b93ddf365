/* PRP parser. Every entry is loaded once, checked and used; a host that changes the list meanwhile harms only itself. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/host/host.h"

#include "nvme.h"

enum { OFFSET_MASK = HZ_SECTOR_BYTES - 1, BAD_OFFSET = NVME_PRP_OFFSET_INVALID | NVME_DNR };

static uint16_t add_page(const struct host_bus *bus, uint64_t address, uint8_t **page)
{
	if (address & OFFSET_MASK)
		return BAD_OFFSET;
	if (!host_bus_holds(bus, address, HZ_SECTOR_BYTES))
		return NVME_DATA_TRANSFER_ERROR;
	*page = bus->base + address;
	return NVME_SUCCESS;
}

/* A list runs to the end of its page; if entries are left then, the last one there points to the next list page. */
static uint16_t walk_list(const struct host_bus *bus, uint64_t list, uint32_t pages, uint8_t **page)
{
	if (list & 7)
		return BAD_OFFSET;
	while (pages > 0) {
		uint64_t entry;
		uint16_t status;

		if (!host_bus_holds(bus, list, sizeof(entry)))
			return NVME_DATA_TRANSFER_ERROR;
		entry = host_load64((const uint64_t *)(bus->base + list));
		if ((list & OFFSET_MASK) == HZ_SECTOR_BYTES - sizeof(entry) && pages > 1) {
			if (entry & OFFSET_MASK)
				return BAD_OFFSET;
			list = entry;
			continue;
		}
		status = add_page(bus, entry, page++);
		if (status)
			return status;
		list += sizeof(entry);
		pages--;
	}
	return NVME_SUCCESS;
}

uint16_t prp_parse(const struct host_bus *bus, uint64_t prp1, uint64_t prp2, uint32_t bytes, uint8_t **pages, struct sgl *sgl)
{
	uint32_t offset = prp1 & OFFSET_MASK, count = (offset + bytes + OFFSET_MASK) >> HZ_SECTOR_SHIFT;

	if (prp1 & 3)
		return BAD_OFFSET;
	if (!host_bus_holds(bus, prp1 - offset, HZ_SECTOR_BYTES))
		return NVME_DATA_TRANSFER_ERROR;
	pages[0] = bus->base + (prp1 - offset);
	*sgl = (struct sgl){ .memory = pages, .offset = offset, .bytes = bytes };
	if (count == 1)
		return NVME_SUCCESS;
	if (count == 2)
		return add_page(bus, prp2, &pages[1]);
	return walk_list(bus, prp2, count - 1, &pages[1]);
}
