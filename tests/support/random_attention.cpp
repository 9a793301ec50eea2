#include "tests/support/random_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace attn::testing {
namespace {

// Of a call: so many multiplications of scores and values.
constexpr int64_t kMost = 60'000'000;

// Positions of rows or of keys: those of a sequence, or lines and columns of an image.
struct Positions {
  std::vector<std::string> sizes;  // "T", or "R" and "C"
  std::string indices;             // "i", or "y,x"
  std::string ranges;              // of these: "i: T", or "y: R, x: C"
  std::vector<std::string> place;  // of one point: "i", or "y" and "x"
  bool is_image() const { return sizes.size() > 1; }
  bool is_counted() const { return is_image() && indices.find(',') == std::string::npos; }
};

std::string joined(const std::vector<std::string>& all, const std::string& between) {
  return fmt::format("{}", fmt::join(all, between));
}

Positions sequence(const std::string& index, const std::string& size) {
  return {{size}, index, index + ": " + size, {index}};
}

// Of two indices, or of one that counts the points.
Positions image(const std::string& number, bool has_one_index, const std::string& one_index) {
  const std::string r = "R" + number, c = "C" + number, y = "y" + number, x = "x" + number;
  if (has_one_index)
    return {{r, c},
            one_index,
            fmt::format("{}: {} * {}", one_index, r, c),
            {fmt::format("({} // {})", one_index, c), fmt::format("({} % {})", one_index, c)}};
  return {{r, c}, y + "," + x, fmt::format("{}: {}, {}: {}", y, r, x, c), {y, x}};
}

class Writer {
 public:
  Writer(uint64_t seed, bool of_images) : random_(seed), seed_(seed), of_images_(of_images) {}

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  template <typename... Values>
  auto one_of(Values... values) {
    std::vector<std::common_type_t<Values...>> all = {values...};
    return all[random_() % all.size()];
  }

  RandomAttention write() {
    self_ = chance(60);
    if (of_images_) {
      draw_images();
    } else {
      rows_ = sequence("i", "T");
      keys_ = sequence("j", self_ ? "T" : "S");
    }
    heads_ = one_of(1, 2, 3);
    const bool known_e = chance(70), known_f = chance(70);
    e_ = features();
    f_ = features();
    std::string sizes = "size B", known;
    for (const Positions* p : {&rows_, &keys_})
      if (p == &rows_ || !self_)
        for (const std::string& size : p->sizes)
          (known_.count(size) ? known : sizes) +=
              ", " + size + (known_.count(size) ? fmt::format(" = {}", known_.at(size)) : "");
    sizes += fmt::format("{}{}\nsize H = {}{}", known_e ? "" : ", E", known_f ? "" : ", F", heads_,
                         known);
    if (known_e) sizes += fmt::format(", E = {}", e_);
    if (known_f) sizes += fmt::format(", F = {}", f_);

    const std::string q = read("q: [B, H, ", rows_, "E", self_);
    const std::string k = side("k", "E", true), v = side("v", "F", has_sizes_of_keys_);
    score(q, k);
    const std::string guard = guards();
    weights(guard);
    sums(v);
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
      random.calls.push_back(of_images_ ? sizes_of_images(call == 0) : sizes_of_call(call == 0));
    }
    return random;
  }

 private:
  int64_t features() { return one_of(1, 3, 8, 40, 64, 80, 128); }
  int64_t length() { return one_of(0, 1, 2, 5, 47, 48, 49, 100, 257, 1023); }

  // Rows are points of an image, or keys, or both.
  void draw_images() {
    const bool has_one_index = chance(30);
    rows_ = image("", has_one_index, "i");
    keys_ = image("2", has_one_index, "j");
    if (self_) {
      keys_.sizes = rows_.sizes;
      keys_.ranges = has_one_index ? "j: R * C" : "y2: R, x2: C";
      if (has_one_index) keys_.place = {"(j // C)", "(j % C)"};
    } else if (chance(30)) {
      rows_ = sequence("i", "T");
    } else if (chance(30)) {
      keys_ = sequence("j", "S");
    }
    for (const Positions* p : {&rows_, &keys_})
      if (p->is_image() && chance(20))
        for (const std::string& size : p->sizes) known_[size] = one_of(3, 5, 7, 8);
  }

  std::map<std::string, int64_t> sizes_of_images(bool first) {
    std::map<std::string, int64_t> all = {{"B", first ? 2 : one_of(1, 2, 0)}, {"E", e_}, {"F", f_}};
    for (const Positions* p : {&rows_, &keys_})
      for (const std::string& size : p->sizes) {
        const int64_t most = p->is_image() ? one_of(0, 1, 2, 3, 7, 11, 17, 30) : length();
        all[size] = known_.count(size) ? known_[size] : !first ? most : p->is_image() ? 10 : 100;
      }
    const auto points = [&](const Positions& p) {
      int64_t n = 1;
      for (const std::string& size : p.sizes) n *= all[size];
      return n;
    };
    while (all["B"] * heads_ * points(rows_) * points(keys_) * (e_ + f_) > kMost)
      for (const Positions* p : {&rows_, &keys_})
        if (points(*p) >= std::max(points(rows_), points(keys_)))
          for (const std::string& size : p->sizes)
            if (!known_.count(size)) all[size] = (3 * all[size] + 3) / 4;
    return all;
  }

  // The evaluator takes its time: of a long sequence it gets few batches, or few keys.
  std::map<std::string, int64_t> sizes_of_call(bool first) {
    std::map<std::string, int64_t> all = {{"B", one_of(1, 2, 0)}, {"E", e_}, {"F", f_}};
    int64_t t = length(), s = length();
    if (first) all["B"] = 2, t = 100;
    const auto cost = [&] { return all["B"] * heads_ * t * (self_ ? t : s) * (e_ + f_); };
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
        "  rows_of_key[b: B, {1}] = sum[{2}{3}] 1.0\n"
        "  keys_of_row[b: B, {2}] = sum[{1}{3}] 1.0\n}}\n",
        inputs, keys_.ranges, rows_.ranges, where);
  }

  void line(const std::string& text) { body_ += fmt::format("  {}\n", text); }

  // Adds an input; how it is read at these positions. The sizes of a flat one, [R * C], are those
  // of another input.
  std::string read(const std::string& start, const Positions& at, const std::string& features,
                   bool may_be_flat) {
    const bool is_flat = at.is_image() && chance(20) && may_be_flat;
    has_sizes_of_keys_ |= !is_flat && at.sizes == keys_.sizes;
    inputs_.push_back(
        fmt::format("{}{}, {}]", start, joined(at.sizes, is_flat ? " * " : ", "), features));
    return !is_flat          ? joined(at.place, ",")
           : at.is_counted() ? at.indices
                             : fmt::format("{} * {} + {}", at.place[0], at.sizes[1], at.place[1]);
  }

  // Of scores or weights.
  std::string pairs() const { return fmt::format("[b,h,{},{}]", rows_.indices, keys_.indices); }

  // How far a key is from a row, as subscripts of a table of so many distances to either side.
  std::string distances(int reach) const {
    std::vector<std::string> all;
    for (size_t k = 0; k < rows_.place.size(); ++k)
      all.push_back(
          fmt::format("clamp({1} - {0}, -{2}, {2}) + {2}", rows_.place[k], keys_.place[k], reach));
    return joined(all, ", ");
  }
  std::string table(int reach) const {
    return joined(std::vector<std::string>(rows_.sizes.size(), std::to_string(2 * reach + 1)),
                  ", ");
  }

  // Keys or values, of each head, of all heads, or of all batches; how they are read at j.
  std::string side(const std::string& name, const std::string& features, bool may_be_flat) {
    const char* batch = one_of("B, H, ", "B, ", "H, ");
    const std::string at = read(fmt::format("{}: [{}", name, batch), keys_, features, may_be_flat);
    const std::string all = batch;
    leading_[name] = all == "B, H, " ? "b,h," : all == "B, " ? "b," : "h,";
    return fmt::format("{}[{}{},", name, leading_[name], at);
  }

  void score(const std::string& q, const std::string& k) {
    std::string key = fmt::format("{}e]", k);
    if (self_ && chance(15)) {
      params_ += fmt::format("  param rk: [{}, E]\n", table(4));
      key = fmt::format("({} + rk[{}, e])", key, distances(4));
    }
    std::string text =
        fmt::format("(sum[e] q[b,h,{},e] * {}) / {}", q, key, std::max<int64_t>(e_ / 4, 1));
    const int addends = one_of(0, 0, 1, 1, 2);
    std::vector<std::string> used;
    for (int n = 0; n < addends; ++n) {
      const std::string kind =
          self_ && of_images_
              ? one_of("bias", "slope", "clipped", "kinds", "row", "column", "lines")
          : self_ ? one_of("bias", "slope", "clipped", "kinds", "row", "column")
                  : one_of("bias", "kinds", "row", "column");
      if (std::find(used.begin(), used.end(), kind) != used.end()) continue;
      used.push_back(kind);
      if (kind == "bias") {
        const bool has_heads = chance(50);
        inputs_.push_back(fmt::format("bias: [{}{}, {}]", has_heads ? "H, " : "",
                                      joined(rows_.sizes, ", "), joined(keys_.sizes, ", ")));
        text += fmt::format(" + bias[{}{},{}]", has_heads ? "h," : "", joined(rows_.place, ","),
                            joined(keys_.place, ","));
      } else if (kind == "slope") {
        params_ += "  param slope: [H]\n";
        text += rows_.is_image()
                    ? fmt::format(" - slope[h] * (abs({} - {}) + abs({} - {})) / 8", rows_.place[0],
                                  keys_.place[0], rows_.place[1], keys_.place[1])
                    : " - slope[h] * abs(i - j) / 8";
      } else if (kind == "clipped") {
        params_ += fmt::format("  param r: [H, {}]\n", table(7));
        text += fmt::format(" + r[h, {}]", distances(7));
      } else if (kind == "kinds") {
        params_ += "  param g: [3, 3]\n";
        inputs_.push_back(fmt::format("rows: int[B, {}]", joined(rows_.sizes, ", ")));
        inputs_.push_back(fmt::format("columns: int[B, {}]", joined(keys_.sizes, ", ")));
        text += fmt::format(" + g[rows[b,{}], columns[b,{}]]", joined(rows_.place, ","),
                            joined(keys_.place, ","));
      } else if (kind == "lines") {
        const auto &r = rows_.place, &at = keys_.place;
        inputs_.push_back("lines: [B, R, C, R]");
        params_ += "  param across: [H, 2 * C]\n";
        text += fmt::format(" + lines[b,{},{},{}] + across[h, {} - {} + C - 1]", r[0], r[1], at[0],
                            at[1], r[1]);
      } else if (kind == "row") {
        inputs_.push_back(fmt::format("at: [B, {}]", joined(rows_.sizes, ", ")));
        text += fmt::format(" * at[b,{}]", joined(rows_.place, ","));
      } else {
        inputs_.push_back(fmt::format("from_: [H, {}]", joined(keys_.sizes, ", ")));
        text += fmt::format(" + from_[h,{}]", joined(keys_.place, ","));
      }
    }
    if (chance(20)) text = fmt::format("3 * tanh(({}) / 3)", text);
    line(of_images_ ? fmt::format("s[b, h, {}, {}] = {}", rows_.ranges, keys_.ranges, text)
                    : fmt::format("s[b,h,i,j] = {}", text));
  }

  std::string guards() {
    std::string text;
    auto add = [&](const std::string& condition) {
      text += fmt::format("{}{}", text.empty() ? "" : " and ", condition);
    };
    const bool is_image = rows_.is_image();
    causal_ = self_ && chance(45);
    if (causal_) add(is_image ? causal_image() : "j <= i");
    if (self_ && chance(20))
      add(is_image ? window() : one_of("j > i - 60", "j > i - 3", "abs(i - j) < 50"));
    const std::string key = joined(keys_.place, ","), row = joined(rows_.place, ",");
    if (chance(20)) {
      inputs_.push_back(fmt::format("keep: bool[B, {}]", joined(keys_.sizes, ", ")));
      add(fmt::format("keep[b,{}]", key));
    }
    if (chance(15)) {
      inputs_.push_back("length: int[B]");
      add(fmt::format("{} < {} * length[b] + 1", keys_.place[0], keys_.is_image() ? 3 : 20));
    }
    if (self_ && chance(15)) {
      inputs_.push_back(fmt::format("document: int[B, {}]", joined(rows_.sizes, ", ")));
      add(fmt::format("document[b,{}] == document[b,{}]", row, key));
    }
    if (chance(10)) add(fmt::format("({} + 2 * {}) % 3 > 0", rows_.place[0], keys_.place.back()));
    return text;
  }

  std::string causal_image() {
    const auto &r = rows_.place, &k = keys_.place;
    const int kind = one_of(0, 1, 2);
    if (kind == 0) return fmt::format("{} <= {}", k[0], r[0]);
    if (kind == 1) return fmt::format("{} * C + {} <= {} * C + {}", k[0], k[1], r[0], r[1]);
    return fmt::format("({0} < {1} or {0} == {1} and {2} <= {3})", k[0], r[0], k[1], r[1]);
  }

  std::string window() {
    const auto &r = rows_.place, &k = keys_.place;
    const int kind = one_of(0, 1, 2);
    if (kind == 0)
      return fmt::format("abs({} - {}) < 3 and abs({} - {}) < 4", r[0], k[0], r[1], k[1]);
    if (kind == 1) return fmt::format("-2 <= {} - {} <= 1", k[1], r[1]);
    return fmt::format("{} > {} - 3", k[0], r[0]);
  }

  void weights(const std::string& guard) {
    const int kind = one_of(0, 0, 0, 0, 1, 2, 3);
    const std::string where = guard.empty() ? "" : fmt::format(" where {}", guard);
    const std::string at = pairs();
    if (kind == 0) {
      line(fmt::format("p{0} = softmax[{1}{2}] (s{0})", at, keys_.indices, where));
    } else if (kind == 1) {
      line(fmt::format("p{0} = sigmoid(s{0}){1}", at, where));
    } else if (kind == 2) {
      line(fmt::format("p{0} = relu(s{0}) * s{0}{1}", at, where));
    } else {
      const std::string lse = fmt::format("l[b,h,{}]", rows_.indices);
      line(fmt::format("{} = logsumexp[{}{}] (s{})", lse, keys_.indices, where, at));
      line(fmt::format("p{0} = exp(s{0} - {1}) / (2 + tanh({1})){2}", at, lse, where));
      if (chance(50)) results_.push_back("l");
    }
    if (chance(25)) {
      inputs_.push_back("seed: int");
      line(fmt::format("w{0} = if uniform(seed, b, h, {1}, {2}) < 0.8 then p{0} * 1.25 else 0", at,
                       of_images_ ? rows_.indices : "i", of_images_ ? keys_.indices : "j"));
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

  void sums(const std::string& v) {
    const std::string p = weight_ + pairs();
    const std::string &row = rows_.indices, &key = keys_.indices;
    const std::string value = self_ && chance(10)
                                  ? fmt::format("({}f] + rv[{}, f])", v, distances(4))
                                  : fmt::format("{}f]", v);
    if (value[0] == '(') params_ += fmt::format("  param rv: [{}, F]\n", table(4));
    line(fmt::format("z[b,h,{},f] = sum[{}] {} * {}{}", row, key, p, value,
                     scale(rows_.place.back())));
    results_.push_back("z");
    if (chance(20)) {
      line(
          fmt::format("per_column[b,h,{}] = sum[{}] {}{}", key, row, p, scale(keys_.place.back())));
      results_.push_back("per_column");
    }
    if (chance(20)) {
      inputs_.push_back(fmt::format("cost: [{}]", joined(keys_.sizes, ", ")));
      line(fmt::format("per_row[h,{}] = sum[b,{}] {} * cost[{}]", row, key, p,
                       joined(keys_.place, ",")));
      results_.push_back("per_row");
    }
    if (chance(15)) {
      line(fmt::format("total = sum[b,h,{},{}] {} * {} / 16", row, key, p, p));
      results_.push_back("total");
    }
    if (chance(15) && causal_) {
      line(fmt::format("per_distance[b, n: {}] = sum[h,{},{} where n == {} - {}] {}",
                       rows_.sizes[0], row, key, rows_.place[0], keys_.place[0], p));
      results_.push_back("per_distance");
    }
  }

  std::mt19937_64 random_;
  uint64_t seed_;
  bool of_images_, self_ = false, causal_ = false, has_sizes_of_keys_ = false;
  Positions rows_, keys_;
  std::map<std::string, int64_t> known_;  // extents of images
  int64_t heads_ = 1, e_ = 1, f_ = 1;
  std::string weight_ = "p", params_, body_;
  std::vector<std::string> inputs_, results_;
  std::map<std::string, std::string> leading_;
};

}  // namespace

RandomAttention random_attention(uint64_t seed) { return Writer(seed, false).write(); }

RandomAttention random_attention_of_images(uint64_t seed) { return Writer(seed, true).write(); }

}  // namespace attn::testing
