//! Networks for play: an immutable copy of a trained network with batch
//! normalisation folded into the convolutions.
//!
//! On a CPU, kernels of our own evaluate it (`cpu`, `winograd`, `dense`,
//! `lanes`) on the calling thread alone: two to three times as fast as libtorch
//! there, one and a half to twice as fast as onnxruntime
//! (`scripts/bench_inference` measures both). Elsewhere libtorch does.

mod cpu;
mod dense;
pub(crate) mod folded;
mod lanes;
mod libtorch;
mod server;
mod winograd;

pub use server::{InferenceClient, ServedBatches, ServerError, serve};

use tch::{Device, Tensor};

use crate::config::{BOARD_SIDE, NetConfig, OUTCOMES};
use crate::net::{Net, Outputs, as_map};
use cpu::CpuNet;
use folded::{Folded, values};
use libtorch::LibtorchNet;

/// A copy of a [`Net`] that only plays: nothing tracks gradients, and later
/// training leaves it as it is.
///
/// It can be sent to another thread but not be used by two at once; give each
/// its own [`InferenceNet::share`].
#[derive(Debug)]
pub struct InferenceNet {
    config: NetConfig,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    Cpu(Box<CpuNet>),
    Libtorch(LibtorchNet),
}

/// The numbers that libtorch calculates with; the answers are f32 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// f32.
    Single,
    /// f16: faster on a GPU, with three significant digits.
    Half,
}

/// What [`InferenceNet::evaluate`] says about a batch of positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Logits of the actions that were asked for: the first position's, then
    /// the second's, each in the order asked.
    pub policy: Vec<f32>,
    /// For each position the logits of win, draw, loss from its mover's point
    /// of view.
    pub value: Vec<[f32; OUTCOMES]>,
}

impl InferenceNet {
    /// Copies the weights of `net`, on its device: by the faster way there,
    /// which is [`InferenceNet::with_libtorch`] on a GPU only.
    pub fn new(net: &Net) -> Self {
        match net.device() {
            Device::Cpu => Self {
                config: net.config().clone(),
                engine: Engine::Cpu(Box::new(CpuNet::new(&Folded::new(net)))),
            },
            _ => Self::with_libtorch(net, Precision::Single),
        }
    }

    /// Copies the weights of `net`, on its device, to be evaluated by libtorch
    /// with numbers of this precision.
    pub fn with_libtorch(net: &Net, precision: Precision) -> Self {
        let engine = LibtorchNet::new(&Folded::new(net), net.device(), precision);
        Self { config: net.config().clone(), engine: Engine::Libtorch(engine) }
    }

    /// The same network for another thread. The weights are shared, which
    /// spares the processor's caches as well as memory.
    pub fn share(&self) -> Self {
        let engine = match &self.engine {
            Engine::Cpu(net) => Engine::Cpu(Box::new(net.share())),
            Engine::Libtorch(net) => Engine::Libtorch(net.share()),
        };
        Self { config: self.config.clone(), engine }
    }

    /// The architecture.
    pub fn config(&self) -> &NetConfig {
        &self.config
    }

    /// Where the weights lie.
    pub fn device(&self) -> Device {
        match &self.engine {
            Engine::Cpu(_) => Device::Cpu,
            Engine::Libtorch(net) => net.device,
        }
    }

    /// Evaluates positions for a search.
    ///
    /// `planes` holds the encoded positions one after the other, each `[8, 8,
    /// input_planes]` (rank, file, plane) in its mover's view. `actions` holds,
    /// for each position, the indices of its legal actions (from-square times
    /// `policy_planes` plus plane); none where only passing is left.
    ///
    /// # Panics
    ///
    /// When `planes` does not hold as many positions as `actions`, or an index
    /// is not below [`NetConfig::policy_size`].
    pub fn evaluate<A: AsRef<[u16]>>(&self, planes: &[f32], actions: &[A]) -> Evaluation {
        assert_eq!(
            planes.len(),
            actions.len() * self.config.input_size(),
            "planes of {} positions have another length",
            actions.len()
        );
        let size = self.config.policy_size();
        let within = |action: &u16| usize::from(*action) < size;
        assert!(
            actions.iter().all(|actions| actions.as_ref().iter().all(within)),
            "an action's index is not below {size}"
        );
        match &self.engine {
            Engine::Cpu(net) => net.evaluate(planes, actions),
            Engine::Libtorch(net) => self.evaluate_by_libtorch(net, planes, actions),
        }
    }

    /// Evaluates positions in full. `planes` is f32 `[B, 8, 8, input_planes]`
    /// (rank, file, plane) on the network's device, each in its mover's view.
    ///
    /// # Panics
    ///
    /// When `planes` has another shape or kind.
    pub fn forward(&self, planes: &Tensor) -> Outputs {
        match &self.engine {
            Engine::Libtorch(net) => net.forward(planes),
            Engine::Cpu(net) => {
                let map = as_map(planes, self.config.input_planes);
                let (policy, value) = net.forward(&values(&map.permute([0, 2, 3, 1])));
                let rows = |values: &[f32], length: usize| {
                    Tensor::from_slice(values).reshape([-1, length as i64])
                };
                Outputs {
                    policy: rows(&policy, self.config.policy_size()),
                    value: rows(&value, OUTCOMES),
                }
            }
        }
    }

    fn evaluate_by_libtorch<A: AsRef<[u16]>>(
        &self,
        net: &LibtorchNet,
        planes: &[f32],
        actions: &[A],
    ) -> Evaluation {
        let side = BOARD_SIDE as i64;
        let shape = [actions.len() as i64, side, side, self.config.input_planes as i64];
        let planes = Tensor::from_slice(planes).reshape(shape).to_device(net.device);
        let outputs = net.forward(&planes);
        // Picked where the logits are, so that few numbers travel back.
        let size = self.config.policy_size();
        let indices: Vec<i64> = actions
            .iter()
            .enumerate()
            .flat_map(|(i, a)| a.as_ref().iter().map(move |&a| (i * size + usize::from(a)) as i64))
            .collect();
        let indices = Tensor::from_slice(&indices).to_device(net.device);
        let policy = outputs.policy.flatten(0, 1).index_select(0, &indices);
        Evaluation {
            policy: values(&policy),
            value: values(&outputs.value).as_chunks::<OUTCOMES>().0.to_vec(),
        }
    }
}
