//! Which part of the machine a command works on, an argument of several commands.

use std::hash::{BuildHasher, RandomState};
use std::thread;

use clap::Args;
use tch::Device;

use crate::config::DeviceName;
use crate::device;

/// Where and how games are played.
#[derive(Debug, Args)]
pub(super) struct Machine {
    /// Threads to work on [default: one a processor]; what is found does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Where networks are computed
    #[arg(long, value_enum, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceName,
}

impl Machine {
    pub(super) fn workers(&self) -> usize {
        let all = || thread::available_parallelism().map_or(1, usize::from);
        self.workers.map_or_else(all, usize::from)
    }

    pub(super) fn device(&self) -> anyhow::Result<Device> {
        // Workers have one thread each; more would get into each other's way.
        tch::set_num_threads(1);
        Ok(device::find(self.device)?)
    }
}

/// A seed that nobody can know before: another one each time.
pub(super) fn fresh_seed() -> u64 {
    RandomState::new().hash_one("seed")
}
