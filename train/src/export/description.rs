//! `model.json` and `README.md`: what the networks take and give.

use std::fs;
use std::path::Path;

use anyhow::Context;
use cyvasse_env::{
    ACTION_COUNT, ACTION_INDEX_VERSION, ACTION_PLANES, PASS_INDEX, PLANES, PLANES_VERSION,
    SetupBuilder, Tile, Unit,
};
use cyvasse_models::export::{OPSET, QUANTIZED_OPSET};
use cyvasse_models::{SETUP_ENCODING_VERSION, SETUP_FEATURES};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::bundle::{Bundle, TOLERANCE};
use super::cases::CASES;
use super::{Export, actions, provenance};

/// The version of what stands in `model.json`; since 2 setups may have to be mirrored.
const VERSION: u32 = 2;

const README: &str = include_str!("README.template.md");

/// The text of `model.json`. It comes last, for it has the hashes of all other files.
pub(super) fn model(bundle: &Bundle<'_>, export: &Export) -> anyhow::Result<String> {
    let agent = bundle.agent;
    let model = json!({
        "format": "cyvasse-model",
        "format_version": VERSION,
        "producer": concat!("cyvasse ", env!("CARGO_PKG_VERSION")),
        "rules": {
            "name": agent.rules.name,
            "fingerprint": format!("{:016x}", agent.rules.fingerprint()),
            "file": "rules.toml",
            "position_text": "tiles units side frozen quiet-plies plies, as in the test cases; ranks 8 to 1",
        },
        "networks": export.files,
        "onnx_opset": OPSET,
        "onnx_opset_int8": QUANTIZED_OPSET,
        "parity": { "test_cases": CASES, "tolerance_fp32": TOLERANCE },
        "play": play(bundle),
        "actions": action_map(),
        "setup": agent.setup.as_ref().map(|net| setup(net.config())),
        "training": provenance::training(agent)?,
        "strength": provenance::strength(agent)?,
        "smaller_numbers": export.worth,
        "files": hashes(bundle.folder)?,
    });
    Ok(serde_json::to_string_pretty(&model)? + "\n")
}

/// The text of `README.md`.
pub(super) fn readme(bundle: &Bundle<'_>, export: &Export) -> String {
    let row = |file: &super::Exported| {
        format!(
            "| `{}` | {} network, {}, {} | {:.1e} |\n",
            file.file, file.network, file.format, file.numbers, file.largest_difference
        )
    };
    let files: String = export.files.iter().map(row).collect();
    let worth = export.worth.iter().map(|worth| {
        format!(
            "- {} against fp32, {} games without search: {}; {:.2} times as fast in tract\n",
            worth.numbers,
            worth.games,
            worth.summary,
            worth.evaluations_per_second / worth.evaluations_per_second_fp32
        )
    });
    let setup = match bundle.setup {
        Some(_) => "",
        None => "This agent has no setup network: it takes any setup of the rules.\n",
    };
    README
        .replace("{rules}", &bundle.agent.rules.name)
        .replace("{files}", &files)
        .replace("{worth}", &worth.collect::<String>())
        .replace("{setup}", setup)
}

fn play(bundle: &Bundle<'_>) -> Value {
    let config = bundle.agent.play.config();
    json!({
        "architecture": config,
        "weights": bundle.agent.play.weight_count(),
        "input": {
            "name": "planes",
            "dtype": "f32",
            "shape": ["batch", 8, 8, PLANES],
            "axes": ["batch", "rank", "file", "plane"],
            "version": PLANES_VERSION,
            "view": "the mover's own: for black the ranks are flipped (rank 0 is black's own back rank) and the files are not; own and enemy change places",
            "normalisation": "none is left to do: every plane is from 0 to 1 as told here, batch normalisation is folded into the weights",
            "planes": planes(),
        },
        "torchscript_output": "one tensor of shape [batch, 7936 + 3]: policy, then value",
        "outputs": [
            {
                "name": "policy",
                "dtype": "f32",
                "shape": ["batch", PASS_INDEX],
                "convention": "a logit for each action index but `pass`; the prior is the softmax over the legal actions alone, other logits mean nothing; `pass` is legal only alone and needs no network",
            },
            {
                "name": "value",
                "dtype": "f32",
                "shape": ["batch", 3],
                "convention": "logits of win, draw and loss for the side to move; softmax gives the chances, win less loss the value from -1 to 1",
            },
        ],
    })
}

/// The planes of a position in words.
fn planes() -> Vec<Value> {
    let mut planes: Vec<(String, &str)> = Vec::new();
    for whose in ["own", "enemy"] {
        planes.extend(Unit::ALL.map(|unit| (format!("{whose} {unit}"), "0 or 1")));
    }
    for tile in ["mountain", "water", "forest", "fortress, intact", "fortress, ruined"] {
        planes.push((tile.into(), "0 or 1"));
    }
    for whose in ["own", "enemy"] {
        planes.push((format!("{whose} units that are frozen"), "0 or 1"));
    }
    let uniform = [
        ("plies without progress / draws.no_progress_plies of the rules, at most 1", "0 to 1"),
        ("plies in all / draws.max_plies, at most 1", "0 to 1"),
        (
            "(occurrences of the position in its game, now included, - 1) / (draws.repetitions - 1), at most 1",
            "0 to 1",
        ),
        ("1 where the mover is black", "0 or 1"),
        ("ones", "1"),
    ];
    planes.extend(uniform.map(|(meaning, range)| (format!("{meaning}; on every square"), range)));
    let told = planes.into_iter().enumerate().map(
        |(plane, (meaning, range))| json!({"plane": plane, "meaning": meaning, "range": range}),
    );
    told.collect()
}

fn action_map() -> Value {
    json!({
        "version": ACTION_INDEX_VERSION,
        "count": ACTION_COUNT,
        "pass": PASS_INDEX,
        "index": format!("from_square * {ACTION_PLANES} + plane"),
        "from_square": "rank * 8 + file of the acting unit, both from 0, in the mover's own view (for black the rank is 7 - rank)",
        "in_words": [
            "A move or shot is told by its offset, files to the right and ranks forward, in the mover's own view.",
            "An assault is told by whose homeland the fortress stands in (own: the mover's ranks 0 to 3) and by the offset from the fortress to the square where the attacker comes to rest.",
            "Action texts have real squares: e2e4 moves, e2xe4 shoots, e2e4@e3 assaults the fortress on e4 and comes to rest on e3.",
        ],
        "planes": actions::planes(),
    })
}

fn setup(config: &cyvasse_models::SetupNetConfig) -> Value {
    let scan: Vec<String> = SetupBuilder::SCAN.iter().map(ToString::to_string).collect();
    let units = Unit::ALL.map(|unit| unit.to_string());
    let unit_tokens: Vec<&str> =
        std::iter::once("none").chain(units.iter().map(String::as_str)).collect();
    json!({
        "architecture": config,
        "steps": SetupBuilder::STEPS,
        "in_words": [
            "A setup is 64 tokens: a tile for each square of the homeland in the order of `squares`, then a unit or none for each in the same order. The network is asked once a step.",
            "Squares are in the builder's own view: a1 is in the corner of its back rank; for black flip the ranks (a1 becomes a8).",
            "probability of a token = softmax over the legal tokens of logit + ln(uniform probability). Sample it; taking the likeliest token each time gives one setup that can be read and answered.",
            "If `architecture` says \"mirror\": true, toss a coin when the setup is whole: heads, mirror it left to right (a and h, b and g, c and f, d and e change places). The network learned with it.",
            "Legal are the tokens that some legal setup continues with; the uniform probability is the share of all legal setups with the prefix that go on with the token. `cyvasse setup sample` samples whole setups for programs that do not want to compute them.",
        ],
        "squares": scan,
        "tile_tokens": Tile::LAID.map(|tile| tile.to_string()),
        "unit_tokens": unit_tokens,
        "inputs": [
            {
                "name": "features",
                "dtype": "f32",
                "shape": ["batch", SETUP_FEATURES],
                "version": SETUP_ENCODING_VERSION,
                "meaning": [
                    {"from": 0, "to": 511, "is": "for each square in the order of `squares` 16 numbers: 1 for the tile token (5) and for the unit token (11) that it has got, else 0"},
                    {"from": 512, "to": 527, "is": "how many are left to place, by tile token (5) and by unit token (11), / 8"},
                    {"from": 528, "to": 528, "is": "1 for black, 0 for white"},
                ],
            },
            {"name": "step", "dtype": "i64", "shape": ["batch"], "meaning": "tokens placed so far, 0 to 63"},
        ],
        "outputs": [
            {"name": "logits", "dtype": "f32", "shape": ["batch", SetupBuilder::UNIT_TOKENS], "meaning": "by token; in the first 32 steps by tile token, of which there are 5"},
        ],
    })
}

/// The name, size and SHA-256 of each file.
fn hashes(folder: &Path) -> anyhow::Result<Vec<Value>> {
    let read = || format!("cannot read {}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(read)? {
        paths.push(entry.with_context(read)?.path());
    }
    paths.sort();
    let hash = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(json!({"name": name, "bytes": bytes.len(), "sha256": sha256(&bytes)}))
    };
    paths.iter().map(hash).collect()
}

/// SHA-256 in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
