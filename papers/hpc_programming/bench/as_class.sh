#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# as_class.sh CLASS COMMAND...: runs okosu's benches or tests as on an x86-64 processor of another class (avx2: no AVX-512; sse2: no AVX
# at all). libokosu is built to find no wider instructions, glibc's own routines are told so, and the libraries that okosu is compared with
# (peers.sh) are held to them. What a class is worth on its own processors only these can tell: here their instructions meet wider units.
# (With transactions, RTM, glibc takes routines of its own; processors of the class avx2 have them switched off.)
#
#     papers/hpc_programming/bench/as_class.sh avx2 okosu reproduce hpc-programming --check
set -eu
[ $# -ge 2 ] || {
    printf 'okosu: a class and a command are needed\n  fix: %s avx2 okosu bench copy\n' "$0" >&2
    exit 2
}
class=$1
shift
case $class in
avx2) hidden=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-RTM,-Prefer_No_VZEROUPPER ;;
sse2) hidden=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-AVX2,-AVX,-AVX_Fast_Unaligned_Load ;;
*)
    printf 'okosu: no class of processors is called %s\n  fix: avx2 or sse2\n' "$class" >&2
    exit 2
    ;;
esac
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=$root/build/class-$class
PATH=$root/.venv/bin:$PATH
{
    [ -e "$build/build.ninja" ] || meson setup "$build" "$root" -Dinstructions="$class"
    ninja -C "$build"
} >&2
case " $* " in
*" bench "* | *" reproduce "*) "$root/papers/hpc_programming/bench/peers.sh" "$root/.peers/$class" "$class" ;;
esac
export PATH OKOSU_CLASS="$class" OKOSU_NATIVE="$build" OKOSU_PEERS="$root/.peers/$class"
export GLIBC_TUNABLES="${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.cpu.hwcaps=$hidden"
exec "$@"
