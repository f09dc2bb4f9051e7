/* SPDX-License-Identifier: Apache-2.0 */
/* zero_fault ENGINE PAGES [TIMES]: zero_fault.h of pages of 2 MiB. */
#include "zero_fault.h"

int main(int argc, char **argv)
{
    return zero_fault(argc, argv);
}
