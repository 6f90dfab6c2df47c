//! From [`ThinkDue`] to a question: every one is answered with exactly one [`ThinkDone`], at once where there is
//! nothing to ask a model about.

use bevy::ecs::prelude::*;

use super::context::Moment;
use super::feedback::Feedback;
use super::gather::{Room, is_private};
use super::habits;
use super::holdings::open_mail;
use super::prompt;
use super::question::{CallKind, CancelRequest, ModelRequest, Prompt, PutOffRequest};
use super::session::Session;
use super::thoughts::{Asked, PendingThought, ReadVersion, Sent, Thoughts};
use super::wording::{line, name, quoted};
use crate::agent::Agent;
use crate::base::{ElementKey, Id, RequestId};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::memory::{Memory, MemoryAct, MemoryEdit, MemorySettings};
use crate::schedule::AgentRandom;
use crate::simulation::{CompactionWanted, Conversation, Think, ThinkDone, ThinkDue, ThinkOutcome, ThinkPutOff};

/// Room for the names around words that a session quotes.
pub(super) const NAMES_CHARS: usize = 200;

/// The last prompt of an agent, for whoever wants to see where its words came from. Not saved.
#[derive(Component, Clone, Debug, Default)]
pub struct LastPrompt(pub Prompt);

/// Gives a new agent its session, and nothing to be told.
pub(super) fn give_mind(added: On<Add, Agent>, mut commands: Commands) {
    commands.entity(added.entity).try_insert((Session::default(), Feedback::default(), LastPrompt::default()));
}

/// Asks for a compaction again when the time after a failed one is over.
pub(super) fn retry_compaction(
    room: Room,
    mut thoughts: ResMut<Thoughts>,
    mut sessions: Query<&mut Session>,
    mut wanted: MessageWriter<CompactionWanted>,
) {
    let now = room.clock.tick();
    while thoughts.retries.first().is_some_and(|(due, _)| *due <= now) {
        let Some((_, agent)) = thoughts.retries.pop_first() else { break };
        let Some(entity) = room.roster.entity(agent) else { continue };
        let Ok(mut session) = sessions.get_mut(entity) else { continue };
        if session.wants_compaction(&room.settings, now) {
            let Some((agent, _)) = room.agent(agent) else { continue };
            wanted.write(CompactionWanted { agent: agent.key, cause: agent.added });
        }
    }
}

/// Lets thoughts that are to give way do so.
pub(super) fn put_off(
    mut put_off: MessageReader<ThinkPutOff>,
    thoughts: Res<Thoughts>,
    mut requests: MessageWriter<PutOffRequest>,
) {
    for thought in put_off.read() {
        let is_it = |id: &RequestId| thoughts.pending[id].request.activity == thought.activity;
        requests.write_batch(thoughts.pending_of(thought.agent).filter(is_it).map(|request| PutOffRequest { request }));
    }
}

/// What there is to ask.
struct Question {
    kind: CallKind,
    moment: Moment,
    asked: String,
    reading: Option<ReadVersion>,
}

pub(super) type Minds<'w, 's> =
    Query<'w, 's, (&'static mut Session, &'static Feedback, &'static mut LastPrompt, Option<&'static mut AgentRandom>)>;

/// Hears what agents are to think about, and asks their models.
pub(super) fn think(
    mut due: MessageReader<ThinkDue>,
    room: Room,
    memory_settings: Res<MemorySettings>,
    mut minds: Minds,
    mut thoughts: ResMut<Thoughts>,
    (mut requests, mut cancels): (MessageWriter<ModelRequest>, MessageWriter<CancelRequest>),
    (mut done, mut memories): (MessageWriter<ThinkDone>, MessageWriter<MemoryEdit>),
    mut log: ResMut<EventLog>,
) {
    for due in due.read() {
        if let Think::Work { .. } = due.think {
            continue;
        }
        let answer = |outcome: ThinkOutcome| ThinkDone {
            agent: due.agent,
            activity: due.activity,
            think: due.think.clone(),
            outcome,
            cause: due.cause,
        };
        let nothing = |why: &str| answer(ThinkOutcome::Nothing { why: why.to_owned() });
        let found = room.agent(due.agent).zip(room.roster.entity(due.agent));
        let Some(((agent, memory), entity)) = found else {
            done.write(nothing("the agent left the room"));
            continue;
        };
        let Ok((mut session, feedback, mut last_prompt, random)) = minds.get_mut(entity) else {
            done.write(nothing("the agent has no session yet"));
            continue;
        };
        if let Think::Compact = due.think {
            session.wanted = true;
        }
        let question = match question(&room, agent, memory, &session, due, &memory_settings) {
            Ok(question) => question,
            Err(unasked) => {
                if let Think::Compact = due.think {
                    session.wanted = false;
                }
                if let Unasked::Unchanged(element) = unasked {
                    let act = MemoryAct::Looked { element };
                    memories.write(MemoryEdit { agent: due.agent, act, cause: due.cause });
                }
                done.write(nothing(unasked.why()));
                continue;
            }
        };
        let stops = match &question.moment {
            Moment::Talk { with, .. } => habits::stops(with),
            _ => habits::stops(&[]),
        };
        let context = room.context(agent, &session, feedback, question.moment);
        let (prompt, mail_shown) = prompt::compose(&context);
        let (mail_shown, whole) = by_inbox(&room, agent, &mail_shown);
        let id = thoughts.new_id();
        let request = ModelRequest {
            id,
            agent: due.agent,
            agent_id: agent.id.clone(),
            profile: agent.profile.clone(),
            activity: due.activity,
            kind: question.kind,
            urgency: due.urgency,
            model: room.profile(agent).and_then(|profile| profile.model.clone()),
            prompt: prompt.clone(),
            tools: Vec::new(),
            activation: None,
            max_output_tokens: room.settings.max_output_tokens,
            stops,
            seed: random.map_or(id.0, |mut random| random.bits()),
            cause: due.cause,
        };
        last_prompt.0 = prompt;
        let reading = question.reading.map(|read| ReadVersion { whole: !read.private || whole, ..read });
        for forgotten in make_room(&mut thoughts, &request, room.settings.pending_per_agent_at_most) {
            let id = forgotten.request.id;
            cancels.write(CancelRequest { request: id });
            let what = "an older question was given up, because too many of this agent's were under way";
            let draft = EventDraft::of(&Warning { request: Some(id), ..Warning::new(what) });
            let cause = log.write(draft.agent(&agent.id).cause(forgotten.request.cause));
            done.write(ThinkDone {
                agent: due.agent,
                activity: forgotten.request.activity,
                think: forgotten.think,
                outcome: ThinkOutcome::Failed { why: what.to_owned(), passing: true },
                cause,
            });
        }
        let asked = Asked::from(&request);
        requests.write(request);
        thoughts.pending.insert(
            id,
            PendingThought {
                request: asked,
                think: due.think.clone(),
                asked: question.asked,
                reading,
                mail_shown,
                feedback: context.feedback,
                work: None,
                sent: Sent::default(),
            },
        );
    }
}

/// Takes out the agent's oldest questions until a new one fits.
fn make_room(thoughts: &mut Thoughts, new: &ModelRequest, at_most: usize) -> Vec<PendingThought> {
    // Work is not given up for smaller things: it has caps of its own.
    let is_work = |id: &RequestId| thoughts.pending.get(id).is_some_and(|thought| thought.work.is_some());
    let pending: Vec<_> = thoughts.pending_of(new.agent).filter(|id| !is_work(id)).collect();
    let over = (pending.len() + 1).saturating_sub(at_most.max(1));
    pending[..over].iter().filter_map(|id| thoughts.pending.remove(id)).collect()
}

/// Sorts the mail in a prompt by the inbox that it lies in, unread pieces only; and whether nothing unread is left.
pub(super) fn by_inbox(room: &Room, agent: &Agent, shown: &[Id]) -> (Vec<(Id, Vec<Id>)>, bool) {
    let mut whole = true;
    let mut sorted = Vec::new();
    for (element, held) in room.inboxes_of(agent) {
        let unread: Vec<Id> = open_mail(&*held.0).into_iter().filter(|item| !item.read).map(|item| item.id).collect();
        let seen: Vec<Id> = unread.iter().filter(|id| shown.contains(id)).cloned().collect();
        whole &= seen.len() == unread.len();
        if !seen.is_empty() {
            sorted.push((element.id.clone(), seen));
        }
    }
    (sorted, whole)
}

/// Why no model is asked.
enum Unasked {
    Gone,
    Closed,
    Unchanged(ElementKey),
    Over,
    NothingToSum,
    NotMine,
}

impl Unasked {
    fn why(&self) -> &'static str {
        match self {
            Self::Gone => "it is gone",
            Self::Closed => "it belongs to someone else",
            Self::Unchanged(_) => "nothing new there",
            Self::Over => "the conversation is over",
            Self::NothingToSum => "there is nothing to sum up",
            Self::NotMine => "work is asked about by whoever keeps it",
        }
    }
}

fn question(
    room: &Room,
    agent: &Agent,
    memory: &Memory,
    session: &Session,
    due: &ThinkDue,
    memory_settings: &MemorySettings,
) -> Result<Question, Unasked> {
    match &due.think {
        Think::Read { element: key } => {
            let (element, held) = room.element(*key).ok_or(Unasked::Gone)?;
            if room.is_closed_to(element, agent) {
                return Err(Unasked::Closed);
            }
            // An element that did not change costs no call.
            if memory.environment_state.get(key).is_some_and(|seen| seen.version == element.version) {
                return Err(Unasked::Unchanged(*key));
            }
            let reading = ReadVersion {
                element: *key,
                version: element.version,
                whole: true,
                summary: room.summary_for(agent, held, memory_settings.environment_chars_at_most),
                private: is_private(&element.kind),
            };
            Ok(Question {
                kind: CallKind::Read,
                moment: room.reading_moment(agent, element, held),
                asked: format!("You read {}.", name(&element.label)),
                reading: Some(reading),
            })
        }
        Think::Turn { conversation } => {
            let conversation = room.conversations.get(*conversation).ok_or(Unasked::Over)?;
            Ok(Question {
                kind: CallKind::Conversation,
                moment: room.talking_moment(agent, conversation),
                asked: asked_in(room, agent, conversation),
                reading: None,
            })
        }
        Think::Compact if session.messages.is_empty() => Err(Unasked::NothingToSum),
        Think::Compact => {
            Ok(Question { kind: CallKind::Compaction, moment: Moment::Compact, asked: String::new(), reading: None })
        }
        Think::Attend { interest } => Ok(Question {
            kind: CallKind::Wake,
            moment: room.woken_moment(interest),
            asked: format!(
                "You were called: {}.",
                line(&interest.why.sentence, room.settings.session_message_chars_at_most.saturating_sub(NAMES_CHARS))
            ),
            reading: None,
        }),
        Think::Work { .. } => Err(Unasked::NotMine),
    }
}

/// A turn in short: what was said last, or how it began.
fn asked_in(room: &Room, agent: &Agent, conversation: &Conversation) -> String {
    let most = room.settings.session_message_chars_at_most.saturating_sub(NAMES_CHARS);
    match conversation.said.last() {
        Some(last) => format!("{} said: {}", name(&room.name_of(&last.by.0)), quoted(&last.text, most)),
        None => {
            let others: Vec<String> =
                room.others_in(conversation, agent.key).iter().map(|other| name(other).into_owned()).collect();
            let topic = conversation.topic.as_ref().map(|topic| format!(" about {}", quoted(topic, most)));
            format!("You began to talk with {}{}.", others.join(", "), topic.unwrap_or_default())
        }
    }
}
