//! Whether a script loads or starts files whose names it composes itself, so that its text does not name them:
//! `. "parts/$name"`, `"$@"`, `require(name)`, `subprocess.run(command)`. Pure. Errs on the side of yes, within the usual ways to load and start;
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
    text.lines().map(str::trim).filter(|line| !is_comment(line)).any(|line| {
        let (whole, inner) = (without_substitutions(line), line.replace("$(", " ; "));
        let lines = [whole.as_str(), inner.as_str()];
        calls_composed(line, is_python)
            || lines.iter().any(|line| follows_word(line) || is_shell && starts_composed(line))
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

/// A line in which what commands print is a variable: `"$(dirname "$0")/a"` becomes `"$_/a"`.
fn without_substitutions(line: &str) -> String {
    let mut left = String::with_capacity(line.len());
    let (mut depth, mut before) = (0_usize, ' ');
    for c in line.chars() {
        match c {
            '(' if depth > 0 || before == '$' => {
                if depth == 0 {
                    left.push('_');
                }
                depth += 1;
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => left.push(c),
            _ => {}
        }
        before = c;
    }
    left
}

/// Whether a function that loads or starts something gets something else than a whole text: `require(name)`.
fn calls_composed(line: &str, is_python: bool) -> bool {
    line.match_indices('(').any(|(at, _)| {
        let before = line[..at].trim_end();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let function = &before[before.trim_end_matches(is_part).len()..];
        let last = function.rsplit('.').next().unwrap_or_default();
        // `from a import (b, c)` names modules.
        let is_call = FUNCTIONS.iter().any(|name| *name == last || name.contains('.') && function.ends_with(name))
            && !(is_python && last == "import")
            || PLAIN_FUNCTIONS.contains(&function);
        is_call && is_composed_argument(line[at + 1..].trim_start_matches(['(', '[', ' ']))
    })
}

/// Whether an argument is no text, or a text whose last part is not only written down.
fn is_composed_argument(argument: &str) -> bool {
    // A text may have its kind before it: `f"{name}"`, `r"a"`.
    let kind = argument.len() - argument.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
    let rest = if kind <= 2 && argument[kind..].starts_with(['"', '\'']) { &argument[kind..] } else { argument };
    match rest.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => {
            let content = rest[1..].split(quote).next().unwrap_or_default();
            let after = rest[1 + content.len()..].trim_start_matches(quote).trim_start();
            after.starts_with(['+', '.', '%']) || last_part(content).contains(['$', '{'])
        }
        Some('$' | '@') => true,
        Some(first) => (first.is_alphabetic() || first == '_') && !ends_with_name(first_argument(argument)),
        None => false,
    }
}

/// The first of several arguments.
fn first_argument(arguments: &str) -> &str {
    let mut depth = 0_usize;
    let end = arguments.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            ')' | ']' | ',' if depth == 0 => return true,
            _ => {}
        }
        false
    });
    &arguments[..end.unwrap_or(arguments.len())]
}

/// Whether a path is joined whose last part is a text: `path.join(folder, 'a.js')`, `folder / "a.py"`, `folder + '/a.js'`.
fn ends_with_name(joined: &str) -> bool {
    let joined = joined.trim_end_matches([')', ' ']);
    let Some(quote) = joined.chars().next_back().filter(|quote| ['"', '\'', '`'].contains(quote)) else { return false };
    let inner = &joined[..joined.len() - 1];
    let Some(start) = inner.rfind(quote) else { return false };
    let (before, text) = (inner[..start].trim_end(), &inner[start + 1..]);
    let is_part = before.ends_with([',', '/']) || before.ends_with('+') && text.starts_with('/');
    is_part && !last_part(text).is_empty() && !last_part(text).contains(['$', '{'])
}

/// Whether a word that loads or starts something is followed by one whose last part is a variable: `. "parts/$name"`.
fn follows_word(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let plain = word.trim_start_matches(['@', '-', '"', '\'', '`', '(', '$', '{', ';', '|', '&']);
        let name = if *word == "." { "." } else { last_part(plain) };
        SHELL_WORDS.contains(&name)
            && words[at + 1..].iter().find(|next| !next.starts_with('-')).is_some_and(|next| is_composed_word(next))
    })
}

/// Whether a command of a line of the shell is a word whose last part is a variable: `"$@"`, `$command --all`.
fn starts_composed(line: &str) -> bool {
    let mut commands = line.split([';', '|', '`']).flat_map(|part| part.split("&&"));
    commands.any(|command| {
        let mut words = command.split_whitespace().skip_while(|word| BEFORE_COMMANDS.contains(word));
        words.next().is_some_and(is_composed_word)
    })
}

/// Whether a word names a file by a variable. Options, redirections and assignments name none.
fn is_composed_word(word: &str) -> bool {
    let word = word.trim_matches(['"', ';', ')', '&', '|', '`']);
    let is_other = word.starts_with(['-', '[']) || word.starts_with("$((") || word.contains(['<', '>', '=']);
    !is_other && last_part(word).contains('$')
}

/// What follows the last slash.
fn last_part(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_end_with_a_variable_are_composed() {
        for (path, line) in [
            ("a.sh", ". \"$part\""),
            ("a.sh", "for part in parts/*; do . \"$part\"; done"),
            ("a.sh", "source ${DIR}/$NAME"),
            ("a.sh", ". \"parts/$name.sh\""),
            ("a.sh", ". \"$(dirname \"$0\")/$name.sh\""),
            ("a.sh", "parts/$name --all"),
            ("a.sh", "$(cat command) one"),
            ("a.sh", "made=$(sh \"$tool\")"),
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
            ("a.py", "runpy.run_path(\"parts/\" + name)"),
            ("a.py", "import_module('parts.%s' % name)"),
            ("a.py", "import_module('parts.{}'.format(name))"),
            ("a.js", "const part = require(name);"),
            ("a.js", "await import(`./parts/${name}.js`);"),
            ("a.js", "const part = require('./parts/' + name);"),
            ("a.js", "require(path.join(__dirname, name))"),
            ("a.js", "require(name + '.js')"),
            ("a.js", "spawn(tool, 'one')"),
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
            ("a.sh", ". \"$(dirname \"$0\")/lib.sh\""),
            ("a.sh", "here=$(cd \"$(dirname \"$0\")\" && pwd)"),
            ("a.sh", "exec 3> \"$out\""),
            ("a.sh", "\"$HERE/tools/run.sh\" one"),
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
            ("a.js", "require(path.join(__dirname, 'parts', 'one.js'))"),
            ("a.js", "require(__dirname + '/one.js')"),
            ("a.py", "runpy.run_path(os.path.join(here, 'one.py'))"),
            ("a.py", "runpy.run_path(Path(__file__).parent / \"one.py\")"),
            ("a.js", "app.use(handler); promise.resolve(value);"),
            ("notes.json", "{ \"run\": \"one\" }"),
        ] {
            assert!(!composes_names(path, line), "{path}: {line}");
        }
    }
}
