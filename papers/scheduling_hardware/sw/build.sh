#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a pthread program for the machine.
#
#   build.sh BACKEND OUT SOURCE... [-D…|-I…|-Wl,…] [-- ARGUMENT...]
#   build.sh --library BACKEND FOLDER
#
# BACKEND is ssh or software; the environment's ISA mips1, which is meant where it is not set, or rv32. ARGUMENTs become the program's argv[1] and so on. CC names another compiler (a ccache in front, say).
# --library compiles what every program is linked with into FOLDER; LIBRARY=FOLDER then spares each program that.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
only_library=
[ "$1" != --library ] || { only_library=yes && shift; }
backend=$1 out=$2
shift 2
case $backend in
ssh | software) ;;
*) echo "build.sh: no such back end: $backend (ssh and software are there)" >&2 && exit 2 ;;
esac

# No division without MIPS's check for zero, no floating-point unit, no compressed instructions, no code for a loader or for Linux;
# nothing by gp, which on RISC-V is the handler's.
case ${ISA:-mips1} in
mips1)
    CC=${CC:-mipsel-linux-gnu-gcc} assembly=
    target='-march=r3000 -mfp32 -msoft-float -mno-abicalls -fno-pic -no-pie -static -G0 -mno-llsc'
    ;;
rv32)
    CC=${CC:-riscv64-unknown-elf-gcc} assembly=rv32/
    target='-march=rv32ima_zicsr -mabi=ilp32 -mcmodel=medlow -mno-relax -msmall-data-limit=0 -fno-pic -static'
    ;;
*) echo "build.sh: no such instruction set: $ISA (mips1 and rv32 are there)" >&2 && exit 2 ;;
esac
compile() {
    # shellcheck disable=SC2086
    $CC $target \
        -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix \
        -fno-builtin -nostdlib -nostdinc -std=gnu17 -O2 -g -Wall \
        -isystem "$here/include" -idirafter "$($CC -print-file-name=include)" \
        -I"$here/$backend" -I"$here/pthread" "$@"
}
# A part of the library, in the folder that it is called in: its C, and the assembly of the instruction set.
compile_part() {
    for source in "$here/$assembly$1"/*.S; do
        [ ! -e "$source" ] || set -- "$@" "$source"
    done
    part=$1
    shift
    compile -ffreestanding -c "$here/$part"/*.c "$@"
}

scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
if [ -n "$only_library" ]; then
    # What only some programs use is an archive, of which the linker takes what they call.
    mkdir -p "$out/posix"
    (cd "$out/posix" && compile_part posix)
    "$($CC -print-prog-name=ar)" rcs "$out/libposix.a" "$out"/posix/*.o
    rm -r "$out/posix"
    for each in boot libc pthread "$backend"; do
        # In the order of their numbers the parts are linked.
        number=$((${number:-0} + 1))
        mkdir -p "$out/$number-$each"
        (cd "$out/$number-$each" && compile_part "$each")
    done
    exit
fi

words=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    words="$words '$(printf %s "$1" | sed "s/'/'\\\\''/g")'"
    shift
done
[ $# -eq 0 ] || shift

# The arguments as the start-up code finds them: their number, then one string after the other.
{
    echo '.section .data.arguments,"aw"; .globl okosu_arguments; okosu_arguments:'
    echo ".word $#"
    for argument; do
        printf '%s\0' "$argument" | od -An -v -tu1 | sed 's/^ */.byte /;s/  */,/g;s/.byte,/.byte /'
    done
} > "$scratch/arguments.s"

eval set -- "$words"
if [ -z "${LIBRARY:-}" ]; then
    LIBRARY=$scratch/objects
    mkdir "$LIBRARY"
    sh "$here/build.sh" --library "$backend" "$LIBRARY"
fi
script=$here/link.ld
if [ -n "$assembly" ]; then
    script=$scratch/link.ld
    sed 's/^OUTPUT_ARCH(mips)/OUTPUT_ARCH(riscv)/' "$here/link.ld" > "$script"
fi
compile -Wl,-T,"$script" -Wl,--build-id=none -Wl,-z,noexecstack -o "$out" "$@" "$LIBRARY"/*/*.o "$LIBRARY/libposix.a" "$scratch/arguments.s"
