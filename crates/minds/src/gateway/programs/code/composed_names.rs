//! Whether a script loads or starts files whose names it composes itself, so that its text does not name them: `. "$part"`,
//! `"$@"`, `require(name)`, `subprocess.run(command)`. Pure. Errs on the side of yes, within the usual ways to load and start;
//! a text that hides what it does on purpose is not seen through.

use super::code_references::Language;
use crate::base::paths::file_name;

/// Words after which a file is loaded or started, in the shell and in build files, with the file as the next word.
#[rustfmt::skip]
const SHELL_WORDS: &[&str] = &[
    ".", "ash", "bash", "bun", "dash", "deno", "eval", "exec", "fish", "include", "include_once", "ksh", "lua", "node",
    "nodejs", "perl", "php", "pypy3", "python", "python2", "python3", "require", "require_once", "ruby", "sh", "source",
    "xargs", "zsh",
];
/// Functions that load or start what their first argument names.
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "Popen", "SourceFileLoader", "__import__", "check_call", "check_output", "dofile", "execFile", "execFileSync",
    "execSync", "execl", "execlp", "execv", "execve", "execvp", "fork", "getoutput", "import", "import_module",
    "include", "include_once", "load_source", "loadfile", "popen", "require", "require_once", "require_relative",
    "run_module", "run_path", "spawn", "spawnSync", "spec_from_file_location", "subprocess.call", "subprocess.run",
    "system",
];
/// Functions that do so only if they are not methods: `exec(text)`, unlike `pattern.exec(text)`.
const PLAIN_FUNCTIONS: &[&str] = &["eval", "exec", "execfile", "load"];
/// Words of the shell before a command.
const BEFORE_COMMANDS: &[&str] =
    &["!", "&", "do", "else", "env", "if", "nohup", "sudo", "then", "time", "until", "while", "{", "("];
/// Extensions of scripts of a shell.
const SHELL_EXTENSIONS: &[&str] = &["ash", "bash", "fish", "ksh", "sh", "zsh"];

/// Whether the text of the file at this path composes the name of something that it loads or starts.
pub(super) fn composes_names(path: &str, text: &str) -> bool {
    let is_python = Language::of(path, text) == Language::Python;
    let is_shell = is_shell(path, text);
    text.lines().any(|line| {
        let line = line.trim();
        !is_comment(line)
            && (calls_composed(line, is_python) || follows_word(line) || is_shell && starts_composed(line))
    })
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//") || line.starts_with("* ")
}

/// Whether the file is a script of a shell.
fn is_shell(path: &str, text: &str) -> bool {
    let extension = file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension);
    let shebang = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    SHELL_EXTENSIONS.contains(&extension) || shebang.ends_with("sh") || shebang.contains("sh ")
}

/// Whether a function that loads or starts something gets something else than a text: `require(name)`.
fn calls_composed(line: &str, is_python: bool) -> bool {
    line.match_indices('(').any(|(at, _)| {
        let before = line[..at].trim_end();
        let start = before
            .rfind(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .map_or(0, |last| last + before[last..].chars().next().map_or(0, char::len_utf8));
        let function = &before[start..];
        let last = function.rsplit('.').next().unwrap_or_default();
        // `from a import (b, c)` names modules.
        let is_call = FUNCTIONS.iter().any(|name| *name == last || function.ends_with(name) && name.contains('.'))
            && !(is_python && last == "import")
            || PLAIN_FUNCTIONS.contains(&function);
        is_call && is_composed_argument(line[at + 1..].trim_start_matches(['(', '[', ' ']))
    })
}

/// Whether an argument is no text, or a text of variables alone.
fn is_composed_argument(argument: &str) -> bool {
    let mut rest = argument;
    // A text may have its kind before it: `f"{name}"`, `r"a"`.
    let kind: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
    if kind.len() <= 2 && rest[kind.len()..].starts_with(['"', '\'']) {
        rest = &rest[kind.len()..];
    }
    match rest.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => {
            let content = rest[1..].split(quote).next().unwrap_or_default();
            let after = rest[1 + content.len()..].trim_start_matches(quote).trim_start();
            has_variable(content) && !has_literal(content) || content.is_empty() && after.starts_with(['+', '.'])
        }
        Some('$' | '@') => true,
        Some(first) => first.is_alphabetic() || first == '_',
        None => false,
    }
}

/// Whether a word that loads or starts something is followed by a word of variables alone: `. "$part"`.
fn follows_word(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let plain = word.trim_start_matches(['@', '-', '"', '\'', '`', '(', '$', '{', ';', '|', '&']);
        let name = if *word == "." { "." } else { plain.rsplit('/').next().unwrap_or_default() };
        SHELL_WORDS.contains(&name)
            && words[at + 1..].iter().find(|next| !next.starts_with('-')).is_some_and(|next| is_variable_word(next))
    })
}

/// Whether a command of a line of the shell is a word of variables alone: `"$@"`, `$command --all`.
fn starts_composed(line: &str) -> bool {
    let mut commands = line.split([';', '|', '`']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("$("));
    commands.any(|command| {
        let mut words = command.split_whitespace().skip_while(|word| BEFORE_COMMANDS.contains(word));
        words.next().is_some_and(is_variable_word)
    })
}

/// Whether a word is a variable, or several, without anything that names a file.
fn is_variable_word(word: &str) -> bool {
    let word = word.trim_matches(['"', ';', ')', '&', '|', '`']);
    word.starts_with('$') && !word.starts_with("$((") && has_variable(word) && !has_literal(word)
}

/// Whether a text has a variable: `$name`, `${name}`, `{name}`.
fn has_variable(text: &str) -> bool {
    text.contains(['$', '{'])
}

/// Whether a text has letters or digits outside of its variables.
fn has_literal(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut is_name = false;
    for c in text.chars() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            '$' => is_name = true,
            c if is_name && (c.is_alphanumeric() || c == '_' || c == '@' || c == '*') => {}
            c if depth == 0 && c.is_alphanumeric() => return true,
            _ => is_name = false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_alone_are_composed() {
        for (path, line) in [
            ("a.sh", ". \"$part\""),
            ("a.sh", "for part in parts/*; do . \"$part\"; done"),
            ("a.sh", "source ${DIR}/$NAME"),
            ("a.sh", "\"$@\""),
            ("a.sh", "if true; then $command --all; fi"),
            ("a.sh", "made=$(\"$tool\" one)"),
            ("a.sh", "sh -e \"$1\" one"),
            ("a.sh", "exec $runner"),
            ("run", "#!/bin/sh\n$1"),
            ("a.py", "subprocess.run([tool, 'one'])"),
            ("a.py", "importlib.import_module(name)"),
            ("a.py", "module = __import__(f'{name}')"),
            ("a.py", "os.system(command)"),
            ("a.py", "exec(open(path).read())"),
            ("a.py", "runpy.run_path(\"\" + name)"),
            ("a.js", "const part = require(name);"),
            ("a.js", "await import(`${name}`);"),
            ("a.js", "spawnSync(tool, ['one'])"),
            ("a.php", "require $part;"),
            ("Makefile", "\tsh $(PART)"),
        ] {
            assert!(composes_names(path, line), "{path}: {line}");
        }
    }

    #[test]
    fn named_files_and_other_uses_of_variables_are_not() {
        for (path, line) in [
            ("a.sh", ". ./lib.sh"),
            ("a.sh", ". \"$DIR/lib.sh\""),
            ("a.sh", "sh tools/run.sh \"$1\""),
            ("a.sh", "echo \"$1\" > made"),
            ("a.sh", "# . \"$part\""),
            ("a.sh", "name=$1"),
            ("a.sh", "[ \"$1\" = one ] && echo $((1 + 2))"),
            ("a.py", "from parts import (one, two)"),
            ("a.py", "subprocess.run(['ls', name])"),
            ("a.py", "importlib.import_module('parts.one')"),
            ("a.py", "print(name)"),
            ("a.js", "const part = require('./part');"),
            ("a.js", "while ((found = pattern.exec(text))) count(found);"),
            ("a.js", "spawn('node', [name])"),
            ("a.js", "app.use(handler); promise.resolve(value);"),
            ("notes.json", "{ \"run\": \"one\" }"),
        ] {
            assert!(!composes_names(path, line), "{path}: {line}");
        }
    }
}
