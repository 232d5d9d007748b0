//! Checkpoints come back as they were, and nothing else comes back at all.

use std::fs;
use std::path::Path;

use crate::common::{difference, disturb, noise, small_net};
use cyvasse_models::checkpoint::{self, CheckpointError, Compatibility};
use cyvasse_models::{Net, TensorFile, TensorFileError};
use tch::{Device, Tensor};

fn made_for() -> Compatibility {
    Compatibility {
        rules_name: "iron-throne".into(),
        rules_fingerprint: "0123abcd".into(),
        planes_version: 3,
        actions_version: 2,
    }
}

/// A folder with a checkpoint in it and the network that was saved.
fn saved() -> (tempfile::TempDir, std::path::PathBuf, Net) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.safetensors");
    let net = small_net(5);
    disturb(&net, 5);
    checkpoint::save(&path, &net, &made_for(), 1234).unwrap();
    (folder, path, net)
}

fn load(path: &Path) -> Result<Net, CheckpointError> {
    checkpoint::load(path, &made_for(), Device::Cpu).map(|(net, _)| net)
}

/// Changes a sound checkpoint by `change`, with a sound checksum, and loads it.
fn load_changed(change: impl FnOnce(&mut TensorFile)) -> CheckpointError {
    let (_folder, path, _) = saved();
    let mut file = TensorFile::load(&path).unwrap();
    change(&mut file);
    file.save(&path).unwrap();
    load(&path).unwrap_err()
}

#[test]
fn comes_back_as_it_was() {
    let (folder, path, net) = saved();
    let (loaded, header) = checkpoint::load::<Net>(&path, &made_for(), Device::Cpu).unwrap();
    assert_eq!(header.step, 1234);
    assert_eq!(header.made_for, made_for());
    assert_eq!(&header.net, net.config());
    assert_eq!(checkpoint::read_header(&path).unwrap(), header);
    let planes = noise(&[3, 8, 8, 6], 1);
    let (a, b) = (net.forward(&planes), loaded.forward(&planes));
    assert_eq!(difference(&a.policy, &b.policy), 0.0);
    assert_eq!(difference(&a.value, &b.value), 0.0);

    let again = folder.path().join("again.safetensors");
    checkpoint::save(&again, &loaded, &made_for(), 1234).unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(&again).unwrap());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "no temporary file stays: {left:?}");
}

#[test]
fn refuses_what_was_made_for_something_else() {
    let (_folder, path, _) = saved();
    let others = [
        ("planes_version", Compatibility { planes_version: 4, ..made_for() }),
        ("actions_version", Compatibility { actions_version: 1, ..made_for() }),
        ("rules_fingerprint", Compatibility { rules_fingerprint: "ffff".into(), ..made_for() }),
    ];
    for (key, needed) in others {
        let error = checkpoint::load::<Net>(&path, &needed, Device::Cpu).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
        assert!(error.to_string().contains("net.safetensors"), "{error}");
    }
    let renamed = Compatibility { rules_name: "renamed".into(), ..made_for() };
    checkpoint::load::<Net>(&path, &renamed, Device::Cpu).unwrap();
}

#[test]
fn refuses_what_its_metadata_do_not_describe() {
    let error = load_changed(|file| drop(file.metadata.remove("format")));
    assert!(error.to_string().contains("is no checkpoint"), "{error}");
    let cases = [
        ("format", "something-else"),
        ("format_version", "2"),
        ("step", "-1"),
        ("planes_version", "three"),
        ("net", "{}"),
        ("net", "{\"more\": 1}"),
    ];
    for (key, value) in cases {
        let error = load_changed(|file| {
            file.metadata.insert(key.into(), value.into());
        });
        assert!(error.to_string().contains(key), "{key}={value}: {error}");
    }
    let error = load_changed(|file| {
        let huge = file.metadata["net"].replace("\"channels\":8", "\"channels\":1000000");
        file.metadata.insert("net".into(), huge);
    });
    assert!(matches!(error, CheckpointError::Config { .. }), "{error}");
}

#[test]
fn refuses_tensors_that_do_not_fit() {
    let name = "tower.0.first.conv.weight";
    let error = load_changed(|file| drop(file.tensors.remove(name)));
    assert!(matches!(&error, CheckpointError::TensorMissing { tensor, .. } if tensor == name));

    let error = load_changed(|file| {
        file.tensors.insert("extra".into(), noise(&[2], 1));
    });
    assert!(matches!(&error, CheckpointError::TensorUnknown { tensor, .. } if tensor == "extra"));

    let error = load_changed(|file| {
        file.tensors.insert(name.into(), noise(&[8, 8, 3, 1], 1));
    });
    assert!(error.to_string().contains("Float [8, 8, 3, 1], expected Float [8, 8, 3, 3]"));

    let error = load_changed(|file| {
        let double = file.tensors[name].to_kind(tch::Kind::Double);
        file.tensors.insert(name.into(), double);
    });
    assert!(matches!(error, CheckpointError::TensorShape { .. }), "{error}");
}

#[test]
fn refuses_values_that_no_network_has() {
    for value in [f64::NAN, f64::INFINITY] {
        let error = load_changed(|file| {
            let bias = &file.tensors["value.out.bias"] + value;
            file.tensors.insert("value.out.bias".into(), bias);
        });
        assert!(error.to_string().contains("value.out.bias holds values that are not finite"));
    }
    let name = "stem.norm.running_var";
    let error = load_changed(|file| {
        let negative = -&file.tensors[name];
        file.tensors.insert(name.into(), negative);
    });
    assert!(error.to_string().contains("negative"), "{error}");
}

#[test]
fn does_not_save_a_broken_network_over_a_sound_one() {
    let (_folder, path, net) = saved();
    let before = fs::read(&path).unwrap();
    tch::no_grad(|| {
        let _ = net.variables()["stem.norm.bias"].shallow_clone().fill_(f64::NAN);
    });
    let error = checkpoint::save(&path, &net, &made_for(), 1235).unwrap_err();
    assert!(error.to_string().contains("stem.norm.bias"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn tells_a_missing_file_and_a_foreign_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.safetensors");
    let error = load(&path).unwrap_err();
    assert!(error.to_string().starts_with("cannot read "), "{error}");
    fs::write(&path, "PK\x03\x04 something else altogether").unwrap();
    let error = load(&path).unwrap_err();
    assert!(error.to_string().contains("is not a whole safetensors file"), "{error}");
    let nowhere = folder.path().join("no/such/folder.safetensors");
    let error = TensorFile::default().save(&nowhere).unwrap_err();
    assert!(matches!(error, TensorFileError::Io { action: "write", .. }), "{error}");
}

fn tiny_file() -> TensorFile {
    TensorFile {
        metadata: [("format", "test"), ("step", "12")].map(|(k, v)| (k.into(), v.into())).into(),
        tensors: [
            ("a".to_string(), noise(&[2, 3], 1)),
            ("b".to_string(), Tensor::from_slice(&[1i64, -2])),
            ("c".to_string(), Tensor::from_slice(&[0.5f64])),
            ("scalar".to_string(), Tensor::from(1.5f32)),
            ("empty".to_string(), Tensor::zeros([0, 4], tch::kind::FLOAT_CPU)),
        ]
        .into(),
    }
}

#[test]
fn any_tensors_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.safetensors");
    let file = tiny_file();
    file.save(&path).unwrap();
    let loaded = TensorFile::load(&path).unwrap();
    assert_eq!(loaded.metadata, file.metadata);
    assert_eq!(loaded.tensors.len(), file.tensors.len());
    for (name, tensor) in &file.tensors {
        assert_eq!(loaded.tensors[name].kind(), tensor.kind());
        assert_eq!(difference(&loaded.tensors[name], tensor), 0.0, "{name}");
    }
    let half = TensorFile {
        tensors: [("h".to_string(), noise(&[2], 1).to_kind(tch::Kind::Half))].into(),
        ..TensorFile::default()
    };
    let error = half.save(&path).unwrap_err();
    assert!(error.to_string().contains("tensor h holds Half"), "{error}");
}

#[test]
fn every_truncation_and_every_changed_byte_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.safetensors");
    tiny_file().save(&path).unwrap();
    let sound = fs::read(&path).unwrap();
    for length in 0..sound.len() {
        fs::write(&path, &sound[..length]).unwrap();
        assert!(TensorFile::load(&path).is_err(), "cut to {length} bytes");
    }
    let text_end = 8 + sound[8..].iter().rposition(|&byte| byte == b'}').unwrap();
    for bit in 0..sound.len() * 8 {
        let mut bytes = sound.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bytes).unwrap();
        // White space between the header and the tensors says nothing.
        let padding = bit / 8 > text_end && sound[bit / 8] == b' ';
        assert!(padding || TensorFile::load(&path).is_err(), "bit {bit} flipped");
    }
    let mut longer = sound.clone();
    longer.push(0);
    fs::write(&path, &longer).unwrap();
    assert!(TensorFile::load(&path).is_err());
}
