#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sandbox comes up, runs commands, and leaves nothing behind.
. "${0%/*}/functions.sh"

succeeds sbctl up demo
eq "$(sbctl info demo --json | json .state)" ready "its state"
eq "$(sbctl exec demo -- echo hi)" hi "the output of a command"
fails_with 7 sbctl exec demo -- sh -c 'exit 7'
eq "$(sbctl exec demo -- id -un)" user "commands run as 'user'"
eq "$(sbctl exec demo -- pwd)" /home/user/workspace "in its workspace"
eq "$(sbctl exec demo -- hostname)" demo "the guest has the sandbox's name"
eq "$(sbctl py demo 'print(6 * 7)')" 42 "Python"

share=$(sbctl info demo --json | json .share)
echo from-host >"$share/note"
eq "$(sbctl exec demo -- cat /shared/note)" from-host "the shared folder"

fails_with 5 sbctl up demo
guest=$(guests)
succeeds sbctl down demo
wait_until 30 gone "$guest"
wait_until 30 test ! -e "$share"
fails_with 4 sbctl info demo
eq "$(sbctl ls --json | json '.sandboxes | length')" 0 "nothing is listed"
