//! Subcommands that ask a running ResourceManager.

mod advise;
mod explain;
mod explain_queue;
mod limits;
mod resource_manager;
mod status;
mod subject;
mod token;
mod watch;
mod words;

use std::path::PathBuf;

use clap::Args;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use advise::Advise;
pub(crate) use explain::Explain;
pub(crate) use status::Status;

use crate::failure::Failure;
use resource_manager::ResourceManager;
use token::Token;

/// Where to ask, and as whom.
#[derive(Args)]
struct AskOptions {
    /// The ResourceManager's web server; of several, the first that answers
    #[arg(
        long = "resource-manager",
        value_name = "URL",
        value_delimiter = ',',
        env = "ELASTANE_RESOURCE_MANAGER",
        default_value = "http://localhost:8088"
    )]
    resource_managers: Vec<String>,
    /// Who asks, where the web server has Hadoop's simple authentication. With Kerberos it is the ticket's owner
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// A file with a delegation token of the ResourceManager, for a caller without a Kerberos ticket
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    delegation_token: Option<PathBuf>,
}

/// Where to ask, and how to print.
#[derive(Args)]
struct LiveOptions {
    #[command(flatten)]
    ask: AskOptions,
    /// Print what the REST answers, as one JSON object
    #[arg(long)]
    json: bool,
    /// Print again every SECONDS seconds until Ctrl-C; without a number every 2
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "2",
        value_parser = clap::value_parser!(u64).range(1..=3600)
    )]
    watch: Option<u64>,
}

impl AskOptions {
    fn resource_manager(&self) -> Result<ResourceManager, Failure> {
        let token = self.delegation_token.as_deref().map(Token::read).transpose()?;
        Ok(ResourceManager::new(&self.resource_managers, self.user.as_deref(), token))
    }
}

/// A part of an answer. `what` names it where it cannot be read.
fn parsed<T: DeserializeOwned>(answer: Value, what: &str) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| {
        Failure::Failed(format!("{what} cannot be read: {error}; is it of another version?"))
    })
}
