/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of version 1.0 print by, and check by: nothing. */
#define RVTEST_IO_INIT
#define RVTEST_IO_WRITE_STR(scratch, text)
#define RVTEST_IO_CHECK()
#define RVTEST_IO_ASSERT_GPR_EQ(scratch, register, value)
#define RVTEST_IO_ASSERT_SFPR_EQ(scratch, register, value)
#define RVTEST_IO_ASSERT_DFPR_EQ(scratch, register, value)
