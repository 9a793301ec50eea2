// Weight files in, and the hostile ones of rows W1 to W13 and W20 to W22.
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "weight_files.h"

namespace {

using namespace attn_test;
using namespace std::string_literals;

TEST_F(Weights, ReadsTensorsByName) {
  const std::string bytes =
      file("{\"__metadata__\":{\"format\":\"pt\"}," + tensor("b", "F32", "[2]", "[4,12]") + "," +
               tensor("a.w", "I32", "[]", "[0,4]") + "}   ",
           raw<int32_t>({7}) + raw<float>({1, 2}));
  ASSERT_EQ(parse(bytes), "");
  ASSERT_EQ(attn_weights_count(weights_), 2);
  EXPECT_EQ(attn_weights_find(weights_, "c"), -1);
  EXPECT_EQ(attn_weights_find(weights_, ""), -1);
  const int32_t b = attn_weights_find(weights_, "b");
  const attn_weight weight = attn_weights_at(weights_, b);
  EXPECT_STREQ(weight.name, "b");
  EXPECT_EQ(weight.type, ATTN_FILE_F32);
  EXPECT_EQ(weight.rank, 1);
  EXPECT_EQ(weight.extent[0], 2);
  float values[2];
  ASSERT_EQ(attn_weights_read(context_, weights_, b, values), ATTN_OK);
  EXPECT_EQ(values[1], 2.0f);
  attn_array array;
  ASSERT_EQ(attn_weights_load(context_, weights_, attn_weights_find(weights_, "a.w"), &array),
            ATTN_OK);
  EXPECT_EQ(*static_cast<int32_t*>(array.data), 7);
  attn_array_free(&array);
}

TEST_F(Weights, W1RefusesFalseLengths) {
  for (size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(parse(std::string(n, '\0')),
              "f: is not a safetensors file: it has " + std::to_string(n) + " bytes");
  }
  EXPECT_EQ(parse(little(0, 8)), "f: header byte 0: the header is no object");
  EXPECT_EQ(parse(little(~uint64_t{0}, 8)),
            "f: is not a safetensors file, or was cut: its header would take 18446744073709551615 "
            "bytes, and 0 are there");
  EXPECT_EQ(parse(little(3, 8) + "{}"),
            "f: is not a safetensors file, or was cut: its header would take 3 bytes, and 2 are "
            "there");
  const struct {
    const char* start;
    const char* is;
  } others[] = {{"\x93NUMPY\x01", "an .npy file"},
                {"PK\x03\x04", "a zip file, as .npz and .pt are"},
                {"GGUF\x03", "a GGUF file"}};
  for (const auto& other : others) {
    EXPECT_EQ(parse(other.start + std::string(100, 'x')),
              "f: is " + std::string(other.is) + ", not a safetensors file");
  }
}

TEST_F(Weights, W1RefusesAHeaderOver100MB) {
  const std::string name = write("large", little(100'000'001, 8));
  std::filesystem::resize_file(name, 200'000'000);
  EXPECT_EQ(attn_weights_open(context_, name.c_str(), &weights_), ATTN_BAD_FILE);
  EXPECT_EQ(message(), name + ": the header exceeds 100 MB");
}

TEST_F(Weights, W2RefusesWhatIsNoSuchObject) {
  EXPECT_EQ(parse(file("{\"\xff\":1}")), "f: the header is not UTF-8");
  EXPECT_EQ(parse(file("{\"\xc0\xaf\":1}")), "f: the header is not UTF-8");
  EXPECT_EQ(parse(file("{\"\xed\xa0\x80\":1}")), "f: the header is not UTF-8");
  EXPECT_EQ(parse(file("[]")), "f: header byte 0: the header is no object");
  EXPECT_EQ(parse(file("\xef\xbb\xbf{}")), "f: header byte 0: the header is no object");
  EXPECT_EQ(parse(file("{}x")), "f: header byte 2: the header goes on after its object");
  EXPECT_EQ(parse(file("{}\0"s)), "f: header byte 2: the header goes on after its object");
  EXPECT_EQ(parse(file("{")), "f: header byte 1: a string is expected");
  EXPECT_EQ(parse(file("{,}")), "f: header byte 1: a string is expected");
  EXPECT_EQ(parse(file("{\"a\"}")), "f: header byte 4: ':' is expected");
  EXPECT_EQ(parse(file("{\"a\":1}")), "f: tensor \"a\": an object is expected");
  EXPECT_EQ(parse(file("{\"a\":{}}")), "f: tensor \"a\": a string is expected");
  EXPECT_EQ(parse(file("{\"a")), "f: header byte 3: a string does not end");
  EXPECT_EQ(parse(file("{\"a\\")), "f: header byte 4: a string does not end");
  EXPECT_EQ(parse(file("{\"a\\x\":1}")), "f: header byte 5: an unknown escape in a string");
  EXPECT_EQ(parse(file("{\"a\\u12g4\":1}")), "f: header byte 5: a bad \\u escape in a string");
  EXPECT_EQ(parse(file("{\"\\ud800\":1}")), "f: header byte 8: half a surrogate pair in a string");
  EXPECT_EQ(parse(file("{\"\\udc00\":1}")), "f: header byte 4: a bad \\u escape in a string");
  EXPECT_EQ(parse(file("{\"a\nb\":1}")), "f: header byte 3: a control character in a string");
}

TEST_F(Weights, W2RefusesKeysGivenTwice) {
  const std::string a = tensor("a", "U8", "[4]", "[0,4]");
  EXPECT_EQ(parse(file("{" + a + "," + tensor("\\u0061", "F32", "[0]", "[0,0]") + "}", "1234")),
            "f: tensor \"a\" is given twice");
  EXPECT_EQ(parse(file("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"F32\"}}")),
            "f: tensor \"a\": a key is given twice");
  EXPECT_EQ(parse(file("{\"__metadata__\":{},\"__metadata__\":{}}")),
            "f: header byte 34: __metadata__ is given twice");
  EXPECT_EQ(parse(file("{\"__metadata__\":{\"a\":1}}")), "f: header byte 21: a string is expected");
  EXPECT_EQ(parse(file("{\"a\":{\"type\":\"U8\"}}")),
            "f: tensor \"a\": an unknown key (dtype, shape, data_offsets are known)");
  EXPECT_EQ(parse(file("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}")),
            "f: tensor \"a\": data_offsets are missing");
}

TEST_F(Weights, W3AcceptsWhiteSpace) {
  EXPECT_EQ(parse(file(" \n\t{ \"a\" : { \"shape\" : [ 1 , 2 ] , \"data_offsets\":[ 0 , 2 ],"
                       "\"dtype\" :\"U8\" } } \n",
                       "12")),
            "");
  EXPECT_EQ(parse(file("{}")), "");
}

TEST_F(Weights, W4RefusesDepthAtOnce) {
  EXPECT_EQ(parse(file("{\"a\":" + std::string(1000000, '['))),
            "f: tensor \"a\": an object is expected");
  EXPECT_EQ(parse(file("{\"a\":{\"shape\":" + std::string(1000000, '['))),
            "f: tensor \"a\": a non-negative integer is expected");
  EXPECT_EQ(parse(file("{\"a\":" + std::string(1000000, '{'))),
            "f: tensor \"a\": a string is expected");
}

TEST_F(Weights, W4ReadsManyTensorsInLinearTime) {
  std::string header = "{";
  const int count = 20000;
  for (int k = 0; k < count; ++k) {
    const std::string from = std::to_string(8 * (count - 1 - k));
    const std::string to = std::to_string(8 * (count - k));
    header += (k > 0 ? "," : "") +
              tensor("t" + std::to_string(k), "F64", "[1]", "[" + from + "," + to + "]");
  }
  EXPECT_EQ(parse(file(header + "}", std::string(8 * count, '\1'))), "");
  EXPECT_EQ(attn_weights_count(weights_), count);
  EXPECT_GE(attn_weights_find(weights_, "t19999"), 0);
}

TEST_F(Weights, W4KeepsItsTableWithinTheFilesSize) {
  std::string header = "{";
  for (int k = 0; k < 60000; ++k) {
    header += (k > 0 ? "," : "") + tensor(std::to_string(k), "F32", "[0]", "[0,0]");
  }
  header += "}";
  EXPECT_EQ(parse(file(header)), "f: 60000 tensors are too many for a file of " +
                                     std::to_string(8 + header.size()) + " bytes");
}

TEST_F(Weights, W5RefusesOffsetsThatAreNone) {
  EXPECT_EQ(parse_one("U8", "[4]", "[-1,3]", 4),
            "f: tensor \"a\": a non-negative integer is expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[0,4.0]", 4),
            "f: tensor \"a\": a non-negative integer is expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[0,4e0]", 4),
            "f: tensor \"a\": a non-negative integer is expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[0,\"4\"]", 4),
            "f: tensor \"a\": a non-negative integer is expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[0,04]", 4), "f: tensor \"a\": an integer begins with 0");
  EXPECT_EQ(parse_one("U8", "[4]", "[0]", 4), "f: tensor \"a\": two offsets are expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[0,4,4]", 4), "f: tensor \"a\": two offsets are expected");
  EXPECT_EQ(parse_one("U8", "[4]", "[4,0]", 4), "f: tensor \"a\": data_offsets run backwards");
  EXPECT_EQ(parse_one("U8", "[5]", "[0,5]", 4),
            "f: tensor \"a\": data_offsets pass the end of the file");
  EXPECT_EQ(parse_one("U8", "[4]", "[18446744073709551615,3]", 4),
            "f: tensor \"a\": an integer exceeds 2^63 - 1");
  EXPECT_EQ(parse_one("U8", "[4]", "[9223372036854775807,9223372036854775807]", 4),
            "f: tensor \"a\": data_offsets pass the end of the file");
}

TEST_F(Weights, W6RefusesOverlapsAndHoles) {
  const auto two = [&](const std::string& a, const std::string& b, const std::string& shape_b) {
    return parse(file("{" + tensor("a", "U8", "[4]", a) + "," + tensor("b", "U8", shape_b, b) + "}",
                      "12345678"));
  };
  EXPECT_EQ(two("[0,4]", "[4,8]", "[4]"), "");
  EXPECT_EQ(two("[4,8]", "[0,4]", "[4]"), "");
  EXPECT_EQ(two("[0,4]", "[3,8]", "[5]"), "f: tensor \"b\": its data overlaps another tensor's");
  EXPECT_EQ(two("[0,4]", "[0,8]", "[8]"), "f: tensor \"b\": its data overlaps another tensor's");
  EXPECT_EQ(two("[0,4]", "[5,8]", "[3]"), "f: tensor \"b\": there is a hole before its data");
  EXPECT_EQ(two("[0,4]", "[4,7]", "[3]"), "f: the last 1 bytes belong to no tensor");
  EXPECT_EQ(parse(file("{}", "1")), "f: the last 1 bytes belong to no tensor");
}

TEST_F(Weights, W7AcceptsEmptyTensorsAnywhere) {
  ASSERT_EQ(parse(file("{" + tensor("a", "U8", "[4]", "[0,4]") + "," +
                           tensor("e", "F32", "[2,0]", "[2,2]") + "}",
                       "1234")),
            "");
  const attn_weight weight = attn_weights_at(weights_, attn_weights_find(weights_, "e"));
  EXPECT_EQ(weight.bytes, 0);
  EXPECT_EQ(weight.extent[0], 2);
}

TEST_F(Weights, W8RefusesSizesThatDisagree) {
  EXPECT_EQ(parse_one("F32", "[1000,1000]", "[0,4]", 4),
            "f: tensor \"a\": shape [1000, 1000] of f32 takes 4000000 bytes, data_offsets span 4");
  EXPECT_EQ(parse_one("F32", "[0]", "[0,4]", 4),
            "f: tensor \"a\": shape [0] of f32 takes 0 bytes, data_offsets span 4");
}

TEST_F(Weights, W9RefusesProductsThatWrap) {
  EXPECT_EQ(parse_one("U8", "[4194305,4194305,211106198978564]", "[0,4]", 4),
            "f: tensor \"a\": the shape overflows");
}

TEST_F(Weights, W10RefusesHugeExtentsBesideAZero) {
  EXPECT_EQ(parse_one("F32", "[9223372036854775808,4,0]", "[0,0]", 0),
            "f: tensor \"a\": an integer exceeds 2^63 - 1");
  EXPECT_EQ(parse_one("F32", "[4611686018427387904,4,0]", "[0,0]", 0),
            "f: tensor \"a\": the shape overflows");
}

TEST_F(Weights, W11NamesTheTypesThatItReads) {
  for (const char* type : {"F8_E4M3", "C64", "F4", "f32", "", "F32\\u0000"}) {
    EXPECT_EQ(parse_one(type, "[1]", "[0,4]", 4),
              "f: tensor \"a\": the dtype is not supported "
              "(F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64 BOOL are)");
  }
  const struct {
    const char* name;
    int size;
  } kTypes[] = {{"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F64", 8}, {"I8", 1},  {"I16", 2}, {"I32", 4},
                {"I64", 8}, {"U8", 1},   {"U16", 2}, {"U32", 4}, {"U64", 8}, {"BOOL", 1}};
  for (const auto& type : kTypes) {
    const std::string span = "[0," + std::to_string(type.size) + "]";
    EXPECT_EQ(parse_one(type.name, "[1]", span, static_cast<size_t>(type.size)), "");
  }
  EXPECT_EQ(parse_one("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]", 1),
            "f: tensor \"a\": the rank exceeds 8");
}

TEST_F(Weights, W13CopiesMisalignedTensors) {
  ASSERT_EQ(parse(file("{" + tensor("a", "U8", "[1]", "[0,1]") + "," +
                           tensor("b", "F32", "[1]", "[1,5]") + "}",
                       "x" + raw<float>({2.5f}))),
            "");
  attn_array array;
  ASSERT_EQ(attn_weights_load(context_, weights_, attn_weights_find(weights_, "b"), &array),
            ATTN_OK);
  EXPECT_EQ(*static_cast<float*>(array.data), 2.5f);
  attn_array_free(&array);
}

TEST_F(Weights, W14SaysWhenAFileIsCutLater) {
  const std::string bytes =
      file("{" + tensor("a", "F32", "[100]", "[0,400]") + "}", std::string(400, '1'));
  const std::string name = write("cut", bytes);
  ASSERT_EQ(attn_weights_open(context_, name.c_str(), &weights_), ATTN_OK);
  std::filesystem::resize_file(name, bytes.size() - 1);
  float values[100];
  EXPECT_EQ(attn_weights_read(context_, weights_, 0, values), ATTN_BAD_FILE);
  EXPECT_EQ(message(), name + ": was cut short while it was read");
}

TEST_F(Weights, W21RefusesNamesThatDeceive) {
  const auto named = [&](const std::string& name) {
    return parse(file("{" + tensor(name, "U8", "[0]", "[0,0]") + "}"));
  };
  EXPECT_EQ(named("a\\u0000b"), "f: tensor \"a\\x00b\": a name has a control character");
  EXPECT_EQ(named("a\\nb"), "f: tensor \"a\\x0ab\": a name has a control character");
  EXPECT_EQ(named("../../etc/passwd"),
            "f: tensor \"../../etc/passwd\": a name has the path \"..\"");
  EXPECT_EQ(named("a/.."), "f: tensor \"a/..\": a name has the path \"..\"");
  EXPECT_EQ(named(""), "f: tensor \"\": a name is empty");
  EXPECT_EQ(named("__meta\\u0064ata__"), "f: tensor \"__metadata__\": the name is reserved");
  EXPECT_EQ(named(std::string(1 << 20, 'x')),
            "f: tensor \"" + std::string(100, 'x') + "...\": a name exceeds 1024 bytes");
  EXPECT_EQ(named("a..b"), "");
  EXPECT_EQ(named("\xc3\xa4 \\u00e4 \\ud83d\\ude00\\\"\\/"), "");
  EXPECT_STREQ(attn_weights_at(weights_, 0).name, "\xc3\xa4 \xc3\xa4 \xf0\x9f\x98\x80\"/");
}

TEST_F(Weights, W22ManyThreadsReadOneFile) {
  const std::string name = write(
      "w", file("{" + tensor("a", "F32", "[1000]", "[0,4000]") + "}", std::string(4000, '1')));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 16; ++k) {
    threads.emplace_back([&] {
      attn_context* context;
      attn_context_create(nullptr, &context);
      attn_weights* weights;
      std::vector<float> values(1000);
      wrong += attn_weights_open(context, name.c_str(), &weights) != ATTN_OK;
      wrong += attn_weights_read(context, weights, 0, values.data()) != ATTN_OK;
      wrong += memcmp(values.data(), std::string(4000, '1').data(), 4000) != 0;
      attn_weights_close(weights);
      attn_context_destroy(context);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Weights, BoolsMustBeBools) {
  ASSERT_EQ(parse(file("{" + tensor("a", "BOOL", "[2]", "[0,2]") + "}", "\1\2"s)), "");
  uint8_t values[2];
  EXPECT_EQ(attn_weights_read(context_, weights_, 0, values), ATTN_BAD_FILE);
  EXPECT_EQ(message(), "f: tensor \"a\": a bool is neither 0 nor 1");
}

TEST_F(Weights, EveryPrefixAndFlippedByteIsSafe) {
  const std::string whole =
      file("{\"__metadata__\":{\"k\":\"v\\u00e4\"}," + tensor("a", "F32", "[1,2]", "[0,8]") + "," +
               tensor("b", "BF16", "[]", "[8,10]") + "}",
           "0123456789");
  ASSERT_EQ(parse(whole), "");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(parse(whole.substr(0, n)), "") << n;
  for (size_t n = 0; n < whole.size(); ++n) {
    for (int flip = 1; flip < 256; flip += 2) {
      std::string changed = whole;
      changed[n] = static_cast<char>(changed[n] ^ flip);
      parse(changed);
    }
  }
}

}  // namespace
