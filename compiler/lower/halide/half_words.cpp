// Halves in memory as words of 16 bits.
#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using namespace Halide::Internal;

Expr number(uint32_t value) { return make_const(Halide::UInt(32), static_cast<int64_t>(value)); }

// Subnormal halves are exact as whole numbers of 2^-24.
Expr float_of(const Expr& word) {
  const Expr bits = cast(Halide::UInt(32), word);
  const Expr sign = (bits & number(0x8000)) << number(16), rest = bits & number(0x7fff);
  const Expr normal = (rest << number(13)) + number(112 << 23);
  const Expr infinite = (rest << number(13)) | number(0x7f800000);
  const Expr small = Halide::reinterpret<uint32_t>(cast<float>(rest) * 0x1p-24f);
  return Halide::reinterpret<float>(
      sign | select(rest >= number(0x7c00), infinite, select(rest < number(0x400), small, normal)));
}

// To nearest, ties to even. A subnormal half is the fraction of a float that is added to 1/2, which
// rounds it.
Expr word_of(const Expr& value) {
  const Expr bits = Halide::reinterpret<uint32_t>(value);
  const Expr sign = (bits >> number(16)) & number(0x8000), size = bits & number(0x7fffffff);
  const Expr rounded = size + number(0xfff) + ((size >> number(13)) & number(1));
  const Expr normal = (rounded - number(112 << 23)) >> number(13);
  const Expr small =
      Halide::reinterpret<uint32_t>(strict_float(Halide::reinterpret<float>(size) + 0.5f)) -
      number(0x3f000000);
  const Expr nan = number(0x7e00) | ((size >> number(13)) & number(0x3ff));
  const Expr half = select(size > number(0x7f800000), nan, size >= number(0x477ff000),
                           number(0x7c00), size < number(0x38800000), small, normal);
  return cast<uint16_t>(sign | half);
}

// The same of a bfloat16, the upper half of a float.
Expr float_of_upper(const Expr& word) {
  return Halide::reinterpret<float>(cast(Halide::UInt(32), word) << number(16));
}

Expr upper_word_of(const Expr& value) {
  const Expr bits = Halide::reinterpret<uint32_t>(value);
  const Expr rounded = bits + number(0x7fff) + ((bits >> number(16)) & number(1));
  const Expr is_nan = (bits & number(0x7fffffff)) > number(0x7f800000);
  return cast<uint16_t>(select(is_nan, bits | number(0x400000), rounded) >> number(16));
}

bool is_half(const Type& type) { return type == Halide::Float(16) || type == Halide::BFloat(16); }

// Every half becomes the word of its bits.
class HalfWords : public IRMutator {
  using IRMutator::visit;

  Expr visit(const Cast* op) override {
    const Type from = op->value.type();
    if (is_half(op->type)) {
      if (const Expr stored = as_stored(op->value, op->type); stored.defined()) return stored;
    }
    Expr value = mutate(op->value);
    if (op->type == from) return value;
    if (from == Halide::Float(16)) value = float_of(value);
    if (from == Halide::BFloat(16)) value = float_of_upper(value);
    if (op->type == Halide::Float(16)) return word_of(cast<float>(value));
    if (op->type == Halide::BFloat(16)) return upper_word_of(cast<float>(value));
    return cast(op->type, value);
  }
  Expr visit(const Reinterpret* op) override {
    return is_half(op->value.type()) ? mutate(op->value) : IRMutator::visit(op);
  }
  // The word of a value that was such a half all the time; else undefined.
  Expr as_stored(const Expr& value, const Type& half) {
    if (const Cast* cast = value.as<Cast>())
      return cast->value.type() == half ? mutate(cast->value) : Expr();
    if (const Select* select = value.as<Select>()) {
      const Expr a = as_stored(select->true_value, half), b = as_stored(select->false_value, half);
      return a.defined() && b.defined() ? Select::make(mutate(select->condition), a, b) : Expr();
    }
    return is_const_zero(value) ? make_const(Halide::UInt(16), 0) : Expr();
  }
  Expr visit(const Load* op) override {
    if (!is_half(op->type)) return IRMutator::visit(op);
    return Load::make(Halide::UInt(16), op->name, mutate(op->index), op->image, op->param,
                      mutate(op->predicate), op->alignment);
  }
  Expr visit(const Variable* op) override {
    return is_half(op->type) ? Variable::make(Halide::UInt(16), op->name) : Expr(op);
  }
  Expr visit(const FloatImm* op) override {
    if (!is_half(op->type)) return op;
    const uint16_t bits = op->type == Halide::Float(16) ? Halide::float16_t(op->value).to_bits()
                                                        : Halide::bfloat16_t(op->value).to_bits();
    return make_const(Halide::UInt(16), bits);
  }
};

}  // namespace

void store_halves_as_words(Halide::Pipeline& pipeline) {
  pipeline.add_custom_lowering_pass(new HalfWords);
}

}  // namespace attn::lower
