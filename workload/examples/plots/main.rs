//! The plots of the crate's documentation: `cargo run -p openloop-workload --example plots` writes them to
//! `workload/docs`.
#![allow(clippy::print_stdout, reason = "a program talks to people")]

mod keys;
mod mix;
mod prompts;
mod sessions;
mod svg;
mod traces;
mod values;

use std::error::Error;
use std::path::Path;

type Plot = fn() -> Result<String, Box<dyn Error>>;

/// Each with the name of its file.
const PLOTS: [(&str, Plot); 7] = [
    ("hot_keys.svg", keys::hot),
    ("drift.svg", keys::drift),
    ("sizes.svg", values::sizes),
    ("mix.svg", mix::shares),
    ("sessions.svg", sessions::sessions),
    ("prompts.svg", prompts::prompts),
    ("trace.svg", traces::trace),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for (name, plot) in PLOTS {
        std::fs::write(folder.join(name), plot()?)?;
        println!("docs/{name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_in_docs_are_what_the_command_gives() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        for (name, plot) in PLOTS {
            let file = std::fs::read_to_string(folder.join(name)).unwrap();
            assert!(
                file == plot().unwrap(),
                "docs/{name} is of another version: run cargo run -p openloop-workload --example plots"
            );
        }
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, PLOTS.len(), "a file in docs is of no plot");
    }

    #[test]
    fn no_plot_is_long_or_has_a_blank_line_which_would_end_it_in_markdown() {
        for (name, plot) in PLOTS {
            let svg = plot().unwrap();
            assert!(svg.lines().all(|line| !line.trim().is_empty()), "{name}");
            assert!(svg.len() < 32 * 1024, "{name} has {} bytes", svg.len());
        }
    }
}
