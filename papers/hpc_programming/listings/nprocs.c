/* SPDX-License-Identifier: Apache-2.0 */
/* nprocs: the second listing of section 3 of the paper, how many CPUs there are.
 *
 * Changed: <stdio.h> is included, without which the paper's program does not declare printf (a
 * warning until gcc 13, an error from gcc 14 on). */
#include <stdio.h>
#include <sys/sysinfo.h>

int main(void)
{
    int n;
    n = get_nprocs();
    printf("The number of CPUs = %d\n", n);
}
