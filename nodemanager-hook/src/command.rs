//! The command line.

use std::{
    fmt::Display,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};
use serde::Serialize;

use crate::{
    agent::{Agent, Restored},
    config::Config,
    doctor,
    run::{RunError, run},
    server::{AllowedUsers, socket},
    status::Status,
};

const EXAMPLES: &str = "\
Examples:
  elastane-agent check-config /etc/elastane/agent.toml
  elastane-agent run --config /etc/elastane/agent.toml
  RUST_LOG=debug elastane-agent run --config agent.toml
  elastane-agent restore --config /etc/elastane/agent.toml
  elastane-agent status --config /etc/elastane/agent.toml
  elastane-agent doctor --config /etc/elastane/agent.toml --json

Exit codes:
  0  success (run: stopped by SIGTERM or SIGINT; doctor: no advice)
  1  run: failed while running; restore: some changes could not be undone;
     status: no agent is running; doctor: advice was printed
  2  wrong command line or configuration, or another agent is running";

const FAILED: u8 = 1;
const REFUSED: u8 = 2;

/// Measures the containers of this node and limits them by Elastane's plan.
#[derive(Debug, Parser)]
#[command(name = "elastane-agent", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Run until SIGTERM or SIGINT, then lift every limit and remove the agent's groups.
    #[command(after_help = EXAMPLES)]
    Run(Configured),
    /// Check a configuration file and print its first error.
    #[command(after_help = EXAMPLES)]
    CheckConfig {
        /// The configuration file.
        #[arg(value_name = "FILE")]
        config: PathBuf,
    },
    /// Undo the changes of a killed agent: limits, groups, socket.
    #[command(after_help = EXAMPLES)]
    Restore(Configured),
    /// Show the usage and the limits of all containers, and why limits changed last.
    #[command(after_help = EXAMPLES)]
    Status(Printed),
    /// Show how this host can measure and limit each resource, and what to change for more.
    #[command(after_help = EXAMPLES)]
    Doctor(Printed),
}

#[derive(Debug, Args)]
struct Configured {
    /// The configuration file.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

#[derive(Debug, Args)]
struct Printed {
    #[command(flatten)]
    configured: Configured,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The agent's `main`.
pub fn main() -> ExitCode {
    start_log();
    match Arguments::parse().action {
        Action::Run(given) => with_config(&given.config, run_command),
        Action::CheckConfig { config } => with_config(&config, |_| ExitCode::SUCCESS),
        Action::Restore(given) => with_config(&given.config, restore_command),
        Action::Status(Printed { configured, json }) => {
            with_config(&configured.config, |config| status_command(config, json))
        }
        Action::Doctor(Printed { configured, json }) => {
            with_config(&configured.config, |config| doctor_command(config, json))
        }
    }
}

fn with_config(file: &Path, work: impl FnOnce(&Config) -> ExitCode) -> ExitCode {
    let config = Config::read(file).and_then(|config| {
        let socket = &config.socket;
        let known = AllowedUsers::resolve(&socket.allowed_users).and(socket::group(socket));
        known.map_err(|unknown| format!("{}: {unknown}", file.display()))?;
        Ok(config)
    });
    match config {
        Ok(config) => work(&config),
        Err(error) => fail(REFUSED, error),
    }
}

fn run_command(config: &Config) -> ExitCode {
    match run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(RunError::Refused(error)) => fail(REFUSED, error),
        Err(RunError::Failed(error)) => fail(FAILED, error),
    }
}

/// A new agent undoes the changes of a killed one when it starts, and its own when it stops.
fn restore_command(config: &Config) -> ExitCode {
    let free = socket::remove_stale(&config.socket.path);
    match free.and_then(|()| Agent::start(config)).map(|mut agent| agent.stop()) {
        Ok(Restored { removed, failed: 0 }) => {
            log::info!("{removed} groups removed");
            ExitCode::SUCCESS
        }
        Ok(Restored { failed, .. }) => {
            fail(FAILED, format!("{failed} groups or JVMs could not be restored"))
        }
        Err(error) => fail(REFUSED, error),
    }
}

fn status_command(config: &Config, as_json: bool) -> ExitCode {
    match Status::read(config) {
        Ok(status) if as_json => print_json(&status),
        Ok(status) => print(&status.to_string()),
        Err(error) => fail(FAILED, error),
    }
}

fn doctor_command(config: &Config, as_json: bool) -> ExitCode {
    let findings = match doctor::diagnose(config) {
        Ok(findings) => findings,
        Err(error) => return fail(FAILED, error),
    };
    let printed = match as_json {
        true => print_json(&findings),
        false => print(&doctor::table(&findings)),
    };
    match doctor::is_well(&findings) {
        true => printed,
        false => ExitCode::from(FAILED),
    }
}

fn print_json(value: &impl Serialize) -> ExitCode {
    match serde_json::to_string_pretty(value) {
        Ok(text) => print(&format!("{text}\n")),
        Err(error) => fail(FAILED, error),
    }
}

/// Unlike `println`, does not panic when the pipe is closed.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(FAILED, error),
    }
}

fn fail(code: u8, error: impl Display) -> ExitCode {
    // Not through the log, which RUST_LOG may have turned off.
    eprintln!("elastane-agent: {error}");
    ExitCode::from(code)
}

fn start_log() {
    let environment = env_logger::Env::default().default_filter_or("info");
    env_logger::Builder::from_env(environment)
        .format(|out, record| {
            let level = record.level().as_str().to_lowercase();
            writeln!(out, "elastane-agent: {level}: {}", record.args())
        })
        .init();
}
