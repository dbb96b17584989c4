/* SPDX-License-Identifier: MIT */
/* Calls of the C API in C99, right ones and wrong ones: tests/checks/c_api runs it under valgrind.
 *   calls DIGITS CACHE CASES STATE [leak]: two packages, the folder of recorded cases, a file to write; leak: frees not all */
#include <davit/c/davit.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

/* Fails unless the call's error has the code, and a text that says `part`. */
static void expect(int32_t code, const char *part, davit_error *error, const char *call, int line) {
  const char *text = davit_error_text(error);
  if (davit_error_code(error) != code || strstr(text, part) == NULL) {
    fprintf(stderr, "line %d: %s: code %d, wanted %d with '%s': %s\n", line, call, (int)davit_error_code(error), (int)code,
            part, text);
    ++failures;
  }
  davit_error_free(error);
}
#define GOOD(call) expect(DAVIT_OK, "", call, #call, __LINE__)
#define WRONG(code, part, call) expect(code, part, call, #call, __LINE__)
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition)))

/* Reads the elements of a .npy file of format 1.0. Exits if it is not there. */
static float *read_npy(const char *folder, const char *name, size_t count) {
  char path[512];
  unsigned char head[10];
  float *elements = malloc(count * sizeof(float));
  FILE *file;
  snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
  file = fopen(path, "rb");
  if (elements == NULL || file == NULL || fread(head, 1, 10, file) != 10 ||
      fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) != 0 || fread(elements, sizeof(float), count, file) != count) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  fclose(file);
  return elements;
}

/* Returns element i of a tensor, in row-major order. */
static float element(const davit_tensor *tensor, int64_t i) {
  int64_t offset = 0;
  for (int32_t d = tensor->rank; d-- > 0;) {
    offset += i % tensor->sizes[d] * tensor->strides[d];
    i /= tensor->sizes[d];
  }
  return ((const float *)tensor->data)[offset];
}

static davit_value tensor_of(float *data, int32_t rank, const int64_t *sizes) {
  davit_value value;
  memset(&value, 0, sizeof(value));
  value.kind = DAVIT_TENSOR;
  value.as.tensor.data = data;
  value.as.tensor.dtype.code = DAVIT_DTYPE_FLOAT;
  value.as.tensor.dtype.bits = 32;
  value.as.tensor.dtype.lanes = 1;
  value.as.tensor.rank = rank;
  value.as.tensor.sizes = sizes;
  return value;
}

/* Runs method 0 on one tensor, and compares its output 0 with the recorded one. */
static void run_recorded(davit_session *session, const char *folder, int run, int output, int32_t rank,
                         const int64_t *sizes, size_t inputs, size_t outputs) {
  char name[32];
  float *input, *wanted;
  davit_value value, given;
  size_t count = 0;
  snprintf(name, sizeof(name), "r%d_in0", run);
  input = read_npy(folder, name, inputs);
  snprintf(name, sizeof(name), "r%d_out%d", run, output);
  wanted = read_npy(folder, name, outputs);
  value = tensor_of(input, rank, sizes);
  GOOD(davit_session_run(session, 0, &value, 1));
  GOOD(davit_session_output_count(session, &count));
  CHECK(count == 1);
  GOOD(davit_session_output(session, 0, &given));
  CHECK(given.kind == DAVIT_TENSOR && given.as.tensor.dtype.code == DAVIT_DTYPE_FLOAT && given.as.tensor.dtype.bits == 32);
  if (given.kind == DAVIT_TENSOR)
    for (size_t i = 0; i < outputs; ++i)
      CHECK(fabsf(element(&given.as.tensor, (int64_t)i) - wanted[i]) <= 1e-4f * (1 + fabsf(wanted[i])));
  free(input);
  free(wanted);
}

static const int64_t image[4] = {1, 1, 8, 8};
static const int64_t token[3] = {1, 1, 8};

static void wrong_handles(davit_program *program, davit_session *session) {
  size_t count = 7;
  double here = 0;
  davit_program *none = NULL;
  davit_session *made = NULL;
  davit_error *error;
  WRONG(DAVIT_INVALID_HANDLE, "is NULL", davit_program_method_count(NULL, &count));
  CHECK(count == 0);
  WRONG(DAVIT_INVALID_HANDLE, "this is a session", davit_program_method_count((davit_program *)session, &count));
  WRONG(DAVIT_INVALID_HANDLE, "this is a program", davit_session_output_count((davit_session *)program, &count));
  WRONG(DAVIT_INVALID_HANDLE, "no handle of this library", davit_session_reset((davit_session *)&here));
  WRONG(DAVIT_INVALID_HANDLE, "no handle of this library", davit_session_make((davit_program *)(uintptr_t)0x5, &made));
  WRONG(DAVIT_INVALID_HANDLE, "is NULL", davit_session_run(NULL, 0, NULL, 0));
  WRONG(DAVIT_INVALID_HANDLE, "is NULL", davit_session_save_state(NULL, "x"));
  WRONG(DAVIT_INVALID_ARGUMENT, "NULL", davit_program_method_count(program, NULL));
  WRONG(DAVIT_INVALID_ARGUMENT, "NULL", davit_session_make(program, NULL));
  WRONG(DAVIT_INVALID_ARGUMENT, "path is NULL", davit_program_load(NULL, &none));
  WRONG(DAVIT_INVALID_ARGUMENT, "program is NULL", davit_program_load("x", NULL));
  WRONG(DAVIT_INVALID_ARGUMENT, "data is NULL", davit_program_load_bytes(NULL, 8, &none));
  WRONG(DAVIT_INVALID_ARGUMENT, "name is NULL", davit_program_find_method(program, NULL, &count));
  WRONG(DAVIT_INVALID_ARGUMENT, "path is NULL", davit_session_save_state(session, NULL));
  WRONG(DAVIT_INVALID_ARGUMENT, "path is NULL", davit_session_load_state(session, NULL));
  WRONG(DAVIT_INVALID_ARGUMENT, "data or size", davit_session_state_bytes(session, NULL, &count));
  /* freed handles, also where a new one was made since */
  GOOD(davit_session_make(program, &made));
  davit_session_free(made);
  davit_session_free(made);
  WRONG(DAVIT_INVALID_HANDLE, "was freed", davit_session_reset(made));
  error = davit_session_reset(made);
  davit_error_free(error);
  CHECK(davit_error_code(error) == DAVIT_INVALID_HANDLE);
  CHECK(strstr(davit_error_text(error), "no davit_error") != NULL);
  davit_error_free(error);
  davit_error_free(NULL);
  davit_error_free((davit_error *)program);
  davit_program_free(NULL);
  davit_program_free((davit_program *)session);
  davit_session_free(NULL);
  davit_session_free((davit_session *)program);
  GOOD(davit_program_method_count(program, &count));
  CHECK(count == 1);
}

static void wrong_inputs(davit_program *program, davit_session *session) {
  float elements[65] = {0};
  unsigned char bools[64] = {0};
  int64_t sizes[4] = {1, 1, 8, 8}, strides[4] = {64, 64, 8, 1};
  davit_value value = tensor_of(elements, 4, sizes), two[2], output;
  davit_port port;
  size_t count = 0;
  const char *name = NULL;
  two[0] = two[1] = value;
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output(session, 0, &output));
  WRONG(DAVIT_INVALID_ARGUMENT, "inputs is NULL", davit_session_run(session, 0, NULL, 1));
  WRONG(DAVIT_INVALID_ARGUMENT, "argument", davit_session_run(session, 0, NULL, 0));
  WRONG(DAVIT_INVALID_ARGUMENT, "2 inputs were passed", davit_session_run(session, 0, two, 2));
  WRONG(DAVIT_OUT_OF_RANGE, "no method 3", davit_session_run(session, 3, &value, 1));
  WRONG(DAVIT_OUT_OF_RANGE, "no method 3", davit_program_method_name(program, 3, &name));
  WRONG(DAVIT_OUT_OF_RANGE, "below 1", davit_program_input(program, 0, 1, &port));
  WRONG(DAVIT_OUT_OF_RANGE, "below 1", davit_program_output(program, 0, (size_t)-1, &port));
  WRONG(DAVIT_NOT_FOUND, "forward", davit_program_find_method(program, "backward", &count));
#define BAD(code, part, change) \
  do { \
    value = tensor_of(elements, 4, sizes); \
    change; \
    WRONG(code, part, davit_session_run(session, 0, &value, 1)); \
  } while (0)
  BAD(DAVIT_INVALID_ARGUMENT, "no kind 17", value.kind = 17);
  BAD(DAVIT_INVALID_ARGUMENT, "argument", value.kind = DAVIT_NONE);
  BAD(DAVIT_INVALID_ARGUMENT, "argument", (value.kind = DAVIT_INT, value.as.integer = 3));
  BAD(DAVIT_INVALID_ARGUMENT, "text is NULL",
      (value.kind = DAVIT_STRING, value.as.string.data = NULL, value.as.string.size = 3));
  BAD(DAVIT_INVALID_DTYPE, "no dtype has", value.as.tensor.dtype.bits = 31);
  BAD(DAVIT_INVALID_DTYPE, "4 lanes", value.as.tensor.dtype.lanes = 4);
  BAD(DAVIT_INVALID_DTYPE, "float32", value.as.tensor.dtype.code = DAVIT_DTYPE_INT);
  BAD(DAVIT_INVALID_SHAPE, "rank is -1", value.as.tensor.rank = -1);
  BAD(DAVIT_INVALID_SHAPE, "rank is 17", value.as.tensor.rank = 17);
  BAD(DAVIT_INVALID_SHAPE, "float32[1, 1, 8, 8]", value.as.tensor.rank = 3);
  BAD(DAVIT_INVALID_ARGUMENT, "sizes is NULL", value.as.tensor.sizes = NULL);
  BAD(DAVIT_INVALID_ARGUMENT, "data is NULL", value.as.tensor.data = NULL);
  BAD(DAVIT_INVALID_ARGUMENT, "not aligned", value.as.tensor.data = (char *)elements + 1);
  BAD(DAVIT_INVALID_SHAPE, "float32[1, 1, 8, 8]", sizes[3] = 4);
  BAD(DAVIT_INVALID_SHAPE, "a size is negative", sizes[3] = -8);
  BAD(DAVIT_INVALID_SHAPE, "no memory can hold", sizes[2] = sizes[3] = INT64_MAX);
  sizes[2] = sizes[3] = 8;
  BAD(DAVIT_INVALID_SHAPE, "a stride is negative", (strides[3] = -1, value.as.tensor.strides = strides));
  BAD(DAVIT_INVALID_SHAPE, "no memory can hold", (strides[3] = INT64_MAX, value.as.tensor.strides = strides));
  bools[63] = 2;
  BAD(DAVIT_INVALID_ARGUMENT, "neither 0 nor 1",
      (value.as.tensor.data = bools, value.as.tensor.dtype.code = DAVIT_DTYPE_BOOL, value.as.tensor.dtype.bits = 8));
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output_count(session, &count));
}

/* A package of bytes, and damaged ones. */
static void from_bytes(const char *path, const char *cases) {
  FILE *file = fopen(path, "rb");
  unsigned char *bytes;
  size_t size;
  davit_program *program = NULL;
  davit_session *session = NULL, *kept;
  char folder[512];
  if (file == NULL) exit(2);
  fseek(file, 0, SEEK_END);
  size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(size);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) exit(2);
  fclose(file);
  WRONG(DAVIT_CORRUPT_DATA, "", davit_program_load_bytes(bytes, size / 2, &program));
  CHECK(program == NULL);
  WRONG(DAVIT_CORRUPT_DATA, "", davit_program_load_bytes(bytes, 0, &program));
  GOOD(davit_program_load_bytes(bytes, size, &program));
  memset(bytes, 0, size); /* they were copied */
  GOOD(davit_session_make(program, &session));
  kept = session;
  davit_program_free(program); /* the session lives on */
  snprintf(folder, sizeof(folder), "%s/digits_cnn_b1", cases);
  run_recorded(session, folder, 1, 0, 4, image, 64, 10);
  WRONG(DAVIT_INVALID_HANDLE, "was freed", davit_session_make(program, &session));
  CHECK(session == NULL);
  davit_session_free(kept);
  free(bytes);
}

/* A session that has run twice: its forks continue alone. */
static void forks(davit_session *session, const char *folder) {
  davit_session *fork = NULL, *second = NULL;
  size_t count = 0;
  GOOD(davit_session_fork(session, &fork));
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output_count(fork, &count));
  run_recorded(fork, folder, 2, 3, 3, token, 8, 8);
  GOOD(davit_session_fork(fork, &second));
  davit_session_free(fork);
  run_recorded(second, folder, 3, 3, 3, token, 8, 8);
  run_recorded(session, folder, 2, 3, 3, token, 8, 8);
  run_recorded(session, folder, 3, 3, 3, token, 8, 8);
  /* back to the third token */
  GOOD(davit_session_rewind(session, "position", 2));
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output_count(session, &count));
  run_recorded(session, folder, 2, 3, 3, token, 8, 8);
  WRONG(DAVIT_OUT_OF_RANGE, "not in 0..3", davit_session_rewind(session, "position", 4));
  WRONG(DAVIT_INVALID_DTYPE, "float32", davit_session_rewind(session, "keys", 0));
  WRONG(DAVIT_NOT_FOUND, "'position'", davit_session_rewind(session, "length", 0));
  WRONG(DAVIT_INVALID_ARGUMENT, "counter is NULL", davit_session_rewind(session, NULL, 0));
  WRONG(DAVIT_INVALID_ARGUMENT, "fork is NULL", davit_session_fork(session, NULL));
  WRONG(DAVIT_INVALID_HANDLE, "was freed", davit_session_fork(fork, &fork));
  CHECK(fork == NULL);
  davit_session_free(second);
}

/* Cancelled runs leave the state as it was. */
static void cancelled(davit_session *session, const char *folder) {
  float elements[8] = {0};
  davit_value value = tensor_of(elements, 3, token);
  size_t count = 0;
  GOOD(davit_session_reset(session));
  run_recorded(session, folder, 0, 3, 3, token, 8, 8);
  GOOD(davit_session_cancel(session));
  WRONG(DAVIT_CANCELLED, "a stop was requested", davit_session_run(session, 0, &value, 1));
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output_count(session, &count));
  GOOD(davit_session_clear_cancel(session));
  run_recorded(session, folder, 1, 3, 3, token, 8, 8);
  GOOD(davit_session_set_deadline(session, 0));
  WRONG(DAVIT_CANCELLED, "its deadline has passed", davit_session_run(session, 0, &value, 1));
  GOOD(davit_session_set_deadline(session, INT64_MAX));
  run_recorded(session, folder, 2, 3, 3, token, 8, 8);
  GOOD(davit_session_set_deadline(session, 0));
  GOOD(davit_session_set_deadline(session, -1));
  run_recorded(session, folder, 3, 3, 3, token, 8, 8);
  WRONG(DAVIT_INVALID_HANDLE, "is NULL", davit_session_cancel(NULL));
  WRONG(DAVIT_INVALID_HANDLE, "is NULL", davit_session_set_deadline(NULL, 1));
}

static void state(const char *path, const char *cases, const char *file) {
  davit_program *program = NULL;
  davit_session *session = NULL, *other = NULL;
  const void *bytes = NULL;
  size_t size = 0;
  char folder[512];
  snprintf(folder, sizeof(folder), "%s/cache", cases);
  GOOD(davit_program_load(path, &program));
  GOOD(davit_session_make(program, &session));
  run_recorded(session, folder, 0, 3, 3, token, 8, 8);
  GOOD(davit_session_save_state(session, file));
  GOOD(davit_session_state_bytes(session, &bytes, &size));
  CHECK(bytes != NULL && size > 392);
  run_recorded(session, folder, 1, 3, 3, token, 8, 8);
  GOOD(davit_session_make(program, &other));
  GOOD(davit_session_load_state(other, file));
  run_recorded(other, folder, 1, 3, 3, token, 8, 8);
  GOOD(davit_session_load_state_bytes(other, bytes, size));
  run_recorded(other, folder, 1, 3, 3, token, 8, 8);
  WRONG(DAVIT_CORRUPT_DATA, "", davit_session_load_state_bytes(other, bytes, size / 2));
  WRONG(DAVIT_IO_ERROR, "/nowhere", davit_session_load_state(other, "/nowhere/state"));
  run_recorded(other, folder, 2, 3, 3, token, 8, 8);
  forks(session, folder);
  GOOD(davit_session_reset(session));
  WRONG(DAVIT_INVALID_ARGUMENT, "no outputs", davit_session_output_count(session, &size));
  run_recorded(session, folder, 0, 3, 3, token, 8, 8);
  cancelled(session, folder);
  davit_session_free(session);
  davit_session_free(other);
  davit_program_free(program);
}

/* Runs a session that another thread runs too, and frees. Returns NULL if each run is right, or refused for that. */
static void *use(void *session) {
  float pixels[64] = {0};
  davit_value value = tensor_of(pixels, 4, image);
  const char *fault = NULL;
  for (int i = 0; i < 300; ++i) {
    davit_error *error = davit_session_run(session, 0, &value, 1);
    if (error != NULL && davit_error_code(error) != DAVIT_INVALID_HANDLE &&
        strstr(davit_error_text(error), "another thread uses the session") == NULL)
      fault = "a run of two threads fails";
    davit_error_free(error);
  }
  return (void *)fault;
}
static void threads(davit_program *program) {
  davit_session *session = NULL;
  pthread_t thread;
  void *fault = NULL;
  GOOD(davit_session_make(program, &session));
  if (pthread_create(&thread, NULL, use, session) != 0) exit(2);
  CHECK(use(session) == NULL);
  davit_session_free(session);
  CHECK(pthread_join(thread, &fault) == 0);
  CHECK(fault == NULL);
}

int main(int argc, char **argv) {
  davit_program *program = NULL;
  davit_session *session = NULL;
  davit_port port;
  size_t count = 0, method = 7;
  const char *name = NULL;
  char folder[512];
  if (argc < 5) return fprintf(stderr, "usage: calls DIGITS CACHE CASES STATE [leak]\n"), 2;
  CHECK(strcmp(davit_version(), "0.1.0") >= 0);
  CHECK(strstr(davit_backends(), "portable") != NULL);
  davit_set_threads(1);
  WRONG(DAVIT_IO_ERROR, "/nowhere", davit_program_load("/nowhere", &program));
  GOOD(davit_program_load(argv[1], &program));
  GOOD(davit_program_method_count(program, &count));
  CHECK(count == 1);
  GOOD(davit_program_method_name(program, 0, &name));
  CHECK(name != NULL && strcmp(name, "forward") == 0);
  GOOD(davit_program_find_method(program, "forward", &method));
  CHECK(method == 0);
  GOOD(davit_program_input_count(program, 0, &count));
  CHECK(count == 1);
  GOOD(davit_program_input(program, 0, 0, &port));
  CHECK(port.kind == DAVIT_TENSOR && port.rank == 4 && memcmp(port.sizes, image, sizeof(image)) == 0 && !port.is_fixed);
  GOOD(davit_program_output_count(program, 0, &count));
  CHECK(count == 1);
  GOOD(davit_program_output(program, 0, 0, &port));
  CHECK(port.kind == DAVIT_TENSOR && port.rank == 2 && port.sizes[1] == 10 && strlen(port.name) > 0);
  GOOD(davit_session_make(program, &session));
  wrong_handles(program, session);
  wrong_inputs(program, session);
  snprintf(folder, sizeof(folder), "%s/digits_cnn_b1", argv[3]);
  run_recorded(session, folder, 0, 0, 4, image, 64, 10);
  {
    davit_value output;
    WRONG(DAVIT_OUT_OF_RANGE, "no output 1", davit_session_output(session, 1, &output));
    WRONG(DAVIT_INVALID_ARGUMENT, "output is NULL", davit_session_output(session, 0, NULL));
  }
  threads(program);
  from_bytes(argv[1], argv[3]);
  state(argv[2], argv[3], argv[4]);
  davit_program_free(program);
  if (argc == 5) davit_session_free(session);
  return failures == 0 ? 0 : 1;
}
