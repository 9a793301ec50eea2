// How far results may be from the evaluator's.
#pragma once

#include <string>

#include "compiler/evaluate/evaluate.h"

namespace attn::testing {

using evaluate::Array;
using evaluate::Arrays;
struct CallOptions;
class Library;

// "" or the first row of `got` that is further from `want` than `tolerance` of the row's scale: its
// largest magnitude, and at least `least`.
std::string differ(const std::string& name, const Array& want, const Array& got,
                   double tolerance = 1e-5, double least = 0);
// The same for all arrays of `want`, which `got` must have, with `least` or more as the least
// scale. A row of an output may cancel: a thousandth of its largest element is, and a hundredth
// where rows have fewer than four. Gradients (dNAME) may be differences of numbers of the other
// gradients' order: a twentieth of the largest of all is, and twice the largest where there are
// fewer than four, which sum over all points; so with tangents tOUT, and with products hNAME beside
// gradients.
std::string differ(const Arrays& want, const Arrays& got, double tolerance = 1e-5,
                   double least = 0);

// The same for the results of one call of a program whose numbers nobody has looked at: where many
// layers or cancellations amplify them, results may be four times as far off as they move when the
// last two bits of the inputs (in f32), of every tensor between and of every function's value are
// others; but no more than 20 times the tolerance where smaller changes do not move them less, in
// proportion.
std::string differ_beyond_rounding(const Library& library, const std::string& model,
                                   const Arrays& given, const Arrays& got, double tolerance,
                                   double least);
std::string differ_beyond_rounding(const Library& library, const std::string& model,
                                   const Arrays& given, const CallOptions& options,
                                   const Arrays& got, double tolerance, double least);

// Whether all elements are the same to the last bit, NaN among them.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace attn::testing
