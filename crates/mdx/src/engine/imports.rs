//! The imports of code: only files that were passed in with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Module, Result, Runtime};

use super::program::Program;

/// The error for an import that cannot be resolved.
const NO_SUCH_FILE: &str = "there is no such file in the agent's folder, or it cannot be read";

/// The files that code may import, by their path in the folder, with `/` between components.
#[derive(Clone, Default)]
pub(super) struct Imports(pub(super) Arc<BTreeMap<String, Arc<Program>>>);

impl Imports {
    pub(super) fn install(self, runtime: &Runtime) {
        runtime.set_loader(self.clone(), self);
    }

    /// Resolves an import in a file of the folder.
    fn find(&self, base: &str, name: &str) -> Option<String> {
        import_candidates(base, name).into_iter().find(|path| self.0.contains_key(path))
    }
}

/// Returns the paths in the folder that an import may refer to, the most likely first: as written, with a TypeScript
/// extension, or as a folder with an index. Empty if it is no relative path, or leads out of the folder.
pub fn import_candidates(base: &str, name: &str) -> Vec<String> {
    if !is_relative(name) {
        return Vec::new();
    }
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let Some(path) = joined(folder, name) else { return Vec::new() };
    let as_ts = path.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
    let tried = [Some(path.clone()), as_ts, Some(format!("{path}.ts")), Some(format!("{path}/index.ts"))];
    tried.into_iter().flatten().collect()
}

fn is_relative(name: &str) -> bool {
    name.starts_with("./") || name.starts_with("../")
}

/// Joins a relative path to a folder; `None` if it leads out of the root.
fn joined(folder: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let refuse = |why: String| Error::new_resolving_message(base, name, why);
        if !is_relative(name) {
            return Err(refuse(
                "packages are not available; copy what you need into a file of the folder and import it by its \
                 relative path, as ./helper.ts"
                    .to_owned(),
            ));
        }
        if self.0.is_empty() {
            return Err(refuse("a tool cannot import files; put everything into its code block".to_owned()));
        }
        self.find(base, name).ok_or_else(|| refuse(NO_SUCH_FILE.to_owned()))
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let program = self.0.get(name).ok_or_else(|| Error::new_loading(name))?;
        Module::declare(ctx.clone(), name, program.code.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports_are_resolved() {
        let program = Arc::new(Program::default());
        let files = ["a.ts", "lib/b.ts", "lib/index.ts"].map(|path| (path.to_owned(), program.clone()));
        let imports = Imports(Arc::new(files.into_iter().collect()));
        for (base, name, found) in [
            ("lib/b.ts", "../a.ts", Some("a.ts")),
            ("a.ts", "./lib/b", Some("lib/b.ts")),
            ("a.ts", "./lib/b.js", Some("lib/b.ts")),
            ("a.ts", "./lib", Some("lib/index.ts")),
            ("a.ts", "./c", None),
            ("a.ts", "../../a.ts", None),
            ("lib/b.ts", "./index", Some("lib/index.ts")),
        ] {
            assert_eq!(imports.find(base, name).as_deref(), found, "{name} from {base}");
        }
    }
}
