//! Table and property tests for [`super`]: patched texts parse to the intended data, and comments are kept.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn keys(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("a mapping was written in the test")
}

fn written(text: &str, writes: &[SceneWrite]) -> String {
    let old = yaml::parse(text).expect("the test's text is YAML");
    let mut new = old.clone();
    apply(&mut new, writes);
    let patched = patch(text, &old, &new);
    assert_eq!(yaml::parse(&patched).expect("what is written is YAML"), new, "{patched}");
    assert_eq!(patch(&patched, &new, &new), patched);
    patched
}

fn element(id: &str, value: Value) -> SceneWrite {
    SceneWrite::Element { id: id.into(), keys: keys(value) }
}

const SCENE: &str = "# my room\nname: Studio   # the name\nelements:\n  # boards\n  - { id: rules, kind: rulebook, position: [0, 260], text: \"old\" } # r\n  \
    - id: ideas # i\n    kind: pinboard\n    pins:\n      # the first\n      - { id: p1, text: one }\n      - id: p2\n        text: two # t\n    \
    colour: red # unknown\n\n# people\nagents:\n  - { id: a, profile: ada }\n# end\n";

#[test]
fn only_the_value_changes() {
    let after = written(SCENE, &[element("rules", json!({ "text": "new: \"x\"" }))]);
    assert_eq!(after, SCENE.replace("\"old\"", "\"new: \\\"x\\\"\""));
    let after = written(SCENE, &[element("rules", json!({ "position": [10.5, -3.0] }))]);
    assert_eq!(after, SCENE.replace("[0, 260]", "[10.5, -3]"));
    let after = written(SCENE, &[element("ideas", json!({ "colour": null }))]);
    assert_eq!(after, SCENE.replace("    colour: red # unknown\n", ""));
    assert_eq!(
        written(SCENE, &[element("ideas", json!({ "colour": "red" })), element("nobody", json!({ "x": 1 }))]),
        SCENE
    );
}

#[test]
fn pins_are_added_changed_and_removed_individually() {
    let pins = json!([{ "id": "p2", "text": "zwei" }, { "id": "p3", "text": "three\nlines\nhere" }]);
    let after = written(SCENE, &[element("ideas", json!({ "pins": pins }))]);
    let expected = SCENE.replace("      - { id: p1, text: one }\n", "").replace(
        "text: two # t\n",
        "text: zwei # t\n      - id: p3\n        text: |-\n          three\n          lines\n          here\n",
    );
    assert_eq!(after, expected);
    let after = written(SCENE, &[element("ideas", json!({ "pins": [] }))]);
    assert!(after.contains("# i") && after.contains("# unknown"));
}

#[test]
fn long_texts_become_literal_blocks_in_block_entries_and_stay_in_braces() {
    let after = written(SCENE, &[element("ideas", json!({ "text": "# Title\n\n- a\n- b\n" }))]);
    assert!(
        after.contains("    colour: red # unknown\n    text: |\n      # Title\n\n      - a\n      - b\n\n# people"),
        "{after}"
    );
    let again = written(&after, &[element("ideas", json!({ "text": "one\ntwo\n" }))]);
    assert!(again.contains("    text: |\n      one\n      two\n\n# people"), "{again}");
    let after = written(SCENE, &[element("rules", json!({ "text": "a\nb" }))]);
    assert_eq!(after, SCENE.replace("\"old\"", "\"a\\nb\""));
}

#[test]
fn entries_are_added_and_removed() {
    let add =
        SceneWrite::AddElement { keys: keys(json!({ "id": "news", "kind": "messageboard", "position": [1.0, 2.0] })) };
    let after = written(SCENE, std::slice::from_ref(&add));
    assert!(
        after.contains(
            "    colour: red # unknown\n  - id: news\n    kind: messageboard\n    position: [1, 2]\n\n# people"
        ),
        "{after}"
    );
    assert_eq!(written(&after, &[SceneWrite::RemoveElement { id: "news".into() }]), SCENE);
    let after = written(SCENE, &[SceneWrite::AddAgent { keys: keys(json!({ "id": "b", "profile": "bob" })) }]);
    assert_eq!(after, SCENE.replace("ada }\n", "ada }\n  - { id: b, profile: bob }\n"));
    let bare = "name: x";
    let after = written(bare, &[add]);
    assert_eq!(after, "name: x\nelements:\n  - { id: news, kind: messageboard, position: [1, 2] }\n");
    let after = written(
        "elements: []\nname: x\n",
        &[SceneWrite::AddElement { keys: keys(json!({ "id": "new", "kind": "k" })) }],
    );
    assert_eq!(after, "elements:\n  - { id: new, kind: k }\nname: x\n");
    let rope = crate::workspace::Relationship { from: "a".into(), to: "b".into(), label: "likes".into() };
    let after = written(SCENE, &[SceneWrite::Relationships(vec![rope])]);
    assert!(after.contains("relationships:\n  - { from: a, to: b, label: likes }\n"), "{after}");
}

#[test]
fn windows_line_breaks_byte_order_marks_and_json_are_preserved() {
    let windows = format!("\u{feff}{}", SCENE.replace('\n', "\r\n"));
    let after =
        written(&windows, &[element("rules", json!({ "text": "new" })), element("ideas", json!({ "text": "a\nb\n" }))]);
    assert!(after.starts_with('\u{feff}') && !after.replace("\r\n", "").contains('\n'));
    let json = "{ \"elements\": [ { \"id\": \"a\", \"kind\": \"k\", \"text\": \"x\" } ] }\n";
    let after = written(json, &[element("a", json!({ "text": "y", "label": "L" }))]);
    assert_eq!(after, "{ \"elements\": [ { \"id\": \"a\", \"kind\": \"k\", \"text\": \"y\", label: L } ] }\n");
}

#[test]
fn merge_keys_and_aliases_are_supported() {
    let text = "base: &base { kind: pinboard, colour: red }\nelements:\n  - { <<: *base, id: a }\n  - <<: *base\n    id: b # b\n";
    let after = written(
        text,
        &[element("b", json!({ "colour": null, "text": "t" })), element("a", json!({ "colour": "blue" }))],
    );
    assert!(after.contains("base: &base"), "{after}");
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "[ -~]{0,20}", "\\PC{0,12}", "[a-z#:\\n \"'\\-]{0,30}"]
}

fn entry(id: usize) -> impl Strategy<Value = (Value, bool, bool)> {
    let pins = prop::collection::vec(word(), 0..4).prop_map(|texts| {
        Value::Array(
            texts.into_iter().enumerate().map(|(n, text)| json!({ "id": format!("p{n}"), "text": text })).collect(),
        )
    });
    (word(), -500..500_i32, prop::option::of(pins), any::<bool>(), any::<bool>()).prop_map(move |(text, x, pins, flow, comment)| {
        let mut entry = json!({ "id": format!("e{id}"), "kind": "board", "position": [x, 0], "text": text, "odd key": { "deep": [1, 2] } });
        if let Some(pins) = pins {
            entry["pins"] = pins;
        }
        (entry, flow, comment)
    })
}

fn scene() -> impl Strategy<Value = (String, usize)> {
    (entry(0), entry(1), entry(2), any::<bool>(), any::<bool>()).prop_map(|(a, b, c, outer, crlf)| {
        let mut text = String::from("# ¢¢ top\nname: x # ¢¢ name\nelements:\n");
        let mut comments = 2;
        for (entry, flow, comment) in [a, b, c] {
            if comment {
                text.push_str("  # ¢¢ entry\n");
                comments += 1;
            }
            let keys = entry.as_object().cloned().unwrap_or_default();
            let body = if flow { format!(" {}", yaml::inline(&entry)) } else { yaml::block_item(&keys, 4) };
            text.push_str(&format!("  -{body}\n"));
        }
        if outer {
            text.push_str("# ¢¢ agents\nagents:\n- { id: a, profile: p } # ¢¢ a\n");
            comments += 2;
        }
        (if crlf { text.replace('\n', "\r\n") } else { text }, comments)
    })
}

fn writes() -> impl Strategy<Value = Vec<SceneWrite>> {
    let id = (0..4_usize).prop_map(|id| format!("e{id}"));
    let change = (id.clone(), word(), 0..6_usize, -500..500_i32).prop_map(|(id, text, what, x)| {
        let value = match what {
            0 => json!({ "text": text }),
            1 => json!({ "position": [x, 0.5] }),
            2 => json!({ "pins": [{ "id": "p0", "text": text }, { "id": "p9", "text": "a\nb" }] }),
            3 => json!({ "pins": [{ "id": "p1", "text": "kept" }] }),
            4 => json!({ "pins": null, "label": text }),
            _ => json!({ "text": "# one\n\n  two\n", "pins": [] }),
        };
        SceneWrite::Element { id: id.into(), keys: keys(value) }
    });
    let one = prop_oneof![
        6 => change,
        1 => id.prop_map(|id| SceneWrite::RemoveElement { id: id.into() }),
        1 => word().prop_map(|text| SceneWrite::AddElement { keys: keys(json!({ "id": "e3", "kind": "k", "text": text })) }),
        1 => Just(SceneWrite::AddAgent { keys: keys(json!({ "id": "new", "profile": "p" })) }),
    ];
    prop::collection::vec(one, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_writes_to_random_scenes_keep_data_and_comments((text, comments) in scene(), writes in writes()) {
        let Ok(old) = yaml::parse(&text) else { return Err(TestCaseError::fail(format!("the scene is not YAML:\n{text}"))) };
        let mut new = old.clone();
        apply(&mut new, &writes);
        let patched = patch(&text, &old, &new);
        prop_assert_eq!(yaml::parse(&patched).ok(), Some(new), "\n{}\n---\n{}", text, patched);
        prop_assert_eq!(patched.matches("# ¢¢ ").count(), comments, "\n{}\n---\n{}", text, patched);
        prop_assert!(patched.ends_with('\n'));
    }
}

#[test]
fn relationships_keep_a_persons_additional_keys() {
    let scene = "agents: [{id: a, profile: p}, {id: b, profile: p}]\nrelationships:\n  # since school\n  \
                 - { from: a, to: b, label: likes, since: 1999 }\n  - { from: b, to: a, label: fears }\n";
    let tie = |from: &str, to: &str, label: &str| crate::workspace::Relationship {
        from: from.into(),
        to: to.into(),
        label: label.into(),
    };
    let relabelled = SceneWrite::Relationships(vec![tie("a", "b", "loves"), tie("b", "a", "fears")]);
    assert_eq!(written(scene, &[relabelled]), scene.replace("likes", "loves"));
    let first = written(scene, &[SceneWrite::Relationships(vec![tie("a", "b", "likes")])]);
    assert!(first.contains("# since school") && first.contains("since: 1999") && !first.contains("fears"), "{first}");
    let back = SceneWrite::Relationships(vec![tie("a", "b", "likes"), tie("b", "a", "fears")]);
    assert_eq!(written(&first, &[back]), scene);
}
