#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a pthread program for the machine.
#
#   build.sh BACKEND OUT SOURCE... [-D…|-I…|-Wl,…] [-- ARGUMENT...]
#   build.sh --library BACKEND FOLDER
#
# BACKEND is ssh or software. ARGUMENTs become the program's argv[1] and so on. CC names another compiler (a ccache in front, say).
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

# MIPS I; no division without its check for zero, no floating-point unit, no code for a loader or for Linux.
compile() {
    ${CC:-mipsel-linux-gnu-gcc} -march=r3000 -mfp32 -msoft-float -mno-abicalls -fno-pic -no-pie -static -G0 -mno-llsc \
        -U__linux__ -U__linux -Ulinux -U__gnu_linux__ -U__unix__ -U__unix -Uunix \
        -fno-builtin -nostdlib -nostdinc -std=gnu17 -O2 -g -Wall \
        -isystem "$here/include" -idirafter "$(${CC:-mipsel-linux-gnu-gcc} -print-file-name=include)" \
        -I"$here/$backend" -I"$here/pthread" "$@"
}

scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
if [ -n "$only_library" ]; then
    # What only some programs use is an archive, of which the linker takes what they call.
    mkdir -p "$out/posix"
    (cd "$out/posix" && compile -ffreestanding -c "$here"/posix/*.[cS])
    "$(${CC:-mipsel-linux-gnu-gcc} -print-prog-name=ar)" rcs "$out/libposix.a" "$out"/posix/*.o
    rm -r "$out/posix"
    for part in boot libc pthread "$backend"; do
        # In the order of their numbers the parts are linked.
        number=$((${number:-0} + 1))
        mkdir -p "$out/$number-$part"
        (cd "$out/$number-$part" && compile -ffreestanding -c "$here/$part"/*.[cS])
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
compile -Wl,-T,"$here/link.ld" -Wl,--build-id=none -Wl,-z,noexecstack -o "$out" "$@" "$LIBRARY"/*/*.o "$LIBRARY/libposix.a" "$scratch/arguments.s"
