// Random attention: streaming kernels give what the evaluator gives, forward and backward; rows
// that see nothing give exact zeros, and what no row sees changes no bit. One instruction set after
// the other.
#include "tests/support/random_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "compiled.h"
#include "compiler/driver/call.h"
#include "seeds.h"

namespace attn::testing {
namespace {

using Indices = std::vector<size_t>;

// The element of `a` at the first indices, as the offset of what lies below it, and how much that
// is.
std::pair<size_t, size_t> below(const Array& a, const Indices& first) {
  size_t at = 0, count = 1;
  for (size_t k = 0; k < a.extents.size(); ++k) {
    const auto extent = static_cast<size_t>(a.extents[k]);
    at = at * extent + (k < first.size() ? first[k] : 0);
    if (k >= first.size()) count *= extent;
  }
  return {at, count};
}

// Calls `found` with where each row [b, h, i] of q that sees no key lies in an array.
template <typename Found>
void each_blind_row(const Array& keys_of_row, const Array& q, const Found& found) {
  for (size_t k = 0; k < keys_of_row.values.size(); ++k) {
    if (keys_of_row.values[k] > 0) continue;
    const size_t length = static_cast<size_t>(keys_of_row.extents[1]);
    for (size_t h = 0; h < static_cast<size_t>(q.extents[1]); ++h)
      found(Indices{k / length, h, k % length});
  }
}

void expect_zeros(const Arrays& all, const std::string& name, const Indices& row) {
  const Array& a = all.at(name);
  const auto [at, count] = below(a, row);
  for (size_t k = at; k < at + count; ++k)
    ASSERT_TRUE(a.values[k] == 0) << name << "[" << k << "] is " << a.values[k];
}

// Puts what is not finite into the elements of keys and values that no row sees; how many.
size_t spoil(const RandomAttention& random, const Array& rows_of_key, Arrays& given) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  const auto batches = static_cast<size_t>(rows_of_key.extents[0]);
  const auto length = static_cast<size_t>(rows_of_key.extents[1]);
  size_t n = 0;
  for (const auto& [name, leading] : random.leading) {
    Array& a = given.at(name);
    const size_t heads =
        leading == "b," ? 1 : static_cast<size_t>(a.extents[leading == "h," ? 0 : 1]);
    for (size_t b = 0; b < (leading == "h," ? 1 : batches); ++b)
      for (size_t j = 0; j < length; ++j) {
        bool seen = false;
        for (size_t c = 0; c < batches; ++c)
          if (leading == "h," || c == b) seen |= rows_of_key.values[c * length + j] > 0;
        for (size_t h = 0; !seen && h < heads; ++h) {
          const Indices place = leading == "b,"   ? Indices{b, j}
                                : leading == "h," ? Indices{h, j}
                                                  : Indices{b, h, j};
          const auto [at, count] = below(a, place);
          for (size_t k = at; k < at + count; ++k) a.values[k] = kBad[n++ % 3];
        }
      }
  }
  return n;
}

// One program at one call.
void check_call(Library& library, const RandomAttention& random, const driver::Compiled& counts,
                const Arrays& given) {
  const Outcome o = library.call(given);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  EXPECT_EQ(differ_beyond_rounding(library, "", given, o.values, 1e-4, 0.05), "");
  const Arrays seen = driver::call_reference(counts, {.given = given});
  each_blind_row(seen.at("keys_of_row"), given.at("q"), [&](const Indices& row) {
    expect_zeros(o.values, "z", row);
    expect_zeros(o.values, "dq", row);
  });
  Arrays spoilt = given;
  if (!spoil(random, seen.at("rows_of_key"), spoilt)) return;
  const Outcome hidden = library.call(spoilt);
  ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
  for (const auto& [name, array] : o.values)
    EXPECT_TRUE(same_bits(array.values, hidden.values.at(name).values))
        << name << " depends on what no row sees";
}

void check_seed(uint64_t seed) {
  const RandomAttention random = random_attention(seed);
  SCOPED_TRACE(random.text);
  try {
    std::vector<driver::Compiled> models = compile_text(random.text);
    const driver::Compiled counts = std::move(models.back());
    models.pop_back();
    Library library(std::move(models), 2, target_in_turn(seed));
    for (const auto& sizes : random.calls) {
      SCOPED_TRACE(::testing::Message()
                   << seed << " for " << target_in_turn(seed) << " B=" << sizes.at("B")
                   << " T=" << sizes.at("T") << " S=" << sizes.at("S") << " E=" << sizes.at("E")
                   << " F=" << sizes.at("F") << "\n"
                   << plan::to_string(*library.model().plan));
      check_call(library, random, counts, random_call(library.model(), sizes, seed, 3));
    }
  } catch (const std::exception& e) {
    ADD_FAILURE() << seed << ": " << e.what();
  }
}

TEST(RandomAttention, GivesWhatTheEvaluatorGives) {
  const auto [first, last] = seeds("ATTN_RANDOM_ATTENTION", 2);
  for (uint64_t seed = first; seed <= last; ++seed) check_seed(seed);
}

// Every row sees one key, so that all gradients are 0; scores of 100 are rounded by 1e-5, and a
// gradient sums 2000 of these roundings, times distances of up to 128.
TEST(RandomAttention, OfRowsThatSeeOneKeyIsOffByRoundings) { check_seed(332495); }

// Of no batch the gradient of a value is a sum of nothing, times a key that no row sees.
TEST(RandomAttention, OfNoBatchSeesNoKey) { check_seed(333469); }

// Values of one feature are weights of points, and no row sees the last key.
TEST(RandomAttention, OfOneFeatureHidesValues) { check_seed(337629); }

// One row counts, so that little of the data in subscripts is checked.
TEST(RandomAttention, OfOneRow) { check_seed(334970); }

}  // namespace
}  // namespace attn::testing
