//! Medians, spreads and the one table every benchmark prints.

/// Samples of one thing, in the order they were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(pub(crate) Vec<f64>);

impl Samples {
    pub(crate) fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }

    pub(crate) fn quantile(&self, fraction: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let index = (last as f64 * fraction).round() as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// How far apart the samples are, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.quantile(1.0) - self.quantile(0.0)) / self.median()
    }
}

/// Prints a measured thing.
#[expect(clippy::print_stdout, reason = "the figures are this program's data")]
pub(crate) fn figure(what: &str, samples: &Samples, unit: &str) {
    println!(
        "  {what:<52} {:>12.2} {unit:<10} spread {:>4.0} %",
        samples.median(),
        samples.spread() * 100.0
    );
}

/// Prints a number that was taken once.
#[expect(clippy::print_stdout, reason = "the figures are this program's data")]
pub(crate) fn value(what: &str, value: f64, unit: &str) {
    println!("  {what:<52} {value:>12.2} {unit}");
}

/// Prints a ratio and whether it meets its goal.
#[expect(clippy::print_stdout, reason = "the figures are this program's data")]
pub(crate) fn ratio(what: &str, value: f64, goal: &str, met: bool) {
    println!(
        "  {what:<52} {value:>12.2} ×          goal {goal} {}",
        if met { "✓" } else { "✗" }
    );
}

/// Prints a heading.
#[expect(clippy::print_stdout, reason = "the figures are this program's data")]
pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}

/// What the figures depend on.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} cores, {}", std::env::consts::ARCH)
}
