#include "runnel/model/builtin/offline_note.h"

#include <string_view>

namespace runnel::model {
namespace {

// What begins a sentence about the user, what ends it, and where the rest of it belongs.
struct NotePattern {
  std::string_view begin;
  std::string_view end;
  std::string_view kind;
  std::string_view field;
  bool in_list;
};

// Longer ones first, where one begins like another.
constexpr NotePattern kNotePatterns[] = {
    {"我不喜欢", "", "user", "dislikes", true},
    {"我不爱", "", "user", "dislikes", true},
    {"我讨厌", "", "user", "dislikes", true},
    {"我最喜欢", "", "user", "likes", true},
    {"我更喜欢", "", "user", "likes", true},
    {"我喜欢", "", "user", "likes", true},
    {"我偏好", "", "user", "likes", true},
    {"我爱", "", "user", "likes", true},
    {"我的名字叫", "", "user", "preferred_name", false},
    {"我的名字是", "", "user", "preferred_name", false},
    {"我叫", "", "user", "preferred_name", false},
    {"叫我", "", "user", "preferred_name", false},
    {"我在", "工作", "work_profile", "organization", false},
    {"我在", "上班", "work_profile", "organization", false},
    {"我的职业是", "", "work_profile", "role", false},
    {"我是一名", "", "work_profile", "role", false},
    {"我习惯", "", "user", "habits", true},
    {"我通常", "", "user", "habits", true},
    {"我经常", "", "user", "habits", true},
    {"i don't like", "", "user", "dislikes", true},
    {"i do not like", "", "user", "dislikes", true},
    {"i dislike", "", "user", "dislikes", true},
    {"i hate", "", "user", "dislikes", true},
    {"i really like", "", "user", "likes", true},
    {"i like", "", "user", "likes", true},
    {"i love", "", "user", "likes", true},
    {"i enjoy", "", "user", "likes", true},
    {"i prefer", "", "user", "likes", true},
    {"my name is", "", "user", "preferred_name", false},
    {"i am called", "", "user", "preferred_name", false},
    {"call me", "", "user", "preferred_name", false},
    {"i work at", "", "work_profile", "organization", false},
    {"i work for", "", "work_profile", "organization", false},
    {"i work as a", "", "work_profile", "role", false},
    {"i work as an", "", "work_profile", "role", false},
    {"i work as", "", "work_profile", "role", false},
    {"my job is", "", "work_profile", "role", false},
    {"i usually", "", "user", "habits", true},
    {"i often", "", "user", "habits", true},
    {"i always", "", "user", "habits", true},
};

// Shorter than the fields' own limits.
constexpr std::size_t kLongestName = 200;

}  // namespace

Note to_note(OfflineText const& words) {
  Note note;
  note.secret =
      has_any(words.lower, {"password", "passcode", "passphrase", "api key", "access token", "secret key",
                            "pin code", "credit card", "密码", "口令", "密钥", "信用卡", "验证码"});
  for (auto const& pattern : kNotePatterns) {
    Scan scan{words.lower};
    if (!scan.take(pattern.begin)) continue;
    auto value = trimmed(std::string_view{words.text}.substr(scan.at()));
    if (!value.ends_with(pattern.end)) continue;
    value = trimmed(value.substr(0, value.size() - pattern.end.size()));
    if (value.empty() || (!pattern.in_list && value.size() > kLongestName)) continue;
    note.kind = pattern.kind;
    note.field = pattern.field;
    note.in_list = pattern.in_list;
    note.value = value;
    return note;
  }
  note.kind = "user";
  note.field = "notes";
  note.in_list = true;
  note.value = trimmed(words.text);
  return note;
}

}  // namespace runnel::model
