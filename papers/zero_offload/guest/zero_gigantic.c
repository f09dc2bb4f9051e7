/* SPDX-License-Identifier: Apache-2.0 */
/* zero_gigantic ENGINE PAGES [TIMES]: zero_fault.h of pages of 1 GiB. */
#define ZERO_PAGE ((size_t)1 << 30)
#define ZERO_POOL "/sys/kernel/mm/hugepages/hugepages-1048576kB/"
#define ZERO_SIZE (30 << 26) /* MAP_HUGE_1GB */

#include "zero_fault.h"

int main(int argc, char **argv)
{
    return zero_fault(argc, argv);
}
