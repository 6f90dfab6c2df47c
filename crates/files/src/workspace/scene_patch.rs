//! Changes a scene's text while preserving the rest of it: comments, order, style and unknown keys.
//!
//! The changes are applied to the data first; then the text is changed at exactly the values that differ. The result is
//! parsed again and compared with the data; if an unusual piece of YAML prevents the small change, the entry is
//! rewritten, and only if that fails too, the whole file. Settings, workflows and allowlists are changed the same way.
//!
//! `yamlpatch` (1.32.0) is not used: of the 50 edits in the tests, it produces the expected text for 30 (this module:
//! all). 5 result in wrong data without an error (a new text in `{ id: a, text: old }` leaves `{ id: new }`), 4 lose
//! comments, 2 are refused. Of 377 random edits of the property test, 166 are correct (this module: all). It takes 313
//! µs per edit (this module: 31) and adds ten crates, among them a parser in C: 0.7 MB. From 1.28 on it needs Rust
//! 1.97; the last version before that is correct less often.

use std::ops::Range;

use serde_json::{Map, Value};

use super::scene::{Relationship, SceneWrite};
use super::scene_file::{agent_id_of, id_of, relationship};
use super::yaml;
use super::yaml_syntax::{YamlItem, YamlNode, YamlShape, parse_syntax};

/// The size in bytes up to which a changed text is parsed again completely; of larger ones, only the outline is
/// checked.
const MAX_VERIFIED_BYTES: usize = 512 * 1024;

/// Applies writes to the scene's data. Writes to missing entries change nothing.
pub fn apply(root: &mut Value, writes: &[SceneWrite]) {
    if !root.is_object() {
        *root = Value::Object(Map::new());
    }
    for write in writes {
        match write {
            SceneWrite::Element { id, keys } => set_keys(root, "elements", id, keys),
            SceneWrite::Agent { id, keys } => set_keys(root, "agents", id, keys),
            SceneWrite::AddElement { keys } => add(root, "elements", keys),
            SceneWrite::AddAgent { keys } => add(root, "agents", keys),
            SceneWrite::RemoveElement { id } => remove(root, "elements", id),
            SceneWrite::RemoveAgent { id } => remove(root, "agents", id),
            SceneWrite::Relationships(list) => {
                let written = root.get("relationships").and_then(Value::as_array).cloned().unwrap_or_default();
                if root.get("relationships").is_some() || !list.is_empty() {
                    root["relationships"] = Value::Array(relationships(written, list));
                }
            }
            SceneWrite::Decor(change) => change.write(root),
            SceneWrite::File { .. } => {}
        }
    }
}

/// Returns the entries of a list of relationships. An existing entry is kept as written, with its unknown keys; entries
/// that are not relationships are kept at the end.
fn relationships(mut written: Vec<Value>, wanted: &[Relationship]) -> Vec<Value> {
    let mut take = |fits: &dyn Fn(&Relationship) -> bool| {
        let index = written.iter().position(|entry| relationship(entry).is_some_and(|known| fits(&known)))?;
        Some(written.remove(index))
    };
    let same: Vec<Option<Value>> = wanted.iter().map(|rope| take(&|known| known == rope)).collect();
    let mut entries = Vec::with_capacity(wanted.len());
    for (rope, same) in wanted.iter().zip(same) {
        let relabelled = || {
            let mut entry = take(&|known| known.from == rope.from && known.to == rope.to)?;
            entry["label"] = Value::String(rope.label.clone());
            Some(entry)
        };
        entries.extend(same.or_else(relabelled).or_else(|| serde_json::to_value(rope).ok()));
    }
    entries.extend(written.into_iter().filter(|entry| relationship(entry).is_none()));
    entries
}

fn entry_id(list: &str, entry: &Value) -> Option<crate::base::Id> {
    if list == "agents" { entry.as_object().and_then(agent_id_of) } else { id_of(entry.get("id")) }
}

fn find<'a>(root: &'a mut Value, list: &str, id: &str) -> Option<(usize, &'a mut Vec<Value>)> {
    let entries = root.get_mut(list)?.as_array_mut()?;
    let index = entries.iter().position(|entry| entry_id(list, entry).as_deref() == Some(id))?;
    Some((index, entries))
}

fn set_keys(root: &mut Value, list: &str, id: &str, keys: &Map<String, Value>) {
    let Some((index, entries)) = find(root, list, id) else { return };
    let Some(entry) = entries[index].as_object_mut() else { return };
    for (key, value) in keys {
        if value.is_null() {
            entry.shift_remove(key);
        } else {
            entry.insert(key.clone(), tidy(key, value));
        }
    }
}

fn add(root: &mut Value, list: &str, keys: &Map<String, Value>) {
    let entry = keys.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| (key.clone(), tidy(key, value)));
    let entry = Value::Object(entry.collect());
    if let Some(id) = entry_id(list, &entry)
        && find(root, list, &id).is_some()
    {
        return;
    }
    match root.get_mut(list).and_then(Value::as_array_mut) {
        Some(entries) => entries.push(entry),
        None => root[list] = Value::Array(vec![entry]),
    }
}

fn remove(root: &mut Value, list: &str, id: &str) {
    if let Some((index, entries)) = find(root, list, id) {
        entries.remove(index);
    }
}

/// Formats numbers as a person would write them: `300` instead of `300.0`, and positions without the digits that exceed
/// the precision of `f32`.
fn tidy(key: &str, value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let mut float = number.as_f64().unwrap_or_default();
            if key == "position" {
                float = (float as f32).to_string().parse().unwrap_or(float);
            }
            if float.fract() == 0.0 && float.abs() < 1e15 { Value::from(float as i64) } else { Value::from(float) }
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| tidy(key, item)).collect()),
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (name.clone(), tidy(if key == "position" { key } else { name }, value)))
            .collect(),
        other => other.clone(),
    }
}

/// Returns the text, whose data is `old`, changed to `new`.
pub fn patch(text: &str, old: &Value, new: &Value) -> String {
    if old == new {
        return text.to_owned();
    }
    let windows = text.contains("\r\n");
    let unix = if windows { text.replace("\r\n", "\n") } else { text.to_owned() };
    let patched = [false, true]
        .into_iter()
        .filter_map(|whole_entries| change(&unix, old, new, whole_entries))
        .find(|patched| parses_to(patched, new))
        .unwrap_or_else(|| {
            let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
            format!("{mark}{}", yaml::document(new))
        });
    if windows { patched.replace('\n', "\r\n") } else { patched }
}

fn parses_to(text: &str, wanted: &Value) -> bool {
    if text.len() > MAX_VERIFIED_BYTES {
        return parse_syntax(text).is_ok();
    }
    yaml::parse(text).is_ok_and(|found| found == *wanted)
}

/// A replacement of a range of the text.
type Splice = (Range<usize>, String);

fn change(text: &str, old: &Value, new: &Value, whole_entries: bool) -> Option<String> {
    let root = parse_syntax(text).ok()?;
    let mut patcher = Patcher { text, splices: Vec::new(), whole_entries };
    if root.shape == YamlShape::Absent {
        let mut patched = text.to_owned();
        end_line(&mut patched);
        patched.push_str(&yaml::document(new));
        return Some(patched);
    }
    patcher.value(&root, old, new, false, 0)?;
    let mut splices = patcher.splices;
    // At the same position, earlier splices come first.
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut patched = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, with) in splices {
        if range.start < at {
            return None;
        }
        patched.push_str(&text[at..range.start]);
        patched.push_str(&with);
        at = range.end;
    }
    patched.push_str(&text[at..]);
    end_line(&mut patched);
    Some(patched)
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') && text != "\u{feff}" {
        text.push('\n');
    }
}

struct Patcher<'a> {
    text: &'a str,
    splices: Vec<Splice>,
    /// Whether to rewrite whole entries of a list instead of changing values in them.
    whole_entries: bool,
}

impl Patcher<'_> {
    /// Changes the value at `node` from `old` to `new`. `depth` is the number of enclosing lists.
    fn value(&mut self, node: &YamlNode, old: &Value, new: &Value, in_flow: bool, depth: usize) -> Option<()> {
        if old == new {
            return Some(());
        }
        match (&node.shape, old, new) {
            (YamlShape::Map { flow, .. }, Value::Object(old), Value::Object(new))
                if !(self.whole_entries && depth > 0) =>
            {
                self.map(node, *flow, old, new, depth)
            }
            (YamlShape::Seq { flow, .. }, Value::Array(from), Value::Array(to)) if node.items().len() == from.len() => {
                if self.list(node, *flow, from, to, depth).is_none() {
                    self.replace(node, new, in_flow);
                }
                Some(())
            }
            _ => {
                self.replace(node, new, in_flow);
                Some(())
            }
        }
    }

    fn splice(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.splices.push((range, with.into()));
    }

    fn line_start(&self, at: usize) -> usize {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if start == 0 && self.text.starts_with('\u{feff}') { 3.min(at) } else { start }
    }

    /// Returns the end of the line, without its line break.
    fn line_end(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |newline| at + newline)
    }

    fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    /// Returns the indentation of this line's first key, after the dashes of lists.
    fn key_indent(&self, at: usize) -> usize {
        let line = &self.text[self.line_start(at)..at];
        line.len() - line.trim_start_matches([' ', '-']).len()
    }

    fn map(
        &mut self,
        node: &YamlNode,
        flow: bool,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let pairs = node.pairs();
        // Keys from a merge key have no text of their own.
        if old.keys().any(|key| !pairs.iter().any(|pair| pair.key == *key)) {
            return None;
        }
        if pairs.iter().all(|pair| !new.contains_key(&pair.key)) {
            self.replace(node, &Value::Object(new.clone()), flow);
            return Some(());
        }
        for pair in pairs {
            match (old.get(&pair.key), new.get(&pair.key)) {
                (Some(old), Some(new)) => self.value(&pair.value, old, new, flow, depth)?,
                (Some(_), None) => {}
                (None, _) => return None,
            }
        }
        let spans: Vec<_> = pairs.iter().map(|pair| (pair.start, pair_end(pair))).collect();
        let survives: Vec<_> = pairs.iter().map(|pair| new.contains_key(&pair.key)).collect();
        self.remove_parts(flow, &spans, &survives);
        let column = self.column(pairs[0].start);
        let mut added = String::new();
        for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
            if flow {
                added.push_str(&format!(", {}: {}", yaml::scalar(key), yaml::inline(value)));
            } else {
                added.push_str(&format!(
                    "\n{}{}:{}",
                    " ".repeat(column),
                    yaml::scalar(key),
                    yaml::block(value, column + 2)
                ));
            }
        }
        if !added.is_empty() {
            let last = pairs.iter().rposition(|pair| new.contains_key(&pair.key))?;
            let end = pair_end(&pairs[last]);
            self.splice_after(flow, end, added);
        }
        Some(())
    }

    fn splice_after(&mut self, flow: bool, end: usize, added: String) {
        let at = if flow { end } else { self.line_end(end) };
        self.splice(at..at, added);
    }

    /// Removes the pairs of a mapping or the entries of a list whose `survives` is false.
    fn remove_parts(&mut self, flow: bool, spans: &[(usize, usize)], survives: &[bool]) {
        let mut covered = 0;
        for (index, (start, end)) in spans.iter().copied().enumerate() {
            if survives[index] || start < covered {
                continue;
            }
            let survivor = (index + 1..spans.len()).find(|later| survives[*later]);
            let range = if flow {
                match survivor {
                    Some(_) => start..spans[index + 1].0,
                    None if index > 0 => spans[index - 1].1..end,
                    None => start..end,
                }
            } else if self.text[self.line_start(start)..start].trim_matches(' ').is_empty() {
                // Removes the line break before the line rather than its own, because something may be inserted after
                // it.
                let line = self.line_start(start);
                match self.text[..line].strip_suffix('\n') {
                    Some(before) => before.len()..self.line_end(end),
                    None => line..(self.line_end(end) + 1).min(self.text.len()),
                }
            } else {
                // The first pair shares its line with a dash, so the next remaining pair moves up to it.
                start..survivor.map_or(end, |later| spans[later].0)
            };
            covered = range.end;
            self.splice(range, "");
        }
    }

    /// Changes, removes and appends entries. `None` if entries were reordered or inserted.
    fn list(&mut self, node: &YamlNode, flow: bool, old: &[Value], new: &[Value], depth: usize) -> Option<()> {
        let items = node.items();
        let pairs = align(old, new)?;
        if items.is_empty() || (flow && pairs.iter().all(Option::is_none)) {
            return None;
        }
        if pairs.iter().all(Option::is_none) {
            self.replace_all(items, new);
            return Some(());
        }
        let kept = pairs.iter().flatten().count();
        for (index, to) in pairs.iter().enumerate().filter_map(|(index, to)| Some((index, (*to)?))) {
            let before = self.splices.len();
            if self.value(&items[index].value, &old[index], &new[to], flow, depth + 1).is_none() {
                self.splices.truncate(before);
                self.replace(&items[index].value, &new[to], flow);
            }
        }
        let spans: Vec<_> = items.iter().map(|item| (item.start, item.value.end.max(item.start + 1))).collect();
        let survives: Vec<_> = pairs.iter().map(Option::is_some).collect();
        self.remove_parts(flow, &spans, &survives);
        let last = pairs.iter().rposition(Option::is_some)?;
        let end = items[last].value.end.max(items[last].start + 1);
        let mut added = String::new();
        for entry in &new[kept..] {
            if flow {
                added.push_str(&format!(", {}", yaml::inline(entry)));
            } else {
                let column = self.column(items[0].start);
                let written = match (&items[last].value.shape, entry) {
                    (YamlShape::Map { flow: false, .. }, Value::Object(keys)) if !keys.is_empty() => {
                        yaml::block_item(keys, column + 2)
                    }
                    _ => yaml::item_text(entry, column + 2),
                };
                added.push_str(&format!("\n{}-{written}", " ".repeat(column)));
            }
        }
        if !added.is_empty() {
            self.splice_after(flow, end, added);
        }
        Some(())
    }

    /// Removes every entry of a list with dashes. New ones, or `[]`, replace the last one, so that comments between
    /// them are kept.
    fn replace_all(&mut self, items: &[YamlItem], new: &[Value]) {
        let spans: Vec<_> = items.iter().map(|item| (item.start, item.value.end.max(item.start + 1))).collect();
        let last = items.len() - 1;
        let survives: Vec<_> = (0..items.len()).map(|index| index == last).collect();
        self.remove_parts(false, &spans, &survives);
        let column = self.column(spans[last].0);
        let entries: Vec<_> = new.iter().map(|entry| format!("-{}", yaml::item_text(entry, column + 2))).collect();
        let written = if new.is_empty() { "[]".to_owned() } else { entries.join(&format!("\n{}", " ".repeat(column))) };
        self.splice(spans[last].0..spans[last].1, written);
    }

    /// Replaces the whole value, in the style of its surroundings.
    fn replace(&mut self, node: &YamlNode, new: &Value, in_flow: bool) {
        let was_flow = matches!(node.shape, YamlShape::Map { flow: true, .. } | YamlShape::Seq { flow: true, .. });
        let first_entries =
            node.items().is_empty() && new.as_array().is_some_and(|items| items.iter().any(Value::is_object));
        if in_flow || (was_flow && !first_entries && yaml::fits_inline(new)) {
            let blank = self.text[..node.start].ends_with([':', '-', ',']);
            self.splice(node.start..node.end, format!("{}{}", if blank { " " } else { "" }, yaml::inline(new)));
            return;
        }
        let own_line = self.text[self.line_start(node.start)..node.start].trim().is_empty();
        let behind_dash = self.text[..node.start].trim_end_matches(' ').ends_with('-') && !own_line;
        if own_line && node.start > 0 && node.shape != YamlShape::Absent {
            // A nested value on lines of its own is kept there.
            let column = self.column(node.start);
            let written = yaml::block(new, column);
            let written = written.trim_start_matches([' ', '\n']).to_owned();
            self.splice(node.start..node.end, written);
            return;
        }
        let indent = self.key_indent(node.start) + if behind_dash { 0 } else { 2 };
        let written = if behind_dash { yaml::item_text(new, indent) } else { yaml::block(new, indent) };
        let start = self.text[..node.start].trim_end_matches(' ').len();
        let comment = self.text[node.end..self.line_end(node.end)].trim_start();
        if comment.starts_with('#') && written.trim_start_matches(' ').contains('\n') {
            // If a value with a comment after it is replaced by several lines, the comment moves above them, or before
            // its key.
            let line = self.line_start(node.start);
            let moved = format!("{}{}\n", " ".repeat(self.key_indent(node.start)), comment.trim_end());
            let end = self.line_end(node.end);
            let comment_fits_above =
                !behind_dash && self.key_indent(node.start) == self.column(line) + leading(&self.text[line..]);
            if comment_fits_above {
                self.splice(line..line, moved);
                self.splice(start..end, written);
                return;
            }
            self.splice(start..node.end, format!(" {}", yaml::inline(new)));
            return;
        }
        self.splice(start..node.end, written);
    }
}

fn leading(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn pair_end(pair: &super::yaml_syntax::YamlPair) -> usize {
    pair.value.end.max(pair.start + pair.key.len())
}

/// Returns the index of the new entry for each old one, in order: matched by id if entries have one, otherwise by
/// position. New entries must come after all old ones.
fn align(old: &[Value], new: &[Value]) -> Option<Vec<Option<usize>>> {
    let has_ids = |list: &[Value]| list.iter().all(|entry| entry.get("id").is_some());
    let key = |entry: &Value| id_of(entry.get("id")).map_or_else(|| entry.clone(), |id| Value::String(id.to_string()));
    if !has_ids(old) || !has_ids(new) {
        // Without ids, equal entries match; otherwise lists of the same length match by position.
        if old.len() == new.len() {
            return Some((0..old.len()).map(Some).collect());
        }
    }
    let mut next = 0;
    let mut pairs = Vec::with_capacity(old.len());
    for entry in old {
        if new.get(next).is_some_and(|candidate| candidate == entry || key(candidate) == key(entry)) {
            pairs.push(Some(next));
            next += 1;
        } else {
            pairs.push(None);
        }
    }
    // All remaining entries must be new; otherwise the order changed.
    let moved = new[next..].iter().any(|entry| old.len() < 2000 && old.iter().any(|old| key(old) == key(entry)));
    (!moved).then_some(pairs)
}

#[cfg(test)]
#[path = "scene_patch_tests.rs"]
mod tests;
