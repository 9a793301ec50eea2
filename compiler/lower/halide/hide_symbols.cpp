// The functions that the object of a kernel defines are called by the model's tables alone, in the
// same program or shared library: their visibility becomes hidden. Halide has no option that says
// so.
#include <elf.h>

#include <cstring>

#include "compiler/base/check.h"
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

template <class T>
T read(const std::string& object, size_t at) {
  ATTN_CHECK(at <= object.size() && sizeof(T) <= object.size() - at, "an object that is cut off");
  T value;
  std::memcpy(&value, object.data() + at, sizeof value);
  return value;
}

}  // namespace

void hide_symbols(std::string& object) {
  const auto header = read<Elf64_Ehdr>(object, 0);
  ATTN_CHECK(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                 header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB,
             "an object that is not ELF of 64 bits");
  for (size_t s = 0; s < header.e_shnum; ++s) {
    const auto section = read<Elf64_Shdr>(object, header.e_shoff + s * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    for (size_t at = section.sh_offset; at < section.sh_offset + section.sh_size;
         at += sizeof(Elf64_Sym)) {
      auto symbol = read<Elf64_Sym>(object, at);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      symbol.st_other = STV_HIDDEN;
      std::memcpy(object.data() + at, &symbol, sizeof symbol);
    }
  }
}

}  // namespace attn::lower
