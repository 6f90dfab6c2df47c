//! Numbered names for files and elements whose intended name is already taken.

/// Compound extensions, which are not split.
const ENDINGS: [&str; 3] = [".task.md", ".agent.yaml", ".session.yaml"];

/// A path, followed by alternatives in case it is taken: `plan.md`, `plan-2.md`, `plan-3.md`, …
pub fn candidates(path: &str) -> impl Iterator<Item = String> + use<> {
    let name_at = path.rfind('/').map_or(0, |at| at + 1);
    let name = &path[name_at..];
    let known = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending).map(str::len)).filter(|at| *at > 0);
    let ending_at = known.or_else(|| name.rfind('.').filter(|at| *at > 0)).unwrap_or(name.len());
    let (stem, ending) = path.split_at(name_at + ending_at);
    std::iter::once(path.to_owned()).chain(numbered(stem, ending, 2))
}

/// Returns `rules-1`, `rules-2`, …, with an ending that may be empty.
pub fn numbered(stem: &str, ending: &str, first: u64) -> impl Iterator<Item = String> + use<> {
    let (stem, ending) = (stem.to_owned(), ending.to_owned());
    (first..=u64::MAX).map(move |number| format!("{stem}-{number}{ending}"))
}

/// Returns the first of these names that is not taken.
pub fn first_free(mut names: impl Iterator<Item = String>, is_taken: impl Fn(&str) -> bool) -> String {
    names.find(|name| !is_taken(name)).expect("there are more numbers than things")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_inserted_before_the_extension() {
        for (path, second) in [
            ("plan.md", "plan-2.md"),
            ("artifacts/v1.2/plan", "artifacts/v1.2/plan-2"),
            ("notes/.hidden", "notes/.hidden-2"),
            ("tasks/week.task.md", "tasks/week-2.task.md"),
            ("a", "a-2"),
        ] {
            assert_eq!(candidates(path).take(2).collect::<Vec<_>>(), [path, second]);
        }
    }

    #[test]
    fn the_first_free_name_is_used() {
        let is_taken = |name: &str| ["rules-1", "rules-2"].contains(&name);
        assert_eq!(first_free(numbered("rules", "", 1), is_taken), "rules-3");
    }
}
