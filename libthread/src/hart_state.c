/* Where all harts are. */
#include "hart_state.h"

struct hart *lt_all_harts;
