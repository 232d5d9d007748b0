//! The training pipeline.
