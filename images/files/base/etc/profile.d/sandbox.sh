# The sandbox's environment, as the host has given it.
if [ -r /run/sandbox/env.sh ]; then
	. /run/sandbox/env.sh
fi
