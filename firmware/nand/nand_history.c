/* Power history of the device, in the image's header; a controller has a few bytes of EEPROM for it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_history.h"

#include "nand/nand_header.h"

void nand_history_begin(struct nand_media *media)
{
	struct hz_nand_header *header = media->header;

	clock_freeze();
	media->powered_before_ns = header->powered_ns;
	header->unsafe_shutdowns += header->power_cycles && !header->shut_down;
	header->shut_down = 0;
	header->power_cycles++;
	nand_header_store(media);
	clock_thaw();
}

void nand_history_read(struct nand *nand, struct nand_history *out)
{
	const struct nand_media *media = (const struct nand_media *)nand;

	*out = (struct nand_history){
		.power_cycles = media->header->power_cycles,
		.unsafe_shutdowns = media->header->unsafe_shutdowns,
		.powered_ns = media->powered_before_ns + clock_now_ns(),
	};
}

void nand_history_shut_down(struct nand *nand, bool done)
{
	struct nand_media *media = (struct nand_media *)nand;

	if (lt_load(&media->off))
		return;
	clock_freeze();
	media->header->powered_ns = media->powered_before_ns + clock_now_ns();
	media->header->shut_down = done;
	nand_header_store(media);
	clock_thaw();
}
