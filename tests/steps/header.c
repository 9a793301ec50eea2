/* The header of a library with steps, as a C program sees it. */
#include "steps.h"

int header_of_steps(void);
int header_of_steps(void) { return (int)sizeof(by_turn_states); }
