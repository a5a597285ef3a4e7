//! `teiten-pairs < options.json`

fn main() -> std::process::ExitCode {
    pairs::main().into()
}
