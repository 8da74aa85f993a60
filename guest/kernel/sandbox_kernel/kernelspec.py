#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sandbox-kernelspec: make the kernel known to Jupyter.

The kernelspec names this very Python and the kernel's file by its path, so it
works in any Python or venv without installing anything into it.
"""

import os
import sys

if __name__ == "__main__":
    # Modules are not looked for next to this file: some share the names of
    # others.
    sys.path.pop(0)

import argparse
import json
import shutil

HERE = os.path.dirname(os.path.realpath(__file__))
# The kernelspec's name of each language.
NAMES = {"python": "sandbox-python", "bash": "bash"}
PTH = "sandbox_kernel.pth"


def user_dir():
    where = os.environ.get("JUPYTER_DATA_DIR")
    if where:
        return where
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "jupyter")


def places():
    """Where Jupyter looks, first one first."""
    extra = os.environ.get("JUPYTER_PATH", "")
    found = [where for where in extra.split(os.pathsep) if where]
    found += [user_dir(), os.path.join(sys.prefix, "share/jupyter")]
    found += ["/usr/local/share/jupyter", "/usr/share/jupyter"]
    return list(dict.fromkeys(found))


def target(args):
    if args.prefix:
        where = os.path.join(args.prefix, "share/jupyter")
    elif args.sys_prefix:
        where = os.path.join(sys.prefix, "share/jupyter")
    elif args.user or os.geteuid() != 0:
        where = user_dir()
    else:
        where = "/usr/local/share/jupyter"
    return os.path.join(where, "kernels", args.name)


def spec(args):
    argv = [sys.executable, HERE + "/__main__.py", "-f", "{connection_file}"]
    title = "Python %d.%d (sandbox)" % sys.version_info[:2]
    if args.language != "python":
        argv[2:2] = ["--language", args.language]
        title = args.language.capitalize()
    return {
        "argv": argv,
        "display_name": args.display_name or title,
        "language": args.language,
        "interrupt_mode": "message",
        "metadata": {"debugger": False},
    }


def check():
    """Will the kernel load here?"""
    if sys.version_info < (3, 9):
        raise SystemExit("sandbox-kernelspec: the kernel needs Python 3.9 or later")
    if not any(
        name.startswith("_core.") and name.endswith(".so") for name in os.listdir(HERE)
    ):
        raise SystemExit(
            "sandbox-kernelspec: %s has no _core module; build it first" % HERE
        )


def install(args):
    check()
    where = target(args)
    os.makedirs(where, exist_ok=True)
    path = os.path.join(where, "kernel.json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(spec(args), file, indent=1)
        file.write("\n")
    os.replace(path + ".tmp", path)
    print("installed %s in %s" % (args.name, where))
    if args.pth:
        print("installed %s" % write_pth())


def write_pth():
    """Make ``python -m sandbox_kernel`` work in this Python."""
    import sysconfig

    parent = os.path.dirname(HERE)
    others = [name for name in os.listdir(parent) if name != os.path.basename(HERE)]
    if any(name.endswith(".py") or name.endswith("-info") for name in others):
        raise SystemExit(
            "sandbox-kernelspec: %s holds other modules too, so --pth would add them"
            % parent
        )
    path = os.path.join(sysconfig.get_path("purelib"), PTH)
    with open(path, "w", encoding="utf-8") as file:
        file.write(parent + "\n")
    return path


def remove(args):
    where = target(args)
    if not os.path.exists(os.path.join(where, "kernel.json")):
        raise SystemExit(
            "sandbox-kernelspec: there is no %s; 'sandbox-kernelspec list' shows "
            "what is installed" % where
        )
    shutil.rmtree(where)
    print("removed %s" % where)


def listed(args):
    seen = set()
    for place in places():
        folder = os.path.join(place, "kernels")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name, "kernel.json")
            if name not in seen and is_ours(path):
                seen.add(name)
                print("%-20s %s" % (name, os.path.dirname(path)))


def is_ours(path):
    try:
        with open(path, encoding="utf-8") as file:
            argv = json.load(file)["argv"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return "sandbox_kernel" in " ".join(map(str, argv))


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="sandbox-kernelspec",
        description="Make the sandbox kernel known to Jupyter.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, call, text in (
        ("install", install, "write the kernelspec"),
        ("remove", remove, "remove the kernelspec"),
        ("list", listed, "list the installed kernelspecs of this kernel"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(call=call)
        if name == "list":
            continue
        where = command.add_mutually_exclusive_group()
        where.add_argument("--user", action="store_true", help="for this user")
        where.add_argument("--prefix", metavar="DIR", help="below DIR/share/jupyter")
        where.add_argument(
            "--sys-prefix", action="store_true", help="for this Python or venv"
        )
        command.add_argument(
            "--language", choices=sorted(NAMES), default="python", help="of the cells"
        )
        command.add_argument(
            "--name", help="default: " + " or ".join(sorted(NAMES.values()))
        )
        if name == "install":
            command.add_argument("--display-name", metavar="TEXT")
            command.add_argument(
                "--pth",
                action="store_true",
                help="also make 'python -m sandbox_kernel' work in this Python",
            )
    args = parser.parse_args(argv)
    if args.command == "list":
        return args
    if args.name is None:
        args.name = NAMES[args.language]
    if not args.name or args.name.strip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
    ):
        parser.error("--name takes letters, digits, '.', '_' and '-'")
    return args


def main(argv=None):
    args = parse(argv)
    try:
        args.call(args)
    except OSError as error:
        raise SystemExit("sandbox-kernelspec: %s" % error)


if __name__ == "__main__":
    main()
