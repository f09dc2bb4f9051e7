/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the short copies of x86-64, in assembly for the sake of where the branches lie. Little
 * else costs anything here, and how many are taken is a matter of layout, which no compiler lets C
 * say. No size up to eight vectors takes more than two, and every leaf has its own return.
 *
 * Where sizes come in no order, a wrong guess costs as much as copying a kilobyte. The tests go
 * from small sizes to large ones, one class at a time: with k classes alike that is wrong less
 * often than halving the range.
 *
 * Every leaf reads all that it copies before it writes any of it, so the ranges may overlap.
 *
 * okosu_copy_entry_ISA_N is okosu_copy (N = 0), _near (1), _far (2) or _move (3) on a machine
 * whose widest vectors are those of ISA, or, as "ISA_intel", on one of Intel's; what is larger than
 * sixteen vectors (of SSE2, eight, or 2 KiB where the choice is SSE2's) it leaves to the C function
 * okosu_copy_beyond_ISA_N. On Intel's it looks at the choice itself, above two vectors, and leaves what
 * is larger than eight to okosu_copy_large_ISA, to a string instruction or to the route's rest.
 * okosu_copy_ISA is the variant itself, with okosu_copy_large_ISA. */
#if defined(__x86_64__)

	.hidden okosu_copy_routes
	.set ROUTE_SIZE, 32
	.set ROUTE_SECOND, 4
	.set ROUTE_REST, 8
	.set ROUTE_MOVE, 3

.macro two move, a, b, width
	\move (%rsi), \a
	\move -\width(%rsi,%rdx), \b
	\move \a, (%rdi)
	\move \b, -\width(%rdi,%rdx)
.endm

/* At most `most` bytes: half of the vectors from the start and half of them to the end, in the registers
 * from \first on, of which the first `loaded` are so. */
.macro ends move, r, first, width, most, head, tail, loaded=0
	.irp k, \head
	.if \k - \first >= \loaded
	\move \width*(\k-\first)(%rsi), \r\k
	.endif
	.endr
	.irp k, \tail
	\move \width*(\k-\first)-\most(%rsi,%rdx), \r\k
	.endr
	.irp k, \head
	\move \r\k, \width*(\k-\first)(%rdi)
	.endr
	.irp k, \tail
	\move \r\k, \width*(\k-\first)-\most(%rdi,%rdx)
	.endr
.endm

/* Below 16 bytes, by general registers; two and three bytes take no branch. The shorter leaf comes first,
 * so that neither lies across two lines. */
.macro below_16
	cmp $8, %edx
	jae 4f
	cmp $4, %edx
	jae 5f
	cmp $1, %edx
	jb 0f
	movzbl (%rsi), %ecx
	je 6f
	movzwl -2(%rsi,%rdx), %r8d
	movw %r8w, -2(%rdi,%rdx)
6:	movb %cl, (%rdi)
0:	ret
	.p2align 4
5:	two mov, %ecx, %r8d, 4
	ret
	.p2align 4
4:	two mov, %rcx, %r8, 8
	ret
.endm

/* In the near entry 65 to 128 bytes in halves of a line, the last stored first (elsewhere two moves,
 * of which cold lines take the fewer the better): a load of 8 bytes of what was copied
 * then finds them in one store, also where that lies across two lines, from which a store of 64
 * bytes gives nothing back for 25 cycles. */
.macro four_halves
	vmovdqu64 (%rsi), %ymm16
	vmovdqu64 32(%rsi), %ymm17
	vmovdqu64 -64(%rsi,%rdx), %ymm18
	vmovdqu64 -32(%rsi,%rdx), %ymm19
	vmovdqu64 %ymm19, -32(%rdi,%rdx)
	vmovdqu64 %ymm18, -64(%rdi,%rdx)
	vmovdqu64 %ymm17, 32(%rdi)
	vmovdqu64 %ymm16, (%rdi)
.endm

/* In the near entry, whose bytes are in the cache, 129 to 448 bytes: two vectors from the start,
 * two to the end, and three between, which go no further than the last. (Where each line has to be
 * waited for, the superfluous moves cost a quarter up to 256 bytes.) It is one class because a
 * branch that is guessed wrong costs more than three moves, and ends at 448 bytes because with an
 * eighth vector the moves of a short copy would take longer than its call. */
.macro seven_clamped
	lea -64(%rdx), %r8
	mov $128, %ecx
	mov $192, %r9d
	mov $256, %r10d
	cmp %r8, %rcx
	cmova %r8, %rcx
	cmp %r8, %r9
	cmova %r8, %r9
	cmp %r8, %r10
	cmova %r8, %r10
	vmovdqu64 (%rsi), %zmm16
	vmovdqu64 64(%rsi), %zmm17
	vmovdqu64 -64(%rsi,%r8), %zmm18
	vmovdqu64 (%rsi,%r8), %zmm19
	vmovdqu64 (%rsi,%rcx), %zmm20
	vmovdqu64 (%rsi,%r9), %zmm21
	vmovdqu64 (%rsi,%r10), %zmm22
	vmovdqu64 %zmm20, (%rdi,%rcx)
	vmovdqu64 %zmm21, (%rdi,%r9)
	vmovdqu64 %zmm22, (%rdi,%r10)
	vmovdqu64 %zmm18, -64(%rdi,%r8)
	vmovdqu64 %zmm19, (%rdi,%r8)
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm17, 64(%rdi)
.endm

/* 513 to 1024 bytes, as many as there are registers from zmm16 on. A loop in turns of four vectors
 * would store 9, 13 or 17 of them: no class stores more than it. More classes would be guessed wrong
 * more often where sizes come in no order. */
.macro above_512 beyond
	cmp $1024, %rdx
	ja \beyond
	cmp $576, %rdx
	ja 10f
	ends vmovdqu64, %zmm, 16, 64, 576, "16, 17, 18, 19, 20", "21, 22, 23, 24"
	ret
	.p2align 6
10:	cmp $640, %rdx
	ja 11f
	ends vmovdqu64, %zmm, 16, 64, 640, "16, 17, 18, 19, 20", "21, 22, 23, 24, 25"
	ret
	.p2align 6
11:	cmp $768, %rdx
	ja 12f
	ends vmovdqu64, %zmm, 16, 64, 768, "16, 17, 18, 19, 20, 21", "22, 23, 24, 25, 26, 27"
	ret
	.p2align 6
12:	cmp $832, %rdx
	ja 13f
	ends vmovdqu64, %zmm, 16, 64, 832, "16, 17, 18, 19, 20, 21, 22", "23, 24, 25, 26, 27, 28"
	ret
	.p2align 6
13:	ends vmovdqu64, %zmm, 16, 64, 1024, "16, 17, 18, 19, 20, 21, 22, 23", "24, 25, 26, 27, 28, 29, 30, 31"
	ret
.endm

/* 257 to 448 bytes that are in no cache, of which two vectors are loaded: no more vectors than hold them. 257 to 320
 * bytes take three quarters of the time of eight vectors so, 321 to 384 four fifths (Zen 5); but where the bytes are
 * in the cache, and sizes come in no order, further classes are guessed wrong. */
.macro five_to_seven
	cmp $384, %rdx
	ja 16f
	cmp $320, %rdx
	ja 15f
	ends vmovdqu64, %zmm, 16, 64, 320, "16, 17, 18", "19, 20", 2
	ret
	.p2align 6
15:	ends vmovdqu64, %zmm, 16, 64, 384, "16, 17, 18", "19, 20, 21", 2
	ret
	.p2align 6
16:	ends vmovdqu64, %zmm, 16, 64, 448, "16, 17, 18, 19", "20, 21, 22", 2
	ret
.endm

/* 65 to 1024 bytes: the first vector is loaded before the tests, and the second before the next one,
 * which takes 129 to 512 bytes a cycle less than loads behind all tests. Where the bytes are in no cache 129 to 192 are
 * copied by three vectors, which takes a sixth less time than four. */
.macro above_64 beyond
	vmovdqu64 (%rsi), %zmm16
	cmp $128, %rdx
	ja 7f
	vmovdqu64 -64(%rsi,%rdx), %zmm17
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm17, -64(%rdi,%rdx)
	ret
	.p2align 6
7:	vmovdqu64 64(%rsi), %zmm17
	cmp $256, %rdx
	ja 8f
	.if FAR
	cmp $192, %rdx
	jbe 17f
	.endif
	vmovdqu64 -128(%rsi,%rdx), %zmm18
	vmovdqu64 -64(%rsi,%rdx), %zmm19
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm17, 64(%rdi)
	vmovdqu64 %zmm18, -128(%rdi,%rdx)
	vmovdqu64 %zmm19, -64(%rdi,%rdx)
	ret
	.p2align 6
8:
	.if FAR
	cmp $448, %rdx
	jbe 14f
	.endif
	cmp $512, %rdx
	ja 9f
	vmovdqu64 128(%rsi), %zmm18
	vmovdqu64 192(%rsi), %zmm19
	vmovdqu64 -256(%rsi,%rdx), %zmm20
	vmovdqu64 -192(%rsi,%rdx), %zmm21
	vmovdqu64 -128(%rsi,%rdx), %zmm22
	vmovdqu64 -64(%rsi,%rdx), %zmm23
	vmovdqu64 %zmm16, (%rdi)
	vmovdqu64 %zmm17, 64(%rdi)
	vmovdqu64 %zmm18, 128(%rdi)
	vmovdqu64 %zmm19, 192(%rdi)
	vmovdqu64 %zmm20, -256(%rdi,%rdx)
	vmovdqu64 %zmm21, -192(%rdi,%rdx)
	vmovdqu64 %zmm22, -128(%rdi,%rdx)
	vmovdqu64 %zmm23, -64(%rdi,%rdx)
	ret
	.if FAR
	.p2align 6
17:	ends vmovdqu64, %zmm, 16, 64, 192, "16, 17", "18", 2
	ret
	.p2align 6
14:	five_to_seven
	.endif
	.p2align 6
9:	above_512 \beyond
.endm

.macro near_above_64 beyond
	cmp $128, %rdx
	ja 7f
	four_halves
	ret
	.p2align 6
7:	cmp $448, %rdx
	ja 8f
	seven_clamped
	ret
	.p2align 6
8:	cmp $512, %rdx
	ja 9f
	ends vmovdqu64, %zmm, 16, 64, 512, "16, 17, 18, 19", "20, 21, 22, 23"
	ret
	.p2align 6
9:	above_512 \beyond
.endm

.macro below_32
	cmp $16, %edx
	jae 3f
	below_16
	.p2align 4
3:	two vmovdqu, %xmm0, %xmm1, 16
	ret
.endm

.macro up_to_64
	cmp $32, %edx
	jae 2f
	below_32
	.p2align 4
2:	two vmovdqu64, %ymm16, %ymm17, 32
	ret
.endm

/* zmm16 and above leave nothing that vzeroupper would have to clear, which costs as much as a short
 * copy. Each leaf begins on a line of the code: one that lies across two takes a cycle more. */
.macro body_avx512 beyond
	mov %rdi, %rax
	cmp $64, %rdx
	jbe 1f
	.if NEAR
	near_above_64 \beyond
	.else
	above_64 \beyond
	.endif
	.p2align 6
1:	up_to_64
.endm

/* Beyond 256 bytes a loop would end where no guess can say, and begin after a look at the choice. Up to 288
 * bytes a class for 384 would store a third more than it copies.
 *
 * Eight vectors are tested for before four, and the first is loaded before the tests: on Zen 3 129 to 256 bytes
 * take a cycle or two less so, and a load of 32 or 33 bytes that were just copied comes 5 cycles sooner. A string
 * instruction takes 400 cycles longer there while an upper half is in use, so what is left to others is left with
 * none.
 *
 * All moves are VEX-encoded: a legacy SSE move would have to preserve the upper halves that wider
 * moves left. */
.macro body_avx2 beyond
	mov %rdi, %rax
	cmp $32, %rdx
	jb 1f
	vmovdqu (%rsi), %ymm0
	cmp $64, %rdx
	ja 7f
	ends vmovdqu, %ymm, 0, 32, 64, "0", "1", 1
	vzeroupper
	ret
	.p2align 6
7:	cmp $256, %rdx
	ja 9f
	vmovdqu 32(%rsi), %ymm1
	cmp $128, %rdx
	jbe 8f
	ends vmovdqu, %ymm, 0, 32, 256, "0, 1, 2, 3", "4, 5, 6, 7", 2
	vzeroupper
	ret
	.p2align 6
8:	ends vmovdqu, %ymm, 0, 32, 128, "0, 1", "2, 3", 2
	vzeroupper
	ret
	.p2align 6
9:	cmp $512, %rdx
	ja 13f
	cmp $384, %rdx
	ja 10f
	cmp $288, %rdx
	ja 12f
	ends vmovdqu, %ymm, 0, 32, 288, "0, 1, 2, 3, 4", "5, 6, 7, 8", 1
	vzeroupper
	ret
	.p2align 6
12:	ends vmovdqu, %ymm, 0, 32, 384, "0, 1, 2, 3, 4, 5", "6, 7, 8, 9, 10, 11", 1
	vzeroupper
	ret
	.p2align 6
10:	cmp $448, %rdx
	ja 11f
	ends vmovdqu, %ymm, 0, 32, 448, "0, 1, 2, 3, 4, 5, 6", "7, 8, 9, 10, 11, 12, 13", 1
	vzeroupper
	ret
	.p2align 6
11:	ends vmovdqu, %ymm, 0, 32, 512, "0, 1, 2, 3, 4, 5, 6, 7", "8, 9, 10, 11, 12, 13, 14, 15", 1
	vzeroupper
	ret
	.p2align 6
13:	vzeroupper
	jmp \beyond
	.p2align 6
1:	below_32
.endm

/* The same for Intel's cores (measured on Granite Rapids). There each branch that is taken costs a cycle, so
 * eight vectors are tested before four; the last vectors are stored downward, which where lines are in no
 * cache takes up to a tenth less; seven clamped moves take 13 to 15 cycles for the 7 to 9 of four; and where
 * dst does not lie on a line, more than eight vectors take a quarter less in turns, whose stores do.
 *
 * The route's own limit is compared where it lies in memory, behind the first load and before the other tests.
 * Without that comparison, or with the limit loaded first, a load of what was copied (80 to 128 bytes) comes a
 * cycle later, and 129 bytes in no cache take a tenth longer; why was not found out. Of 4 GiB and more it is
 * the lower half that is compared: what is wrongly kept then goes by vectors. */
.macro in_order move, width, short, large, clean, v0, v1, v2, v3, v4, v5, v6, v7
	mov %rdi, %rax
	cmp $\width, %rdx
	jb 1f
	\move (%rsi), \v0
	cmp $2*\width, %rdx
	ja 7f
	\move -\width(%rsi,%rdx), \v1
	\move \v0, (%rdi)
	\move \v1, -\width(%rdi,%rdx)
	\clean
	ret
	.p2align 6
7:
	.if ROUTE >= 0
	cmp okosu_copy_routes+ROUTE*ROUTE_SIZE(%rip), %edx
	ja 9f
	.endif
	cmp $8*\width, %rdx
	ja \large
	\move \width(%rsi), \v1
	cmp $4*\width, %rdx
	jbe 8f
	\move 2*\width(%rsi), \v2
	\move 3*\width(%rsi), \v3
	\move -\width(%rsi,%rdx), \v4
	\move -2*\width(%rsi,%rdx), \v5
	\move -3*\width(%rsi,%rdx), \v6
	\move -4*\width(%rsi,%rdx), \v7
	\move \v0, (%rdi)
	\move \v1, \width(%rdi)
	\move \v2, 2*\width(%rdi)
	\move \v3, 3*\width(%rdi)
	\move \v4, -\width(%rdi,%rdx)
	\move \v5, -2*\width(%rdi,%rdx)
	\move \v6, -3*\width(%rdi,%rdx)
	\move \v7, -4*\width(%rdi,%rdx)
	\clean
	ret
	.p2align 6
8:	\move -\width(%rsi,%rdx), \v2
	\move -2*\width(%rsi,%rdx), \v3
	\move \v0, (%rdi)
	\move \v1, \width(%rdi)
	\move \v2, -\width(%rdi,%rdx)
	\move \v3, -2*\width(%rdi,%rdx)
	\clean
	ret
	.p2align 6
1:	\short
	.if ROUTE >= 0
	.p2align 4
9:	\clean
	.if ROUTE != ROUTE_MOVE
	mov okosu_copy_routes+ROUTE*ROUTE_SIZE+ROUTE_SECOND(%rip), %ecx
	cmp %rcx, %rdx
	ja 10f
	mov %rdx, %rcx
	rep movsb
	ret
	.p2align 4
	.endif
10:	jmp *okosu_copy_routes+ROUTE*ROUTE_SIZE+ROUTE_REST(%rip)
	.endif
.endm

.macro body_avx512_intel beyond
	in_order vmovdqu64, 64, up_to_64, okosu_copy_large_avx512, , \
		%zmm16, %zmm17, %zmm18, %zmm19, %zmm20, %zmm21, %zmm22, %zmm23
.endm

.macro body_avx2_intel beyond
	in_order vmovdqu, 32, below_32, okosu_copy_large_avx2, vzeroupper, \
		%ymm0, %ymm1, %ymm2, %ymm3, %ymm4, %ymm5, %ymm6, %ymm7
.endm

/* 129 to 2048 bytes, as vector.h has it: the first vector, turns of four that are stored to aligned
 * addresses, and the last four. The rest, and what goes backward, is left to \beyond.
 *
 * Three turns are a store more than the 16 that 209 to 256 bytes need where both ends lie on 16 bytes, and
 * take 18.5 cycles for 17 (Zen 1); ends that do not would take 33 without turns, for 23. One branch tells
 * both conditions, so that where sizes come in no order it is rarely guessed wrong. The loop begins on a
 * line of the code without a NOP that is executed. */
.macro above_128_sse2 beyond
	.p2align 6
	.skip -(22f - 21f) & 63, 0x90
21:	cmp $2048, %rdx
	ja \beyond
	.if ROUTE >= 0
	cmp %edx, okosu_copy_routes+ROUTE*ROUTE_SIZE(%rip)
	jb \beyond
	.endif
	mov %rdi, %rcx
	sub %rsi, %rcx
	cmp %rdx, %rcx
	jb \beyond
	test $4096-64, %ecx
	je \beyond
	lea -209(%rdx), %r8
	mov %edi, %ecx
	or %edx, %ecx
	shl $60, %rcx
	or %r8, %rcx
	cmp $256-209, %rcx
	jbe 23f
	to_aligned_sse2
	movdqu (%rsi), %xmm4
	movdqu -64(%rsi,%rdx), %xmm5
	movdqu -48(%rsi,%rdx), %xmm6
	movdqu -32(%rsi,%rdx), %xmm7
	movdqu -16(%rsi,%rdx), %xmm8
	lea -64(%rdx), %r8
22:	movdqu 16(%rsi,%rcx), %xmm1
	movdqu 32(%rsi,%rcx), %xmm2
	movdqu 48(%rsi,%rcx), %xmm3
	movdqu (%rsi,%rcx), %xmm0
	movaps %xmm1, 16(%rdi,%rcx)
	movaps %xmm0, (%rdi,%rcx)
	movaps %xmm2, 32(%rdi,%rcx)
	movaps %xmm3, 48(%rdi,%rcx)
	add $64, %rcx
	cmp %r8, %rcx
	jb 22b
	movups %xmm5, -64(%rdi,%rdx)
	movups %xmm6, -48(%rdi,%rdx)
	movups %xmm7, -32(%rdi,%rdx)
	movups %xmm8, -16(%rdi,%rdx)
	movups %xmm4, (%rdi)
	ret
	.p2align 6
23:	ends movdqu, %xmm, 0, 16, 256, "0, 1, 2, 3, 4, 5, 6, 7", "8, 9, 10, 11, 12, 13, 14, 15"
	ret
.endm

/* The first vector, those of \middle from dst's first aligned address on, %rcx bytes behind its start, and
 * those of \tail to the end. Only the first and the tail can lie across two lines, which costs a store
 * more than another vector would. */
.macro aligned_middle_sse2 middle, tail
	movdqu (%rsi), %xmm0
	.irp k, \middle
	movdqu 16*(\k-1)(%rsi,%rcx), %xmm\k
	.endr
	.irp k, \tail
	movdqu 16*(\k-9)(%rsi,%rdx), %xmm\k
	.endr
	movups %xmm0, (%rdi)
	.irp k, \middle
	movaps %xmm\k, 16*(\k-1)(%rdi,%rcx)
	.endr
	.irp k, \tail
	movups %xmm\k, 16*(\k-9)(%rdi,%rdx)
	.endr
.endm

/* Bytes from dst to its first aligned address behind it, 1 to 16, into %rcx. */
.macro to_aligned_sse2
	mov %edi, %ecx
	or $-16, %ecx
	neg %ecx
.endm

/* 16 to 32 bytes, which many copies are, take no branch. Where lines have to be waited for, the fewer
 * instructions a call has the more calls are under way at once: so in the far entry what is shortest is
 * tested for first. Elsewhere this comes second, because in mixtures of small sizes it is guessed wrong
 * most often. What lies on 16 bytes has no store across two lines, and one less without the middle.
 *
 * On Intel's cores with wider vectors 33 to 64 bytes take two of 32 bytes, by \half: four of 16 bytes, of which 48 need
 * three, take up to a sixth longer in no cache where dst lies across two lines (Emerald Rapids). With AVX-512 65 to 128
 * take two of 64 bytes, which are up to a tenth faster there than eight. */
.macro body_sse2 beyond, half=, half0, half1, clean, line0=, line1
	mov %rdi, %rax
	.if FAR
	cmp $16, %rdx
	jb 1f
	cmp $32, %rdx
	ja 7f
	.else
	cmp $32, %rdx
	ja 7f
	cmp $16, %edx
	jb 1f
	.endif
	two movdqu, %xmm0, %xmm1, 16
	ret
	.p2align 6
1:	below_16
	.p2align 6
7:	cmp $64, %rdx
	jbe 8f
	cmp $128, %rdx
	ja 21f
	.ifb \line0
	to_aligned_sse2
	lea 96(%rcx), %r8d
	cmp %r8, %rdx
	ja 9f
	aligned_middle_sse2 "1, 2, 3", "6, 7, 8"
	ret
	.p2align 6
9:	cmp $16, %ecx
	jne 10f
	ends movdqu, %xmm, 0, 16, 128, "0, 1, 2, 3", "4, 5, 6, 7"
	ret
	.p2align 6
10:	aligned_middle_sse2 "1, 2, 3, 4", "5, 6, 7, 8"
	.else
	two vmovdqu64, \line0, \line1, 64
	.endif
	ret
	.p2align 6
8:	.ifb \half
	ends movdqu, %xmm, 0, 16, 64, "0, 1", "2, 3"
	.else
	two \half, \half0, \half1, 32
	\clean
	.endif
	ret
	above_128_sse2 \beyond
.endm

.macro begin_function name
	.globl \name
	.hidden \name
	.type \name, @function
	.p2align 6
\name:
	.cfi_startproc
.endm

.macro end_function name
	.cfi_endproc
	.size \name, . - \name
.endm

/* `long`: the ISA whose functions are left what the entry does not copy. */
.macro functions isa, long, routes
	.hidden okosu_copy_large_\long
	.set NEAR, 0
	.set FAR, 0
	.set ROUTE, -1
	begin_function okosu_copy_\isa
	body_\isa okosu_copy_large_\long
	end_function okosu_copy_\isa
	.irp route, \routes
	.hidden okosu_copy_beyond_\long\()_\route
	.set NEAR, \route == 1
	.set FAR, \route == 2
	.set ROUTE, \route
	begin_function okosu_copy_entry_\isa\()_\route
	body_\isa okosu_copy_beyond_\long\()_\route
	end_function okosu_copy_entry_\isa\()_\route
	.endr
.endm

	.text
	functions sse2, sse2, "0, 1, 2, 3"
	functions avx2, avx2, "0, 1, 2, 3"
	functions avx512, avx512, "0, 1, 2, 3"
	functions avx2_intel, avx2, "0, 1, 3"
	functions avx512_intel, avx512, "0, 1, 3"

/* The far entries of Intel's cores. */
	.set NEAR, 0
	.set FAR, 1
	.set ROUTE, 2
	begin_function okosu_copy_entry_avx2_intel_2
	body_sse2 okosu_copy_beyond_sse2_2, vmovdqu, %ymm0, %ymm1, vzeroupper
	end_function okosu_copy_entry_avx2_intel_2
	begin_function okosu_copy_entry_avx512_intel_2
	body_sse2 okosu_copy_beyond_sse2_2, vmovdqu64, %ymm16, %ymm17, , %zmm16, %zmm17
	end_function okosu_copy_entry_avx512_intel_2

#endif
	.section .note.GNU-stack, "", @progbits
