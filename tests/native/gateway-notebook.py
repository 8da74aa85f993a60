# SPDX-License-Identifier: Apache-2.0
"""The classic notebook, with our gateway behind it, in a real browser.
Usage: gateway-notebook.py URL TOKEN FOLDER NOTEBOOKS"""
import json
import sys

from cdp import Browser

url, token, folder, notebooks = sys.argv[1:5]

READY = (
    "Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected()"
    " && Jupyter.notebook.kernel.info_reply.status === 'ok'"
)
OUTPUT = "document.querySelector('.code_cell .output').innerText"


def run(page):
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": "print('sum', 40 + 2)\n6 * 7.5",
    }
    with open(f"{notebooks}/classic.ipynb", "w") as f:
        json.dump(
            {
                "cells": [cell],
                "metadata": {
                    "kernelspec": {"name": "python3", "display_name": "Python"}
                },
                "nbformat": 4,
                "nbformat_minor": 4,
            },
            f,
        )
    page.open(f"{url}/notebooks/classic.ipynb?token={token}")
    page.until(READY, 90)
    page.eval("Jupyter.notebook.execute_cell_and_select_below()")
    page.until(f"{OUTPUT}.includes('sum 42') && {OUTPUT}.includes('45.0')", 60)


browser = Browser(folder)
try:
    run(browser.page)
finally:
    browser.close()
