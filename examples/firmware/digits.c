/* SPDX-License-Identifier: MIT */
/* A model called from C: `davit embed --c` wrote digits_cnn.h. Returns 0 if the model recognises a seven. */
#include "digits_cnn.h"

#define o 0.0f
#define x 1.0f
static const DIGITS_CNN_INPUT_TYPE seven[DIGITS_CNN_INPUT_COUNT] = {
    o, o, x, x, x, x, o, o, /* 8x8 */
    o, o, x, x, x, x, o, o, /* */
    o, o, o, o, x, x, o, o, /* */
    o, o, o, x, x, x, x, o, /* */
    o, o, o, o, x, o, o, o, /* */
    o, o, o, x, x, o, o, o, /* */
    o, o, o, x, o, o, o, o, /* */
    o, o, x, x, o, o, o, o};

/* C99 cannot specify an alignment: an array of doubles, with room to start at the next multiple of it */
static double memory[(DIGITS_CNN_ARENA_BYTES + DIGITS_CNN_ARENA_ALIGNMENT) / sizeof(double) + 1];
static DIGITS_CNN_ADDMM_TYPE scores[DIGITS_CNN_ADDMM_COUNT];

int main(void) {
  const uintptr_t begin = ((uintptr_t)memory + DIGITS_CNN_ARENA_ALIGNMENT - 1) / DIGITS_CNN_ARENA_ALIGNMENT * DIGITS_CNN_ARENA_ALIGNMENT;
  int best = 0, i;
  if (digits_cnn_forward(seven, scores) == 0) return 10; /* no memory yet */
  if (digits_cnn_init((void*)begin, DIGITS_CNN_ARENA_BYTES - 1) == 0) return 11;
  if (digits_cnn_init((void*)(begin + 1), DIGITS_CNN_ARENA_BYTES) == 0) return 12;
  if (digits_cnn_init(NULL, DIGITS_CNN_ARENA_BYTES) == 0) return 13;
  if (digits_cnn_init((void*)begin, DIGITS_CNN_ARENA_BYTES) != 0) return 14;
  if (digits_cnn_forward(seven, NULL) == 0) return 15;
  if (digits_cnn_forward(seven, scores) != 0) return 16;
  for (i = 1; i < DIGITS_CNN_ADDMM_COUNT; ++i)
    if (scores[i] > scores[best]) best = i;
  return best == 7 ? 0 : 17;
}
