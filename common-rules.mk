# SPDX-License-Identifier: Apache-2.0
# What every folder's Makefile.am starts with.
AM_CPPFLAGS = \
	-I$(top_srcdir) \
	-I$(top_builddir) \
	$(NULL)
AM_CFLAGS = \
	-std=gnu11 \
	$(WARN_CFLAGS) \
	$(HARDEN_CFLAGS) \
	$(SAN_FLAGS) \
	$(JANSSON_CFLAGS) \
	$(UV_CFLAGS) \
	$(NULL)
AM_LDFLAGS = \
	$(SAN_FLAGS) \
	$(HARDEN_LDFLAGS) \
	$(NULL)

# The installed places, for what looks them up at run time.
install_dirs = \
	-DSB_SBINDIR='"$(sbindir)"' \
	-DSB_SYSCONFDIR='"$(sysconfdir)"' \
	-DSB_DATADIR='"$(datadir)"' \
	-DSB_LIBDIR='"$(libdir)"' \
	-DSB_LIBEXECDIR='"$(libexecdir)"' \
	$(NULL)

libcommon = $(top_builddir)/common/libcommon.a
libcommon_libs = \
	$(libcommon) \
	$(LWS_LIBS) \
	$(UV_LIBS) \
	$(JANSSON_LIBS) \
	$(CRYPTO_LIBS) \
	-lpthread \
	$(NULL)
