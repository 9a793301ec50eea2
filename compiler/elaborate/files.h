// The files of a program: what each declares and which others it uses.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/elaborate/elaborate.h"

namespace attn::elaborate {

struct Unit;

// A block or a `fn`, with the file whose names it sees.
struct Callable {
  const dsl::Block* block = nullptr;  // one of the two
  const dsl::Function* function = nullptr;
  const Unit* home = nullptr;
  Span where;
  std::string doc;
};

struct UpdateDeclaration {
  const dsl::Update* update = nullptr;
  const Unit* home = nullptr;
};

struct SizeDeclaration {
  const dsl::Size* size = nullptr;
  std::string doc;
};

// The files that `use std.…` names, for the help of names that are not there.
class Library {
 public:
  Library(SourceMap& sources, const Loader& loader) : sources_(sources), loader_(loader) {}

  // "`use std.linear` has it", if one declares a block, a function or an update of this name.
  std::string help_for(const std::string& name);
  std::string nearest_file(const std::string& name) const;

 private:
  SourceMap& sources_;
  const Loader& loader_;
  std::optional<std::map<std::string, std::string>> declared_;  // name -> file; read when asked
};

// One file. Its own declarations, and those of the files that it uses directly, are its names.
struct Unit {
  const dsl::File* tree = nullptr;
  int32_t file = -1;
  std::string stem;  // "ffn" of "parts/ffn.attn"
  std::map<std::string, SizeDeclaration> sizes;
  std::map<std::string, Callable> callables;
  std::map<std::string, UpdateDeclaration> updates;
  std::vector<const Unit*> used;
  Library* library = nullptr;

  const Callable* find(const std::string& name) const;
  const UpdateDeclaration* find_update(const std::string& name) const;
  // The names of everything that can be called, for "did you mean".
  std::vector<std::string> callable_names() const;
  std::vector<std::string> update_names() const;
};

class Files {
 public:
  Files(SourceMap& sources, const Loader& loader, Diagnostics& diagnostics)
      : sources_(sources), loader_(loader), diagnostics_(diagnostics), library_(sources, loader) {}

  // Reads the file and all that it uses, each once; reports cycles and names declared twice.
  const Unit* load(int32_t file, const dsl::File& tree);

 private:
  Unit* collect(int32_t file, const dsl::File& tree);
  void add_use(Unit& unit, const dsl::Use& use);
  void declare(Unit& unit, const dsl::Item& item);
  void add_callable(Unit& unit, const dsl::Identifier& name, Callable callable);
  void check_imports(const Unit& unit);

  SourceMap& sources_;
  const Loader& loader_;
  Diagnostics& diagnostics_;
  Library library_;
  std::deque<dsl::File> trees_;
  std::map<std::string, std::unique_ptr<Unit>> units_;  // by path
  struct Open {
    const Unit* unit;
    Span use;  // the `use` in it that is being followed
  };
  std::vector<Open> open_;
};

}  // namespace attn::elaborate
