// How the indices of a kernel are divided: into batch, rows and columns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/kinds.h"
#include "forms.h"

namespace attn::testing {
namespace {

using namespace ir;

class Names {
 public:
  explicit Names(const Graph& g) : g_(g) {}

  // `rows i columns j`; groups of nothing are left out.
  std::string operator()(const plan::RowForm& form) const {
    return group("rows", form.rows) + group("columns", form.columns);
  }
  std::string operator()(const plan::ContractionForm& form) const {
    return group("batch", form.batch) + group("rows", form.rows) + group("columns", form.columns);
  }
  std::string operator()(const plan::TilesForm& form) const {
    return group("batch", form.batch) + group("rows", {form.row}) + group("columns", {form.column});
  }
  std::string operator()(const plan::LoopsForm&) const { return ""; }

 private:
  std::string group(const char* name, const std::vector<IndexId>& indices) const {
    std::string text;
    for (IndexId i : indices) text += (text.empty() ? "" : ",") + g_[i].name;
    return text.empty() ? "" : fmt::format(" {} {}", name, text);
  }

  const Graph& g_;
};

// A kernel a line: `contraction y rows i columns j`.
std::string axes_of(const std::string& text) {
  std::string lines;
  const auto file = planned_text(text);
  for (const KernelCase& c : file->kernels) {
    const Graph& g = c.function->graph;
    lines += plan::kind_of(c.kernel->form).name;
    for (TensorId t : c.kernel->writes) lines += " " + g[t].name;
    lines += std::visit(Names(g), c.kernel->form) + "\n";
  }
  return lines;
}

struct Case {
  const char *inputs, *statements, *axes;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.statements; }

constexpr Case kCases[] = {
    // Sums of products: an index of both factors is of the batch, of the left one a row.
    {"a: [N, K], w: [K, M]", "y[i,j] = sum[k] a[i,k] * w[k,j]", "contraction y rows i columns j"},
    {"a: [N, K], w: [K, M]", "y[j,i] = sum[k] a[i,k] * w[k,j]", "contraction y rows j columns i"},
    {"a: [B, N, K], w: [B, K, M]", "y[b,i,j] = sum[k] a[b,i,k] * w[b,k,j]",
     "contraction y batch b rows i columns j"},
    {"a: [B, N, K], w: [K, M]", "y[b,i,j] = sum[k] a[b,i,k] * w[k,j]",
     "contraction y rows b,i columns j"},
    {"a: [B, N, K], w: [B, H, K, M]", "y[h,b,i,j] = sum[k] a[b,i,k] * w[b,h,k,j]",
     "contraction y batch b rows i columns h,j"},
    {"a: [B, N, K], w: [B, N, M]", "y[k,j] = sum[b,i] a[b,i,k] * w[b,i,j]",
     "contraction y rows k columns j"},
    {"a: [B, N, K], w: [B, K]", "y[b,i] = sum[k] a[b,i,k] * w[b,k]",
     "contraction y batch b columns i"},
    {"a: [N, K], w: [K]", "y[i] = sum[k] a[i,k] * w[k]", "row y rows i columns k"},
    // Rows: what is reduced are the columns, but for a sum over what others have as rows.
    {"a: [N, M]", "y[i] = max[j] a[i,j]", "row y rows i columns j"},
    {"a: [B, N, M]", "y[b,i,j] = softmax[j] (a[b,i,j])", "row y rows b,i columns j"},
    {"a: [B, N, M]", "y[b,j] = sum[i] a[b,i,j]^2", "loops y"},
    {"a: [B, N, M]", "m[b,i] = mean[j] a[b,i,j]; y[b,i,j] = a[b,i,j] - m[b,i]",
     "row y rows b,i columns j"},
    // Tiles: rows are what a softmax leaves, columns what it reduces.
    {"q: [B, H, N, K], k: [B, H, M, K], v: [B, H, M, K]",
     "p[b,h,i,j] = softmax[j] (sum[e] q[b,h,i,e] * k[b,h,j,e]); "
     "y[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]",
     "streaming y batch b,h rows i columns j"},
    {"q: [B, N, K], k: [M, K], v: [M, K]",
     "p[j,b,i] = softmax[j] (sum[e] q[b,i,e] * k[j,e]); y[b,i,e] = sum[j] p[j,b,i] * v[j,e]",
     "streaming y batch b rows i columns j"},
    {"q: [N, K], k: [M, K], v: [M, K]",
     "s[i,j] = sigmoid(sum[e] q[i,e] * k[j,e]); y[i,e] = sum[j] s[i,j] * v[j,e]",
     "tiles y rows i columns j"},
    {"q: [N, K], k: [M, K], v: [N, K]",
     "s[i,j] = sigmoid(sum[e] q[i,e] * k[j,e]); y[j,e] = sum[i] s[i,j] * v[i,e]",
     "tiles y rows i columns j"},
};

class Axes : public ::testing::TestWithParam<Case> {};

TEST_P(Axes, AreGroups) {
  const Case& c = GetParam();
  EXPECT_EQ(axes_of(fmt::format("size B, H, N, M, K\nmodel t({}) -> y {{ {} }}\n", c.inputs,
                                c.statements)),
            c.axes + std::string("\n"));
}

INSTANTIATE_TEST_SUITE_P(Each, Axes, ::testing::ValuesIn(kCases));

}  // namespace
}  // namespace attn::testing
