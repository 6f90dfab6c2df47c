//! Measures the targets of the knowledge base: `cargo run --release --locked -p workshop-knowledge --example figures`.
//! MiniLM is included if `WORKSHOP_MINILM` names its folder, and a comparison with human judgements if `WORKSHOP_LEE`
//! names the folder with `lee.cor` and `similarities0-1.txt` (Lee, Pincombe and Welsh 2005: 50 news texts, every pair
//! judged by people; both are in the test data of gensim). Each time is the median of several, in one process, on one
//! thread; memories are made of words of many frequencies, as in real texts.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use workshop_knowledge::knowledge::{
    Db, Embedder, Filter, Index, KnowledgeBase, KnowledgeError, Memory, MiniLm, Owner, Query, RecallCount, Viewer,
    WordLlama, Write,
};

/// The words of the texts, most frequent first.
const WORDS: &str = include_str!("../fixtures/questions.tsv");
/// The formula was chosen with the first of the labelled questions, up to this number; the others were added later.
const TUNED: usize = 48;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }

    /// Draws an index; small ones are more frequent, as with words in texts.
    fn rank(&mut self, sides: usize) -> usize {
        let (one, other) = (self.roll(sides), self.roll(sides));
        one * other / sides.max(1)
    }
}

fn text(dice: &mut Dice, words: &[&str], count: usize) -> String {
    let picked: Vec<String> = (0..count)
        .map(|_| match dice.roll(8) {
            // Names and numbers, which are rare.
            0 => format!("{}{}", words[dice.rank(words.len())], dice.roll(5_000)),
            _ => words[dice.rank(words.len())].to_owned(),
        })
        .collect();
    picked.join(" ")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn timed<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = act();
    (start.elapsed(), done)
}

fn main() -> Result<(), KnowledgeError> {
    let mut words: Vec<&str> = WORDS.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    let model = WordLlama::built_in()?;
    let mut dice = Dice(7);
    let times = (0..2_000).map(|_| {
        let text = text(&mut dice, &words, 14);
        timed(|| model.embed(&text)).0
    });
    println!("a text of 14 words embedded: {:.4} ms", median(times.collect()));
    quality("built in", &model)?;
    judged("built in", &model)?;
    if let Ok(folder) = std::env::var("WORKSHOP_MINILM") {
        match MiniLm::open(Path::new(&folder)) {
            Ok(model) => {
                let times = (0..50).map(|_| {
                    let text = text(&mut dice, &words, 14);
                    timed(|| model.embed(&text)).0
                });
                println!("a text of 14 words embedded by MiniLM: {:.1} ms", median(times.collect()));
                quality("MiniLM", &model)?;
                judged("MiniLM", &model)?;
            }
            Err(error) => println!("MiniLM: {error}"),
        }
    }
    for count in [10_000, 100_000] {
        of(count, &words)?;
    }
    Ok(())
}

/// Measures how well the labelled questions find their memories.
fn quality(called: &str, model: &dyn Embedder) -> Result<(), KnowledgeError> {
    let pairs: Vec<(&str, &str)> = WORDS.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut index = Index::new(model.model(), model.dimensions());
    for (note, _) in &pairs {
        let embedding = model.embed(note)?;
        index.insert(Memory::new(&"ada".into(), note, None), RecallCount::default(), Some(&embedding))?;
    }
    for (way, by_meaning, by_words) in [("hybrid", true, true), ("by meaning", true, false), ("by words", false, true)]
    {
        let (mut first, mut among_five, mut reciprocal, mut untuned) = (0, 0, 0.0, 0);
        for (number, (note, question)) in pairs.iter().enumerate() {
            let embedding = model.embed(question)?;
            let embedding = Some(&embedding).filter(|_| by_meaning);
            let text = if by_words { question } else { "" };
            let query = Query { viewer: Viewer::Person, text, embedding, now: 0, limit: 50, filter: Filter::default() };
            let rank = index.recall(&query).iter().position(|one| one.entry.memory.content == *note);
            first += usize::from(rank == Some(0));
            untuned += usize::from(rank == Some(0) && number >= TUNED);
            among_five += usize::from(rank.is_some_and(|rank| rank < 5));
            reciprocal += rank.map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        }
        let count = pairs.len();
        let mean = reciprocal / count as f64;
        println!(
            "{called}, {count} labelled questions, {way}: hit@1 {first}, hit@5 {among_five}, MRR {mean:.3}; of the {} that nothing \
             was tuned on, hit@1 {untuned}",
            count - TUNED
        );
    }
    Ok(())
}

/// Compares a model's similarity of texts that it was not tuned on with the judgements of people, if `WORKSHOP_LEE`
/// names their folder.
fn judged(called: &str, model: &dyn Embedder) -> Result<(), KnowledgeError> {
    let Ok(folder) = std::env::var("WORKSHOP_LEE") else { return Ok(()) };
    let read = |name: &str| fs::read_to_string(Path::new(&folder).join(name)).unwrap_or_default();
    let (texts, people) = (read("lee.cor"), read("similarities0-1.txt"));
    let texts: Vec<&str> = texts.lines().filter(|line| !line.trim().is_empty()).collect();
    let people: Vec<Vec<f64>> =
        people.lines().map(|line| line.split_whitespace().filter_map(|number| number.parse().ok()).collect()).collect();
    let is_whole = texts.len() > 1 && people.len() >= texts.len() && people.iter().all(|row| row.len() >= texts.len());
    if !is_whole {
        println!("{called}: {folder} has no texts with judgements");
        return Ok(());
    }
    let vectors = texts.iter().map(|text| model.embed(text)).collect::<Result<Vec<_>, _>>()?;
    let mut pairs = Vec::new();
    for one in 0..texts.len() {
        for other in one + 1..texts.len() {
            // Each pair is in one half of the table only.
            let judged = people[one][other].max(people[other][one]);
            let similar = vectors[one].similarity(&vectors[other]).unwrap_or(0.0);
            pairs.push((f64::from(similar), judged));
        }
    }
    println!(
        "{called}, {} pairs of texts judged by people: correlation {:.3} (people with each other 0.60, latent semantic \
         analysis at its best 0.60, as published)",
        pairs.len(),
        correlation(&pairs)
    );
    Ok(())
}

/// Pearson's correlation.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let (one, other) = pairs.iter().fold((0.0, 0.0), |(one, other), pair| (one + pair.0, other + pair.1));
    let (one, other) = (one / count, other / count);
    let (mut both, mut of_one, mut of_other) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let (a, b) = (pair.0 - one, pair.1 - other);
        (both, of_one, of_other) = (both + a * b, of_one + a * a, of_other + b * b);
    }
    both / (of_one * of_other).sqrt()
}

fn of(count: usize, words: &[&str]) -> Result<(), KnowledgeError> {
    println!("{count} memories, half of them shared, half of the one who asks:");
    let folder = std::env::temp_dir().join(format!("workshop-knowledge-figures-{}", std::process::id()));
    let place = folder.join("knowledge.db");
    let mut dice = Dice(11);
    let mut texts: BTreeMap<Owner, String> = BTreeMap::new();
    let ada = Owner::Agent("ada".into());
    for number in 0..count {
        let owner = if number % 2 == 0 { ada.clone() } else { Owner::Shared };
        let length = 8 + dice.roll(12);
        let line = format!(
            "- {} <!-- k-{number} kind=fact created=2026-11-{:02}T10:00:00 importance=0.{} -->\n",
            text(&mut dice, words, length),
            1 + number % 28,
            1 + number % 9
        );
        texts.entry(owner).or_default().push_str(&line);
    }
    let open = || -> Result<KnowledgeBase, KnowledgeError> {
        let mut known = KnowledgeBase::new(Db::open(&place)?, Box::new(WordLlama::built_in()?))?;
        known.read(texts.clone())?;
        Ok(known)
    };
    let (first, known) = timed(open);
    drop(known?);
    println!("  opened without an index: {:.1} ms", first.as_secs_f64() * 1e3);
    let mut again = Vec::new();
    for _ in 0..5 {
        let (time, known) = timed(open);
        drop(known?);
        again.push(time);
    }
    println!("  opened: {:.1} ms", median(again));
    let mut known = open()?;
    let viewer = Viewer::Agent("ada".into());
    let mut recalls = Vec::new();
    for _ in 0..200 {
        let question = text(&mut dice, words, 8);
        let (time, found) = timed(|| known.recall(&viewer, &question, 1_800_000_000, 10, Filter::default()).len());
        assert_eq!(found, 10);
        recalls.push(time);
    }
    let ours = median(recalls);
    println!("  top 10 recalled, with embedding the question: {ours:.3} ms");
    others(&known, &mut dice, words, &folder, ours);
    let (mut meaning, mut by_words) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let question = text(&mut dice, words, 8);
        let Some(embedding) = known.embed(&question) else { continue };
        meaning.push(timed(|| known.index().similar(&viewer, &embedding, 50).len()).0);
        let (viewer, text) = (viewer.clone(), question.as_str());
        let query = Query { viewer, text, embedding: None, now: 0, limit: 10, filter: Filter::default() };
        by_words.push(timed(|| known.index().recall(&query).len()).0);
    }
    println!("    of it by meaning {:.3} ms, by words {:.3} ms", median(meaning), median(by_words));
    added(&mut known, &mut dice, words, &folder)?;
    drop(known);
    let _ = fs::remove_dir_all(&folder);
    Ok(())
}

/// Measures the same with numpy and Concordia, if `WORKSHOP_BASELINES` names a Python interpreter that has both.
#[expect(clippy::disallowed_methods, reason = "measures beside a Python program")]
fn others(known: &KnowledgeBase, dice: &mut Dice, words: &[&str], folder: &std::path::Path, ours: f64) {
    let Ok(python) = std::env::var("WORKSHOP_BASELINES") else { return };
    let numbers = |text: &str| -> Vec<f32> {
        let Some(embedding) = known.embed(text) else { return vec![0.0; known.embedder().dimensions()] };
        embedding.levels().iter().map(|level| f32::from(*level) * embedding.scale()).collect()
    };
    let bytes = |texts: &mut dyn Iterator<Item = String>| -> Vec<u8> {
        texts.flat_map(|text| numbers(&text)).flat_map(f32::to_le_bytes).collect()
    };
    let memories = known.index().all(&Viewer::Person);
    let memories = bytes(&mut memories.into_iter().map(|entry| entry.memory.content.clone()));
    let questions = bytes(&mut (0..200).map(|_| text(dice, words, 8)));
    let written = fs::write(folder.join("memories.f32"), memories)
        .and_then(|()| fs::write(folder.join("questions.f32"), questions));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/baselines.py");
    let dimensions = known.embedder().dimensions().to_string();
    let told = written.and_then(|()| Command::new(python).arg(script).arg(folder).arg(dimensions).output());
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned()).unwrap_or_default();
    let times: Vec<f64> = told.split_whitespace().filter_map(|time| time.parse().ok()).collect();
    match times.as_slice() {
        [numpy, concordia] => println!(
            "    numpy, exact and by meaning alone, the question's vector given: {numpy:.3} ms ({:.1} ×); Concordia: \
             {concordia:.3} ms ({:.0} ×)",
            numpy / ours,
            concordia / ours
        ),
        _ => println!("    numpy and Concordia could not be asked: {told}"),
    }
}

/// Measures adding one memory: to the file's text and the index, and then to the disk.
fn added(
    known: &mut KnowledgeBase,
    dice: &mut Dice,
    words: &[&str],
    folder: &std::path::Path,
) -> Result<(), KnowledgeError> {
    let path = folder.join("ada.md");
    let mut file: Option<File> = OpenOptions::new().create(true).append(true).open(&path).ok();
    let (mut indexed, mut written) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let memory = Memory::new(&"ada".into(), &text(dice, words, 14), Some(number));
        let (time, change) = timed(|| known.add(&memory));
        indexed.push(time);
        let Write::Append(line) = change?.write else { continue };
        let (time, _) =
            timed(|| file.as_mut().map(|file| file.write_all(line.as_bytes()).and_then(|()| file.sync_data())));
        written.push(time);
    }
    println!("  one added, embedded and indexed: {:.3} ms", median(indexed));
    println!("  its line appended and synced to disk: {:.3} ms", median(written));
    Ok(())
}
