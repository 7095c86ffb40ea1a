//! Conversations, whose prompts grow.

use serde::{Deserialize, Serialize};

use super::prompt::{Prompt, Role, Segment};
use super::{Nonce, PrefixTree, PromptsError, check_tokens};
use crate::Values;
use crate::seed::{named, numbered};
use crate::sessions::{count, mean_count};

/// Conversations of many turns: the prompt of a turn is all that was said before, and a new text of the user.
///
/// Answers of earlier turns stand in the prompt with the length that was asked for, in words of their own: what the
/// model really said is not needed to know what to send next. Who keeps the real answers sends the new text alone (the
/// last of [`messages`](Prompt::messages)) behind them.
///
/// How many turns there are and how long users think is [`Sessions`](crate::sessions::Sessions)' to say.
///
/// # How much a prefix cache hits
/// With P tokens of shared prefix, u of user text and a of answer in the mean, the prompt of turn t = 0, 1, … has
/// P + (t + 1)·u + t·a tokens. An endless cache knows those of the turn before, P + t·u + (t − 1)·a, and P of the
/// first turn; with the real answers, which the server has written and so knows as well, P + t·(u + a).
/// [`hit_share`](Conversations::hit_share) adds them up.
///
/// ```
/// use openloop_workload::prompts::{Conversations, Role};
///
/// let talk = Conversations::new("fixed:100".parse()?, "fixed:50".parse()?)?.context(1000);
/// let third = talk.turn(7, 41, 2).ok_or("within the context")?;
/// assert_eq!((third.input_tokens(), third.shared_tokens), (400, 250));
/// let roles: Vec<_> = third.messages().iter().map(|message| message.role).collect();
/// assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]);
/// // 7 user texts and 7 answers are more than 1000 tokens: the conversation ends.
/// assert!(talk.turn(7, 41, 6).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Table")]
pub struct Conversations {
    user: Values,
    answer: Values,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefixes: Option<PrefixTree>,
    nonce: Nonce,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    user: Values,
    answer: Values,
    prefixes: Option<PrefixTree>,
    #[serde(default)]
    nonce: Nonce,
    context: Option<u32>,
}

impl TryFrom<Table> for Conversations {
    type Error = PromptsError;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        Ok(Conversations {
            prefixes: table.prefixes,
            nonce: table.nonce,
            context: table.context,
            ..Conversations::new(table.user, table.answer)?
        })
    }
}

impl Conversations {
    /// Conversations whose user texts and answers have so many tokens each, to the nearest whole number and at least 1.
    ///
    /// # Errors
    /// When one could have more than 2²⁴ tokens, by a chance that is ever drawn.
    pub fn new(user: Values, answer: Values) -> Result<Self, PromptsError> {
        check_tokens("a user text", &user)?;
        check_tokens("an answer", &answer)?;
        Ok(Conversations {
            user,
            answer,
            prefixes: None,
            nonce: Nonce::None,
            context: None,
        })
    }

    /// With one of these shared prefixes ahead of each conversation.
    #[must_use]
    pub fn prefixes(self, prefixes: PrefixTree) -> Self {
        Conversations {
            prefixes: Some(prefixes),
            ..self
        }
    }

    /// With this nonce.
    #[must_use]
    pub fn nonce(self, nonce: Nonce) -> Self {
        Conversations { nonce, ..self }
    }

    /// With a context of `tokens`, the model's: a conversation ends ahead of the turn whose prompt and answer need
    /// more.
    #[must_use]
    pub fn context(self, tokens: u32) -> Self {
        Conversations {
            context: Some(tokens),
            ..self
        }
    }

    /// The prompt of turn number `turn`, from 0, of conversation number `session` of a run with this seed; `None` where
    /// it and its answer do not fit into the context.
    #[must_use]
    pub fn turn(&self, seed: u64, session: u64, turn: u32) -> Option<Prompt> {
        let most = u64::from(self.context.unwrap_or(u32::MAX));
        let own = self.nonce.unshared(seed);
        let mut segments = Vec::new();
        if let Some(tree) = &self.prefixes {
            segments.extend(tree.segments(self.nonce.shared(seed), tree.prefix(seed, session)));
        }
        let mut tokens: u64 = segments.iter().map(|part| u64::from(part.tokens)).sum();
        let mut shared = tokens;
        let part = |role: Role, name: &str, law: &Values, turn: u32| Segment {
            role,
            content: numbered(numbered(named(own, name), session), u64::from(turn)),
            tokens: count(law, numbered(named(seed, name), session), u64::from(turn)),
        };
        for now in 0..=turn {
            if now > 0 {
                shared = tokens;
                let answer = part(Role::Assistant, "answer", &self.answer, now - 1);
                tokens += u64::from(answer.tokens);
                segments.push(answer);
            }
            let user = part(Role::User, "user", &self.user, now);
            tokens += u64::from(user.tokens);
            segments.push(user);
            // Whatever follows needs even more.
            if tokens > most {
                return None;
            }
        }
        let answer = part(Role::Assistant, "answer", &self.answer, turn);
        if tokens + u64::from(answer.tokens) > most {
            return None;
        }
        Some(Prompt {
            segments,
            output_tokens: answer.tokens,
            shared_tokens: u32::try_from(shared).ok()?,
        })
    }

    /// The mean length of the prompt of turn number `turn`, from 0, where no context ends the conversation.
    #[must_use]
    pub fn mean_input_tokens(&self, turn: u32) -> f64 {
        let turn = f64::from(turn);
        self.prefix_tokens()
            + (turn + 1.0) * mean_count(&self.user)
            + turn * mean_count(&self.answer)
    }

    /// The share of the input tokens of conversations of `turns` turns that an endless cache hits, where no context
    /// ends them; 0 for no turns.
    #[must_use]
    pub fn hit_share(&self, turns: u32) -> f64 {
        self.share(turns, 0.0)
    }

    /// The same, when the real answers are sent back, which the server that wrote them knows as well.
    #[must_use]
    pub fn hit_share_with_real_answers(&self, turns: u32) -> f64 {
        self.share(turns, mean_count(&self.answer))
    }

    /// Σ over turns of what is known, over Σ of all; of the last answer, `known` tokens are.
    fn share(&self, turns: u32, known: f64) -> f64 {
        let later = f64::from(turns.saturating_sub(1));
        let (user, answer) = (mean_count(&self.user), mean_count(&self.answer));
        // Σ t over t = 0, …, turns − 1.
        let turns = f64::from(turns);
        let sum = turns * later / 2.0;
        let all = turns * (self.prefix_tokens() + user) + sum * (user + answer);
        let hits = turns * self.prefix_tokens() + sum * (user + answer) - later * (answer - known);
        if all > 0.0 { hits / all } else { 0.0 }
    }

    fn prefix_tokens(&self) -> f64 {
        self.prefixes
            .as_ref()
            .map_or(0.0, |tree| f64::from(tree.tokens()))
    }
}
