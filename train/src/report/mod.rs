//! The report on a run: what it has learned, in one file for a person.
//!
//! `data` reads the run directory, `charts` draws curves as SVG, `page` puts
//! everything into one HTML file that needs nothing else.

mod charts;
pub mod data;
mod page;

pub use data::{Report, ReportError};
pub use page::html;
