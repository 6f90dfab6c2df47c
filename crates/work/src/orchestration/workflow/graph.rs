//! The dependency graph of steps: cycles, the steps between two others, and the steps that are repeated together.

use std::collections::{BTreeMap, BTreeSet};

use super::definition::Step;
use super::template::Token;

/// The maximum number of repeated steps, each counted once for every loop that contains it.
pub const MAX_REPEATED: usize = 100_000;

/// The steps by their index, each with its direct predecessors and successors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The direct predecessors of each step.
    pub before: Vec<Vec<usize>>,
    /// The direct successors of each step.
    pub after: Vec<Vec<usize>>,
}

/// The transitive dependencies of all steps, as a bit matrix.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// The number of words in a row.
    words: usize,
    /// One row for each step.
    bits: Vec<u64>,
}

impl Waiting {
    fn row(&self, at: usize) -> &[u64] {
        &self.bits[at * self.words..(at + 1) * self.words]
    }

    /// Whether the step `at` waits for the step `before`, directly or not.
    pub fn waits(&self, at: usize, before: usize) -> bool {
        self.row(at)[before / 64] & (1 << (before % 64)) != 0
    }
}

/// Steps that are repeated together until a condition holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The step with the condition.
    pub head: usize,
    /// All repeated steps, by index.
    pub body: BTreeSet<usize>,
}

impl Graph {
    /// Builds the graph; dependencies on unknown steps are ignored.
    pub fn of(steps: &[Step]) -> Self {
        let places = places(steps);
        let mut graph = Self { before: vec![Vec::new(); steps.len()], after: vec![Vec::new(); steps.len()] };
        for (at, step) in steps.iter().enumerate() {
            for before in step.depends_on.iter().filter_map(|id| places.get(id.as_str())) {
                graph.before[at].push(*before);
                graph.after[*before].push(at);
            }
        }
        graph
    }

    /// Returns a cycle, if there is one: each step depends on the next, the last on the first.
    pub fn cycle(&self) -> Option<Vec<usize>> {
        let mut is_left = vec![true; self.before.len()];
        self.in_order().into_iter().for_each(|at| is_left[at] = false);
        let first = is_left.iter().position(|is_left| *is_left)?;
        // Every remaining step waits for another remaining one, so following them must reach a step again.
        let mut path = vec![first];
        let mut seen: BTreeMap<usize, usize> = BTreeMap::from([(first, 0)]);
        loop {
            let at = *path.last()?;
            let next = *self.before[at].iter().find(|before| is_left[**before])?;
            if let Some(begin) = seen.get(&next) {
                return Some(path.split_off(*begin));
            }
            seen.insert(next, path.len());
            path.push(next);
        }
    }

    /// Computes the transitive dependencies. Those of steps in a cycle or after it are incomplete.
    pub fn waiting(&self) -> Waiting {
        let words = self.before.len().div_ceil(64);
        let mut waiting = Waiting { words, bits: vec![0; words * self.before.len()] };
        for at in self.in_order() {
            let mut row = waiting.row(at).to_vec();
            row[at / 64] |= 1 << (at % 64);
            for after in &self.after[at] {
                let begin = after * words;
                waiting.bits[begin..begin + words].iter_mut().zip(&row).for_each(|(known, new)| *known |= new);
            }
        }
        waiting
    }

    /// The steps in topological order; those in a cycle and after it are missing.
    fn in_order(&self) -> Vec<usize> {
        let mut open: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
        let mut next = 0;
        while let Some(at) = order.get(next).copied() {
            next += 1;
            for after in &self.after[at] {
                open[*after] -= 1;
                if open[*after] == 0 {
                    order.push(*after);
                }
            }
        }
        order
    }

    /// The steps that no step waits for.
    pub fn last(&self) -> impl Iterator<Item = usize> {
        self.after.iter().enumerate().filter(|(_, after)| after.is_empty()).map(|(at, _)| at)
    }

    /// The steps of the loop at `head`, whose condition uses the steps `asked`. The error is the index of a used step
    /// that does not come after the head.
    pub fn repeated(&self, waiting: &Waiting, head: usize, asked: &[usize]) -> Result<BTreeSet<usize>, usize> {
        let is_after = |at: usize| at == head || waiting.waits(at, head);
        if let Some(other) = asked.iter().find(|asked| !is_after(**asked)) {
            return Err(*other);
        }
        if asked.iter().all(|asked| *asked == head) {
            return Ok([head].into());
        }
        let is_before = |at: usize| asked.iter().any(|asked| *asked == at || waiting.waits(*asked, at));
        Ok((0..self.before.len()).filter(|at| *at == head || (is_after(*at) && is_before(*at))).collect())
    }
}

/// The index of each step, by id; of two with the same id, the first.
pub fn places(steps: &[Step]) -> BTreeMap<&str, usize> {
    let mut places = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        places.entry(step.id.as_str()).or_insert(at);
    }
    places
}

/// The indexes of the steps whose outputs are used, sorted.
pub fn asked<'a>(tokens: impl IntoIterator<Item = &'a Token>, places: &BTreeMap<&str, usize>) -> Vec<usize> {
    let mut asked: Vec<usize> = tokens
        .into_iter()
        .filter_map(|token| match token {
            Token::Output { step, .. } => places.get(step.as_str()).copied(),
            _ => None,
        })
        .collect();
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// Why loops are invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopFault {
    /// The loops of these two heads overlap without being nested.
    Overlap(usize, usize),
    /// The limit of repeated steps is exceeded with the loop of this head.
    TooMany(usize),
}

/// Finds all loops, inner ones first.
pub fn loops(steps: &[Step], graph: &Graph, waiting: &Waiting) -> Result<Vec<Loop>, LoopFault> {
    let places = places(steps);
    let mut loops: Vec<Loop> = Vec::new();
    let mut loops_of: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut repeated = 0;
    for (head, step) in steps.iter().enumerate() {
        let Some(repeat) = &step.repeat_until else { continue };
        let asked = asked(repeat.until.tokens(), &places);
        let Ok(body) = graph.repeated(waiting, head, &asked) else { continue };
        repeated += body.len();
        if repeated > MAX_REPEATED {
            return Err(LoopFault::TooMany(head));
        }
        let others: BTreeSet<usize> = body.iter().flat_map(|at| loops_of[*at].iter().copied()).collect();
        let crosses = |other: &Loop| !other.body.is_subset(&body) && !body.is_subset(&other.body);
        if let Some(other) = others.into_iter().map(|other| &loops[other]).find(|other| crosses(other)) {
            return Err(LoopFault::Overlap(other.head, head));
        }
        body.iter().for_each(|at| loops_of[*at].push(loops.len()));
        loops.push(Loop { head, body });
    }
    // Inner loops first, because the outer one ends when they have ended.
    loops.sort_by_key(|one| (one.body.len(), one.head));
    Ok(loops)
}

#[cfg(test)]
mod tests {
    use super::super::condition::Condition;
    use super::super::definition::{Assignee, Repeat};
    use super::*;

    fn steps(edges: &[(&str, &[&str])]) -> Vec<Step> {
        let step = |(id, before): &(&str, &[&str])| Step {
            depends_on: before.iter().map(|id| (*id).to_owned()).collect(),
            ..Step::new(id, Assignee::Join)
        };
        edges.iter().map(step).collect()
    }

    #[test]
    fn a_cycle_is_reported_as_a_path() {
        let graph = Graph::of(&steps(&[("a", &[]), ("b", &["a", "d"]), ("c", &["b"]), ("d", &["c"]), ("e", &["d"])]));
        let mut cycle = graph.cycle().expect("there should be one");
        assert_eq!(cycle.len(), 3);
        cycle.sort_unstable();
        assert_eq!(cycle, [1, 2, 3]);
        assert_eq!(Graph::of(&steps(&[("a", &["a"])])).cycle(), Some(vec![0]));
        assert_eq!(Graph::of(&steps(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])])).cycle(), None);
    }

    #[test]
    fn steps_between_the_head_and_the_condition_are_repeated_together() {
        let graph = Graph::of(&steps(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &["b"]), ("e", &["c", "d"])]));
        let waiting = graph.waiting();
        assert_eq!(graph.repeated(&waiting, 1, &[2]), Ok([1, 2].into()));
        assert_eq!(graph.repeated(&waiting, 1, &[4]), Ok([1, 2, 3, 4].into()));
        assert_eq!(graph.repeated(&waiting, 1, &[1]), Ok([1].into()));
        assert_eq!(graph.repeated(&waiting, 1, &[1, 3]), Ok([1, 3].into()));
        assert_eq!(graph.repeated(&waiting, 2, &[3]), Err(3));
        assert!(waiting.waits(4, 0) && waiting.waits(4, 3) && !waiting.waits(0, 4) && !waiting.waits(4, 4));
        assert_eq!(graph.last().collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn ten_thousand_chained_steps_are_fast() {
        let ids: Vec<String> = (0..10_000).map(|number| format!("s{number}")).collect();
        let step = |(at, id): (usize, &String)| Step {
            depends_on: if at == 0 { Vec::new() } else { vec![ids[at - 1].clone()] },
            ..Step::new(id, Assignee::Join)
        };
        let chain: Vec<Step> = ids.iter().enumerate().map(step).collect();
        let graph = Graph::of(&chain);
        assert!(graph.cycle().is_none());
        let waiting = graph.waiting();
        assert!((1..10_000).all(|at| waiting.waits(at, 0) && waiting.waits(at, at - 1) && !waiting.waits(at - 1, at)));
    }

    /// A chain of `count` steps, each repeated until a condition on the step at `asked` holds.
    fn repeated_chain(count: usize, asked: impl Fn(usize) -> usize) -> Vec<Step> {
        let step = |at: usize| Step {
            depends_on: if at == 0 { Vec::new() } else { vec![format!("s{}", at - 1)] },
            repeat_until: Some(Repeat {
                until: Condition::parse(&format!("{{s{}.ok}}", asked(at))).expect("it is a condition"),
                at_most: 2,
            }),
            ..Step::new(&format!("s{at}"), Assignee::Join)
        };
        (0..count).map(step).collect()
    }

    fn loops_of_steps(steps: &[Step]) -> Result<Vec<Loop>, LoopFault> {
        let graph = Graph::of(steps);
        loops(steps, &graph, &graph.waiting())
    }

    #[test]
    fn many_loops_are_found_quickly_or_refused() {
        let each = repeated_chain(2_000, |at| at);
        assert_eq!(loops_of_steps(&each).map(|loops| loops.len()), Ok(2_000));
        let nested = repeated_chain(2_000, |_| 1_999);
        assert!(matches!(loops_of_steps(&nested), Err(LoopFault::TooMany(_))));
        let crossing = repeated_chain(4, |at| (at + 2).min(3));
        assert_eq!(loops_of_steps(&crossing), Err(LoopFault::Overlap(0, 1)));
    }
}
