# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The kernel of the build tree as Jupyter sees it: a kernelspec in a private
# home, and one of a venv that has no packages at all.
. "${srcdir:-.}/functions.sh"

kernel=${KERNEL_PYTHONPATH:-../../guest/kernel/python}/sandbox_kernel
clients=$(cd "${srcdir:-.}/kernel" && pwd)
client=$(cd "${srcdir:-.}/../../python-client" && pwd)

# python MODULE...: set $python to one that has them, or skip the test.
choose_python()
{
	for python in python3 /usr/bin/python3; do
		# shellcheck disable=SC2145
		! "$python" -c "import $(echo "$@" | tr ' ' ,)" 2>/dev/null ||
			return 0
	done
	requires "$python" -c "import $(echo "$@" | tr ' ' ,)"
}

# A module with a sanitizer wants its runtime loaded before Python's memory.
preload_asan()
{
	asan=$(ldd "$kernel/_core.abi3.so" | awk '/libasan/ { print $3 }')
	[ -n "$asan" ] || return 0
	for spec in "$JUPYTER_PATH"/kernels/*/kernel.json; do
		"$python" - "$spec" "$asan" <<-'END'
			import json, sys
			with open(sys.argv[1]) as file:
			    spec = json.load(file)
			spec["env"] = {"LD_PRELOAD": sys.argv[2],
			               "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=1"}
			with open(sys.argv[1], "w") as file:
			    json.dump(spec, file)
		END
	done
	KERNEL_SOAK=1000
	export KERNEL_SOAK
}

install_kernels()
{
	HOME=$dir
	JUPYTER_PATH=$dir/share/jupyter
	JUPYTER_RUNTIME_DIR=$dir/runtime
	MPLCONFIGDIR=$dir/mpl
	IPYTHONDIR=$dir/ipython
	PYTHONDONTWRITEBYTECODE=1
	export HOME JUPYTER_PATH JUPYTER_RUNTIME_DIR MPLCONFIGDIR IPYTHONDIR
	export PYTHONDONTWRITEBYTECODE
	unset XDG_STATE_HOME XDG_DATA_HOME JUPYTER_DATA_DIR PYTHONPATH
	"$python" "$kernel/kernelspec.py" install --prefix "$dir" >/dev/null
	"$python" -m venv --without-pip "$dir/venv"
	"$dir/venv/bin/python" "$kernel/kernelspec.py" install --prefix "$dir" \
		--name sandbox-plain >/dev/null
	preload_asan
}

# run_tests NAME...: of tests/native/kernel.
run_tests()
{
	for name in "$@"; do
		echo "# $name"
		(cd "$dir" && SANDBOX_CLIENT=$client timeout 600 "$python" -W ignore \
			"$clients/test_$name.py" 2>&1) || fail "$name"
	done
}
