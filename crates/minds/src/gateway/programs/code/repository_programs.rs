//! The programs that the settings and hooks of git repositories name: commands of git would run them, whoever made the
//! repository. Most are switched off for programs of agents (`git_protection`), but not those under names of the
//! repository's own choice, and not by old versions of git; so a person is asked before the first such command, and after
//! each change.
//!
//! All settings of the repository count, also those of its worktrees and those that it includes under any condition, and
//! those of repositories below, which git visits as submodules. The person's own settings, in their home, do not.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::code_gaps::CodeGaps;
use super::seen_file::{CodeConcern, SeenFile, hash_of};
use crate::base::paths::folder_of;

/// The maximum size of a file of settings, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// The maximum number of files of settings.
const MAX_FILES: usize = 200;
/// The maximum number of repositories.
const MAX_REPOSITORIES: usize = 100;

/// Looks at the repository that commands of git in a folder use, given with the path of its `.git`, and at those below
/// the root. Returns `None` if they name no programs.
/// What cannot be looked at is noted as a gap.
pub(in crate::gateway) fn look(root: &Path, path: &str, below: &[String], gaps: &CodeGaps) -> Option<SeenFile> {
    let mut found = Found { root, gaps, lines: BTreeSet::new(), visited: BTreeSet::new() };
    let here = root.join(folder_of(path));
    // A repository without a name of its own, which a command names.
    if !here.join(".git").exists() && here.join("HEAD").is_file() && here.join("config").is_file() {
        found.add_repository(&here);
    } else if let Some(folder) = here.ancestors().find(|folder| folder.join(".git").exists()) {
        found.add_git_folder(&folder.join(".git"));
    }
    for folder in below.iter().take(MAX_REPOSITORIES) {
        found.add_git_folder(&root.join(folder).join(".git"));
    }
    if below.len() > MAX_REPOSITORIES {
        gaps.add(format!("{} more repositories were not checked", below.len() - MAX_REPOSITORIES));
    }
    if found.lines.is_empty() {
        return None;
    }
    let text = found.lines.into_iter().collect::<Vec<_>>().join("\n");
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    Some(SeenFile { hash, text, concern: Some(CodeConcern::NamesPrograms), ..SeenFile::default() })
}

/// The programs that were found.
struct Found<'a> {
    root: &'a Path,
    gaps: &'a CodeGaps,
    /// Where each is named, and by what.
    lines: BTreeSet<String>,
    visited: BTreeSet<PathBuf>,
}

impl Found<'_> {
    /// Adds what a `.git` is: a folder, or a file that names one.
    fn add_git_folder(&mut self, git: &Path) {
        match pointer(git, "gitdir:") {
            Some(target) => self.add_repository(&target),
            None => self.add_repository(git),
        }
    }

    fn add_repository(&mut self, folder: &Path) {
        let common = pointer(&folder.join("commondir"), "");
        for folder in common.iter().map(PathBuf::as_path).chain([folder]) {
            for name in ["config", "config.worktree"] {
                self.add_settings(&folder.join(name));
            }
            self.add_hooks(&folder.join("hooks"));
        }
    }

    fn add_hooks(&mut self, folder: &Path) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.gaps.add(format!("{}: it cannot be read: {error}", self.shown(folder)));
                }
                return;
            }
        };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        names.retain(|path| path.is_file() && path.extension().is_none_or(|extension| extension != "sample"));
        names.sort_unstable();
        if names.len() > MAX_FILES {
            self.gaps.add(format!("{} has more than {MAX_FILES} hooks", self.shown(folder)));
        }
        for hook in names.iter().take(MAX_FILES) {
            let hash = hash_of(hook).unwrap_or_else(|| {
                self.gaps.add(format!("{}: it cannot be read", self.shown(hook)));
                String::new()
            });
            self.lines.insert(format!("{} ({})", self.shown(hook), hash.get(..12).unwrap_or_default()));
        }
    }

    /// Adds the programs that a file of settings names, and those of the files that it includes.
    fn add_settings(&mut self, file: &Path) {
        if !file.is_file() || !self.visited.insert(file.to_owned()) {
            return;
        }
        if self.visited.len() > MAX_FILES {
            self.gaps.add(format!("git has more than {MAX_FILES} files of settings"));
            return;
        }
        let Some(text) = small_text(file) else {
            self.gaps.add(format!("{}: it cannot be read, or is longer than 1 MiB", self.shown(file)));
            return;
        };
        for (key, value) in settings(&text) {
            let section = key.split('.').next().unwrap_or_default();
            if matches!(section, "include" | "includeif") && key.ends_with(".path") {
                self.add_settings(&from_settings(file, &value));
            } else if names_program(&key, &value) {
                self.lines.insert(format!("{}: {key} = {value}", self.shown(file)));
            }
        }
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }
}

/// The path that a file contains after a word, relative to its folder; `None` if it is no such file.
fn pointer(file: &Path, word: &str) -> Option<PathBuf> {
    let text = file.is_file().then(|| small_text(file))??;
    let target = text.strip_prefix(word)?.trim();
    Some(file.parent()?.join(target))
}

/// The path of an included file.
fn from_settings(file: &Path, value: &str) -> PathBuf {
    let home = value.strip_prefix("~/").and_then(|rest| Some(PathBuf::from(std::env::var_os("HOME")?).join(rest)));
    home.unwrap_or_else(|| file.parent().unwrap_or(file).join(value))
}

fn small_text(file: &Path) -> Option<String> {
    let is_small = file.metadata().ok()?.len() <= MAX_BYTES;
    let bytes = is_small.then(|| fs::read(file).ok())??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The settings in a file of git: keys with sections, in lower case except for the middle part, and values.
fn settings(text: &str) -> Vec<(String, String)> {
    let joined = text.trim_start_matches('\u{feff}').replace("\\\r\n", "").replace("\\\n", "");
    let (mut section, mut settings) = (String::new(), Vec::new());
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let (heading, after) = heading(rest);
            section = heading;
            line = after.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or((line, "true"));
        settings.push((format!("{section}.{}", name.trim().to_lowercase()), plain_value(value)));
    }
    settings
}

/// The section in a heading after its first bracket, and the rest of the line.
fn heading(text: &str) -> (String, &str) {
    let (mut name, mut is_quoted, mut is_escaped) = (String::new(), false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => {
                name.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => {
                if !is_quoted {
                    name.push('.');
                }
                is_quoted = !is_quoted;
            }
            ']' if !is_quoted => return (name, &text[at + 1..]),
            c if is_quoted => name.push(c),
            c if c.is_whitespace() => {}
            c => name.extend(c.to_lowercase()),
        }
    }
    (name, "")
}

/// A value without quotes and the comment after it.
fn plain_value(value: &str) -> String {
    let (mut plain, mut is_quoted, mut is_escaped) = (String::new(), false, false);
    for c in value.chars() {
        match c {
            _ if is_escaped => {
                plain.push(c);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            c => plain.push(c),
        }
    }
    plain.trim().to_owned()
}

/// Whether git may run what a setting says.
fn names_program(key: &str, value: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    let is_switch = matches!(&*value.to_lowercase(), "" | "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1");
    match (section, name) {
        ("diff", "external" | "command" | "textconv")
        | ("filter", "clean" | "smudge" | "process")
        | ("merge", "driver")
        | ("core", "pager" | "editor" | "sshcommand" | "gitproxy" | "alternaterefscommand")
        | ("gpg", "program" | "defaultkeycommand")
        | ("interactive", "difffilter")
        | ("sequence", "editor")
        | ("credential", "helper")
        | ("remote", "uploadpack" | "receivepack" | "vcs")
        | ("difftool" | "mergetool" | "guitool" | "browser" | "man", "cmd" | "path")
        | ("web", "browser")
        | ("instaweb", "httpd" | "browser")
        | ("trailer", "command" | "cmd")
        | ("hook" | "tar", "command")
        | ("uploadpack", "packobjectshook")
        | ("sendemail", "sendmailcmd" | "tocmd" | "cccmd" | "headercmd" | "smtpserver")
        | ("imap", "tunnel") => !value.is_empty(),
        ("core", "fsmonitor" | "hookspath" | "askpass") | ("pager", _) => !is_switch,
        ("alias", _) => !value.is_empty(),
        ("submodule", "update") => value.starts_with('!'),
        ("protocol", "allow") => value != "never",
        // Transports such as `ext::` run what follows.
        (
            "remote" | "url" | "submodule" | "branch",
            "url" | "pushurl" | "insteadof" | "pushinsteadof" | "remote" | "pushremote" | "pushdefault",
        ) => value.contains("::") || key.contains("::"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        folder
    }

    fn looked(files: &[(&str, &str)], below: &[&str]) -> String {
        let below: Vec<String> = below.iter().map(|path| (*path).to_owned()).collect();
        let gaps = CodeGaps::default();
        let seen = look(folder_with(files).path(), ".git", &below, &gaps).map(|seen| seen.text).unwrap_or_default();
        assert_eq!(gaps.described(), None, "{files:?}");
        seen
    }

    #[test]
    fn each_setting_that_names_a_program_is_found() {
        for (text, line) in [
            ("[diff]\n\texternal = sh x.sh\n", "diff.external = sh x.sh"),
            ("[diff \"own\"]\n\tcommand = x\n", "diff.own.command = x"),
            ("[diff \"own\"]\n\tTextConv = \"x y\" # note\n", "diff.own.textconv = x y"),
            ("[diff.own]\ncommand=x", "diff.own.command = x"),
            ("[filter \"a\"] clean = x\n", "filter.a.clean = x"),
            ("[branch \"a\"]\n\tpushRemote = ext::x\n", "branch.a.pushremote = ext::x"),
            ("[remote]\n\tpushDefault = ext::x\n", "remote.pushdefault = ext::x"),
            ("[filter \"a\"]\n\tprocess = \\\n  x\n", "filter.a.process = x"),
            ("[merge \"a\"]\n\tdriver = x %O\n", "merge.a.driver = x %O"),
            ("[core]\n\tfsmonitor = sh x.sh\n", "core.fsmonitor = sh x.sh"),
            ("[core]\n\thooksPath = hooks\n", "core.hookspath = hooks"),
            ("[CORE]\n\tPAGER = x\n", "core.pager = x"),
            ("[core]\n\tsshCommand = x\n", "core.sshcommand = x"),
            ("[alias]\n\tst = !sh x.sh\n", "alias.st = !sh x.sh"),
            ("[alias]\n\tst = diff --ext-diff\n", "alias.st = diff --ext-diff"),
            ("[gpg]\n\tprogram = x\n[log]\n\tshowSignature = true\n", "gpg.program = x"),
            ("[gpg \"openpgp\"]\n\tprogram = x\n", "gpg.openpgp.program = x"),
            ("[interactive]\n\tdiffFilter = x\n", "interactive.difffilter = x"),
            ("[credential \"https://a.example\"]\n\thelper = !x\n", "credential.https://a.example.helper = !x"),
            ("[remote \"origin\"]\n\tuploadpack = x\n", "remote.origin.uploadpack = x"),
            ("[remote \"origin\"]\n\turl = ext::sh -c x\n", "remote.origin.url = ext::sh -c x"),
            ("[url \"ext::x \"]\n\tinsteadOf = https://a/\n", "url.ext::x .insteadof = https://a/"),
            ("[protocol \"ext\"]\n\tallow = always\n", "protocol.ext.allow = always"),
            ("[submodule \"a\"]\n\tupdate = !x\n", "submodule.a.update = !x"),
            ("[pager]\n\tlog = x\n", "pager.log = x"),
        ] {
            assert!(looked(&[(".git/config", text)], &[]).contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn ordinary_settings_name_no_programs() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = true\n; [diff] external = x\n\
            [remote \"origin\"]\n\turl = git@a.example:b/c.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n[pager]\n\tdiff = false\n[user]\n\tname = A\n";
        let sample = (".git/hooks/pre-commit.sample", "x");
        assert_eq!(looked(&[(".git/config", text), sample], &[]), "");
        assert_eq!(looked(&[("a.md", "x")], &[]), "");
    }

    #[test]
    fn settings_are_found_wherever_the_repository_has_them() {
        let named = "[diff]\n\texternal = x\n";
        let plain = "[core]\n\tbare = false\n";
        let cases: [(&[(&str, &str)], &[&str]); 8] = [
            (&[(".git/config", "[include]\n\tpath = ../more\n"), ("more", named)], &[]),
            (&[(".git/config", "[includeIf \"onbranch:x\"]\n\tpath = more\n"), (".git/more", named)], &[]),
            (&[(".git/config", plain), (".git/config.worktree", named)], &[]),
            (&[(".git", "gitdir: artifacts/r\n"), ("artifacts/r/config", named)], &[]),
            (&[(".git", "gitdir: r/w\n"), ("r/w/commondir", "..\n"), ("r/config", named)], &[]),
            (&[(".git/config", plain), ("sub/.git/config", named)], &["", "sub"]),
            (&[(".git/config", plain), ("sub/.git", "gitdir: ../r\n"), ("r/config", named)], &["", "sub"]),
            (&[("HEAD", "ref: refs/heads/main\n"), ("config", named)], &[]),
        ];
        for (files, below) in cases {
            assert!(looked(files, below).contains("diff.external = x"), "{files:?}");
        }
        assert!(looked(&[(".git/config", plain), (".git/hooks/post-index-change", "x")], &[]).contains("post-index"));
    }

    #[test]
    fn a_repository_around_the_workspace_counts() {
        let folder = folder_with(&[(".git/config", "[diff]\n\texternal = x\n"), ("room/settings.yaml", "")]);
        let seen = look(&folder.path().join("room"), ".git", &[], &CodeGaps::default()).expect("it names a program");
        assert_eq!(seen.concern, Some(CodeConcern::NamesPrograms));
    }

    #[test]
    fn nothing_ends_silently_at_a_limit() {
        let long = "#".repeat(usize::try_from(MAX_BYTES).expect("it is small") + 1);
        let hooks: Vec<(String, &str)> = (0..=MAX_FILES).map(|number| (format!(".git/hooks/{number}"), "x")).collect();
        let hooks: Vec<(&str, &str)> = hooks.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let includes: Vec<(String, String)> = (0..=MAX_FILES)
            .map(|number| (format!(".git/{number}"), format!("[include]\n\tpath = {}\n", number + 1)))
            .collect();
        let mut includes: Vec<(&str, &str)> = includes.iter().map(|(path, text)| (path.as_str(), &**text)).collect();
        includes.push((".git/config", "[include]\n\tpath = 0\n"));
        let repositories: Vec<String> = (0..=MAX_REPOSITORIES).map(|number| number.to_string()).collect();
        let cases: [(&[(&str, &str)], &[String], &str); 4] = [
            (&[(".git/config", &long)], &[], ".git/config: it cannot be read, or is longer"),
            (&hooks, &[], ".git/hooks has more than 200 hooks"),
            (&includes, &[], "more than 200 files of settings"),
            (&[(".git/config", "")], &repositories, "1 more repositories were not checked"),
        ];
        for (files, below, reason) in cases {
            let gaps = CodeGaps::default();
            look(folder_with(files).path(), ".git", below, &gaps);
            let reasons = gaps.described().unwrap_or_default();
            assert!(reasons.contains(reason), "{reason} in {reasons:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read(text in "[\\[\\]\"\\\\=#; a-z\n.]{0,200}") {
            settings(&text);
        }
    }
}
