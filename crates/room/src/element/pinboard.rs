//! The pinboard: short texts that agents pin, vote on and comment.

use std::any::Any;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::act::{ActContext, ElementAct};
use super::agent_file_edits::own_pin_act;
use super::change::{ChangeKind, ElementChange, ItemNews, Wake};
use super::content::{Content, Reader};
use super::items::{
    Item, ItemList, ListAct, acts_between, adopt_ids, assign_ids, count_on, differing, fresh_id, read_list, reorder,
    set_keys, take_out,
};
use super::kind::Kind;
use super::list_file::{self, ListFile, ListItem};
use super::pin::{Comment, Pin, PinAct, changed, read_lines};
use super::settings::{ElementSettings, tidy, within};
use crate::base::text_normalization::folded_text;
use crate::base::{Author, Id, Problem, Urgency, text};

/// The kind of pinboards.
pub static KIND: Kind = Kind {
    purpose: "Short notes to vote and comment on",
    colour: [0x8b, 0x69, 0x14],
    changes: &[
        ChangeKind::new(changed::ADDED, Wake::Everyone(Urgency::Read)).news(ItemNews::Added),
        ChangeKind::new(changed::EDITED, Wake::Everyone(Urgency::Read)).news(ItemNews::Edited),
        ChangeKind::new(changed::VOTED, Wake::Author(Urgency::Read)).news(ItemNews::VotedOn),
        ChangeKind::new(changed::COMMENTED, Wake::Author(Urgency::Read)).news(ItemNews::Commented),
        ChangeKind::new(changed::REMOVED, Wake::Nobody).news(ItemNews::Removed),
    ],
    faults: |text| list_file::faults(text, &["pin"]),
    own_act: own_pin_act,
    ..Kind::new(
        "pinboard",
        "pinboard",
        |entry, place| {
            let (board, problems) = Pinboard::from_scene(entry, place);
            (Box::new(board), problems)
        },
        |text| Box::new(Pinboard::from_markdown(text)),
    )
};

/// The refusal of other acts.
const REFUSAL: &str = "a pinboard only accepts pins, votes and comments";

/// The content of a pinboard.
#[derive(Clone, Debug, Default)]
pub struct Pinboard {
    /// The pins, oldest first unless a person ordered them otherwise.
    pub pins: Vec<Pin>,
    /// The lines of its file below the last pin.
    below: Vec<String>,
    /// The highest number used in an id; ids are never reused.
    counter: u32,
}

/// Compares the content that a person sees, without the counter.
impl PartialEq for Pinboard {
    fn eq(&self, other: &Self) -> bool {
        self.to_scene() == other.to_scene()
    }
}

impl Pinboard {
    /// The pin with this id.
    pub fn pin(&self, id: &str) -> Option<&Pin> {
        self.pins.iter().find(|pin| &*pin.id == id)
    }

    fn from_scene(entry: &Map<String, Value>, place: &str) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let pins = read_list(entry, ItemList::Pins, place, &mut problems);
        let below = entry.get("below").and_then(read_lines).unwrap_or_default();
        let counter = entry.get("next_pin").and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
        let mut board = Self { pins, below, counter: counter.unwrap_or(0) };
        for id in assign_ids(&mut board.pins, "p", &mut board.counter) {
            problems.push(Problem::warning(
                place,
                format!("two pins have the id {id:?}"),
                "give each pin a unique id; the second has a new one for now",
            ));
        }
        (board, problems)
    }

    fn from_markdown(text: &str) -> Self {
        let file = list_file::read(text, &["pin"], true);
        let pins = file.items.into_iter().map(|item| {
            let mut pin = Pin::from_map(&with_text(item.keys, item.text), &mut Vec::new());
            pin.above = item.above;
            let nested = item.nested.into_iter().map(|(text, keys)| Comment::from_map(&with_text(keys, text)));
            pin.comments.extend(nested);
            pin
        });
        let mut board = Self { pins: pins.collect(), below: file.below, counter: 0 };
        assign_ids(&mut board.pins, "p", &mut board.counter);
        board
    }

    fn find(&mut self, id: &str) -> Result<(usize, &mut Pin), String> {
        let Some(index) = self.pins.iter().position(|pin| &*pin.id == id) else {
            let meant = text::nearest(id, self.pins.iter().map(|pin| &*pin.id));
            let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            return Err(format!("there is no pin {id} on this board{hint}"));
        };
        Ok((index, &mut self.pins[index]))
    }

    fn own(&mut self, id: &str, by: &Author, verb: &str) -> Result<(usize, &mut Pin), String> {
        let (index, pin) = self.find(id)?;
        if by.is_user() || pin.author == *by {
            return Ok((index, pin));
        }
        if pin.author.is_user() {
            return Err(format!("only the person may {verb} the pin {id}"));
        }
        Err(format!("only its author and the person may {verb} the pin {id}"))
    }

    fn add(
        &mut self,
        id: Option<&Id>,
        text: &str,
        &ActContext { by, now_secs, limits, .. }: &ActContext<'_>,
    ) -> Result<Vec<ElementChange>, String> {
        let text = checked(text, "a pin", limits)?;
        if let Some(id) = id.filter(|id| self.pin(id).is_some()) {
            return Err(format!("there is already a pin {id} on this board"));
        }
        self.refuse_again(&text, by, None)?;
        let mut changes = Vec::new();
        let own = self.pins.iter().filter(|pin| pin.author == *by).count();
        if !by.is_user() && own >= limits.max_pins_per_author {
            let why =
                format!("its author added another pin, and may only have {} on a board", limits.max_pins_per_author);
            changes.extend(self.drop_oldest(why, |pin| pin.author == *by));
        }
        // Only one pin is dropped for one added, so a board that a person filled above the limit is not cut down.
        if self.pins.len() >= limits.max_pins_per_board {
            let why = format!("another pin was added, and the board may only have {}", limits.max_pins_per_board);
            changes.extend(self.drop_oldest(why, |_| true));
        }
        let id = id.filter(|id| !id.is_empty()).cloned().unwrap_or_else(|| self.fresh_id());
        count_on("p", &mut self.counter, &id);
        let pin = Pin { id: id.clone(), text, author: by.clone(), time: now_secs, ..Pin::default() };
        self.pins.push(pin);
        changes.push(ElementChange::of_item(changed::ADDED, &id));
        Ok(changes)
    }

    /// Refuses an agent's text that is already on another pin, by any author. A person may repeat a text.
    fn refuse_again(&self, text: &str, by: &Author, but: Option<&Id>) -> Result<(), String> {
        if by.is_user() {
            return Ok(());
        }
        let folded = folded_text(text);
        let same = self.pins.iter().find(|pin| Some(&pin.id) != but && folded_text(&pin.text) == folded);
        same.map_or(Ok(()), |pin| Err(format!("this is already pinned as {}", pin.id)))
    }

    fn fresh_id(&mut self) -> Id {
        let pins = &self.pins;
        fresh_id("p", &mut self.counter, |id| pins.iter().any(|pin| &*pin.id == id))
    }

    fn drop_oldest(&mut self, why: String, among: impl Fn(&Pin) -> bool) -> Option<ElementChange> {
        // By position, not by time: a pin that a person wrote into a file has no time, and would always be dropped
        // first.
        let index = self.pins.iter().position(among)?;
        let pin = take_out(&mut self.pins, index, &mut self.below);
        Some(ElementChange::of_item(changed::REMOVED, &pin.id).because(why).lost_by(&pin.author))
    }

    fn vote(&mut self, id: &Id, up: bool, by: &Author, limits: &ElementSettings) -> Result<Vec<ElementChange>, String> {
        let (index, pin) = self.find(id)?;
        if pin.vote_of(&by.0) == Some(up) {
            return Err(format!("you have already voted {} the pin {id}", if up { "for" } else { "against" }));
        }
        let before = pin.net();
        pin.set_vote(&by.0, Some(up));
        let net = pin.net();
        let mut changes = vec![ElementChange::of_item(changed::VOTED, id)];
        if net <= limits.pin_removed_at_net && !up {
            take_out(&mut self.pins, index, &mut self.below);
            changes.push(ElementChange::of_item(changed::REMOVED, id).because(format!("voted down to {net}")));
        } else if net <= limits.pin_flagged_at_net && before > limits.pin_flagged_at_net {
            changes.push(ElementChange::of_item(changed::FLAGGED, id));
        }
        Ok(changes)
    }

    fn put(&mut self, map: &Map<String, Value>, at: usize) -> Vec<ElementChange> {
        let mut pin = Pin::from_map(map, &mut Vec::new());
        if pin.id.is_empty() || self.pin(&pin.id).is_some() {
            pin.id = self.fresh_id();
        }
        let id = pin.id.clone();
        self.pins.insert(at.min(self.pins.len()), pin);
        vec![ElementChange::of_item(changed::ADDED, &id)]
    }

    fn correct(&mut self, id: &Id, keys: &Map<String, Value>) -> Result<Vec<ElementChange>, String> {
        let (_, pin) = self.find(id)?;
        let mut map = pin.to_map();
        set_keys(&mut map, keys);
        *pin = Pin { id: id.clone(), ..Pin::from_map(&map, &mut Vec::new()) };
        let id = id.clone();
        Ok(vec![if keys.keys().all(|key| key == "comments" || key == "above") {
            ElementChange::of_item(changed::COMMENTED, &id)
        } else {
            ElementChange::of_item(changed::EDITED, &id)
        }])
    }

    fn apply_to_pin(&mut self, act: &PinAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let ActContext { by, now_secs, limits, .. } = *context;
        match act {
            PinAct::AddPin { id, text } => self.add(id.as_ref(), text, context),
            PinAct::EditPin { id, text } => {
                self.own(id, by, "change")?;
                // A person's text in a file is accepted in any length.
                let text = if by.is_user() { tidy(text) } else { checked(text, "a pin", limits)? };
                self.refuse_again(&text, by, Some(id))?;
                let (_, pin) = self.find(id)?;
                if pin.text == text {
                    return Ok(Vec::new());
                }
                pin.text = text;
                Ok(vec![ElementChange::of_item(changed::EDITED, id)])
            }
            PinAct::RemovePin { id } => {
                let (index, _) = self.own(id, by, "remove")?;
                // If a person removes it, the lines above it are removed as well.
                if by.is_user() {
                    self.pins.remove(index);
                } else {
                    take_out(&mut self.pins, index, &mut self.below);
                }
                Ok(vec![ElementChange::of_item(changed::REMOVED, id).because(format!("removed by {by}"))])
            }
            PinAct::Vote { id, up } => self.vote(id, *up, by, limits),
            PinAct::Comment { id, text } => {
                let text = checked(text, "a comment", limits)?;
                let (_, pin) = self.find(id)?;
                if pin.comments.len() >= limits.max_comments_per_pin {
                    return Err(format!(
                        "the pin {id} already has {} comments, which is the limit",
                        pin.comments.len()
                    ));
                }
                let folded = folded_text(&text);
                if !by.is_user() && pin.comments.iter().any(|said| folded_text(&said.text) == folded) {
                    return Err(format!("the pin {id} already has this comment"));
                }
                pin.comments.push(Comment { author: by.clone(), text, time: now_secs, extra: Map::new() });
                Ok(vec![ElementChange::of_item(changed::COMMENTED, id)])
            }
            PinAct::PutComment { id, comment } if by.is_user() => {
                self.find(id)?.1.comments.push(Comment::from_map(comment));
                Ok(vec![ElementChange::of_item(changed::COMMENTED, id)])
            }
            PinAct::RemoveComment { id, comment } if by.is_user() => {
                let (_, pin) = self.find(id)?;
                let wanted = Comment::from_map(comment);
                let reads_like = |said: &Comment| said.author == wanted.author && said.text == wanted.text;
                let Some(place) = pin.comments.iter().rposition(reads_like) else {
                    return Err(format!("this comment on the pin {id} no longer exists"));
                };
                pin.comments.remove(place);
                Ok(vec![ElementChange::of_item(changed::COMMENTED, id)])
            }
            PinAct::CorrectVote { id, voter, up } if by.is_user() => {
                self.find(id)?.1.set_vote(voter, *up);
                Ok(vec![ElementChange::of_item(changed::VOTED, id)])
            }
            PinAct::PutComment { .. } | PinAct::RemoveComment { .. } | PinAct::CorrectVote { .. } => {
                Err(REFUSAL.to_owned())
            }
        }
    }
}

/// Checks a text for a pin or comment and trims it.
fn checked(text: &str, what: &str, limits: &ElementSettings) -> Result<String, String> {
    let text = tidy(text).trim().to_owned();
    if text.is_empty() {
        return Err(format!("{what} needs a text"));
    }
    within(&text, what, limits.max_pin_chars)?;
    Ok(text)
}

/// The keys of a comment in a file, with the text before it. If the comment contains a `text` key as well, that value
/// is kept under another key.
pub(super) fn with_text(mut keys: Map<String, Value>, text: String) -> Map<String, Value> {
    for key in ["text", "above"] {
        if let Some(said) = keys.shift_remove(key) {
            list_file::preserve_value(&mut keys, key, said);
        }
    }
    keys.insert("text".into(), Value::String(text));
    keys
}

impl Content for Pinboard {
    fn to_scene(&self) -> Map<String, Value> {
        let pins = self.pins.iter().map(|pin| Value::Object(pin.to_map())).collect();
        let mut map = Map::from_iter([("pins".to_owned(), Value::Array(pins))]);
        if !self.below.is_empty() {
            map.insert("below".into(), json!(self.below));
        }
        map
    }

    fn to_saved(&self) -> Map<String, Value> {
        let mut map = self.to_scene();
        map.insert("next_pin".into(), json!(self.counter));
        map
    }

    fn to_markdown(&self) -> String {
        let items = self.pins.iter().map(|pin| {
            let mut keys = pin.to_map();
            for key in ["text", "comments", "above"] {
                keys.shift_remove(key);
            }
            let nested = pin.comments.iter().map(|comment| {
                let mut keys = comment.to_map();
                keys.shift_remove("text");
                (comment.text.clone(), keys)
            });
            ListItem {
                above: pin.above.clone(),
                text: pin.text.clone(),
                word: "pin".to_owned(),
                keys,
                nested: nested.collect(),
            }
        });
        list_file::write(&ListFile { items: items.collect(), below: self.below.clone() })
    }

    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct> {
        let Some(newer) = newer.as_any().downcast_ref::<Self>() else { return Vec::new() };
        let remove = |id: &Id| PinAct::RemovePin { id: id.clone() }.into();
        let mut acts = acts_between(ItemList::Pins, &self.pins, &newer.pins, remove, acts_to_pin);
        if self.below != newer.below {
            acts.push(ListAct::KeepLines { below: newer.below.clone() }.into());
        }
        acts
    }

    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        let boards = base.as_any().downcast_ref::<Self>().zip(newer.as_any().downcast_ref::<Self>());
        let Some((mut base, mut newer)) = boards.map(|(base, newer)| (base.clone(), newer.clone())) else {
            return Vec::new();
        };
        adopt_ids(&self.pins, &mut base.pins, &mut newer.pins);
        base.acts_to(&newer)
    }

    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let by = context.by;
        if let Some(act) = act.read::<PinAct>() {
            return self.apply_to_pin(&act, context);
        }
        match act.read::<ListAct>() {
            Some(ListAct::Put { list: ItemList::Pins, item, at }) if by.is_user() => Ok(self.put(&item, at)),
            Some(ListAct::Correct { list: ItemList::Pins, id, keys }) if by.is_user() => self.correct(&id, &keys),
            Some(ListAct::Order { list: ItemList::Pins, ids }) if by.is_user() => {
                reorder(&mut self.pins, &ids);
                Ok(vec![ElementChange::new(ElementChange::REARRANGED)])
            }
            Some(ListAct::KeepLines { below }) if by.is_user() => {
                self.below = below;
                Ok(vec![ElementChange::new(ElementChange::REARRANGED)])
            }
            _ => Err(REFUSAL.to_owned()),
        }
    }

    fn pins(&self) -> Option<&[Pin]> {
        Some(&self.pins)
    }

    fn prompt_text(&self, reader: &Reader) -> String {
        if self.pins.is_empty() {
            return "(no pins)".to_owned();
        }
        let mut lines = String::new();
        for pin in &self.pins {
            let Pin { id, text, author, up, down, comments, .. } = pin;
            // Continuation lines are indented deeper than a comment, so that no pin contains a comment of its own.
            let text = text.replace('\n', "\n    ");
            // A model that does not see its own vote votes again.
            let own = match pin.vote_of(reader.id) {
                Some(true) => ", you voted for it",
                Some(false) => ", you voted against it",
                None => "",
            };
            let id = text::one_line(id);
            let by =
                if *author.0 == *reader.id { "yours".to_owned() } else { format!("by {}", reader.called(&author.0)) };
            let _ = writeln!(lines, "{id} ({by}, +{} −{}{own}): {text}", up.len(), down.len());
            for comment in comments {
                let author = reader.called(&comment.author.0);
                let _ = writeln!(lines, "  {author}: {}", comment.text.replace('\n', "\n    "));
            }
        }
        lines.truncate(lines.trim_end().len());
        lines
    }

    fn item(&self, id: &str) -> Option<(&Id, &str)> {
        self.pin(id).map(|pin| (&pin.author.0, pin.text.as_str()))
    }

    fn summary(&self, _reader: &Reader, max_chars: usize) -> String {
        let newest: Vec<String> = self.pins.iter().rev().map(|pin| text::one_line(&pin.text)).collect();
        let pins = if self.pins.len() == 1 { "pin" } else { "pins" };
        text::truncate(&format!("{} {pins}: {}", self.pins.len(), newest.join(" · ")), max_chars)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }
}

/// The acts for a person's change of a pin, as fine as possible, so that agents' changes made meanwhile stay.
fn acts_to_pin(old: &Pin, new: &Pin) -> Vec<ElementAct> {
    let id = &old.id;
    let mut acts = Vec::new();
    if old.text != new.text {
        acts.push(PinAct::EditPin { id: id.clone(), text: new.text.clone() }.into());
    }
    let voters = old.up.iter().chain(&old.down).chain(&new.up).chain(&new.down);
    let voters: std::collections::BTreeSet<&Id> = voters.collect();
    for voter in voters.into_iter().filter(|voter| old.vote_of(voter) != new.vote_of(voter)) {
        let (voter, up) = (voter.clone(), new.vote_of(voter));
        acts.push(PinAct::CorrectVote { id: id.clone(), voter, up }.into());
    }
    let mut keys = differing(&old.to_map(), &new.to_map());
    for key in ["id", "text", "up", "down"] {
        keys.shift_remove(key);
    }
    if new.comments.starts_with(&old.comments) {
        keys.shift_remove("comments");
        acts.extend(
            new.comments[old.comments.len()..]
                .iter()
                .map(|comment| PinAct::PutComment { id: id.clone(), comment: comment.to_map() }.into()),
        );
    } else if old.comments.starts_with(&new.comments) {
        keys.shift_remove("comments");
        let gone = old.comments[new.comments.len()..].iter().rev();
        acts.extend(gone.map(|comment| PinAct::RemoveComment { id: id.clone(), comment: comment.to_map() }.into()));
    }
    if !keys.is_empty() {
        acts.push(ListAct::Correct { list: ItemList::Pins, id: id.clone(), keys }.into());
    }
    acts
}
