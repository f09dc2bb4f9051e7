# SPDX-License-Identifier: Apache-2.0
# Makes a simulator by the makefile that Verilator wrote in this folder, but the header that is included ahead of every
# file is parsed once for each level of optimisation. PRINT is that header's path.
default:
include $(filter-out %_classes.mk,$(wildcard V*.mk))

HEADER = $(notdir $(PRINT))
$(VK_USER_OBJS) $(VK_FAST_OBJS) $(VK_GLOBAL_OBJS): | $(HEADER).gch/fast
$(VK_SLOW_OBJS): | $(HEADER).gch/slow
$(HEADER).gch/fast: OPTIMISED = $(OPT_FAST)
$(HEADER).gch/slow: OPTIMISED = $(OPT_SLOW)
$(HEADER).gch/%: $(PRINT)
	mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(filter-out -include $(HEADER),$(CPPFLAGS)) $(OPTIMISED) -x c++-header -c -o $@ $<
