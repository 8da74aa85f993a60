#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Not a test: builds the image that the tests boot, unless it is cached.
. "${0%/*}/functions.sh"
sbctl image build base
