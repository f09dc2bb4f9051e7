/* SPDX-License-Identifier: Apache-2.0 */
/* entry: what x86-64 calls with AVX-512, and the avx512 variant, in assembly for the sake of where
 * the code lies. A set of 128 bytes takes as long as an empty call, 7 cycles; each branch that is
 * taken and each further line of code adds one cycle. So each size class takes at most one more
 * branch than the class before it, and its code begins on a line.
 *
 * Where sizes come in no order, a branch that is guessed wrong costs as much as setting a kilobyte.
 * So there are few classes, tested from small to large, and stores that overlap instead of further
 * tests.
 *
 * The vector is kept in zmm16, which no SSE or AVX instruction can name: then the upper halves of
 * the first sixteen registers stay as they were, and nothing has to be cleaned with vzeroupper. */
#if defined(__x86_64__)

/* In the macros n is the register that holds the size, and n32 its lower half. */

/* Below 64 bytes: one masked store. Its bytes can be loaded only after 18 to 24 cycles, those of
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
	test \n32, \n32
	je 0f
	mov \n32, %r8d
	shr %r8d
	mov %cl, (%rdi)
	mov %cl, (%rdi,%r8)
	mov %cl, -1(%rdi,\n)
0:	ret
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

/* More than 512 bytes: between those, whole lines. */
.macro long n
	eight \n
	lea 256(%rdi), %rcx
	and $-64, %rcx
	lea -256(%rdi,\n), %r8
	.p2align 6
9:	vmovdqa64 %zmm16, (%rcx)
	vmovdqa64 %zmm16, 64(%rcx)
	vmovdqa64 %zmm16, 128(%rcx)
	vmovdqa64 %zmm16, 192(%rcx)
	add $256, %rcx
	cmp %r8, %rcx
	jb 9b
	ret
.endm

/* One function. `splat` fills zmm16, `beyond` is what comes first where n is above 512. */
.macro function name, n, n32, splat:req, beyond
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 6
	.cfi_startproc
\name:
	\splat
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
	four \n
	.p2align 6
3:	cmp $512, \n
	ja 8f
	eight \n
	ret
	.p2align 6
8:	\beyond
	long \n
	.p2align 6
6:	below_64_at_end \n, \n32
	.cfi_endproc
	.size \name, . - \name
.endm

	.hidden okosu_zero_routes
	.set ROUTE_SIZE, 16
	.set ROUTE_REST, 8

/* Sizes not below the route's `below` go to its `rest` (route.h). */
.macro by_route route
	cmp okosu_zero_routes+\route*ROUTE_SIZE(%rip), %rdx
	jb 7f
	jmp *okosu_zero_routes+\route*ROUTE_SIZE+ROUTE_REST(%rip)
7:
.endm

/* The same in a function that is called without a byte. */
.macro by_route_of_zero route
	cmp okosu_zero_routes+\route*ROUTE_SIZE(%rip), %rsi
	jb 7f
	mov %rsi, %rdx
	xor %esi, %esi
	jmp *okosu_zero_routes+\route*ROUTE_SIZE+ROUTE_REST(%rip)
7:
.endm

	.text
	function okosu_zero_set_avx512, %rdx, %edx, "vpbroadcastb %esi, %zmm16"
	.irp route, 0, 1, 2
	function okosu_set_avx512_\route, %rdx, %edx, "vpbroadcastb %esi, %zmm16", "by_route \route"
	function okosu_zero_avx512_\route, %rsi, %esi, "vpxord %zmm16, %zmm16, %zmm16", "by_route_of_zero \route"
	.endr

#endif
	.section .note.GNU-stack, "", @progbits
