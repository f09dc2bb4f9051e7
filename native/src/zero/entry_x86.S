/* SPDX-License-Identifier: Apache-2.0 */
/* entry: what x86-64 calls, and the variants avx512, avx2 and sse2, and those for Intel, in assembly
 * for the sake of where the code lies. A set of 128 bytes takes as long as an empty call, 7 cycles;
 * each branch that is taken and each further line of code adds one cycle. So each size class takes
 * at most one more branch than the class before it, and its code begins on a line.
 *
 * Where sizes come in no order, a branch that is guessed wrong costs as much as setting a kilobyte.
 * So there are few classes, tested from small to large, and stores that overlap instead of further
 * tests.
 *
 * With AVX-512 the vector is kept in zmm16, which no SSE or AVX instruction can name: then the upper halves of
 * the first sixteen registers stay as they were, and nothing has to be cleaned with vzeroupper. */
#if defined(__x86_64__)

/* In the macros n is the register that holds the size, and n32 its lower half. */

/* Below 64 bytes, not on Intel's cores: one masked store. Its bytes can be loaded only after 18 to 24 cycles, those of
 * plain stores after 12; but plain stores need a class for each doubling, and sizes of 1 to 16 in
 * no order then take twice the time. A masked store whose unused part reaches into an unmapped page
 * does not fault, but takes hundreds of cycles; so near the end of a page two or three plain stores
 * are used. */
.macro masked n
	mov %edi, %ecx
	and $4095, %ecx
	cmp $4096 - 64, %ecx
	ja 6f
	mov $-1, %rcx
	bzhi \n, %rcx, %rcx
	kmovq %rcx, %k1
	vmovdqu8 %zmm16, (%rdi){%k1}
	ret
.endm

/* Up to three bytes, of %cx. Three stores, which save a branch, take longer where the line is in no cache
 * (52 for 48 of a single byte on Emerald Rapids, 70 for 55 on Zen 3; only on Granite Rapids a single byte
 * takes 91 by one store and 80 by three; the reason was not found), and a load of two of three bytes just set waits
 * some 8 cycles longer for them. */
.macro up_to_3 n, n32
	cmp $1, \n32
	ja 6f
	jb 0f
	mov %cl, (%rdi)
0:	ret
6:	mov %cx, (%rdi)
	mov %cl, -1(%rdi,\n)
	ret
.endm

.macro below_64_at_end n, n32
	vmovq %xmm16, %rcx
	cmp $32, \n32
	jae 4f
	cmp $16, \n32
	jae 3f
	cmp $8, \n32
	jae 2f
	cmp $4, \n32
	jae 1f
	up_to_3 \n, \n32
1:	mov %ecx, (%rdi)
	mov %ecx, -4(%rdi,\n)
	ret
2:	mov %rcx, (%rdi)
	mov %rcx, -8(%rdi,\n)
	ret
3:	vmovdqu64 %xmm16, (%rdi)
	vmovdqu64 %xmm16, -16(%rdi,\n)
	ret
4:	vmovdqu64 %ymm16, (%rdi)
	vmovdqu64 %ymm16, -32(%rdi,\n)
	ret
.endm

/*
 * 129 to 256 bytes: the first two vectors and the last two. (Seven stores for 129 to 448, of which the
 * needless ones fall on the last vector, win a sixth where sizes come in no order, and lose a quarter
 * at up to 256 bytes where the lines are not in the cache, and a tenth where they are.) */
.macro four n
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm16, 64(%rdi)
	vmovdqu64 %zmm16, -128(%rdi,\n)
	vmovdqu64 %zmm16, -64(%rdi,\n)
	ret
.endm

/* The first four vectors and the last four. */
.macro eight n
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm16, 64(%rdi)
	vmovdqu64 %zmm16, 128(%rdi)
	vmovdqu64 %zmm16, 192(%rdi)
	vmovdqu64 %zmm16, -256(%rdi,\n)
	vmovdqu64 %zmm16, -192(%rdi,\n)
	vmovdqu64 %zmm16, -128(%rdi,\n)
	vmovdqu64 %zmm16, -64(%rdi,\n)
.endm

/* More than 512 bytes: between both ends whole lines, four in a turn; up to 640 bytes, two vectors. In the order of
 * their addresses, which from 700 bytes on takes lines that are in no cache 2 to 4 % less time than both ends first, and
 * a mixture of 512 to 2,048 bytes as much (Zen 5). */
.macro long n
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm16, 64(%rdi)
	vmovdqu64 %zmm16, 128(%rdi)
	vmovdqu64 %zmm16, 192(%rdi)
	cmp $640, \n
	ja 10f
	vmovdqu64 %zmm16, 256(%rdi)
	vmovdqu64 %zmm16, -320(%rdi,\n)
	vmovdqu64 %zmm16, -256(%rdi,\n)
	vmovdqu64 %zmm16, -192(%rdi,\n)
	vmovdqu64 %zmm16, -128(%rdi,\n)
	vmovdqu64 %zmm16, -64(%rdi,\n)
	ret
	.p2align 6
10:	lea -256(%rdi,\n), %r8
	add $256, %rdi
	and $-64, %rdi
	.p2align 4
9:	vmovdqa64 %zmm16, (%rdi)
	vmovdqa64 %zmm16, 64(%rdi)
	vmovdqa64 %zmm16, 128(%rdi)
	vmovdqa64 %zmm16, 192(%rdi)
	add $256, %rdi
	cmp %r8, %rdi
	jb 9b
	vmovdqu64 %zmm16, (%r8)
	vmovdqu64 %zmm16, 64(%r8)
	vmovdqu64 %zmm16, 128(%r8)
	vmovdqu64 %zmm16, 192(%r8)
	ret
.endm

/* More than 256 bytes that are in no cache: there are no more stores than lines, and none but the first and the last
 * crosses two. 257 to 448 bytes take up to a quarter less time so than by eight stores (Zen 5), and off a line 513 bytes to 2
 * KiB a tenth; but where the lines are in the cache, and sizes come in no order, the end of the loop is guessed
 * wrong. */
.macro once_each n
	vmovdqu64 %zmm16, (%rdi)
	lea 64(%rdi), %rcx
	and $-64, %rcx
	lea -64(%rdi,\n), %r8
9:	vmovdqa64 %zmm16, (%rcx)
	add $64, %rcx
	cmp %r8, %rcx
	jb 9b
	vmovdqu64 %zmm16, (%r8)
	ret
.endm

/* One function. `zero`: it is called without a byte. `once`: by no more stores than lines. `route`: it serves that route,
 * of which it looks at the choice where n is above 512. */
.macro function_avx512 name, n, n32, zero, once, route
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 6
	.cfi_startproc
\name:
	.if \zero
	vpxord %zmm16, %zmm16, %zmm16
	.else
	vpbroadcastb %esi, %zmm16
	.endif
	mov %rdi, %rax
	cmp $64, \n
	jb 1f
	cmp $128, \n
	ja 2f
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm16, -64(%rdi,\n)
	ret
	.p2align 6
1:	masked \n
	.p2align 6
2:	cmp $256, \n
	ja 3f
	.if \once
	cmp $192, \n
	jbe 4f
	.endif
	four \n
	.if \once
	.p2align 6
4:	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm16, 64(%rdi)
	vmovdqu64 %zmm16, -64(%rdi,\n)
	ret
	.endif
	.p2align 6
3:	cmp $512, \n
	ja 8f
	.if \once
5:	once_each \n
	.else
	eight \n
	ret
	.endif
	.p2align 6
8:
	.ifnb \route
	by_route \route, \n
	.endif
	.if \once
	jmp 5b
	.else
	long \n
	.endif
	.p2align 6
6:	below_64_at_end \n, \n32
	.ifnb \route
7:	rest_of_route \route, \zero
	.endif
	.cfi_endproc
	.size \name, . - \name
.endm

	.hidden okosu_zero_routes
	.set ROUTE_SIZE, 16
	.set ROUTE_REST, 8

/* Sizes not below the route's `below` go to its `rest` (route.h). */
.macro by_route route, n
	cmp okosu_zero_routes+\route*ROUTE_SIZE(%rip), \n
	jae 7f
.endm

.macro rest_of_route route, zero
	.if \zero
	mov %rsi, %rdx
	xor %esi, %esi
	.endif
	jmp *okosu_zero_routes+\route*ROUTE_SIZE+ROUTE_REST(%rip)
.endm

/* The same with AVX2, with SSE2, and with AVX2 and AVX-512 for Intel's cores. Where lines are in no cache,
 * stores that come in the order of their addresses are a tenth faster than those of both ends first. Above two
 * vectors the first two come before the tests, and the last ones need no index: on Zen 1 a load of what was
 * stored comes up to a fifth earlier for it. For Intel's cores, where a branch that is taken costs a cycle,
 * the route is looked at before anything is stored, and each class that ends jumps, so that the largest takes
 * no further branch. */

/* What they name differently. The byte of %esi is put into the places of a vector in two steps, of
 * which sizes below a vector do without the second. */
.macro zero_avx2
	vpxor %xmm0, %xmm0, %xmm0
.endm

.macro zero_avx512
	vpxord %zmm16, %zmm16, %zmm16
.endm

.macro zero_sse2
	pxor %xmm0, %xmm0
.endm

.macro splat_begin_avx2
	vmovd %esi, %xmm0
.endm

.macro splat_begin_avx512
	vpbroadcastb %esi, %zmm16
.endm

.macro splat_begin_sse2
	movd %esi, %xmm0
	punpcklbw %xmm0, %xmm0
	pshuflw $0, %xmm0, %xmm0
.endm

.macro splat_end_avx2
	vpbroadcastb %xmm0, %ymm0
.endm

.macro splat_end_avx512
.endm

.macro splat_end_sse2
	punpcklqdq %xmm0, %xmm0
.endm

.macro store_avx2 at:vararg
	vmovdqu %ymm0, \at
.endm

.macro store_avx512 at:vararg
	vmovdqu64 %zmm16, \at
.endm

.macro store_sse2 at:vararg
	movups %xmm0, \at
.endm

.macro store_aligned_avx2 at:vararg
	vmovdqa %ymm0, \at
.endm

.macro store_aligned_avx512 at:vararg
	vmovdqa64 %zmm16, \at
.endm

.macro store_aligned_sse2 at:vararg
	movaps %xmm0, \at
.endm

.macro clean_avx2
	vzeroupper
.endm

.macro clean_avx512
.endm

.macro clean_sse2
.endm

/* Below a vector; nothing here leaves an upper half that would have to be cleaned. */
.macro below_avx2 n, n32, zero
	cmp $16, \n32
	jae 3f
	.if \zero
	xor %ecx, %ecx
	.else
	movzbl %sil, %ecx
	movabs $0x0101010101010101, %r8
	imul %r8, %rcx
	.endif
	cmp $8, \n32
	jae 2f
	cmp $4, \n32
	jae 4f
	up_to_3 \n, \n32
	.p2align 4
4:	mov %ecx, (%rdi)
	mov %ecx, -4(%rdi,\n)
	ret
	.p2align 4
2:	mov %rcx, (%rdi)
	mov %rcx, -8(%rdi,\n)
	ret
	.p2align 4
3:	.ifeq \zero
	vpbroadcastb %xmm0, %xmm0
	.endif
	vmovdqu %xmm0, (%rdi)
	vmovdqu %xmm0, -16(%rdi,\n)
	ret
.endm

/* Intel's: two masked stores, each to a whole line: to that of the last byte what lies there alone, then to that of
 * the first byte. One store from the first byte on would reach into the next line at most places, which in no cache
 * takes 3.4 times as long although nothing is stored there (Emerald Rapids), and into the next page at some. The
 * mask comes from the address here: a load of what was stored that the address of the next set waits for comes 1 to
 * 6 cycles sooner than after glibc's one store where this would cross a line, and 5 later where a line begins. */
.macro below_avx512 n, n32, zero
	mov $-1, %r8
	mov %edi, %ecx
	bzhi \n, %r8, %r8
	lea -1(%rdi,\n), %r11
	not %ecx
	shlx %rdi, %r8, %r9
	shr %r8
	mov %rdi, %r10
	kmovq %r9, %k1
	shrx %rcx, %r8, %r8
	and $-64, %r11
	and $-64, %r10
	kmovq %r8, %k2
	vmovdqu8 %zmm16, (%r11){%k2}
	vmovdqu8 %zmm16, (%r10){%k1}
	ret
.endm

.macro below_sse2 n, n32, zero
	cmp $8, \n32
	jae 2f
	cmp $4, \n32
	jae 4f
	movd %xmm0, %ecx
	up_to_3 \n, \n32
	.p2align 4
4:	movd %xmm0, (%rdi)
	movd %xmm0, -4(%rdi,\n)
	ret
	.p2align 4
2:	movq %xmm0, (%rdi)
	movq %xmm0, -8(%rdi,\n)
	ret
.endm

/* `count` vectors from \at on. */
.macro vectors isa, count, at, rest:vararg
	.set OFFSET, 0
	.rept \count
	store_\isa \at+OFFSET(\rest)
	.set OFFSET, OFFSET + WIDTH
	.endr
.endm

/* More than two vectors, for Intel's cores. As this begins on a line of the code, AVX2's loop lies within one; a
 * NOP before it would take a cycle. (To tell sizes above eight vectors first would save those of 129 to 256 bytes
 * nothing, and cost mixtures 4 to 10 %.) */
.macro falling isa, n
	vectors \isa, 2, 0, %rdi
	add \n, %rdi
	cmp $4*WIDTH, \n
	jbe 6f
	vectors \isa, 2, 2*WIDTH, %rax
	add $-4*WIDTH, %rdi
	cmp $8*WIDTH, \n
	jbe 8f
	lea 4*WIDTH(%rax), %rcx
	and $-WIDTH, %rcx
9:	store_aligned_\isa (%rcx)
	store_aligned_\isa WIDTH(%rcx)
	store_aligned_\isa 2*WIDTH(%rcx)
	store_aligned_\isa 3*WIDTH(%rcx)
	sub $-4*WIDTH, %rcx
	cmp %rdi, %rcx
	jb 9b
	.p2align 4
8:	vectors \isa, 4, 0, %rdi
	clean_\isa
	ret
	.p2align 4
6:	vectors \isa, 2, -2*WIDTH, %rdi
	clean_\isa
	ret
.endm

/* One vector to two: with SSE2 a load of the middle of 17 to 23 bytes comes after 15 cycles for 31 if the start is
 * stored first (Zen 1), and with AVX2 one of 33 to 39 bytes after 8 for 24 (Granite Rapids) and one of the end of 40
 * to 64 after 22 for 25 (Zen 3; on Zen 1 one of the middle after 14 for 10). */
.macro function isa, intel, name, n, n32, zero, route, halves=0
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 6
	.cfi_startproc
\name:
	.if \zero
	zero_\isa
	.else
	splat_begin_\isa
	.endif
	mov %rdi, %rax
	cmp $WIDTH, \n
	jb 1f
	.ifeq \zero
	splat_end_\isa
	.endif
	cmp $2*WIDTH, \n
	ja 5f
	store_\isa (%rdi)
	store_\isa -WIDTH(%rdi,\n)
	clean_\isa
	ret
	.p2align 6
1:	below_\isa \n, \n32, \zero
	.p2align 6
5:
	.ifnb \intel
	.ifnb \route
	by_route \route, \n
	.endif
	falling \isa, \n
	.else
	.if \halves
	cmp $64, \n
	jbe 4f
	.endif
	vectors \isa, 2, 0, %rdi
	add \n, %rdi
	cmp $4*WIDTH, \n
	ja 6f
	vectors \isa, 2, -2*WIDTH, %rdi
	clean_\isa
	ret
	.p2align 6
6:	cmp $8*WIDTH, \n
	ja 8f
	vectors \isa, 2, 2*WIDTH, %rax
	add $-4*WIDTH, %rdi
	vectors \isa, 4, 0, %rdi
	clean_\isa
	ret
	.p2align 6
8:
	.ifnb \route
	by_route \route, \n
	.endif
	vectors \isa, 2, 2*WIDTH, %rax
	lea 4*WIDTH(%rax), %rcx
	and $-WIDTH, %rcx
	lea -4*WIDTH(%rdi), %r8
	.p2align 6
9:	store_aligned_\isa (%rcx)
	store_aligned_\isa WIDTH(%rcx)
	store_aligned_\isa 2*WIDTH(%rcx)
	store_aligned_\isa 3*WIDTH(%rcx)
	add $4*WIDTH, %rcx
	cmp %r8, %rcx
	jb 9b
	vectors \isa, 4, 0, %r8
	clean_\isa
	ret
	.if \halves
	.p2align 6
4:	vinserti128 $1, %xmm0, %ymm0, %ymm0
	vmovdqu %ymm0, (%rdi)
	vmovdqu %ymm0, -32(%rdi,\n)
	vzeroupper
	ret
	.endif
	.endif
	.ifnb \route
7:
	.ifb \intel
	mov %rax, %rdi
	.endif
	clean_\isa
	rest_of_route \route, \zero
	.endif
	.cfi_endproc
	.size \name, . - \name
.endm

/* `intel`: _intel, or nothing. */
.macro functions isa, routes, intel
	function \isa, \intel, okosu_zero_set_\isa\intel, %rdx, %edx, 0
	.irp route, \routes
	function \isa, \intel, okosu_set_\isa\intel\()_\route, %rdx, %edx, 0, \route
	function \isa, \intel, okosu_zero_\isa\intel\()_\route, %rsi, %esi, 1, \route
	.endr
.endm

	.text
	.set WIDTH, 16
	functions sse2, "0, 1, 2"
	.set WIDTH, 32
	functions avx2, "0, 1, 2"
	function_avx512 okosu_zero_set_avx512, %rdx, %edx, 0, 0
	function_avx512 okosu_zero_set_avx512_once, %rdx, %edx, 0, 1
	.irp route, 0, 1
	function_avx512 okosu_set_avx512_\route, %rdx, %edx, 0, 0, \route
	function_avx512 okosu_zero_avx512_\route, %rsi, %esi, 1, 0, \route
	.endr
	function_avx512 okosu_set_avx512_2, %rdx, %edx, 0, 1, 2
	function_avx512 okosu_zero_avx512_2, %rsi, %esi, 1, 1, 2
	functions avx2, "0, 1", _intel
	.set WIDTH, 64
	functions avx512, "0, 1", _intel

/* The far entries of Intel's cores (okosu_isa_far). 33 to 64 bytes by halves of a line: four stores take up to an
 * eighth longer in no cache (Emerald Rapids). */
	.set WIDTH, 16
	function sse2, , okosu_set_avx2_intel_2, %rdx, %edx, 0, 2, 1
	function sse2, , okosu_zero_avx2_intel_2, %rsi, %esi, 1, 2, 1
	.globl okosu_set_avx512_intel_2, okosu_zero_avx512_intel_2
	.hidden okosu_set_avx512_intel_2, okosu_zero_avx512_intel_2
	.set okosu_set_avx512_intel_2, okosu_set_avx2_intel_2
	.set okosu_zero_avx512_intel_2, okosu_zero_avx2_intel_2

#endif
	.section .note.GNU-stack, "", @progbits
