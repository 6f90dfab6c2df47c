//! Embeddings by a provider's model: requested in the vendor's format, validated, recorded, and replaced by the
//! built-in model if the provider does not answer.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agent_workshop::gateway::embedding::{EmbeddingAccess, EmbeddingMeter, ProviderEmbedder};
use agent_workshop::gateway::keys::Environment;
use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::gateway::{PriceSettings, vendors};
use agent_workshop::knowledge::{Embedder, Embedding, EmbeddingError, MiniLm};
use agent_workshop::learning::EmbedderInUse;
use agent_workshop::workspace::Problems;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::hostile_server::{NOBODY, Server, status};
use crate::model_requests::{KEY, short_timeouts};
use crate::peers;
use crate::program::{succeed, workshop, write};
use crate::working::Studio;

/// The vendors whose embedding formats the mock implements as documented.
const VENDORS: [&str; 2] = ["openai", "gemini"];

pub fn trials() -> Vec<Trial> {
    let own = cases![
        the_ollama_format_is_supported,
        invalid_vectors_are_refused_and_silent_servers_time_out,
        a_failed_server_is_not_called_again_for_a_while,
        memories_are_compared_by_the_configured_model_and_its_usage_recorded,
        memories_are_found_even_if_the_model_is_unreachable,
        caps_apply_to_embedding_calls,
        the_command_line_uses_the_same_model,
    ];
    let ignored = peers::is_ignored("embedding::format_of_*", peers::aimock().err());
    let of_vendor = |vendor: &'static str| {
        let run = move || {
            the_format_is_supported(vendor);
            Ok(())
        };
        Trial::test(format!("embedding::format_of_{vendor}"), run).with_ignored_flag(ignored)
    };
    let real = peers::is_ignored("embedding::similarity_of_a_real_model", peers::llama().err());
    let similarity_of_a_real_model = Trial::test("embedding::similarity_of_a_real_model", || {
        similarity_of_a_real_model();
        Ok(())
    });
    let minilm = peers::is_ignored("embedding::minilm_matches_its_published_vectors", peers::minilm().err());
    let minilm_matches_its_published_vectors = Trial::test("embedding::minilm_matches_its_published_vectors", || {
        minilm_matches_its_published_vectors();
        Ok(())
    });
    let real = [
        similarity_of_a_real_model.with_ignored_flag(real),
        minilm_matches_its_published_vectors.with_ignored_flag(minilm),
    ];
    own.into_iter().chain(VENDORS.map(of_vendor)).chain(real).collect()
}

/// Opens an embedding model of this vendor at this address, with both the address and a key in the environment.
fn open(vendor: &str, url: &str, meter: &EmbeddingMeter) -> Result<ProviderEmbedder, EmbeddingError> {
    open_with(vendor, url, meter, &short_timeouts())
}

fn open_with(
    vendor: &str,
    url: &str,
    meter: &EmbeddingMeter,
    settings: &GatewaySettings,
) -> Result<ProviderEmbedder, EmbeddingError> {
    let known = vendors::vendor(vendor).expect("the provider is a vendor");
    let keys = ["OPENAI_API_KEY", "GEMINI_API_KEY"].map(|name| (name, KEY.to_owned()));
    let environment = Environment::new(keys.into_iter().chain([(known.base_url_name, url.to_owned())]), None);
    let spec = format!("{vendor}:test-model");
    let access = EmbeddingAccess::of(&spec, settings, &PriceSettings::default(), environment);
    ProviderEmbedder::open(access.unwrap_or_else(|problem| panic!("{problem}")), None, meter.clone())
}

fn similarity(one: &Embedding, other: &Embedding) -> f32 {
    one.similarity(other).expect("both come from the same model")
}

/// With the mock server, texts are embedded, and the same text is requested only once.
fn the_format_is_supported(vendor: &str) {
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    write!(file, "{}", json!({ "fixtures": [] })).unwrap();
    let peer = peers::start_aimock(file.path(), &[]).expect("the mock starts");
    let meter = EmbeddingMeter::default();
    let embedder = open(vendor, &peer.url, &meter).unwrap_or_else(|error| panic!("{error}"));
    assert!(embedder.dimensions() >= 64, "{}", embedder.dimensions());
    let one = embedder.embed("Port 8080 is taken.").expect("the text can be embedded");
    assert!(
        (similarity(&one, &embedder.embed("Port 8080 is taken.").expect("the embedding is cached")) - 1.0).abs() < 0.01
    );
    // The mock does not support Gemini's batch requests.
    if vendor != "gemini" {
        let both = embedder.embed_all(&["", "Port 8080 is taken.", "Grüße, 東京", "a third"]);
        assert!(matches!(both[0], Err(EmbeddingError::Zero { .. })), "{:?}", both[0]);
        assert!(both[1..].iter().all(Result::is_ok), "{both:?}");
        let found = both[1].as_ref().expect("the text was embedded");
        assert!((similarity(&one, found) - 1.0).abs() < 0.01, "the vectors are in the order of the texts");
    }
    let journal = peer.get("/__aimock/journal").expect("the mock keeps a journal");
    assert_eq!(journal.matches("Port 8080 is taken.").count(), 1, "{journal}");
    assert!(journal.contains("test-model") || vendor == "gemini", "{journal}");
}

/// With a real model behind a real server, texts with a similar meaning are more similar than others.
fn similarity_of_a_real_model() {
    let peer = peers::start_llama_for_embeddings().expect("the server starts");
    let long_timeouts =
        GatewaySettings { stall_timeout_secs: 50.0, total_timeout_secs: 60.0, ..GatewaySettings::default() };
    let url = format!("{}/v1/", peer.url);
    let embedder = open_with("openai", &url, &EmbeddingMeter::default(), &long_timeouts);
    let embedder = embedder.unwrap_or_else(|error| panic!("{error}"));
    let texts = ["The cat takes its pills at eight.", "The cat takes its pills at nine.", "SELECT * FROM invoices;"];
    let found: Vec<Embedding> =
        embedder.embed_all(&texts).into_iter().map(|one| one.unwrap_or_else(|error| panic!("{error}"))).collect();
    assert!(similarity(&found[0], &found[1]) > similarity(&found[0], &found[2]), "{found:?}");
}

/// The vectors of MiniLM match those of candle and numpy, and a workspace can use it.
fn minilm_matches_its_published_vectors() {
    let folder = peers::minilm().expect("the model is installed");
    let model = MiniLm::open(folder).unwrap_or_else(|error| panic!("{error}"));
    let embedding = model.embed("This is an example sentence").expect("the text can be embedded");
    let expected = [0.067_657, 0.063_496, 0.048_713, 0.079_305, 0.037_448, 0.002_653];
    for (level, expected) in embedding.levels().iter().zip(expected) {
        let number = f32::from(*level) * embedding.scale();
        assert!((number - expected).abs() < 0.001, "{number} for {expected}");
    }
    let workspace = tempfile::tempdir().unwrap();
    let settings = format!("knowledge: {{ embedder: \"minilm:{}\" }}\n", folder.display());
    let memories =
        "- The supplier delivers only on Tuesdays. <!-- k-1 -->\n- Marta is allergic to peanuts. <!-- k-2 -->\n";
    for (path, text) in [
        ("scenes/test.yaml", SCENE),
        ("settings.yaml", settings.as_str()),
        ("agents/ada.md", "You are Ada.\n"),
        ("memory/knowledge/shared.md", memories),
    ] {
        write(workspace.path(), path, text);
    }
    let found = succeed(workspace.path(), &["knowledge", "query", "On which weekday do shipments arrive?"]);
    assert!(found.lines().next().is_some_and(|line| line.contains("Tuesdays")), "{found}");
    let doctor = succeed(workspace.path(), &["doctor"]);
    assert!(doctor.contains("MiniLM, from"), "{doctor}");
    write(workspace.path(), "settings.yaml", "knowledge: { embedder: \"minilm:/nowhere\" }\n");
    let found = workshop(workspace.path(), &["knowledge", "query", "peanuts"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(stderr.contains("/nowhere/config.json") && stderr.contains("wordllama"), "{stderr}");
    assert!(String::from_utf8_lossy(&found.stdout).contains("peanuts"), "word search finds the memory");
}

/// Starts a server that answers every embedding request with the result of `answer` for its texts.
fn embedding_server(answer: impl Fn(&[String]) -> Value + Send + Sync + 'static) -> Server {
    Server::start(move |stream, request, _| {
        let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let body = if body.is_empty() { &request[request.find('{').unwrap_or(request.len())..] } else { body };
        let asked: Value = serde_json::from_str(body).unwrap_or_default();
        let texts = match &asked["input"] {
            Value::String(text) => vec![text.clone()],
            several => several
                .as_array()
                .into_iter()
                .flatten()
                .map(|text| text.as_str().unwrap_or_default().to_owned())
                .collect(),
        };
        let answer = answer(&texts).to_string();
        let _written = stream.write_all(&status("200 OK", "content-type: application/json\r\n", &answer));
    })
}

/// Ollama's documented format has all texts in `input` and all vectors in `embeddings`. The third-party mock implements
/// only an older version of it.
fn the_ollama_format_is_supported() {
    let server = embedding_server(
        |texts| json!({ "model": "m", "embeddings": texts.iter().map(|text| letter_counts(text)).collect::<Vec<_>>(), "prompt_eval_count": 9 }),
    );
    let url = server.url.trim_end_matches("v1/");
    let embedder = open("ollama", url, &EmbeddingMeter::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(embedder.dimensions(), 26);
    let found = embedder.embed_all(&["port", "ports", "zzz"]);
    let one = |place: usize| found[place].as_ref().unwrap_or_else(|error| panic!("{error}"));
    assert!(similarity(one(0), one(1)) > 0.8 && similarity(one(0), one(2)) < 0.1);
}

/// Returns how often each letter occurs in a text, as an embedding: texts with the same words are similar.
fn letter_counts(text: &str) -> Vec<f32> {
    let count = |letter: char| text.chars().filter(|one| one.eq_ignore_ascii_case(&letter)).count() as f32;
    ('a'..='z').map(count).collect()
}

fn vectors(of: impl Iterator<Item = Value>) -> Value {
    let data: Vec<Value> = of
        .enumerate()
        .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
        .collect();
    json!({ "object": "list", "data": data, "model": "m", "usage": { "prompt_tokens": 7, "total_tokens": 7 } })
}

fn letter_vectors(texts: &[String]) -> Value {
    vectors(texts.iter().map(|text| json!(letter_counts(text))))
}

fn invalid_vectors_are_refused_and_silent_servers_time_out() {
    let vector_of = |text: &str| match text {
        "longer" => json!(vec![1.0; 27]),
        "null" => json!([null, 1.0]),
        "words" => json!("a vector"),
        "empty" => json!([]),
        "huge" => json!(vec![1e39; 26]),
        _ => json!(letter_counts(text)),
    };
    let server = embedding_server(move |texts| match texts.iter().any(|text| text == "fewer") {
        true => vectors(std::iter::empty()),
        false => vectors(texts.iter().map(|text| vector_of(text))),
    });
    let embedder = || open("openai", &server.url, &EmbeddingMeter::default()).unwrap_or_else(|error| panic!("{error}"));
    for text in ["longer", "null", "words", "empty", "huge", "fewer"] {
        let error = embedder().embed(text).expect_err("the vector is invalid");
        assert!(!error.to_string().contains(KEY), "{error}");
    }
    // One failure does not affect the other texts.
    let some = embedder().embed_all(&["fine", "longer"]);
    assert!(some[0].is_ok() && matches!(some[1], Err(EmbeddingError::Dimensions { .. })), "{some:?}");
    let silent = Server::start(|_, _, _| thread::sleep(Duration::from_secs(3)));
    let began = Instant::now();
    let settings = GatewaySettings { stall_timeout_secs: 9.0, total_timeout_secs: 0.4, ..short_timeouts() };
    let opened = open_with("openai", &silent.url, &EmbeddingMeter::default(), &settings);
    assert!(matches!(opened, Err(EmbeddingError::Unavailable { .. })));
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

fn a_failed_server_is_not_called_again_for_a_while() {
    let fails = Arc::new(AtomicBool::new(false));
    let is_failing = fails.clone();
    let server = Server::start(move |stream, request, _| {
        let answer = match is_failing.load(Ordering::SeqCst) {
            true => status("503 Service Unavailable", "", "{\"error\":{\"message\":\"overloaded\"}}"),
            false => {
                let texts = vec![String::from("x"); request.matches("word").count().max(1)];
                status("200 OK", "content-type: application/json\r\n", &letter_vectors(&texts).to_string())
            }
        };
        let _written = stream.write_all(&answer);
    });
    let settings = GatewaySettings { min_retry_delay_secs: 60.0, max_retry_delay_secs: 60.0, ..short_timeouts() };
    let embedder = open_with("openai", &server.url, &EmbeddingMeter::default(), &settings);
    let embedder = embedder.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(embedder.unavailable_reason(), None);
    fails.store(true, Ordering::SeqCst);
    let before = server.seen();
    for word in ["word one", "word two", "word three"] {
        let error = embedder.embed(word).expect_err("the server is overloaded");
        assert!(error.to_string().contains("overloaded"), "{error}");
    }
    assert_eq!(server.seen(), before + 1, "the server is called once and then not again");
    assert!(embedder.unavailable_reason().is_some_and(|why| why.contains("What to do:")));
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n";
const ADA: &str = "- Port 8080 is taken by the proxy. <!-- k-1 kind=procedure -->\n- zzzz qqqq. <!-- k-2 -->\n";

/// Opens a room in which Ada has two memories, compared by a model at this address.
fn studio(url: &str, more: &str) -> Studio {
    let settings = settings(url, more);
    let script = "latency: 0.1\nagents:\n  ada:\n    - { text: Done., repeat: true }\n";
    let files = [
        ("scenes/test.yaml", SCENE),
        ("settings.yaml", settings.as_str()),
        ("agents/ada.md", "You are Ada.\n"),
        ("memory/knowledge/ada.md", ADA),
    ];
    Studio::new(script, &files)
}

fn settings(url: &str, more: &str) -> String {
    format!(
        "gateway: {{ base_urls: {{ openai: \"{url}\" }}, connect_timeout_secs: 1, stall_timeout_secs: 5 }}\n\
         knowledge: {{ embedder: \"openai:letters\", min_similarity: 0.1 }}\n{more}"
    )
}

fn recalled(studio: &Studio) -> Vec<Value> {
    let events = studio.all("knowledge").into_iter().filter(|event| event["data"]["change"] == "recalled");
    events.cloned().collect()
}

fn in_use(studio: &mut Studio) -> EmbedderInUse {
    studio.world().resource::<EmbedderInUse>().clone()
}

fn embedder_problems(studio: &mut Studio) -> Vec<String> {
    let problems = studio.world().resource::<Problems>();
    problems.iter().filter(|problem| problem.place.contains("embedder")).map(ToString::to_string).collect()
}

fn memories_are_compared_by_the_configured_model_and_its_usage_recorded() {
    let server = embedding_server(letter_vectors);
    let mut studio = studio(&server.url, "");
    // Vectors are computed in the background, so the query is repeated until they exist.
    for _ in 0..20 {
        studio.task("ada", "Which port is taken by the proxy?");
        studio.idle();
        let is_near = |event: &Value| event["data"]["memories"][0]["similarity"].is_number();
        if recalled(&studio).last().is_some_and(is_near) {
            break;
        }
    }
    let last = recalled(&studio).pop().expect("a memory is recalled");
    let memory = &last["data"]["memories"][0];
    assert_eq!(memory["id"], "k-1");
    assert!(memory["similarity"].as_f64().is_some_and(|similarity| similarity > 0.8), "{memory}");
    let EmbedderInUse { model, trouble } = in_use(&mut studio);
    assert!(model.starts_with("openai:letters at http://127.0.0.1"), "{model}");
    assert_eq!(trouble, None);
    let calls: Vec<Value> =
        studio.all("model_call").into_iter().filter(|event| event["data"]["kind"] == "embedding").cloned().collect();
    assert!(!calls.is_empty(), "the calls are logged");
    assert!(calls.iter().all(|call| call["data"]["tokens"].as_u64() > Some(0)), "{calls:#?}");
    studio.close();
    // It replays without the server and without the files.
    std::fs::remove_dir_all(studio.folder.path().join("memory")).unwrap();
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

fn memories_are_found_even_if_the_model_is_unreachable() {
    let mut studio = studio(&format!("http://{NOBODY}/v1"), "");
    studio.task("ada", "Which port is taken by the proxy?");
    studio.idle();
    let found = recalled(&studio).pop().expect("a memory is recalled");
    assert_eq!(found["data"]["memories"][0]["id"], "k-1");
    let EmbedderInUse { model, trouble } = in_use(&mut studio);
    assert!(model.starts_with("wordllama"), "{model}");
    assert!(trouble.as_ref().is_some_and(|why| why.contains("openai:letters")), "{trouble:?}");
    let problems = embedder_problems(&mut studio);
    assert!(problems.len() == 1 && problems[0].contains("knowledge.embedder"), "there is one problem: {problems:?}");
}

fn caps_apply_to_embedding_calls() {
    let server = embedding_server(letter_vectors);
    let mut studio = studio(&server.url, "budget: { calls_per_run: 3 }\n");
    studio.task("ada", "Which port is taken by the proxy?");
    studio.until("the cap was reached", |studio| {
        studio.task("ada", "And which one is free?");
        !studio.all("budget").is_empty()
    });
    (0..200).for_each(|_| studio.tick());
    let before = server.seen();
    (0..200).for_each(|_| studio.tick());
    assert_eq!(server.seen(), before, "no requests are made once the cap is reached");
    assert!(before <= 4, "{before} requests with a cap of three calls");
}

fn the_command_line_uses_the_same_model() {
    let server = embedding_server(letter_vectors);
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("scenes/test.yaml", SCENE.to_owned()),
        ("settings.yaml", settings(&server.url, "")),
        ("agents/ada.md", "You are Ada.\n".to_owned()),
        ("memory/knowledge/ada.md", ADA.to_owned()),
    ];
    for (path, text) in files {
        write(folder.path(), path, &text);
    }
    let query = ["knowledge", "query", "taken by proxy", "--json"];
    let output = workshop(folder.path(), &query).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let first = &found["memories"][0];
    assert!(first.to_string().contains("k-1") && first.to_string().contains("similarity"), "{found}");
    let reindexed = workshop(folder.path(), &["knowledge", "reindex", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&reindexed.stdout).unwrap_or_else(|_| panic!("{reindexed:?}"));
    assert_eq!(report["embedded"], 2, "{report}");
    assert!(report["model"].as_str().is_some_and(|model| model.starts_with("openai:letters")), "{report}");
    let doctor = workshop(folder.path(), &["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("memory search") && doctor.contains("openai:letters"), "{doctor}");
    write(folder.path(), "settings.yaml", "knowledge: { embedder: \"anthropic:x\" }\n");
    let wrong = workshop(folder.path(), &["doctor"]).output().unwrap();
    let wrong = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(wrong.contains("anthropic has no embedding models"), "{wrong}");
}
