#include "build_graph.h"

#include <cctype>
#include <charconv>
#include <map>
#include <stdexcept>

#include "compiler/ops/table.h"

namespace attn::testing {

using namespace ir;

namespace {

std::vector<std::string> words_of(std::string_view line) {
  static const std::string_view kTwo[] = {"<=", ">=", "==", "!=", "//"};
  std::vector<std::string> words;
  size_t k = 0;
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (k < line.size()) {
    size_t begin = k;
    if (std::isspace(static_cast<unsigned char>(line[k]))) {
      ++k;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(line[k]))) {
      while (k < line.size() &&
             (is_word(line[k]) || line[k] == '.' || (line[k] == '-' && line[k - 1] == 'e')))
        ++k;
    } else if (is_word(line[k])) {
      while (k < line.size() && (is_word(line[k]) || line[k] == '.')) ++k;
    } else {
      k += 1;
      for (std::string_view two : kTwo)
        if (line.substr(begin, 2) == two) k = begin + 2;
    }
    words.emplace_back(line.substr(begin, k - begin));
  }
  return words;
}

class Builder {
 public:
  Graph run(std::string_view text) {
    size_t begin = 0;
    while (begin <= text.size()) {
      size_t end = text.find_first_of("\n;", begin);
      if (end == std::string_view::npos) end = text.size();
      line_ = std::string(text.substr(begin, end - begin));
      words_ = words_of(line_.substr(0, line_.find('#')));
      at_ = 0;
      if (!words_.empty()) statement();
      if (at_ < words_.size()) fail("nothing may follow");
      begin = end + 1;
    }
    verify(g_, "build_graph");
    return std::move(g_);
  }

  Definition one(Graph& g, std::string_view line) {
    g_ = g;
    line_ = std::string(line);
    words_ = words_of(line_);
    std::string target = name();
    auto tensor = g.find(target);
    if (!tensor) fail("no tensor " + target);
    Definition d = definition(g[*tensor].extents);
    if (at_ < words_.size()) fail("nothing may follow");
    d.target = *tensor;
    g = std::move(g_);
    return d;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(what + " at word " + std::to_string(at_) + " of: " + line_);
  }
  bool peek(std::string_view word) const { return at_ < words_.size() && words_[at_] == word; }
  bool take(std::string_view word) {
    if (!peek(word)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("expected " + std::string(word));
  }
  std::string name() {
    if (at_ == words_.size()) fail("expected a name");
    return words_[at_++];
  }

  void statement() {
    if (take("size")) return sizes();
    if (take("output")) {
      do {
        std::string n = name();
        auto t = g_.find(n);
        if (!t) fail("no tensor " + n);
        g_.outputs.push_back({n, *t});
        if (g_[*t].role == Role::interior) g_[*t].role = Role::output;
      } while (take(","));
      return;
    }
    if (take("input")) return given(Role::input, Storage::f32);
    if (take("param")) return given(Role::parameter, Storage::f32);
    if (take("cotangent")) return given(Role::cotangent, Storage::f32);
    if (take("int")) return given(Role::input, Storage::i32);
    if (take("bool")) return given(Role::input, Storage::boolean);
    Tensor t;
    t.name = name();
    Definition d = definition({});
    for (IndexId i : d.free) t.extents.push_back(g_[i].extent);
    bool integer = d.body.type() == Type::integer || d.combine == Combine::argmax;
    t.storage = d.body.type() == Type::boolean ? Storage::boolean
                : integer                      ? Storage::i32
                                               : Storage::f32;
    d.target = g_.new_tensor(std::move(t));
    g_.definitions.push_back(std::move(d));
  }

  void sizes() {
    do {
      Size s;
      s.name = name();
      if (take("=")) {
        Poly first = size_product();
        if (take("//")) {
          s.quotient = std::pair(first, size_product());
        } else if (auto n = first.integer()) {
          s.value = *n;
        } else {
          s.definition = first;
          s.value = g_.known(first);
        }
      }
      g_.sizes.push_back(std::move(s));
    } while (take(","));
  }

  Poly size_atom() {
    std::string w = name();
    if (auto id = g_.find_size(w)) return Poly::size(*id);
    int64_t n = 0;
    auto [end, error] = std::from_chars(w.data(), w.data() + w.size(), n);
    if (error != std::errc() || end != w.data() + w.size()) fail("no size " + w);
    return Poly(n);
  }
  Poly size_product() {
    Poly p = size_atom();
    for (;;) {
      if (take("*")) {
        p = p * size_atom();
      } else if (take("/")) {
        Poly by = size_atom();
        auto q = divide(g_.expand(p), g_.expand(by));
        if (!q) fail("inexact division of sizes");
        p = *q;
      } else {
        return p;
      }
    }
  }
  Poly size_sum() {
    Poly p = size_product();
    for (;;) {
      if (take("+"))
        p = p + size_product();
      else if (take("-"))
        p = p - size_product();
      else
        return p;
    }
  }

  void given(Role role, Storage storage) {
    do {
      Tensor t;
      t.name = name();
      t.role = role;
      t.storage = storage;
      if (take("[")) {
        if (!peek("]")) do
            t.extents.push_back(size_sum());
          while (take(","));
        expect("]");
      }
      g_.new_tensor(std::move(t));
    } while (take(","));
  }

  IndexId bind(const std::string& n) {
    IndexId id = g_.new_index(n, Poly(0));
    bound_[n] = id;
    known_[n] = false;
    if (take(":")) {
      g_[id].extent = size_sum();
      known_[n] = true;
    }
    return id;
  }

  // What stands after the name; `extents` are those of the target where it is known.
  Definition definition(const std::vector<Poly>& extents) {
    bound_.clear();
    known_.clear();
    Definition d;
    if (take("[")) {
      do {
        std::string n = name();
        d.free.push_back(bind(n));
        if (d.free.size() > extents.size()) continue;
        g_[d.free.back()].extent = Poly(extents[d.free.size() - 1]);
        known_[n] = true;
      } while (take(","));
      expect("]");
    }
    expect("=");
    for (Combine c : {Combine::sum, Combine::max, Combine::min, Combine::prod, Combine::logsumexp,
                      Combine::argmax}) {
      if (!peek(name_of(c)) || at_ + 1 >= words_.size() || words_[at_ + 1] != "[") continue;
      at_ += 2;
      d.combine = c;
      do d.reduced.push_back(bind(name()));
      while (take(","));
      if (take("where")) d.guard = conjuncts(disjunction());
      expect("]");
      break;
    }
    d.body = disjunction();
    if (take("where"))
      for (const Expr& c : conjuncts(disjunction())) d.guard.insert(c);
    for (const auto& [n, known] : known_)
      if (!known) fail("no range for index " + n);
    return normal_form(std::move(d));
  }

  Expr disjunction() {
    std::vector<Expr> all{conjunction()};
    while (take("or")) all.push_back(conjunction());
    return all.size() == 1 ? all[0] : any_of(all);
  }
  Expr conjunction() {
    std::vector<Expr> all{comparison()};
    while (take("and")) all.push_back(comparison());
    return all.size() == 1 ? all[0] : all_of(all);
  }
  Expr comparison() {
    if (take("not")) return negation(comparison());
    Expr a = sum();
    std::vector<Expr> all;
    for (;;) {
      Expr b;
      if (take("<")) {
        all.push_back(less(a, b = sum()));
      } else if (take("<=")) {
        all.push_back(at_most(a, b = sum()));
      } else if (take(">")) {
        b = sum();
        all.push_back(less(b, a));
      } else if (take(">=")) {
        b = sum();
        all.push_back(at_most(b, a));
      } else if (take("==")) {
        all.push_back(equal(a, b = sum()));
      } else if (take("!=")) {
        b = sum();
        all.push_back(negation(equal(a, b)));
      } else {
        return all.empty() ? a : all_of(all);
      }
      a = b;
    }
  }
  Expr sum() {
    Expr e = product();
    for (;;) {
      if (take("+"))
        e = e + product();
      else if (take("-"))
        e = e - product();
      else
        return e;
    }
  }
  Expr product() {
    Expr e = unary();
    for (;;) {
      if (take("*"))
        e = e * unary();
      else if (take("//"))
        e = ir::quotient(e, unary());
      else if (take("%"))
        e = ir::remainder(e, unary());
      else if (take("/"))
        e = e / unary();
      else
        return e;
    }
  }
  Expr unary() {
    if (take("-")) return -unary();
    Expr base = atom();
    return take("^") ? power(base, unary()) : base;
  }
  Expr atom() {
    if (take("(")) {
      Expr e = disjunction();
      expect(")");
      return e;
    }
    if (take("if")) {
      Expr c = disjunction();
      expect("then");
      Expr a = disjunction();
      expect("else");
      return select(c, a, disjunction());
    }
    std::string w = name();
    if (std::isdigit(static_cast<unsigned char>(w[0]))) return number(w);
    if (take("(")) {
      std::vector<Expr> args;
      if (!peek(")")) do
          args.push_back(disjunction());
        while (take(","));
      expect(")");
      return ops::apply(w, std::move(args));
    }
    if (take("[")) return element(w);
    if (auto it = bound_.find(w); it != bound_.end()) return index_value(it->second);
    if (auto id = g_.find_size(w)) return size_value(Poly::size(*id));
    if (auto t = g_.find(w)) return g_.read(*t, {});
    fail("no name " + w);
  }
  Expr number(const std::string& w) {
    if (w.find_first_of(".e") == std::string::npos)
      return Expr(static_cast<int64_t>(std::stoll(w)));
    return Expr(std::stod(w));
  }
  Expr element(const std::string& tensor) {
    auto t = g_.find(tensor);
    if (!t) fail("no tensor " + tensor);
    std::vector<Expr> subscripts;
    if (!peek("]")) do {
        std::string n = at_ < words_.size() ? words_[at_] : "";
        subscripts.push_back(disjunction());
        const Expr& s = subscripts.back();
        if (s.is(Kind::index) && subscripts.size() <= g_[*t].extents.size() && !known_[n]) {
          g_[s->index].extent = Poly(g_[*t].extents[subscripts.size() - 1]);
          known_[n] = true;
        }
      } while (take(","));
    expect("]");
    return g_.read(*t, std::move(subscripts));
  }

  Graph g_;
  std::string line_;
  std::vector<std::string> words_;
  size_t at_ = 0;
  std::map<std::string, IndexId> bound_;
  std::map<std::string, bool> known_;
};

}  // namespace

Graph build_graph(std::string_view text) { return Builder().run(text); }

Definition parse_definition(Graph& g, std::string_view line) { return Builder().one(g, line); }

}  // namespace attn::testing
