// Files in the layout and with the names that GPT-2 and BERT are published in, drawn at random: the
// models of examples/models read them, and compute what models in another layout do from the same
// numbers.
#include <attn/safetensors.h>

#include <attn/attn.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "bert.h"
#include "bert_heads.h"
#include "gpt2.h"
#include "gpt2_heads.h"
#include "tests/runtime/files.h"

namespace {

using attn::Tensor;
using Index = std::vector<int64_t>;

constexpr int64_t kV = 11, kD = 16, kH = 4, kE = 4, kLayers = 2;

// Named tensors of f32, as a file has them.
class Named {
 public:
  // The offset of an element at the place `at`.
  static int64_t offset(const Tensor& tensor, const Index& at) {
    int64_t k = 0;
    for (size_t j = 0; j < at.size(); ++j) k = k * tensor.extent(static_cast<int>(j)) + at[j];
    return k;
  }

  Tensor& add(const std::string& name, const Index& extents) {
    attn_tensor shape = {nullptr, ATTN_F32, static_cast<int32_t>(extents.size()), {}};
    std::copy(extents.begin(), extents.end(), shape.extent);
    return tensors_[name] = Tensor::like(shape);
  }
  // With numbers about `mean`.
  void draw(const std::string& name, const Index& extents, float mean = 0) {
    Tensor& tensor = add(name, extents);
    std::normal_distribution<float> normal(mean, 0.3f);
    for (int64_t k = 0; k < tensor.count(); ++k) tensor.data<float>()[k] = normal(random_);
  }
  void draw_norm(const std::string& name) {
    draw(name + ".weight", {kD}, 1);
    draw(name + ".bias", {kD});
  }
  void draw_linear(const std::string& name, int64_t rows, int64_t columns, int64_t biases) {
    draw(name + ".weight", {rows, columns});
    draw(name + ".bias", {biases});
  }
  // The elements of `from` in another order: `place` says where that at a place comes from.
  void permute(const std::string& name, const Index& extents, const Tensor& from,
               const std::function<Index(const Index&)>& place) {
    Tensor& to = add(name, extents);
    for (int64_t k = 0; k < to.count(); ++k) {
      Index at(extents.size());
      int64_t rest = k;
      for (size_t j = extents.size(); j-- > 0; rest /= extents[j]) at[j] = rest % extents[j];
      to.data<float>()[k] = from.data<float>()[offset(from, place(at))];
    }
  }
  const Tensor& operator[](const std::string& name) const { return tensors_.at(name); }

  // Those whose names `is_chosen`.
  void save(attn::Context& context, const std::string& path,
            const std::function<bool(const std::string&)>& is_chosen) const {
    std::vector<const char*> names;
    std::vector<attn_tensor> views;
    for (const auto& [name, tensor] : tensors_) {
      if (!is_chosen(name)) continue;
      names.push_back(name.c_str());
      views.push_back(tensor.view());
    }
    ASSERT_EQ(attn_weights_save(context.get(), path.c_str(), static_cast<int32_t>(names.size()),
                                names.data(), views.data()),
              ATTN_OK);
  }
  const std::map<std::string, Tensor>& all() const { return tensors_; }

 private:
  std::map<std::string, Tensor> tensors_;
  std::mt19937 random_;
};

// Matrices [in, out] (Conv1D), queries, keys and values in one, and a mask that no model reads.
Named published_gpt2() {
  Named file;
  file.draw("wte.weight", {kV, kD});
  file.draw("wpe.weight", {1024, kD});
  for (int64_t l = 0; l < kLayers; ++l) {
    const std::string layer = "h." + std::to_string(l) + ".";
    file.draw(layer + "attn.bias", {1, 1, 8, 8});
    file.draw_norm(layer + "ln_1");
    file.draw_linear(layer + "attn.c_attn", kD, 3 * kD, 3 * kD);
    file.draw_linear(layer + "attn.c_proj", kD, kD, kD);
    file.draw_norm(layer + "ln_2");
    file.draw_linear(layer + "mlp.c_fc", kD, 4 * kD, 4 * kD);
    file.draw_linear(layer + "mlp.c_proj", 4 * kD, kD, kD);
  }
  file.draw_norm("ln_f");
  return file;
}

// The same numbers under the names and in the layout of examples/models/gpt2_heads.attn.
Named gpt2_by_heads(const Named& file) {
  Named own;
  const auto same = [](const Index& at) { return at; };
  const auto transposed = [](const Index& at) { return Index{at[1], at[0]}; };
  const auto norm = [&](const std::string& name) {
    own.permute(name + ".gamma", {kD}, file[name + ".weight"], same);
    own.permute(name + ".beta", {kD}, file[name + ".bias"], same);
  };
  own.permute("wte", {kV, kD}, file["wte.weight"], same);
  own.permute("wpe", {1024, kD}, file["wpe.weight"], same);
  for (int64_t l = 0; l < kLayers; ++l) {
    const std::string layer = "h." + std::to_string(l) + ".", attn = layer + "attn.";
    norm(layer + "ln_1");
    norm(layer + "ln_2");
    for (int64_t part = 0; part < 3; ++part) {
      const std::string name(1, "qkv"[part]);
      own.permute(attn + "w" + name, {kH, kE, kD}, file[attn + "c_attn.weight"],
                  [part](const Index& at) {
                    return Index{at[2], part * kD + at[0] * kE + at[1]};
                  });
      own.permute(attn + "b" + name, {kH, kE}, file[attn + "c_attn.bias"],
                  [part](const Index& at) { return Index{part * kD + at[0] * kE + at[1]}; });
    }
    own.permute(attn + "wo", {kD, kH, kE}, file[attn + "c_proj.weight"], [](const Index& at) {
      return Index{at[1] * kE + at[2], at[0]};
    });
    own.permute(attn + "bo", {kD}, file[attn + "c_proj.bias"], same);
    own.permute(layer + "mlp.w1", {4 * kD, kD}, file[layer + "mlp.c_fc.weight"], transposed);
    own.permute(layer + "mlp.b1", {4 * kD}, file[layer + "mlp.c_fc.bias"], same);
    own.permute(layer + "mlp.w2", {kD, 4 * kD}, file[layer + "mlp.c_proj.weight"], transposed);
    own.permute(layer + "mlp.b2", {kD}, file[layer + "mlp.c_proj.bias"], same);
  }
  norm("ln_f");
  return own;
}

// Matrices [out, in], and a pooler that no model reads.
Named published_bert() {
  Named file;
  file.draw("embeddings.word_embeddings.weight", {kV, kD});
  file.draw("embeddings.position_embeddings.weight", {512, kD});
  file.draw("embeddings.token_type_embeddings.weight", {2, kD});
  file.draw("embeddings.position_ids", {1, 512});
  file.draw_norm("embeddings.LayerNorm");
  for (int64_t l = 0; l < kLayers; ++l) {
    const std::string layer = "encoder.layer." + std::to_string(l) + ".";
    for (const char* part : {"self.query", "self.key", "self.value", "output.dense"})
      file.draw_linear(layer + "attention." + part, kD, kD, kD);
    file.draw_norm(layer + "attention.output.LayerNorm");
    file.draw_linear(layer + "intermediate.dense", 2 * kD, kD, 2 * kD);
    file.draw_linear(layer + "output.dense", kD, 2 * kD, kD);
    file.draw_norm(layer + "output.LayerNorm");
  }
  file.draw_linear("pooler.dense", kD, kD, kD);
  return file;
}

class Published : public attn_test::Files {
 protected:
  static bool is_any(const std::string&) { return true; }

  attn::Context attn_{2};
  Tensor token_ = Tensor::of<int32_t>({1, 5, 10, 0, 3, 3, 7, 2, 9, 4}, {2, 5});
};

TEST_F(Published, Gpt2GivesTheValuesAndGradientsOfItsHeads) {
  const Named file = published_gpt2();
  file.save(attn_, path("gpt2"), is_any);
  gpt2_by_heads(file).save(attn_, path("heads"), is_any);
  attn::Model model(attn_, gpt2_model()), heads(attn_, gpt2_heads_model());
  EXPECT_NE(model.load(path("gpt2")).text().find("\n  \"h.0.attn.bias\" is not in the model"),
            std::string::npos);
  const attn::Status status = model.load(path("gpt2"), {.ignore_extra = true});
  ASSERT_TRUE(status) << status.text();
  ASSERT_TRUE(heads.load(path("heads")));
  const Tensor next = Tensor::of<int32_t>({5, 10, 0, 3, 8, 7, 2, 9, 4, 6}, {2, 5});
  for (attn::Model* m : {&model, &heads}) {
    ASSERT_TRUE(m->forward({token_, next}));
    ASSERT_TRUE(m->backward());
  }
  const float loss = *model.output("loss").data<float>();
  EXPECT_GT(loss, 1);
  EXPECT_NEAR(loss, *heads.output("loss").data<float>(), 1e-5);
  const Tensor &a = model.gradient("wte"), &b = heads.gradient("wte");
  for (int64_t k = 0; k < a.count(); ++k)
    EXPECT_NEAR(a.data<float>()[k], b.data<float>()[k], 1e-5) << k;
}

TEST_F(Published, BertOfSeveralFilesGivesTheValuesOfItsHeads) {
  const Named file = published_bert();
  const auto is_first = [](const std::string& name) {
    return name.find(".1.") == std::string::npos;
  };
  file.save(attn_, path("model-1.safetensors"), is_first);
  file.save(attn_, path("model-2.safetensors"),
            [&](const std::string& name) { return !is_first(name); });
  std::string map;
  for (const auto& [name, tensor] : file.all())
    map += (map.empty() ? "\n\"" : ",\n\"") + name + "\": \"model-" + (is_first(name) ? "1" : "2") +
           ".safetensors\"";
  write("model.safetensors.index.json",
        "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {" + map + "}}");
  attn::Model model(attn_, bert_model()), heads(attn_, bert_heads_model());
  attn::Status status = model.load(folder_, {.ignore_extra = true});
  ASSERT_TRUE(status) << status.text();
  EXPECT_FALSE(heads.load(folder_, {.ignore_extra = true}));
  status = heads.load(folder_, {.ignore_extra = true, .merge_dimensions = true});
  ASSERT_TRUE(status) << status.text();
  const Tensor length = Tensor::of<int32_t>({5, 3}, {2});
  ASSERT_TRUE(model.forward({token_, length}));
  ASSERT_TRUE(heads.forward({token_, length}));
  const Tensor &a = model.output("sentence"), &b = heads.output("sentence");
  ASSERT_EQ(a.count(), 2 * kD);
  for (int64_t row = 0; row < 2; ++row) {
    float square = 0;
    for (int64_t k = row * kD; k < (row + 1) * kD; ++k) {
      square += a.data<float>()[k] * a.data<float>()[k];
      EXPECT_NEAR(a.data<float>()[k], b.data<float>()[k], 1e-5) << k;
    }
    EXPECT_NEAR(square, 1, 1e-5);
  }
}

}  // namespace
