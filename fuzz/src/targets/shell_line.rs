//! Command lines: any text is answered, twice the same, within its bounds; and a deletion on a line
//! of its own is listed or the line is not understood.

use windlass_shell::{Input, MAX_COMMANDS, parse};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let script = parse(text);
    assert_eq!(script, parse(text));
    assert!(script.commands.len() <= MAX_COMMANDS);
    let longer = parse(&format!("{text}\nshred x\n"));
    let is_word = longer.commands.iter().any(|command| {
        let values = command.assignments.iter().map(|one| &one.value);
        let targets = command.redirects.iter().map(|one| &one.target);
        let mut words = command.words.iter().chain(values).chain(targets);
        words.any(|word| word.text.contains("shred")) || matches!(&command.input, Input::Text(_))
    });
    assert!(is_word || !longer.is_understood() || text.contains(['\'', '"', '#']));
}
