//! The inbox: mail for one agent, and copies of its sent mail.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::act::{ActContext, ActKind, Actor, ElementAct, News};
use super::agent_file_edits::own_mail_act;
use super::change::{ChangeKind, ElementChange, ItemNews, Wake};
use super::content::{Content, Reader};
use super::items::{
    Item, ItemList, ListAct, acts_between, adopt_ids, assign_ids, count_on, differing, fresh_id, read_list, reorder,
    set_keys, take_out,
};
use super::kind::Kind;
use super::list_file::{self, ListFile, ListItem};
use super::mail::{Mail, MailAct, MailStatus, changed, one_line};
use super::pin::read_lines;
use super::pinboard::with_text;
use super::settings::{ElementSettings, tidy, within};
use crate::base::text_normalization::folded_text;
use crate::base::{Id, Problem, Urgency, text};

/// The kind of inboxes.
pub static KIND: Kind = Kind {
    purpose: "Mail for one agent",
    colour: [0x47, 0x55, 0x69],
    private: true,
    acts: &[
        ActKind { doer: Actor::Anyone, ..ActKind::new("add_mail") },
        ActKind { news: News::OfPerson, ..ActKind::new("set_mail_status") },
        ActKind { news: News::Never, ..ActKind::new("mark_mail_read") },
        ActKind { news: News::Never, ..ActKind::new("keep_sent") },
    ],
    changes: &[
        ChangeKind::new(changed::ADDED, Wake::Owner(Urgency::Mail)).news(ItemNews::Added),
        ChangeKind::new(changed::EDITED, Wake::Owner(Urgency::Mail)).news(ItemNews::Edited),
        ChangeKind::new(changed::CHANGED, Wake::Nobody).news(ItemNews::Edited),
        ChangeKind::new(changed::REMOVED, Wake::Nobody).news(ItemNews::Removed),
    ],
    faults: |text| list_file::faults(text, &["mail", "sent"]),
    own_act: own_mail_act,
    kept_by_doer: |act| match act.read()? {
        MailAct::AddMail { to, subject, text, attachments, .. } => {
            Some(MailAct::KeepSent { to, subject, text, attachments }.into())
        }
        _ => None,
    },
    follows: |act, change| {
        // An edited mail counts as unread, unless the edit itself sets `read`; one that was closed is open again.
        let Some(ListAct::Correct { list, keys, .. }) = act.read() else { return None };
        let id = change.item().filter(|_| change.is(changed::EDITED))?.clone();
        let unread = (!keys.contains_key("read")).then_some("read");
        let open = (change.why() == Some(REOPENED)).then_some("status");
        let keys: Map<String, Value> =
            unread.into_iter().chain(open).map(|key| (key.to_owned(), Value::Null)).collect();
        (!keys.is_empty()).then(|| ListAct::Correct { list, id, keys }.into())
    },
    ..Kind::new(
        "inbox",
        "inbox",
        |entry, place| {
            let (inbox, problems) = Inbox::from_scene(entry, place);
            (Box::new(inbox), problems)
        },
        |text| Box::new(Inbox::from_markdown(text)),
    )
};

/// Why an edited mail counts as a new one although its owner had closed it.
const REOPENED: &str = "it was closed, and is open again";

/// The refusal of other acts.
const REFUSAL: &str = "an inbox only accepts mail";

/// The content of an inbox.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// Received mail, oldest first.
    pub items: Vec<Mail>,
    /// Copies of mail that the owner sent, oldest first.
    pub outbox: Vec<Mail>,
    /// The ids of the agents that own it. Derived from the roster and not saved.
    readers: BTreeSet<Id>,
    below: Vec<String>,
    counter: u32,
    sent_counter: u32,
}

/// Compares the content that a person sees, without counters and readers.
impl PartialEq for Inbox {
    fn eq(&self, other: &Self) -> bool {
        self.to_scene() == other.to_scene()
    }
}

impl Inbox {
    /// The mail with this id.
    pub fn find_mail(&self, id: &str) -> Option<&Mail> {
        self.items.iter().find(|mail| &*mail.id == id)
    }

    /// Mail that is not closed, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &Mail> {
        self.items.iter().filter(|mail| mail.status != MailStatus::Closed)
    }

    fn from_scene(entry: &Map<String, Value>, place: &str) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let count = |key| entry.get(key).and_then(Value::as_u64).and_then(|count| u32::try_from(count).ok());
        let mut inbox = Self {
            items: read_list(entry, ItemList::Items, place, &mut problems),
            outbox: read_list(entry, ItemList::Outbox, place, &mut problems),
            readers: BTreeSet::new(),
            below: entry.get("below").and_then(read_lines).unwrap_or_default(),
            counter: count("next_mail").unwrap_or(0),
            sent_counter: count("next_sent").unwrap_or(0),
        };
        for id in inbox.make_ids_unique() {
            problems.push(Problem::warning(
                place,
                format!("two messages have the id {id:?}"),
                "give each a unique id; the second has a new one for now",
            ));
        }
        (inbox, problems)
    }

    fn make_ids_unique(&mut self) -> Vec<String> {
        let mut repeated = assign_ids(&mut self.items, "m", &mut self.counter);
        repeated.extend(assign_ids(&mut self.outbox, "s", &mut self.sent_counter));
        repeated
    }

    fn from_markdown(text: &str) -> Self {
        let file = list_file::read(text, &["mail", "sent"], false);
        let mut inbox = Self { below: file.below, ..Self::default() };
        for item in file.items {
            // A bold first line becomes the subject, unless the comment has one.
            let said = subject_and_text(&item.text).filter(|_| !item.keys.contains_key("subject"));
            let (subject, text) = said.map_or((None, &*item.text), |(subject, text)| (Some(subject), text));
            let mut keys = with_text(item.keys, text.to_owned());
            keys.extend(subject.map(|subject| ("subject".to_owned(), json!(subject))));
            let mail = Mail { above: item.above, ..Mail::from_map(&keys, &mut Vec::new()) };
            if item.word == "sent" { inbox.outbox.push(mail) } else { inbox.items.push(mail) }
        }
        inbox.make_ids_unique();
        inbox
    }

    fn list(&mut self, list: ItemList) -> &mut Vec<Mail> {
        if list == ItemList::Outbox { &mut self.outbox } else { &mut self.items }
    }

    fn find(&mut self, list: ItemList, id: &str) -> Result<usize, String> {
        let found = self.list(list).iter().position(|mail| &*mail.id == id);
        found.ok_or_else(|| format!("there is no mail {id} in this inbox"))
    }

    fn add(&mut self, act: &MailAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let ActContext { by, now_secs, limits, message } = *context;
        let MailAct::AddMail { id, from, to, subject, text, attachments } = act else { return Ok(Vec::new()) };
        let open = self.open().count();
        if open >= limits.max_mail_per_box {
            return Err(format!(
                "the mail to {to} was not delivered: the inbox is full ({open} open messages); it accepts more when some \
                 are closed"
            ));
        }
        let text = tidy(text);
        if text.trim().is_empty() && subject.trim().is_empty() {
            return Err("mail needs a subject or a text".to_owned());
        }
        within(&text, "a piece of mail", limits.max_mail_chars)?;
        within(subject, "the subject of mail", limits.max_mail_chars)?;
        if let Some(id) = id.as_ref().filter(|id| self.find_mail(id).is_some()) {
            return Err(format!("there is already mail {id} in this inbox"));
        }
        // A person may send the same mail twice, and a mail with another attachment is a different one.
        let says = |subject: &str, text: &str| folded_text(if text.trim().is_empty() { subject } else { text });
        let says_this = says(subject, &text);
        let is_same = |mail: &Mail| mail.attachments == *attachments && says(&mail.subject, &mail.text) == says_this;
        if !by.is_user() && self.items.iter().any(is_same) {
            return Err(format!("this mail is already in the inbox of {to}, so it was not sent again"));
        }
        let id = id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| self.fresh(ItemList::Items));
        count_on("m", &mut self.counter, &id);
        let mail = Mail {
            id: id.clone(),
            from: from.clone(),
            to: to.clone(),
            subject: one_line(subject),
            text,
            sent: now_secs,
            attachments: attachments.clone(),
            message: Some(message),
            ..Mail::default()
        };
        let mut changes = self.thin(limits);
        self.items.push(mail);
        changes.push(ElementChange::of_item(changed::ADDED, &id).of_message(message));
        Ok(changes)
    }

    /// Makes room for another mail: closed mail beyond the limit is removed, oldest first, but never open mail.
    fn thin(&mut self, limits: &ElementSettings) -> Vec<ElementChange> {
        let closed = self.items.len() - self.open().count();
        let too_many = (self.items.len() + 1).saturating_sub(limits.max_mail_per_box);
        let mut gone = closed.saturating_sub(limits.max_closed_mail_per_box).max(too_many).min(closed);
        let (mut changes, mut at) = (Vec::new(), 0);
        while gone > 0 && at < self.items.len() {
            if self.items[at].status == MailStatus::Closed {
                let id = take_out(&mut self.items, at, &mut self.below).id;
                changes.push(ElementChange::of_item(changed::REMOVED, &id));
                gone -= 1;
            } else {
                at += 1;
            }
        }
        changes
    }

    fn fresh(&mut self, list: ItemList) -> Id {
        let (mails, prefix, counter) = match list {
            ItemList::Outbox => (&self.outbox, "s", &mut self.sent_counter),
            _ => (&self.items, "m", &mut self.counter),
        };
        fresh_id(prefix, counter, |id| mails.iter().any(|mail| &*mail.id == id))
    }

    /// Applies a person's correction.
    fn correct(&mut self, list: ItemList, id: &Id, keys: &Map<String, Value>) -> Result<Vec<ElementChange>, String> {
        let index = self.find(list, id)?;
        let mail = &mut self.list(list)[index];
        let mut map = mail.to_map();
        set_keys(&mut map, keys);
        let old = std::mem::replace(mail, Mail { id: id.clone(), ..Mail::from_map(&map, &mut Vec::new()) });
        let says = |mail: &Mail| (mail.subject.clone(), mail.text.clone(), mail.attachments.clone());
        let is_edited = list == ItemList::Items && says(&old) != says(mail);
        // Its owner closed what it said before. Only who closes it in the same edit wants nobody to read it.
        if is_edited && mail.status == MailStatus::Closed && !keys.contains_key("status") {
            return Ok(vec![ElementChange::of_item(changed::EDITED, id).because(REOPENED)]);
        }
        // Closed mail and copies of sent mail do not wake any agent.
        if !is_edited || mail.status == MailStatus::Closed {
            return Ok(vec![ElementChange::of_item(changed::CHANGED, id)]);
        }
        Ok(vec![ElementChange::of_item(changed::EDITED, id)])
    }

    fn apply_to_mail(&mut self, act: &MailAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let ActContext { by, now_secs, limits, .. } = *context;
        match act {
            MailAct::AddMail { from, .. } if !by.is_user() && *from != by.0 => {
                Err(format!("{by} cannot send mail as {from}"))
            }
            MailAct::AddMail { .. } => self.add(act, context),
            MailAct::SetMailStatus { id, status } => {
                let index = self.find(ItemList::Items, id)?;
                let mail = &mut self.items[index];
                if mail.status == *status {
                    return Ok(Vec::new());
                }
                mail.status = *status;
                Ok(vec![ElementChange::of_item(changed::CHANGED, id)])
            }
            MailAct::MarkMailRead { ids } => {
                let unread = self.items.iter_mut().filter(|mail| mail.read.is_none() && ids.contains(&mail.id));
                Ok(unread
                    .map(|mail| {
                        mail.read = Some(now_secs);
                        ElementChange::of_item(changed::CHANGED, &mail.id)
                    })
                    .collect())
            }
            MailAct::RemoveMail { id } => {
                let index = self.find(ItemList::Items, id)?;
                // If a person removes it, the lines above it are removed as well.
                if by.is_user() {
                    self.items.remove(index);
                } else {
                    take_out(&mut self.items, index, &mut self.below);
                }
                Ok(vec![ElementChange::of_item(changed::REMOVED, id)])
            }
            MailAct::KeepSent { to, subject, text, attachments } => {
                let id = self.fresh(ItemList::Outbox);
                self.outbox.push(Mail {
                    id: id.clone(),
                    from: by.0.clone(),
                    to: to.clone(),
                    subject: one_line(subject),
                    text: tidy(text),
                    sent: now_secs,
                    attachments: attachments.clone(),
                    message: Some(context.message),
                    ..Mail::default()
                });
                if self.outbox.len() > limits.max_sent_per_box {
                    take_out(&mut self.outbox, 0, &mut self.below);
                }
                Ok(vec![ElementChange::of_item(changed::CHANGED, &id)])
            }
        }
    }
}

/// Splits the text of a mail in a file: its subject is in bold on a line of its own, if it has one.
fn subject_and_text(written: &str) -> Option<(&str, &str)> {
    let (first, rest) = written.split_once('\n').unwrap_or((written, ""));
    let subject = first.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"))?;
    Some((subject, rest))
}

fn written(mail: &Mail, word: &str) -> ListItem {
    let mut keys = mail.to_map();
    for key in ["text", "subject", "above"] {
        keys.shift_remove(key);
    }
    let Mail { subject, text, .. } = mail;
    let text = match (subject.is_empty(), text.is_empty()) {
        // A first line that would be parsed as a subject is preceded by an empty line.
        (true, false) if subject_and_text(text).is_none() => text.clone(),
        (_, false) => format!("**{subject}**\n{text}"),
        (_, true) => format!("**{subject}**"),
    };
    ListItem { above: mail.above.clone(), text, word: word.to_owned(), keys, nested: Vec::new() }
}

impl Content for Inbox {
    fn to_scene(&self) -> Map<String, Value> {
        let list = |mails: &[Mail]| mails.iter().map(|mail| Value::Object(mail.to_map())).collect::<Value>();
        let mut map = Map::from_iter([("items".to_owned(), list(&self.items))]);
        if !self.outbox.is_empty() {
            map.insert("outbox".into(), list(&self.outbox));
        }
        if !self.below.is_empty() {
            map.insert("below".into(), json!(self.below));
        }
        map
    }

    fn to_saved(&self) -> Map<String, Value> {
        let mut map = self.to_scene();
        map.insert("next_mail".into(), json!(self.counter));
        map.insert("next_sent".into(), json!(self.sent_counter));
        map
    }

    fn to_markdown(&self) -> String {
        let items = self.items.iter().map(|mail| written(mail, "mail"));
        let items = items.chain(self.outbox.iter().map(|mail| written(mail, "sent"))).collect();
        list_file::write(&ListFile { items, below: self.below.clone() })
    }

    fn acts_to(&self, newer: &dyn Content) -> Vec<ElementAct> {
        let Some(newer) = newer.as_any().downcast_ref::<Self>() else { return Vec::new() };
        let mut acts = Vec::new();
        for (list, old, new) in
            [(ItemList::Items, &self.items, &newer.items), (ItemList::Outbox, &self.outbox, &newer.outbox)]
        {
            // Copies of sent mail are removed by an empty correction; see `apply`.
            let remove = |id: &Id| match list {
                ItemList::Outbox => ListAct::Correct { list, id: id.clone(), keys: Map::new() }.into(),
                _ => MailAct::RemoveMail { id: id.clone() }.into(),
            };
            acts.extend(acts_between(list, old, new, remove, |old, new| {
                let keys = differing(&old.to_map(), &new.to_map());
                if keys.is_empty() {
                    Vec::new()
                } else {
                    vec![ListAct::Correct { list, id: old.id.clone(), keys }.into()]
                }
            }));
        }
        if self.below != newer.below {
            acts.push(ListAct::KeepLines { below: newer.below.clone() }.into());
        }
        acts
    }

    fn acts_since(&self, base: &dyn Content, newer: &dyn Content) -> Vec<ElementAct> {
        let boxes = base.as_any().downcast_ref::<Self>().zip(newer.as_any().downcast_ref::<Self>());
        let Some((mut base, mut newer)) = boxes.map(|(base, newer)| (base.clone(), newer.clone())) else {
            return Vec::new();
        };
        adopt_ids(&self.items, &mut base.items, &mut newer.items);
        adopt_ids(&self.outbox, &mut base.outbox, &mut newer.outbox);
        base.acts_to(&newer)
    }

    fn apply(&mut self, act: &ElementAct, context: &ActContext<'_>) -> Result<Vec<ElementChange>, String> {
        let by = context.by;
        if let Some(act) = act.read::<MailAct>() {
            return self.apply_to_mail(&act, context);
        }
        match act.read::<ListAct>() {
            Some(ListAct::Put { list: list @ (ItemList::Items | ItemList::Outbox), item, at }) if by.is_user() => {
                let mut mail = Mail::from_map(&item, &mut Vec::new());
                if mail.id.is_empty() || self.list(list).iter().any(|other| other.id == mail.id) {
                    mail.id = self.fresh(list);
                }
                let id = mail.id.clone();
                let list_at = at.min(self.list(list).len());
                self.list(list).insert(list_at, mail);
                let word = if list == ItemList::Outbox { changed::CHANGED } else { changed::ADDED };
                Ok(vec![ElementChange::of_item(word, &id)])
            }
            // A correction without keys removes the copy.
            Some(ListAct::Correct { list: ItemList::Outbox, id, keys }) if by.is_user() && keys.is_empty() => {
                let index = self.find(ItemList::Outbox, &id)?;
                self.outbox.remove(index);
                Ok(vec![ElementChange::of_item(changed::REMOVED, &id)])
            }
            Some(ListAct::Correct { list: list @ (ItemList::Items | ItemList::Outbox), id, keys }) if by.is_user() => {
                self.correct(list, &id, &keys)
            }
            Some(ListAct::Order { list: list @ (ItemList::Items | ItemList::Outbox), ids }) if by.is_user() => {
                reorder(self.list(list), &ids);
                Ok(vec![ElementChange::new(ElementChange::REARRANGED)])
            }
            Some(ListAct::KeepLines { below }) if by.is_user() => {
                self.below = below;
                Ok(vec![ElementChange::new(ElementChange::REARRANGED)])
            }
            _ => Err(REFUSAL.to_owned()),
        }
    }

    fn mail(&self) -> Option<(&[Mail], &[Mail])> {
        Some((&self.items, &self.outbox))
    }

    fn set_readers(&mut self, readers: &BTreeSet<Id>) {
        self.readers.clone_from(readers);
    }

    fn prompt_text(&self, reader: &Reader) -> String {
        if !self.readers.contains(reader.id) {
            return String::new();
        }
        let mut lines = String::new();
        for Mail { id, from, subject, text, status, attachments, .. } in self.open() {
            let pending = if *status == MailStatus::Pending { " (pending)" } else { "" };
            let _ = writeln!(lines, "{id}{pending} from {}: {subject}", reader.called(from));
            for line in text.lines() {
                let _ = writeln!(lines, "  {line}");
            }
            if !attachments.is_empty() {
                let _ = writeln!(lines, "  attached: {}", attachments.join(", "));
            }
        }
        lines.truncate(lines.trim_end().len());
        if lines.is_empty() { "(no open mail)".to_owned() } else { lines }
    }

    fn item(&self, id: &str) -> Option<(&Id, &str)> {
        self.find_mail(id).map(|mail| (&mail.from, mail.text.as_str()))
    }

    fn summary(&self, reader: &Reader, max_chars: usize) -> String {
        let open: Vec<&Mail> = self.open().collect();
        let words = open.iter().rev().map(|mail| {
            let about = if mail.subject.is_empty() { &mail.text } else { &mail.subject };
            format!("{}: {}", reader.called(&mail.from), text::one_line(about))
        });
        text::truncate(&format!("{} open: {}", open.len(), words.collect::<Vec<_>>().join(" · ")), max_chars)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Content> {
        Box::new(self.clone())
    }
}
