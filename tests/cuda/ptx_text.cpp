// Reads the text of a module, as LLVM prints it: directives, declarations, and instructions whose
// operands become slots. What it does not know is an error.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include "ptx_program.h"
#include "ptx_tokens.h"

namespace ptx {
namespace {

constexpr const char* kSpecials[] = {
    "%tid.x",   "%tid.y",    "%tid.z",    "%ntid.x",   "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
    "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "_"};

struct Label {
  std::string name;
  int line = 0;
  uint32_t instruction = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : tokens_(tokens_of(text)) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) module_.lines.push_back(line);
  }

  Module read() {
    while (at_ < tokens_.size()) directive();
    return std::move(module_);
  }

 private:
  [[noreturn]] void fail(const std::string& why, int line) const {
    const auto index = static_cast<size_t>(line) - 1;
    std::string text = index < module_.lines.size() ? module_.lines[index] : "";
    text.erase(0, text.find_first_not_of(" \t"));
    throw TextError("line " + std::to_string(line) + ", `" + text + "`: " + why);
  }
  const std::string& peek() const {
    static const std::string end;
    return at_ < tokens_.size() ? tokens_[at_].text : end;
  }
  int line() const { return at_ < tokens_.size() ? tokens_[at_].line : 0; }
  std::string next() {
    if (at_ >= tokens_.size())
      fail("the text ends here", tokens_.empty() ? 1 : tokens_.back().line);
    return tokens_[at_++].text;
  }
  bool take(const std::string& text) {
    if (peek() != text) return false;
    ++at_;
    return true;
  }
  void expect(const std::string& text) {
    if (!take(text)) fail("expected `" + text + "`, found `" + peek() + "`", line());
  }
  int64_t integer() {
    const bool is_negative = take("-");
    const std::string word = next();
    char* end = nullptr;
    const auto value = static_cast<int64_t>(std::strtoull(word.c_str(), &end, 0));
    if (*end != '\0' && strcmp(end, "U") != 0) fail("expected an integer", line());
    return is_negative ? -value : value;
  }

  // ---- of the module

  void directive() {
    const std::string word = next();
    if (word == ".version" || word == ".address_size") {
      next();
    } else if (word == ".target") {
      do next();
      while (take(","));
    } else if (word == ".visible" || word == ".weak" || word == ".extern") {
      is_extern_ = word == ".extern";
    } else if (word == ".entry") {
      entry();
    } else if (word == ".const" || word == ".global" || word == ".shared") {
      array(word, symbols_);
    } else {
      --at_;
      fail("unknown directive", line());
    }
  }

  // `.align 4 .b8 name[24] = {1, 2, ...};`, after the space's name.
  void array(const std::string& space, std::map<std::string, uint64_t>& symbols) {
    const int at_line = line();
    size_t alignment = 1;
    if (take(".align")) alignment = static_cast<size_t>(integer());
    const Type type = type_named(next().substr(1));
    const auto size = static_cast<size_t>(bytes_of(type));
    alignment = std::max(alignment, size);
    const std::string name = next();
    size_t count = 1;
    while (take("["))
      if (!take("]")) {
        count *= static_cast<size_t>(integer());
        expect("]");
      } else {
        count = 0;
      }
    const auto align = [&](size_t at) { return (at + alignment - 1) / alignment * alignment; };
    if (space == ".shared") {
      if (count == 0) {
        symbols[name] = kDynamic;
      } else {
        symbols[name] = align(shared_);
        shared_ = align(shared_) + size * count;
      }
    } else if (space == ".local") {
      symbols[name] = align(entry_->local_bytes);
      entry_->local_bytes = align(entry_->local_bytes) + size * count;
    } else {
      if (is_extern_ || type == Type::none) fail("no array that this module has", at_line);
      std::vector<unsigned char>& memory = module_.memory;
      memory.resize(align(memory.size()));
      symbols[name] = kModuleWindow + memory.size();
      size_t at = memory.size();
      memory.resize(at + size * count);
      if (take("=")) {
        const bool is_list = take("{");
        do {
          const uint64_t value = immediate();
          memcpy(&memory[at], &value, size);
          at += size;
        } while (is_list && take(","));
        if (is_list) expect("}");
      }
    }
    is_extern_ = false;
    expect(";");
  }

  void entry() {
    const std::string name = next();
    entry_ = &module_.entries[name];
    entry_->name = name;
    const size_t shared_of_module = shared_;
    own_.clear(), registers_.clear(), constants_.clear(), labels_.clear(), branches_.clear();
    if (take("(") && !take(")")) {
      do param();
      while (take(","));
      expect(")");
    }
    for (; !take("{");) {
      const std::string word = next();
      if (word != ".maxntid" && word != ".reqntid" && word != ".minnctapersm" && word != ".maxnreg")
        fail("unknown directive", line());
      int64_t all = 1;
      do all *= integer();
      while (take(","));
      if (word == ".maxntid" || word == ".reqntid") entry_->most_threads = static_cast<int>(all);
    }
    declared_.assign(1, {});
    while (!declared_.empty()) {
      if (take("{"))
        declared_.emplace_back();
      else if (take("}"))
        declared_.pop_back();
      else
        statement();
    }
    finish_entry();
    shared_ = shared_of_module;
  }

  void param() {
    expect(".param");
    size_t alignment = 1, size = 0;
    std::string name;
    while (name.empty()) {
      const std::string word = next();
      if (word == ".align")
        alignment = static_cast<size_t>(integer());
      else if (word == ".ptr")
        while (peek() != ".align" && peek()[0] == '.') next();
      else if (word[0] == '.')
        size = static_cast<size_t>(bytes_of(type_named(word.substr(1))));
      else
        name = word;
      // The alignment of what a pointer points at.
      if (word == ".ptr" && take(".align")) integer();
    }
    if (take("[")) {
      size *= static_cast<size_t>(integer());
      expect("]");
    }
    alignment = std::max(alignment, std::min<size_t>(size, 8));
    const size_t offset = (entry_->param_bytes + alignment - 1) / alignment * alignment;
    own_[name] = offset;
    entry_->params.push_back({offset, size});
    entry_->param_bytes = offset + size;
  }

  void finish_entry() {
    Entry& e = *entry_;
    Instruction last;
    last.line = tokens_[at_ - 1].line;
    decode("exit", last);
    e.code.push_back(last);
    for (const Label& b : branches_) {
      if (labels_.count(b.name) == 0) fail("there is no label " + b.name, b.line);
      e.code[b.instruction].target = labels_[b.name];
    }
    e.shared_bytes = (shared_ + 15) / 16 * 16;
    const uint32_t first = kFirstRegister + static_cast<uint32_t>(e.registers.size());
    e.constants.resize(constants_.size());
    for (const auto& [value, index] : constants_) e.constants[index] = value;
    // Memory whose size the launch chooses comes after what the text declares.
    if (const auto found = constants_.find(kDynamic); found != constants_.end())
      e.constants[found->second] = e.shared_bytes;
    // Constants had numbers of their own until the number of registers was known.
    for (Instruction& in : e.code) {
      for (uint32_t k = 0; k < in.n; ++k)
        if ((in.at[k] & kConstant) != 0) in.at[k] = first + (in.at[k] & ~kConstant);
    }
  }

  // ---- of an entry

  void statement() {
    const std::string word = peek();
    if (word == ".reg") {
      ++at_;
      next();
      do registers();
      while (take(","));
      expect(";");
    } else if (word == ".shared" || word == ".local") {
      ++at_;
      array(word, own_);
    } else if (word == ".pragma") {
      while (next() != ";") {
      }
    } else if (at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == ":") {
      labels_[word] = static_cast<uint32_t>(entry_->code.size());
      at_ += 2;
    } else {
      instruction();
    }
  }

  void registers() {
    const std::string name = next();
    const auto add = [&](const std::string& one) {
      if (!declared_.back().insert(one).second) fail("declared twice: " + one, line());
      if (registers_.count(one) != 0) return;
      registers_[one] = kFirstRegister + static_cast<uint32_t>(entry_->registers.size());
      entry_->registers.push_back(one);
    };
    if (!take("<")) return add(name);
    const int64_t count = integer();
    for (int64_t k = 0; k < count; ++k) add(name + std::to_string(k));
    expect(">");
  }

  void instruction() {
    Instruction in;
    in.line = line();
    if (take("@")) {
      in.is_negated = take("!");
      in.guard = named(next());
    }
    in.line = line();
    const std::string name = next();
    if (name == "bra" || name == "bra.uni") {
      branches_.push_back({next(), in.line, static_cast<uint32_t>(entry_->code.size())});
    } else {
      while (peek() != ";") {
        operand(in);
        if (peek() != ";" && !take(",") && !take("|")) fail("expected `,` or `;`", in.line);
      }
    }
    expect(";");
    if (!decode(name, in)) fail("unknown instruction, or with other operands", in.line);
    // Accesses that may be of shared memory.
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if ((name.rfind("ld.", 0) == 0 || name.rfind("st.", 0) == 0) && !has(".global") &&
        !has(".param") && !has(".local") && !has(".const"))
      entry_->grain = std::min(entry_->grain, static_cast<size_t>(bytes_of(in.type)));
    entry_->code.push_back(in);
  }

  void push(Instruction& in, uint32_t slot) {
    if (in.n == kMostOperands) fail("too many operands", in.line);
    in.at[in.n++] = slot;
  }

  void operand(Instruction& in) {
    if (take("{")) {
      in.to_vector |= in.n == 0;
      do operand(in);
      while (take(","));
      expect("}");
    } else if (take("[")) {
      if (in.n_addresses == 2) fail("too many addresses", in.line);
      push(in, value());
      int64_t& offset = in.offset[in.n_addresses++];
      if (take("+"))
        offset = integer();
      else if (peek() == "-")
        offset = integer();
      expect("]");
    } else {
      if (take("!")) in.negated |= 1u << in.n;
      push(in, value());
    }
  }

  uint32_t value() {
    const char c = peek()[0];
    return c == '-' || (c >= '0' && c <= '9') ? constant(immediate()) : named(next());
  }

  uint64_t immediate() {
    const std::string& word = peek();
    if (word.size() > 2 && word[0] == '0' && (strchr("fFdD", word[1]) != nullptr))
      return std::strtoull(next().c_str() + 2, nullptr, 16);
    return static_cast<uint64_t>(integer());
  }

  uint32_t constant(uint64_t value) {
    return kConstant | constants_.emplace(value, constants_.size()).first->second;
  }

  uint32_t named(const std::string& name) {
    if (const auto found = registers_.find(name); found != registers_.end()) return found->second;
    for (uint32_t k = 0; k < std::size(kSpecials); ++k)
      if (name == kSpecials[k]) return k;
    if (name == "WARP_SZ") return constant(32);
    for (const auto* symbols : {&own_, &symbols_})
      if (const auto found = symbols->find(name); found != symbols->end())
        return constant(found->second);
    fail("there is no `" + name + "`", line());
  }

  static constexpr uint32_t kConstant = 1u << 31;
  // Stands for an address until the entry's shared memory is known.
  static constexpr uint64_t kDynamic = kModuleWindow * 2;

  std::vector<Token> tokens_;
  size_t at_ = 0, shared_ = 0;
  bool is_extern_ = false;
  Module module_;
  Entry* entry_ = nullptr;
  std::map<std::string, uint64_t> symbols_, own_;
  std::map<std::string, uint32_t> registers_, labels_;
  std::vector<std::set<std::string>> declared_;  // registers, by the braces around them
  std::map<uint64_t, uint32_t> constants_;
  std::vector<Label> branches_;
};

}  // namespace

Module parse(const std::string& text) { return Reader(text).read(); }

bool is_ptx(const std::string& text) { return text.find(".version ") != std::string::npos; }

}  // namespace ptx
