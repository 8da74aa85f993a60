# SPDX-License-Identifier: Apache-2.0
"""The content of kernel_info_reply."""

import sys


def info(language, banner, **more):
    return {
        "status": "ok",
        "protocol_version": "5.5",
        "implementation": "sandbox-kernel",
        "implementation_version": "0.1",
        "language_info": language,
        "banner": banner + "\nsandbox-kernel 0.1",
        "help_links": [],
        "debugger": False,
        "supported_features": [],
        **more,
    }


def python_info():
    language = {
        "name": "python",
        "version": "%d.%d.%d" % sys.version_info[:3],
        "mimetype": "text/x-python",
        "file_extension": ".py",
        "codemirror_mode": {"name": "ipython", "version": 3},
        "pygments_lexer": "ipython3",
        "nbconvert_exporter": "python",
    }
    link = {
        "text": "Python",
        "url": "https://docs.python.org/%d.%d" % sys.version_info[:2],
    }
    banner = "Python %s" % sys.version.split("\n")[0]
    return info(language, banner, help_links=[link])
