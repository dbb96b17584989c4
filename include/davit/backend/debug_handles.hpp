// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Meaning of a debug handle: a node, and its place in the model's source. Views into a DebugMap.
struct DebugInfo {
  std::string_view method;
  std::string_view node;             ///< name of the node's first output, or empty
  std::string_view target;           ///< operator
  std::string_view stack_trace;      ///< Python traceback, outermost frame first
  std::string_view nn_module_stack;  ///< "key,path,type" joined by ';', outermost first
  DebugHandle handle = no_debug_handle;
};

/// Returns the place of a traceback's innermost frame, its source line, and a line of carets under it; empty for an
/// empty traceback. The carets mark the whole statement, because torch.export records no columns. Source: torch's
/// `SourceRange::highlight`.
template <class = void>
[[nodiscard]] constexpr Name source_with_caret(std::string_view stack_trace) {
  while (!stack_trace.empty() && (stack_trace.back() == '\n' || stack_trace.back() == ' '))
    stack_trace.remove_suffix(1);
  const std::size_t frame = stack_trace.rfind("File \"");
  if (frame == std::string_view::npos) return {};
  std::string_view rest = stack_trace.substr(frame);
  const std::size_t end = rest.find('\n');
  const std::string_view place = rest.substr(0, end);
  if (end == std::string_view::npos) return concat("  ", place);
  std::string_view code = rest.substr(end + 1);
  code = code.substr(0, code.find('\n'));
  while (!code.empty() && code.front() == ' ') code.remove_prefix(1);
  Name tildes;
  for (std::size_t done = 0; done < code.size();) {  // append in chunks: a Name is immutable
    constexpr std::string_view chunk = "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";
    const std::size_t take = code.size() - done < chunk.size() ? code.size() - done : chunk.size();
    tildes = concat(tildes, chunk.substr(0, take));
    done += take;
  }
  return concat("  ", place, "\n    ", code, "\n    ", tildes, " <--- HERE");
}

/// Calls visit(path, type) for each module that an nn_module_stack ("key,path,type;key,path,type") names, outermost
/// first. O(size of the text).
template <class Visit>
constexpr void for_each_module(std::string_view nn_module_stack, Visit&& visit) {
  const auto next = [](std::string_view& text, char separator) {  // separators inside () and [] do not count
    std::size_t at = 0;
    for (int depth = 0; at < text.size() && (depth > 0 || text[at] != separator); ++at) {
      if (text[at] == '(' || text[at] == '[') ++depth;
      if (text[at] == ')' || text[at] == ']') --depth;
    }
    const std::string_view part = text.substr(0, at);
    text = at < text.size() ? text.substr(at + 1) : std::string_view{};
    return part;
  };
  while (!nn_module_stack.empty()) {
    std::string_view entry = next(nn_module_stack, ';');
    next(entry, ',');
    const std::string_view path = next(entry, ',');
    visit(path, entry);
  }
}

/// Returns a node's module hierarchy, "fqn(Type) > fqn(Type)", outermost first, from its nn_module_stack.
template <class = void>
[[nodiscard]] constexpr Name module_hierarchy(std::string_view nn_module_stack) {
  Name out;
  for_each_module(nn_module_stack, [&](std::string_view path, std::string_view type) {
    out = concat(out, out.empty() ? "" : " > ", path.empty() ? std::string_view("top") : path, "(",
                 type.substr(type.rfind('.') + 1), ")");
  });
  return out;
}

/// Maps debug handles to nodes of the source program. Kept beside a lowered module, not in it.
class DebugMap {
 public:
  struct Entry {
    DebugHandle handle = no_debug_handle;
    Text method;
    Text node;
    Text target;
    Text stack_trace;
    Text nn_module_stack;
    DebugHandle merged = no_debug_handle;  ///< handle of another node that was merged into this one; a later one
  };

  [[nodiscard]] constexpr std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] constexpr const std::vector<Entry>& entries() const noexcept { return entries_; }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

  /// Makes a map of the rows and text of entries() and text(). Errors: corrupt_data.
  [[nodiscard]] static Result<DebugMap> make(std::vector<Entry> entries, std::vector<char> text);

  /// Looks up the node of `handle`; false if it is not in the map. Handles are dense from 0: O(1).
  [[nodiscard]] constexpr bool find(DebugHandle handle, DebugInfo& info) const noexcept {
    if (handle < 0 || static_cast<std::size_t>(handle) >= entries_.size()) return false;
    const Entry& e = entries_[static_cast<std::size_t>(handle)];
    info = {str(e.method), str(e.node), str(e.target), str(e.stack_trace), str(e.nn_module_stack), handle};
    return true;
  }

  /// Fills the place and source of `error` from its debug handle, with the sources of nodes that were merged into it;
  /// states that the handle is unknown if it is.
  template <class = void>
  constexpr Error explain(Error error) const {
    if (error.debug_handle == no_debug_handle) return error;
    DebugInfo info;
    if (!find(error.debug_handle, info)) {
      error.where = concat("debug handle ", error.debug_handle, " (no debug information for it)");
      return error;
    }
    const Name hierarchy = module_hierarchy(info.nn_module_stack);
    error.where = concat("method '", info.method, "', node '", info.node, "' (", info.target, ")",
                         hierarchy.empty() ? "" : ", module hierarchy ", hierarchy);
    error.source = source_with_caret(info.stack_trace);
    while (find(entries_[static_cast<std::size_t>(info.handle)].merged, info))
      if (const Name more = source_with_caret(info.stack_trace); !more.empty())
        error.source = error.source.empty() ? more : concat(error.source, "\n", more);
    return error;
  }

 private:
  friend class DebugHandleRecorder;
  [[nodiscard]] constexpr std::string_view str(Text t) const noexcept { return text().substr(t.first, t.size); }
  template <class = void>
  constexpr Text add(std::string_view s) {
    const Text t{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(s.size())};
    for (const char c : s) text_.push_back(c);  // g++ 12 -O3 falsely warns of an overflow for insert
    return t;
  }

  std::vector<Entry> entries_;
  std::vector<char> text_;
};

/// Assigns debug handles to the nodes that a backend requests, and records them in a DebugMap.
///
/// Every request makes a new handle, also for the same node. Source: torch's BackendDebugHandleGenerator.
class DebugHandleRecorder {
 public:
  constexpr explicit DebugHandleRecorder(DebugMap& map) noexcept : map_(&map) {}

  /// Sets the method of the following requests.
  template <class = void>
  constexpr void begin_method(std::string_view method, GraphModuleView graph) {
    method_ = map_->add(method);
    graph_ = graph;
    shared_.assign(graph.metadata.size(), {});
    if (map_->entries_.empty()) map_->entries_.reserve(graph.nodes.size());
  }

  /// Returns a new handle for a node of the current method. Amortised O(size of texts not seen before).
  template <class = void>
  constexpr DebugHandle handle(NodeId id) {
    const Node& node = graph_.nodes[id];
    DebugMap::Entry entry{.handle = static_cast<DebugHandle>(map_->entries_.size()),
                          .method = method_,
                          .node = {},
                          .target = map_->add(graph_.target(node)),
                          .stack_trace = {},
                          .nn_module_stack = {}};
    bool first = true;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        if (first) entry.node = map_->add(graph_.name(v));
        first = false;
      });
    const DebugHandle made = entry.handle;
    for (std::uint32_t row = node.metadata; row < shared_.size(); row = graph_.metadata[row].merged) {
      Shared& texts = shared_[row];
      if (!texts.known) {
        const NodeMetadata& place = graph_.metadata[row];
        texts = {true, map_->add(graph_.str(place.stack_trace)), map_->add(graph_.str(place.nn_module_stack))};
      }
      entry.stack_trace = texts.stack_trace;
      entry.nn_module_stack = texts.nn_module_stack;
      if (graph_.metadata[row].merged >= shared_.size()) break;
      entry.merged = entry.handle + 1;
      map_->entries_.push_back(entry);
      entry = {.handle = entry.merged,
               .method = method_,
               .node = entry.node,
               .target = entry.target,
               .stack_trace = {},
               .nn_module_stack = {}};
    }
    map_->entries_.push_back(entry);
    return made;
  }

  /// Returns a handle for every node of the current method, indexed by NodeId; sub-graphs of control flow included: the
  /// nodes of a graph in order, then the last sub-graph met, and so on. O(nodes).
  template <class = void>
  constexpr std::vector<DebugHandle> handle_all() {
    std::vector<DebugHandle> handles(graph_.nodes.size(), no_debug_handle);
    std::vector<GraphId> pending{root_graph};
    while (!pending.empty()) {
      const Graph& graph = graph_.graphs[pending.back()];
      pending.pop_back();
      for (std::uint32_t i = 0; i < graph.nodes.count; ++i) {
        const NodeId id = graph.nodes.first + i;
        handles[id] = handle(id);
        for (const Argument& input : graph_.inputs(graph_.nodes[id]))
          if (input.kind == ArgumentKind::graph) pending.push_back(input.graph());
      }
    }
    return handles;
  }

 private:
  struct Shared {
    bool known = false;
    Text stack_trace;
    Text nn_module_stack;
  };
  DebugMap* map_;
  GraphModuleView graph_;
  Text method_;
  std::vector<Shared> shared_;
};

}  // namespace davit
