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
        .map(|(rules, line)| (line, judge(line, Some(""), rules)))
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
        .map(|(rules, line)| (line, judge(line, Some(""), rules)))
        .filter(|(_, judged)| judged.verdict != Verdict::Allow)
        .map(|(line, judged)| format!("{line:?}: {}", judged.why))
        .collect();
    assert!(asked.is_empty(), "{}", asked.join("\n"));
}

/// The rules of three persons: none, a typical list and a careless one.
fn lists() -> [(&'static str, CommandRules); 3] {
    let read = |text: &str| CommandRules::parse(text).0;
    [
        ("empty", read("")),
        ("typical", read(include_str!("corpus/typical.yaml"))),
        ("careless", read(include_str!("corpus/careless.yaml"))),
    ]
}

/// The command lines that must not run unasked under any list, each with its folder.
fn hostile_lines() -> Vec<(&'static str, String)> {
    let lines = include_str!("corpus/hostile_lines.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
    let split = lines.map(|line| line.split_once('\t').unwrap_or_else(|| panic!("{line:?} has a tab")));
    split.map(|(folder, line)| (folder, meant(line))).collect()
}

#[test]
fn hostile_lines_need_approval_under_any_list() {
    checks_rule!("commands-need-a-rule-or-approval");
    let lines = hostile_lines();
    assert!(lines.len() >= 600, "{}", lines.len());
    for (name, rules) in lists() {
        // In a folder that an agent has filled, they need approval as well.
        let places = lines.iter().flat_map(|(folder, line)| [(*folder, line), ("artifacts/made", line)]);
        let run: Vec<String> = places
            .filter(|(folder, line)| judge(line, Some(folder), &rules).verdict == Verdict::Allow)
            .map(|(folder, line)| format!("{folder}\t{line}"))
            .collect();
        assert!(
            run.is_empty(),
            "{} of {} would run under the {name} list:\n{}",
            run.len(),
            2 * lines.len(),
            run.join("\n")
        );
    }
    let [(_, empty), ..] = lists();
    assert!(hostile_cases().iter().all(|(_, line)| judge(line, Some(""), &empty).verdict != Verdict::Allow));
}

#[test]
fn plain_lines_run_under_a_typical_list() {
    let [_, (_, typical), _] = lists();
    let lines: Vec<&str> =
        include_str!("corpus/harmless_lines.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() >= 170, "{}", lines.len());
    let asked: Vec<String> = lines
        .iter()
        .map(|line| (line, judge(&meant(line), Some(""), &typical)))
        .filter(|(_, judged)| judged.verdict != Verdict::Allow)
        .map(|(line, judged)| format!("{line:?}: {}", judged.why))
        .collect();
    assert!(asked.is_empty(), "{} of {}:\n{}", asked.len(), lines.len(), asked.join("\n"));
}

#[test]
fn every_line_of_the_table_of_known_programs_is_read() {
    for line in include_str!("known_programs.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let name = line.trim_start_matches('+').split([' ', ',']).next().unwrap_or_default().to_owned();
        assert!(line.matches(" : ").count() + line.matches(" :").count() >= 2, "{line}");
        assert!(
            known_programs::find(std::slice::from_ref(&name)).is_some() || known_programs::has_subcommands(&name),
            "{line}"
        );
    }
}

proptest! {
    /// An option that is not listed for a program needs approval in any form and at any place.
    #[test]
    fn unknown_options_need_approval(
        program in prop::sample::select(vec!["ls", "cat", "sort", "grep x", "find .", "git status", "git diff", "cargo test"]),
        name in "[a-z]{3,9}-[qx][a-z]{2,6}", value in "(=[a-z/]{0,6})?", before in "( [a-z]{1,5}){0,2}",
    ) {
        let mut words: Vec<&str> = program.split(' ').collect();
        words.truncate(if ["git", "cargo"].contains(&words[0]) { 2 } else { 1 });
        let rules = rules_of(&words.join(" "));
        let line = format!("{program}{before} --{name}{value}");
        prop_assert_ne!(judge(&line, Some(""), &rules).verdict, Verdict::Allow, "{}", line);
    }
}

#[test]
fn rules_hold_in_the_folder_for_which_they_were_given() {
    checks_rule!("command-rules-hold-in-one-folder");
    let rules = rules_of(
        "npm test: true\nls: true\ngit status: true\nrm: false\nweb/:\n  npm run build: true\n  make test: true\n",
    );
    let verdict = |line: &str, folder| judge(line, folder, &rules).verdict;
    assert_eq!(verdict("npm test", Some("")), Verdict::Allow);
    for folder in [Some("web"), Some("artifacts/fake"), None] {
        assert_eq!(verdict("npm test", folder), Verdict::Ask, "{folder:?}");
        assert_eq!(verdict("git status", folder), Verdict::Ask, "{folder:?}");
        assert_eq!(verdict("ls -l", folder), Verdict::Allow, "what only reads may run anywhere");
        assert_eq!(verdict("rm x", folder), Verdict::Deny, "{folder:?}");
    }
    assert_eq!(verdict("make test", Some("web")), Verdict::Allow);
    assert_eq!((verdict("make test", Some("")), verdict("make test", Some("web/x"))), (Verdict::Ask, Verdict::Ask));
    assert!(judge("npm test", Some("web"), &rules).why.contains("holds in the top of the workspace only"));
}

#[test]
fn expressions_forbid_in_every_spelling() {
    let rules = rules_of(
        "tree: true\ncolumn: true\ngrep: true\nsort: true\nls: true\n'/^tree\\b.*\\s-o\\b/': false\n\
         '/^column\\b.*\\s-c\\s+[0-9]{4,}/': false\n'/^grep\\b.*\\s-(P|-perl-regexp)\\b/i': false\n\
         '/^sort\\b.*\\s-(o|S)\\b/': { approve: false }\n'/\\(.+\\)/s': { approve: false, matchCommandLine: true }\n",
    );
    for line in [
        "tree -o README.md",
        "tree  '-o'   README.md",
        "/usr/bin/tree -o README.md",
        "TREE -o x",
        "ls; tree -o x",
        "env tree -o x",
        "sh -c 'tree -o x'",
        "column -c 99999",
        "grep -P x y",
        "sort -S 9G x",
        "ls (x)",
    ] {
        assert_eq!(judge(line, Some(""), &rules).verdict, Verdict::Deny, "{line}");
    }
    for line in ["tree", "column x", "grep -rn x", "sort x", "ls"] {
        assert_eq!(judge(line, Some(""), &rules).verdict, Verdict::Allow, "{line}");
    }
    assert_eq!(CommandRules::parse("'/^ls\\b/': true\n").1.len(), 1, "an expression allows nothing");
    assert_eq!(judge("ls", Some(""), &rules_of("'/^ls/': true")).verdict, Verdict::Ask);
    assert_eq!(judge("ls", Some(""), &rules_of("ls: true\n'/^ls/': ask")).verdict, Verdict::Ask);
}

#[test]
fn what_forbids_and_cannot_be_read_forbids_as_strictly_as_it_could_have_been_meant() {
    checks_rule!("unreadable-denials-deny-what-they-could-mean");
    let verdict = |rules: &str, line: &str| judge(line, Some(""), &CommandRules::parse(rules).0).verdict;
    for (rules, line) in [
        ("ls: true\n'/^(rm|ls)(?=\\s)/': false\n", "ls x"),
        ("ls: true\n'a; ls': false\n", "ls x"),
        ("ls: true\n'*': false\n", "ls x"),
        ("ls: true\n'l*': false\n", "ls"),
        ("ls: true\nls -l*: false\n", "ls -la"),
        ("ls: true\nls: false\n", "ls"),
        ("ls: true\ncat: [\nls: false\n", "ls"),
    ] {
        assert_eq!(verdict(rules, line), Verdict::Deny, "{rules}");
        assert!(!CommandRules::parse(rules).1.is_empty() || rules.contains('*'), "{rules}");
    }
    for rules in ["ls: true\n'/(?=x)/': false\n", "ls: true\n'/.*(?!x)/': false\n", "ls: true\n'$(': false\n"] {
        let judged = judge("ls", Some(""), &CommandRules::parse(rules).0);
        assert!(judged.verdict == Verdict::Ask && judged.is_required, "{rules}: {judged:?}");
    }
}

#[test]
fn a_rule_that_allows_nothing_is_reported() {
    for rule in ["env", "python3", "git", "make", "sqlite3", "docker", "npm"] {
        let problems = CommandRules::parse(&format!("{rule}: true\n")).1;
        assert!(problems.len() == 1 && problems[0].what.contains("allows nothing"), "{rule}: {problems:?}");
    }
    for rule in ["ls", "git status", "env ls", "mytool", "./x.sh", "python3 a.py"] {
        assert_eq!(CommandRules::parse(&format!("{rule}: true\n")).1, [], "{rule}");
    }
}

#[test]
fn patterns_are_only_offered_for_programs_that_only_read() {
    for (line, pattern) in [
        ("ls -la src", "ls"),
        ("cat README.md", "cat"),
        ("git status -s", "git status"),
        ("git log --oneline -5", "git log"),
        ("git diff HEAD", "git diff"),
        ("docker ps -a", "docker ps"),
        ("grep -rn TODO src", "grep"),
    ] {
        assert_eq!(pattern_for(line).as_deref(), Some(pattern), "{line}");
    }
    let none = "rm -rf artifacts\nrm x\ndocker exec x sh\ndocker run x\nkubectl exec x\nuv run x\npoetry run x\nbundle exec x\n\
        conda run x\nnix run x\npnpm exec x\nyarn dlx x\nnpm exec x\nnpm run build\nnpm test\ngo run x.go\ngit config a b\n\
        git bisect run x\ngit submodule update\nprlimit ls\nx86_64 ls\nccache gcc x.c\nssh-agent sh\npipenv run x\nfzf\neslint .\n\
        pylint x\nhg status\nsvn diff\nkill 1\nshutdown now\nreboot\nmkfs.ext4 x\nansible all\ncurl https://a.org\ncp a b\nmake test\n\
        cargo test\npytest tests\ngit commit -m x\ngit push\nmytool\n./ls x\ncat /etc/passwd\nls ../x\nsort -o x y\nls2 x";
    for line in none.lines() {
        assert_eq!(pattern_for(line), None, "{line}");
    }
}

#[test]
fn denied_commands_are_denied_anywhere_in_a_command_line() {
    checks_rule!("forbidden-commands-are-forbidden-anywhere");
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
        assert_eq!(
            judge(line, Some(""), &rules).verdict,
            Verdict::Deny,
            "{line}: {}",
            judge(line, Some(""), &rules).why
        );
    }
    for line in ["rm x", "echo curl", "git pull"] {
        assert_eq!(judge(line, Some(""), &rules).verdict, Verdict::Ask, "{line}");
    }
}

#[test]
fn an_unreadable_file_allows_nothing_and_is_reported() {
    checks_rule!("unreadable-command-rules-allow-nothing");
    for text in ["- ls\n", "ls: [", "ls; rm: true\n", "ls: perhaps\n", "'': true\n", "'*': true\n", "12\n"] {
        let (rules, problems) = CommandRules::parse(text);
        assert!(!problems.is_empty(), "{text:?}");
        assert_ne!(judge("ls", Some(""), &rules).verdict, Verdict::Allow, "{text:?}");
    }
    let (rules, problems) = CommandRules::parse("\"rm; x\": false\nls: true\n");
    assert_eq!(problems.len(), 1);
    assert_eq!(judge("rm x", Some(""), &rules).verdict, Verdict::Deny, "what was to be forbidden is");
    assert_eq!(judge("ls", Some(""), &rules).verdict, Verdict::Allow, "one mistake takes nothing from the rest");
    assert_eq!(CommandRules::parse("").1, []);
    let nested = CommandRules::parse("patterns:\n  docker ps: true\n").0;
    assert_eq!(judge("docker ps", Some(""), &nested).verdict, Verdict::Allow);
}

#[test]
fn the_more_specific_rule_applies() {
    let rules = rules_of("cargo: true\ncargo test: true\ncargo test --all: ask\ngit: ask\ngit log: true");
    let verdict = |line: &str| judge(line, Some(""), &rules).verdict;
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
        prop_assert_eq!(judge(&line.join(" "), Some(""), &rules).verdict, judge(&plain, Some(""), &rules).verdict);
    }

    /// Nothing that a shell would split is ever allowed, whatever surrounds it.
    #[test]
    fn commands_that_need_a_shell_are_never_allowed(
        before in "[a-z ]{0,10}", sign in "[;&|<>`$\n(]", after in "[a-z ]{0,10}",
    ) {
        let rules = rules_of("ls: true");
        let line = format!("ls {before}{sign}{after}");
        prop_assert_ne!(judge(&line, Some(""), &rules).verdict, Verdict::Allow, "{}", line);
    }
}
