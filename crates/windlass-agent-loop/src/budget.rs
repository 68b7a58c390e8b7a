//! What a session may cost. The worst case is reserved before a request is sent, and settled by
//! what the provider counted.

use serde::{Deserialize, Serialize};
use windlass_ports::Usage;

/// Millionths of a dollar.
pub type Micros = u64;

/// What a session may use; absent means without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Money, in millionths of a dollar.
    pub micros: Option<Micros>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Calls of tools.
    pub tool_calls: Option<u64>,
}

/// What a model costs, in millionths of a dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Read.
    pub input: Micros,
    /// Written.
    pub output: Micros,
    /// Read from a cache.
    pub cache_read: Micros,
    /// Put into a cache.
    pub cache_write: Micros,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Money, in millionths of a dollar; what has no price counts nothing.
    pub micros: Micros,
    /// What the provider counted, added up.
    pub usage: Usage,
    /// Calls of tools that ran.
    pub tool_calls: u64,
}

/// What a request may cost at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Money.
    pub micros: Micros,
    /// Tokens.
    pub tokens: u64,
}

/// Why there is no room for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRoom {
    /// The money is spent.
    Money,
    /// The tokens are.
    Tokens,
    /// The calls of tools are.
    ToolCalls,
    /// The budget is in money, and the model has no price.
    NoPrice,
}

impl Price {
    /// The price of what a provider counted.
    pub fn of(self, usage: &Usage) -> Micros {
        let cached = usage.cached_prompt_tokens.unwrap_or_default();
        let written = usage.cache_write_tokens.unwrap_or_default();
        let plain = usage
            .prompt_tokens
            .saturating_sub(cached.saturating_add(written));
        let parts = [
            (plain, self.input),
            (cached, self.cache_read),
            (written, self.cache_write),
            (usage.completion_tokens, self.output),
        ];
        let sum: u128 = parts
            .iter()
            .map(|(tokens, price)| u128::from(*tokens) * u128::from(*price))
            .sum();
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// The most that a request can cost: nothing from a cache, the longest answer.
    pub fn worst(self, input: u64, output: u64) -> Micros {
        let input_price = self.input.max(self.cache_write);
        let sum = u128::from(input) * u128::from(input_price)
            + u128::from(output) * u128::from(self.output);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl Budget {
    /// Reserves room for a request, or says what is used up.
    pub fn reserve(
        &self,
        spent: &Spent,
        price: Option<Price>,
        input: u64,
        output: u64,
    ) -> Result<Reservation, NoRoom> {
        let tokens = input.saturating_add(output);
        if let Some(limit) = self.tokens
            && spent.usage.total_tokens.saturating_add(tokens) > limit
        {
            return Err(NoRoom::Tokens);
        }
        let micros = match (self.micros, price) {
            (None, price) => price.map_or(0, |price| price.worst(input, output)),
            (Some(_), None) => return Err(NoRoom::NoPrice),
            (Some(limit), Some(price)) => {
                let worst = price.worst(input, output);
                if spent.micros.saturating_add(worst) > limit {
                    return Err(NoRoom::Money);
                }
                worst
            }
        };
        if self
            .tool_calls
            .is_some_and(|limit| spent.tool_calls >= limit)
        {
            return Err(NoRoom::ToolCalls);
        }
        Ok(Reservation { micros, tokens })
    }
}

impl Spent {
    /// Adds what a request cost. A provider that does not count is taken at the reservation: it
    /// is better to stop too early than to spend what nobody allowed.
    pub fn settle(&mut self, usage: Option<Usage>, price: Option<Price>, reserved: Reservation) {
        let Some(usage) = usage else {
            self.usage.total_tokens = self.usage.total_tokens.saturating_add(reserved.tokens);
            self.micros = self.micros.saturating_add(reserved.micros);
            return;
        };
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        let add_some = |sum: &mut Option<u64>, more: Option<u64>| {
            if let Some(more) = more {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        };
        let all = &mut self.usage;
        add(&mut all.prompt_tokens, usage.prompt_tokens);
        add(&mut all.completion_tokens, usage.completion_tokens);
        add(&mut all.total_tokens, usage.total_tokens);
        add_some(&mut all.cached_prompt_tokens, usage.cached_prompt_tokens);
        add_some(&mut all.cache_write_tokens, usage.cache_write_tokens);
        add_some(&mut all.reasoning_tokens, usage.reasoning_tokens);
        if let Some(price) = price {
            add(&mut self.micros, price.of(&usage));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
    };

    fn usage(prompt: u64, cached: u64, completion: u64) -> Usage {
        Usage {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
            cached_prompt_tokens: Some(cached),
            ..Usage::default()
        }
    }

    #[test]
    fn prices() {
        assert_eq!(PRICE.of(&usage(1_000, 0, 100)), 4_500);
        assert_eq!(PRICE.of(&usage(1_000, 900, 100)), 300 + 270 + 1_500);
        assert_eq!(PRICE.of(&usage(1, 0, 0)), 3);
        assert!(PRICE.worst(1_000, 100) >= PRICE.of(&usage(1_000, 0, 100)));
    }

    /// A budget, what is spent of it, the model's price, and whether a request has room.
    type Case = (Budget, Spent, Option<Price>, Result<(), NoRoom>);

    #[test]
    fn the_worst_case_is_reserved() {
        let cases: &[Case] = &[
            (Budget::default(), Spent::default(), None, Ok(())),
            (
                Budget {
                    micros: Some(10_000),
                    ..Budget::default()
                },
                Spent::default(),
                None,
                Err(NoRoom::NoPrice),
            ),
            (
                Budget {
                    micros: Some(5_250),
                    ..Budget::default()
                },
                Spent::default(),
                Some(PRICE),
                Ok(()),
            ),
            (
                Budget {
                    micros: Some(5_249),
                    ..Budget::default()
                },
                Spent::default(),
                Some(PRICE),
                Err(NoRoom::Money),
            ),
            (
                Budget {
                    tokens: Some(1_099),
                    ..Budget::default()
                },
                Spent::default(),
                None,
                Err(NoRoom::Tokens),
            ),
            (
                Budget {
                    tool_calls: Some(2),
                    ..Budget::default()
                },
                Spent {
                    tool_calls: 2,
                    ..Spent::default()
                },
                None,
                Err(NoRoom::ToolCalls),
            ),
        ];
        for (budget, spent, price, expected) in cases {
            let reserved = budget.reserve(spent, *price, 1_000, 100);
            assert_eq!(reserved.map(drop), *expected, "{budget:?}");
        }
    }

    #[test]
    fn what_nobody_counted_costs_what_was_reserved() {
        let mut spent = Spent::default();
        let reserved = Reservation {
            micros: 70,
            tokens: 9,
        };
        spent.settle(None, Some(PRICE), reserved);
        assert_eq!((spent.micros, spent.usage.total_tokens), (70, 9));
        spent.settle(Some(usage(1_000, 900, 100)), Some(PRICE), reserved);
        assert_eq!(
            (spent.micros, spent.usage.total_tokens),
            (70 + 2_070, 1_109)
        );
    }
}
