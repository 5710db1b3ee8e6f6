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
    agent::Agent,
    config::{self, Config},
    doctor,
    run::{RunError, run},
    server::{AllowedUsers, socket},
    status::AgentStatus,
};

const EXAMPLES: &str = "\
Examples:
  elastane-agent check-config /etc/elastane/agent.toml
  elastane-agent run --config /etc/elastane/agent.toml
  RUST_LOG=debug elastane-agent run --config agent.toml
  elastane-agent restore --config /etc/elastane/agent.toml
  elastane-agent status --config /etc/elastane/agent.toml
  elastane-agent doctor
  elastane-agent doctor --config agent.toml --json

Exit codes:
  0  success (run: stopped by SIGTERM or SIGINT; doctor: no advice)
  1  run: failed while running; restore: some changes could not be undone;
     status: no agent is running; doctor: advice was printed
  2  wrong command line or configuration, or another agent is running";

const USUAL_CONFIG: &str = "/etc/elastane/agent.toml";
const FAILED: u8 = 1;
const REFUSED: u8 = 2;

/// Measures the containers of this node and limits them by Elastane's plan.
#[derive(Debug, Parser)]
#[command(name = "elastane-agent", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    action: AgentAction,
}

#[derive(Debug, Subcommand)]
enum AgentAction {
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
    /// Undo the changes of a killed agent: limits, groups, JVM flags, queueing disciplines, nft rules, socket.
    #[command(after_help = EXAMPLES)]
    Restore(Configured),
    /// Show the usage and the limits of all containers, and why limits changed last.
    #[command(after_help = EXAMPLES)]
    Status(Printed),
    /// Show how this host can measure and limit each resource, and what to change for more.
    #[command(after_help = EXAMPLES)]
    Doctor(Diagnosed),
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

#[derive(Debug, Args)]
struct Diagnosed {
    /// The configuration file. Without it: /etc/elastane/agent.toml, or the defaults where that is missing.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The agent's `main`.
pub fn main() -> ExitCode {
    start_log();
    let (code, error) = match act(Arguments::parse().action) {
        Ok(code) => return code,
        Err(RunError::Refused(error)) => (REFUSED, error),
        Err(RunError::Failed(error)) => (FAILED, error),
    };
    // Not through the log, which RUST_LOG may have turned off. Unlike `eprintln`, this does not panic
    // when it cannot be written: the exit code tells what happened.
    let _ = writeln!(std::io::stderr(), "elastane-agent: {error}");
    ExitCode::from(code)
}

fn act(action: AgentAction) -> Result<ExitCode, RunError> {
    match action {
        AgentAction::Run(given) => run(&read(&given.config)?)?,
        AgentAction::CheckConfig { config } => drop(read(&config)?),
        AgentAction::Restore(given) => restore(&read(&given.config)?)?,
        AgentAction::Status(Printed { configured, json }) => {
            let status = AgentStatus::read(&read(&configured.config)?).map_err(RunError::Failed)?;
            print(json, &status, AgentStatus::to_string)?;
        }
        AgentAction::Doctor(Diagnosed { config, json }) => {
            let config = config.map_or_else(read_usual, |file| read(&file))?;
            let findings = doctor::diagnose(&config).map_err(failed)?;
            print(json, &findings, |findings| doctor::table(findings))?;
            if !doctor::is_well(&findings) {
                return Ok(ExitCode::from(FAILED));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration of an installed agent. Says on stderr which one it is.
fn read_usual() -> Result<Config, String> {
    let file = Path::new(USUAL_CONFIG);
    match file.try_exists() {
        Ok(false) => {
            log::info!("there is no {USUAL_CONFIG}: the defaults are taken");
            Ok(Config::default())
        }
        // A file that cannot be looked for cannot be read either, which names the reason.
        Ok(true) | Err(_) => {
            log::info!("configuration: {USUAL_CONFIG}");
            read(file)
        }
    }
}

fn read(file: &Path) -> Result<Config, String> {
    let config = Config::read(file)?;
    let socket = &config.socket;
    let known = AllowedUsers::resolve(&socket.allowed_users).and(socket::group(socket));
    known.map_err(|unknown| format!("{}: {unknown}", file.display()))?;
    Ok(config)
}

/// A new agent undoes the changes of a killed one when it starts, by the journal. This one makes none of its own.
fn restore(config: &Config) -> Result<(), RunError> {
    socket::remove_stale(&config.socket.path)?;
    let network = config::Network { measure: false, backend: None, devices: Vec::new() };
    match Agent::start(&Config { network, ..config.clone() })?.stop() {
        0 => Ok(()),
        count => Err(failed(format!(
            "{count} changes to groups, limits, JVMs or the network could not be undone; the log \
             names them"
        ))),
    }
}

/// Unlike `println`, does not panic when the pipe is closed.
fn print<T: Serialize>(
    as_json: bool,
    value: &T,
    text: impl Fn(&T) -> String,
) -> Result<(), RunError> {
    let text = match as_json {
        true => serde_json::to_string_pretty(value).map_err(failed)? + "\n",
        false => text(value),
    };
    std::io::stdout().write_all(text.as_bytes()).map_err(failed)
}

fn failed(error: impl Display) -> RunError {
    RunError::Failed(error.to_string())
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
