#include "runnel/model/builtin/offline_tone.h"

namespace runnel::model {
namespace {

WordList const& polite_words() {
  static WordList const all{"please",
                            "could you",
                            "can you",
                            "would you",
                            "will you",
                            "kindly",
                            "hey",
                            "hi",
                            "hello",
                            "i want to",
                            "i would like to",
                            "i'd like to",
                            "i need to",
                            "let's",
                            "help me",
                            "just",
                            "i want you to",
                            ",",
                            "请你",
                            "请",
                            "麻烦你",
                            "麻烦",
                            "帮忙",
                            "帮我",
                            "给我",
                            "替我",
                            "能不能",
                            "可不可以",
                            "能否",
                            "可否",
                            "可以",
                            "你能",
                            "你可以",
                            "能",
                            "我想要",
                            "我想",
                            "我要",
                            "你好",
                            "您好",
                            "你"};
  return all;
}

}  // namespace

Politeness without_politeness(OfflineText const& words) {
  Scan scan{words.lower};
  bool polite = false;
  while (scan.take_any(polite_words()))
    polite = true;
  scan.skip_blanks();
  return {part_of(words, scan.at()), polite};
}

Tone tone_of(std::string_view lower) {
  Tone tone;
  Scan first{lower};
  tone.asks =
      first.take_any(
          {"what", "what's", "when", "when's", "where", "who", "who's", "why", "how", "which", "whose"}) ||
      has_any(lower, {"什么", "怎么", "为什么", "为何", "多少", "谁", "如何", "哪", "几点", "几号", "几个"});
  Scan verb{lower};
  tone.yes_or_no = lower.find('?') != std::string_view::npos ||
                   has_any(lower, {"吗", "是否", "有没有", "是不是"}) ||
                   verb.take_any({"do", "does", "did", "is", "are", "was", "were", "am", "have", "has",
                                  "should", "may", "shall"});
  tone.unreal = has_any(lower, {"not",    "don't",   "dont",  "never",     "can't",   "cannot", "won't",
                                "didn't", "doesn't", "isn't", "shouldn't", "mustn't", "if",     "unless",
                                "不",     "别",      "没",    "勿",        "无需",    "如果",   "要是",
                                "假如",   "万一",    "除非",  "的话",      "听说",    "据说",   "说"});
  tone.done =
      has_any(lower, {"已经", "刚才", "刚刚", "了", "过了", "被", "had", "was", "were", "did", "been"});
  return tone;
}

bool asks_for_meaning(std::string_view lower) {
  return has_any(lower, {"什么是", "是什么意思", "怎么", "如何", "为什么", "为何", "how do", "how to",
                         "how does", "what is a", "what is an", "what are", "what's a", "what's an",
                         "explain", "define", "mean", "means", "why"}) ||
         lower.ends_with("是什么") || lower.ends_with("是什么?");
}

}  // namespace runnel::model
