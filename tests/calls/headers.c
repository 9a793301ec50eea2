/* The generated headers, twice and in either order, in C. */
#include "calls.h"
#include "names.h"
#include "calls.h"
#include "probed.h"

extern int attn_headers_are_c;
int attn_headers_are_c = sizeof(word_params) > 0;
