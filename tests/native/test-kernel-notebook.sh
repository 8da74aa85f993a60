#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel in notebooks: magics, plots, tables, widgets, nbclient, nbconvert.
. "${srcdir:-.}/kernel/setup.sh"

choose_python jupyter_client nbclient nbconvert IPython matplotlib pandas PIL \
	ipywidgets comm
install_kernels
run_tests notebook
