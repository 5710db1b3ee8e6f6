//! `elastane profiles import`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{ProfileSource, file, write_json};
use crate::depository::open_or_create;
use crate::failure::{Failure, read};
use crate::units::count;

#[derive(Args)]
#[command(after_help = "Examples:
  elastane profiles import profiles.json --depository depository.db")]
pub(super) struct ProfilesImport {
    /// What `export` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    source: ProfileSource,
}

impl ProfilesImport {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let runs =
            file::read(&read(&self.file)?).map_err(|problem| Failure::bad(&self.file, problem))?;
        let mut depository = open_or_create(&self.source.depository)?;
        let (mut added, mut kept) = (0, 0);
        for run in runs {
            if depository.run(&run.application_id)?.is_some() {
                kept += 1;
            } else {
                depository.save(&run)?;
                added += 1;
            }
        }
        if self.source.json {
            return write_json(output, &json!({"added": added, "kept": kept}));
        }
        let added = count(added, "run");
        writeln!(output, "{added} added, {kept} were there already")?;
        Ok(())
    }
}
