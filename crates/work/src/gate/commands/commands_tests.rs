//! Tests of the rules for commands: lists of hostile and harmless commands, and general invariants.

use proptest::prelude::*;

use super::*;

/// The lines of a list, each with rules and a command.
fn cases(list: &str) -> Vec<(CommandRules, String)> {
    texts(list).into_iter().map(|(rules, command)| (rules_of(&rules), command)).collect()
}

fn texts(list: &str) -> Vec<(String, String)> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (rules, command) = line.split_once('\t').unwrap_or_else(|| panic!("{line:?} has a tab"));
            (meant(rules), meant(command))
        })
        .collect()
}

/// The list of hostile commands, each with the rules under which it must not run.
pub(in crate::gate) fn hostile_cases() -> Vec<(String, String)> {
    texts(include_str!("hostile.txt"))
}

/// A single rule is an allow rule; several are written as in the file.
fn rules_of(text: &str) -> CommandRules {
    let yaml = match text {
        "" => String::new(),
        several if several.contains(": ") => several.to_owned(),
        one => serde_yaml::to_string(&std::collections::BTreeMap::from([(one, true)])).expect("it is plain"),
    };
    CommandRules::parse(&yaml).0
}

/// The text with its escapes resolved.
fn meant(text: &str) -> String {
    let mut meant = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            meant.push(c);
            continue;
        }
        let digits = |chars: &mut std::str::Chars<'_>, count: usize| {
            let digits: String = chars.by_ref().take(count).collect();
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).expect("it is a character")
        };
        match chars.next() {
            Some('n') => meant.push('\n'),
            Some('r') => meant.push('\r'),
            Some('x') => meant.push(digits(&mut chars, 2)),
            Some('u') => meant.push(digits(&mut chars, 4)),
            other => meant.extend(other),
        }
    }
    meant
}

#[test]
fn no_hostile_command_runs_without_approval() {
    let hostile = cases(include_str!("hostile.txt"));
    assert!(hostile.len() >= 300, "{}", hostile.len());
    let run: Vec<String> = hostile
        .iter()
        .map(|(rules, line)| (line, judge(line, rules)))
        .filter(|(_, judged)| judged.verdict == Verdict::Allow)
        .map(|(line, judged)| format!("{line:?}: {}", judged.why))
        .collect();
    assert!(run.is_empty(), "{} of {} would run:\n{}", run.len(), hostile.len(), run.join("\n"));
}

#[test]
fn harmless_commands_run_by_their_rules() {
    let harmless = cases(include_str!("harmless.txt"));
    assert!(harmless.len() >= 60, "{}", harmless.len());
    let asked: Vec<String> = harmless
        .iter()
        .map(|(rules, line)| (line, judge(line, rules)))
        .filter(|(_, judged)| judged.verdict != Verdict::Allow)
        .map(|(line, judged)| format!("{line:?}: {}", judged.why))
        .collect();
    assert!(asked.is_empty(), "{}", asked.join("\n"));
}

#[test]
fn denied_commands_are_denied_anywhere_in_a_command_line() {
    let rules = rules_of("ls: true\nrm -rf: false\ncurl: false\ngit push: false");
    for line in [
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "/bin/rm -rf x",
        "ls; rm -rf x",
        "ls && curl x",
        "echo $(curl x)",
        "sh -c 'curl x'",
        "bash -c \"ls; curl x\"",
        "env A=b curl x",
        "sudo -n curl x",
        "xargs curl",
        "find . -exec curl x",
        "A=b curl x",
        "CURL x",
        "c'ur'l x",
        "timeout 9 git push",
        "ls | git push origin",
    ] {
        assert_eq!(judge(line, &rules).verdict, Verdict::Deny, "{line}: {}", judge(line, &rules).why);
    }
    for line in ["rm x", "echo curl", "git pull"] {
        assert_eq!(judge(line, &rules).verdict, Verdict::Ask, "{line}");
    }
}

#[test]
fn an_unreadable_file_allows_nothing_and_is_reported() {
    for text in ["- ls\n", "ls: [", "ls; rm: true\n", "ls: perhaps\n", "'': true\n", "'*': true\n", "12\n"] {
        let (rules, problems) = CommandRules::parse(text);
        assert!(!problems.is_empty(), "{text:?}");
        assert_ne!(judge("ls", &rules).verdict, Verdict::Allow, "{text:?}");
    }
    let (rules, problems) = CommandRules::parse("\"rm; x\": false\nls: true\n");
    assert_eq!(problems.len(), 1);
    assert_eq!(judge("rm x", &rules).verdict, Verdict::Deny, "what was to be forbidden is");
    assert_eq!(judge("ls", &rules).verdict, Verdict::Allow, "one mistake takes nothing from the rest");
    assert_eq!(CommandRules::parse("").1, []);
    let nested = CommandRules::parse("patterns:\n  docker ps: true\n").0;
    assert_eq!(judge("docker ps", &nested).verdict, Verdict::Allow);
}

#[test]
fn the_more_specific_rule_applies() {
    let rules = rules_of("cargo: true\ncargo test: true\ncargo test --all: ask\ngit: ask\ngit log: true");
    let verdict = |line: &str| judge(line, &rules).verdict;
    assert_eq!((verdict("cargo test"), verdict("cargo test --all")), (Verdict::Allow, Verdict::Ask));
    assert_eq!((verdict("git log"), verdict("git pull")), (Verdict::Allow, Verdict::Ask));
}

#[test]
fn commands_are_split_into_words_like_in_a_shell() {
    for (line, words) in [
        ("a  b\tc", vec!["a", "b", "c"]),
        ("a 'b c' \"d e\"", vec!["a", "b c", "d e"]),
        ("a b'c'\"d\"e", vec!["a", "bcde"]),
        ("a '' \"\"", vec!["a", "", ""]),
        (r"a b\ c \'", vec!["a", "b c", "'"]),
        (r#"a "b\"c\\d\e""#, vec!["a", "b\"c\\d\\e"]),
        ("a b#c", vec!["a", "b#c"]),
        ("a x=1 b~", vec!["a", "x=1", "b~"]),
    ] {
        let Command::Plain(found) = Command::parse(line) else { panic!("{line}") };
        assert_eq!(found, words, "{line}");
        assert_eq!(Command::parse(&words::join(&found)), Command::Plain(found), "{line}");
    }
}

proptest! {
    /// However the words of a command are quoted and spaced, the decision is the same.
    #[test]
    fn quoting_and_spacing_do_not_change_the_verdict(
        words in prop::collection::vec("[a-z;$|&<>(){}*' \"\\\\-]{1,8}", 1..5),
        styles in prop::collection::vec(0..3usize, 5),
    ) {
        let rules = rules_of("ls: true\na: true\nrm: false");
        let mut all = vec!["ls".to_owned()];
        all.extend(words);
        let quoted = |word: &String, style: usize| match style {
            0 => words::join(std::slice::from_ref(word)),
            1 => format!("'{}'", word.replace('\'', "'\\''")),
            _ => word.chars().map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") }).collect(),
        };
        let line: Vec<String> = all.iter().zip(styles.iter().cycle()).map(|(word, style)| quoted(word, *style)).collect();
        let plain = words::join(&all);
        prop_assert_eq!(Command::parse(&line.join("   ")), Command::Plain(all));
        prop_assert_eq!(judge(&line.join(" "), &rules).verdict, judge(&plain, &rules).verdict);
    }

    /// Nothing that a shell would split is ever allowed, whatever surrounds it.
    #[test]
    fn commands_that_need_a_shell_are_never_allowed(
        before in "[a-z ]{0,10}", sign in "[;&|<>`$\n(]", after in "[a-z ]{0,10}",
    ) {
        let rules = rules_of("ls: true");
        let line = format!("ls {before}{sign}{after}");
        prop_assert_ne!(judge(&line, &rules).verdict, Verdict::Allow, "{}", line);
    }
}
