//! Painting tests: a test room in all states and both themes. Saves pictures if `WORKSHOP_PICTURES` names a folder.

use crate::element::MailStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{ColorImage, Context};

use super::*;
use crate::base::{AgentKey, ConversationKey, ElementKey, Id};
use crate::simulation::{ConversationKind, Held, Posture, Seated};
use crate::view::bubble::Bubble;
use crate::view::model::{ContentView, DecorView, ElementView, MailView, PinView, RelationshipView, TalkView};
use crate::view::raster::{Rasteriser, write_png};
use crate::view::recent_events::PulseKind;
use crate::view::text::fonts;
use crate::view::theme::contrast;

/// An agent at the origin.
pub(crate) fn agent(key: u32, name: &str, state: State) -> AgentView {
    let id: Id = format!("{}-{key}", name.to_lowercase()).into();
    AgentView {
        key: AgentKey(key),
        look: id.clone(),
        id,
        name: name.into(),
        profile: "researcher".into(),
        position: World::ZERO,
        heading: World::ZERO,
        walks: matches!(state, State::Wandering | State::Patrolling),
        posture: match state {
            State::Wandering | State::Patrolling => Posture::Walking,
            State::Reading => Posture::Reading,
            State::Working => Posture::Writing,
            State::Waiting => Posture::RaisingHand,
            _ => Posture::Standing,
        },
        holds: match state {
            State::Reading => Some(Held::Sheet),
            State::Working => Some(Held::Pen),
            _ => None,
        },
        seated: None,
        state,
        in_state_secs: 3.0,
        thinking: false,
        queued: 0,
        reads: None,
        detail: None,
    }
}

/// An element with this content.
pub(crate) fn element(key: u32, kind: &str, label: &str, position: World, content: ContentView) -> ElementView {
    ElementView {
        key: ElementKey(key),
        id: kind.into(),
        kind: kind.into(),
        label: label.into(),
        position,
        owner: None,
        file: None,
        content: Arc::new(content),
    }
}

fn made_up_room() -> (RoomModel, Recent) {
    let mut agents = Vec::new();
    for (name, state, x, y, heading) in [
        ("Ada", State::Conversing, -150.0, 215.0, 1.0),
        ("Bram", State::Conversing, 30.0, 235.0, -1.0),
        ("Cleo", State::Idle, 120.0, 130.0, 0.0),
        ("Dario", State::Wandering, -260.0, 120.0, 1.0),
        ("Edda", State::Reading, 225.0, -75.0, -0.4),
        ("Finn", State::Working, 330.0, 240.0, 1.0),
        ("Greta", State::Waiting, -60.0, 110.0, 0.0),
        ("Hugo", State::Idle, 210.0, 270.0, -1.0),
        ("Ines", State::Error, -330.0, -120.0, 0.0),
        ("Jon", State::Paused, 20.0, -150.0, 1.0),
        ("Kaja", State::Dragged, -90.0, -140.0, 0.0),
        ("Lev", State::Heartbeat, -330.0, 250.0, 1.0),
    ] {
        let mut agent = agent(agents.len() as u32, name, state);
        agent.position = World::new(x, y);
        agent.heading = World::new(heading, 0.0);
        agent.thinking = name == "Hugo";
        agents.push(agent);
    }
    let pin = |index: usize| PinView {
        id: format!("p{index}").into(),
        text: "A lending shelf".to_owned(),
        author: ["user", "ada-0", "finn-5"][index % 3].into(),
        time_secs: 0.0,
        up: Vec::new(),
        down: Vec::new(),
        comments: Vec::new(),
    };
    let mail = |read: bool| MailView {
        id: "m".into(),
        from: "ada-0".into(),
        to: "finn-5".into(),
        subject: "Reading corner".to_owned(),
        text: String::new(),
        status: MailStatus::Open,
        read,
        sent_secs: 0.0,
    };
    let rules = "# House rules\n\n- Say where you have something from.\n".repeat(14);
    let news = format!("# This week\n\n{}", "The reading corner opens on Saturday. ".repeat(6));
    let elements = vec![
        element(0, "rulebook", "House rules", World::new(0.0, 30.0), ContentView::Text(rules)),
        element(1, "messageboard", "News", World::new(-230.0, 0.0), ContentView::Text(news)),
        element(2, "pinboard", "Ideas", World::new(230.0, 0.0), ContentView::Pins((0..8).map(pin).collect())),
        element(
            3,
            "inbox",
            "Finn's inbox",
            World::new(400.0, -120.0),
            ContentView::Mail { items: vec![mail(false), mail(true), mail(false)], outbox: Vec::new() },
        ),
    ];
    let decor = [
        ("rug", 0.0, 200.0, 560.0, 250.0),
        ("shelf", 0.0, 395.0, 240.0, 60.0),
        ("plant", -420.0, 320.0, 60.0, 90.0),
        ("lamp", -400.0, 70.0, 40.0, 110.0),
        ("lamp", 440.0, 70.0, 40.0, 110.0),
        ("workbench", 350.0, 315.0, 160.0, 90.0),
        ("coffee", -220.0, 385.0, 60.0, 70.0),
        ("window", -120.0, -190.0, 300.0, 130.0),
    ];
    let decor = decor.map(|(kind, x, y, wide, high)| DecorView {
        kind: kind.into(),
        position: World::new(x, y),
        size: World::new(wide, high),
        turned: false,
    });
    let talk = TalkView {
        key: ConversationKey(0),
        kind: ConversationKind::Chance,
        participants: vec![AgentKey(0), AgentKey(1)],
        speaker: 0,
        topic: None,
        said: Vec::new(),
        turns: (1, 6),
    };
    let ties = vec![
        RelationshipView { from: AgentKey(5), to: AgentKey(2), label: "mentors".to_owned() },
        RelationshipView { from: AgentKey(3), to: AgentKey(6), label: "feeds".to_owned() },
    ];
    let room = RoomModel {
        agents,
        elements,
        decor: decor.to_vec().into(),
        conversations: vec![talk],
        relationships: ties,
        ..RoomModel::default()
    };
    let mut recent = Recent::default();
    let say = |text: &str, aloud| Bubble { text: text.to_owned(), born_secs: 8.6, aloud };
    recent.bubbles.insert(
        "ada-0".into(),
        say("Do we know **who** used the reading room before it was closed? I want to open the invitation with one of them, if they agree.", true),
    );
    recent.bubbles.insert("bram-1".into(), say("I *think* the archivist does.", true));
    recent.bubbles.insert("edda-4".into(), say("Eight ideas, and three are mine.", false));
    recent.reactions.insert("cleo-2".into(), ("!", 9.6));
    recent.pulses.insert("pinboard".into(), (PulseKind::Changed, 9.5));
    (room, recent)
}

struct Studio {
    context: Context,
    rasteriser: Rasteriser,
    art: Option<Art>,
}

impl Studio {
    fn new() -> Self {
        let context = Context::default();
        fonts::install(&context);
        Self { context, rasteriser: Rasteriser::default(), art: None }
    }

    fn picture(&mut self, name: &str, room: &RoomModel, recent: &Recent, look: &PaintParameters) -> ColorImage {
        let Self { context, rasteriser, art } = self;
        let art = art.get_or_insert_with(|| Art::load(context, 1.0).0);
        let size = look.camera.viewport.size();
        let picture = rasteriser.picture_of(context, size, 1.0, 2, |ui| {
            super::room(ui.painter(), room, recent, art, look, &mut Labels::default());
            let map = Rect::from_min_size(look.camera.viewport.right_bottom() - vec2(190.0, 134.0), vec2(178.0, 122.0));
            minimap(ui.painter(), map, room, look.camera, look.theme);
        });
        keep(&picture, name);
        picture
    }
}

fn look(selected: &BTreeSet<RoomObject>, zoom: f32, middle: World, dark: bool) -> PaintParameters<'_> {
    let camera = Camera { zoom, middle, ..Camera::default() };
    PaintParameters {
        camera,
        theme: Theme::of(dark),
        now_secs: 10.0,
        selected,
        hovered: None,
        pointer: None,
        quiet: false,
        who_knows: None,
        still: true,
    }
}

fn keep(picture: &ColorImage, name: &str) {
    if let Ok(folder) = std::env::var("WORKSHOP_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{name}.png"));
        write_png(picture, &path).expect("the picture is kept");
    }
}

fn colours_in(picture: &ColorImage) -> usize {
    picture.pixels.iter().map(|pixel| pixel.to_array()).collect::<HashSet<_>>().len()
}

#[test]
fn all_agents_are_visible_in_both_themes() {
    let (room, recent) = made_up_room();
    let selected = BTreeSet::from([RoomObject::Agent("cleo-2".into()), RoomObject::Element("rulebook".into())]);
    let mut studio = Studio::new();
    for dark in [false, true] {
        let look = look(&selected, 1.0, World::new(20.0, 110.0), dark);
        let name = if dark { "room-evening" } else { "room-day" };
        let picture = studio.picture(name, &room, &recent, &look);
        assert!(colours_in(&picture) > 2000, "a room is full of colour");
        let empty = RoomModel { decor: room.decor.clone(), ..RoomModel::default() };
        let without = studio.picture(&format!("{name}-empty"), &empty, &Recent::default(), &look);
        for agent in &room.agents {
            let body = look.camera.to_screen(agent.position + World::new(0.0, 20.0));
            let at = (body.x as usize, body.y as usize);
            assert_ne!(picture[at], without[at], "{} is not to be seen", agent.name);
        }
    }
}

#[test]
fn a_refusal_shows_a_sign_and_its_text_when_selected() {
    let (room, mut recent) = made_up_room();
    let mut studio = Studio::new();
    let (none, finn) = (BTreeSet::new(), BTreeSet::from([RoomObject::Agent("finn-5".into())]));
    for dark in [false, true] {
        let name = if dark { "refused-evening" } else { "refused-day" };
        let mut picture = |name: &str, recent: &Recent, selected| {
            studio.picture(name, &room, recent, &look(selected, 1.0, World::new(20.0, 110.0), dark))
        };
        let differ = |one: &ColorImage, other: &ColorImage| {
            one.pixels.iter().zip(&other.pixels).filter(|(one, other)| one != other).count()
        };
        recent.refusals.clear();
        let (before, looked_at) =
            (picture("refused-before", &recent, &none), picture("refused-before", &recent, &finn));
        recent.refusals.insert("finn-5".into(), ("there is no pin called p9 on Ideas".to_owned(), 7.0));
        let sign = differ(&before, &picture(&format!("{name}-sign"), &recent, &none));
        let words = differ(&looked_at, &picture(name, &recent, &finn));
        assert!(sign > 60 && sign < 1_000, "{sign} points are the sign");
        assert!(words > 3_000, "{words} points are the words");
        recent.refusals.insert("finn-5".into(), ("long ago".to_owned(), -1.0));
        assert_eq!(differ(&before, &picture("refused-after", &recent, &none)), 0, "it has faded");
    }
}

/// Collects the layout jobs of all texts in a shape.
fn laid_out(shape: &egui::Shape, into: &mut Vec<egui::text::LayoutJob>) {
    match shape {
        egui::Shape::Text(text) => into.push((*text.galley.job).clone()),
        egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| laid_out(shape, into)),
        _ => {}
    }
}

#[test]
fn text_has_few_sizes_and_fading_does_not_lay_it_out_again() {
    let (room, mut recent) = made_up_room();
    recent.refusals.insert("finn-5".into(), ("there is no pin called p9 on Ideas".to_owned(), 9.0));
    let finn = BTreeSet::from([RoomObject::Agent("finn-5".into())]);
    let context = Context::default();
    fonts::install(&context);
    let art = Art::load(&context, 1.0).0;
    let texts = |zoom: f32, now_secs: f64, is_zooming: bool| {
        let mut look = PaintParameters { now_secs, ..look(&finn, zoom, World::new(20.0, 110.0), false) };
        look.camera.is_zooming = is_zooming;
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            super::room(ui.painter(), &room, &recent, &art, &look, &mut Labels::default());
        });
        output.textures_delta.clear();
        let mut jobs = Vec::new();
        output.shapes.iter().for_each(|shape| laid_out(&shape.shape, &mut jobs));
        jobs
    };
    for step in 0..60 {
        let zoom = 0.12 * 1.06_f32.powi(step);
        // Whole font sizes while zooming, otherwise quarters of a point.
        for (is_zooming, parts) in [(true, 1.0), (false, 4.0)] {
            for job in texts(zoom, 10.0, is_zooming) {
                let sizes = job.sections.iter().map(|section| parts * section.format.font_id.size);
                assert!(sizes.clone().all(|size| size.fract() == 0.0), "{}: {:?}", job.text, sizes.collect::<Vec<_>>());
            }
        }
    }
    let before = texts(1.0, 10.0, false);
    assert!(before.iter().any(|job| job.text == "!") && before.iter().any(|job| job.text.contains("no pin")));
    for job in texts(1.0, 10.1, false) {
        assert!(before.contains(&job), "{} is laid out anew", job.text);
    }
}

#[test]
fn every_zoom_shows_something() {
    let (room, recent) = made_up_room();
    let none = BTreeSet::new();
    let mut studio = Studio::new();
    for (zoom, middle) in [(0.15, World::ZERO), (0.3, World::ZERO), (0.6, World::ZERO), (3.0, World::new(60.0, 185.0))]
    {
        for dark in [false, true] {
            let name = format!("zoom-{zoom}-{}", if dark { "evening" } else { "day" });
            let picture = studio.picture(&name, &room, &recent, &look(&none, zoom, middle, dark));
            assert!(colours_in(&picture) > 300, "{name}");
        }
    }
}

#[test]
fn thirty_figures_are_distinguishable() {
    let agents = (0..32).map(|key| {
        let mut agent = agent(key, "Figure", State::ALL[key as usize % State::ALL.len()]);
        agent.state = State::Idle;
        agent.position = World::new((key % 8) as f32 * 60.0 - 210.0, (key / 8) as f32 * 72.0 - 120.0);
        agent.heading = World::new([0.0, 1.0, -1.0][key as usize % 3], 0.0);
        agent
    });
    let room = RoomModel { agents: agents.collect(), ..RoomModel::default() };
    let none = BTreeSet::new();
    let picture =
        Studio::new().picture("figures", &room, &Recent::default(), &look(&none, 2.4, World::new(0.0, 10.0), false));
    assert!(colours_in(&picture) > 1000);
}

#[test]
fn held_objects_and_seats_are_visible_in_both_themes_and_omitted_when_zoomed_out() {
    let (none, mut studio) = (BTreeSet::new(), Studio::new());
    let mut shown = |(holds, seated): (Option<Held>, Option<Seated>), zoom: f32, dark: bool| {
        let mut ada = agent(0, "Ada", State::Idle);
        (ada.holds, ada.seated) = (holds, seated);
        let room = RoomModel { agents: vec![ada], ..RoomModel::default() };
        let name = format!("holds-{holds:?}-{seated:?}-{zoom}-{}", if dark { "evening" } else { "day" });
        studio.picture(&name, &room, &Recent::default(), &look(&none, zoom, World::new(0.0, 20.0), dark))
    };
    let hands = [Held::Pen, Held::Sheet, Held::Book, Held::Letter, Held::Cup].map(|held| (Some(held), None));
    let seats = [Seated::OnBench, Seated::AtDesk].map(|seated| (None, Some(seated)));
    let all: Vec<_> = hands.into_iter().chain(seats).collect();
    for dark in [false, true] {
        let (near, far) = (shown((None, None), 1.0, dark), shown((None, None), 0.4, dark));
        let mut pictures = vec![near.clone()];
        for what in &all {
            let picture = shown(*what, 1.0, dark);
            let pixels = picture.pixels.iter().zip(&near.pixels);
            let clear = pixels.filter(|(one, other)| contrast(**one, **other) >= 1.4).count();
            assert!(clear >= 12, "{what:?}, dark={dark}: {clear} points are seen at its own size");
            assert!(!pictures.contains(&picture), "{what:?} looks like another");
            pictures.push(picture);
            assert!(shown(*what, 0.4, dark) == far, "{what:?} is a speck from afar");
        }
    }
}

#[test]
fn postures_are_distinguishable() {
    let bearings = [
        (State::Working, Some(Held::Pen), Some(Seated::AtDesk)),
        (State::Working, Some(Held::Pen), None),
        (State::Reading, Some(Held::Sheet), None),
        (State::Reading, Some(Held::Book), None),
        (State::Wandering, Some(Held::Letter), None),
        (State::Idle, Some(Held::Cup), None),
        (State::Idle, None, Some(Seated::OnBench)),
    ];
    let agents = bearings.into_iter().zip(0..).map(|((state, holds, seated), key)| {
        let mut agent = agent(key, "Figure", state);
        (agent.holds, agent.seated) = (holds, seated);
        agent.position = World::new(key as f32 * 64.0 - 192.0, 0.0);
        agent
    });
    let bench = DecorView {
        kind: "bench".into(),
        position: World::new(192.0, 20.0),
        size: World::new(140.0, 60.0),
        turned: false,
    };
    let room = RoomModel { agents: agents.collect(), decor: vec![bench].into(), tick: 20, ..RoomModel::default() };
    let (none, mut studio) = (BTreeSet::new(), Studio::new());
    for dark in [false, true] {
        let name = format!("bearings-{}", if dark { "evening" } else { "day" });
        let picture = studio.picture(&name, &room, &Recent::default(), &look(&none, 2.4, World::new(0.0, 10.0), dark));
        assert!(colours_in(&picture) > 500);
    }
}

#[test]
fn lists_can_show_figures_and_elements() {
    let mut studio = Studio::new();
    let Studio { context, rasteriser, .. } = &mut studio;
    let art = Art::load(context, 2.0).0;
    let kinds = ["pinboard", "messageboard", "inbox", "rulebook", "other"];
    let picture = rasteriser.picture_of(context, vec2(260.0, 110.0), 2.0, 2, |ui| {
        ui.painter().rect_filled(Rect::EVERYTHING, 0.0, Theme::of(false).panel);
        for (index, kind) in kinds.into_iter().enumerate() {
            let left = 5.0 + 50.0 * index as f32;
            portrait(ui.painter(), Rect::from_min_size(pos2(left, 5.0), vec2(40.0, 50.0)), kind, &art);
            element_picture(ui.painter(), Rect::from_min_size(pos2(left, 60.0), vec2(48.0, 40.0)), kind, &art);
        }
    });
    keep(&picture, "lists");
    assert!(colours_in(&picture) > 300);
}

#[test]
fn level_of_detail_depends_on_the_zoom() {
    for (zoom, detail) in [
        (0.1, Detail::Dots),
        (0.24, Detail::Dots),
        (0.25, Detail::Figures),
        (0.44, Detail::Figures),
        (0.45, Detail::Names),
        (3.0, Detail::Names),
    ] {
        assert_eq!(Detail::at(zoom), detail, "at {zoom}");
    }
}

/// Worst-case input: overlong names and texts, right-to-left scripts, and invalid positions.
fn hostile_room() -> (RoomModel, Recent) {
    let (mut room, mut recent) = made_up_room();
    for (index, agent) in room.agents.iter_mut().enumerate() {
        agent.name = match index % 4 {
            0 => "N".repeat(200).into(),
            1 => "Zeile eins\nZeile zwei\r\n\tDrei".into(),
            2 => "مرحبا بكم في الورشة".into(),
            _ => "👩🏽‍🔧".repeat(30).into(),
        };
        let said = ["word ".repeat(2_000), "ا".repeat(10_000), "\u{202e}backward".repeat(700), "\n".repeat(9_000)];
        let bubble = Bubble { text: said[index % 4].clone(), born_secs: 9.0, aloud: index % 2 == 0 };
        recent.bubbles.insert(agent.id.clone(), bubble);
    }
    room.agents[0].position = World::new(f32::NAN, 0.0);
    room.agents[1].position = World::new(f32::INFINITY, 1e30);
    room.agents[2].heading = World::new(f32::NAN, f32::NAN);
    let pin = |index: usize| PinView {
        id: format!("p{index}").into(),
        text: "x".repeat(2_000),
        author: format!("somebody-{index}").into(),
        time_secs: 0.0,
        up: Vec::new(),
        down: Vec::new(),
        comments: Vec::new(),
    };
    let pins = ContentView::Pins((0..5_000).map(pin).collect());
    let blank = ContentView::Text("\n".repeat(200_000));
    room.elements.push(element(10, "pinboard", &"L".repeat(300), World::new(-60.0, 20.0), pins));
    room.elements.push(element(11, "messageboard", "two\nlines", World::new(60.0, 20.0), blank));
    room.elements.push(element(12, "", "", World::splat(f32::NAN), ContentView::Text(String::new())));
    Arc::make_mut(&mut room.decor).push(DecorView {
        kind: "shelf".into(),
        position: World::ZERO,
        size: World::new(1e9, 1e-9),
        turned: false,
    });
    Arc::make_mut(&mut room.decor).push(DecorView {
        kind: "no such thing".into(),
        position: World::ZERO,
        size: World::new(60.0, 60.0),
        turned: false,
    });
    Arc::make_mut(&mut room.decor).push(DecorView {
        kind: "rug".into(),
        position: World::ZERO,
        size: World::new(1e9, 1e9),
        turned: false,
    });
    (room, recent)
}

#[test]
fn hostile_content_can_be_painted() {
    let (room, recent) = hostile_room();
    let none = BTreeSet::new();
    let mut studio = Studio::new();
    for (width, height) in [(200.0, 200.0), (480.0, 800.0), (1280.0, 800.0)] {
        for zoom in [0.1, 0.3, 1.0, 3.0] {
            let mut look = look(&none, zoom, World::ZERO, true);
            look.camera.viewport = Rect::from_min_size(Pos2::ZERO, vec2(width, height));
            let begun = Instant::now();
            let picture = studio.picture(&format!("hostile-{width}-{zoom}"), &room, &recent, &look);
            assert_eq!(picture.size, [width as usize, height as usize]);
            assert!(begun.elapsed() < Duration::from_secs(20), "{width} at {zoom} took {:?}", begun.elapsed());
        }
    }
}

#[test]
fn without_drawings_the_floor_is_bare() {
    let (room, recent) = made_up_room();
    let none = BTreeSet::new();
    let context = Context::default();
    let art = Art::default();
    let look = look(&none, 1.0, World::new(20.0, 110.0), false);
    let picture = Rasteriser::default().picture_of(&context, look.camera.viewport.size(), 1.0, 2, |ui| {
        super::room(ui.painter(), &room, &recent, &art, &look, &mut Labels::default());
        portrait(ui.painter(), Rect::from_min_size(Pos2::ZERO, vec2(40.0, 50.0)), "ada", &art);
        element_picture(ui.painter(), Rect::from_min_size(Pos2::ZERO, vec2(40.0, 50.0)), "inbox", &art);
    });
    assert!(picture.pixels.iter().all(|pixel| *pixel == look.theme.floor));
}

/// A room of many agents, all talking, on a square.
fn crowd(count: u32) -> (RoomModel, Recent) {
    let side = f64::from(count).sqrt().ceil() as u32;
    let mut recent = Recent::default();
    let agents: Vec<AgentView> = (0..count)
        .map(|key| {
            let mut agent = agent(key, "Somebody", State::ALL[key as usize % State::ALL.len()]);
            agent.position =
                (World::new((key % side) as f32, (key / side) as f32) - World::splat(side as f32 / 2.0)) * 52.0;
            let text = "I think that this is **quite** a good idea, and that we should try it.".to_owned();
            recent.bubbles.insert(agent.id.clone(), Bubble { text, born_secs: 9.0, aloud: true });
            agent
        })
        .collect();
    let talks = (0..count / 2).map(|index| TalkView {
        key: ConversationKey(index),
        kind: ConversationKind::Chance,
        participants: vec![AgentKey(2 * index), AgentKey(2 * index + 1)],
        speaker: 0,
        topic: None,
        said: Vec::new(),
        turns: (1, 6),
    });
    (RoomModel { conversations: talks.collect(), agents, ..RoomModel::default() }, recent)
}

/// The fastest painting and tessellation of several runs.
fn cost(room: &RoomModel, recent: &Recent, zoom: f32) -> (Duration, Duration) {
    let context = Context::default();
    fonts::install(&context);
    let art = Art::load(&context, 1.0).0;
    let none = BTreeSet::new();
    let look = look(&none, zoom, World::ZERO, false);
    let mut best = (Duration::MAX, Duration::MAX);
    let mut labels = Labels::default();
    for _ in 0..8 {
        let mut painting = Duration::ZERO;
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let begun = Instant::now();
            super::room(ui.painter(), room, recent, &art, &look, &mut labels);
            painting = begun.elapsed();
        });
        let begun = Instant::now();
        let shapes = std::mem::take(&mut output.shapes);
        assert!(!context.tessellate(shapes, 1.0).is_empty());
        best = (best.0.min(painting), best.1.min(begun.elapsed()));
        output.textures_delta.clear();
    }
    best
}

#[test]
fn a_crowd_is_painted_within_a_frame() {
    for (count, zoom) in [(1_000, 0.45), (1_000, 1.0), (10_000, 0.15), (10_000, 0.26)] {
        let (room, recent) = crowd(count);
        let (painting, tessellating) = cost(&room, &recent, zoom);
        println!("{count} agents at {zoom}: painted in {painting:?}, tessellated in {tessellating:?}");
        // A generous limit: tests run unoptimised and in parallel. The measured times are in the output.
        assert!(painting < Duration::from_millis(400), "{count} agents at {zoom}: {painting:?}");
    }
}
