//! What an optimiser remembers, saved and restored.

use std::collections::BTreeMap;

use tch::Tensor;

use super::{Optimizer, OptimizerConfig, OptimizerError};

/// Metadata key of the number of steps taken.
const STEP_KEY: &str = "step";

/// Metadata key of the optimiser's configuration as JSON.
const CONFIG_KEY: &str = "optimizer";

/// Metadata key that tells what the file is, and its value.
const FORMAT: (&str, &str) = ("format", "cyvasse-optimizer-1");

/// Everything about an optimiser that a resumed run needs, in the form that a
/// [`crate::TensorFile`] holds.
pub type OptimizerState = crate::TensorFile;

impl Optimizer {
    /// A copy of the whole state.
    pub fn state(&self) -> OptimizerState {
        let config = serde_json::to_string(&self.config).expect("a plain enum of numbers");
        let metadata = [
            (FORMAT.0, FORMAT.1.to_string()),
            (CONFIG_KEY, config),
            (STEP_KEY, self.steps.to_string()),
        ];
        let mut state = OptimizerState {
            metadata: metadata.map(|(key, value)| (key.to_string(), value)).into(),
            ..Default::default()
        };
        for slot in &self.slots {
            for (moment, tensor) in self.config.moments().iter().zip(&slot.moments) {
                state.tensors.insert(tensor_name(&slot.name, moment), tensor.copy());
            }
        }
        state
    }

    /// Takes over a state of an optimiser of the same kind and weights. Its
    /// numbers (decay rates and such) may differ: those of `self` are kept.
    ///
    /// # Errors
    ///
    /// When the state is of another kind or of other weights; `self` is then
    /// unchanged.
    pub fn restore(&mut self, state: &OptimizerState) -> Result<(), OptimizerError> {
        expect(FORMAT.0, state.metadata.get(FORMAT.0), FORMAT.1)?;
        let config = state.metadata.get(CONFIG_KEY).map_or("missing", String::as_str);
        let same_kind = serde_json::from_str::<OptimizerConfig>(config)
            .is_ok_and(|other| other.moments() == self.config.moments());
        if !same_kind {
            return Err(state_error(CONFIG_KEY, config, format!("one like {:?}", self.config)));
        }
        let steps = state.metadata.get(STEP_KEY).map_or("missing", String::as_str);
        let steps =
            steps.parse().map_err(|_| state_error(STEP_KEY, steps, "a whole number".into()))?;
        self.check_tensors(&state.tensors)?;
        self.steps = steps;
        for slot in &mut self.slots {
            for (moment, tensor) in self.config.moments().iter().zip(&mut slot.moments) {
                tensor.copy_(&state.tensors[&tensor_name(&slot.name, moment)]);
            }
        }
        Ok(())
    }

    fn check_tensors(&self, tensors: &BTreeMap<String, Tensor>) -> Result<(), OptimizerError> {
        let moments = self.config.moments();
        for slot in &self.slots {
            for moment in moments {
                let name = tensor_name(&slot.name, moment);
                let expected = format!("{:?} {:?}", slot.weight.kind(), slot.weight.size());
                let found = tensors.get(&name).map(|t| format!("{:?} {:?}", t.kind(), t.size()));
                expect(&name, found.as_ref(), &expected)?;
            }
        }
        let expected = self.slots.len() * moments.len();
        expect("number of tensors", Some(&tensors.len().to_string()), &expected.to_string())
    }
}

fn tensor_name(weight: &str, moment: &str) -> String {
    format!("{weight}.{moment}")
}

fn expect(what: &str, found: Option<&String>, expected: &str) -> Result<(), OptimizerError> {
    let found = found.map_or("missing", String::as_str);
    if found == expected {
        return Ok(());
    }
    Err(state_error(what, found, expected.into()))
}

fn state_error(what: &str, found: &str, expected: String) -> OptimizerError {
    OptimizerError::State { what: what.into(), found: found.into(), expected }
}
