//! The order of stages, and of the monotasks of a task.

use elastane_lab::monotasks::{Event, Kind, Parameters, Stage, Task, simulate};

use crate::{all_systems, some_mixed};

#[test]
fn a_stage_starts_only_when_its_parents_are_done() {
    let jobs = some_mixed(6);
    let stages: Vec<(usize, &Stage)> = jobs
        .iter()
        .scan(0, |first, job| {
            let mine = *first;
            *first += job.stages.len();
            Some(job.stages.iter().map(move |stage| (mine, stage)))
        })
        .flatten()
        .collect();
    for system in all_systems() {
        let mut left: Vec<usize> = stages.iter().map(|(_, stage)| stage.tasks.len()).collect();
        let mut placed = 0;
        simulate(&jobs, &system, &Parameters::default(), |_, event| match event {
            Event::Placed { stage, .. } => {
                placed += 1;
                let (first, of) = stages[*stage];
                assert!(of.parents.iter().all(|parent| left[first + parent] == 0));
            }
            Event::TaskEnded { stage, .. } => left[*stage] -= 1,
            _ => {}
        })
        .unwrap();
        assert_eq!(placed, stages.iter().map(|(_, stage)| stage.tasks.len()).sum::<usize>());
        assert!(left.iter().all(|left| *left == 0), "{system:?}");
    }
}

#[test]
fn every_monotask_runs_once_and_in_its_order() {
    let jobs = some_mixed(4);
    let tasks: Vec<&Task> =
        jobs.iter().flat_map(|job| &job.stages).flat_map(|stage| &stage.tasks).collect();
    for system in all_systems() {
        let mut ran: Vec<Vec<Kind>> = vec![Vec::new(); tasks.len()];
        simulate(&jobs, &system, &Parameters::default(), |_, event| {
            if let Event::MonotaskEnded { task, kind, .. } = event {
                ran[*task].push(*kind);
            }
        })
        .unwrap();
        for (task, ran) in tasks.iter().zip(ran) {
            let needed = Kind::ALL.into_iter().filter(|kind| task.work[*kind as usize] > 0.0);
            assert_eq!(ran, needed.collect::<Vec<_>>());
        }
    }
}
