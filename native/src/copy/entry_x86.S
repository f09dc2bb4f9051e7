/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry: the short copies of x86-64, in assembly for the sake of where the branches lie. Little
 * else costs anything here, and how many are taken is a matter of layout, which no compiler lets C
 * say. No size up to eight vectors takes more than two, and every leaf has its own return.
 *
 * Where sizes come in no order, a wrong guess costs as much as copying a kilobyte. The tests go
 * from small sizes to large ones, one class at a time: with k classes alike that is wrong less
 * often than halving the range.
 *
 * Every leaf reads all that it copies before it writes any of it, so the ranges may overlap.
 *
 * okosu_copy_entry_ISA_N is okosu_copy (N = 0), _near (1), _far (2) or _move (3) on a machine whose
 * widest vectors are those of ISA; what is larger than eight vectors it leaves to the C function
 * okosu_copy_beyond_ISA_N. okosu_copy_ISA is the variant itself, with okosu_copy_large_ISA.
 */
#if defined(__x86_64__)

.macro two move, a, b, width
	\move (%rsi), \a
	\move -\width(%rsi,%rdx), \b
	\move \a, (%rdi)
	\move \b, -\width(%rdi,%rdx)
.endm

.macro four move, r, a, b, c, d, width
	\move (%rsi), \r\a
	\move \width(%rsi), \r\b
	\move -2*\width(%rsi,%rdx), \r\c
	\move -\width(%rsi,%rdx), \r\d
	\move \r\a, (%rdi)
	\move \r\b, \width(%rdi)
	\move \r\c, -2*\width(%rdi,%rdx)
	\move \r\d, -\width(%rdi,%rdx)
.endm

.macro eight move, r, a, b, c, d, e, f, g, h, width
	\move (%rsi), \r\a
	\move \width(%rsi), \r\b
	\move 2*\width(%rsi), \r\c
	\move 3*\width(%rsi), \r\d
	\move -4*\width(%rsi,%rdx), \r\e
	\move -3*\width(%rsi,%rdx), \r\f
	\move -2*\width(%rsi,%rdx), \r\g
	\move -\width(%rsi,%rdx), \r\h
	\move \r\a, (%rdi)
	\move \r\b, \width(%rdi)
	\move \r\c, 2*\width(%rdi)
	\move \r\d, 3*\width(%rdi)
	\move \r\e, -4*\width(%rdi,%rdx)
	\move \r\f, -3*\width(%rdi,%rdx)
	\move \r\g, -2*\width(%rdi,%rdx)
	\move \r\h, -\width(%rdi,%rdx)
.endm

/* Below 16 bytes, by general registers; label 1 is that of up to 64. */
.macro below_16
	cmp $8, %rdx
	jae 4f
	cmp $4, %rdx
	jae 5f
	cmp $1, %rdx
	ja 6f
	jb 0f
	movzbl (%rsi), %ecx
	movb %cl, (%rdi)
0:	ret
	.p2align 4
4:	two mov, %rcx, %r8, 8
	ret
	.p2align 4
5:	two mov, %ecx, %r8d, 4
	ret
	.p2align 4
6:	movzwl (%rsi), %ecx
	movzwl -2(%rsi,%rdx), %r8d
	movw %cx, (%rdi)
	movw %r8w, -2(%rdi,%rdx)
	ret
.endm

/* Up to 64 bytes. `move` has the encoding of the wider vectors, lest what these left in the upper
 * half of a register has to be kept. */
.macro up_to_64_avx move, a, b
	.p2align 6
1:	cmp $32, %rdx
	jae 2f
	cmp $16, %rdx
	jae 3f
	below_16
	.p2align 4
3:	two vmovdqu, %xmm0, %xmm1, 16
	ret
	.p2align 4
2:	two \move, \a, \b, 32
.endm

.macro up_to_64_sse2
	.p2align 6
1:	cmp $32, %rdx
	ja 2f
	cmp $16, %rdx
	jae 3f
	below_16
	.p2align 4
3:	two movdqu, %xmm0, %xmm1, 16
	ret
	.p2align 4
2:	four movdqu, %xmm, 0, 1, 2, 3, 16
	ret
.endm

/* zmm16 and above leave nothing that vzeroupper would have to clear, which costs as much as a short
 * copy. */
.macro body_avx512 beyond
	mov %rdi, %rax
	cmp $64, %rdx
	jbe 1f
	cmp $128, %rdx
	ja 7f
	two vmovdqu64, %zmm16, %zmm17, 64
	ret
	.p2align 4
7:	cmp $256, %rdx
	ja 8f
	four vmovdqu64, %zmm, 16, 17, 18, 19, 64
	ret
	/* Where in a line these begin is worth some 10 %. */
	.p2align 6
	.skip 16, 0x90
8:	cmp $512, %rdx
	ja \beyond
	eight vmovdqu64, %zmm, 16, 17, 18, 19, 20, 21, 22, 23, 64
	ret
	up_to_64_avx vmovdqu64, %ymm16, %ymm17
	ret
.endm

.macro body_avx2 beyond
	mov %rdi, %rax
	cmp $64, %rdx
	jbe 1f
	cmp $128, %rdx
	ja 8f
	four vmovdqu, %ymm, 0, 1, 2, 3, 32
	vzeroupper
	ret
	.p2align 4
8:	cmp $256, %rdx
	ja \beyond
	eight vmovdqu, %ymm, 0, 1, 2, 3, 4, 5, 6, 7, 32
	vzeroupper
	ret
	up_to_64_avx vmovdqu, %ymm0, %ymm1
	vzeroupper
	ret
.endm

.macro body_sse2 beyond
	mov %rdi, %rax
	cmp $64, %rdx
	jbe 1f
	cmp $128, %rdx
	ja \beyond
	eight movdqu, %xmm, 0, 1, 2, 3, 4, 5, 6, 7, 16
	ret
	up_to_64_sse2
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

.macro functions isa
	.hidden okosu_copy_large_\isa
	begin_function okosu_copy_\isa
	body_\isa okosu_copy_large_\isa
	end_function okosu_copy_\isa
	.irp route, 0, 1, 2, 3
	.hidden okosu_copy_beyond_\isa\()_\route
	begin_function okosu_copy_entry_\isa\()_\route
	body_\isa okosu_copy_beyond_\isa\()_\route
	end_function okosu_copy_entry_\isa\()_\route
	.endr
.endm

	.text
	functions sse2
	functions avx2
	functions avx512

#endif
	.section .note.GNU-stack, "", @progbits
