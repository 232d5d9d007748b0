//! Where networks are computed.

use tch::Device;
use thiserror::Error;

use crate::config::DeviceName;

/// A device that was asked for and is not there.
#[derive(Debug, Error)]
#[error(
    "`run.device` is \"cuda\", but libtorch finds no CUDA device; install the CUDA build with \
     `scripts/setup --cuda`, or set `run.device = \"cpu\"`"
)]
pub struct NoCuda;

/// The device with this name; never another one in its place.
///
/// # Errors
/// A CUDA device that is not there.
pub fn find(name: DeviceName) -> Result<Device, NoCuda> {
    match name {
        DeviceName::Cpu => Ok(Device::Cpu),
        DeviceName::Cuda if tch::Cuda::is_available() => Ok(Device::Cuda(0)),
        DeviceName::Cuda => Err(NoCuda),
    }
}
