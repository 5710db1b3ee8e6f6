//! The REST of a running ResourceManager, asked by curl, which knows Kerberos and TLS.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::token::Token;
use crate::failure::Failure;

const SECONDS: &str = "30";
const TOKEN_REFUSED: &str = "refuses the delegation token: it has expired or was cancelled, \
                             another cluster gave it, or this ResourceManager is a standby";

pub(super) struct ResourceManager {
    urls: Vec<String>,
    user: Option<String>,
    token: Option<Token>,
}

/// What a web server said.
struct Said {
    status: u16,
    body: String,
}

impl ResourceManager {
    pub(super) fn new(urls: &[String], user: Option<&str>, token: Option<Token>) -> Self {
        let urls = urls.iter().map(|url| url.trim_end_matches('/').to_owned());
        Self { urls: urls.collect(), user: user.map(str::to_owned), token }
    }

    /// The answer to a path behind `/elastane/v1/`, by the first web server that has one.
    ///
    /// # Errors
    /// No web server answers, or the answer is none; the message has the server's own line.
    pub(super) fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, Failure> {
        let mut unanswered = Vec::new();
        let mut all_refuse = true;
        for url in &self.urls {
            let asked = format!("{url}/elastane/v1/{path}");
            match self.ask(&asked, query)? {
                // A standby that knows no active one, or no scheduler is active there.
                Ok(said) if [307, 503].contains(&said.status) => {
                    let line = said.error().unwrap_or_else(|| "it is a standby".to_owned());
                    all_refuse = false;
                    unanswered.push(format!("{url}: {line}"));
                }
                // A standby knows no tokens, and refuses one before it would redirect.
                Ok(said) if self.token.is_some() && said.is_refusal() => {
                    unanswered.push(format!("{url} {TOKEN_REFUSED}"));
                }
                Ok(said) => return said.into_answer(url),
                Err(problem) => {
                    all_refuse = false;
                    unanswered.push(format!("{url}: {problem}"));
                }
            }
        }
        let unanswered = unanswered.join("; ");
        if all_refuse {
            return Err(Failure::Failed(unanswered));
        }
        Err(Failure::Failed(format!(
            "no ResourceManager answers (--resource-manager, ELASTANE_RESOURCE_MANAGER): \
             {unanswered}"
        )))
    }

    fn ask(&self, url: &str, query: &[(&str, &str)]) -> Result<Result<Said, String>, Failure> {
        let mut curl = Command::new("curl");
        // A standby redirects to another host, which needs a ticket of its own.
        curl.args(["--silent", "--show-error", "--location-trusted", "--anyauth", "--user", ":"]);
        curl.args(["--max-time", SECONDS, "--globoff", "--get", "--write-out", "\n%{http_code}"]);
        let user = self.user.as_deref().map(|name| ("user.name", name));
        for (name, value) in query.iter().copied().chain(user) {
            curl.args(["--data-urlencode", &format!("{name}={value}")]);
        }
        if self.token.is_some() {
            curl.args(["--config", "-"]);
            if url.starts_with("https:") {
                curl.args(["--proto-redir", "=https"]);
            }
        }
        let ended = self.run(curl.arg("--").arg(url)).map_err(|error| {
            Failure::Failed(format!("curl cannot be run, which asks the ResourceManager: {error}"))
        })?;
        if !ended.status.success() {
            let problem = String::from_utf8_lossy(&ended.stderr);
            return Ok(Err(problem.trim().replace('\n', " ")));
        }
        let printed = String::from_utf8_lossy(&ended.stdout);
        let (body, status) = printed.rsplit_once('\n').unwrap_or(("", &printed));
        let status = status.trim().parse().unwrap_or(0);
        Ok(Ok(Said { status, body: body.to_owned() }))
    }

    fn run(&self, curl: &mut Command) -> io::Result<Output> {
        let Some(token) = &self.token else {
            return curl.output();
        };
        let curl = curl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = curl.spawn()?;
        if let Some(mut input) = running.stdin.take() {
            // A curl that ended before it read says why.
            let _ = input.write_all(token.curl_configuration().as_bytes());
        }
        running.wait_with_output()
    }
}

impl Said {
    /// The line of a call that is not answered.
    fn error(&self) -> Option<String> {
        let answer: Value = serde_json::from_str(&self.body).ok()?;
        Some(answer.get("error")?.as_str()?.to_owned())
    }

    /// Whether the web server, not Elastane, refuses the caller.
    fn is_refusal(&self) -> bool {
        [401, 403].contains(&self.status) && self.error().is_none()
    }

    fn into_answer(self, url: &str) -> Result<Value, Failure> {
        match (self.status, self.error()) {
            (200, None) => serde_json::from_str(&self.body).map_err(|_| {
                Failure::Failed(format!("{url} answers with something else than JSON"))
            }),
            (400 | 404, Some(error)) => Err(Failure::BadInput(error)),
            (403, Some(error)) => Err(Failure::Failed(format!("{url}: {error}"))),
            (401 | 403, _) => Err(Failure::Failed(format!(
                "{url} does not let the caller in: get a Kerberos ticket with kinit, or give a \
                 name with --user or a token with --delegation-token"
            ))),
            (404, None) => Err(Failure::Failed(format!(
                "{url} has no /elastane: its scheduler is not ElastaneScheduler, or has been in \
                 mode off since its start; or it is still starting"
            ))),
            (status, Some(error)) => Err(Failure::Failed(format!("{url}: {status}: {error}"))),
            (status, None) => Err(Failure::Failed(format!("{url} answers with status {status}"))),
        }
    }
}
