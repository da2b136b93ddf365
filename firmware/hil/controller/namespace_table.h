/* Namespaces of the controller: the table, and its management commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_NAMESPACE_TABLE_H
#define HIL_CONTROLLER_NAMESPACE_TABLE_H

#include "device_config.h"
#include "port/ftl_port.h"
#include "hil/controller/admin.h"
#include "hil/ports/ports.h"
#include "nand_image.h"

/* The namespaces as the host sees them: existence, size, attachment. Slot i is NSID i + 1, a window of the flash from the device's
 * configuration, with its FTL. */

struct namespace_slot {
	uint64_t capacity, zone_size; /* sectors; of the window */
	uint64_t sectors;             /* as requested by the host, at most `capacity` */
	uint64_t conventional;        /* number of leading LBAs in conventional zones, or of a block namespace */
	uint32_t set;                 /* NVM set */
	uint32_t created;
	enum hz_namespace_state state;
};

struct namespace_table {
	uint32_t count;   /* the largest NSID */
	uint32_t changed; /* attached or no longer attached since the host read the list of these: bit = NSID - 1 */
	struct namespace_slot slot[HZ_MAX_NAMESPACES];
};

/* Before the harts run. */
void namespace_table_init(struct namespace_table *table, const struct hz_device_config *cfg, const struct controller_ops *device);

/* NULL: no namespace can have this NSID (0, too large, all ones). */
static inline struct namespace_slot *namespace_slot(struct namespace_table *table, uint32_t nsid)
{
	return nsid - 1 < table->count ? &table->slot[nsid - 1] : NULL;
}
static inline bool namespace_is_formatting(const struct namespace_slot *slot)
{
	return slot->state == HZ_NAMESPACE_FORMATTING || slot->state == HZ_NAMESPACE_ERASING;
}
static inline bool namespace_is_attached(const struct namespace_slot *slot)
{
	return slot->state == HZ_NAMESPACE_ATTACHED || namespace_is_formatting(slot);
}
static inline bool namespace_exists(const struct namespace_slot *slot)
{
	return namespace_is_attached(slot) || slot->state == HZ_NAMESPACE_DETACHED;
}
enum { HIL_ENDURANCE_GROUP = 1 }; /* all flash */
/* Of an NVM set, or of all (0): the capacity of its slots, or of its free slots. */
uint64_t namespaces_sectors(const struct namespace_table *table, uint32_t set, bool free_only);
/* Change a namespace's state; true if that changes the attached ones. */
bool namespace_set_state(struct namespace_table *table, uint32_t number, enum hz_namespace_state state);
/* Bit = NSID - 1. */
uint32_t namespaces_attached(const struct namespace_table *table);
/* Ascending NSIDs above `above` of attached namespaces, or of existing ones; a page of 4 KiB has room for all. */
void namespaces_list(const struct namespace_table *table, uint32_t above, bool attached, uint32_t *list);
/* Ascending NSIDs of changed namespaces; `take`: clear the changes. */
void namespaces_list_changed(struct namespace_table *table, bool take, uint32_t *list);

/* Namespace Management, Namespace Attachment and Format NVM (base spec 5.23, 5.22, 5.14): one change at a time, since the admin queue
 * waits for its end.
 *
 * A namespace has a slot, a window from the configuration: a creation takes a free slot. A deletion ends the host's commands, as a
 * controller reset does, and then releases everything in its FTL; until that is done the slot stays DELETED, and a creation there does
 * it first. A format does the same with a namespace that stays, and, if it is to, erases its user data; until it is done the slot is
 * FORMATTING, or ERASING, and after a power cut the next enabling of the controller does it first. */

enum namespace_wipe {
	WIPE_DELETES,
	WIPE_FORMATS,
	WIPE_RESUMES /* formats, for no command */,
	WIPE_SANITIZES /* all slots, for no command */
};
struct namespace_change {
	bool busy;
	enum namespace_wipe why;
	struct nvme_sqe sqe; /* the command */
	uint32_t number;     /* of the namespace being wiped */
	uint32_t step;
	bool erases;      /* its user data */
	uint64_t sectors; /* of its successor; 0: none */
	struct ftl_request req;
	struct nvme_dsm_range all_conventional;
	uint8_t *list[1];
};

/* Persistent in struct hz_nand_controller. */
struct sanitize {
	uint8_t state; /* enum nvme_sanitize_state */
	bool exited;   /* … the failure mode */
	uint32_t cdw10;
};

admin_handler admin_namespace_management, admin_namespace_attachment, admin_format_nvm;

struct hil;
/* The controller was enabled: complete the formats that a loss of power has interrupted. No change under way. Clock frozen. */
void namespaces_resume_formats(struct hil *hil);
/* Wipe and erase every slot, one after the other; sanitize_ended follows. No change under way. */
void namespaces_sanitize(struct hil *hil);
/* Share of that which is done, of 65536. */
uint32_t namespaces_sanitized(const struct hil *hil);
/* All slots are erased: interrupted formats and deletions are complete. */
void namespaces_are_sanitized(struct hil *hil);
/* The harts learn whether commands of namespaces are served. */
void namespaces_serve(struct hil *hil, uint8_t sanitize);
/* A change that the admin queue waits for. */
static inline bool namespaces_change_blocks(const struct namespace_change *change) { return change->busy && change->why != WIPE_SANITIZES; }

/* Sanitize (base spec 5.24, 8.21): block erase of all slots in the background. Its state is in the image before anything is erased: a reset
 * does not end it, and after a loss of power the next enabling of the controller begins it again. Until it is done, and after one that failed
 * until the host has left the failure mode, commands outside the list of the specification are refused. */

admin_handler admin_sanitize;
/* The controller was enabled. Before namespaces_resume_formats. Clock frozen. */
void sanitize_resume(struct hil *hil);
void sanitize_ended(struct hil *hil, bool good);
/* Why it refuses this admin command, or NVME_SUCCESS. */
uint16_t sanitize_refuses(const struct hil *hil, const struct nvme_sqe *sqe);
/* SANICAP; the page of log 81h. */
uint32_t sanitize_capabilities(void);
uint32_t sanitize_page(const struct hil *hil, struct nvme_sanitize_log *log);

#endif
