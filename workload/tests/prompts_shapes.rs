//! What prompts are made of: lengths, sharing, nonces, and that a seed gives the same to everybody.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use openloop_workload::prompts::{
    Conversations, Level, Nonce, PrefixTree, Prompt, Prompts, PromptsError, Role, Vocabulary,
};
use proptest::prelude::*;

fn prompts(unshared: &str, output: &str) -> Prompts {
    Prompts::new(unshared.parse().unwrap(), output.parse().unwrap()).unwrap()
}

fn tree() -> PrefixTree {
    let levels = [(2, 10), (3, 20), (5, 5)].map(|(nodes, tokens)| Level { nodes, tokens });
    PrefixTree::new(&levels, 1.0).unwrap()
}

/// How many words two texts have in common at their start.
fn common(one: &str, other: &str) -> usize {
    let pairs = one.split(' ').zip(other.split(' '));
    pairs.take_while(|(one, other)| one == other).count()
}

#[test]
fn text_has_as_many_words_and_ids_as_many_numbers_as_tokens_are_asked_for() {
    let prompts = prompts("lognormal:mean=80,cv=2,max=2000", "fixed:1").prefixes(tree());
    let vocabulary = Vocabulary::new(500..1500).unwrap();
    for seq in 0..200 {
        let prompt = prompts.prompt(3, seq);
        let tokens = prompt.input_tokens() as usize;
        let text = prompt.text();
        assert_eq!(text.split(' ').count(), tokens);
        assert!(text.split(' ').all(|word| !word.is_empty()));
        let ids = prompt.token_ids(vocabulary);
        assert_eq!(ids.len(), tokens);
        assert!(ids.iter().all(|id| (500..1500).contains(id)));
        let messages = prompt.messages();
        let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User]);
        let whole = format!("{} {}", messages[0].text, messages[1].text);
        assert_eq!(whole, text);
    }
}

#[test]
fn lengths_have_the_means_that_are_told() {
    let prompts = prompts("lognormal:mean=80,cv=1", "exponential:5").prefixes(tree());
    let n = 50_000_u64;
    let (mut input, mut output) = (0.0, 0.0);
    for seq in 0..n {
        let prompt = prompts.prompt(3, seq);
        input += prompt.input_tokens() as f64;
        output += f64::from(prompt.output_tokens);
    }
    let (input, output) = (input / n as f64, output / n as f64);
    // Four standard errors: standard deviations of 80 and 5.
    let root = (n as f64).sqrt();
    assert!(
        (input - prompts.mean_input_tokens()).abs() < 4.0 * 80.0 / root,
        "{input}"
    );
    assert!(
        (output - prompts.mean_output_tokens()).abs() < 4.0 * 5.0 / root,
        "{output}"
    );
    assert!((prompts.mean_input_tokens() - 115.0).abs() < 0.1);
}

#[test]
fn prompts_begin_alike_as_far_as_they_share_the_tree_and_no_further() {
    let (tree, prompts) = (tree(), prompts("fixed:50", "fixed:1").prefixes(tree()));
    let mut depths = [0; 4];
    for seq in 0..400 {
        let (one, other) = (tree.prefix(3, seq), tree.prefix(3, seq + 1));
        // The leaves below a node of the three levels: 15, 5 and 1.
        let (one, other) = (one - 1, other - 1);
        let same = [15, 5, 1].map(|below| one / below == other / below);
        let depth = same.iter().take_while(|same| **same).count();
        depths[depth] += 1;
        let shared = [0, 10, 30, 35][depth];
        let found = common(
            &prompts.prompt(3, seq).text(),
            &prompts.prompt(3, seq + 1).text(),
        );
        // One word more is the same by a chance of 1 in 512.
        assert!(
            (shared..shared + 2).contains(&found),
            "{found} for {shared}"
        );
        assert_eq!(prompts.prompt(3, seq).shared_tokens, 35);
    }
    assert!(depths.iter().all(|&count| count > 10), "{depths:?}");
}

#[test]
fn a_nonce_changes_what_is_said_and_nothing_else() {
    let plain = prompts("lognormal:mean=80,cv=1", "exponential:5").prefixes(tree());
    let shape = |prompt: &Prompt| {
        let tokens: Vec<_> = prompt.segments.iter().map(|part| part.tokens).collect();
        (tokens, prompt.output_tokens, prompt.shared_tokens)
    };
    for (one, other, shared) in [
        (Nonce::None, Nonce::None, usize::MAX),
        (Nonce::None, Nonce::Run(1), 0),
        (Nonce::Run(1), Nonce::Run(2), 0),
        (Nonce::None, Nonce::Unshared(1), 35),
        (Nonce::Unshared(1), Nonce::Unshared(2), 35),
    ] {
        let (one, other) = (plain.clone().nonce(one), plain.clone().nonce(other));
        for seq in 0..50 {
            let (one, other) = (one.prompt(3, seq), other.prompt(3, seq));
            assert_eq!(shape(&one), shape(&other));
            let found = common(&one.text(), &other.text());
            let expected = shared.min(one.input_tokens() as usize);
            assert!(
                (expected..expected + 3).contains(&found),
                "{found} for {expected}"
            );
        }
    }
    // Within a run, sharing is as it was.
    let run = plain.nonce(Nonce::Run(1));
    let tree = tree();
    let mut first = None;
    for seq in (0..100).filter(|&seq| tree.prefix(3, seq) == 1) {
        let text = run.prompt(3, seq).text();
        let first = first.get_or_insert_with(|| text.clone());
        assert!(common(first, &text) >= 35);
    }
    assert_eq!(Nonce::Run(5).text().split(' ').count(), 16);
    assert_ne!(Nonce::Run(5).text(), Nonce::Run(6).text());
    assert_eq!(Nonce::None.text(), "");
}

#[test]
fn no_two_requests_share_their_own_text() {
    let prompts = prompts("fixed:40", "fixed:1");
    let mut texts: Vec<_> = (0..2_000)
        .map(|seq| prompts.prompt(3, seq).text())
        .collect();
    texts.sort_unstable();
    // 5 words alike are a chance of 512⁻⁵ a pair, 6·10⁻⁸ among two million pairs.
    assert!(texts.windows(2).all(|pair| common(&pair[0], &pair[1]) < 5));
}

#[test]
fn the_prompt_of_a_turn_is_that_of_the_turn_before_and_more() {
    let talk = Conversations::new(
        "exponential:30".parse().unwrap(),
        "exponential:60".parse().unwrap(),
    );
    let talk = talk.unwrap().prefixes(tree()).nonce(Nonce::Run(4));
    for session in 0..20 {
        let turns: Vec<_> = (0..6)
            .map(|turn| talk.turn(3, session, turn).unwrap())
            .collect();
        assert_eq!(turns[0].shared_tokens, 35);
        for pair in turns.windows(2) {
            let before = pair[0].text();
            assert!(pair[1].text().starts_with(&format!("{before} ")));
            assert_eq!(u64::from(pair[1].shared_tokens), pair[0].input_tokens());
            // The answer stands in the prompt with the length that was asked for.
            let [.., answer, user] = &pair[1].segments[..] else {
                unreachable!()
            };
            assert_eq!((answer.role, user.role), (Role::Assistant, Role::User));
            assert_eq!(answer.tokens, pair[0].output_tokens);
        }
    }
}

#[test]
fn a_conversation_ends_where_its_context_does() {
    let talk = |context| {
        let talk = Conversations::new("fixed:10".parse().unwrap(), "fixed:5".parse().unwrap());
        talk.unwrap().context(context)
    };
    // Turn t needs 15·(t + 1) tokens with its answer.
    for (context, turns) in [(14, 0), (15, 1), (29, 1), (30, 2), (1500, 100)] {
        let found = (0..).take_while(|&turn| talk(context).turn(1, 0, turn).is_some());
        assert_eq!(found.count(), turns);
    }
}

#[test]
fn a_seed_gives_the_same_prompts_for_ever() {
    let prompts = prompts("lognormal:mean=6,cv=1", "exponential:5").prefixes(tree());
    let first = prompts.prompt(1, 0);
    assert_eq!(
        first.text(),
        "per players may members present invest care then event result less net return own part before prof \
         cost long ref deb too told result spec even cut across direct you line mean went little bel three does point"
    );
    let lengths: Vec<_> = (0..6)
        .map(|seq| prompts.prompt(1, seq))
        .map(|prompt| (prompt.input_tokens(), prompt.output_tokens))
        .collect();
    assert_eq!(
        lengths,
        [(38, 3), (39, 1), (42, 3), (38, 1), (40, 1), (39, 3)]
    );
    let ids = first.token_ids(Vocabulary::new(1000..2000).unwrap());
    assert_eq!(ids[..6], [1130, 1769, 1327, 1422, 1123, 1089]);
    let talk = Conversations::new("fixed:3".parse().unwrap(), "fixed:2".parse().unwrap()).unwrap();
    assert_eq!(
        talk.turn(1, 0, 1).unwrap().text(),
        "fail est sec rest out sing view new"
    );
    assert_eq!(
        talk.nonce(Nonce::Run(9)).turn(1, 0, 0).unwrap().text(),
        "fail let came"
    );
    assert_eq!(
        Nonce::Run(9).text(),
        "hold out along than camp mod count about what from months top support count ins almost"
    );
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let new = |unshared: &str, output: &str| {
        Prompts::new(unshared.parse().unwrap(), output.parse().unwrap()).map(|_| ())
    };
    let part = "a prompt";
    let error = new("fixed:2e7", "fixed:1").unwrap_err();
    assert_eq!(error, PromptsError::TooLong { part, tokens: 2e7 });
    assert!(error.to_string().contains("max=8192"));
    assert!(new("fixed:1", "lognormal:mean=1e5,cv=9").is_err());
    let level = |nodes, tokens| Level { nodes, tokens };
    for (levels, skew) in [
        (&[][..], 1.0),
        (&[level(1, 1); 9], 1.0),
        (&[level(0, 1)], 1.0),
        (&[level(1, 0)], 1.0),
        (&[level(1 << 40, 1), level(1 << 40, 1)], 1.0),
        (&[level(1, 1 << 24), level(1, 1)], 1.0),
        (&[level(1, 1)], -1.0),
        (&[level(1, 1)], f64::NAN),
    ] {
        assert!(PrefixTree::new(levels, skew).is_err(), "{levels:?} {skew}");
    }
    assert!(Vocabulary::new(5..5).is_err());
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = Vocabulary::new(5..4);
    assert!(reversed.is_err());
}

#[test]
fn files_hold_prompts_and_never_bad_ones() {
    let whole = prompts("lognormal:mean=80,cv=1", "fixed:5")
        .prefixes(tree())
        .nonce(Nonce::Unshared(3));
    for prompts in [prompts("fixed:1", "fixed:2"), whole] {
        let json = serde_json::to_string(&prompts).unwrap();
        assert_eq!(
            serde_json::from_str::<Prompts>(&json).unwrap(),
            prompts,
            "{json}"
        );
    }
    let talk = r#"{"user": "fixed:3", "answer": "fixed:4", "context": 4096, "nonce": {"run": 1}}"#;
    let talk: Conversations = serde_json::from_str(talk).unwrap();
    let json = serde_json::to_string(&talk).unwrap();
    assert_eq!(serde_json::from_str::<Conversations>(&json).unwrap(), talk);
    let vocabulary = Vocabulary::new(1000..30_000).unwrap();
    let json = serde_json::to_string(&vocabulary).unwrap();
    assert_eq!(json, r#"{"first":1000,"count":29000}"#);
    assert_eq!(
        serde_json::from_str::<Vocabulary>(&json).unwrap(),
        vocabulary
    );
    for json in [
        r#"{"unshared": "fixed:1"}"#,
        r#"{"unshared": "fixed:1", "output": "fixed:1", "input": "fixed:1"}"#,
        r#"{"unshared": "fixed:2e7", "output": "fixed:1"}"#,
        r#"{"unshared": "fixed:1", "output": "fixed:1", "nonce": "always"}"#,
        r#"{"unshared": "fixed:1", "output": "fixed:1", "prefixes": {"levels": [], "skew": 1}}"#,
    ] {
        assert!(serde_json::from_str::<Prompts>(json).is_err(), "{json}");
    }
    for json in [
        r#"{"first":4294967295,"count":2}"#,
        r#"{"first":1,"count":0}"#,
    ] {
        assert!(serde_json::from_str::<Vocabulary>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn a_prompt_is_the_same_whoever_asks(seed in any::<u64>(), seq in any::<u64>(), run in any::<u64>()) {
        let prompts = prompts("lognormal:mean=20,cv=1", "exponential:5").prefixes(tree()).nonce(Nonce::Run(run));
        let again: Prompts = serde_json::from_str(&serde_json::to_string(&prompts).unwrap()).unwrap();
        let prompt = prompts.prompt(seed, seq);
        prop_assert_eq!(&prompt, &again.prompt(seed, seq));
        prop_assert!(prompt.output_tokens >= 1 && prompt.input_tokens() > 35);
        prop_assert_eq!(prompt.text().split(' ').count() as u64, prompt.input_tokens());
    }
}
