//! Paths that people and models write, and paths that try to lead elsewhere.

use proptest::prelude::*;

use super::*;

/// Paths that are refused. Each line is another trick, or the same at another position.
pub(in crate::workspace) const HOSTILE: &[&str] = &[
    // Empty paths and empty parts.
    "",
    "/",
    "//",
    "///",
    ".",
    "./",
    "./.",
    "././a.md",
    "a//b.md",
    "a/",
    "a.md/",
    "a///b.md",
    "agents//",
    "//agents/a.md",
    "artifacts/./a.md",
    "artifacts/.",
    "./",
    "artifacts/ /a.md",
    // Parent folders.
    "..",
    "../",
    "../a.md",
    "../../a.md",
    "a/..",
    "a/../b.md",
    "agents/../../x.md",
    "agents/../settings.yaml",
    "./../a.md",
    "a/b/../../../c.md",
    "artifacts/../.workshop/workshop.db",
    "Agents/../agents/a.md",
    "..a/../b.md",
    "a/./../b.md",
    ".../../a.md",
    "artifacts/..",
    "a/b/c/../../../../etc/passwd",
    "../workspace/a.md",
    "..//a.md",
    // Absolute paths of every system.
    "/etc/passwd",
    "/a.md",
    "~/a.md",
    "~root/.ssh/id_rsa",
    "~",
    "~/.bashrc",
    "//server/share/a.md",
    "/./a.md",
    "/proc/self/environ",
    "/dev/null",
    "///etc/shadow",
    "C:/a.md",
    "C:a.md",
    "c:\\a.md",
    "C:",
    "Z:/",
    "C:..\\a.md",
    "\\\\server\\share\\a.md",
    "\\a.md",
    "\\\\?\\C:\\a.md",
    "\\\\.\\PhysicalDrive0",
    "\\??\\C:\\a.md",
    "//?/C:/a.md",
    "//./pipe/a",
    "file:///etc/passwd",
    "file:a.md",
    "http://a/b.md",
    "vfs:/a.md",
    // Backslashes.
    "a\\b.md",
    "..\\a.md",
    "agents\\..\\..\\a.md",
    "a/..\\b.md",
    "a.md\\",
    "artifacts\\a.md",
    "\\",
    // Alternate data streams.
    "a.md:stream",
    "a.md::$DATA",
    "agents/a.md:$DATA",
    ".git::$INDEX_ALLOCATION/config",
    "agents::$INDEX_ALLOCATION/a.md",
    "a:b",
    "settings.yaml:x",
    // Control characters and invisible ones.
    "a\0.md",
    "\0",
    "a.md\0.txt",
    "a\n.md",
    "a\r.md",
    "a\t.md",
    "\u{7f}a.md",
    "a\u{1b}[2J.md",
    "a\u{85}.md",
    "a\u{9b}.md",
    "a\u{200b}.md",
    "a\u{200c}.md",
    "a\u{200d}.md",
    "a\u{feff}.md",
    "\u{feff}a.md",
    "a\u{2060}.md",
    "a\u{ad}.md",
    "a\u{202e}dm.exe",
    "a\u{2066}b.md",
    "a\u{200e}.md",
    "a\u{200f}.md",
    "a\u{180e}.md",
    "a\u{3164}.md",
    "a\u{115f}.md",
    "a\u{ffa0}.md",
    "a\u{fe0f}.md",
    "a\u{e0041}.md",
    "a\u{2028}b.md",
    "a\u{2029}b.md",
    "a\u{a0}b.md",
    "a\u{2003}b.md",
    "a\u{3000}b.md",
    "a\u{fffd}.md",
    "a\u{ffff}.md",
    "a\u{34f}.md",
    "a\u{61c}.md",
    "a\u{fff9}b.md",
    ".g\u{200c}it/config",
    ".\u{200d}workshop/workshop.db",
    ".gi\u{200b}t/hooks/pre-commit",
    // Spaces and dots at the edge of a component.
    "a.md ",
    "a.md.",
    "a. ",
    "agents./a.md",
    "agents /a.md",
    " agents/a.md",
    "a/ b.md",
    "...",
    "....",
    ".. /a.md",
    ".. ./a.md",
    "a...",
    "agents../a.md",
    ".git./config",
    ".git /config",
    ".workshop./x",
    ".workshop /x",
    " ",
    "  /a.md",
    "settings.yaml.",
    "settings.yaml ",
    "storage./a.md",
    // Device names.
    "CON",
    "con",
    "con.md",
    "agents/CON",
    "agents/con.txt",
    "NUL",
    "nul.md",
    "a/NUL.tar.gz",
    "PRN",
    "AUX",
    "aux.md",
    "COM1",
    "com1.md",
    "COM9.txt",
    "COM0",
    "LPT1",
    "lpt9.md",
    "LPT0",
    "CONIN$",
    "CONOUT$",
    "CLOCK$",
    "com¹.md",
    "LPT²",
    "com³",
    "con .md",
    "Nul/a.md",
    "a/aux/b.md",
    "ｃｏｎ.md",
    "cOn.MD",
    // Characters with a special meaning elsewhere.
    "a*.md",
    "a?.md",
    "a<b.md",
    "a>b.md",
    "a|b.md",
    "\"a.md\"",
    "**/a.md",
    "a\"b.md",
    // Escapes.
    "%2e%2e/a.md",
    "..%2fa.md",
    "%2e%2e%2fa.md",
    "a%00.md",
    "%252e%252e/a.md",
    "a%5cb.md",
    "%c0%ae%c0%ae/a.md",
    ".%67it/config",
    "%2Egit/config",
    "%u002e%u002e/a.md",
    "agents%2Fa.md",
    "a%0a.md",
    "%7e/a.md",
    "%%32%65/a.md",
    // Characters that stand for others.
    "\u{ff0f}etc\u{ff0f}passwd",
    "a\u{ff0f}b.md",
    "\u{ff0e}\u{ff0e}/a.md",
    "\u{2025}/a.md",
    "\u{2026}/a.md",
    "\u{2024}\u{2024}/a.md",
    "a\u{2044}b.md",
    "a\u{2215}b.md",
    "a\u{29f8}b.md",
    "a\u{2216}b.md",
    "a\u{ff3c}b.md",
    "a\u{fe68}b.md",
    "a\u{ff1a}b.md",
    "a\u{fe55}b.md",
    "a\u{a789}b.md",
    "a\u{2236}b.md",
    "\u{fe52}\u{fe52}/a.md",
    "\u{ff0e}git/config",
    "\u{2024}git/config",
    "\u{ff0e}workshop/x",
    "a\u{29f5}b.md",
    "a\u{fe13}b.md",
    "\u{2100}.md",
    "a\u{2105}b.md",
    "a\u{338}b.md",
    "a\u{2e8}\u{2236}b.md",
    "a\u{ff02}b.md",
    "a\u{ff1f}.md",
    "a\u{ff0a}.md",
    "a\u{ff5c}b.md",
    // Other spellings of names with a special meaning.
    ".GIT/config",
    ".Git/HEAD",
    ".gIt/config",
    "a/.GIT/config",
    ".WORKSHOP/workshop.db",
    ".Workshop/x",
    "a/.Workshop/x",
    "Agents/a.md",
    "AGENTS/a.md",
    "aGents/a.md",
    "Memory/a.md",
    "ARTIFACTS/a.md",
    "Scenes/a.yaml",
    "Boards/a.md",
    "Tasks/a.md",
    "SESSIONS/a.yaml",
    "Sessions/a.yaml",
    "Storage/a.md",
    "STORAGE/a.md",
    "Settings.yaml",
    "settings.YAML",
    "SETTINGS.YAML",
    "tasks/Approvals.task.md",
    "tasks/APPROVALS.TASK.MD",
    "\u{17f}ettings.yaml",
    "\u{17f}torage/a.md",
    "sett\u{131}ngs.yaml",
    ".g\u{131}t/config",
    ".wor\u{212a}shop/x",
    "bo\u{aa}rds/a.md",
    "ａgents/a.md",
    "ｓessions/a.md",
    "аgents/a.md",
    "mеmory/a.md",
    "sеttings.yaml",
    "ѕtorage/a.md",
    "sessiоns/a.yaml",
    ".gіt/config",
    ".wоrkshop/x",
    "αgents/a.md",
    "tasks/аpprovals.task.md",
    "ag\u{0435}nts/x.md",
    "ágents/a.md",
    "séssions/a.yaml",
    // Short names of Windows.
    "GIT~1/config",
    "git~1/config",
    "WORKSH~1/workshop.db",
    "SETTIN~1.YAM",
    "a/GIT~2/config",
    "AGENTS~1.MD",
    "~1",
];

/// Accepted paths, and their normal forms.
const GOOD: &[(&str, &str)] = &[
    ("a.md", "a.md"),
    ("./artifacts/plan.md", "artifacts/plan.md"),
    ("artifacts/deep/er/plan v2 (final).md", "artifacts/deep/er/plan v2 (final).md"),
    ("notes/a..b.md", "notes/a..b.md"),
    ("notes/100% sure.md", "notes/100% sure.md"),
    ("notes/ada.md~", "notes/ada.md~"),
    ("notes/東京.md", "notes/東京.md"),
    ("notes/план.md", "notes/план.md"),
    ("notes/u\u{308}nï.md", "notes/ünï.md"),
    ("artifacts/Agents/Readme.MD", "artifacts/Agents/Readme.MD"),
    ("console/com.md", "console/com.md"),
    ("notes/com10.md", "notes/com10.md"),
    ("notes/~draft.md", "notes/~draft.md"),
    ("notes/[x] {y}.md", "notes/[x] {y}.md"),
    (".gitignore", ".gitignore"),
    ("notes/🦀.md", "notes/🦀.md"),
];

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let mut all: Vec<String> = HOSTILE.iter().map(|path| (*path).to_owned()).collect();
    all.push("a".repeat(256));
    all.push(format!("{}.md", "ü".repeat(127)));
    all.push(vec!["deep"; 17].join("/"));
    all.push(vec!["x".repeat(200); 6].join("/"));
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert!(distinct.len() >= 200, "{}", distinct.len());
    for path in &all {
        let made = WorkspacePath::new(path);
        assert!(made.is_err(), "{path:?} became {made:?}");
    }
}

#[test]
fn paths_that_people_write_are_accepted() {
    for (given, normal) in GOOD {
        let path = WorkspacePath::new(given).unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(path.as_str(), *normal);
        assert_eq!(WorkspacePath::new(normal).as_ref(), Ok(&path), "normalising again changes nothing");
    }
}

#[test]
fn a_refusal_shows_what_was_given_and_nothing_invisible() {
    let refusal = WorkspacePath::new("a\u{1b}[2J\n.md").expect_err("it has control characters");
    assert_eq!(refusal.to_string(), "'a\u{fffd}[2J\u{fffd}.md' has an invisible character");
    let long = WorkspacePath::new(&"x/".repeat(900)).expect_err("it is too long");
    assert!(long.given.chars().count() <= 202, "{}", long.given);
}

#[test]
fn each_path_has_its_reach_and_kind() {
    checks_rule!("a-files-kind-is-its-folder");
    checks_rule!("keys-are-closed-to-file-tools");
    let reach = |path: &str| WorkspacePath::new(path).map(|path| path.reach());
    for path in ["artifacts/a.md", "agents/a.md", "notes/a.md", "tasks/a.task.md", "a/settings.yaml", "x/storage/a.md"]
    {
        assert_eq!(reach(path), Ok(PathAccess::Open), "{path}");
    }
    for path in ["settings.yaml", "storage/a.md", "tasks/approvals.task.md", ".gitignore", "a/.hidden/b.md", ".x"] {
        assert_eq!(reach(path), Ok(PathAccess::ReadOnly), "{path}");
    }
    for path in
        [".workshop/workshop.db", ".git/config", "a/.git/config", "a/.workshop/x", ".env", "a/.env.local", ".ssh/id"]
    {
        assert_eq!(reach(path), Ok(PathAccess::Closed), "{path}");
    }
    assert_eq!(reach("sessions/ada/1.session.yaml"), Ok(PathAccess::Records));
    let kinds: Vec<&str> =
        ["agents/a.md", "memory/a/b.md", "artifacts/a", "scenes/s.yaml", "boards/b.md", "agents", "x/agents/a"]
            .map(|path| kind_of(path).name())
            .to_vec();
    assert_eq!(kinds, ["agent", "memory", "artifact", "scene", "board", "unknown", "unknown"]);
}

/// Generates paths from pieces of tricks and harmless pieces between them.
pub(in crate::workspace) fn any_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just("/".to_owned()),
        Just("\\".to_owned()),
        Just("agents".to_owned()),
        Just("artifacts/".to_owned()),
        Just("in".to_owned()),
        Just("out".to_owned()),
        Just("link".to_owned()),
        Just("link/secret.md".to_owned()),
        Just("in/deep/up".to_owned()),
        Just("hard.md".to_owned()),
        Just("%2e".to_owned()),
        Just("\u{ff0f}".to_owned()),
        Just("\u{2024}".to_owned()),
        Just(".git".to_owned()),
        Just("C:".to_owned()),
        "[a-zA-Z. ]{1,6}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_accepted_path_is_inside_the_workspace_and_normalised(given in any_path()) {
        if let Ok(path) = WorkspacePath::new(&given) {
            let joined = std::path::Path::new("/w").join(path.as_str());
            prop_assert!(joined.starts_with("/w"));
            prop_assert!(joined.components().all(|part| !matches!(part, std::path::Component::ParentDir)));
            prop_assert_eq!(joined.components().count(), path.parts().count() + 2);
            prop_assert_eq!(WorkspacePath::new(path.as_str()), Ok(path));
        }
    }
}
