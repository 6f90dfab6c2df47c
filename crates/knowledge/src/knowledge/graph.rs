//! Exports the graph of memories for other programs (JSON) and for Markdown (Mermaid).

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::index::{Index, Viewer};
use super::memory::{Edge, Memory, Relation};
use crate::base::calendar::stamp;
use crate::base::text::{one_line, truncate};

/// The maximum length of a memory's label, in characters.
const LABEL_CHARS: usize = 60;

/// The memories that a viewer can see, and the relations between them.
pub struct Graph<'a> {
    memories: Vec<&'a Memory>,
    edges: Vec<(&'a Memory, &'a Edge)>,
}

impl<'a> Graph<'a> {
    /// Creates the graph from an index, sorted by id, so that the same memories make the same files.
    pub fn of(index: &'a Index, viewer: &Viewer) -> Self {
        let memories: Vec<&Memory> = index.all(viewer).into_iter().map(|entry| &entry.memory).collect();
        let is_there = |id: &str| memories.binary_search_by(|memory| (*memory.id).cmp(id)).is_ok();
        let edges = memories.iter().flat_map(|memory| memory.edges.iter().map(move |edge| (*memory, edge)));
        let edges = edges.filter(|(_, edge)| is_there(&edge.target)).collect();
        Self { memories, edges }
    }

    /// Iterates over memories with an edge to one that they contradict.
    pub fn contradictions(&self) -> impl Iterator<Item = (&'a Memory, &'a Edge)> {
        self.edges.iter().copied().filter(|(_, edge)| edge.relation == Relation::Contradicts)
    }

    /// Returns JSON: `memories`, and `edges` with `source_id`, `target_id`, `relation` and `weight`.
    pub fn to_json(&self) -> Value {
        let edge = |(memory, edge): &(&Memory, &Edge)| {
            json!({
                "source_id": memory.id, "target_id": edge.target, "relation": edge.relation.as_str(), "weight": edge.weight,
            })
        };
        json!({
            "memories": self.memories.iter().map(|memory| memory_json(memory)).collect::<Vec<_>>(),
            "edges": self.edges.iter().map(edge).collect::<Vec<_>>(),
        })
    }

    /// Returns a Mermaid flowchart; contradictions are dotted.
    pub fn to_mermaid(&self) -> String {
        let mut chart = "flowchart LR\n".to_owned();
        let names: BTreeMap<&str, usize> =
            self.memories.iter().enumerate().map(|(number, memory)| (&*memory.id, number)).collect();
        for (number, memory) in self.memories.iter().enumerate() {
            let label = truncate(&one_line(&memory.content), LABEL_CHARS);
            let label = label.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(chart, "    m{number}[\"{label}\"]");
        }
        for (memory, edge) in &self.edges {
            let (Some(from), Some(to)) = (names.get(&*memory.id), names.get(&*edge.target)) else { continue };
            let word = edge.relation.as_str();
            let arrow = if edge.relation == Relation::Contradicts { "-.->" } else { "-->" };
            let _ = writeln!(chart, "    m{from} {arrow}|{word}| m{to}");
        }
        chart
    }
}

/// Returns a memory as JSON; unknown times are null.
pub fn memory_json(memory: &Memory) -> Value {
    json!({
        "id": memory.id,
        "agent": memory.agent,
        "content": memory.content,
        "kind": memory.kind,
        "tags": memory.tags,
        "created": memory.created.map(stamp),
        "updated": memory.updated.map(stamp),
        "importance": hundredth(memory.importance),
        "source": memory.source,
        "shared": memory.shared,
        "pinned": memory.pinned,
    })
}

/// Converts a number without the rounding errors of its binary form.
fn hundredth(value: f32) -> f64 {
    (f64::from(value) * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::embedding::{Embedder, WordLlama};
    use crate::knowledge::index::RecallCount;

    #[test]
    fn a_graph_only_contains_what_the_viewer_can_see() {
        let model = WordLlama::built_in().expect("the table should be complete");
        let mut index = Index::new(model.model(), model.dimensions());
        let edge = |relation, target: &str| Edge { relation, target: target.into(), weight: 0.5 };
        let memory = |id: &str, agent: &str, edges| Memory {
            id: id.into(),
            edges,
            ..Memory::new(&agent.into(), "Say \"hi\" <b>", Some(0))
        };
        let edges = vec![edge(Relation::Contradicts, "k-2"), edge(Relation::Supports, "k-3")];
        let shared = Memory { shared: true, ..memory("k-1", "ada", edges) };
        for memory in [shared, memory("k-2", "ada", vec![]), memory("k-3", "bob", vec![])] {
            index.insert(memory, RecallCount::default(), None).expect("there is no vector");
        }
        let graph = Graph::of(&index, &Viewer::Agent("ada".into()));
        let chart = graph.to_mermaid();
        assert_eq!(
            chart,
            "flowchart LR\n    m0[\"Say &quot;hi&quot; &lt;b&gt;\"]\n    m1[\"Say &quot;hi&quot; &lt;b&gt;\"]\n    m0 \
             -.->|contradicts| m1\n"
        );
        assert_eq!(graph.contradictions().count(), 1);
        assert_eq!(graph.to_json()["edges"][0]["target_id"], "k-2");
        assert_eq!(graph.to_json()["memories"][1]["importance"], 0.5);
        assert_eq!(Graph::of(&index, &Viewer::Person).to_json()["edges"].as_array().map(Vec::len), Some(2));
    }
}
