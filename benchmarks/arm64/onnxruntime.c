// SPDX-License-Identifier: MIT
// Runs an ONNX model RUNS times on one input with one thread, for a count of instructions, and prints the largest difference from the
// recorded output.
//   onnxruntime MODEL.onnx INPUT.npy OUTPUT.npy RUNS
#include <math.h>
#include <onnxruntime/onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct array {
  int64_t sizes[8];
  size_t rank, bytes, count;
  int is_integer;
  void* data;
};

static void must(int holds, const char* say) {
  if (!holds) fprintf(stderr, "onnxruntime: %s\n", say), exit(1);
}

// Reads a little-endian .npy file of float32 or int64 in C order.
static struct array read_npy(const char* path) {
  struct array a = {{0}, 0, 0, 1, 0, NULL};
  FILE* file = fopen(path, "rb");
  unsigned char start[10];
  char text[4096];
  must(file && fread(start, 1, 10, file) == 10, "cannot read the array");
  const size_t length = start[8] + 256U * start[9];
  must(length < sizeof text && fread(text, 1, length, file) == length, "a header is too long");
  text[length] = 0;
  a.is_integer = strstr(text, "<i8") != NULL;
  must(a.is_integer || strstr(text, "<f4"), "arrays are float32 or int64");
  for (char* at = strchr(strstr(text, "shape"), '(') + 1; *at != ')' && a.rank < 8;) {
    char* end;
    a.sizes[a.rank] = strtoll(at, &end, 10);
    if (end != at) a.count *= (size_t)a.sizes[a.rank++];
    at = end + (*end == ',' || *end == ' ' || end == at);
  }
  a.bytes = a.count * (a.is_integer ? 8 : 4);
  a.data = malloc(a.bytes);
  must(fread(a.data, 1, a.bytes, file) == a.bytes, "an array ends early");
  fclose(file);
  return a;
}

static const OrtApi* ort;
static void check(OrtStatus* status) {
  if (status) must(0, ort->GetErrorMessage(status));
}

int main(int argc, char** argv) {
  must(argc == 5, "usage: onnxruntime MODEL.onnx INPUT.npy OUTPUT.npy RUNS");
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  OrtEnv* environment;
  OrtSessionOptions* options;
  OrtSession* session;
  OrtAllocator* allocator;
  OrtMemoryInfo* memory;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "davit", &environment));
  check(ort->CreateSessionOptions(&options));
  check(ort->SetIntraOpNumThreads(options, 1));
  check(ort->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
  check(ort->CreateSession(environment, argv[1], options, &session));
  check(ort->GetAllocatorWithDefaultOptions(&allocator));
  check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  struct array input = read_npy(argv[2]), recorded = read_npy(argv[3]);
  char *from, *to;
  check(ort->SessionGetInputName(session, 0, allocator, &from));
  check(ort->SessionGetOutputName(session, 0, allocator, &to));
  OrtValue *given, *made;
  check(ort->CreateTensorWithDataAsOrtValue(memory, input.data, input.bytes, input.sizes, input.rank,
    input.is_integer ? ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 : ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &given));
  float gap = 0;
  for (int run = atoi(argv[4]); run > 0; --run) {
    made = NULL;
    check(ort->Run(session, NULL, (const char* const*)&from, (const OrtValue* const*)&given, 1, (const char* const*)&to, 1, &made));
    float* elements;
    check(ort->GetTensorMutableData(made, (void**)&elements));
    for (size_t i = 0; i < recorded.count; ++i) gap = fmaxf(gap, fabsf(elements[i] - ((float*)recorded.data)[i]));
    ort->ReleaseValue(made);
  }
  printf("gap %g\n", (double)gap);
}
