# SPDX-License-Identifier: Apache-2.0
"""Comms: messages between widgets and their views.  The interface is that of
the comm package and of ipykernel.comm, which this stands in for."""

import sys


def _current():
    """The kernel's manager; the first who asks makes it."""
    from sandbox_kernel.shell import current

    return current().kernel.comms


class Comm:
    """One channel between an object here and one in the front end."""

    kernel = True
    primary = True

    def __init__(
        self,
        target_name="comm",
        data=None,
        metadata=None,
        buffers=None,
        comm_id=None,
        primary=True,
        target_module=None,
        **more
    ):
        from os import urandom

        self.comm_id = comm_id or urandom(16).hex()
        self.target_name = target_name
        self.target_module = target_module
        self.primary = primary
        self.topic = ("comm-" + self.comm_id).encode()
        self._on_msg = None
        self._on_close = None
        self._closed = not primary
        if primary:
            self.open(data, metadata, buffers)
        else:
            _current().register_comm(self)

    def open(self, data=None, metadata=None, buffers=None):
        _current().register_comm(self)
        self._closed = False
        extra = {"target_name": self.target_name}
        if self.target_module:
            extra["target_module"] = self.target_module
        self._publish("comm_open", data, metadata, buffers, extra)

    def send(self, data=None, metadata=None, buffers=None):
        self._publish("comm_msg", data, metadata, buffers)

    def close(self, data=None, metadata=None, buffers=None, deleting=False):
        if self._closed:
            return
        self._closed = True
        self._publish("comm_close", data, metadata, buffers)
        if not deleting:
            _current().unregister_comm(self)

    def _publish(self, kind, data, metadata, buffers, extra=None):
        content = dict(extra or {}, comm_id=self.comm_id, data=data or {})
        _current().core.publish(kind, content, metadata or {}, buffers)

    def on_msg(self, callback):
        self._on_msg = callback

    def on_close(self, callback):
        self._on_close = callback

    def handle_msg(self, message):
        if self._on_msg is not None:
            self._on_msg(message)

    def handle_close(self, message):
        if self._on_close is not None:
            self._on_close(message)


BaseComm = Comm


class CommManager:
    """All open comms, and who answers which target."""

    def __init__(self, core):
        self.core = core
        self.targets = {}
        self.comms = {}

    def register_target(self, name, callback):
        if isinstance(callback, str):
            from importlib import import_module

            module, _, attribute = callback.rpartition(".")
            callback = getattr(import_module(module), attribute)
        self.targets[name] = callback

    def unregister_target(self, name, callback=None):
        return self.targets.pop(name)

    def register_comm(self, comm):
        self.comms[comm.comm_id] = comm
        self.core.comm_add(comm.comm_id, comm.target_name)
        return comm.comm_id

    def unregister_comm(self, comm):
        if self.comms.pop(comm.comm_id, None) is not None:
            self.core.comm_remove(comm.comm_id)

    def get_comm(self, comm_id):
        return self.comms.get(comm_id)

    def comm_open(self, req, *unused):
        content = req.content
        comm = Comm(
            comm_id=str(content.get("comm_id", "")),
            primary=False,
            target_name=str(content.get("target_name", "")),
        )
        comm._closed = False
        callback = self.targets.get(comm.target_name)
        if callback is None:
            print("no such comm target: %s" % comm.target_name, file=sys.stderr)
        else:
            try:
                callback(comm, message(req))
                return
            except Exception:
                _report()
        comm.close()

    def comm_msg(self, req, *unused):
        comm = self.comms.get(req.content.get("comm_id"))
        if comm is not None:
            self._call(comm.handle_msg, req)

    def comm_close(self, req, *unused):
        comm = self.comms.get(req.content.get("comm_id"))
        if comm is not None:
            self.unregister_comm(comm)
            comm._closed = True
            self._call(comm.handle_close, req)

    def _call(self, handler, req):
        try:
            handler(message(req))
        except Exception:
            _report()


def message(req):
    """A request in the form that handlers of comms know."""
    return {
        "header": req.header,
        "msg_type": req.type,
        "metadata": req.metadata,
        "content": req.content,
        "buffers": [memoryview(part) for part in req.buffers or ()],
    }


def _report():
    import traceback

    traceback.print_exc(file=sys.stderr)
