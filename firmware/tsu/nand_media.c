/* The media: flash rules, faults and power cuts over an image in memory. */
#include "tsu/nand_media.h"

#include <string.h>

#include "tsu/nand_checksum.h"
#include "tsu/nand_errors.h"
#include "tsu/nand_format.h"
#include "tsu/nand_history.h"

enum dice { DICE_PROGRAM = 1, DICE_ERASE, DICE_READ, DICE_RETRY, DICE_TEAR, DICE_BITS };
enum kind { KIND_PROGRAM, KIND_ERASE, KIND_READ };
enum { PPB = 1000000000 };

/* One block under the hand: its table entry and the records of its sectors. */
struct place {
	struct hz_nand_block *block;
	struct hz_oob *oob;
	uint8_t *data;
	uint32_t flat, region, sector;
};

/* A killed QEMU has done all stores up to some instruction, and none after it: program order is enough. */
static void crash_order(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static struct nand_media *media_of(struct nand *nand)
{
	return (struct nand_media *)nand;
}

static struct place place_of(struct nand_media *media, struct flash_addr addr)
{
	uint32_t flat = addr.plane_index * media->nand.cfg->blocks_per_plane + addr.block;
	uint64_t sector = (uint64_t)flat * media->oob_per_block + addr.sector;
	uint64_t stored = ((uint64_t)addr.plane_index * media->data_blocks + addr.block) * media->data_sectors + addr.sector;

	return (struct place){
		.block = &media->blocks[flat],
		.oob = &media->oob[sector],
		.data = addr.block < media->data_blocks ? media->data + stored * HZ_SECTOR_BYTES : NULL,
		.flat = flat,
		.region = addr.block >= media->nand.map->slc_superblocks,
		.sector = addr.sector,
	};
}

static enum nand_status refuse(struct nand_media *media, const char *rule)
{
	if (!media->policy.refused)
		lt_fail(rule);
	media->policy.refused(media->policy.ctx, rule);
	return NAND_REFUSED;
}

/* Dice whose outcome depends on what is done to which cells, never on the order in which harts do it. */
static uint64_t throw_dice(const struct nand_media *media, enum dice kind, const struct place *at, uint64_t salt)
{
	uint64_t cells = nand_mix((uint64_t)media->nand.cfg->seed << 8 | kind, (uint64_t)at->flat << 32 | at->block->erase_count);

	return nand_mix(cells, salt);
}

static bool dice_say(const struct nand_media *media, enum dice kind, const struct place *at, uint64_t salt, uint32_t ppb)
{
	return ppb && throw_dice(media, kind, at, salt) % PPB < ppb;
}

/* Is this the chosen one of its kind? */
static bool is_number(struct nand_media *media, enum kind kind, uint32_t number)
{
	return number && lt_add(&media->kind_operations[kind], 1) + 1 == number;
}

static bool die_failed(const struct nand_media *media, struct flash_addr addr)
{
	return media->nand.cfg->failed_die == addr.die_index + 1u;
}

static void media_power_off(struct nand *nand)
{
	struct nand_media *media = media_of(nand);

	if (lt_swap(&media->off, 1) == 0 && media->policy.power_lost)
		media->policy.power_lost(media->policy.ctx);
}

enum cut { CUT_NONE, CUT_BEFORE, CUT_INSIDE };

/* Number this operation and see whether power goes in it. */
static enum cut count_operation(struct nand_media *media, uint64_t *number)
{
	*number = lt_add(&media->operations, 1) + 1;
	if (*number != media->policy.power_cut_op)
		return CUT_NONE;
	return media->policy.cut_before ? CUT_BEFORE : CUT_INSIDE;
}

/* --- program --- */

static const char *program_rule_broken(const struct nand_media *media, const struct place *at, uint32_t count,
				       const struct hz_oob *oob)
{
	uint32_t unit = media->unit[at->region], page = 1u << media->page_shift;

	if (at->block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN))
		return "Program of a bad block.";
	if (at->block->flags & HZ_BLOCK_ERASING)
		return "Program of a block whose erase did not end.";
	if (count == 0 || at->sector + count > media->sectors_per_block[at->region])
		return "Program beyond the end of a block.";
	if (at->sector < at->block->write_sector)
		return "Program of a sector that was programmed since the erase.";
	if (at->sector > at->block->write_sector)
		return "Program out of order: it leaves a gap in the block.";
	if (at->region == 1 && count != unit)
		return "Program of a normal block that is not one whole program unit.";
	if (at->region == 0 && count % unit)
		return "Program of an SLC block in less than its partial program unit.";
	if (at->region == 0 && count > unit && (at->sector & (page - 1)) + count > page)
		return "Program of an SLC block across a page.";
	for (uint32_t i = 0; i < count; i++)
		if (oob[i].kind == HZ_OOB_ERASED)
			return "Program with an OOB record that says erased.";
	return NULL;
}

/* Data first, then OOB, kind last: see the header. */
static void write_sector(struct place *at, uint32_t i, const struct sgl *data, uint32_t from, const struct hz_oob *wanted)
{
	struct hz_oob *oob = &at->oob[i], record = *wanted;
	uint8_t *store = at->data ? at->data + (uint64_t)i * HZ_SECTOR_BYTES : NULL;

	record.flags = data && store ? 0 : HZ_OOB_ZERO;
	if (!record.flags)
		sgl_read(data, from + i * HZ_SECTOR_BYTES, store, HZ_SECTOR_BYTES);
	record.checksum = nand_checksum(record.flags ? NULL : store, &record);
	oob->sequence = record.sequence;
	oob->lpa = record.lpa;
	oob->generation = record.generation;
	oob->checksum = record.checksum;
	oob->stream = record.stream;
	oob->flags = record.flags;
	crash_order();
	oob->kind = record.kind;
}

/* A half-programmed unit: a prefix that happens to read well (none or some, by dice), the rest with a checksum that cannot match. */
static void tear_program(struct place *at, uint32_t count, const struct sgl *data, uint32_t from, const struct hz_oob *oob)
{
	uint64_t luck = nand_mix((uint64_t)at->flat << 32 | at->block->erase_count, (uint64_t)DICE_TEAR << 32 | at->sector);
	uint32_t good = (uint32_t)(luck % (2 * count));

	at->block->write_sector = at->sector + count;
	for (uint32_t i = 0; i < count; i++) {
		write_sector(at, i, data, from, &oob[i]);
		if (i >= good)
			at->oob[i].checksum ^= 0xffffffffu;
	}
	if (good >= count)
		at->oob[count - 1].checksum ^= 0xffffffffu;
}

static enum nand_status program_cells(struct nand_media *media, struct flash_addr addr, struct place *at, uint32_t count,
				      const struct sgl *data, uint32_t from, const struct hz_oob *oob)
{
	uint64_t number;
	enum cut cut = count_operation(media, &number);

	if (cut != CUT_NONE) {
		if (cut == CUT_INSIDE)
			tear_program(at, count, data, from, oob);
		media_power_off(&media->nand);
		return NAND_POWER_OFF;
	}
	if (is_number(media, KIND_PROGRAM, media->nand.cfg->fail_program_at) || number == media->policy.fail_op ||
	    die_failed(media, addr) || dice_say(media, DICE_PROGRAM, at, at->sector, media->nand.cfg->program_fail_ppb)) {
		tear_program(at, count, data, from, oob);
		return NAND_PROGRAM_FAILED;
	}
	at->block->write_sector = at->sector + count;
	crash_order();
	for (uint32_t i = 0; i < count; i++)
		write_sector(at, i, data, from, &oob[i]);
	return NAND_OK;
}

static enum nand_status media_program(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data,
				      uint32_t at, const struct hz_oob *oob)
{
	struct nand_media *media = media_of(nand);
	struct place place = place_of(media, addr);
	enum nand_status status = NAND_POWER_OFF;
	const char *rule;

	clock_freeze();
	rule = program_rule_broken(media, &place, count, oob);
	if (!lt_load(&media->off))
		status = rule ? refuse(media, rule) : program_cells(media, addr, &place, count, data, at, oob);
	clock_thaw();
	return status;
}

/* --- read --- */

static bool sector_lost(const struct place *at, uint32_t i)
{
	const struct hz_oob *oob = &at->oob[i];

	if (oob->kind == HZ_OOB_ERASED)
		return at->sector + i < at->block->write_sector;
	return nand_checksum(oob->flags & HZ_OOB_ZERO ? NULL : at->data + (uint64_t)i * HZ_SECTOR_BYTES, oob) != oob->checksum;
}

static bool page_lost(const struct nand_media *media, const struct place *at, uint32_t i)
{
	return dice_say(media, DICE_READ, at, (at->sector + i) >> media->page_shift, media->nand.cfg->read_fail_ppb);
}

static bool read_sector(struct nand_media *media, struct place *at, uint32_t i, const struct sgl *data, uint32_t to,
			struct hz_oob *oob, bool dead)
{
	bool lost = dead || (at->block->flags & HZ_BLOCK_ERASING) || sector_lost(at, i) || page_lost(media, at, i);

	if (oob) {
		oob[i] = at->oob[i];
		if (lost)
			oob[i].kind = HZ_OOB_ERASED;
	}
	if (data && (lost || at->oob[i].kind == HZ_OOB_ERASED || (at->oob[i].flags & HZ_OOB_ZERO)))
		sgl_zero(data, to + i * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES);
	else if (data)
		sgl_write(data, to + i * HZ_SECTOR_BYTES, at->data + (uint64_t)i * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES);
	return !lost;
}

static enum nand_status read_cells(struct nand_media *media, struct flash_addr addr, struct place *at, uint32_t count,
				   const struct sgl *data, uint32_t to, struct hz_oob *oob)
{
	bool dead = is_number(media, KIND_READ, media->nand.cfg->fail_read_at) || die_failed(media, addr);
	enum nand_status status = NAND_OK;

	if (count == 0 || at->sector + count > media->sectors_per_block[at->region])
		return refuse(media, "Read beyond the end of a block.");
	for (uint32_t i = 0; i < count; i++)
		if (!read_sector(media, at, i, data, to, oob, dead))
			status = NAND_UNCORRECTABLE;
	at->block->read_count++;
	return status;
}

static enum nand_status media_read(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				   struct hz_oob *oob)
{
	struct nand_media *media = media_of(nand);
	struct place place = place_of(media, addr);
	enum nand_status status = NAND_POWER_OFF;

	clock_freeze();
	if (!lt_load(&media->off))
		status = read_cells(media, addr, &place, count, data, at, oob);
	clock_thaw();
	return status;
}

/* The weakest sector decides. Its luck is that of its cells: it stays until the next erase. */
static uint32_t error_tries(const struct nand_media *media, const struct place *at, uint32_t count, uint64_t at_ns, bool *lost)
{
	uint64_t rate = nand_error_rate(media->nand.cfg, at->block, media->epoch_ns + at_ns), worst = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t errors = nand_bit_errors(rate, throw_dice(media, DICE_BITS, at, at->sector + i));

		worst = errors > worst ? errors : worst;
	}
	return nand_tries_for(media->nand.cfg, worst, lost);
}

/* These dice see how often the block was read, so the same cells may need a retry once and none the next time. */
static uint32_t chance_tries(const struct nand_media *media, const struct place *at)
{
	const struct hz_device_config *cfg = media->nand.cfg;
	uint32_t tries = 0;

	while (tries < cfg->read_retries && dice_say(media, DICE_RETRY, at, (uint64_t)at->block->read_count << 32 | at->sector << 4 | tries,
						     cfg->read_retry_ppb))
		tries++;
	return tries;
}

static uint32_t media_read_retries(struct nand *nand, struct flash_addr addr, uint32_t count, uint64_t at_ns, bool *lost)
{
	struct nand_media *media = media_of(nand);
	struct place at = place_of(media, addr);
	uint32_t tries;

	clock_freeze();
	*lost = false;
	tries = chance_tries(media, &at);
	if (nand->cfg->ecc_bits && at.oob->kind != HZ_OOB_ERASED)
		tries += error_tries(media, &at, count, at_ns, lost);
	clock_thaw();
	return tries;
}

static void media_programmed(struct nand *nand, struct flash_addr addr, uint64_t at_ns)
{
	struct hz_nand_block *block = place_of(media_of(nand), addr).block;

	if (!block->program_ns)
		block->program_ns = media_of(nand)->epoch_ns + at_ns;
}

/* --- erase --- */

static void erase_cells(struct place *at)
{
	uint32_t used = at->block->write_sector;

	at->block->flags |= HZ_BLOCK_ERASING;
	crash_order();
	memset(at->oob, 0, used * sizeof(*at->oob));
	crash_order();
	at->block->erase_count++;
	at->block->write_sector = 0;
	at->block->read_count = 0;
	at->block->program_ns = 0;
	crash_order();
	at->block->flags &= ~(uint32_t)HZ_BLOCK_ERASING;
}

static bool erase_fails(struct nand_media *media, struct flash_addr addr, const struct place *at, uint64_t number)
{
	const struct hz_device_config *cfg = media->nand.cfg;
	uint32_t endurance = at->region ? cfg->normal.endurance : cfg->slc.endurance;

	return is_number(media, KIND_ERASE, cfg->fail_erase_at) || number == media->policy.fail_op || die_failed(media, addr) ||
	       (endurance && at->block->erase_count >= endurance) ||
	       dice_say(media, DICE_ERASE, at, 0, cfg->erase_fail_ppb);
}

static enum nand_status try_erase(struct nand_media *media, struct flash_addr addr, struct place *at)
{
	uint64_t number;
	enum cut cut;

	if (at->block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN))
		return refuse(media, "Erase of a bad block.");
	cut = count_operation(media, &number);
	if (cut != CUT_NONE) {
		if (cut == CUT_INSIDE)
			at->block->flags |= HZ_BLOCK_ERASING;
		media_power_off(&media->nand);
		return NAND_POWER_OFF;
	}
	if (erase_fails(media, addr, at, number)) {
		at->block->flags |= HZ_BLOCK_ERASING;
		return NAND_ERASE_FAILED;
	}
	erase_cells(at);
	return NAND_OK;
}

static enum nand_status media_erase(struct nand *nand, struct flash_addr addr)
{
	struct nand_media *media = media_of(nand);
	struct place place;
	enum nand_status status = NAND_POWER_OFF;

	clock_freeze();
	addr.sector = 0;
	place = place_of(media, addr);
	if (!lt_load(&media->off))
		status = try_erase(media, addr, &place);
	clock_thaw();
	return status;
}

/* --- the rest --- */

static const struct hz_nand_block *media_block(struct nand *nand, struct flash_addr addr)
{
	return place_of(media_of(nand), addr).block;
}

static void media_retire(struct nand *nand, struct flash_addr addr)
{
	if (!lt_load(&media_of(nand)->off))
		place_of(media_of(nand), addr).block->flags |= HZ_BLOCK_BAD_GROWN;
}

static void media_tear(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t from,
		       const struct hz_oob *oob)
{
	struct nand_media *media = media_of(nand);
	struct place at;

	if (!count)
		addr.sector = 0;
	at = place_of(media, addr);
	if (lt_load(&media->off))
		return;
	clock_freeze();
	if (!count)
		at.block->flags |= HZ_BLOCK_ERASING;
	else if (!program_rule_broken(media, &at, count, oob))
		tear_program(&at, count, data, from, oob);
	clock_thaw();
}

static const struct nand_ops media_ops = {
	.read = media_read,
	.program = media_program,
	.erase = media_erase,
	.block = media_block,
	.retire = media_retire,
	.read_retries = media_read_retries,
	.programmed = media_programmed,
	.tear = media_tear,
	.history = nand_history_read,
	.shut_down = nand_history_shut_down,
	.power_off = media_power_off,
};

const char *nand_media_init(struct nand_media *media, const struct hz_device_config *cfg, const struct flash_map *map,
			    void *base, uint64_t bytes, const struct nand_policy *policy)
{
	const struct hz_shape *shape = &map->shape;
	const char *error;

	memset(media, 0, sizeof(*media));
	media->nand = (struct nand){ &media_ops, cfg, map, 0 };
	if (policy) {
		media->policy = *policy;
		media->nand.power_cut_ns = policy->power_cut_ns;
	}
	media->oob_per_block = cfg->pages_per_block * shape->page_sectors;
	media->sectors_per_block[0] = shape->slc_pages_per_block * shape->page_sectors;
	media->sectors_per_block[1] = media->oob_per_block;
	media->unit[0] = cfg->slc_program_sectors;
	media->unit[1] = shape->unit_sectors;
	while (1u << media->page_shift < shape->page_sectors)
		media->page_shift++;
	error = nand_format_open(media, base, bytes);
	if (!error)
		nand_history_begin(media);
	return error;
}

uint64_t nand_media_operations(const struct nand_media *media)
{
	return lt_load(&media->operations);
}
