# SPDX-License-Identifier: Apache-2.0
"""What a program needs on the host of a sandbox."""

from sandbox_client.result import Image, Limits, Remote, ResultError, decode, loads

__all__ = ["Image", "Limits", "Remote", "ResultError", "decode", "loads"]
