/* Changed zones: which zones of the namespace the device itself has changed (to READ ONLY), until the host has been told. */
#ifndef FTL_ZONE_CHANGES_H
#define FTL_ZONE_CHANGES_H

#include "lt/arch.h"

struct arena;
struct ftl;
struct ftl_watch;
struct zone;

struct zone_changes {
	lt_word *map;                 /* bit = zone of the namespace */
	struct ftl_watch *watch;      /* NULL: nobody is to be told */
};

void zone_changes_init(struct ftl *ftl, struct arena *arena);
/* The device has changed the zone's state. Any hart, any lock. Backing zones are no host's: no effect. */
void zone_changed(struct zone *zone);
/* Something has changed that the watch is told of. Any hart, any lock. */
void watch_tell(struct ftl *ftl);

#endif
