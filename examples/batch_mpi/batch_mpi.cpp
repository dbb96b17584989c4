// SPDX-License-Identifier: MIT
// Scores a large .npy file, or a folder of .npy files, on many machines: the ranks of an MPI job take chunks of rows,
// one at a time.
//   mpicxx -std=c++23 -O2 batch_mpi.cpp -o batch_mpi $(pkg-config --cflags --libs davit-formats-compiled)
//   mpirun -n 4 batch_mpi MODEL.davit INPUT OUTPUT.npy [ROWS-OF-A-CHUNK]
// MODEL.davit is a package of `davit lower` or save_program for the backend `portable`; its program returns one row per
// input row. The package is mapped, so ranks of one node share the weights. Neither the chunks nor OUTPUT.npy depend on
// the number of ranks. Rows of OUTPUT.npy are in input order (of a folder: by file name). Finished chunks are files in
// OUTPUT.npy.parts until all are finished. After an aborted job, the next job with the same files computes only the
// missing chunks.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/package.hpp"
#include "davit/runtime/session.hpp"

namespace {

using namespace davit;
namespace fs = std::filesystem;

int rank = 0;

/// Ends the job with all its ranks: the others would wait forever for this one.
[[noreturn]] void fail(std::string_view what) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::fprintf(stderr, "batch_mpi: rank %d on %s: %.*s\n", rank, host.data(), static_cast<int>(what.size()),
               what.data());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
template <class T>
T value(Result<T> result, std::string_view what) {
  if (!result) fail(std::string(what) + ": " + to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// A range of rows of a file.
struct Chunk {
  std::size_t file = 0;
  std::int64_t first = 0, rows = 0;
};

/// The work of the job, equal on every rank.
struct Job {
  std::string model, output;
  std::vector<std::string> files;
  std::vector<Tensor> inputs;  ///< mapped, one per file
  std::vector<Chunk> chunks;

  [[nodiscard]] std::string folder() const { return output + ".parts"; }
  [[nodiscard]] std::string part(std::size_t chunk) const { return folder() + "/" + std::to_string(chunk) + ".npy"; }
  [[nodiscard]] std::string name(std::size_t chunk) const {
    const Chunk& c = chunks[chunk];
    return "chunk " + std::to_string(chunk) + " (rows " + std::to_string(c.first) + " to " +
           std::to_string(c.first + c.rows - 1) + " of " + files[c.file] + ")";
  }
};

Job find_job(const std::string& model, const std::string& input, const std::string& output, std::int64_t rows) {
  Job job{model, output, {}, {}, {}};
  std::error_code error;
  if (fs::is_directory(input, error)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(input, error))
      if (entry.path().extension() == ".npy") job.files.push_back(entry.path().string());
    std::ranges::sort(job.files);
    if (job.files.empty()) fail("no .npy file in " + input);
  } else {
    job.files.push_back(input);
  }
  for (std::size_t f = 0; f < job.files.size(); ++f) {
    const Tensor& tensor = job.inputs.emplace_back(value(formats::read_npy(job.files[f]), job.files[f]));
    if (tensor.sizes.empty()) fail(job.files[f] + " is a number, and has no rows");
    for (std::int64_t first = 0; first < tensor.sizes[0]; first += rows)
      job.chunks.push_back({f, first, std::min(rows, tensor.sizes[0] - first)});
  }
  if (job.chunks.empty()) fail(input + " has no rows");
  return job;
}

/// Identifies the job of finished chunks: the model by its content, the inputs by metadata that changes when a file is
/// written.
std::string describe(const Job& job, std::int64_t rows) {
  const std::uint64_t hash = content_hash(value(formats::map_file(job.model), job.model).bytes());
  std::string text = "model " + std::to_string(hash) + "\nrows " + std::to_string(rows) + "\n";
  for (const std::string& file : job.files) {
    std::error_code error;
    text += std::to_string(fs::file_size(file, error)) + " " +
            std::to_string(fs::last_write_time(file, error).time_since_epoch().count()) + " " + file + "\n";
  }
  return text;
}

/// Returns the chunks that have no file yet, and prepares their folder.
std::vector<std::int64_t> missing_chunks(const Job& job, std::int64_t rows) {
  const std::string description = describe(job, rows), path = job.folder() + "/job.txt";
  std::error_code error;
  fs::create_directories(job.folder(), error);
  if (fs::exists(path, error)) {
    const SharedBytes old = value(formats::map_file(path), path);
    if (std::string_view(reinterpret_cast<const char*>(old.bytes().data()), old.bytes().size()) != description)
      fail(job.folder() + " holds chunks of another model, input or size of chunks; remove it, or name another output");
  } else {
    value(formats::write_file(path, description), path);
  }
  std::vector<std::int64_t> missing;
  for (std::size_t c = 0; c < job.chunks.size(); ++c) {
    const Result<Tensor> part = formats::read_npy(job.part(c));
    if (!part || part->sizes.empty() || part->sizes[0] != job.chunks[c].rows)
      missing.push_back(static_cast<std::int64_t>(c));
  }
  return missing;
}

Tensor rows_of(const Tensor& tensor, std::int64_t first, std::int64_t rows) {
  Tensor part = tensor;
  part.sizes[0] = rows;
  part.storage_offset += first * tensor.strides[0];
  return part;
}

/// Number of rows that a program takes at once.
struct Batch {
  std::int64_t most = INT64_MAX;
  bool fixed = false;  ///< exactly `most` rows
};
Batch batch_of(const MethodInterface& interface, std::string_view model) {
  const auto input = std::ranges::find(interface.inputs, InputRole::user, &InputPort::role);
  if (input == interface.inputs.end() || input->type.dims.empty())
    fail(std::string(model) + ": the program takes no rows");
  const Dim& rows = input->type.dims[0];
  if (rows.is_static()) return {std::max<std::int64_t>(rows.value, 1), true};
  const auto range = std::ranges::find(interface.ranges, rows.expr, &MethodInterface::SymbolRange::symbol);
  return {range == interface.ranges.end() ? INT64_MAX : std::max<std::int64_t>(range->max, 1), false};
}

/// Scores the rows of a chunk in batches. Pads the last batch with zeros if the program takes a fixed number of rows.
Tensor score(Session& session, const Batch& batch, const Tensor& input, const Chunk& chunk, std::string_view name) {
  Tensor scores;
  for (std::int64_t done = 0, rows = 0; done < chunk.rows; done += rows) {
    rows = std::min(batch.most, chunk.rows - done);
    Tensor part = rows_of(input, chunk.first + done, rows);
    if (batch.fixed && rows < batch.most) {
      std::vector<std::int64_t> sizes = input.sizes;
      sizes[0] = batch.most;
      const Tensor filled = Tensor::zeros(input.dtype, sizes);
      copy_tensor(part.view(), rows_of(filled, 0, rows).view());
      part = filled;
    }
    const Outputs outputs = value(session.run("forward", part), name);
    const Tensor answer = value(outputs[0].clone(), name);
    if (answer.sizes.empty() || answer.sizes[0] != part.sizes[0])
      fail(std::string(name) + ": the program does not return one row per input row");
    if (scores.sizes.empty()) {
      std::vector<std::int64_t> sizes = answer.sizes;
      sizes[0] = chunk.rows;
      scores = Tensor::zeros(answer.dtype, sizes);
    }
    copy_tensor(rows_of(answer, 0, rows).view(), rows_of(scores, done, rows).view());
  }
  return scores;
}

/// A counter in rank 0's memory that all ranks increment.
class Counter {
 public:
  Counter() {
    MPI_Win_allocate(rank == 0 ? sizeof(std::int64_t) : 0, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &number_, &window_);
    if (rank == 0) *number_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  [[nodiscard]] std::size_t next() {
    const std::int64_t one = 1;
    std::int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    return static_cast<std::size_t>(before);
  }

 private:
  std::int64_t* number_ = nullptr;
  MPI_Win window_{};
};

/// Writes all chunks into one file.
void gather(const Job& job) {
  Tensor all;
  std::int64_t done = 0;
  for (std::size_t c = 0; c < job.chunks.size(); ++c) {
    const Tensor part = value(formats::read_npy(job.part(c)), job.part(c));
    if (c == 0) {
      std::vector<std::int64_t> sizes = part.sizes;
      sizes[0] = std::accumulate(job.chunks.begin(), job.chunks.end(), std::int64_t{0},
                                 [](auto n, const Chunk& k) { return n + k.rows; });
      all = Tensor::zeros(part.dtype, sizes);
    }
    if (part.dtype != all.dtype ||
        !std::ranges::equal(part.sizes.begin() + 1, part.sizes.end(), all.sizes.begin() + 1, all.sizes.end()))
      fail(job.name(c) + ": its rows have another size than the rows of the first chunk");
    copy_tensor(part.view(), rows_of(all, done, part.sizes[0]).view());
    done += part.sizes[0];
  }
  value(formats::write_npy(job.output, all.view()), job.output);
  std::error_code ignored;
  fs::remove_all(job.folder(), ignored);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::int64_t rows = 256;
  const std::string_view wanted = argc == 5 ? argv[4] : "256";
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), rows);
  if (argc < 4 || argc > 5 || error != std::errc{} || end != wanted.data() + wanted.size() || rows < 1) {
    if (rank == 0) std::fprintf(stderr, "usage: batch_mpi MODEL.davit INPUT OUTPUT.npy [ROWS-OF-A-CHUNK]\n");
    MPI_Finalize();
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();

  // rank 0 reads the files first, so that errors are reported once
  if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
  const Job job = find_job(argv[1], argv[2], argv[3], rows);
  const LoweredProgram program = value(formats::load_program<BackendList<portable>>(job.model), job.model);
  Session session = value(Session::make(program), job.model);
  const Batch batch =
      batch_of(program.methods()[value(program.find_method("forward"), job.model)].interface, job.model);
  std::vector<std::int64_t> missing;
  if (rank == 0) missing = missing_chunks(job, rows);
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  int count = static_cast<int>(missing.size());
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  missing.resize(static_cast<std::size_t>(count));
  MPI_Bcast(missing.data(), count, MPI_INT64_T, 0, MPI_COMM_WORLD);

  int computed = 0;
  {
    Counter counter;
    for (std::size_t next = counter.next(); next < missing.size(); next = counter.next(), ++computed) {
      const auto c = static_cast<std::size_t>(missing[next]);
      const Chunk& chunk = job.chunks[c];
      const Tensor scores = score(session, batch, job.inputs[chunk.file], chunk, job.name(c));
      value(formats::write_npy(job.part(c), scores.view()), job.name(c));
    }
  }
  std::vector<int> shares(static_cast<std::size_t>(ranks));
  MPI_Gather(&computed, 1, MPI_INT, shares.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    gather(job);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("chunks=%zu kept=%zu computed=%d seconds=%.2f per_rank=", job.chunks.size(),
                job.chunks.size() - missing.size(), count, seconds);
    for (int r = 0; r < ranks; ++r) std::printf("%s%d", r == 0 ? "" : ",", shares[static_cast<std::size_t>(r)]);
    std::printf("\n");
  }
  MPI_Finalize();
  return 0;
}
