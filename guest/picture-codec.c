/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG and WebP, by the libraries for them. */
#include "config.h"

#include <turbojpeg.h>
#include <webp/encode.h>

#include "guest/picture.h"

/* Text keeps its colours from here on. */
#define FINE_QUALITY 90

int picture_jpeg(const struct picture *p, int quality, struct buf *out,
		 struct sb_err *err)
{
	int sampling = quality >= FINE_QUALITY ? TJSAMP_444 : TJSAMP_420;
	tjhandle tj = tjInitCompress();
	unsigned long len = tjBufSize(p->width, p->height, sampling);
	unsigned char *data;
	int r;

	if (!tj)
		return sb_fail(err, SB_BUSY, "there is no memory for a JPEG");
	buf_reserve(out, len);
	data = (unsigned char *)out->p + out->len;
	r = tjCompress2(tj, p->pixels, p->width, (int)p->stride, p->height,
			TJPF_BGRX, &data, &len, sampling, quality,
			TJFLAG_FASTDCT | TJFLAG_NOREALLOC);
	if (r == 0)
		out->len += len;
	else
		sb_fail(err, SB_SYSTEM, "cannot make a JPEG: %s",
			tjGetErrorStr2(tj));
	tjDestroy(tj);
	return r;
}

static int webp_write(const uint8_t *data, size_t len, const WebPPicture *pic)
{
	buf_add(pic->custom_ptr, data, len);
	return 1;
}

int picture_webp(const struct picture *p, int quality, struct buf *out,
		 struct sb_err *err)
{
	WebPConfig cfg;
	WebPPicture pic;
	int ok;

	if (!WebPConfigPreset(&cfg, WEBP_PRESET_TEXT, (float)quality) ||
	    !WebPPictureInit(&pic))
		return sb_fail(err, SB_SYSTEM, "libwebp is of another version");
	cfg.method = 0; /* the quickest: others cost five times as much */
	pic.width = p->width;
	pic.height = p->height;
	pic.writer = webp_write;
	pic.custom_ptr = out;
	ok = WebPPictureImportBGRX(&pic, p->pixels, (int)p->stride) &&
	     WebPEncode(&cfg, &pic);
	if (!ok)
		sb_fail(err, SB_SYSTEM, "cannot make a WebP: error %d",
			(int)pic.error_code);
	WebPPictureFree(&pic);
	return ok ? 0 : -1;
}
