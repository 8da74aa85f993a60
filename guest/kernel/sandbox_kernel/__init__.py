# SPDX-License-Identifier: Apache-2.0
"""A Jupyter kernel for Python whose protocol lives in a C thread."""
