/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libyuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/recorder/film.h"
#include "guest/recorder/film-private.h"

#define KEY_MS 4000 /* between pictures at which playing can begin */
#define MAX_SPS_ID 31

struct film {
	AVFormatContext *mux;
	AVStream *stream;
	AVCodecContext *codec;
	AVFrame *frame;
	AVPacket *packet;
	AVPacket *held; /* its length is not known before the next one */
	bool holds;
	int64_t last_ms, key_ms;
	int64_t pictures;
	bool behind;
	struct film_config cfg; /* path is ours */
	char *path;
	int64_t good; /* bytes that play: all up to the last fragment */
	int sizes;    /* how often there was another one */
};

int film_fail(struct sb_err *err, int rc, const char *what)
{
	char text[AV_ERROR_MAX_STRING_SIZE];

	av_strerror(rc, text, sizeof(text));
	return sb_fail(err,
		       rc == AVERROR(ENOSPC) || rc == AVERROR(EDQUOT)
			       ? SB_NOSPACE
			       : SB_SYSTEM,
		       "%s: %s", what, text);
}

static void set_picture(AVCodecContext *c, const struct film_config *cfg)
{
	c->width = cfg->width & ~1;
	c->height = cfg->height & ~1;
	c->time_base = (AVRational){ 1, 1000 };
	c->framerate = (AVRational){ cfg->fps, 1 };
	c->pix_fmt = AV_PIX_FMT_YUV420P;
	/* What libyuv makes of RGB. */
	c->color_range = AVCOL_RANGE_MPEG;
	c->colorspace = AVCOL_SPC_SMPTE170M;
	c->color_primaries = AVCOL_PRI_BT709;
	c->color_trc = AVCOL_TRC_IEC61966_2_1;
}

/*
 * The parameters of the first size are in the file's header, which is written
 * before anything else; those of the later ones in each key picture, under a
 * number of their own, so that whoever skips back finds the first as they were.
 */
static void set_parameters(AVCodecContext *c, int size)
{
	if (size == 0) {
		c->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
	} else {
		char id[32];

		snprintf(id, sizeof(id), "sps-id=%d",
			 1 + (size - 1) % MAX_SPS_ID);
		av_opt_set(c->priv_data, "x264-params", id, 0);
	}
}

static int open_codec(const struct film_config *cfg, int size,
		      AVCodecContext **ret, struct sb_err *err)
{
	const AVCodec *codec = avcodec_find_encoder_by_name("libx264");
	AVCodecContext *c;
	int rc;

	if (!codec) {
		sb_fail(err, SB_MISSING, "libavcodec has no encoder libx264");
		return sb_hint(err, "install Debian's libavcodec59");
	}
	c = avcodec_alloc_context3(codec);
	if (!c)
		return sb_fail(err, SB_SYSTEM, "no memory for the encoder");
	set_picture(c, cfg);
	set_parameters(c, size);
	c->gop_size = 1 << 20; /* we say which pictures are keys */
	c->max_b_frames = 0;
	c->thread_count = 1;
	av_opt_set(c->priv_data, "preset", cfg->preset, 0);
	av_opt_set(c->priv_data, "tune", "zerolatency", 0);
	/* And no crf: it looks at each picture twice, for nearly the double
	 * time, and what it finds out about text is of no use. */
	av_opt_set_int(c->priv_data, "qp", cfg->quality, 0);
	av_opt_set_int(c->priv_data, "forced-idr", 1, 0);
	rc = avcodec_open2(c, codec, NULL);
	if (rc < 0) {
		avcodec_free_context(&c);
		return film_fail(err, rc, "the encoder does not start");
	}
	*ret = c;
	return 0;
}

static int open_file(struct film *f, const struct film_config *cfg,
		     struct sb_err *err)
{
	AVDictionary *opts = NULL;
	int rc;

	rc = avformat_alloc_output_context2(&f->mux, NULL, "mp4", cfg->path);
	if (rc < 0)
		return film_fail(err, rc, "no MP4");
	f->stream = avformat_new_stream(f->mux, NULL);
	if (!f->stream)
		return sb_fail(err, SB_SYSTEM, "no memory for the film");
	f->stream->time_base = f->codec->time_base;
	f->stream->avg_frame_rate = f->codec->framerate;
	avcodec_parameters_from_context(f->stream->codecpar, f->codec);
	rc = avio_open(&f->mux->pb, cfg->path, AVIO_FLAG_WRITE);
	if (rc < 0)
		return film_fail(err, rc, cfg->path);
	av_dict_set(&opts, "movflags",
		    "frag_custom+empty_moov+default_base_moof", 0);
	rc = avformat_write_header(f->mux, &opts);
	av_dict_free(&opts);
	avio_flush(f->mux->pb);
	if (rc >= 0)
		rc = f->mux->pb->error;
	if (rc < 0) {
		unlink(cfg->path);
		return film_fail(err, rc, cfg->path);
	}
	f->good = avio_tell(f->mux->pb);
	return 0;
}

static int open_frame(const AVCodecContext *c, AVFrame **ret,
		      struct sb_err *err)
{
	AVFrame *frame = av_frame_alloc();

	if (!frame)
		return sb_fail(err, SB_SYSTEM, "no memory for a picture");
	frame->format = c->pix_fmt;
	frame->width = c->width;
	frame->height = c->height;
	if (av_frame_get_buffer(frame, 0) < 0) {
		av_frame_free(&frame);
		return sb_fail(err, SB_SYSTEM, "no memory for a picture");
	}
	*ret = frame;
	return 0;
}

static void film_free(struct film *f)
{
	if (f->mux)
		avio_closep(&f->mux->pb);
	avformat_free_context(f->mux);
	avcodec_free_context(&f->codec);
	av_frame_free(&f->frame);
	av_packet_free(&f->packet);
	av_packet_free(&f->held);
	free(f->path);
	free(f);
}

int film_open(const struct film_config *cfg, struct film **ret,
	      struct sb_err *err)
{
	struct film *f = xcalloc(1, sizeof(*f));

	f->cfg = *cfg;
	f->cfg.path = f->path = xstrdup(cfg->path);
	f->last_ms = -1;
	f->key_ms = -KEY_MS;
	f->packet = av_packet_alloc();
	f->held = av_packet_alloc();
	av_log_set_level(AV_LOG_ERROR);
	if (!f->packet || !f->held) {
		film_free(f);
		return sb_fail(err, SB_SYSTEM, "no memory for the film");
	}
	if (open_codec(cfg, 0, &f->codec, err) < 0 ||
	    open_file(f, cfg, err) < 0 ||
	    open_frame(f->codec, &f->frame, err) < 0) {
		film_free(f);
		return -1;
	}
	*ret = f;
	return 0;
}

/* Hand the held packet to the file: it lasts until then. */
static int release(struct film *f, int64_t until, struct sb_err *err)
{
	int rc;

	if (!f->holds)
		return 0;
	f->holds = false;
	f->held->duration = until - f->held->pts;
	av_packet_rescale_ts(f->held, f->codec->time_base,
			     f->stream->time_base);
	rc = av_write_frame(f->mux, f->held);
	av_packet_unref(f->held);
	f->behind = true;
	return rc < 0 ? film_fail(err, rc, "cannot write the film") : 0;
}

/* All packets that the encoder has; with zerolatency that is one a picture. */
static int drain(struct film *f, struct sb_err *err)
{
	int rc;

	while ((rc = avcodec_receive_packet(f->codec, f->packet)) == 0) {
		if (release(f, f->packet->pts, err) < 0)
			return -1;
		av_packet_move_ref(f->held, f->packet);
		f->holds = true;
	}
	if (rc != AVERROR(EAGAIN) && rc != AVERROR_EOF)
		return film_fail(err, rc, "the encoder failed");
	return 0;
}

int film_flush(struct film *f, struct sb_err *err)
{
	int rc;

	if (!f->behind)
		return 0;
	f->behind = false;
	rc = av_write_frame(f->mux, NULL);
	avio_flush(f->mux->pb);
	if (rc >= 0)
		rc = f->mux->pb->error;
	if (rc < 0)
		return film_fail(err, rc, "cannot write the film");
	f->good = avio_tell(f->mux->pb);
	return 0;
}

static int encode(struct film *f, int64_t ms, struct sb_err *err)
{
	int rc;

	ms = MAX(ms, f->last_ms + 1);
	f->frame->pts = f->last_ms = ms;
	f->frame->pict_type = AV_PICTURE_TYPE_NONE;
	if (ms - f->key_ms >= KEY_MS) {
		f->frame->pict_type = AV_PICTURE_TYPE_I;
		f->key_ms = ms;
	}
	rc = avcodec_send_frame(f->codec, f->frame);
	if (rc < 0)
		return film_fail(err, rc, "the encoder failed");
	f->pictures++;
	if (drain(f, err) < 0)
		return -1;
	/* A fragment begins with each key. */
	return f->key_ms == ms ? film_flush(f, err) : 0;
}

/* From the screen's pixels to the encoder's, those of a pair of rows at a
 * time, as two rows share their colours. */
static void convert(struct film *f, const uint8_t *pixels, int stride, int from,
		    int to)
{
	AVFrame *frame = f->frame;
	size_t row = (size_t)from;

	ARGBToI420(pixels + row * (size_t)stride, stride,
		   frame->data[0] + row * (size_t)frame->linesize[0],
		   frame->linesize[0],
		   frame->data[1] + row / 2 * (size_t)frame->linesize[1],
		   frame->linesize[1],
		   frame->data[2] + row / 2 * (size_t)frame->linesize[2],
		   frame->linesize[2], frame->width, to - from);
}

/*
 * From here on the film has another size: an encoder of its own, in the same
 * track.  The old one gives what it has, and the last packet of it waits for the
 * first of the new one, as always.
 */
static int change_size(struct film *f, int width, int height,
		       struct sb_err *err)
{
	AVCodecContext *codec;
	AVFrame *frame;

	f->cfg.width = width;
	f->cfg.height = height;
	if (open_codec(&f->cfg, f->sizes + 1, &codec, err) < 0)
		return -1;
	if (open_frame(codec, &frame, err) < 0) {
		avcodec_free_context(&codec);
		return -1;
	}
	f->sizes++;
	avcodec_send_frame(f->codec, NULL);
	if (drain(f, err) < 0) {
		avcodec_free_context(&codec);
		av_frame_free(&frame);
		return -1;
	}
	avcodec_free_context(&f->codec);
	av_frame_free(&f->frame);
	f->codec = codec;
	f->frame = frame;
	/* Its first picture is a key in any case; a fragment begins there. */
	f->key_ms = INT64_MIN / 2;
	return 0;
}

int film_add(struct film *f, const struct grab_picture *p, int64_t ms,
	     struct sb_err *err)
{
	int w = p->width & ~1, h = p->height & ~1;
	bool same = w == f->frame->width && h == f->frame->height;

	/* Too small for a pair of rows, and for anything to be seen. */
	if (w == 0 || h == 0)
		return 0;
	if (!same && change_size(f, w, h, err) < 0)
		return -1;
	/* The encoder may still hold on to the last one. */
	if (same && av_frame_make_writable(f->frame) < 0)
		return sb_fail(err, SB_SYSTEM, "no memory for a picture");
	convert(f, p->pixels, p->stride, same ? p->from & ~1 : 0,
		same ? MIN((p->to + 1) & ~1, h) : h);
	return encode(f, ms, err);
}

int film_still(struct film *f, int64_t ms, struct sb_err *err)
{
	return f->pictures ? encode(f, ms, err) : 0;
}

bool film_is_behind(const struct film *f)
{
	return f->behind || f->holds;
}

int64_t film_bytes(const struct film *f)
{
	return avio_tell(f->mux->pb);
}

int64_t film_pictures(const struct film *f)
{
	return f->pictures;
}

/* A fragment that is there in part would keep some players from the others. */
static void cut(struct film *f)
{
	avio_closep(&f->mux->pb);
	if (truncate(f->path, f->good) < 0)
		fprintf(stderr, "sandbox-recorder: %s: %m\n", f->path);
}

int film_close(struct film *f, int64_t ms, struct sb_err *err)
{
	int rc = 0, written;

	/* The last picture was there until now. */
	if (f->pictures && ms > f->last_ms)
		rc = encode(f, ms, err);
	if (rc == 0) {
		avcodec_send_frame(f->codec, NULL);
		rc = drain(f, err);
	}
	if (rc == 0)
		rc = release(f, f->last_ms + 1, err);
	written = av_write_trailer(f->mux);
	if (rc == 0 && written >= 0)
		written = f->mux->pb->error;
	if (rc == 0 && written < 0)
		rc = film_fail(err, written, "cannot write the film");
	if (f->mux->pb->error < 0)
		cut(f);
	film_free(f);
	return rc;
}
