/* The media: flash rules, faults and power cuts over an image in memory. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_media.h"

#include <string.h>

#include "nand/nand_block.h"
#include "nand/nand_checksum.h"
#include "nand/nand_errors.h"
#include "nand/nand_format.h"
#include "nand/nand_header.h"
#include "nand/nand_history.h"
#include "nand/nand_namespaces.h"
#include "nand/nand_oob.h"

enum dice { DICE_PROGRAM = 1, DICE_ERASE, DICE_READ, DICE_RETRY, DICE_TEAR, DICE_BITS };
enum kind { KIND_PROGRAM, KIND_ERASE, KIND_READ };
enum { PPB = 1000000000 };

/* One block under the hand: its table entry, and the first sector's record and data. */
struct place {
	struct hz_nand_block *block;
	uint64_t oob;  /* number of the record */
	uint8_t *data; /* NULL: none is kept */
	uint32_t flat, region, sector;
};

static struct nand_media *media_of(struct nand *nand) { return (struct nand_media *)nand; }

static struct place place_of(struct nand_media *media, struct flash_addr addr)
{
	uint32_t flat = addr.plane_index * media->nand.cfg->blocks_per_plane + addr.block;
	uint64_t stored = ((uint64_t)addr.plane_index * media->data_blocks + addr.block) * media->data_sectors + addr.sector;

	return (struct place){
		.block = &media->blocks[flat],
		.oob = (uint64_t)flat * media->oob_per_block + addr.sector,
		.data = addr.block < media->data_blocks ? media->data + stored * HZ_SECTOR_BYTES : NULL,
		.flat = flat,
		.region = addr.block >= media->nand.map->slc_superblocks,
		.sector = addr.sector,
	};
}

static enum nand_status refuse_operation(struct nand_media *media, const char *rule)
{
	if (!media->policy.refused)
		lt_fail(rule);
	media->policy.refused(media->policy.ctx, rule);
	return NAND_REFUSED;
}

/* Dice that depend on the operation and its cells, never on the order of harts. */
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
	return number && !media->nand.belated && lt_add(&media->kind_operations[kind], 1) + 1 == number;
}

static bool die_failed(const struct nand_media *media, struct flash_addr addr)
{
	return media->nand.cfg->failed_die == addr.die_index + 1u;
}

static void media_power_off(struct nand *nand)
{
	struct nand_media *media = media_of(nand);

	if (lt_swap(&media->off, 1))
		return;
	clock_freeze();
	nand_keep_nothing(nand);
	clock_thaw();
	if (media->policy.power_lost)
		media->policy.power_lost(media->policy.ctx);
}

enum cut { CUT_NONE, CUT_BEFORE, CUT_INSIDE, CUT_OUTSIDE };

/* Number this operation and see whether power goes in it. */
static enum cut count_operation(struct nand_media *media, uint64_t *number)
{
	*number = 0;
	if (media->nand.belated)
		return CUT_NONE;
	*number = lt_add(&media->operations, 1) + 1;
	if (*number == media->policy.capacitors_empty_op)
		return CUT_INSIDE;
	if (*number != media->policy.power_cut_op)
		return CUT_NONE;
	if (media->nand.capacitors)
		return CUT_OUTSIDE;
	return media->policy.cut_before ? CUT_BEFORE : CUT_INSIDE;
}

/* --- program --- */

static const char *program_rule_broken(const struct nand_media *media, const struct place *at, uint32_t count, const struct hz_oob *oob)
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

/* The sector's tuple in the image, or NULL: it has none. */
static uint64_t *tuple_of(const struct nand_media *media, const struct place *at, uint32_t i, const struct hz_nand_oob *record)
{
	bool of_host = record->kind == HZ_OOB_DATA || record->kind == HZ_OOB_UPDATE || record->kind == HZ_OOB_WINDOW;
	bool has = media->tuples && at->data && of_host && !(record->flags & HZ_OOB_ZERO);

	return has ? media->tuples + ((uint64_t)(at->data - media->data) >> HZ_SECTOR_SHIFT) + i : NULL;
}

/* Data first, then the record: see the header. */
static void write_sector(struct nand_media *media, const struct place *at, uint32_t i, const struct sgl *data, uint32_t from,
			 const struct hz_oob *wanted)
{
	uint8_t *store = at->data ? at->data + (uint64_t)i * HZ_SECTOR_BYTES : NULL;
	uint32_t flags = (data && store ? 0 : HZ_OOB_ZERO) | (wanted->flags & (HZ_OOB_LOST | HZ_OOB_MARKED));
	struct hz_nand_oob record = {
		.sequence = wanted->sequence,
		.kind = wanted->kind,
		.stream = wanted->stream,
		.flags = flags,
		.lpa = wanted->lpa,
		.generation = wanted->generation,
	};
	uint64_t *tuple = tuple_of(media, at, i, &record);

	if (!(flags & HZ_OOB_ZERO))
		sgl_read(data, from + i * HZ_SECTOR_BYTES, store, HZ_SECTOR_BYTES);
	if (tuple)
		memcpy(tuple, sgl_behind(data, from + i * HZ_SECTOR_BYTES), HZ_TUPLE_BYTES);
	record.data_checksum = nand_data_checksum(flags & HZ_OOB_ZERO ? NULL : store, tuple ? *tuple : 0, &record);
	nand_crash_order();
	nand_oob_store(media, at->oob + i, &record);
}

static void raise_write_sector(struct nand_media *media, const struct place *at, uint32_t count)
{
	nand_clean_mark_end(media, at->flat);
	at->block->write_sector = at->sector + count;
	nand_block_store(media, at->flat);
	nand_crash_order();
}

/* A half-programmed unit: a prefix that happens to read well (none or some, by dice), the rest with impossible records. */
static HZ_FROZEN void tear_program(struct nand_media *media, const struct place *at, uint32_t count, const struct sgl *data, uint32_t from,
				   const struct hz_oob *oob)
{
	uint64_t luck = nand_mix((uint64_t)at->flat << 32 | at->block->erase_count, (uint64_t)DICE_TEAR << 32 | at->sector);
	uint32_t good = (uint32_t)(luck % (2 * count));

	raise_write_sector(media, at, count);
	for (uint32_t i = 0; i < count; i++) {
		write_sector(media, at, i, data, from, &oob[i]);
		if (i >= good || i + 1 == count)
			nand_oob_spoil(media, at->oob + i);
	}
}

static enum nand_status program_cells(struct nand_media *media, struct flash_addr addr, struct place *at, uint32_t count,
				      const struct sgl *data, uint32_t from, const struct hz_oob *oob)
{
	uint64_t number;
	enum cut cut = count_operation(media, &number);

	if (cut == CUT_BEFORE || cut == CUT_INSIDE) {
		if (cut == CUT_INSIDE)
			tear_program(media, at, count, data, from, oob);
		media_power_off(&media->nand);
		return NAND_POWER_OFF;
	}
	if (is_number(media, KIND_PROGRAM, media->nand.cfg->fail_program_at) || (number && number == media->policy.fail_op) ||
	    die_failed(media, addr) || dice_say(media, DICE_PROGRAM, at, at->sector, media->nand.cfg->program_fail_ppb)) {
		tear_program(media, at, count, data, from, oob);
		return cut == CUT_OUTSIDE ? NAND_POWER_WENT : NAND_PROGRAM_FAILED;
	}
	raise_write_sector(media, at, count);
	for (uint32_t i = 0; i < count; i++)
		write_sector(media, at, i, data, from, &oob[i]);
	nand_crash_order();
	at->block->ended = at->block->write_sector;
	return cut == CUT_OUTSIDE ? NAND_POWER_WENT : NAND_OK;
}

static enum nand_status media_program(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				      const struct hz_oob *oob)
{
	struct nand_media *media = media_of(nand);
	struct place place = place_of(media, addr);
	enum nand_status status = NAND_POWER_OFF;
	const char *rule;

	clock_freeze();
	rule = program_rule_broken(media, &place, count, oob);
	if (!lt_load(&media->off))
		status = rule ? refuse_operation(media, rule) : program_cells(media, addr, &place, count, data, at, oob);
	clock_thaw();
	return status;
}

/* --- read --- */

static bool page_lost(const struct nand_media *media, const struct place *at, uint32_t i)
{
	return dice_say(media, DICE_READ, at, (at->sector + i) >> media->page_shift, media->nand.cfg->read_fail_ppb);
}

/* Readable parts of a sector. */
enum found { FOUND_ERASED, FOUND_NOTHING, FOUND_RECORD, FOUND_ALL };

static bool data_good(const struct nand_media *media, const struct place *at, uint32_t i, const struct hz_nand_oob *record)
{
	const uint64_t *tuple = tuple_of(media, at, i, record);

	if (record->flags & HZ_OOB_ZERO)
		return nand_data_checksum(NULL, 0, record) == record->data_checksum;
	return at->data &&
	       nand_data_checksum(at->data + (uint64_t)i * HZ_SECTOR_BYTES, tuple ? *tuple : 0, record) == record->data_checksum;
}

static enum found look_at_record(struct nand_media *media, const struct place *at, uint32_t i, struct hz_nand_oob *record)
{
	if (at->block->flags & HZ_BLOCK_ERASING)
		return FOUND_NOTHING;
	if (at->sector + i >= at->block->write_sector)
		return FOUND_ERASED;
	return nand_oob_load(media, at->oob + i, record) ? FOUND_ALL : FOUND_NOTHING;
}

static enum found look_at_sector(struct nand_media *media, const struct place *at, uint32_t i, struct hz_nand_oob *record)
{
	enum found found = look_at_record(media, at, i, record);

	if (found != FOUND_ALL)
		return found;
	if (record->flags & HZ_OOB_LOST || page_lost(media, at, i) || !data_good(media, at, i, record))
		return FOUND_RECORD;
	return FOUND_ALL;
}

static struct hz_oob oob_of(const struct hz_nand_oob *record, enum found found)
{
	if (found < FOUND_RECORD)
		return (struct hz_oob){ .kind = HZ_OOB_ERASED };
	return (struct hz_oob){
		.sequence = record->sequence,
		.lpa = record->lpa,
		.generation = record->generation,
		.kind = record->kind,
		.stream = record->stream,
		.flags = (uint16_t)(record->flags | (found == FOUND_RECORD ? HZ_OOB_LOST : 0)),
	};
}

/* A failing read finds `most` at most. */
static enum nand_status read_sector(struct nand_media *media, const struct place *at, uint32_t i, const struct sgl *data, uint32_t to,
				    struct hz_oob *oob, enum found most)
{
	struct hz_nand_oob record = { .kind = HZ_OOB_ERASED };
	enum found found = look_at_sector(media, at, i, &record);

	found = found > most ? most : found;
	if (oob)
		oob[i] = oob_of(&record, found);
	if (data && (found != FOUND_ALL || (record.flags & HZ_OOB_ZERO)))
		sgl_zero(data, to + i * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES);
	else if (data)
		sgl_write(data, to + i * HZ_SECTOR_BYTES, at->data + (uint64_t)i * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES);
	if (data && found == FOUND_ALL && tuple_of(media, at, i, &record))
		memcpy(sgl_behind(data, to + i * HZ_SECTOR_BYTES), tuple_of(media, at, i, &record), HZ_TUPLE_BYTES);
	if (most != FOUND_ALL || (found != FOUND_ALL && found != FOUND_ERASED))
		return NAND_UNCORRECTABLE;
	return record.flags & HZ_OOB_MARKED && !oob ? NAND_MARKED : NAND_OK;
}

/* A dead die returns nothing; a read that fails by chance loses the data only. */
static enum found most_readable(struct nand_media *media, struct flash_addr addr)
{
	if (is_number(media, KIND_READ, media->nand.cfg->fail_read_at))
		return FOUND_RECORD;
	return die_failed(media, addr) ? FOUND_NOTHING : FOUND_ALL;
}

/* noinline: its registers are saved in the freeze. */
static HZ_FROZEN __attribute__((noinline)) enum nand_status read_cells(struct nand_media *media, struct flash_addr addr, struct place *at,
								       uint32_t count, const struct sgl *data, uint32_t to,
								       struct hz_oob *oob)
{
	enum found most = most_readable(media, addr);
	enum nand_status status = NAND_OK;

	if (count == 0 || at->sector + count > media->sectors_per_block[at->region])
		return refuse_operation(media, "Read beyond the end of a block.");
	for (uint32_t i = 0; i < count; i++) {
		enum nand_status one = read_sector(media, at, i, data, to, oob, most);

		if (one != NAND_OK && status != NAND_UNCORRECTABLE)
			status = one;
	}
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

/* Not inline, as read_cells. */
static HZ_FROZEN __attribute__((noinline)) void records_of_cells(struct nand_media *media, struct place *at, uint32_t count, bool dead,
								 struct hz_oob *oob)
{
	for (uint32_t i = 0; i < count; i++) {
		struct hz_nand_oob record = { .kind = HZ_OOB_ERASED };
		enum found found = dead ? FOUND_NOTHING : look_at_record(media, at, i, &record);

		oob[i] = oob_of(&record, found);
	}
	at->block->read_count++;
}

static void media_records(struct nand *nand, struct flash_addr addr, uint32_t count, struct hz_oob *oob)
{
	struct nand_media *media = media_of(nand);
	struct place place = place_of(media, addr);
	bool dead = lt_load(&media->off) || die_failed(media, addr);

	clock_freeze();
	records_of_cells(media, &place, count, dead, oob);
	clock_thaw();
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

	while (tries < cfg->read_retries &&
	       dice_say(media, DICE_RETRY, at, (uint64_t)at->block->read_count << 32 | at->sector << 4 | tries, cfg->read_retry_ppb))
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
	if (nand->cfg->ecc_bits && addr.sector < at.block->write_sector)
		tries += error_tries(media, &at, count, at_ns, lost);
	clock_thaw();
	return tries;
}

static void media_programmed(struct nand *nand, struct flash_addr addr, uint64_t at_ns)
{
	struct nand_media *media = media_of(nand);
	struct place at = place_of(media, addr);

	if (at.block->program_ns)
		return;
	clock_freeze();
	at.block->program_ns = media->epoch_ns + at_ns;
	nand_block_store(media, at.flat);
	clock_thaw();
}

/* --- erase --- */

static void add_flag(struct nand_media *media, const struct place *at, uint32_t flag)
{
	at->block->flags |= flag;
	nand_block_store(media, at->flat);
}

static void begin_erase(struct nand_media *media, const struct place *at)
{
	nand_clean_mark_end(media, at->flat);
	add_flag(media, at, HZ_BLOCK_ERASING);
}

static void erase_cells(struct nand_media *media, const struct place *at)
{
	begin_erase(media, at);
	nand_crash_order();
	nand_oob_erase(media, at->oob, at->block->write_sector);
	nand_crash_order();
	at->block->erase_count++;
	at->block->write_sector = at->block->ended = 0;
	at->block->read_count = 0;
	at->block->program_ns = 0;
	at->block->flags &= ~(uint32_t)HZ_BLOCK_ERASING;
	nand_block_store(media, at->flat);
}

static bool erase_fails(struct nand_media *media, struct flash_addr addr, const struct place *at, uint64_t number)
{
	const struct hz_device_config *cfg = media->nand.cfg;
	uint32_t endurance = at->region ? cfg->normal.endurance : cfg->slc.endurance;

	return is_number(media, KIND_ERASE, cfg->fail_erase_at) || number == media->policy.fail_op || die_failed(media, addr) ||
	       (endurance && at->block->erase_count >= endurance) || dice_say(media, DICE_ERASE, at, 0, cfg->erase_fail_ppb);
}

static enum nand_status try_erase(struct nand_media *media, struct flash_addr addr, struct place *at)
{
	uint64_t number;
	enum cut cut;

	if (at->block->flags & (HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_BAD_GROWN))
		return refuse_operation(media, "Erase of a bad block.");
	cut = count_operation(media, &number);
	if (cut == CUT_BEFORE || cut == CUT_INSIDE) {
		if (cut == CUT_INSIDE)
			begin_erase(media, at);
		media_power_off(&media->nand);
		return NAND_POWER_OFF;
	}
	if (cut == CUT_OUTSIDE || erase_fails(media, addr, at, number)) {
		begin_erase(media, at);
		return cut == CUT_OUTSIDE ? NAND_POWER_WENT : NAND_ERASE_FAILED;
	}
	erase_cells(media, at);
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

static const struct hz_nand_block *media_block(struct nand *nand, struct flash_addr addr) { return place_of(media_of(nand), addr).block; }

static void media_retire(struct nand *nand, struct flash_addr addr)
{
	struct nand_media *media = media_of(nand);
	struct place at = place_of(media, addr);

	if (lt_load(&media->off))
		return;
	clock_freeze();
	add_flag(media, &at, HZ_BLOCK_BAD_GROWN);
	clock_thaw();
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
		begin_erase(media, &at);
	else if (!program_rule_broken(media, &at, count, oob))
		tear_program(media, &at, count, data, from, oob);
	clock_thaw();
}

static const struct nand_ops media_ops = {
	.read = media_read,
	.records = media_records,
	.program = media_program,
	.erase = media_erase,
	.block = media_block,
	.retire = media_retire,
	.read_retries = media_read_retries,
	.programmed = media_programmed,
	.tear = media_tear,
	.history = nand_history_read,
	.shut_down = nand_history_shut_down,
	.namespace_state = nand_namespace_read,
	.set_namespace = nand_namespace_write,
	.controller = nand_controller_read,
	.set_controller = nand_controller_write,
	.clean_mark = nand_clean_mark_read,
	.mark_clean = nand_clean_mark_set,
	.power_off = media_power_off,
	.keep = nand_keep,
	.kept = nand_kept,
	.keep_nothing = nand_keep_nothing,
};

const char *nand_media_init(struct nand_media *media, const struct hz_device_config *cfg, const struct flash_map *map, void *base,
			    uint64_t bytes, const struct nand_policy *policy)
{
	const struct hz_shape *shape = &map->shape;
	const char *error;

	memset(media, 0, sizeof(*media));
	media->nand = (struct nand){ .ops = &media_ops, .cfg = cfg, .map = map, .capacitors = cfg->plp_bytes };
	for (uint32_t i = 0; i < cfg->namespaces; i++)
		hz_window_of(cfg, i, &media->window[i]);
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
	media->nand.kept_places = media->kept.places;
	if (!error)
		nand_history_begin(media);
	return error;
}

uint64_t nand_media_operations(const struct nand_media *media) { return lt_load(&media->operations); }
