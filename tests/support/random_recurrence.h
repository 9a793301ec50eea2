// Random programs with recurrences, as text.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>

namespace attn::testing {

// Steps whose number is known when it runs, each with data of its own; or rounds of a known number,
// all with the same data, so that gradients are sums over them.
enum class Steps { of_data, rounds };

// A model of x: [B, T, N], h0: [B, N] and a parameter u: [N, N], N being 2: one scan of up to four
// tensors that read each other at the step and one step back, in a random direction. Of rounds x is
// [B, N], B is 512 and N 8.
inline std::string random_recurrence(uint64_t seed, Steps steps = Steps::of_data) {
  std::mt19937_64 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  const bool rounds = steps == Steps::rounds;
  const std::string x = rounds ? "x[r,n]" : "x[r,t,n]";
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
        return x;
      case 1:
        return "0.5 * tanh(" + before("n") + ")";
      case 2:
        return "(sum[m] u[n,m] * " + before("m") + ")";
      case 3:
        return "sigmoid(" + before("n") + ") * " + x;
      case 4:
        return "(if t > 1 then 0.3 * " + before("n") + " else " + x + ")";
      case 5:
        return "tanh(" + name(pick(k)) + "[r,t,n])";
      default:
        return "(mean[m] u[n,m] * " + name(pick(k)) + "[r,t,m])";
    }
  };
  std::string bodies[4];
  for (int k = 0; k < count; ++k) bodies[k] = term(k) + " + " + term(k) + " * " + term(k);
  std::string text =
      rounds ? "size B = 512, N = 8, T = " + std::to_string(2 + pick(4)) + "\nmodel m(x: [B, N]"
             : "size B, T, N = 2\nmodel m(x: [B, T, N]";
  text += ", h0: [B, N]) -> y {\n  param u: [N, N]\n";
  text += down ? "  scan t: T down {\n" : "  scan t: T {\n";
  for (int k = 0; k < count; ++k) {
    const char* starts[] = {" from 0", " from h0[r,n]", " from 0.5 * h0[r,n]", " from 1"};
    const std::string start = carried.count(k) ? starts[pick(4)] : "";
    const std::string guard = pick(5) == 0 ? " where t != 1" : "";
    text += "    " + name(k) + "[r: B,t,n: N] = " + bodies[k] + start + guard + "\n";
  }
  text += rounds ? "  }\n  y[r,n] = 0" : "  }\n  y[r,t,n] = 0";
  for (int k = 0; k < count; ++k) {
    text += " + " + std::to_string(k + 1) + " * ";
    if (!rounds)
      text += name(k) + "[r,t,n]";
    else if (pick(3) > 0)
      text += name(k) + (down ? "[r,0,n]" : "[r,T-1,n]");
    else
      text += "(sum[t: T] " + name(k) + "[r,t,n])";
  }
  text += "\n}\n";
  return text;
}

}  // namespace attn::testing
