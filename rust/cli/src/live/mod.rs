//! Subcommands that ask a running ResourceManager.

mod explain;
mod resource_manager;
mod status;
mod subject;
mod watch;
mod words;

use clap::Args;

pub(crate) use explain::Explain;
pub(crate) use status::Status;

use resource_manager::ResourceManager;

/// Where to ask, and how to print.
#[derive(Args)]
struct LiveOptions {
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

impl LiveOptions {
    fn resource_manager(&self) -> ResourceManager {
        ResourceManager::new(&self.resource_managers, self.user.as_deref())
    }
}
