/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry: the short copies of x86-64, in assembly for the sake of where the branches lie. A copy of
 * up to a few vectors costs little but its branches, and how many of those are taken is a matter of
 * layout, which no compiler lets C say: here no size up to eight vectors takes more than two, the
 * commonest ones one, and every leaf has its own return.
 *
 * Every leaf reads all that it copies before it writes any of it, so the ranges may overlap.
 *
 * okosu_copy_entry_ISA_N is okosu_copy (N = 0), _near (1), _far (2) or _move (3) on a machine whose
 * widest vectors are those of ISA. A route (struct okosu_copy_route in route.h) says how far it may
 * go on its own; beyond that, and always while another variant is forced, it jumps to route.rest.
 * okosu_copy_ISA is the variant itself: it goes on its own always.
 */
#if defined(__x86_64__)

#define ROUTE_BYTES 32
#define UP_TO_SHORT 0
#define UP_TO_OWN 8
#define REST 16

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

/* What needs no more than general registers: below 16 bytes. Three bytes that may coincide are 1, 2
 * or 3 of them. */
.macro below16
	cmp $8, %rdx
	jae 4f
	cmp $4, %rdx
	jae 5f
	test %rdx, %rdx
	je 6f
	movzbl (%rsi), %ecx
	movzbl -1(%rsi,%rdx), %r8d
	mov %rdx, %r9
	shr %r9
	movzbl (%rsi,%r9), %r10d
	movb %cl, (%rdi)
	movb %r10b, (%rdi,%r9)
	movb %r8b, -1(%rdi,%rdx)
6:	ret
	.p2align 5
4:	two mov, %rcx, %r8, 8
	ret
	.p2align 5
5:	two mov, %ecx, %r8d, 4
	ret
.endm

/* `vector` moves 1 of 3 widths; zmm16 and above leave nothing that vzeroupper would have to clear,
 * which costs as much as a short copy. `checked`: there is a route. */
.macro body_avx512 checked, route
	mov %rdi, %rax
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_SHORT(%rip), %rdx
.else
	cmp $256, %rdx
.endif
	ja 8f
	cmp $128, %rdx
	ja 7f
	cmp $64, %rdx
	jbe 1f
	two vmovdqu64, %zmm16, %zmm17, 64
	ret
	.p2align 6
7:	four vmovdqu64, %zmm, 16, 17, 18, 19, 64
	ret
	.p2align 6
8:
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_OWN(%rip), %rdx
	ja 9f
.endif
	cmp $512, %rdx
	ja okosu_copy_large_avx512
	eight vmovdqu64, %zmm, 16, 17, 18, 19, 20, 21, 22, 23, 64
	ret
.if \checked
9:	jmp *okosu_copy_routes+\route*ROUTE_BYTES+REST(%rip)
.endif
	.p2align 6
1:	cmp $32, %rdx
	jae 2f
	cmp $16, %rdx
	jae 3f
	below16
	.p2align 5
2:	two vmovdqu64, %ymm16, %ymm17, 32
	ret
	.p2align 5
3:	two movdqu, %xmm0, %xmm1, 16
	ret
.endm

.macro body_avx2 checked, route
	mov %rdi, %rax
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_SHORT(%rip), %rdx
.else
	cmp $128, %rdx
.endif
	ja 8f
	cmp $64, %rdx
	jbe 1f
	four vmovdqu, %ymm, 0, 1, 2, 3, 32
	vzeroupper
	ret
	.p2align 6
8:
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_OWN(%rip), %rdx
	ja 9f
.endif
	cmp $256, %rdx
	ja okosu_copy_large_avx2
	eight vmovdqu, %ymm, 0, 1, 2, 3, 4, 5, 6, 7, 32
	vzeroupper
	ret
.if \checked
9:	jmp *okosu_copy_routes+\route*ROUTE_BYTES+REST(%rip)
.endif
	.p2align 6
1:	cmp $32, %rdx
	jae 2f
	cmp $16, %rdx
	jae 3f
	below16
	.p2align 5
2:	two vmovdqu, %ymm0, %ymm1, 32
	vzeroupper
	ret
	.p2align 5
3:	two movdqu, %xmm0, %xmm1, 16
	ret
.endm

.macro body_sse2 checked, route
	mov %rdi, %rax
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_SHORT(%rip), %rdx
.else
	cmp $64, %rdx
.endif
	ja 8f
	cmp $32, %rdx
	jbe 1f
	four movdqu, %xmm, 0, 1, 2, 3, 16
	ret
	.p2align 6
8:
.if \checked
	cmp okosu_copy_routes+\route*ROUTE_BYTES+UP_TO_OWN(%rip), %rdx
	ja 9f
.endif
	cmp $128, %rdx
	ja okosu_copy_large_sse2
	eight movdqu, %xmm, 0, 1, 2, 3, 4, 5, 6, 7, 16
	ret
.if \checked
9:	jmp *okosu_copy_routes+\route*ROUTE_BYTES+REST(%rip)
.endif
	.p2align 6
1:	cmp $16, %rdx
	jae 3f
	below16
	.p2align 5
3:	two movdqu, %xmm0, %xmm1, 16
	ret
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
	begin_function okosu_copy_\isa
	body_\isa 0, 0
	end_function okosu_copy_\isa
	.irp route, 0, 1, 2, 3
	begin_function okosu_copy_entry_\isa\()_\route
	body_\isa 1, \route
	end_function okosu_copy_entry_\isa\()_\route
	.endr
.endm

	.hidden okosu_copy_routes, okosu_copy_large_sse2, okosu_copy_large_avx2, okosu_copy_large_avx512
	.text
	functions sse2
	functions avx2
	functions avx512

#endif
	.section .note.GNU-stack, "", @progbits
