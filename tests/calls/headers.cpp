// The generated headers in C++, beside headers that define macros.
#include <attn/products.hpp>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdio>

#include "calls.h"
#include "names.h"
#include "probed.h"

static_assert(sizeof(word_params) > 0 && sizeof(double__params) > 0, "both models are declared");
