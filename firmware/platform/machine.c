/* Facts about the board for the firmware: one pass over the device tree, nodes recognised by `compatible`. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/machine.h"

#include <string.h>

#include "base.h"
#include "platform/fdt.h"

enum { MAX_DEPTH = 8, PCI_SPACE_MEM32 = 2, PCI_SPACE_MEM64 = 3, PCI_ADDRESS_CELLS = 3 };

/* Properties of the node being read. They precede its children, so it is complete at its first child or at its end. */
struct node {
	const char *name;
	struct fdt_item compatible, device_type, reg, ranges, bootargs, timebase;
	uint32_t address_cells, size_cells; /* for its children */
	uint8_t complete;
};

struct walk {
	struct machine *machine;
	struct node node[MAX_DEPTH + 1]; /* node[0] stands for the parent of the root */
	uint32_t depth;
	uint64_t hart_mask;
	const char *error;
};

static void keep_property(struct node *node, const struct fdt_item *item)
{
	if (strcmp(item->name, "compatible") == 0)
		node->compatible = *item;
	else if (strcmp(item->name, "device_type") == 0)
		node->device_type = *item;
	else if (strcmp(item->name, "reg") == 0)
		node->reg = *item;
	else if (strcmp(item->name, "ranges") == 0)
		node->ranges = *item;
	else if (strcmp(item->name, "bootargs") == 0)
		node->bootargs = *item;
	else if (strcmp(item->name, "timebase-frequency") == 0)
		node->timebase = *item;
	else if (strcmp(item->name, "#address-cells") == 0)
		node->address_cells = fdt_cell(item, 0);
	else if (strcmp(item->name, "#size-cells") == 0)
		node->size_cells = fdt_cell(item, 0);
}

/* First (address, size) pair of a node's reg. */
static struct machine_range reg_of(struct walk *walk, const struct node *node, const struct node *parent)
{
	struct machine_range range = { 0, 0 };
	uint32_t cells = parent->address_cells + parent->size_cells;

	if (parent->address_cells > 2 || parent->size_cells > 2 || cells == 0 || node->reg.bytes / 4 < cells) {
		walk->error = "device tree: a device has no usable reg property";
		return range;
	}
	range.base = fdt_cells(&node->reg, 0, parent->address_cells);
	range.bytes = fdt_cells(&node->reg, parent->address_cells, parent->size_cells);
	if (range.base + range.bytes < range.base) {
		walk->error = "device tree: a device's registers wrap around";
		range.bytes = 0;
	}
	return range;
}

static void add_hart(struct walk *walk, const struct node *node, const struct node *parent)
{
	uint64_t id = fdt_cells(&node->reg, 0, parent->address_cells > 2 ? 0 : parent->address_cells);

	if (id >= HZ_MAX_HARTS || walk->hart_mask >> id & 1) {
		walk->error = "device tree: hart ids must be distinct and below 64";
		return;
	}
	walk->hart_mask |= 1ull << id;
	walk->machine->harts++;
}

static void add_virtio(struct walk *walk, const struct node *node, const struct node *parent)
{
	struct machine *m = walk->machine;

	if (m->virtio_count < MACHINE_MAX_VIRTIO)
		m->virtio[m->virtio_count++] = reg_of(walk, node, parent).base;
}

/* PCI ranges: child address (3 cells: flags, high, low), CPU address in the parent's cells, size in the node's cells. */
static void add_pci(struct walk *walk, const struct node *node, const struct node *parent)
{
	struct machine *m = walk->machine;
	uint32_t cpu = parent->address_cells, entry = PCI_ADDRESS_CELLS + cpu + node->size_cells;

	m->ecam = reg_of(walk, node, parent);
	if (node->address_cells != PCI_ADDRESS_CELLS || node->size_cells > 2 || cpu > 2) {
		walk->error = "device tree: PCI bridge with unknown cell sizes";
		return;
	}
	for (uint32_t at = 0; at + entry <= node->ranges.bytes / 4; at += entry) {
		uint32_t space = fdt_cell(&node->ranges, at) >> 24 & 3;
		struct machine_window window = {
			.pci_base = fdt_cells(&node->ranges, at + 1, 2),
			.cpu_base = fdt_cells(&node->ranges, at + PCI_ADDRESS_CELLS, cpu),
			.bytes = fdt_cells(&node->ranges, at + PCI_ADDRESS_CELLS + cpu, node->size_cells),
		};
		if (space == PCI_SPACE_MEM32)
			m->mem32 = window;
		else if (space == PCI_SPACE_MEM64)
			m->mem64 = window;
	}
}

static void keep_bootargs(struct machine *m, const struct fdt_item *bootargs)
{
	uint32_t n = bootargs->bytes < MACHINE_BOOTARGS_BYTES ? bootargs->bytes : MACHINE_BOOTARGS_BYTES - 1;

	memcpy(m->bootargs, bootargs->data, n);
	m->bootargs[n] = 0;
}

static void add_device(struct walk *walk, const struct node *node, const struct node *parent)
{
	struct machine *m = walk->machine;
	const struct fdt_item *compatible = &node->compatible;

	if (fdt_has_string(compatible, "virtio,mmio"))
		add_virtio(walk, node, parent);
	else if (fdt_has_string(compatible, "pci-host-ecam-generic"))
		add_pci(walk, node, parent);
	else if (fdt_has_string(compatible, "ns16550a"))
		m->uart = reg_of(walk, node, parent);
	else if (fdt_has_string(compatible, "sifive,clint0") || fdt_has_string(compatible, "riscv,clint0"))
		m->clint = reg_of(walk, node, parent);
	else if (fdt_has_string(compatible, "sifive,test0") || fdt_has_string(compatible, "sifive,test1"))
		m->finisher = reg_of(walk, node, parent);
}

static void complete_node(struct walk *walk)
{
	struct node *node = &walk->node[walk->depth], *parent = node - 1;

	if (walk->depth == 0 || node->complete)
		return;
	node->complete = 1;
	if (fdt_has_string(&node->device_type, "cpu"))
		add_hart(walk, node, parent);
	else if (fdt_has_string(&node->device_type, "memory"))
		walk->machine->ram = reg_of(walk, node, parent);
	else
		add_device(walk, node, parent);
	if (node->bootargs.bytes)
		keep_bootargs(walk->machine, &node->bootargs);
	if (node->timebase.bytes)
		walk->machine->timebase_hz = fdt_cells(&node->timebase, 0, node->timebase.bytes >= 8 ? 2 : 1);
}

static void enter_node(struct walk *walk, const char *name)
{
	complete_node(walk);
	if (walk->depth == MAX_DEPTH) {
		walk->error = "device tree: nested too deeply";
		return;
	}
	/* Defaults of a node: Devicetree Specification 2.3.5. */
	walk->node[++walk->depth] = (struct node){ .name = name, .address_cells = 2, .size_cells = 1 };
}

static void leave_node(struct walk *walk)
{
	complete_node(walk);
	if (walk->depth == 0)
		walk->error = "device tree: a node ends that never began";
	else
		walk->depth--;
}

static const char *check(const struct walk *walk)
{
	const struct machine *m = walk->machine;

	if (walk->error)
		return walk->error;
	if (m->harts == 0 || walk->hart_mask != (m->harts == 64 ? UINT64_MAX : (1ull << m->harts) - 1))
		return "device tree: hart ids do not count up from 0";
	if (!m->ram.bytes)
		return "device tree: no memory";
	if (!m->uart.bytes || !m->finisher.bytes)
		return "device tree: no UART or no test finisher";
	if (!m->clint.bytes || !m->timebase_hz || m->timebase_hz > 1000000000)
		return "device tree: no CLINT, or no timebase frequency up to 1 GHz";
	return NULL;
}

const char *machine_read(struct machine *machine, const void *blob, size_t readable)
{
	struct walk walk = { .machine = machine };
	struct fdt fdt;
	const char *error = fdt_open(&fdt, blob, readable);

	if (error)
		return error;
	memset(machine, 0, sizeof(*machine));
	while (!walk.error) {
		struct fdt_item item = fdt_next(&fdt);

		if (item.token == FDT_DONE)
			return walk.depth ? "device tree: a node never ends" : check(&walk);
		if (item.token == FDT_BAD)
			return "device tree: broken structure block";
		if (item.token == FDT_NODE)
			enter_node(&walk, item.name);
		else if (item.token == FDT_NODE_END)
			leave_node(&walk);
		else if (walk.depth)
			keep_property(&walk.node[walk.depth], &item);
	}
	return walk.error;
}
