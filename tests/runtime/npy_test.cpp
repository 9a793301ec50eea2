// .npy in and out, hostile files (rows W15 to W19), and conversions.
#include <attn/npy.h>
#include <attn/types.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>

#include "files.h"

namespace {

using attn_test::little;
using attn_test::raw;
using namespace std::string_literals;

std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  return "\x93NUMPY"s + static_cast<char>(version) + '\0' +
         little(dictionary.size(), version == 1 ? 2 : 4) + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

class Npy : public attn_test::Files {
 protected:
  ~Npy() override { attn_array_free(&array_); }

  // The message, or "" when the bytes were read.
  std::string parse(const std::string& bytes) {
    attn_array_free(&array_);
    const attn_status status =
        attn_npy_parse(context_, "f", bytes.data(), static_cast<int64_t>(bytes.size()), &array_);
    if (status == ATTN_OK) return "";
    EXPECT_EQ(status, ATTN_BAD_FILE);
    EXPECT_EQ(array_.data, nullptr);
    return message();
  }
  template <class T>
  T at(int64_t k) const {
    return static_cast<const T*>(array_.data)[k];
  }

  attn_array array_ = {};
};

TEST_F(Npy, ReadsEveryVersion) {
  for (int version = 1; version <= 3; ++version) {
    ASSERT_EQ(parse(npy(header("<f4", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6}), version)), "");
    EXPECT_EQ(array_.type, ATTN_FILE_F32);
    EXPECT_EQ(array_.rank, 2);
    EXPECT_EQ(array_.extent[0], 2);
    EXPECT_EQ(array_.extent[1], 3);
    EXPECT_EQ(array_.count, 6);
    EXPECT_EQ(at<float>(5), 6.0f);
  }
}

TEST_F(Npy, ReadsEveryType) {
  const struct {
    const char* descr;
    attn_file_type type;
    int size;
  } kTypes[] = {{"<f2", ATTN_FILE_F16, 2}, {"<f4", ATTN_FILE_F32, 4}, {"<f8", ATTN_FILE_F64, 8},
                {"|i1", ATTN_FILE_I8, 1},  {"<i2", ATTN_FILE_I16, 2}, {"<i4", ATTN_FILE_I32, 4},
                {"<i8", ATTN_FILE_I64, 8}, {"|u1", ATTN_FILE_U8, 1},  {"<u2", ATTN_FILE_U16, 2},
                {"<u4", ATTN_FILE_U32, 4}, {"<u8", ATTN_FILE_U64, 8}, {"|b1", ATTN_FILE_BOOL, 1}};
  for (const auto& type : kTypes) {
    ASSERT_EQ(parse(npy(header(type.descr, "(1,)"), little(1, type.size))), "") << type.descr;
    EXPECT_EQ(array_.type, type.type);
    EXPECT_EQ(attn_file_type_size(array_.type), type.size);
  }
}

TEST_F(Npy, ReadsScalarsAndEmptyArrays) {
  ASSERT_EQ(parse(npy(header("<f8", "()"), raw<double>({2.5}))), "");
  EXPECT_EQ(array_.rank, 0);
  EXPECT_EQ(at<double>(0), 2.5);
  ASSERT_EQ(parse(npy(header("<f8", "(3, 0)"), "")), "");
  EXPECT_EQ(array_.count, 0);
}

TEST_F(Npy, SwapsBigEndianElements) {
  ASSERT_EQ(parse(npy(header(">i4", "(2,)"), "\0\0\1\2\xff\xff\xff\xfe"s)), "");
  EXPECT_EQ(at<int32_t>(0), 258);
  EXPECT_EQ(at<int32_t>(1), -2);
}

TEST_F(Npy, TransposesFortranOrder) {
  std::string data;
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 50; ++j) {
      for (int i = 0; i < 40; ++i)
        data += little(static_cast<uint64_t>(10000 * i + 100 * j + k), 4);
    }
  }
  ASSERT_EQ(parse(npy(header("<i4", "(40, 50, 3)", "True"), data)), "");
  int64_t place = 0;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 50; ++j) {
      for (int k = 0; k < 3; ++k) ASSERT_EQ(at<int32_t>(place++), 10000 * i + 100 * j + k);
    }
  }
}

TEST_F(Npy, AcceptsKeysInAnyOrderAndQuotes) {
  EXPECT_EQ(parse(npy("{\"shape\":(2,),'fortran_order':False,  'descr' : \"|u1\"}  \n", "ab")), "");
}

TEST_F(Npy, RefusesOtherElementTypes) {
  const std::string known =
      "f: the element type is not supported (f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 are)";
  EXPECT_EQ(parse(npy(header("|O", "(1,)"), "12345678")), "f: object arrays are not supported");
  for (const char* descr : {"<c8", "<U4", "|S1", "|V2", "f4", "<f3", "", "<f16"}) {
    EXPECT_EQ(parse(npy(header(descr, "(1,)"), "12345678")), known) << descr;
  }
  EXPECT_EQ(parse(npy(header("|f4", "(1,)"), "1234")), "f: the element type has no byte order");
  EXPECT_EQ(parse(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
            "f: structured element types are not supported");
  EXPECT_EQ(parse(npy("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}", "1234")),
            "f: structured element types are not supported");
  EXPECT_EQ(parse(npy("{'descr': 4, 'fortran_order': False, 'shape': (1,)}", "1234")),
            "f: a string is expected");
}

TEST_F(Npy, RefusesMalformedHeaders) {
  const std::string one = "1234";
  EXPECT_EQ(parse(""), "f: is not an .npy file");
  EXPECT_EQ(parse("\x93NUMPY"), "f: is not an .npy file");
  EXPECT_EQ(parse("PK\3\4 and so on"), "f: .npz is not supported: save each array as an .npy file");
  EXPECT_EQ(parse(npy(header("<f4", "(1,)"), one, 4)), "f: version 4.0 is not supported");
  EXPECT_EQ(parse("\x93NUMPY\1\0\xff\xff"s), "f: ends inside the header");
  EXPECT_EQ(parse("\x93NUMPY\2\0\xff\xff\xff\xff"s), "f: ends inside the header");
  EXPECT_EQ(parse("\x93NUMPY\2\0\1\0"s), "f: ends inside the header");
  EXPECT_EQ(parse(npy(std::string(70000, ' '), one, 2)), "f: the header exceeds 64 KiB");
  EXPECT_EQ(parse(npy("", one)), "f: the header is no dictionary");
  EXPECT_EQ(parse(npy("{}", one)), "f: the header has no descr");
  EXPECT_EQ(parse(npy("{'descr': '<f4', 'shape': (1,)}", one)),
            "f: the header has no fortran_order");
  EXPECT_EQ(parse(npy("{'descr': '<f4', 'fortran_order': False}", one)),
            "f: the header has no shape");
  EXPECT_EQ(parse(npy("{'descr': '<f4', 'descr': '<f4'}", one)), "f: the header has a key twice");
  EXPECT_EQ(parse(npy("{'more': 1}", one)), "f: the header has an unknown key");
  EXPECT_EQ(parse(npy("{'descr': '<f4", one)), "f: a string does not end");
  EXPECT_EQ(parse(npy("{'descr' '<f4'}", one)), "f: ':' is expected");
  EXPECT_EQ(parse(npy("{'descr': '<f4' 'shape'}", one)), "f: ',' or '}' is expected");
  EXPECT_EQ(parse(npy(header("<f4", "(1,)", "0"), one)), "f: fortran_order is no bool");
  EXPECT_EQ(parse(npy(header("<f4", "(1,)") + "x", one)),
            "f: the header goes on after its dictionary");
}

TEST_F(Npy, RefusesMalformedShapes) {
  EXPECT_EQ(parse(npy(header("<f4", "(3L,)"), "1234")), "f: shape is no tuple");
  EXPECT_EQ(parse(npy(header("<f4", "(3, 4L)"), "1234")), "f: shape: ',' or ')' is expected");
  EXPECT_EQ(parse(npy(header("<f4", "(1)"), "1234")), "f: shape is no tuple");
  EXPECT_EQ(parse(npy(header("<f4", "[1]"), "1234")), "f: shape is no tuple");
  EXPECT_EQ(parse(npy(header("<f4", "(-1,)"), "1234")), "f: shape: a size is expected");
  EXPECT_EQ(parse(npy(header("<f4", "(,)"), "1234")), "f: shape: a size is expected");
  EXPECT_EQ(parse(npy(header("<f4", "(1,1,1,1,1,1,1,1,1)"), "1234")),
            "f: shape: the rank exceeds 8");
  EXPECT_EQ(parse(npy(header("<f4", "(9223372036854775808,)"), "1234")),
            "f: shape: a size exceeds 2^63 - 1");
  EXPECT_EQ(parse(npy(header("<f4", "(4194305, 4194305, 211106198978564)"), "1234")),
            "f: shape [4194305, 4194305, 211106198978564] overflows");
  EXPECT_EQ(parse(npy(header("<f4", "(4611686018427387904, 4, 0)"), "")),
            "f: shape [4611686018427387904, 4, 0] overflows");
}

// Row W18: nothing is allocated before the file's length was seen to fit.
TEST_F(Npy, RefusesSizesThatTheFileLacks) {
  attn_context_fail_allocation(context_, 2);  // the second: the header's text is the first
  EXPECT_EQ(parse(npy(header("<f8", "(65536, 65536)"), "")),
            "f: shape [65536, 65536] of f64 takes 34359738368 bytes, the file has 0");
  attn_context_fail_allocation(context_, 0);
  EXPECT_EQ(parse(npy(header("<f4", "(1,)"), "12345")),
            "f: shape [1] of f32 takes 4 bytes, the file has 5");
  EXPECT_EQ(parse(npy(header("<f4", "(2,)"), "1234567")),
            "f: shape [2] of f32 takes 8 bytes, the file has 7");
}

TEST_F(Npy, RefusesBoolsThatAreNone) {
  EXPECT_EQ(parse(npy(header("|b1", "(3,)"), "\0\1\1"s)), "");
  EXPECT_EQ(parse(npy(header("|b1", "(3,)"), "\0\1\2"s)), "f: a bool is neither 0 nor 1");
}

TEST_F(Npy, EveryPrefixAndFlippedByteIsSafe) {
  const std::string whole = npy(header("<f4", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6}));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(parse(whole.substr(0, n)), "") << n;
  for (size_t n = 0; n < whole.size(); ++n) {
    for (const int flip : {1, 0x20, 0x80, 0xff}) {
      std::string changed = whole;
      changed[n] = static_cast<char>(changed[n] ^ flip);
      parse(changed);
    }
  }
}

TEST_F(Npy, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(attn_npy_load(context_, folder_.c_str(), &array_), ATTN_BAD_FILE);
  EXPECT_EQ(message(), folder_ + ": is a directory");
  EXPECT_EQ(attn_npy_load(context_, "/dev/zero", &array_), ATTN_BAD_FILE);
  EXPECT_EQ(message(), "/dev/zero: is not a regular file");
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(attn_npy_load(context_, pipe.c_str(), &array_), ATTN_BAD_FILE);
  EXPECT_EQ(message(), pipe + ": is not a regular file");
  EXPECT_EQ(attn_npy_load(context_, path("none").c_str(), &array_), ATTN_BAD_FILE);
  EXPECT_EQ(message(), path("none") + ": No such file or directory");
  EXPECT_EQ(attn_npy_load(context_, nullptr, &array_), ATTN_REFUSED);
}

TEST_F(Npy, RefusesAHugeSparseFile) {
  const std::string name = write("sparse", npy(header("<f4", "(1,)"), "1234"));
  std::filesystem::resize_file(name, uintmax_t{1} << 40);
  EXPECT_EQ(attn_npy_load(context_, name.c_str(), &array_), ATTN_BAD_FILE);
}

TEST_F(Npy, WritesWhatItReads) {
  float values[] = {1, -2, 3.5f, 4, 5, INFINITY};
  const attn_tensor tensor = {values, ATTN_F32, 2, {2, 3}};
  ASSERT_EQ(attn_npy_save(context_, path("a.npy").c_str(), &tensor), ATTN_OK) << message();
  EXPECT_EQ(file_count(), 1u);
  const std::string bytes = read("a.npy");
  EXPECT_EQ(bytes.substr(0, 69),
            "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s);
  EXPECT_EQ((bytes.size() - sizeof values) % 64, 0u);
  ASSERT_EQ(attn_npy_load(context_, path("a.npy").c_str(), &array_), ATTN_OK) << message();
  EXPECT_EQ(memcmp(array_.data, values, sizeof values), 0);
  EXPECT_EQ(array_.extent[1], 3);
}

TEST_F(Npy, WritesEveryTypeAndRank) {
  uint16_t halves[] = {0x3fc0, 0xc000};
  const attn_tensor brain = {halves, ATTN_BF16, 1, {2}};
  ASSERT_EQ(attn_npy_save(context_, path("b").c_str(), &brain), ATTN_OK);
  EXPECT_NE(read("b").find("'<f4', 'fortran_order': False, 'shape': (2,)"), std::string::npos);
  ASSERT_EQ(attn_npy_load(context_, path("b").c_str(), &array_), ATTN_OK);
  EXPECT_EQ(at<float>(0), 1.5f);
  EXPECT_EQ(at<float>(1), -2.0f);
  double values[1] = {7};
  for (int type = 0; type < 6; ++type) {
    const attn_tensor scalar = {values, static_cast<attn_type>(type), 0, {}};
    const attn_tensor wide = {values, static_cast<attn_type>(type), 8, {1, 1, 1, 1, 1, 1, 1, 1}};
    const attn_tensor empty = {nullptr, static_cast<attn_type>(type), 2, {0, 4}};
    for (const attn_tensor& tensor : {scalar, wide, empty}) {
      values[0] = 0;
      ASSERT_EQ(attn_npy_save(context_, path("c").c_str(), &tensor), ATTN_OK);
      attn_array_free(&array_);
      ASSERT_EQ(attn_npy_load(context_, path("c").c_str(), &array_), ATTN_OK) << message();
      EXPECT_EQ(array_.rank, tensor.rank);
      EXPECT_EQ(array_.count, attn_element_count(&tensor));
    }
  }
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  float value = 1;
  const attn_tensor tensor = {&value, ATTN_F32, 0, {}};
  EXPECT_EQ(attn_npy_save(context_, path("none/a.npy").c_str(), &tensor), ATTN_BAD_FILE);
  EXPECT_EQ(message(), path("none/a.npy") + ": cannot create: No such file or directory");
  std::filesystem::create_directory(path("folder"));
  EXPECT_EQ(attn_npy_save(context_, path("folder").c_str(), &tensor), ATTN_BAD_FILE);
  EXPECT_EQ(message(), path("folder") + ": cannot replace: Is a directory");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Npy, ReplacesALinkAndNotItsTarget) {
  write("target", "old");
  std::filesystem::create_symlink("target", path("link"));
  float value = 1;
  const attn_tensor tensor = {&value, ATTN_F32, 0, {}};
  ASSERT_EQ(attn_npy_save(context_, path("link").c_str(), &tensor), ATTN_OK);
  EXPECT_EQ(read("target"), "old");
  EXPECT_FALSE(std::filesystem::is_symlink(path("link")));
}

class Convert : public Npy {
 protected:
  template <class From>
  std::string convert(const char* descr, std::initializer_list<From> values, attn_type type) {
    const std::string shape = "(" + std::to_string(values.size()) + ",)";
    EXPECT_EQ(parse(npy(header(descr, shape), raw(values))), "");
    const attn_status status = attn_array_convert(context_, "x", &array_, type, result_);
    return status == ATTN_OK ? "" : message();
  }
  template <class To>
  To result(int k) const {
    To value;
    memcpy(&value, result_ + k * static_cast<int>(sizeof(To)), sizeof(To));
    return value;
  }
  char result_[256] = {};
};

TEST_F(Convert, RealsRoundToTheNearest) {
  EXPECT_EQ(convert<double>("<f8", {0.1, -1e-50, HUGE_VAL}, ATTN_F32), "");
  EXPECT_EQ(result<float>(0), 0.1f);
  EXPECT_EQ(result<float>(1), 0.0f);
  EXPECT_EQ(result<float>(2), INFINITY);
  EXPECT_EQ(convert<double>("<f8", {1, 1e39}, ATTN_F32),
            "x: element 1 is 9.9999999999999994e+38, which f32 does not hold");
  EXPECT_EQ(convert<float>("<f4", {1, 65504}, ATTN_F16), "");
  EXPECT_EQ(result<uint16_t>(1), 0x7bff);
  EXPECT_EQ(convert<float>("<f4", {65536}, ATTN_F16),
            "x: element 0 is 65536, which f16 does not hold");
  EXPECT_EQ(convert<float>("<f4", {1.5f}, ATTN_BF16), "");
  EXPECT_EQ(result<uint16_t>(0), 0x3fc0);
  EXPECT_EQ(convert<float>("<f4", {1.5f}, ATTN_F64), "");
  EXPECT_EQ(result<double>(0), 1.5);
}

TEST_F(Convert, IntegersMustBeExact) {
  EXPECT_EQ(convert<int64_t>("<i8", {-2147483648, 2147483647}, ATTN_I32), "");
  EXPECT_EQ(result<int32_t>(0), INT32_MIN);
  EXPECT_EQ(convert<int64_t>("<i8", {2147483648}, ATTN_I32),
            "x: element 0 is 2147483648, which i32 does not hold");
  EXPECT_EQ(convert<uint64_t>("<u8", {~uint64_t{0}}, ATTN_I32),
            "x: element 0 is 1.8446744073709552e+19, which i32 does not hold");
  EXPECT_EQ(convert<uint8_t>("|u1", {0, 16, 255}, ATTN_F32), "");
  EXPECT_EQ(result<float>(2), 255.0f);
  EXPECT_EQ(convert<int32_t>("<i4", {16777216}, ATTN_F32), "");
  EXPECT_EQ(convert<int32_t>("<i4", {16777217}, ATTN_F32),
            "x: element 0 is 16777217, which f32 does not hold");
  EXPECT_EQ(convert<int32_t>("<i4", {16777217}, ATTN_F64), "");
}

TEST_F(Convert, KindsAreNotMixed) {
  EXPECT_EQ(convert<double>("<f8", {1}, ATTN_I32), "x: f64 is not converted to i32");
  EXPECT_EQ(convert<uint8_t>("|u1", {1}, ATTN_BOOL), "x: u8 is not converted to bool");
  EXPECT_EQ(convert<uint8_t>("|b1", {1}, ATTN_BOOL), "");
  EXPECT_EQ(convert<uint8_t>("|b1", {1}, ATTN_F32), "");
  EXPECT_EQ(result<float>(0), 1.0f);
}

}  // namespace
