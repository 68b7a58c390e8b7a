//! A series of numbers as a small chart of text.

/// One row of eighths: the highest value fills a column.
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The maximum number of columns.
const WIDEST: usize = 60;

/// A line of blocks, one per value; adjacent values are averaged where there are too many. What is
/// not a number leaves a gap.
pub(in crate::commands::stack) fn sparkline(values: &[Option<f64>]) -> String {
    let values = gathered(values);
    let known = || values.iter().flatten().copied();
    let most = known().fold(0.0_f64, f64::max);
    let least = known().fold(0.0_f64, f64::min);
    let span = most - least;
    values
        .iter()
        .map(|value| match value {
            None => ' ',
            Some(value) if span > 0.0 => {
                let share = (value - least) / span * 7.0;
                // Between 0 and 7 by construction.
                EIGHTHS[(share.round() as usize).min(7)]
            }
            Some(_) => EIGHTHS[0],
        })
        .collect()
}

fn gathered(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let size = values.len().div_ceil(WIDEST).max(1);
    values
        .chunks(size)
        .map(|chunk| {
            let known: Vec<f64> = chunk
                .iter()
                .flatten()
                .copied()
                .filter(|value| value.is_finite())
                .collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect()
}

/// A number without needless digits.
pub(in crate::commands::stack) fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn high_is_high() {
        let chart =
            |values: &[f64]| sparkline(&values.iter().copied().map(Some).collect::<Vec<_>>());
        assert_eq!(chart(&[0.0, 1.0, 2.0, 4.0, 7.0]), "▁▂▃▅█");
        assert_eq!(chart(&[0.0, 0.0]), "▁▁");
        assert_eq!(chart(&[5.0]), "█");
        assert_eq!(chart(&[-1.0, 1.0]), "▁█");
        assert_eq!(sparkline(&[Some(1.0), None]), "█ ");
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [(1.0, "1"), (0.5, "0.5"), (1.0 / 3.0, "0.333"), (-0.0, "0")] {
            assert_eq!(number(value), expected);
        }
    }

    proptest! {
        #[test]
        fn a_chart_fits(values in prop::collection::vec(prop::option::of(any::<f64>()), 0..500)) {
            prop_assert!(sparkline(&values).chars().count() <= WIDEST);
        }
    }
}
