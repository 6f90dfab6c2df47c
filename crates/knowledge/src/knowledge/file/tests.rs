//! What a person writes is read as intended, and nothing that they wrote is ever lost.

use proptest::prelude::*;

use super::*;
use crate::knowledge::memory::{Edge, MemoryKind, Relation, Source, hundredths};

fn ada() -> Owner {
    Owner::Agent("ada".into())
}

fn read(text: &str) -> KnowledgeFile {
    KnowledgeFile::parse(ada(), text, &mut BTreeSet::new())
}

fn contents(file: &KnowledgeFile) -> Vec<&str> {
    file.memories().map(|(_, memory)| memory.content.as_str()).collect()
}

#[test]
fn a_plain_line_of_a_person_is_a_memory() {
    let file = read("# Notes\n\n- Port 8080 is taken.\n* Dana likes lists\n  + AT&T called<br>twice\n");
    assert_eq!(contents(&file), ["Port 8080 is taken.", "Dana likes lists", "AT&T called\ntwice"]);
    let (line, memory) = file.memories().next().expect("there should be one");
    assert_eq!((line, memory.kind, memory.created, &*memory.agent), (3, MemoryKind::Fact, None, "ada"));
    assert!(file.problems().is_empty() && memory.id.starts_with("k-"));
    let same = read("- Port 8080 is taken.\n");
    assert_eq!(same.memories().next().map(|(_, memory)| memory.id.clone()), Some(memory.id.clone()));
}

#[test]
fn the_programs_part_is_parsed_completely() {
    let line = "- Use `make schema`. <!-- k-1 kind=procedure tags=build,data%20base created=2026-11-24T10:00:00 \
                importance=0.8 run=r-1 session=s-1 record=42 supersedes=k-2,k-3:0.5 future=1 pinned -->\n";
    let file = read(line);
    assert_eq!(file.problems(), []);
    let (_, memory) = file.memories().next().expect("there should be one");
    assert_eq!(memory.content, "Use `make schema`.");
    assert_eq!((memory.kind, memory.importance, memory.pinned), (MemoryKind::Procedure, 0.8, true));
    assert_eq!(memory.tags, ["build", "data base"]);
    assert_eq!(memory.created, Some(1_795_514_400));
    assert_eq!(memory.source, Source { run: Some("r-1".into()), session: Some("s-1".into()), record: Some(42) });
    assert_eq!(memory.edges.iter().map(|edge| edge.weight).collect::<Vec<_>>(), [1.0, 0.5]);
    let mut file = file.clone();
    let unpinned = Memory { pinned: false, ..memory.clone() };
    file.update(&unpinned).expect("it should exist");
    assert_eq!(file.to_string(), line.replace("future=1 pinned", "future=1"));
}

#[test]
fn broken_lines_are_reported_and_kept() {
    let text = "- good\n-\n- no end <!-- k-1 kind=fact\n- odd kind <!-- k-2 kind=fat -->\n- odd date <!-- k-3 \
                created=today -->\n- odd id <!-- k-ä -->\n- behind <!-- k-4 --> more\n```\n- code\n";
    let file = read(text);
    assert_eq!(contents(&file), ["good"]);
    let lines: Vec<usize> = file.problems().iter().filter_map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        file.problems()[2].to_string(),
        "memory/knowledge/ada.md:4: kind: \"fat\" is not one of: skill, fact, procedure, observation, mistake, \
         preference (write one of these, or delete the word)"
    );
    assert_eq!(file.to_string(), text);
}

#[test]
fn a_duplicate_id_is_reported_and_neither_line_is_lost() {
    let mut taken = BTreeSet::new();
    let text = "- one <!-- k-1 -->\n- two <!-- k-1 -->\n- three\n- three\n";
    let file = KnowledgeFile::parse(ada(), text, &mut taken);
    assert_eq!((contents(&file).len(), taken.len(), file.problems().len()), (4, 4, 1));
    assert_eq!(file.problems()[0].line, Some(2));
    let other = KnowledgeFile::parse(Owner::Shared, "- moved <!-- k-1 -->\n", &mut taken);
    assert_eq!((other.problems().len(), taken.len()), (1, 5));
}

#[test]
fn an_overlong_content_is_shortened_and_the_line_is_kept() {
    let text = format!("- {}\n- short\n", "word ".repeat(200_000));
    let mut file = read(&text);
    let (_, memory) = file.memories().next().expect("there should be one");
    assert!(memory.content.len() <= MAX_CONTENT_BYTES);
    assert!(file.problems()[0].what.contains("999999 bytes"), "{}", file.problems()[0]);
    let pinned = Memory { pinned: true, ..memory.clone() };
    file.update(&pinned).expect("it should exist");
    assert!(file.to_string().len() > 1_000_000, "pinning cuts nothing of what a person wrote");
    let long = Memory::new(&"ada".into(), "x", None);
    let long = Memory { content: "y".repeat(1 << 20), ..long };
    assert_eq!(file.add(&long).expect("it can be added").cut_from, Some(1 << 20));
}

#[test]
fn comments_code_rules_and_nested_lists_are_not_memories() {
    let text =
        "\u{feff}- first\r\n<!--\r\n- hidden\r\n-->\r\n---\r\n- - -\r\n    - deep\r\n~~~\n- code\n~~~\r\ntext\r\n";
    let mut file = read(text);
    assert_eq!((contents(&file), file.problems().len()), (vec!["first"], 0));
    let added = file.add(&Memory::new(&"ada".into(), "last", Some(0))).expect("it can be added");
    assert!(added.appended.ends_with("created=1970-01-01T00:00:00 -->\r\n"), "{}", added.appended);
    assert_eq!(file.to_string(), format!("{text}{}", added.appended));
}

#[test]
fn empty_content_is_not_a_memory() {
    let mut file = KnowledgeFile::new(Owner::Shared);
    let empty = Memory { content: " \n".to_owned(), ..Memory::new(&"ada".into(), "x", None) };
    assert!(matches!(file.add(&empty), Err(FileError::Empty { .. })));
    assert!(matches!(file.remove("k-9"), Err(FileError::Unknown { .. })));
    let one = Memory::new(&"ada".into(), "x", None);
    file.add(&one).expect("it can be added");
    assert!(matches!(file.add(&one), Err(FileError::Taken { .. })));
    assert_eq!(file.memories().next().map(|(_, memory)| (memory.shared, &*memory.agent)), Some((true, "ada")));
}

fn any_line() -> impl Strategy<Value = String> {
    let piece = "(- |\\* |<!-- k-1 -->|<!-- k-|-->|```|<br>|# |  |kind=fact|\u{feff}|é|\r|[a-z ]{0,6})";
    prop_oneof![
        4 => "- [a-z ]{1,12}".prop_map(|text| text),
        2 => proptest::string::string_regex(&format!("{piece}{{0,6}}")).expect("it is a pattern"),
        1 => ".{0,20}",
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    proptest::collection::vec((any_line(), prop_oneof![Just("\n"), Just("\r\n")]), 0..12)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect::<String>())
        .prop_flat_map(|text| (Just(text), any::<bool>()))
        .prop_map(|(text, is_whole)| if is_whole { text } else { text.trim_end_matches('\n').to_owned() })
}

prop_compose! {
    fn any_memory()(
        content in "\\PC{1,30}(\n\\PC{0,10})?",
        agent in "[a-z]{1,6}|\\PC{1,6}",
        kind in proptest::sample::select(MemoryKind::ALL.to_vec()),
        tags in proptest::collection::vec("\\PC{1,8}", 0..3),
        times in (proptest::option::of(0i64..4_000_000_000), proptest::option::of(0i64..4_000_000_000)),
        importance in 0f32..=1.0,
        source in (proptest::option::of("\\PC{1,8}"), proptest::option::of("\\PC{1,8}"), any::<Option<u64>>()),
        marks in (any::<bool>(), any::<bool>()),
        edges in proptest::collection::vec((proptest::sample::select(Relation::ALL.to_vec()), "k-[a-z0-9]{1,8}", 0f32..=1.0), 0..3),
    ) -> Memory {
        let mut edges: Vec<Edge> = edges.into_iter()
            .map(|(relation, target, weight)| Edge { relation, target: target.into(), weight: hundredths(weight) })
            .collect();
        edges.sort_by_key(|edge| edge.relation);
        let mut memory = Memory::new(&agent.as_str().into(), &content, times.0);
        if memory.content.is_empty() {
            memory.content = "nothing".to_owned();
        }
        Memory {
            kind, tags, updated: times.1, importance: hundredths(importance),
            source: Source { run: source.0.map(Into::into), session: source.1.map(Into::into), record: source.2 },
            shared: marks.0, pinned: marks.1, edges, ..memory
        }
    }
}

proptest! {
    #[test]
    fn files_are_written_back_unchanged(text in any_text()) {
        prop_assert_eq!(read(&text).to_string(), text);
    }

    #[test]
    fn a_memory_round_trips(memory in any_memory()) {
        let mut file = KnowledgeFile::new(Owner::of(&memory));
        file.add(&memory).expect("it can be added");
        let again = KnowledgeFile::parse(Owner::of(&memory), &file.to_string(), &mut BTreeSet::new());
        prop_assert_eq!(again.problems(), []);
        prop_assert_eq!(again.memories().map(|(_, memory)| memory.clone()).collect::<Vec<_>>(), vec![memory]);
    }

    #[test]
    fn a_change_only_affects_its_line(text in any_text(), memory in any_memory(), which in any::<prop::sample::Index>()) {
        let file = read(&text);
        let mut longer = file.clone();
        let memory = Memory { shared: false, ..memory };
        let added = longer.add(&memory).expect("it can be added");
        prop_assert_eq!(longer.to_string(), format!("{text}{}", added.appended));
        let ids: Vec<(usize, Id)> = file.memories().map(|(line, memory)| (line, memory.id.clone())).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let (line, id) = which.get(&ids).clone();
        let before: Vec<&str> = text.split_inclusive('\n').collect();
        let mut changed = file.clone();
        changed.update(&Memory { id: id.clone(), ..memory }).expect("it should exist");
        let after = changed.to_string();
        let after: Vec<&str> = after.split_inclusive('\n').collect();
        prop_assert_eq!(before.len(), after.len());
        for (index, (before, after)) in before.iter().zip(&after).enumerate() {
            prop_assert!(index + 1 == line || before == after, "line {} changed", index + 1);
        }
        let mut fewer = file.clone();
        fewer.remove(&id).expect("it should exist");
        let rest: String = before.iter().enumerate().filter(|(index, _)| index + 1 != line).map(|(_, line)| *line).collect();
        prop_assert_eq!(fewer.to_string(), rest);
    }
}
