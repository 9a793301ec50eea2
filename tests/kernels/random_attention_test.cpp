// Random attention: streaming kernels give what the evaluator gives, forward and backward; rows
// that see nothing give exact zeros, and what no row sees changes no bit. One instruction set after
// the other.
#include "tests/support/random_attention.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "agreement.h"
#include "compiled.h"
#include "compiler/driver/call.h"
#include "seeds.h"

namespace attn::testing {
namespace {

// The points of a sequence or an image: all extents but the first one.
size_t points_of(const Array& counted) {
  size_t points = 1;
  for (size_t k = 1; k < counted.extents.size(); ++k)
    points *= static_cast<size_t>(counted.extents[k]);
  return points;
}

// The features of [.., point, feature], of which each call gets one point.
std::span<double> features(Array& a, size_t point) {
  const auto count = static_cast<size_t>(a.extents.back());
  return std::span(a.values).subspan(point * count, count);
}

// Rows of z and of the gradient of q that see no key are exact zeros.
void expect_zeros(const Array& keys_of_row, Arrays& all, const std::string& name) {
  Array& a = all.at(name);
  const size_t points = points_of(keys_of_row), heads = static_cast<size_t>(a.extents[1]);
  for (size_t k = 0; k < keys_of_row.values.size(); ++k)
    for (size_t h = 0; keys_of_row.values[k] == 0 && h < heads; ++h)
      for (const double value : features(a, (k / points * heads + h) * points + k % points))
        ASSERT_TRUE(value == 0) << name << " of row " << k << " is " << value;
}

// Puts what is not finite into the elements of keys and values that no row sees; how many.
size_t spoil(const RandomAttention& random, const Array& rows_of_key, Arrays& given) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kBad[] = {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity};
  const auto batches = static_cast<size_t>(rows_of_key.extents[0]);
  const size_t points = points_of(rows_of_key);
  size_t n = 0;
  for (const auto& [name, leading] : random.leading) {
    Array& a = given.at(name);
    const bool of_all = leading == "h,";
    const size_t heads = leading == "b," ? 1 : static_cast<size_t>(a.extents[of_all ? 0 : 1]);
    for (size_t b = 0; b < (of_all ? 1 : batches); ++b)
      for (size_t j = 0; j < points; ++j) {
        bool seen = false;
        for (size_t c = 0; c < batches; ++c)
          if (of_all || c == b) seen |= rows_of_key.values[c * points + j] > 0;
        for (size_t h = 0; !seen && h < heads; ++h)
          for (double& value : features(a, (b * heads + h) * points + j)) value = kBad[n++ % 3];
      }
  }
  return n;
}

// One program at one call.
void check_call(Library& library, const RandomAttention& random, const driver::Compiled& counts,
                const Arrays& given) {
  Outcome o = library.call(given);
  ASSERT_EQ(o.status, ATTN_OK) << o.message;
  EXPECT_EQ(differ_beyond_rounding(library, "", given, o.values, 1e-4, 0.05), "");
  const Arrays seen = driver::call_reference(counts, {.given = given});
  for (const char* name : {"z", "dq"}) expect_zeros(seen.at("keys_of_row"), o.values, name);
  Arrays spoilt = given;
  if (!spoil(random, seen.at("rows_of_key"), spoilt)) return;
  const Outcome hidden = library.call(spoilt);
  ASSERT_EQ(hidden.status, ATTN_OK) << hidden.message;
  for (const auto& [name, array] : o.values)
    EXPECT_TRUE(same_bits(array.values, hidden.values.at(name).values))
        << name << " depends on what no row sees";
}

void check(uint64_t seed, const RandomAttention& random) {
  SCOPED_TRACE(random.text);
  try {
    std::vector<driver::Compiled> models = compile_text(random.text);
    const driver::Compiled counts = std::move(models.back());
    models.pop_back();
    Library library(std::move(models), 2, target_in_turn(seed));
    for (const auto& sizes : random.calls) {
      SCOPED_TRACE(::testing::Message()
                   << seed << " for " << target_in_turn(seed) << " of " << text_of(sizes) << "\n"
                   << plan::to_string(*library.model().plan));
      check_call(library, random, counts, random_call(library.model(), sizes, seed, 3));
    }
  } catch (const std::exception& e) {
    ADD_FAILURE() << seed << ": " << e.what();
  }
}

TEST(RandomAttention, GivesWhatTheEvaluatorGives) {
  const auto [first, last] = seeds("ATTN_RANDOM_ATTENTION", 2);
  for (uint64_t seed = first; seed <= last; ++seed) check(seed, random_attention(seed));
}

TEST(RandomAttention, OfImagesGivesWhatTheEvaluatorGives) {
  const auto [first, last] = seeds("ATTN_RANDOM_IMAGES", 2);
  for (uint64_t seed = first; seed <= last; ++seed) check(seed, random_attention_of_images(seed));
}

// Every row sees one key, so that all gradients are 0; scores of 100 are rounded by 1e-5, and a
// gradient sums 2000 of these roundings, times distances of up to 128.
TEST(RandomAttention, OfRowsThatSeeOneKeyIsOffByRoundings) {
  check(332495, random_attention(332495));
}

// Of no batch the gradient of a value is a sum of nothing, times a key that no row sees.
TEST(RandomAttention, OfNoBatchSeesNoKey) { check(333469, random_attention(333469)); }

// Values of one feature are weights of points, and no row sees the last key.
TEST(RandomAttention, OfOneFeatureHidesValues) { check(337629, random_attention(337629)); }

// One row counts, so that little of the data in subscripts is checked.
TEST(RandomAttention, OfOneRow) { check(334970, random_attention(334970)); }

}  // namespace
}  // namespace attn::testing
