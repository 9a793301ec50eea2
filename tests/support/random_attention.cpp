#include "tests/support/random_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace attn::testing {
namespace {

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed), seed_(seed) {}

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  template <typename... Values>
  auto one_of(Values... values) {
    std::vector<std::common_type_t<Values...>> all = {values...};
    return all[random_() % all.size()];
  }

  RandomAttention write() {
    self_ = chance(60);
    keys_ = self_ ? "T" : "S";
    heads_ = one_of(1, 2, 3);
    const bool known_e = chance(70), known_f = chance(70);
    e_ = features();
    f_ = features();
    std::string sizes = fmt::format("size B, T{}{}{}\nsize H = {}", self_ ? "" : ", S",
                                    known_e ? "" : ", E", known_f ? "" : ", F", heads_);
    if (known_e) sizes += fmt::format(", E = {}", e_);
    if (known_f) sizes += fmt::format(", F = {}", f_);

    inputs_.push_back("q: [B, H, T, E]");
    const std::string k = side("k", "E"), v = side("v", "F");
    score(k);
    const std::string guard = guards();
    weights(guard);
    sums(v, guard);
    std::string list, results;
    for (const std::string& input : inputs_)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", input);
    for (const std::string& result : results_)
      results += fmt::format("{}{}", results.empty() ? "" : ", ", result);
    RandomAttention random;
    random.text = fmt::format("{}\ntrain model a{}({}) -> {} {{\n{}{}}}\n{}", sizes, seed_, list,
                              results, params_, body_, counts(list, guard));
    random.leading = leading_;
    for (int call = 0; call < 3; ++call) {
      if (!known_e) e_ = chance(20) ? 0 : features();
      if (!known_f) f_ = chance(20) ? 0 : features();
      random.calls.push_back(sizes_of_call(call == 0));
    }
    return random;
  }

 private:
  int64_t features() { return one_of(1, 3, 8, 40, 64, 80, 128); }
  int64_t length() { return one_of(0, 1, 2, 5, 47, 48, 49, 100, 257, 1023); }

  // The evaluator takes its time: of a long sequence it gets few batches, or few keys.
  std::map<std::string, int64_t> sizes_of_call(bool first) {
    std::map<std::string, int64_t> all = {{"B", one_of(1, 2, 0)}, {"E", e_}, {"F", f_}};
    int64_t t = length(), s = length();
    if (first) all["B"] = 2, t = 100;
    const auto cost = [&] { return all["B"] * heads_ * t * (self_ ? t : s) * (e_ + f_); };
    constexpr int64_t kMost = 60'000'000;
    if (cost() > kMost) all["B"] = 1;
    if (cost() > kMost) s = std::min<int64_t>(s, 49);
    if (cost() > kMost) t = std::min<int64_t>(t, 257);
    if (cost() > kMost) t = std::min<int64_t>(t, 100);
    all["T"] = t, all["S"] = s;
    return all;
  }

  // How many rows each key has, and how many keys each row.
  std::string counts(const std::string& inputs, const std::string& guard) const {
    const std::string where = guard.empty() ? "" : " where " + guard;
    return fmt::format(
        "\nmodel seen({0}) -> rows_of_key, keys_of_row {{\n"
        "  rows_of_key[b: B, j: {1}] = sum[i: T{2}] 1.0\n"
        "  keys_of_row[b: B, i: T] = sum[j: {1}{2}] 1.0\n}}\n",
        inputs, keys_, where);
  }

  void line(const std::string& text) { body_ += fmt::format("  {}\n", text); }

  // Keys or values, of each head, of all heads, or of all batches; how they are read at j.
  std::string side(const std::string& name, const std::string& features) {
    const char* batch = one_of("B, H, ", "B, ", "H, ");
    inputs_.push_back(fmt::format("{}: [{}{}, {}]", name, batch, keys_, features));
    const std::string all = batch;
    leading_[name] = all == "B, H, " ? "b,h," : all == "B, " ? "b," : "h,";
    return fmt::format("{}[{}j,", name, leading_[name]);
  }

  void score(const std::string& k) {
    std::string key = fmt::format("{}e]", k);
    if (self_ && chance(15)) {
      params_ += "  param rk: [9, E]\n";
      key = fmt::format("({} + rk[clamp(j - i, -4, 4) + 4, e])", key);
    }
    std::string text =
        fmt::format("(sum[e] q[b,h,i,e] * {}) / {}", key, std::max<int64_t>(e_ / 4, 1));
    const int addends = one_of(0, 0, 1, 1, 2);
    std::vector<std::string> used;
    for (int n = 0; n < addends; ++n) {
      const std::string kind = self_ ? one_of("bias", "slope", "clipped", "kinds", "row", "column")
                                     : one_of("bias", "kinds", "row", "column");
      if (std::find(used.begin(), used.end(), kind) != used.end()) continue;
      used.push_back(kind);
      if (kind == "bias") {
        inputs_.push_back(fmt::format("bias: [{}T, {}]", chance(50) ? "H, " : "", keys_));
        text += inputs_.back().find("H") == std::string::npos ? " + bias[i,j]" : " + bias[h,i,j]";
      } else if (kind == "slope") {
        params_ += "  param slope: [H]\n";
        text += " - slope[h] * abs(i - j) / 8";
      } else if (kind == "clipped") {
        params_ += "  param r: [H, 15]\n";
        text += " + r[h, clamp(j - i, -7, 7) + 7]";
      } else if (kind == "kinds") {
        params_ += "  param g: [3, 3]\n";
        inputs_.push_back("rows: int[B, T]");
        inputs_.push_back(fmt::format("columns: int[B, {}]", keys_));
        text += " + g[rows[b,i], columns[b,j]]";
      } else if (kind == "row") {
        inputs_.push_back("at: [B, T]");
        text += " * at[b,i]";
      } else {
        inputs_.push_back(fmt::format("from_: [H, {}]", keys_));
        text += " + from_[h,j]";
      }
    }
    if (chance(20)) text = fmt::format("3 * tanh(({}) / 3)", text);
    line(fmt::format("s[b,h,i,j] = {}", text));
  }

  std::string guards() {
    std::string text;
    auto add = [&](const std::string& condition) {
      text += fmt::format("{}{}", text.empty() ? "" : " and ", condition);
    };
    if (self_ && chance(45)) add("j <= i");
    if (self_ && chance(20)) add(one_of("j > i - 60", "j > i - 3", "abs(i - j) < 50"));
    if (chance(20)) {
      inputs_.push_back(fmt::format("keep: bool[B, {}]", keys_));
      add("keep[b,j]");
    }
    if (chance(15)) {
      inputs_.push_back("length: int[B]");
      add("j < 20 * length[b] + 1");
    }
    if (self_ && chance(15)) {
      inputs_.push_back("document: int[B, T]");
      add("document[b,i] == document[b,j]");
    }
    if (chance(10)) add("(i + 2 * j) % 3 > 0");
    return text;
  }

  void weights(const std::string& guard) {
    const int kind = one_of(0, 0, 0, 0, 1, 2, 3);
    const std::string where = guard.empty() ? "" : fmt::format(" where {}", guard);
    if (kind == 0) {
      line(fmt::format("p[b,h,i,j] = softmax[j{}] (s[b,h,i,j])", where));
    } else if (kind == 1) {
      line(fmt::format("p[b,h,i,j] = sigmoid(s[b,h,i,j]){}", where));
    } else if (kind == 2) {
      line(fmt::format("p[b,h,i,j] = relu(s[b,h,i,j]) * s[b,h,i,j]{}", where));
    } else {
      line(fmt::format("l[b,h,i] = logsumexp[j{}] (s[b,h,i,j])", where));
      line(fmt::format("p[b,h,i,j] = exp(s[b,h,i,j] - l[b,h,i]) / (2 + tanh(l[b,h,i])){}", where));
      if (chance(50)) results_.push_back("l");
    }
    if (chance(25)) {
      inputs_.push_back("seed: int");
      line("w[b,h,i,j] = if uniform(seed, b, h, i, j) < 0.8 then p[b,h,i,j] * 1.25 else 0");
      weight_ = "w";
    }
  }

  // A factor of the whole sum for each of its results.
  std::string scale(const std::string& kept) {
    if (!chance(20)) return "";
    return fmt::format(" * (if {} then {} else {})",
                       one_of(fmt::format("{} == 0", kept), fmt::format("{} % 3 > 0", kept)),
                       one_of("1", "2"), one_of("0.25", "0", "1 / (1 + " + kept + ")"));
  }

  void sums(const std::string& v, const std::string& guard) {
    const std::string p = fmt::format("{}[b,h,i,j]", weight_);
    const std::string value = self_ && chance(10)
                                  ? fmt::format("({}f] + rv[clamp(j - i, -4, 4) + 4, f])", v)
                                  : fmt::format("{}f]", v);
    if (value[0] == '(') params_ += "  param rv: [9, F]\n";
    line(fmt::format("z[b,h,i,f] = sum[j] {} * {}{}", p, value, scale("i")));
    results_.push_back("z");
    if (chance(20)) {
      line(fmt::format("per_column[b,h,j] = sum[i] {}{}", p, scale("j")));
      results_.push_back("per_column");
    }
    if (chance(20)) {
      inputs_.push_back(fmt::format("cost: [{}]", keys_));
      line(fmt::format("per_row[h,i] = sum[b,j] {} * cost[j]", p));
      results_.push_back("per_row");
    }
    if (chance(15)) {
      line(fmt::format("total = sum[b,h,i,j] {} * {} / 16", p, p));
      results_.push_back("total");
    }
    if (chance(15) && guard.find("j <= i") != std::string::npos) {
      line(fmt::format("per_distance[b, n: T] = sum[h,i,j where n == i - j] {}", p));
      results_.push_back("per_distance");
    }
  }

  std::mt19937_64 random_;
  uint64_t seed_;
  bool self_ = false;
  const char* keys_ = "T";
  int64_t heads_ = 1, e_ = 1, f_ = 1;
  std::string weight_ = "p", params_, body_;
  std::vector<std::string> inputs_, results_;
  std::map<std::string, std::string> leading_;
};

}  // namespace

RandomAttention random_attention(uint64_t seed) { return Writer(seed).write(); }

}  // namespace attn::testing
