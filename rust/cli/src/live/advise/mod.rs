//! `elastane advise`

mod answer;
mod html;
mod sentences;
mod tables;
mod text;

use std::io::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::Args;
use elastane_cli::bar;
use indicatif::ProgressBar;

use super::resource_manager::ResourceManager;
use super::{AskOptions, parsed};
use crate::failure::{Failure, write};
use answer::{Advice, Answer};

const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The rows for applications unless all are wanted.
const TOP: usize = 10;

const HOW_TO_RECORD: &str = "the scheduler does not record: set yarn.scheduler.elastane.mode to advise and run \
                             `yarn rmadmin -refreshQueues`; the advice is about applications that end afterwards";

/// What mode enforce would have gained, by a replay of what ran in mode advise
#[derive(Args)]
#[command(after_help = "Examples:
  elastane advise --resource-manager http://rm1:8088
  elastane advise --all
  elastane advise --html advice.html
  elastane advise --json | jq .enforce.mean_completion_s

The ResourceManager replays its record twice, as CapacityScheduler and in mode enforce; the command waits for it, at most
10 min. It needs yarn.scheduler.elastane.mode = advise, and answers administrators of YARN.

Exit codes: 0 done, 1 there is no advice or nobody answers, 2 wrong usage.")]
pub(crate) struct Advise {
    #[command(flatten)]
    ask: AskOptions,
    /// List every application that the ResourceManager names, instead of the 10 that gain most
    #[arg(long)]
    all: bool,
    /// Print the finished advice as the REST has it, as one JSON object
    #[arg(long, group = "form")]
    json: bool,
    /// Write a page into this file
    #[arg(long, value_name = "FILE", group = "form")]
    html: Option<PathBuf>,
}

impl Advise {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let answer = finished(&self.ask.resource_manager()?)?;
        let Some(value) = answer.advice else {
            let problem = match (answer.failure, answer.is_recording) {
                (Some(failure), _) => failure,
                (None, true) => "the scheduler has no advice yet; ask again later".to_owned(),
                (None, false) => HOW_TO_RECORD.to_owned(),
            };
            return Err(Failure::Failed(problem));
        };
        if self.json {
            writeln!(output, "{value}")?;
        }
        let advice: Advice = parsed(value, "the advice")?;
        let comparison = match (advice.comparison(), answer.is_recording) {
            (Ok(comparison), _) => comparison,
            (Err(_), false) => return Err(Failure::Failed(HOW_TO_RECORD.to_owned())),
            (Err(problem), true) => return Err(Failure::Failed(problem.to_owned())),
        };
        let top = if self.all { usize::MAX } else { TOP };
        match &self.html {
            _ if self.json => Ok(()),
            Some(path) => {
                write(path, &html::page(&comparison, answer.is_recording, top))?;
                Ok(writeln!(output, "{}: written", path.display())?)
            }
            None => text::print(&comparison, answer.is_recording, top, output),
        }
    }
}

/// The answer after the replay that asking for it started, or that is under way.
fn finished(manager: &ResourceManager) -> Result<Answer, Failure> {
    let line = bar::line("the ResourceManager replays its record");
    let answer = awaited(manager, &line);
    line.finish_and_clear();
    answer
}

fn awaited(manager: &ResourceManager, line: &ProgressBar) -> Result<Answer, Failure> {
    let ask = || parsed::<Answer>(manager.get("advice", &[])?, "the advice");
    let began = Instant::now();
    let mut answer = ask()?;
    let older_ms = answer.as_of_ms();
    // A replay that takes long may be followed by another one, so new advice ends the wait as well.
    while answer.is_working && answer.as_of_ms() == older_ms {
        if !answer.is_recording && answer.advice.is_none() {
            return Ok(answer);
        }
        if began.elapsed() >= LONGEST_WAIT {
            return out_of_patience(answer);
        }
        line.tick();
        sleep(ASKED_AGAIN_AFTER);
        answer = ask()?;
    }
    Ok(answer)
}

/// Older advice is better than none.
fn out_of_patience(answer: Answer) -> Result<Answer, Failure> {
    const PROBLEM: &str = "the replay is not finished after 10 min";
    if answer.advice.is_none() {
        return Err(Failure::Failed(format!("{PROBLEM}; ask again later")));
    }
    eprintln!("elastane: {PROBLEM}; this is the advice of the replay before it");
    Ok(answer)
}
