// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// A synthetic microphone: somebody in a room says invented words of two syllables. Source of the training data
/// (train.py, through microphone.cpp) and of the boards' audio. Uses integers only, so that every machine makes the
/// same samples from a seed. It is a formant synthesizer, not recorded speech.
namespace keyword {

inline constexpr int sample_rate = 16000;
inline constexpr int block = 80;  ///< samples (5 ms) during which the voice's parameters are constant

/// xorshift32. Source: Marsaglia, Xorshift RNGs (2003).
class Random {
 public:
  explicit constexpr Random(std::uint32_t seed) noexcept : state_(seed * 2654435761u | 1u) {
    for (int i = 0; i < 8; ++i) (void)bits();
  }
  constexpr std::uint32_t bits() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    return state_ ^= state_ << 5;
  }
  /// Returns a number in [low, high].
  constexpr int between(int low, int high) noexcept {
    return low + static_cast<int>((bits() >> 8) % static_cast<std::uint32_t>(high - low + 1));
  }
  /// Returns 16-bit white noise.
  constexpr int noise() noexcept { return static_cast<std::int16_t>(bits() >> 16); }

 private:
  std::uint32_t state_;
};

/// A sound: frequencies of three formants and of the noise (Hz), loudness of voice and noise (of 256), and duration.
struct Phone {
  std::int16_t formants[4];
  std::int16_t voice, noise, milliseconds;
};

/// Initial consonants of syllables. Stops begin with a closure.
inline constexpr std::array<Phone, 8> consonants{{{{250, 1000, 2200, 3000}, 110, 0, 80},    // m
                                                  {{250, 1700, 2600, 3000}, 110, 0, 80},    // n
                                                  {{360, 1150, 2700, 3000}, 150, 0, 80},    // l
                                                  {{310, 1060, 1400, 3000}, 150, 0, 80},    // r
                                                  {{320, 1500, 2600, 5600}, 0, 150, 110},   // s
                                                  {{320, 1700, 2400, 2700}, 0, 170, 110},   // sh
                                                  {{320, 1700, 2600, 4200}, 0, 230, 25},    // t
                                                  {{300, 1600, 2200, 1700}, 0, 230, 30}}};  // k
inline constexpr std::size_t first_stop = 6;
inline constexpr std::array<Phone, 5> vowels{{{{730, 1150, 2440, 3000}, 256, 6, 140},   // a
                                              {{530, 1840, 2480, 3000}, 240, 6, 130},   // e
                                              {{280, 2290, 3010, 3000}, 200, 6, 130},   // i
                                              {{570, 840, 2410, 3000}, 240, 6, 140},    // o
                                              {{310, 870, 2240, 3000}, 200, 6, 130}}};  // u

struct Syllable {
  std::uint8_t consonant, vowel;
  bool operator==(const Syllable&) const = default;
};
struct Word {
  Syllable first, second;
  bool operator==(const Word&) const = default;
};

/// The keywords. Label 0 is everything else; keyword i has label i + 1.
inline constexpr std::array<Word, 4> keywords{{{{2, 4}, {0, 2}},    // lumi
                                               {{4, 3}, {7, 0}},    // soka
                                               {{6, 2}, {3, 3}},    // tiro
                                               {{1, 1}, {6, 0}}}};  // neta
inline constexpr std::array<const char*, 5> names{"-", "lumi", "soka", "tiro", "neta"};

/// One period of a sine in 256 steps, scaled by 2^14.
inline constexpr std::array<std::int16_t, 256> sine = [] {
  std::array<std::int16_t, 256> table{};
  for (int i = 0; i < 256; ++i) {
    const double x = (i < 128 ? i : i - 256) * 3.14159265358979323846 / 128;
    double term = x, sum = x;
    for (int n = 2; n < 32; n += 2) sum += term *= -x * x / (n * (n + 1));
    table[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(sum * 16384 + (sum < 0 ? -0.5 : 0.5));
  }
  return table;
}();

/// Returns a sine, scaled by 2^14. A `phase` of 2^16 is one period.
[[nodiscard]] constexpr int sine_of(std::uint32_t phase) noexcept {
  const std::size_t at = phase >> 8 & 255;
  const int here = sine[at], next = sine[(at + 1) & 255];
  return here + ((next - here) * static_cast<int>(phase & 255) >> 8);
}

/// A two-pole resonator: y[t] = gain x[t] + 2 r cos(w) y[t-1] - r^2 y[t-2], in units of 2^-14.
class Resonator {
 public:
  constexpr void tune(int hertz, int radius) noexcept {
    const auto angle = static_cast<std::uint32_t>(hertz) * 65536u / sample_rate;
    forward_ = 2 * (radius * sine_of(angle + 16384u) >> 14);
    back_ = radius * radius >> 14;
    gain_ = (16384 - radius) * 2;
  }
  constexpr int step(int x) noexcept {
    const std::int64_t sum = std::int64_t{gain_} * x + std::int64_t{forward_} * y1_ - std::int64_t{back_} * y2_;
    y2_ = y1_;
    return y1_ = static_cast<int>(sum >> 14);
  }

 private:
  int forward_ = 0, back_ = 0, gain_ = 0, y1_ = 0, y2_ = 0;
};

/// An endless sequence of words and pauses. Voice, pitch, tempo and loudness change with every word; background noise
/// and hum change from time to time. Half of the words are keywords; half of the others share a syllable with a
/// keyword.
class Microphone {
 public:
  /// A spoken word: its number, from 0, and its label; begin and end in samples.
  struct Saying {
    int number = -1, label = 0;
    std::uint32_t begin = 0, end = 0;
  };

  explicit constexpr Microphone(std::uint32_t seed) noexcept : random_(seed) {
    change_room();
    phones_[0] = {.formants = {730, 1150, 2440, 3000}, .voice = 0, .noise = 0, .milliseconds = 8};
    count_ = 1;
    blocks_ = 100;
  }

  /// Returns the next sample.
  constexpr std::int16_t sample() noexcept {
    if (time_ % block == 0) next_block();
    ++time_;
    int out = room_noise();
    if (now_[4] != 0 || now_[5] != 0) {
      pitch_phase_ += pitch_step_;
      const int glottis = 16384 - static_cast<int>(pitch_phase_ >> 17);
      const int voice = glottis * now_[4] >> 8;
      int speech = mouth_[0].step(voice) + (mouth_[1].step(voice) >> 1) + (mouth_[2].step(voice) >> 2);
      speech += mouth_[3].step(random_.noise() * now_[5] >> 9);
      out += speech * level_ >> 12;
    }
    return static_cast<std::int16_t>(out < -32768 ? -32768 : out > 32767 ? 32767 : out);
  }
  [[nodiscard]] constexpr const Saying& saying() const noexcept { return saying_; }

 private:
  constexpr int room_noise() noexcept {
    const int white = random_.noise();
    low_ += (white - low_) >> 4;
    hum_phase_ += hum_step_;
    return (white * white_level_ >> 15) + (low_ * low_level_ >> 13) + (sine_of(hum_phase_ >> 16) * hum_level_ >> 14);
  }
  constexpr void change_room() noexcept {
    const int loud = 1 << random_.between(0, 4);
    white_level_ = random_.between(4, 14) * loud;
    low_level_ = random_.between(4, 20) * loud;
    hum_level_ = random_.between(0, 15) * loud;
    hum_step_ = static_cast<std::uint32_t>(random_.between(40, 400)) * (0xFFFFFFFFu / sample_rate);
  }
  constexpr Word other_word() noexcept {
    while (true) {
      const auto any = [&] {
        return Syllable{static_cast<std::uint8_t>(random_.between(0, 7)),
                        static_cast<std::uint8_t>(random_.between(0, 4))};
      };
      Word word{any(), any()};
      const Word& like = keywords[static_cast<std::size_t>(random_.between(0, 3))];
      const int kind = random_.between(0, 3);
      if (kind == 0) word.first = like.first;
      if (kind == 1) word.second = like.second;
      bool is_keyword = false;
      for (const Word& each : keywords) is_keyword = is_keyword || each == word;
      if (!is_keyword) return word;
    }
  }
  constexpr void add(const Phone& phone, int formant_scale, int tempo) noexcept {
    Phone& to = phones_[count_++] = phone;
    for (int i = 0; i < 4; ++i)
      to.formants[i] = static_cast<std::int16_t>(phone.formants[i] * (i == 3 ? 1024 : formant_scale) >> 10);
    to.milliseconds = static_cast<std::int16_t>(phone.milliseconds * tempo / 100);
  }
  constexpr void next_word() noexcept {
    if (random_.between(0, 7) == 0) change_room();
    const bool known = random_.between(0, 1) == 0;
    const auto which = static_cast<std::size_t>(random_.between(0, 3));
    const Word word = known ? keywords[which] : other_word();
    const int scale = random_.between(900, 1180), tempo = random_.between(75, 135);
    level_ = 1 << random_.between(7, 10);
    level_ += level_ * random_.between(0, 255) >> 8;
    pitch_ = random_.between(90, 230);
    glide_ = random_.between(-20, 10);
    const Phone before = phones_[count_ - 1];
    count_ = 0;
    phones_[count_++] = before;
    for (const Syllable syllable : {word.first, word.second}) {
      const Phone& consonant = consonants[syllable.consonant];
      if (syllable.consonant >= first_stop) {
        Phone closure = consonant;
        closure.voice = closure.noise = 0;
        closure.milliseconds = 50;
        add(closure, scale, tempo);
      }
      add(consonant, scale, tempo);
      add(vowels[syllable.vowel], scale, tempo);
    }
    Phone rest = phones_[count_ - 1];
    rest.voice = rest.noise = 0;
    rest.milliseconds = static_cast<std::int16_t>(random_.between(550, 900));
    phones_[count_++] = rest;
    saying_ = {saying_.number + 1, known ? static_cast<int>(which) + 1 : 0, time_, time_};
    for (std::size_t i = 1; i + 1 < count_; ++i)
      saying_.end += static_cast<std::uint32_t>(blocks_of(phones_[i]) * block);
    phone_ = 1;
    at_ = 0;
    blocks_ = blocks_of(phones_[1]);
  }
  static constexpr int blocks_of(const Phone& phone) noexcept { return phone.milliseconds / 5 + 1; }

  /// Computes the sound of the next 5 ms: interpolates from the last phone to the current one within 30 ms.
  constexpr void next_block() noexcept {
    if (at_ == blocks_) {
      if (++phone_ >= count_) {
        next_word();
      } else {
        at_ = 0;
        blocks_ = blocks_of(phones_[phone_]);
      }
    }
    const Phone& to = phones_[phone_];
    const Phone& from = phones_[phone_ == 0 ? 0 : phone_ - 1];
    const int ramp = blocks_ < 6 ? (blocks_ < 2 ? 1 : blocks_ / 2) : 6;
    const int part = at_ + 1 < ramp ? at_ + 1 : ramp;
    const auto mix = [&](int a, int b) { return a + (b - a) * part / ramp; };
    for (int i = 0; i < 4; ++i) now_[i] = mix(from.formants[i], to.formants[i]);
    now_[4] = mix(from.voice, to.voice);
    now_[5] = mix(from.noise, to.noise);
    constexpr int radius[4]{16129, 16000, 15850, 14000};
    for (int i = 0; i < 4; ++i) mouth_[i].tune(now_[i], radius[i]);
    const int words_part = static_cast<int>(time_ - saying_.begin) / block;
    const int hertz = pitch_ + pitch_ * glide_ * words_part / 10000 + random_.between(-2, 2);
    pitch_step_ = static_cast<std::uint32_t>(hertz < 50 ? 50 : hertz) * (0xFFFFFFFFu / sample_rate);
    ++at_;
  }

  Random random_;
  std::array<Phone, 10> phones_{};
  std::size_t count_ = 0, phone_ = 0;
  int at_ = 0, blocks_ = 0;
  int now_[6]{};
  Resonator mouth_[4];
  int level_ = 0, pitch_ = 100, glide_ = 0;
  int white_level_ = 0, low_level_ = 0, hum_level_ = 0, low_ = 0;
  std::uint32_t pitch_phase_ = 0, pitch_step_ = 0, hum_phase_ = 0, hum_step_ = 0;
  std::uint32_t time_ = 0;
  Saying saying_;
};

}  // namespace keyword
