//! `workshop completions` and `workshop man`: shell completion scripts and manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{CliError, CliResult, ExitStatus, output};

/// The arguments of `workshop completions`.
#[derive(Args)]
pub(super) struct CompletionArguments {
    /// The shell
    shell: Shell,
}

/// The arguments of `workshop man`.
#[derive(Args)]
pub(super) struct ManArguments {
    /// Write a page for each command to this folder; without it, print the main page
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Prints a completion script for a shell.
pub(super) fn completions(arguments: &CompletionArguments) -> CliResult {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "workshop", &mut script);
    output::result(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitStatus::Done)
}

/// Prints the main manual page, or writes all pages to a folder.
pub(super) fn man(arguments: &ManArguments) -> CliResult {
    let pages = pages().map_err(CliError::failed)?;
    let Some(folder) = &arguments.folder else {
        let (_, first) = pages.first().ok_or_else(|| CliError::failed("no such page"))?;
        output::result(first.trim_end())?;
        return Ok(ExitStatus::Done);
    };
    write_pages(folder, &pages)?;
    output::result(&format!("wrote {} pages to {}", pages.len(), folder.display()))?;
    Ok(ExitStatus::Done)
}

fn write_pages(folder: &Path, pages: &[(String, String)]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::failed(format!("cannot create {}: {error}", folder.display())))?;
    for (name, text) in pages {
        let place = folder.join(name);
        std::fs::write(&place, text)
            .map_err(|error| CliError::failed(format!("cannot write {}: {error}", place.display())))?;
    }
    Ok(())
}

/// All manual pages as (file name, text): the main page, then one per subcommand.
fn pages() -> std::io::Result<Vec<(String, String)>> {
    let mut program = super::Arguments::command();
    program.build();
    let mut pages = vec![page("workshop", &program)?];
    for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = format!("workshop-{}", command.get_name());
        pages.push(page(&name, command)?);
    }
    Ok(pages)
}

fn page(name: &str, command: &clap::Command) -> std::io::Result<(String, String)> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    Ok((format!("{name}.1"), String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::base::terminal_text::printable;

    #[test]
    fn every_subcommand_has_a_manual_page_with_its_options() {
        let pages = pages().expect("pages are made in memory");
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(pages.len(), super::super::COMMANDS.len(), "the program's in place of that of help: {names:?}");
        let (_, run) = pages.iter().find(|(name, _)| name == "workshop-run.1").expect("there is one of run");
        for word in ["on\\-ask", "speed", "events", ".SH"] {
            assert!(run.contains(word), "{word}: {run}");
        }
        assert!(pages[0].1.contains("Exit codes"), "{}", pages[0].1);
    }

    #[test]
    fn completion_scripts_contain_no_unsafe_characters() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut super::super::Arguments::command(), "workshop", &mut script);
            let script = String::from_utf8(script).expect("it is text");
            assert!(script.contains("approvals"), "{shell}");
            assert_eq!(printable(&script), script, "{shell}");
        }
    }
}
