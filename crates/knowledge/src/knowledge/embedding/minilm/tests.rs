//! A small network of the same architecture has the same results as an independent computation (numpy, in 64 bits), and
//! files that are not a model are rejected.

use std::fmt::Write as _;
use std::path::Path;

use super::*;

const WIDTH: usize = 16;
const WIDE: usize = 24;
const LAYERS: usize = 2;
const VOCABULARY: &str = "[CLS]\n[SEP]\n[UNK]\nthe\ncat\n##s\nsat\nport\n80\n##80\n.\n東\n";
/// The result of numpy for "The cats sat."
const EXPECTED: [f32; WIDTH] = [
    -0.77972, 0.06443, 0.14902, -0.19194, 0.02785, 0.11764, -0.34252, 0.11344, 0.0744, -0.32147, 0.05513, 0.15563,
    -0.13764, -0.04314, 0.10236, -0.12887,
];

fn tables() -> Vec<(String, Vec<usize>)> {
    let named = |name: &str, shape: &[usize]| (name.to_owned(), shape.to_vec());
    let mut all = vec![
        named("embeddings.word_embeddings.weight", &[VOCABULARY.lines().count(), WIDTH]),
        named("embeddings.position_embeddings.weight", &[256, WIDTH]),
        named("embeddings.token_type_embeddings.weight", &[2, WIDTH]),
        named("embeddings.LayerNorm.weight", &[WIDTH]),
        named("embeddings.LayerNorm.bias", &[WIDTH]),
    ];
    for layer in 0..LAYERS {
        let linears = [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", WIDE, WIDTH),
            ("output.dense", WIDTH, WIDE),
        ];
        for (name, outputs, inputs) in linears {
            all.push((format!("encoder.layer.{layer}.{name}.weight"), vec![outputs, inputs]));
            all.push((format!("encoder.layer.{layer}.{name}.bias"), vec![outputs]));
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            all.push((format!("encoder.layer.{layer}.{name}.weight"), vec![WIDTH]));
            all.push((format!("encoder.layer.{layer}.{name}.bias"), vec![WIDTH]));
        }
    }
    all
}

/// Returns a file with these tables, whose numbers follow from their positions.
fn safetensors() -> Vec<u8> {
    let (mut head, mut bytes) = (String::from("{\"__metadata__\":{\"format\":\"pt\"}"), Vec::new());
    for (table, (name, shape)) in tables().into_iter().enumerate() {
        let from = bytes.len();
        for number in 0..shape.iter().product::<usize>() {
            let number = ((number * 31 + table * 17) % 97) as f32 / 97.0 - 0.5;
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let _ = write!(
            head,
            ",\"{name}\":{{\"dtype\":\"F32\",\"shape\":{shape:?},\"data_offsets\":[{from},{}]}}",
            bytes.len()
        );
    }
    head.push('}');
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &bytes].concat()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let config = format!(
        "{{\"model_type\":\"bert\",\"hidden_act\":\"gelu\",\"hidden_size\":{WIDTH},\"num_hidden_layers\":{LAYERS},\
         \"num_attention_heads\":4,\"intermediate_size\":{WIDE},\"max_position_embeddings\":256,\"vocab_size\":12,\
         \"layer_norm_eps\":1e-12}}"
    );
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("it can be written");
    write("config.json", config.as_bytes());
    write("vocab.txt", VOCABULARY.as_bytes());
    write("model.safetensors", &safetensors());
    folder
}

#[test]
fn a_small_network_matches_an_independent_computation() {
    let folder = folder();
    let model = MiniLm::open(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(model.pieces("The cats sat."), [0, 3, 4, 5, 6, 10, 1]);
    let embedding = model.embed("The cats sat.").expect("it should have an embedding");
    for (level, expected) in embedding.levels().iter().zip(EXPECTED) {
        let number = f32::from(*level) * embedding.scale();
        // Embeddings have 8 bits per number.
        assert!((number - expected).abs() < 0.004, "{number} for {expected}");
    }
    assert!(model.embed("  \n").is_err());
    let long = "cats ".repeat(100_000);
    assert_eq!(model.pieces(&long).len(), MAX_PIECES);
    assert!(model.embed(&long).is_ok());
}

#[test]
fn words_are_tokenized_like_the_original() {
    let pieces = WordPieces::new(VOCABULARY).expect("it has what is needed");
    for (text, expected) in [
        ("Cäts\u{0}", vec![0, 4, 5, 1]),
        ("port8080", vec![0, 7, 9, 9, 1]),
        ("ports9", vec![0, 2, 1]),
        ("port 8080.", vec![0, 7, 8, 9, 10, 1]),
        ("the東cat", vec![0, 3, 11, 4, 1]),
        ("", vec![0, 1]),
    ] {
        assert_eq!(pieces.numbers_of(text, 256), expected, "{text:?}");
    }
    assert_eq!(pieces.numbers_of("the cat sat", 3), [0, 3, 1]);
    assert!(WordPieces::new("the\ncat\n").is_err());
}

#[test]
fn invalid_models_are_refused_with_a_remedy() {
    let refused = |spoil: &dyn Fn(&Path)| {
        let folder = folder();
        spoil(folder.path());
        MiniLm::open(folder.path()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let write = |name: &'static str, bytes: Vec<u8>| {
        move |folder: &Path| fs::write(folder.join(name), &bytes).expect("it can be written")
    };
    let whole = safetensors();
    let cut = whole[..whole.len() - 5].to_vec();
    let mut endless = whole.clone();
    endless[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut odd = whole.clone();
    let last = odd.len() - 4;
    odd[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    for (spoiled, told) in [
        (refused(&write("model.safetensors", cut)), "truncated"),
        (refused(&write("model.safetensors", endless)), "truncated"),
        (refused(&write("model.safetensors", odd)), "not a number"),
        (refused(&write("model.safetensors", b"{}".to_vec())), "download the model again"),
        (refused(&write("vocab.txt", b"the\n".to_vec())), "[CLS]"),
        (refused(&write("config.json", b"{}".to_vec())), "config.json"),
        (refused(&|folder| fs::remove_file(folder.join("config.json")).expect("it should exist")), "config.json"),
    ] {
        assert!(spoiled.contains(told), "{told} in {spoiled:?}");
    }
}
