//! The command line.

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!("{} arguments, cairn {}", names.len(), cairn::VERSION);
}
