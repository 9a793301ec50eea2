// Random programs with recurrences, as text.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace attn::testing {

// A model of x: [B, T, N], h0: [B, N] and a parameter u: [N, N], N being 2: one scan of up to four
// tensors that read each other at the step and one step back, in a random direction.
inline std::string random_recurrence(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const bool down = pick(3) == 0;
  const std::string back = down ? "t+1" : "t-1";
  const int count = 1 + pick(4);
  const auto name = [](int k) { return std::string(1, static_cast<char>('a' + k)); };
  std::set<int> carried;
  const auto before = [&](const std::string& index) {
    const int k = pick(count);
    carried.insert(k);
    return name(k) + "[r," + back + "," + index + "]";
  };
  const auto term = [&](int k) -> std::string {
    switch (pick(k > 0 ? 7 : 5)) {
      case 0:
        return "x[r,t,n]";
      case 1:
        return "0.5 * tanh(" + before("n") + ")";
      case 2:
        return "(sum[m] u[n,m] * " + before("m") + ")";
      case 3:
        return "sigmoid(" + before("n") + ") * x[r,t,n]";
      case 4:
        return "(if t > 1 then 0.3 * " + before("n") + " else x[r,t,n])";
      case 5:
        return "tanh(" + name(pick(k)) + "[r,t,n])";
      default:
        return "(mean[m] u[n,m] * " + name(pick(k)) + "[r,t,m])";
    }
  };
  std::string bodies[4];
  for (int k = 0; k < count; ++k) bodies[k] = term(k) + " + " + term(k) + " * " + term(k);
  std::string text =
      "size B, T, N = 2\nmodel m(x: [B, T, N], h0: [B, N]) -> y {\n  param u: [N, N]\n";
  text += down ? "  scan t: T down {\n" : "  scan t: T {\n";
  for (int k = 0; k < count; ++k) {
    const char* starts[] = {" from 0", " from h0[r,n]", " from 0.5 * h0[r,n]", " from 1"};
    const std::string start = carried.count(k) ? starts[pick(4)] : "";
    const std::string guard = pick(5) == 0 ? " where t != 1" : "";
    text += "    " + name(k) + "[r: B,t,n: N] = " + bodies[k] + start + guard + "\n";
  }
  text += "  }\n  y[r,t,n] = 0";
  for (int k = 0; k < count; ++k)
    text += " + " + std::to_string(k + 1) + " * " + name(k) + "[r,t,n]";
  text += "\n}\n";
  return text;
}

}  // namespace attn::testing
