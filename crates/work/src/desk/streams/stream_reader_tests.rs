//! Tests of streams: each complete line is delivered once, whatever happens to the file.

use proptest::prelude::*;

use super::*;

/// Reads all new lines of a text: line number, and the text of the message if the line is one.
fn all(place: &mut StreamPosition, text: &str) -> Vec<(usize, Result<String, ()>)> {
    place.follow(text);
    let mut new = Vec::new();
    while let Some(line) = place.next(text) {
        new.push((line.number, line.message.clone().map(|message| message.text).map_err(drop)));
        place.mark_read(text, &line);
    }
    new
}

fn line(text: &str) -> String {
    format!("{{\"text\":\"{text}\"}}\n")
}

fn said(text: &str) -> Result<String, ()> {
    Ok(text.to_owned())
}

#[test]
fn appended_lines_are_delivered_once_and_equal_lines_are_separate_messages() {
    let mut place = StreamPosition::default();
    let mut text = line("one") + &line("two");
    assert_eq!(all(&mut place, &text), [(1, said("one")), (2, said("two"))]);
    assert_eq!(all(&mut place, &text), []);
    text += "\r\n";
    text += &line("two");
    assert_eq!(all(&mut place, &text), [(4, said("two"))]);
    let saved = serde_json::to_string(&place).expect("it is plain data");
    let mut place: StreamPosition = serde_json::from_str(&saved).expect("it should be");
    assert_eq!(all(&mut place, &text), []);
}

#[test]
fn an_incomplete_line_waits_and_a_complete_one_needs_no_newline() {
    let mut place = StreamPosition::default();
    let whole = "{\"text\":\"tea {now}\"}";
    for cut in 1..whole.len() {
        assert_eq!(all(&mut place, &whole[..cut]), [], "{cut}");
    }
    assert_eq!(all(&mut place, whole), [(1, said("tea {now}"))]);
    assert_eq!(all(&mut place, &format!("{whole}\n")), []);
    assert_eq!(all(&mut place, &format!("{whole}\n{}", line("more"))), [(2, said("more"))]);
}

#[test]
fn an_invalid_line_is_reported_and_the_others_are_delivered() {
    let mut place = StreamPosition::default();
    let text = format!("{}oops\n[1]\n{{}}\n{{\"text\":\"{}\"}}\n{}", line("one"), "x".repeat(70_000), line("two"));
    let new = all(&mut place, &text);
    assert_eq!(new, [(1, said("one")), (2, Err(())), (3, Err(())), (4, Err(())), (5, Err(())), (6, said("two"))]);
}

#[test]
fn a_truncated_rotated_or_edited_stream_delivers_only_new_lines() {
    checks_rule!("each-message-arrives-once");
    let mut place = StreamPosition::default();
    let text = line("one") + &line("two") + &line("two");
    all(&mut place, &text);
    assert_eq!(all(&mut place, &(line("two") + &line("two"))), [], "the first was taken out");
    assert_eq!(all(&mut place, &line("three")), [(1, said("three"))], "rotated");
    assert_eq!(all(&mut place, ""), []);
    assert_eq!(all(&mut place, &line("four")), [(1, said("four"))], "cut");
}

#[test]
fn common_key_names_are_recognized() {
    for (line, from, to, subject, text, channel, time) in [
        (
            r#"{"from":"Sarah","text":"hi","channel":"ops","ts":"1.5"}"#,
            "Sarah",
            None,
            "",
            "hi",
            Some("ops"),
            Some("1.5"),
        ),
        (r#"{"user":{"name":"sam"},"message":"hi","timestamp":7}"#, "sam", None, "", "hi", None, Some("7")),
        (
            r#"{"sender":"a@b.c","subject":"S","body":"B","to":"@lead","date":"d"}"#,
            "a@b.c",
            Some("lead"),
            "S",
            "B",
            None,
            Some("d"),
        ),
        (r#"{"subject":"S"}"#, "somebody", None, "S", "", None, None),
    ] {
        let message = read(line).expect("it is a message");
        let told = (&*message.from, message.to.as_deref(), &*message.subject, &*message.text);
        assert_eq!(
            (told, message.channel.as_deref(), message.time.as_deref()),
            ((from, to, subject, text), channel, time)
        );
    }
}

proptest! {
    /// However lines are appended and read in between, each is delivered once, in order.
    #[test]
    fn each_line_is_delivered_once_however_it_is_appended(words in prop::collection::vec("[a-c{}\\\\\" ]{0,6}", 0..20), cuts in prop::collection::vec(0_usize..400, 0..20)) {
        let lines: Vec<String> = words.iter().map(|word| serde_json::json!({ "text": format!("w{word}") }).to_string()).collect();
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).filter(|cut| text.is_char_boundary(*cut)).collect();
        cuts.sort_unstable();
        cuts.push(text.len());
        let mut place = StreamPosition::default();
        let mut came = Vec::new();
        for cut in cuts {
            came.extend(all(&mut place, &text[..cut]).into_iter().map(|(_, said)| said));
        }
        let expected: Vec<Result<String, ()>> = words.iter().map(|word| Ok(format!("w{word}").trim().to_owned())).collect();
        prop_assert_eq!(came, expected);
    }

    /// In any sequence of file contents, no line is delivered more often than it occurred in one of them.
    #[test]
    fn no_line_is_delivered_twice_whatever_happens_to_the_file(files in prop::collection::vec(prop::collection::vec(0_u8..6, 0..8), 1..8)) {
        let mut place = StreamPosition::default();
        let mut came = [0_usize; 6];
        let mut most = [0_usize; 6];
        for file in &files {
            let text = file.iter().map(|word| line(&format!("w{word}"))).collect::<String>();
            for (_, said) in all(&mut place, &text) {
                let word = said.expect("it is whole");
                came[word[1..].parse::<usize>().expect("a number")] += 1;
            }
            for (word, most) in most.iter_mut().enumerate() {
                *most += file.iter().filter(|one| usize::from(**one) == word).count();
            }
        }
        for word in 0..6 {
            let once = files.iter().any(|file| file.contains(&(word as u8)));
            prop_assert!(came[word] <= most[word] && (!once || came[word] >= 1), "{word}: {came:?}");
        }
    }
}
