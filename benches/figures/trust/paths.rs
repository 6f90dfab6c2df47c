//! Spellings of paths: whatever path the file service resolves to a file, the permission check must resolve to the same
//! file.

use super::calls::plain;
use super::chance::Chance;
use super::plan::{Case, Plan, Report};
use super::siege::{Reach, Siege, Try};

/// Spellings in the full loop, approximately.
const SPELLINGS: u64 = 2_400;
/// Spellings in one case.
const SPELLINGS_PER_CASE: u64 = 60;

/// Broad permissions with a policy that denies some paths, which are spelled in both Unicode forms.
const REACH: Reach = Reach {
    front_matter: "reads: [\"artifacts/**\", \"agents/worker.md\", \"open/**\"]\nwrites: [\"**\"]\nsafety_mode: auto\n",
    settings: "gate:\n  deny: [\"private/**\", \"notes/**\", \"boards/**\", \"agents/**\", \"workflows/**\", \
               \"storage/**\", \"tasks/**\", \"scenes/**\", \"me\u{301}moire/**\", \"artifacts/café/**\", \
               \"artifacts/cafe\u{301}-two/**\", \".workshop-old/**\", \"memory\", \"memory/**\"]\n",
    open: &["artifacts", "open"],
    closed: &["artifacts/café/plan.md", "artifacts/café-two/plan.md"],
    may_make_files: true,
};

/// The files that the calls try to reach.
const TARGETS: [&str; 26] = [
    "artifacts/café/plan.md",
    "artifacts/café-two/plan.md",
    "private/plan.md",
    "notes/geheim.md",
    "boards/closed.md",
    "agents/restricted.md",
    "agents/josé.md",
    "agents/worker.md",
    "workflows/a.md",
    "storage/terminal-cmd-allowlist.yaml",
    "tasks/approvals.task.md",
    "scenes/room.yaml",
    "settings.yaml",
    "mémoire/plan.md",
    ".env",
    ".git/config",
    ".ssh/id_ed25519",
    ".workshop/workshop.db",
    ".workshop/lock",
    ".workshop-old/secret.md",
    "sessions/x.session.yaml",
    "artifacts/link.md",
    "artifacts/linked/deep.md",
    "memory/deep.md",
    "../outside/canary.md",
    "../outside/folder/deep.md",
];

const TOOLS: [&str; 6] = ["vfs_read", "vfs_write", "vfs_edit", "vfs_delete", "vfs_list", "vfs_search"];

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("paths", SPELLINGS / SPELLINGS_PER_CASE, try_case)
}

fn try_case(case: &mut Case) {
    let calls: Vec<Try> = (0..SPELLINGS_PER_CASE as usize)
        .map(|number| {
            let tool = *case.chance.one_of(&TOOLS);
            (tool.to_owned(), plain(tool, &anywhere(&mut case.chance), number))
        })
        .collect();
    case.count("spellings", SPELLINGS_PER_CASE);
    Siege::lay(case, REACH).tries(calls, Vec::new());
}

/// A spelling of a path that the agent may not use.
pub fn anywhere(chance: &mut Chance) -> String {
    let mut path = (*chance.one_of(&TARGETS)).to_owned();
    for _ in 0..chance.between(0, 3) {
        path = respelled(chance, path);
    }
    path
}

/// Another spelling of the path, or a path that could be mistaken for it.
fn respelled(chance: &mut Chance, path: String) -> String {
    let at = chance.below(path.chars().count().max(1));
    let byte = path.char_indices().nth(at).map_or(0, |(byte, _)| byte);
    let with = |piece: &str| format!("{}{piece}{}", &path[..byte], &path[byte..]);
    match chance.below(26) {
        0 => format!("./{path}"),
        1 => format!("artifacts/../{path}"),
        2 => path.replace('/', "//"),
        3 => path.replace('/', "/./"),
        4 => path.replace('/', "\\"),
        5 => format!("{path}/"),
        6 => format!("{path}."),
        7 => format!("{path} "),
        8 => format!(" {path}"),
        9 => format!("/{path}"),
        10 => path.to_uppercase(),
        11 => path.chars().enumerate().map(|(n, c)| if n == at { c.to_ascii_uppercase() } else { c }).collect(),
        12 => path.replace('é', "e\u{301}"),
        13 => path.replace("e\u{301}", "é").replace('e', "é"),
        14 => path.replace('.', "%2e").replace('/', "%2f"),
        15 => path.replace('/', "\u{2215}").replace('.', "\u{2024}"),
        16 => path.replace('/', "\u{ff0f}").replace('.', "\u{ff0e}"),
        17 => with("\u{200b}"),
        18 => with("\u{0}"),
        19 => with("\u{ad}"),
        20 => path.replace('a', "\u{430}").replace('o', "\u{43e}"),
        21 => format!("file://{path}"),
        22 => format!("~/{path}"),
        23 => with("\u{301}"),
        24 => format!("{path}::$DATA"),
        _ => format!("artifacts/linked/../../{path}"),
    }
}
