/* What the directory of table pages (l2p_directory.h) says on flash: to requests, to mount, and to the check. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_DIRECTORY_READ_H
#define FTL_L2P_DIRECTORY_READ_H

#include <stdint.h>

struct ftl;
struct l2p_lookup;

/* --- shard lock held --- */
/* The entry of this table page, which the request has not fetched yet. */
enum directory_found { DIRECTORY_AT_HAND, DIRECTORY_WAS_READ, DIRECTORY_IS_WANTED /* its page must be fetched */ };
enum directory_found l2p_directory_find(struct l2p_lookup *at, uint32_t table_page, uint32_t *entry);
/* The entry, if that is known without a flash read, else all ones. */
uint32_t l2p_directory_hint(struct ftl *ftl, uint32_t table_page);

/* Mount: the copies of all table pages have been found: what the directory says otherwise is news. */
void l2p_directory_mounted(struct ftl *ftl);
/* Harts idle: NULL, or what is wrong. */
const char *l2p_directory_check(struct ftl *ftl);

#endif
