#include "tests/support/program_frame.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::testing {

ProgramFrame::ProgramFrame(uint64_t seed) : Expressions(seed), seed_(seed) {
  make_sizes();
  make_given();
}

RandomProgram ProgramFrame::finished() {
  RandomProgram program;
  std::string list = results(program);
  program.has_tangents = seed_ % 5 == 4;
  if (program.has_tangents) {
    list = "loss, " + list;
    line("loss = " + loss());
  }
  program.text = fmt::format(
      "{}{}\nfn bump(x, c) = x * exp(-(x - c)^2)\n{}\ntrain model r{}({}) -> {} {{\n{}{}}}\n",
      uses_, sizes_, blocks_, seed_, joined_inputs(), list, params_, body_);
  program.calls = calls();
  return program;
}

// ---- sizes, inputs, parameters, results

void ProgramFrame::make_sizes() {
  for (const char* name : {"B", "T", "S"}) {
    const bool present = chance(20);
    if (present) present_.insert(name);
    sizes_ +=
        fmt::format("{}{}{}", sizes_.empty() ? "size " : ", ", name, present ? " in 1.." : "");
  }
  for (const auto& [name, values] : std::map<std::string, std::vector<int>>{
           {"N", {1, 2, 3, 5, 8, 16, 17, 33}}, {"M", {1, 2, 3, 4, 7, 9}}}) {
    const int value = of(values);
    if (chance(70)) {
      known_[name] = value;
      sizes_ += fmt::format(", {} = {}", name, value);
    } else {
      free_sizes_[name] = value;
      sizes_ += ", " + name;
    }
  }
  for (int64_t n : {1, 2, 3, 4, 5}) known_[std::to_string(n)] = n;
}

std::string ProgramFrame::storage() {
  if (chance(80)) return "";
  static const std::vector<std::string> kStorages = {"f16", "bf16", "f64"};
  const std::string storage = of(kStorages);
  wide_ |= storage == "f64";
  return storage;
}

void ProgramFrame::given(const std::string& name, const std::vector<std::string>& extents,
                         bool parameter) {
  std::string list;
  for (const std::string& e : extents) list += (list.empty() ? "" : ", ") + e;
  const std::string type = extents.empty() ? "f32" : fmt::format("{}[{}]", storage(), list);
  if (parameter)
    params_ += fmt::format("  param {}: {}\n", name, type);
  else
    declare_input(name, type);
  pool_.push_back({.name = name, .extents = extents, .given = true});
}

std::vector<std::string> ProgramFrame::some_extents(int least, int most) {
  static const std::vector<std::string> kExtents = {"B", "T", "S", "N", "M", "T", "N", "B",
                                                    "T", "S", "N", "M", "T", "N", "1", "2"};
  std::vector<std::string> extents;
  for (int n = least + below(most - least + 1); n > 0; --n) extents.push_back(of(kExtents));
  return extents;
}

// Every size stands alone somewhere.
void ProgramFrame::make_given() {
  given("scalar", {}, true);
  given("x1", {"B", "T", "N"}, false);
  given("x2", {"B", "S", "M"}, false);
  given("w1", {"N", "M"}, true);
  for (int k = 3 + below(2); k > 2; --k) given(fmt::format("x{}", k), some_extents(0, 3), false);
  for (int k = 3 + below(2); k > 1; --k) given(fmt::format("w{}", k), some_extents(1, 3), true);
}

std::string ProgramFrame::joined_inputs() const {
  std::string list;
  for (const auto& [name, type] : inputs_)
    list += fmt::format("{}{}: {}", list.empty() ? "" : ", ", name, type);
  return list;
}

// What nobody reads, and now and then what somebody does; some stored shorter.
std::string ProgramFrame::results(RandomProgram& program) {
  std::string list;
  int count = 0;
  for (size_t k = made_.size(); k-- > 0 && count < 5;) {
    if (mentioned(made_[k]) && !chance(10)) continue;
    ++count;
    list += (list.empty() ? "" : ", ") + made_[k];
    if (wide_ || whole_.count(made_[k]) || !chance(8)) continue;
    list += chance(50) ? ": bf16" : ": f16";
    // One unit of bf16's last place.
    program.tolerance = 1.0 / 128;
  }
  return list.empty() ? made_.back() : list;
}

// A scalar of what was made last, which is real.
std::string ProgramFrame::loss() const {
  for (size_t k = pool_.size(); k-- > 0;) {
    const Pooled& p = pool_[k];
    if (p.given || whole_.count(p.name)) continue;
    std::string indices, ranges;
    for (size_t n = 0; n < p.extents.size(); ++n) {
      indices += fmt::format("{}at{}", n == 0 ? "" : ", ", n);
      ranges += fmt::format("{}at{}: {}", n == 0 ? "" : ", ", n, p.extents[n]);
    }
    if (indices.empty()) return fmt::format("tanh({})", p.name);
    return fmt::format("sum[{}] tanh({}[{}])", ranges, p.name, indices);
  }
  return "tanh(scalar)";
}

// A use after the definition, whose own left side is one mention.
bool ProgramFrame::mentioned(const std::string& name) const {
  int count = 0;
  for (size_t at = body_.find(name); at != std::string::npos; at = body_.find(name, at + 1)) {
    const char next = body_[at + name.size()];
    count += next < '0' || next > '9';
  }
  return count > 1;
}

std::vector<std::map<std::string, int64_t>> ProgramFrame::calls() {
  std::vector<std::map<std::string, int64_t>> all = {
      {{"B", 2}, {"T", 4 + below(3)}, {"S", 3 + below(6)}}};
  static const std::vector<int64_t> kFew = {0, 1, 1, 2, 2, 3, 5}, kAny = {0, 1, 2, 3, 5, 17};
  while (all.size() < 3) all.push_back({{"B", of(kFew)}, {"T", of(kAny)}, {"S", of(kAny)}});
  for (std::map<std::string, int64_t>& sizes : all) {
    for (const std::string& name : present_) sizes[name] = std::max<int64_t>(sizes[name], 1);
    if (recurs_) sizes["T"] = std::min<int64_t>(sizes["T"], 6);
    for (const auto& [name, value] : free_sizes_)
      sizes[name] = &sizes == &all.back() ? below(4) : value;
  }
  return all;
}

// ---- definitions

Axes ProgramFrame::together(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::string ProgramFrame::bounds(const Axes& reduced) {
  std::string list;
  for (const Axis& a : reduced) list += (list.empty() ? "" : ",") + bound(a);
  return list;
}

void ProgramFrame::line(const std::string& text) { body_ += fmt::format("  {}\n", text); }

std::string ProgramFrame::left(const std::string& name, const Axes& free) {
  std::string list;
  for (const Axis& a : free)
    list += (list.empty() ? "" : ",") + (in_scan_ && a.index == "t" ? "t" : bound(a));
  return free.empty() ? name : fmt::format("{}[{}]", name, list);
}

void ProgramFrame::define(const std::string& name, const Axes& free, Value value,
                          const std::string& after) {
  if (in_scan_) {
    if (value.bound > 1) value = {fmt::format("tanh({})", value.text), 1};
    pending_.push_back({name, fmt::format("{} = {}", left(name, free), value.text), after});
  } else {
    line(fmt::format("{} = {}{}", left(name, free), value.text, after));
  }
  Pooled p{.name = name, .extents = {}, .bound = value.bound};
  for (const Axis& a : free) {
    if (in_scan_ && a.index == "t") p.step = static_cast<int>(p.extents.size());
    p.extents.push_back(a.extent);
  }
  pool_.push_back(p);
  made_.push_back(name);
}

Axes ProgramFrame::free_axes(int least, int most) {
  begin_statement();
  Axes free;
  for (const std::string& extent : some_extents(least, most)) free.push_back(axis(extent));
  if (in_scan_) free.insert(free.begin() + below(static_cast<int>(free.size()) + 1), {"t", "T"});
  return free;
}

}  // namespace attn::testing
