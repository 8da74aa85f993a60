# SPDX-License-Identifier: Apache-2.0
"""A Jupyter kernel whose protocol lives in a C thread; see sandbox-kernel(1)."""

__version__ = "0.1"
