/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JupyterLab forgets a running cell when its page is reloaded: what the cell
 * prints later belongs to nobody, and what was not saved is gone.  The gateway
 * keeps all messages, so this extension remembers in the browser which cell
 * asked what, and after a reload gives each cell what it has missed.
 *
 * A module for webpack's federation, written as it is: no build step.
 */
(() => {
    'use strict';

    const MAX_KEPT = 200;   // requests remembered for each kernel
    const PAGE = 1000;      // messages fetched at a time
    let scope;

    const base = () => JSON.parse(document.getElementById(
        'jupyter-config-data').textContent).baseUrl;

    /* What was asked of one kernel: message id → {cell, done}. */
    class Memory {
        constructor(kernel) {
            this.key = `sandbox-replay:${kernel}`;
            try {
                this.all = new Map(JSON.parse(localStorage.getItem(this.key)));
            } catch {
                this.all = new Map();
            }
        }

        save() {
            while (this.all.size > MAX_KEPT) {
                this.all.delete(this.all.keys().next().value);
            }
            try {
                if (this.all.size) {
                    localStorage.setItem(this.key,
                        JSON.stringify([...this.all]));
                } else {
                    localStorage.removeItem(this.key);
                }
            } catch { /* full, or not allowed: as without us */ }
        }

        ask(id, cell) {
            for (const [old, entry] of this.all) {
                if (entry.cell === cell) {
                    this.all.delete(old);
                }
            }
            this.all.set(id, { cell, done: false });
            this.save();
        }

        /* What has ended is in the file when that is saved. */
        end(id) {
            const entry = this.all.get(id);
            if (entry) {
                entry.done = true;
                this.save();
            }
        }

        saved() {
            for (const [id, entry] of this.all) {
                if (entry.done) {
                    this.all.delete(id);
                }
            }
            this.save();
        }
    }

    function apply(cell, msg) {
        const { outputs } = cell.model;
        const type = msg.header.msg_type;
        switch (type) {
        case 'execute_input':
            cell.model.executionCount = msg.content.execution_count;
            break;
        case 'clear_output':
            outputs.clear(msg.content.wait);
            break;
        case 'stream':
        case 'display_data':
        case 'execute_result':
        case 'error': {
            const output = { ...msg.content, output_type: type };
            delete output.transient;
            outputs.add(output);
            break;
        }
        }
    }

    const isIdle = msg => msg.header.msg_type === 'status' &&
        msg.content.execution_state === 'idle';

    /* All that the kernel has said to one request. */
    async function fetchAll(kernel, id) {
        const all = [];
        for (let after = 0;;) {
            const r = await fetch(`${base()}v1/kernels/${kernel}/messages` +
                `?parent=${encodeURIComponent(id)}&after=${after}` +
                `&limit=${PAGE}`);
            if (!r.ok) {
                return [];
            }
            const { messages, last, next } = await r.json();
            all.push(...messages.filter(m => m.channel === 'iopub'));
            if (last + 1 >= next || last <= after) {
                return all;
            }
            after = last;
        }
    }

    /* One cell that another page has started. */
    class Replay {
        constructor(id, cell) {
            this.id = id;
            this.cell = cell;
            this.seen = new Set();
            this.waiting = [];  // until what was before is here
            this.over = false;
        }

        async begin(kernel) {
            const before = await fetchAll(kernel, this.id);
            if (before.length) {
                this.cell.model.outputs.clear();
                this.cell.model.executionState = 'running';
            }
            const { waiting } = this;
            this.waiting = null;
            before.concat(waiting).forEach(m => this.take(m));
        }

        take(msg) {
            if (this.waiting) {
                this.waiting.push(msg);
                return;
            }
            if (this.over || this.seen.has(msg.header.msg_id)) {
                return;
            }
            this.seen.add(msg.header.msg_id);
            if (isIdle(msg)) {
                this.over = true;
                this.cell.model.executionState = 'idle';
            } else {
                apply(this.cell, msg);
            }
        }
    }

    function attach(panel, kernel) {
        const memory = new Memory(kernel.id);
        const replays = new Map();

        for (const [id, entry] of memory.all) {
            const cell = panel.content.widgets.find(
                w => w.model.id === entry.cell && w.model.type === 'code');
            if (cell) {
                replays.set(id, new Replay(id, cell));
            }
        }
        kernel.anyMessage.connect((_, { msg, direction }) => {
            const cell = msg.metadata && msg.metadata.cellId;
            if (direction === 'send' && cell &&
                msg.header.msg_type === 'execute_request') {
                for (const [id, replay] of replays) {
                    if (replay.cell.model.id === cell) {
                        replays.delete(id);
                    }
                }
                memory.ask(msg.header.msg_id, cell);
            }
        });
        kernel.iopubMessage.connect((_, msg) => {
            const id = msg.parent_header && msg.parent_header.msg_id;
            const replay = replays.get(id);
            if (replay) {
                replay.take(msg);
            }
            if (isIdle(msg)) {
                memory.end(id);
            }
        });
        panel.context.saveState.connect((_, state) => {
            if (state === 'completed') {
                memory.saved();
            }
        });
        for (const replay of replays.values()) {
            replay.begin(kernel.id).then(() => {
                if (replay.over) {
                    memory.end(replay.id);
                }
            }).catch(e => console.warn('sandbox-replay:', e));
        }
    }

    async function watch(panel) {
        const { context, sessionContext } = panel;
        await context.ready;
        await sessionContext.ready;
        const begin = () => {
            const kernel = sessionContext.session &&
                sessionContext.session.kernel;
            if (kernel) {
                attach(panel, kernel);
            }
        };
        sessionContext.kernelChanged.connect(begin);
        begin();
    }

    async function shared(name) {
        const [version] = Object.values(scope[name]);
        return (await version.get())();
    }

    window._JUPYTERLAB = window._JUPYTERLAB || {};
    window._JUPYTERLAB['sandbox-replay'] = {
        init: s => { scope = s; },
        get: async () => {
            const { INotebookTracker } = await shared('@jupyterlab/notebook');
            const plugin = {
                id: 'sandbox-replay:plugin',
                autoStart: true,
                requires: [INotebookTracker],
                activate: (app, tracker) => {
                    tracker.forEach(panel => watch(panel));
                    tracker.widgetAdded.connect((_, panel) => watch(panel));
                },
            };
            return () => ({ __esModule: true, default: plugin });
        },
    };
})();
