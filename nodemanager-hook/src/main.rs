//! `elastane-agent`: see `docs/agent.md`.

use std::process::ExitCode;

fn main() -> ExitCode {
    elastane_agent::main()
}
