//! Contents that are no more than a number: the same number, the same words or token ids.

use crate::draws::Draws;

/// "content" in ASCII.
const STREAM: u64 = 0x63_6f6e_7465_6e74;

/// Appends the first `count` words of the content number `content`, each behind a space.
pub(super) fn words(content: u64, count: u32, text: &mut String) {
    let mut draws = Draws::of(content, STREAM, 0);
    // Words have 5.4 bytes in the mean, with their space.
    text.reserve(6 * count as usize);
    let mut left = count;
    while left > 0 {
        let mut bits = draws.next();
        // Nine bits a word.
        for _ in 0..left.min(7) {
            text.push_str(WORDS[(bits & 511) as usize]);
            bits >>= 9;
        }
        left -= left.min(7);
    }
}

/// Appends the first `count` token ids of the content number `content`, in `first..first + ids`.
///
/// An id is the upper half of 32 random bits times `ids`: of two ids one may come 2⁻³²·`ids` times as often again as
/// the other, which is 3·10⁻⁵ in a vocabulary of 128k.
pub(super) fn token_ids(content: u64, count: u32, first: u32, ids: u32, tokens: &mut Vec<u32>) {
    let mut draws = Draws::of(content, STREAM, 0);
    tokens.reserve(count as usize);
    let mut left = count;
    while left > 0 {
        let bits = draws.next();
        for half in [bits & 0xffff_ffff, bits >> 32]
            .into_iter()
            .take(left as usize)
        {
            tokens.push(first + ((half * u64::from(ids)) >> 32) as u32);
        }
        left -= left.min(2);
    }
}

/// Words that are one token each, with the space ahead of them, for the tokenizers of GPT-2, GPT-3.5 and 4
/// (cl100k), GPT-4o (o200k), Llama 2, Llama 3, Mistral, Qwen 2.5 and Gemma 2; in all of them a text of 4096 of these
/// words had 4096 tokens. Common, short and harmless.
#[rustfmt::skip]
const WORDS: [&str; 512] = [
    " the", " and", " that", " for", " you", " with", " con", " was", " pro",
    " are", " not", " from", " have", " this", " can", " his", " has", " but",
    " all", " will", " they", " out", " who", " their", " more", " one", " said",
    " your", " which", " about", " were", " had", " comp", " would", " off", " res",
    " man", " per", " other", " been", " like", " dis", " any", " app", " them",
    " her", " there", " year", " some", " when", " than", " over", " also", " part",
    " time", " what", " new", " get", " just", " into", " people", " pre", " its",
    " rec", " work", " she", " our", " him", " only", " how", " after", " att",
    " play", " could", " first", " act", " comm", " bet", " two", " back", " under",
    " may", " most", " did", " add", " pol", " again", " know", " need", " cons",
    " want", " see", " even", " these", " use", " because", " now", " make", " then",
    " every", " sec", " look", " where", " years", " diff", " should", " rem", " def",
    " right", " through", " way", " don", " ass", " reg", " very", " imp", " sub",
    " being", " does", " down", " many", " call", " before", " well", " much", " those",
    " such", " end", " long", " think", " bel", " own", " set", " show", " say",
    " eff", " good", " start", " made", " mon", " last", " stud", " col", " mod",
    " count", " fin", " point", " sur", " used", " same", " while", " game", " sim",
    " inter", " report", " still", " here", " world", " though", " ret", " ref", " trans",
    " take", " conf", " going", " spec", " hand", " between", " ear", " against", " high",
    " ins", " help", " found", " person", " great", " sign", " ser", " run", " follow",
    " find", " mem", " team", " system", " lead", " around", " govern", " cur", " cour",
    " car", " law", " read", " real", " support", " really", " fact", " day", " both",
    " three", " med", " each", " che", " rep", " met", " says", " during", " char",
    " cor", " too", " public", " power", " few", " state", " head", " poss", " stat",
    " another", " child", " since", " life", " develop", " pass", " turn", " second", " disc",
    " fil", " month", " without", " leg", " put", " quest", " never", " level", " art",
    " things", " might", " effect", " cent", " allow", " feel", " result", " lot", " fun",
    " using", " big", " ask", " best", " number", " must", " direct", " open", " post",
    " come", " seem", " week", " far", " place", " form", " told", " stand", " next",
    " soc", " pur", " let", " little", " hum", " mark", " bus", " invest", " hard",
    " import", " appro", " test", " rest", " full", " care", " case", " less", " list",
    " top", " home", " left", " better", " data", " bro", " build", " main", " got",
    " keep", " eas", " class", " var", " small", " ide", " plan", " percent", " camp",
    " pay", " pos", " process", " program", " name", " four", " return", " called", " move",
    " group", " men", " cap", " pat", " current", " pop", " always", " mil", " old",
    " near", " free", " design", " change", " chang", " vis", " book", " away", " able",
    " country", " order", " million", " thing", " why", " school", " aff", " days", " ann",
    " prof", " health", " sol", " already", " friend", " least", " prom", " hist", " est",
    " tell", " talk", " until", " later", " view", " word", " cost", " enough", " give",
    " par", " large", " win", " clear", " expect", " kind", " mean", " past", " dev",
    " bas", " organ", " del", " perform", " story", " season", " claim", " came", " within",
    " line", " project", " control", " air", " money", " family", " making", " bit", " happen",
    " vers", " sit", " sure", " appear", " light", " water", " times", " grow", " company",
    " mar", " example", " fore", " ever", " tax", " major", " often", " human", " job",
    " record", " sing", " news", " hour", " become", " took", " having", " product", " means",
    " hop", " certain", " non", " deal", " side", " reason", " elect", " hold", " city",
    " sever", " once", " night", " done", " working", " body", " whether", " author", " proper",
    " seen", " cond", " course", " event", " eng", " pot", " intern", " short", " dam",
    " press", " doing", " protect", " thought", " several", " given", " fund", " went", " meet",
    " games", " makes", " won", " love", " account", " ident", " others", " prob", " young",
    " along", " yet", " members", " among", " employ", " low", " likely", " ant", " ben",
    " access", " known", " early", " fight", " sent", " today", " market", " based", " strong",
    " deb", " problem", " social", " mus", " months", " viol", " five", " players", " success",
    " present", " try", " suggest", " crit", " land", " local", " asked", " former", " close",
    " getting", " across", " comb", " believe", " face", " value", " area", " writ", " key",
    " mom", " mind", " future", " cut", " tot", " video", " net", " connect", " above",
    " amount", " either", " anal", " fail", " special", " looking", " fire", " almost",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn words_are_different_short_and_behind_one_space() {
        assert_eq!(WORDS.iter().collect::<BTreeSet<_>>().len(), 512);
        for word in WORDS {
            assert!(word.len() <= 8 && word.starts_with(' '));
            assert!(word[1..].bytes().all(|byte| byte.is_ascii_lowercase()));
        }
        let mean = WORDS.iter().map(|word| word.len()).sum::<usize>() as f64 / 512.0;
        assert!((mean - 5.36).abs() < 0.01, "{mean}");
    }

    #[test]
    fn a_shorter_content_is_the_beginning_of_a_longer_one() {
        let (mut all, mut ids) = (String::new(), Vec::new());
        words(7, 100, &mut all);
        token_ids(7, 100, 10, 90, &mut ids);
        for count in 0..100 {
            let (mut text, mut tokens) = (String::new(), Vec::new());
            words(7, count, &mut text);
            token_ids(7, count, 10, 90, &mut tokens);
            assert_eq!(text.split_whitespace().count(), count as usize);
            assert!(all.starts_with(&text));
            assert_eq!(tokens, ids[..count as usize]);
        }
    }

    #[test]
    fn every_word_and_every_id_comes_as_often_as_any_other() {
        // χ² with 511 degrees of freedom: 618 at 0.1 % (Wilson and Hilferty).
        let chi_square = |counts: &[f64], expected: f64| {
            counts
                .iter()
                .map(|count| (count - expected).powi(2) / expected)
                .sum::<f64>()
        };
        let (mut text, mut ids) = (String::new(), Vec::new());
        words(3, 512_000, &mut text);
        token_ids(3, 512_000, 1000, 512, &mut ids);
        let (mut by_word, mut by_id) = (vec![0.0; 512], vec![0.0; 512]);
        for word in text[1..].split(' ') {
            by_word[WORDS.iter().position(|known| &known[1..] == word).unwrap()] += 1.0;
        }
        for id in ids {
            by_id[id as usize - 1000] += 1.0;
        }
        for counts in [by_word, by_id] {
            let found = chi_square(&counts, 1000.0);
            assert!(found < 618.0, "{found}");
        }
    }
}
