/* SPDX-License-Identifier: Apache-2.0 */
/* From fragments to one piece: what is in them is copied as it is. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <libavformat/avformat.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/recorder/film-private.h"
#include "guest/recorder/film.h"

static int copy_packets(AVFormatContext *in, AVFormatContext *out,
			struct sb_err *err)
{
	AVPacket *p = av_packet_alloc();
	int rc;

	if (!p)
		return sb_fail(err, SB_SYSTEM, "no memory for the film");
	while ((rc = av_read_frame(in, p)) == 0) {
		av_packet_rescale_ts(p, in->streams[0]->time_base,
				     out->streams[0]->time_base);
		p->pos = -1;
		rc = av_write_frame(out, p);
		av_packet_unref(p);
		if (rc < 0)
			break;
	}
	av_packet_free(&p);
	return rc == AVERROR_EOF ? 0 : film_fail(err, rc, "cannot join");
}

static int write_joined(AVFormatContext *in, AVFormatContext *out,
			const char *path, struct sb_err *err)
{
	AVDictionary *opts = NULL;
	AVStream *stream = avformat_new_stream(out, NULL);
	int rc;

	if (!stream)
		return sb_fail(err, SB_SYSTEM, "no memory for the film");
	avcodec_parameters_copy(stream->codecpar, in->streams[0]->codecpar);
	stream->codecpar->codec_tag = 0;
	stream->time_base = in->streams[0]->time_base;
	rc = avio_open(&out->pb, path, AVIO_FLAG_WRITE);
	if (rc < 0)
		return film_fail(err, rc, path);
	av_dict_set(&opts, "movflags", "faststart", 0);
	rc = avformat_write_header(out, &opts);
	av_dict_free(&opts);
	if (rc < 0)
		return film_fail(err, rc, path);
	if (copy_packets(in, out, err) < 0)
		return -1;
	rc = av_write_trailer(out);
	if (rc >= 0)
		rc = out->pb->error;
	return rc < 0 ? film_fail(err, rc, path) : 0;
}

int film_join(const char *path, struct sb_err *err)
{
	autofree char *part = xasprintf("%s.part", path);
	AVFormatContext *in = NULL, *out = NULL;
	autoclose int lock = -1;
	int rc;

	/* A guestd that starts meanwhile would take it for one left behind.
	 * Where there are no locks, it finds none to take. */
	lock = open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (lock < 0)
		return sb_fail(err, SB_SYSTEM, "%s: %m", part);
	flock(lock, LOCK_EX | LOCK_NB);
	rc = avformat_open_input(&in, path, NULL, NULL);
	if (rc < 0)
		rc = film_fail(err, rc, path);
	else if (in->nb_streams != 1)
		rc = sb_fail(err, SB_SYSTEM, "%s: not a film of ours", path);
	else
		rc = avformat_alloc_output_context2(&out, NULL, "mp4", part);
	if (rc >= 0)
		rc = write_joined(in, out, part, err);
	avformat_close_input(&in);
	if (out)
		avio_closep(&out->pb);
	avformat_free_context(out);
	if (rc >= 0 && rename(part, path) < 0)
		rc = sb_fail(err, SB_SYSTEM, "%s: %m", path);
	if (rc < 0)
		unlink(part);
	return rc < 0 ? -1 : 0;
}
