// Instructions of warps give several registers, as no function does that Halide could call by one
// of LLVM's names. Calls of unknown functions stand for them in the PTX that LLVM writes, and the
// instructions take their place here. ptxas takes away the moves that come with them.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

// $1 is the register of argument 1, @1 the four of its 128 bits, $1:2 that of them which argument 2
// says, a number; $r and @r those of the result. &1 is the address that argument 1 was loaded from.
struct Instruction {
  std::string_view name, text;
};
constexpr Instruction kInstructions[] = {
    {"attn_no_sums", "mov.b32 $r:0, 0; mov.b32 $r:1, 0; mov.b32 $r:2, 0; mov.b32 $r:3, 0;"},
    {"attn_mma_tf32",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 @r, {$1, $2, $3, $4}, {$5, $6}, @0;"},
    {"attn_mma_bf16",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 @r, {$1, $2, $3, $4}, {$5, $6}, @0;"},
    {"attn_mma_f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 @r, {$1, $2, $3, $4}, {$5, $6}, @0;"},
    {"attn_element", "mov.b32 $r, $0:1;"},
    {"attn_word", "mov.b32 $r, $0:1;"},
    {"attn_piece", "mov.b32 $r:0, $0; mov.b32 $r:1, $1; mov.b32 $r:2, $2; mov.b32 $r:3, $3;"},
    {"attn_pair_bf16", "cvt.rn.bf16x2.f32 $r, $1, $0;"},
    {"attn_pair_f16", "cvt.rn.f16x2.f32 $r, $1, $0;"},
    {"attn_matrices", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 @r, [$0];"},
    {"attn_address_in_line", "cvt.u32.u64 $r, &0; and.b32 $r, $r, 15;"},
    {"attn_load_four", "ld.global.nc.v4.b32 @r, [&0];"},
    {"attn_copy", "cp.async.cg.shared.global [$0], [&1], 16;"},
    {"attn_copy_number", "cp.async.ca.shared.global [$0], [&1], 4, $2;"},
    {"attn_wait_for_copies", "cp.async.wait_all;"},
    {"attn_turned_matrices", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 @r, [$0];"},
};

std::string_view trimmed(std::string_view s) {
  const auto is_space = [](char c) { return isspace(static_cast<unsigned char>(c)) != 0; };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

// What stands between two characters, the first and the last of their kind.
std::string_view between(std::string_view s, char first, char last) {
  const size_t from = s.find(first), to = s.rfind(last);
  if (from == s.npos || to == s.npos || to < from) return {};
  return trimmed(s.substr(from + 1, to - from - 1));
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    parts.emplace_back(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

// A call: between the lines `{ // callseq` and `} // callseq`.
struct PtxCall {
  std::string name;
  std::vector<std::vector<std::string>> arguments;  // a register or number, or two registers
  std::vector<std::string> result;
};

PtxCall call_of(const std::vector<std::string>& lines) {
  PtxCall call;
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  for (const std::string& line : lines) {
    const std::string_view s = line;
    if (s.starts_with("st.param")) {
      const std::string_view value = trimmed(s.substr(s.find("],") + 2));
      const bool is_pair = value.starts_with('{');
      values[std::string(between(s, '[', ']'))] =
          is_pair ? parts_of(between(value, '{', '}')) : parts_of(value.substr(0, value.find(';')));
    } else if (s.starts_with("ld.param")) {
      const std::string_view target = s.substr(0, s.rfind('['));
      call.result = target.find('{') != target.npos
                        ? parts_of(between(target, '{', '}'))
                        : parts_of(trimmed(target.substr(target.find_first_of(" \t"))));
    } else if (s.starts_with("call.uni")) {
      const size_t name = s.starts_with("call.uni (") ? s.find("),") + 2 : strlen("call.uni");
      const size_t end = s.find(',', name);
      call.name = trimmed(s.substr(name, end - name));
      for (const std::string& p : parts_of(between(s.substr(end), '(', ')')))
        call.arguments.push_back(values.at(p));
    }
  }
  return call;
}

const Instruction& instruction_of(const PtxCall& call) {
  const auto instruction = std::ranges::find(kInstructions, call.name, &Instruction::name);
  ATTN_CHECK(instruction != std::end(kInstructions), "a call that no instruction stands for");
  return *instruction;
}

bool takes_address(const Instruction& instruction, size_t argument) {
  return instruction.text.find("&" + std::to_string(argument)) != std::string_view::npos;
}

// The address from which a register was loaded.
std::string address_name(const std::string& loaded) {
  return "%attn_at_" + loaded.substr(loaded.find('%') + 1);
}

// The registers that a line names.
std::vector<std::string> registers_of(std::string_view line) {
  std::vector<std::string> result;
  for (size_t at = line.find('%'); at != line.npos; at = line.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < line.size() &&
           (isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
      ++end;
    result.emplace_back(line.substr(at, end - at));
  }
  return result;
}

// A load, or in its place the addresses of its registers where these are wanted; both where some of
// the registers are read, too. `declared`: the names of addresses that the kernel has declared; a
// register may be loaded at several places.
std::string addresses_or_load(const std::string& line, const std::set<std::string>& wanted,
                              const std::set<std::string>& read, std::set<std::string>& declared) {
  const std::string_view load = trimmed(line), place = between(load, '[', ']');
  const std::string_view before = load.substr(0, load.find('['));
  const bool is_list = before.find('{') != before.npos;
  const std::vector<std::string> loaded =
      is_list ? parts_of(between(before, '{', '}'))
              : parts_of(trimmed(before.substr(before.find_first_of(" \t"))));
  const auto is_wanted = [&](const std::string& r) { return wanted.contains(r); };
  if (std::ranges::none_of(loaded, is_wanted)) return line;
  const int bytes = before.find(".b64") != before.npos   ? 8
                    : before.find(".b32") != before.npos ? 4
                                                         : 0;
  ATTN_CHECK(bytes > 0, "an address of a number of some other size");
  const auto is_read = [&](const std::string& r) { return read.contains(r); };
  const size_t plus = std::min(place.find('+'), place.size());
  const std::string base(place.substr(0, plus));
  const std::string offset(plus < place.size() ? place.substr(plus + 1) : "0");
  std::string lines = std::ranges::any_of(loaded, is_read) ? line : "";
  for (size_t k = 0; k < loaded.size(); ++k) {
    if (!is_wanted(loaded[k])) continue;
    const std::string name = address_name(loaded[k]);
    if (declared.insert(name).second) lines += "\t.reg .b64 " + name + ";\n";
    lines += "\tadd.s64 " + name + ", " + base + ", " + offset + ";\n";
    if (k > 0)
      lines += "\tadd.s64 " + name + ", " + name + ", " +
               std::to_string(bytes * static_cast<int>(k)) + ";\n";
  }
  return lines;
}

std::string in_place_of(const PtxCall& call) {
  const Instruction* instruction = &instruction_of(call);
  std::ostringstream before, text, after;
  const auto quad = [](const std::string& name) {
    return "{" + name + "_0, " + name + "_1, " + name + "_2, " + name + "_3}";
  };
  const auto four = [](const std::string& name) {
    return "\t.reg .b32 " + name + "_0, " + name + "_1, " + name + "_2, " + name + "_3;\n";
  };
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const std::vector<std::string>& a = call.arguments[k];
    const std::string name = "%attn_" + std::to_string(k);
    if (takes_address(*instruction, k)) continue;
    if (a.size() == 2) {
      before << four(name);
      for (int half : {0, 1})
        before << "\tmov.b64 {" << name << '_' << 2 * half << ", " << name << '_' << 2 * half + 1
               << "}, " << a[half] << ";\n";
    } else {
      before << "\t.reg .b32 " << name << ";\n\tmov.b32 " << name << ", " << a[0] << ";\n";
    }
  }
  const bool is_wide = call.result.size() == 2;
  before << (is_wide ? four("%attn_r") : "");
  if (is_wide)
    for (int half : {0, 1})
      if (call.result[half] != "_")
        after << "\tmov.b64 " << call.result[half] << ", {%attn_r_" << 2 * half << ", %attn_r_"
              << 2 * half + 1 << "};\n";
  const std::string_view pattern = instruction->text;
  for (size_t n = 0; n < pattern.size(); ++n) {
    if (pattern[n] == '&') {
      text << address_name(call.arguments.at(static_cast<size_t>(pattern[++n] - '0')).at(0));
      continue;
    }
    if (pattern[n] != '$' && pattern[n] != '@') {
      text << pattern[n];
      continue;
    }
    const bool is_quad = pattern[n] == '@';
    const char which = pattern[++n];
    const bool has_part = n + 2 < pattern.size() && pattern[n + 1] == ':';
    const std::string name = std::string("%attn_") + which;
    if (is_quad) {
      text << quad(name);
    } else if (has_part) {
      const size_t part = static_cast<size_t>(pattern[n += 2] - '0');
      text << name << '_' << (which == 'r' ? std::to_string(part) : call.arguments.at(part).at(0));
    } else {
      text << (which == 'r' ? call.result.at(0) : name);
    }
  }
  return "\t{ // " + call.name + "\n" + before.str() + "\t" + text.str() + "\n" + after.str() +
         "\t}\n";
}

}  // namespace

namespace {

// The text in parts: a call, from `{ // callseq` to `} // callseq`, or one line of anything else.
struct Part {
  std::string text;
  PtxCall call;  // without a name: of no call
};

std::vector<Part> parsed(const std::string& ptx) {
  std::vector<Part> parts;
  std::istringstream in(ptx);
  for (std::string line; std::getline(in, line);) {
    const std::string_view s = trimmed(line);
    if (s.starts_with(".extern .func") && s.find("attn_") != s.npos) {
      while (!trimmed(line).ends_with(';') && std::getline(in, line)) continue;
      continue;
    }
    if (!s.starts_with("{ // callseq")) {
      parts.push_back({line + '\n', {}});
      continue;
    }
    std::vector<std::string> lines;
    std::string whole = line + '\n', joined;
    while (std::getline(in, line) && !trimmed(line).starts_with("} // callseq")) {
      whole += line + '\n';
      joined += joined.empty() ? std::string(trimmed(line)) : ' ' + std::string(trimmed(line));
      if (!joined.ends_with(';')) continue;
      lines.push_back(std::move(joined));
      joined.clear();
    }
    parts.push_back({whole + line + '\n', call_of(lines)});
  }
  return parts;
}

}  // namespace

std::string with_instructions(const std::string& ptx) {
  const std::vector<Part> parts = parsed(ptx);
  const auto is_ours = [](const Part& p) { return p.call.name.starts_with("attn_"); };
  const auto begins_kernel = [](const Part& p) { return p.text.find(".entry") != p.text.npos; };
  std::string text;
  for (size_t first = 0, end; first < parts.size(); first = end) {
    for (end = first + 1; end < parts.size() && !begins_kernel(parts[end]);) ++end;
    std::set<std::string> wanted, read;  // registers: whose addresses are wanted; that are read
    for (size_t n = first; n < end; ++n)
      for (size_t k = 0; is_ours(parts[n]) && k < parts[n].call.arguments.size(); ++k) {
        const std::vector<std::string>& argument = parts[n].call.arguments[k];
        if (takes_address(instruction_of(parts[n].call), k))
          wanted.insert(argument.at(0));
        else
          read.insert(argument.begin(), argument.end());
      }
    const auto is_load = [&](const Part& p) {
      return !wanted.empty() && trimmed(p.text).starts_with("ld.global");
    };
    for (size_t n = first; n < end && !wanted.empty(); ++n) {
      if (is_ours(parts[n])) continue;
      const std::string_view line = parts[n].text;
      for (std::string& r : registers_of(is_load(parts[n]) ? between(line, '[', ']') : line))
        read.insert(std::move(r));
    }
    std::set<std::string> declared;
    for (size_t n = first; n < end; ++n) {
      const Part& p = parts[n];
      text += is_ours(p)   ? in_place_of(p.call)
              : is_load(p) ? addresses_or_load(p.text, wanted, read, declared)
                           : p.text;
    }
  }
  return text;
}

Halide::Module with_instructions(const Halide::Module& module) {
  if (!module.target().has_feature(Halide::Target::CUDA)) return module;
  Halide::Module result(module.name(), module.target(), module.get_metadata_name_map());
  result.set_any_strict_float(module.any_strict_float());
  for (const auto& f : module.functions()) result.append(f);
  for (const Halide::Buffer<void>& b : module.buffers()) {
    const char* text = static_cast<const char*>(b.data());
    if (b.name().find("cuda_gpu_source_kernels") == std::string::npos) {
      result.append(b);
      continue;
    }
    const std::string ptx = with_instructions(std::string{text, strnlen(text, b.size_in_bytes())});
    Halide::Buffer<uint8_t> changed(static_cast<int>(ptx.size() + 1), b.name());
    std::copy_n(ptx.c_str(), ptx.size() + 1, changed.data());
    result.append(changed);
  }
  return result;
}

}  // namespace attn::lower
