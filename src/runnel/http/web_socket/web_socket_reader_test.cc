#include "runnel/http/web_socket/web_socket_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runnel/protocol/web_socket_frame.h"

namespace runnel::http {
namespace {

using namespace std::string_literals;
using protocol::WebSocketHead;

constexpr int kText = 1;
constexpr int kBinary = 2;
constexpr int kContinuation = 0;
constexpr int kClose = 8;
constexpr int kPing = 9;
constexpr int kPong = 10;

// A frame as a client sends it.
std::string masked_frame(int opcode, std::string const& payload, bool final = true, int reserved = 0) {
  std::string const mask = "\x37\xfa\x21\x3d"s;
  std::string out{WebSocketHead{protocol::WebSocketOpcode::text, payload.size()}.bytes()};
  out[0] = static_cast<char>((final ? 0x80 : 0) | reserved | opcode);
  out[1] = static_cast<char>(out[1] | 0x80);
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i)
    out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

std::string pong_of(std::string const& payload) {
  return std::string{WebSocketHead{protocol::WebSocketOpcode::pong, payload.size()}.bytes()} + payload;
}

// The answer to the bytes, and "open" or "over".
std::string answer_to(std::string const& bytes, std::size_t piece = 1 << 20) {
  WebSocketReader reader;
  std::string answer;
  bool open = true;
  for (std::size_t at = 0; at < bytes.size() && open; at += piece)
    open = reader.read(std::string_view{bytes}.substr(at, piece), answer);
  return answer + (open ? "open" : "over");
}

int close_code(std::string const& bytes) {
  for (std::size_t const piece : {1U, 3U, 1U << 20U}) {
    auto const answer = answer_to(bytes, piece);
    EXPECT_EQ(answer, answer_to(bytes)) << "in pieces of " << piece;
  }
  auto const answer = answer_to(bytes);
  auto const at = answer.rfind('\x88');
  if (!answer.ends_with("over") || at == std::string::npos || at + 4 > answer.size()) return 0;
  return static_cast<unsigned char>(answer[at + 2]) * 256 + static_cast<unsigned char>(answer[at + 3]);
}

TEST(WebSocketReader, TASK_5_PingIsAnsweredWithItsPayload) {
  for (auto const& payload : {""s, "hello"s, std::string(125, '\xff')})
    EXPECT_EQ(answer_to(masked_frame(kPing, payload)), pong_of(payload) + "open");
  EXPECT_EQ(answer_to(masked_frame(kPing, "a") + masked_frame(kPing, "b"), 1),
            pong_of("a") + pong_of("b") + "open");
  EXPECT_EQ(answer_to(masked_frame(kPong, "late")), "open");
}

TEST(WebSocketReader, TASK_5_MessagesAreReadAndDropped) {
  for (std::size_t const size : {0U, 1U, 125U, 126U, 127U, 128U, 65535U, 65536U}) {
    for (int const opcode : {kText, kBinary}) {
      EXPECT_EQ(answer_to(masked_frame(opcode, std::string(size, 'x')) + masked_frame(kPing, "p"), 997),
                pong_of("p") + "open")
          << size;
    }
  }
}

TEST(WebSocketReader, TASK_5_MessageMayComeInFramesWithControlFramesBetween) {
  auto const bytes = masked_frame(kText, "a", false) + masked_frame(kPing, "1") +
                     masked_frame(kContinuation, "", false) + masked_frame(kPing, "2") +
                     masked_frame(kContinuation, "b") + masked_frame(kText, "c");
  for (std::size_t const piece : {1U, 2U, 1000U})
    EXPECT_EQ(answer_to(bytes, piece), pong_of("1") + pong_of("2") + "open");
}

TEST(WebSocketReader, TASK_5_CloseIsAnsweredWithItsCode) {
  EXPECT_EQ(answer_to(masked_frame(kClose, "")), "\x88\x00over"s);
  EXPECT_EQ(answer_to(masked_frame(kClose,
                                   "\x03\xe8"
                                   "bye"s)),
            "\x88\x02\x03\xe8over"s);
  EXPECT_EQ(close_code(masked_frame(kClose, "\x03\xe8"s) + masked_frame(kPing, "late")), 1000);
  for (int const code :
       {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999}) {
    std::string const payload{static_cast<char>(code / 256), static_cast<char>(code % 256)};
    EXPECT_EQ(close_code(masked_frame(kClose, payload)), code);
  }
}

TEST(WebSocketReader, TASK_5_CloseThatMayNotBeSentIsAProtocolError) {
  for (int const code : {0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535}) {
    std::string const payload{static_cast<char>(code / 256), static_cast<char>(code % 256)};
    EXPECT_EQ(close_code(masked_frame(kClose, payload)), 1002) << code;
  }
  EXPECT_EQ(close_code(masked_frame(kClose, "\x03"s)), 1002);
  EXPECT_EQ(close_code(masked_frame(kClose, "\x03\xe8\xce\xba\xe1\xbd\xb9\xcf\x83\xed\xa0\x80"s)), 1007);
}

TEST(WebSocketReader, TASK_5_FramesThatBreakTheProtocolEndIt) {
  auto unmasked = masked_frame(kText, "x");
  unmasked[1] = static_cast<char>(unmasked[1] & 0x7F);
  EXPECT_EQ(close_code(unmasked), 1002);
  for (int const bit : {0x10, 0x20, 0x40, 0x70})
    EXPECT_EQ(close_code(masked_frame(kText, "x", true, bit)), 1002);
  for (int const opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15})
    EXPECT_EQ(close_code(masked_frame(opcode, "")), 1002) << opcode;
  EXPECT_EQ(close_code(masked_frame(kPing, std::string(126, 'x'))), 1002);
  EXPECT_EQ(close_code(masked_frame(kPing, "x", false)), 1002);
  EXPECT_EQ(close_code(masked_frame(kClose, std::string(126, 'x'))), 1002);
  EXPECT_EQ(close_code(masked_frame(kContinuation, "x")), 1002);
  EXPECT_EQ(close_code(masked_frame(kText, "x", false) + masked_frame(kText, "y")), 1002);
  EXPECT_EQ(close_code(masked_frame(kText, "x", false) + masked_frame(kBinary, "y")), 1002);
  EXPECT_EQ(close_code(masked_frame(kText, "x") + masked_frame(kContinuation, "y")), 1002);
}

TEST(WebSocketReader, TASK_5_LengthMustBeInItsShortestForm) {
  EXPECT_EQ(close_code("\x81\xfe\x00\x05mask"s), 1002);
  EXPECT_EQ(close_code("\x81\xff\x00\x00\x00\x00\x00\x00\x00\x05mask"s), 1002);
  EXPECT_EQ(close_code("\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00mask"s), 1002);
}

TEST(WebSocketReader, HTTP_9_MessageThatIsTooLongIsRefusedByItsHead) {
  EXPECT_EQ(close_code("\x82\xff\x00\x00\x00\x00\x00\x98\x96\x80mask"s), 1009) << "10 MB";
  EXPECT_EQ(close_code("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xffmask"s), 1009);
  std::string const half(40'000, 'x');
  EXPECT_EQ(close_code(masked_frame(kBinary, half, false) + masked_frame(kContinuation, half)), 1009);
  EXPECT_EQ(answer_to(masked_frame(kBinary, half) + masked_frame(kBinary, half)), "open");
}

TEST(WebSocketReader, TASK_5_TextMustBeUtf8AlsoWhereItIsSplit) {
  std::string const good = "κόσμε 你好 😀";
  for (std::size_t at = 0; at <= good.size(); ++at) {
    auto const bytes =
        masked_frame(kText, good.substr(0, at), false) + masked_frame(kContinuation, good.substr(at));
    EXPECT_EQ(answer_to(bytes, 1), "open");
  }
  for (auto const& bad :
       {"\x80"s, "\xc0\xaf"s, "\xe0\x80\xaf"s, "\xed\xa0\x80"s, "\xf0\x80\x80\x80"s, "\xf4\x90\x80\x80"s,
        "\xf8\x88\x80\x80\x80"s, "\xff"s, "ok\xce"s, "\xf0\x9f\x98"s}) {
    EXPECT_EQ(close_code(masked_frame(kText, bad)), 1007);
    EXPECT_EQ(
        close_code(masked_frame(kText, bad.substr(0, 1), false) + masked_frame(kContinuation, bad.substr(1))),
        1007);
    EXPECT_EQ(answer_to(masked_frame(kBinary, bad)), "open") << "only texts are checked";
  }
}

TEST(WebSocketReader, TASK_5_BadTextIsToldBeforeItsEnd) {
  auto const bytes = masked_frame(kText, "ok\xff and more", false);
  EXPECT_EQ(close_code(bytes.substr(0, bytes.size() - 5)), 1007);
}

TEST(WebSocketReader, NothingIsReadBehindTheEnd) {
  WebSocketReader reader;
  std::string answer;
  EXPECT_FALSE(reader.read(masked_frame(3, ""), answer));
  EXPECT_FALSE(reader.closed_by_peer());
  auto const once = answer;
  EXPECT_FALSE(reader.read(masked_frame(kPing, "x"), answer));
  EXPECT_EQ(answer, once);
}

}  // namespace
}  // namespace runnel::http
