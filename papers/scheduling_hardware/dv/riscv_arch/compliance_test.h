/* SPDX-License-Identifier: Apache-2.0 */
/* What model_test.h is, for programs of version 1.0, where the macros have other names. */
#ifndef OKOSU_COMPLIANCE_TEST_H
#define OKOSU_COMPLIANCE_TEST_H

#include "model_test.h"

/* This is assembly, which would be formatted as C. */
/* clang-format off */

#define RV_COMPLIANCE_RV32M

#define RV_COMPLIANCE_CODE_BEGIN \
    .section .text.init, "ax"; \
    .globl rvtest_entry_point; \
    rvtest_entry_point:

#define RV_COMPLIANCE_CODE_END
#define RV_COMPLIANCE_HALT RVMODEL_HALT
#define RV_COMPLIANCE_DATA_BEGIN RVMODEL_DATA_BEGIN
#define RV_COMPLIANCE_DATA_END RVMODEL_DATA_END

/* clang-format on */

#endif
