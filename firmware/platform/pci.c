/* PCI bus 0: scan and BAR assignment (PCI Local Bus Specification 3.0, chapter 6). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/pci.h"

#include <string.h>

enum {
	PCI_ID = 0x00,
	PCI_COMMAND = 0x04,
	PCI_HEADER = 0x0c,
	PCI_BAR0 = 0x10,
	PCI_COMMAND_MEMORY = 2,
	PCI_COMMAND_MASTER = 4,
	PCI_HEADER_TYPE_SHIFT = 16,
	PCI_HEADER_MULTI = 0x80,
	PCI_HEADER_LAYOUT = 0x7f,
	PCI_BAR_IO = 1,
	PCI_BAR_TYPE = 6,
	PCI_BAR_64 = 4,
	PCI_DEVICES = 32,
	PCI_FUNCTIONS = 8,
};

static uint32_t get(const struct pci_bus *bus, uint32_t config, uint32_t reg) { return bus->access.read(bus->access.ctx, config + reg); }

static void set(const struct pci_bus *bus, uint32_t config, uint32_t reg, uint32_t value)
{
	bus->access.write(bus->access.ctx, config + reg, value);
}

/* Write all ones and read back the writable bits: the size mask. */
static uint32_t size_mask(const struct pci_bus *bus, uint32_t config, unsigned bar)
{
	uint32_t reg = PCI_BAR0 + bar * 4, old = get(bus, config, reg), mask;

	set(bus, config, reg, UINT32_MAX);
	mask = get(bus, config, reg);
	set(bus, config, reg, old);
	return mask;
}

/* Returns how many BAR registers this one takes. */
static unsigned read_bar(const struct pci_bus *bus, struct pci_function *f, unsigned bar)
{
	uint32_t flags = get(bus, f->config, PCI_BAR0 + bar * 4);
	uint64_t mask = size_mask(bus, f->config, bar) & ~0xfull;
	bool wide = (flags & PCI_BAR_TYPE) == PCI_BAR_64 && bar + 1 < PCI_BARS;

	if (flags & PCI_BAR_IO)
		return 1;
	if (wide)
		mask |= (uint64_t)size_mask(bus, f->config, bar + 1) << 32;
	else if (mask)
		mask |= 0xffffffffull << 32;
	f->bar[bar].bytes = mask ? ~mask + 1 : 0;
	f->bar[bar].wide = wide;
	return wide ? 2 : 1;
}

static void add_function(struct pci_bus *bus, uint32_t config)
{
	uint32_t id = get(bus, config, PCI_ID), header = get(bus, config, PCI_HEADER) >> PCI_HEADER_TYPE_SHIFT;
	struct pci_function *f = &bus->function[bus->count];

	if ((id & 0xffff) == 0xffff || bus->count == PCI_MAX_FUNCTIONS)
		return;
	*f = (struct pci_function){ .config = config, .vendor = (uint16_t)id, .device = (uint16_t)(id >> 16) };
	bus->count++;
	if ((header & PCI_HEADER_LAYOUT) != 0)
		return;
	set(bus, config, PCI_COMMAND, get(bus, config, PCI_COMMAND) & ~(uint32_t)PCI_COMMAND_MEMORY & 0xffff);
	for (unsigned bar = 0; bar < PCI_BARS;)
		bar += read_bar(bus, f, bar);
}

static void scan(struct pci_bus *bus)
{
	for (uint32_t device = 0; device < PCI_DEVICES; device++) {
		uint32_t config = device << 15;
		uint32_t header = get(bus, config, PCI_HEADER) >> PCI_HEADER_TYPE_SHIFT;
		uint32_t functions = header & PCI_HEADER_MULTI ? PCI_FUNCTIONS : 1;

		if ((get(bus, config, PCI_ID) & 0xffff) == 0xffff)
			continue;
		for (uint32_t function = 0; function < functions; function++)
			add_function(bus, config | function << 12);
	}
}

struct place {
	struct pci_function *function;
	unsigned bar;
};

/* The largest BAR without an address. */
static struct place largest_unplaced(struct pci_bus *bus)
{
	struct place best = { NULL, 0 };

	for (uint32_t i = 0; i < bus->count; i++)
		for (unsigned b = 0; b < PCI_BARS; b++) {
			struct pci_bar *bar = &bus->function[i].bar[b];

			if (bar->bytes && !bar->base && (!best.function || bar->bytes > best.function->bar[best.bar].bytes))
				best = (struct place){ &bus->function[i], b };
		}
	return best;
}

/* Takes bytes (a power of two) from the window's front; false if they do not fit. */
static bool take(struct machine_window *window, uint64_t bytes, uint64_t *pci, uint64_t *cpu)
{
	uint64_t skip = -window->pci_base & (bytes - 1);

	if (skip > window->bytes || bytes > window->bytes - skip)
		return false;
	*pci = window->pci_base + skip;
	*cpu = window->cpu_base + skip;
	window->pci_base += skip + bytes;
	window->cpu_base += skip + bytes;
	window->bytes -= skip + bytes;
	return true;
}

static const char *place_bar(struct pci_bus *bus, struct place at, struct machine_window *low, struct machine_window *high)
{
	struct pci_bar *bar = &at.function->bar[at.bar];
	uint32_t reg = PCI_BAR0 + at.bar * 4;
	uint64_t pci;

	if (bar->bytes & (bar->bytes - 1))
		return "PCI: a BAR's size is not a power of two";
	if (!(bar->wide && take(high, bar->bytes, &pci, &bar->base)) && !take(low, bar->bytes, &pci, &bar->base))
		return "PCI: the BARs do not fit into the address windows (QEMU virt: 16 GiB above 4 GiB, 1 GiB below)";
	set(bus, at.function->config, reg, (uint32_t)pci);
	if (bar->wide)
		set(bus, at.function->config, reg + 4, (uint32_t)(pci >> 32));
	return NULL;
}

const char *pci_scan(struct pci_bus *bus, const struct pci_access *access, const struct machine *machine)
{
	struct machine_window low = machine->mem32, high = machine->mem64;
	const char *error = NULL;
	struct place at;

	memset(bus, 0, sizeof(*bus));
	bus->access = *access;
	scan(bus);
	for (at = largest_unplaced(bus); at.function && !error; at = largest_unplaced(bus))
		error = place_bar(bus, at, &low, &high);
	for (uint32_t i = 0; i < bus->count && !error; i++) {
		uint32_t config = bus->function[i].config;

		set(bus, config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	}
	return error;
}
