//! The command line.

use std::{
    fmt::Display,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use serde::Serialize;

use crate::{
    config::Config,
    doctor,
    restore::restore,
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
  0  done (run: stopped by SIGTERM or SIGINT; doctor: nothing is missing)
  1  failed while running, something could not be put back, no agent runs (status),
     or something is missing (doctor)
  2  the command line or the configuration is wrong, or another agent runs";

const FAILED: u8 = 1;
const REFUSED: u8 = 2;

/// Measures the containers of this node and limits them as Elastane's plan says.
#[derive(Debug, Parser)]
#[command(name = "elastane-agent", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run until SIGTERM or SIGINT, then lift every limit and remove what was made.
    #[command(after_help = EXAMPLES)]
    Run {
        /// The configuration file.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Check a configuration file and say what is wrong with it.
    #[command(after_help = EXAMPLES)]
    CheckConfig {
        /// The configuration file.
        #[arg(value_name = "FILE")]
        config: PathBuf,
    },
    /// Put back what an agent that was killed has left: limits, groups, socket.
    #[command(after_help = EXAMPLES)]
    Restore {
        /// The configuration file.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Show what a running agent measures and limits, and why limits changed last.
    #[command(after_help = EXAMPLES)]
    Status {
        /// The configuration file.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say what this host can measure and limit, how, and what to change for more.
    #[command(after_help = EXAMPLES)]
    Doctor {
        /// The configuration file.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The agent's `main`.
pub fn main() -> ExitCode {
    start_log();
    match Arguments::parse().command {
        Command::Run { config } => with_config(&config, |config| match run(config) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(code_of(&error), error),
        }),
        Command::CheckConfig { config } => with_config(&config, |_| ExitCode::SUCCESS),
        Command::Restore { config } => with_config(&config, restore_command),
        Command::Status { config, json } => {
            with_config(&config, |config| status_command(config, json))
        }
        Command::Doctor { config, json } => {
            with_config(&config, |config| doctor_command(config, json))
        }
    }
}

fn with_config(file: &Path, work: impl FnOnce(&Config) -> ExitCode) -> ExitCode {
    let config = match Config::read(file) {
        Ok(config) => config,
        Err(error) => return fail(REFUSED, error),
    };
    match unknown_name(&config) {
        Some(error) => fail(REFUSED, format!("{}: {error}", file.display())),
        None => work(&config),
    }
}

/// Names in the configuration that this host does not know.
fn unknown_name(config: &Config) -> Option<String> {
    let users = AllowedUsers::resolve(&config.socket.allowed_users);
    let user = users.err().map(|error| error.to_string());
    user.or_else(|| {
        let group = socket::group(&config.socket);
        group.err().map(|error| error.to_string())
    })
}

fn restore_command(config: &Config) -> ExitCode {
    match restore(config) {
        Ok(restored) if restored.failed == 0 => {
            log::info!("{} groups removed", restored.removed);
            ExitCode::SUCCESS
        }
        Ok(restored) => {
            let left = restored.failed;
            fail(FAILED, format!("{left} groups could not be put back"))
        }
        Err(error) => fail(code_of(&error), error),
    }
}

fn status_command(config: &Config, as_json: bool) -> ExitCode {
    match Status::read(config) {
        Ok(status) if as_json => print_json(&status),
        Ok(status) => print(&status.text()),
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

/// Unlike `println`, not with a panic when nobody reads.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(FAILED, error),
    }
}

/// What the caller has to change is told from what happened while running.
fn code_of(error: &RunError) -> u8 {
    match error {
        RunError::Socket(_) | RunError::User(_) | RunError::Start(_) => REFUSED,
        RunError::Signals(_) | RunError::Thread(_) | RunError::Ended(_) => FAILED,
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
