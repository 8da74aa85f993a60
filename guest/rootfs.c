/* SPDX-License-Identifier: Apache-2.0 */
/* The root file system grows to the size of its disk. */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util.h"
#include "guest/rootfs.h"

/* What resize2fs asks of a mounted ext4: the new number of blocks. */
#define EXT4_IOC_RESIZE_FS _IOW('f', 16, uint64_t)

/* Of the superblock (Documentation/filesystems/ext4/super.rst). */
#define SUPER_OFFSET 1024
#define SUPER_BLOCKS_LO 0x04
#define SUPER_LOG_BLOCK_SIZE 0x18
#define SUPER_MAGIC 0x38
#define SUPER_BLOCKS_HI 0x150
#define EXT4_MAGIC 0xef53
#define MAX_LOG_BLOCK_SIZE 6

struct ext4_size {
	uint64_t blocks;
	uint32_t block_size;
};

static uint32_t le32_at(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static int read_size(int fd, struct ext4_size *ret)
{
	unsigned char sb[1024];
	uint32_t log;

	if (pread(fd, sb, sizeof(sb), SUPER_OFFSET) != sizeof(sb) ||
	    (le32_at(sb + SUPER_MAGIC) & 0xffff) != EXT4_MAGIC)
		return -1;
	log = le32_at(sb + SUPER_LOG_BLOCK_SIZE);
	if (log > MAX_LOG_BLOCK_SIZE)
		return -1;
	ret->block_size = 1024U << log;
	ret->blocks = le32_at(sb + SUPER_BLOCKS_LO) |
		      (uint64_t)le32_at(sb + SUPER_BLOCKS_HI) << 32;
	return 0;
}

int rootfs_grow(const char *device, long long *ret_mib, struct sb_err *err)
{
	autoclose int dev = open(device, O_RDONLY | O_CLOEXEC);
	autoclose int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat dev_st, root_st;
	uint64_t bytes, blocks;
	struct ext4_size size;

	*ret_mib = 0;
	if (dev < 0 || root < 0 || fstat(dev, &dev_st) < 0 ||
	    fstat(root, &root_st) < 0 || !S_ISBLK(dev_st.st_mode) ||
	    dev_st.st_rdev != root_st.st_dev || read_size(dev, &size) < 0)
		return 0;
	if (ioctl(dev, BLKGETSIZE64, &bytes) < 0)
		return sb_fail(err, SB_SYSTEM, "size of '%s': %m", device);
	blocks = bytes / size.block_size;
	if (blocks <= size.blocks)
		return 0;
	if (ioctl(root, EXT4_IOC_RESIZE_FS, &blocks) < 0)
		return sb_fail(err, SB_SYSTEM, "cannot grow '%s': %m", device);
	*ret_mib = (blocks - size.blocks) * size.block_size >> 20;
	return 0;
}
