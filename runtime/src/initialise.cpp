// How parameters start. The generator is counter-based: each element is a hash of its position.
#include <attn/train.h>
#include <attn/types.h>
#include <math.h>

#include "check.h"
#include "elements.h"
#include "host_copy.h"

namespace attn::rt {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t name_hash(const char* name) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return hash;
}

struct Generator {
  uint64_t key;

  Generator(uint64_t seed, const char* name) : key(mix(mix(seed + 1) ^ name_hash(name))) {}

  // In [0, 1), by 53 bits.
  double uniform(uint64_t counter) const {
    return static_cast<double>(mix(key + (counter + 1) * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
  }
  // Box and Muller; 1 - u keeps the logarithm finite.
  double normal(uint64_t counter) const {
    const double radius = sqrt(-2.0 * log(1.0 - uniform(2 * counter)));
    return radius * cos(6.283185307179586 * uniform(2 * counter + 1));
  }
};

struct Fans {
  double in = 1, out = 1;
};

Fans fans_of(const attn_argument& argument, const attn_tensor& tensor) {
  Fans fans;
  for (int32_t k = 0; k < tensor.rank; ++k) {
    const bool reduced = (argument.fan_in_mask >> k & 1) != 0;
    (reduced ? fans.in : fans.out) *= static_cast<double>(tensor.extent[k]);
  }
  return fans;
}

// The element's row among the kept and column among the reduced extents.
void matrix_place(const attn_argument& argument, const attn_tensor& tensor, int64_t element,
                  int64_t* row, int64_t* column) {
  int64_t row_stride = 1, column_stride = 1;
  *row = *column = 0;
  for (int32_t k = tensor.rank - 1; k >= 0; --k) {
    const int64_t index = element % tensor.extent[k];
    element /= tensor.extent[k];
    const bool reduced = (argument.fan_in_mask >> k & 1) != 0;
    (reduced ? *column : *row) += index * (reduced ? column_stride : row_stride);
    (reduced ? column_stride : row_stride) *= tensor.extent[k];
  }
}

// Gram and Schmidt on Gaussian vectors, each cleaned twice, which is enough for full precision.
void orthonormalise(double* vectors, int64_t count, int64_t length) {
  for (int64_t k = 0; k < count; ++k) {
    double* now = vectors + k * length;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < k; ++j) {
        const double* before = vectors + j * length;
        double dot = 0;
        for (int64_t i = 0; i < length; ++i) dot += now[i] * before[i];
        for (int64_t i = 0; i < length; ++i) now[i] -= dot * before[i];
      }
    }
    double square = 0;
    for (int64_t i = 0; i < length; ++i) square += now[i] * now[i];
    const double scale = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t i = 0; i < length; ++i) now[i] *= scale;
  }
}

attn_status fill_orthogonal(attn_context* context, const attn_argument& argument,
                            const attn_tensor& tensor, const Generator& generator) {
  const Fans fans = fans_of(argument, tensor);
  const int64_t elements = attn_element_count(&tensor);
  const bool by_row = fans.out <= fans.in;  // rows are the fewer
  const int64_t count = static_cast<int64_t>(by_row ? fans.out : fans.in);
  const int64_t length = static_cast<int64_t>(by_row ? fans.in : fans.out);
  const Scratch<double> vectors(context, elements);
  if (vectors.data() == nullptr) return out_of_memory(context);
  for (int64_t k = 0; k < elements; ++k) vectors[k] = generator.normal(static_cast<uint64_t>(k));
  orthonormalise(vectors.data(), count, length);
  for (int64_t k = 0; k < elements; ++k) {
    int64_t row, column;
    matrix_place(argument, tensor, k, &row, &column);
    put_real(tensor.type, tensor.data, k,
             by_row ? vectors[row * length + column] : vectors[column * length + row]);
  }
  return ATTN_OK;
}

double element_start(const attn_argument& argument, const Generator& generator, double bound,
                     uint64_t k) {
  switch (argument.init) {
    case ATTN_INIT_ONES:
      return 1;
    case ATTN_INIT_CONSTANT:
      return argument.init_a;
    case ATTN_INIT_NORMAL:
      return argument.init_a + argument.init_b * generator.normal(k);
    case ATTN_INIT_UNIFORM:
      return argument.init_a + (argument.init_b - argument.init_a) * generator.uniform(k);
    case ATTN_INIT_XAVIER:
      return bound * (2 * generator.uniform(k) - 1);
    default:
      return 0;
  }
}

bool is_random(attn_init init) {
  return init == ATTN_INIT_NORMAL || init == ATTN_INIT_UNIFORM || init == ATTN_INIT_XAVIER ||
         init == ATTN_INIT_ORTHOGONAL;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_initialise(attn_context* context, const attn_argument* argument,
                            const attn_tensor* tensor, uint64_t seed) {
  ATTN_TRY(check_given(context, argument, "argument"));
  ATTN_TRY(check_argument(context, *argument, tensor));
  const int64_t count = attn_element_count(tensor);
  if (count == 0) return ATTN_OK;
  if (!is_real(tensor->type) && is_random(argument->init)) {
    return attn_fail(context, ATTN_REFUSED, "%s: %s has no random initialisation", argument->name,
                     attn_type_name(tensor->type));
  }
  HostCopy copy(context, *tensor, false);
  const attn_tensor& host = copy.tensor();
  ATTN_TRY(copy.status());
  const Generator generator(seed, argument->name);
  if (argument->init == ATTN_INIT_ORTHOGONAL) {
    ATTN_TRY(fill_orthogonal(context, *argument, host, generator));
    return copy.write_to(*tensor);
  }
  const Fans fans = fans_of(*argument, *tensor);
  const double bound = sqrt(6 / (fans.in + fans.out));
  for (int64_t k = 0; k < count; ++k)
    put_real(host.type, host.data, k,
             element_start(*argument, generator, bound, static_cast<uint64_t>(k)));
  return copy.write_to(*tensor);
}

attn_status attn_initialise_model(attn_context* context, const attn_model* model,
                                  const attn_tensor* params, uint64_t seed) {
  ATTN_TRY(check_model(context, model, params));
  for (int32_t k = 0; k < model->n_params; ++k)
    ATTN_TRY(attn_initialise(context, &model->params[k], &params[k], seed));
  return ATTN_OK;
}
